"""Canonical bytes of plain JSON, and the strict reading of JSON text.

json and hashlib are imported on first use: they would be a large part of our own import.
"""

import functools
import re
from collections.abc import Callable, Iterator
from typing import Any, NoReturn, TypeAlias, cast

from hornbook.errors import HornbookError

__all__ = ["JSON", "CanonError", "has_surrogate", "loads", "printable", "serialise", "sha256"]

JSON: TypeAlias = "bool | int | float | str | list[JSON] | dict[str, JSON] | None"

READ_DEPTH = 128
"""Levels of nesting that `loads` accepts: what `encode` writes, and its surroundings."""

# Patterns of rare use are compiled then, by re itself: compiling is most of our import.
_ESCAPED_SURROGATE = r"\\u[dD][89a-fA-F]"


class CanonError(HornbookError, ValueError):
    """Text that is not the strict JSON we write, or a tag that cannot be read."""

    code = "canon"


def serialise(value: JSON) -> bytes:
    """Write plain JSON, as `encode` returns it, as canonical bytes.

    Keys are sorted, there are no spaces, and the text is UTF-8.
    """
    return _serialiser()(value)


def loads(data: bytes | str, *, max_depth: int = READ_DEPTH) -> JSON:
    """Read strict JSON.

    Raises:
        CanonError: the text is torn, has a duplicate key, a NaN or infinity, a lone surrogate
            or too many levels, or is not UTF-8; the message says what and where.
    """
    text = _decoded(data) if isinstance(data, bytes) else data
    try:
        value: JSON = _decoder()(text)
    except RecursionError:
        raise CanonError(_TOO_DEEP.format(max_depth)) from None
    except CanonError as error:
        raise CanonError(_located(error, text)) from None
    # JSONDecodeError, or the interpreter's limit on the digits of a number.
    except ValueError as error:
        raise CanonError(f"not JSON: {error}") from None
    _refuse_depth(value, text, max_depth)
    _refuse_surrogates(value, text)
    return value


def has_surrogate(text: str) -> bool:
    """Whether `text` holds a lone surrogate, which UTF-8 cannot say."""
    if text.isascii():
        return False
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False


def printable(text: str) -> str:
    """Return `text` with each lone surrogate as a backslash escape."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


@functools.cache
def sha256() -> Callable[..., Any]:
    """Return the hash function, imported on first use."""
    import hashlib

    return hashlib.sha256


# --- writing ----------------------------------------------------------------------------


@functools.cache
def _serialiser() -> Callable[[JSON], bytes]:
    from importlib import import_module

    try:
        orjson: Any = import_module("orjson")
    except ImportError:
        return _plain_serialiser()
    dump: Callable[..., bytes] = orjson.dumps
    option: int = orjson.OPT_SORT_KEYS
    return lambda value: dump(value, option=option)


def _plain_serialiser() -> Callable[[JSON], bytes]:
    from json import JSONEncoder

    encoder = JSONEncoder(
        sort_keys=True,
        separators=(",", ":"),
        ensure_ascii=False,
        allow_nan=False,
        check_circular=False,
    )
    return lambda value: encoder.encode(value).encode("utf-8")


# --- reading ----------------------------------------------------------------------------

_TOO_DEEP = "nested deeper than {} levels"


@functools.cache
def _decoder() -> Callable[[str], Any]:
    from json import JSONDecoder

    return JSONDecoder(
        object_pairs_hook=_unique, parse_constant=_constant, parse_float=_finite
    ).decode


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise CanonError(f"not UTF-8: {error.reason} at byte {error.start}") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    raise CanonError("duplicate key")


def _constant(literal: str) -> NoReturn:
    raise CanonError(f"{literal} is not JSON")


def _finite(literal: str) -> float:
    value = float(literal)
    if value - value == 0:
        return value
    raise CanonError(f"{literal} is beyond the range of a float")


class _Pairs(list[Any]):
    """An object read with all its keys, in order."""


class _Unreadable(str):
    """A number that `loads` refuses, kept as its literal."""

    __slots__ = ()


def _located(error: CanonError, text: str) -> str:
    """Read `text` again, leniently, to say where the first thing we refuse stands."""
    from json import JSONDecoder

    lenient = JSONDecoder(
        object_pairs_hook=_Pairs, parse_constant=_Unreadable, parse_float=_number_or_literal
    )
    try:
        value = lenient.decode(text)
    except (ValueError, RecursionError):
        return str(error)
    for path, item, _ in _walk(value):
        if isinstance(item, _Pairs):
            keys = [key for key, _ in item]
            repeated = next((key for key in keys if keys.count(key) > 1), None)
            if repeated is not None:
                return f"duplicate key {repeated!r} at {path}"
        if isinstance(item, _Unreadable):
            return f"{item} at {path} is no JSON number"
    return str(error)


def _number_or_literal(literal: str) -> float | _Unreadable:
    value = float(literal)
    return value if value - value == 0 else _Unreadable(literal)


def _walk(value: Any) -> Iterator[tuple[str, Any, int]]:
    """Yield each value with its path and depth, in order of the text, without recursion."""
    waiting: list[tuple[str, Any, int]] = [(".", value, 1)]
    while waiting:
        path, item, depth = waiting.pop()
        yield path, item, depth
        prefix = "" if path == "." else path
        pairs: list[tuple[str, Any]] = []
        if isinstance(item, _Pairs):
            listed: list[tuple[str, Any]] = item
            pairs = [(f"{prefix}.{key}".lstrip("."), child) for key, child in listed]
        elif isinstance(item, dict):
            named = cast("dict[str, Any]", item)
            pairs = [(f"{prefix}.{key}".lstrip("."), child) for key, child in named.items()]
        elif isinstance(item, list):
            items = cast("list[Any]", item)
            pairs = [(f"{prefix}[{index}]", child) for index, child in enumerate(items)]
        waiting += [(name, child, depth + 1) for name, child in reversed(pairs)]


def _refuse_depth(value: JSON, text: str, max_depth: int) -> None:
    if text.count("[") + text.count("{") <= max_depth:
        return
    for path, item, depth in _walk(value):
        if depth > max_depth and isinstance(item, (dict, list)):
            raise CanonError(f"{_TOO_DEEP.format(max_depth)} at {path[:80]}")


def _refuse_surrogates(value: JSON, text: str) -> None:
    if not has_surrogate(text) and not re.search(_ESCAPED_SURROGATE, text):
        return
    for path, item, _ in _walk(value):
        keys: list[Any] = list(cast("dict[str, Any]", item)) if isinstance(item, dict) else [item]
        if any(isinstance(key, str) and has_surrogate(key) for key in keys):
            raise CanonError(f"lone surrogate at {ascii(path)[1:-1]}")
