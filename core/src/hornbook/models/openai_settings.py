"""What an `OpenAIModel` is made of, checked when it is made: no attempt is spent on it.

No message shows a key, a header's value, or a URL that may hold a password.
"""

import os
import threading
from collections.abc import Mapping
from typing import cast
from urllib.parse import SplitResult, urlsplit, urlunsplit

from hornbook.errors import DefinitionError

__all__ = ["NO_KEY", "bare_url", "headers_of", "key_of", "refuse", "url_of"]

NO_KEY = "none"
"""What is sent where the server needs no key: the client wants one."""

_HOSTED = "https://api.openai.com/v1"
_LONGEST_WAIT = threading.TIMEOUT_MAX / 2
_IN_NAMES = frozenset("!#$%&'*+-.^_`|~")


def url_of(name: str, base_url: object) -> str:
    """The address of the server.

    Raises:
        DefinitionError: it is none.
    """
    given = base_url
    if given is None:
        given = os.environ.get("OPENAI_BASE_URL") or _HOSTED
    if not isinstance(given, str):
        raise DefinitionError(
            f"OpenAIModel({name!r}): base_url is of type {type(given).__name__}: expected a text"
        )
    parts = _parts(given)
    if parts is None or parts.scheme not in ("http", "https") or not parts.hostname:
        shown = repr(bare_url(given)) if parts is not None and parts.netloc else "..."
        raise DefinitionError(
            f"OpenAIModel({name!r}): base_url={shown}: expected an http or https URL"
        )
    for what, found in (("query", "?" in given), ("fragment", "#" in given)):
        if found:
            raise DefinitionError(
                f"OpenAIModel({name!r}): base_url={bare_url(given)!r} and a {what}: the path of "
                f"each request comes after it; a key goes into api_key= or headers="
            )
    return given


def _parts(url: str) -> SplitResult | None:
    """The parts of a URL; None where it has none that can be used."""
    if any(one.isspace() or not one.isprintable() for one in url):
        return None
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 - it is read where it is asked for
    except ValueError:
        return None
    return parts


def key_of(name: str, api_key: object, base_url: str | None) -> str:
    """The key that is sent.

    Raises:
        DefinitionError: there is none, or it cannot be sent.
    """
    if api_key is None and base_url is not None:
        return NO_KEY
    source, key = "api_key", api_key
    if key is None:
        source, key = "OPENAI_API_KEY", os.environ.get("OPENAI_API_KEY")
        if not key:
            raise DefinitionError(
                "OpenAIModel: no API key: set OPENAI_API_KEY, or pass api_key=; a server that "
                "needs none is named by base_url="
            )
    if key == "":
        raise DefinitionError(
            f"OpenAIModel({name!r}): api_key is empty: leave it out for a server that needs none"
        )
    return _sendable(f"OpenAIModel({name!r}): {source}", key)


def headers_of(name: str, headers: object) -> dict[str, str]:
    """The further headers.

    Raises:
        DefinitionError: one of them cannot be sent.
    """
    if headers is None:
        return {}
    if not isinstance(headers, Mapping):
        raise DefinitionError(
            f"OpenAIModel({name!r}): headers is of type {type(headers).__name__}: expected a "
            f"mapping of names to texts"
        )
    for header in cast("Mapping[object, object]", headers):
        if not isinstance(header, str) or not header or not all(map(_in_name, header)):
            raise DefinitionError(f"OpenAIModel({name!r}): {header!r:.60} is no name of a header")
    named = cast("Mapping[str, object]", headers)
    where = f"OpenAIModel({name!r}): the header"
    return {header: _sendable(f"{where} {header!r:.60}", given) for header, given in named.items()}


def _in_name(character: str) -> bool:
    return (character.isascii() and character.isalnum()) or character in _IN_NAMES


def _sendable(what: str, value: object) -> str:
    """A text that a header can hold; it is a secret, and so not shown."""
    if not isinstance(value, str):
        raise DefinitionError(f"{what} is of type {type(value).__name__}: expected a text")
    for at, character in enumerate(value):
        if not character.isascii():
            raise DefinitionError(f"{what} has a character at {at} that is not ASCII")
        if not character.isprintable():
            raise DefinitionError(
                f"{what} has a control character at {at}: is it a line from a file?"
            )
    if value != value.strip():
        raise DefinitionError(f"{what} begins or ends with a space")
    return value


def refuse(name: object, **given: object) -> None:
    """Refuse a name, numbers and choices that cannot work.

    Raises:
        DefinitionError: naming the first of them.
    """
    if not isinstance(name, str) or not name:
        raise DefinitionError(f"OpenAIModel(name={name!r:.60}): expected the model's name")
    timeout = given["timeout"]
    number = isinstance(timeout, int | float) and not isinstance(timeout, bool)
    if not number or not 0 < cast("float", timeout) <= _LONGEST_WAIT:
        raise DefinitionError(
            f"OpenAIModel({name!r}): timeout={timeout!r:.60}: expected seconds above 0"
        )
    for what in ("retries", "lessons"):
        if type(given[what]) is not int or cast("int", given[what]) < 0:
            raise DefinitionError(
                f"OpenAIModel({name!r}): {what}={given[what]!r:.60}: expected a whole number of "
                f"at least 0"
            )
    form = given["schema_format"]
    if not isinstance(form, str) or form not in ("auto", "json_schema", "none"):
        raise DefinitionError(
            f"OpenAIModel({name!r}): schema_format={form!r:.60}: one of auto, json_schema, none"
        )


def bare_url(url: str) -> str:
    """The URL without credentials, query and fragment."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path.rstrip("/"), "", ""))
