"""Models behind OpenAI-compatible HTTP servers, through the `openai` client.

The client's own retries are off: `ask` retries, so that each attempt is counted.
"""

import os
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from threading import Lock
from typing import Any, NoReturn
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from hornbook.canon import digest
from hornbook.errors import DefinitionError, MissingExtra, told
from hornbook.log import logger
from hornbook.models.failures import TransportError
from hornbook.models.openai_wire import (
    Dialect,
    SchemaFormat,
    bare_url,
    completion_of,
    error_text,
    payload,
    retry_after,
)
from hornbook.models.values import Completion, Price, Request

__all__ = ["OpenAIModel"]

_HOSTED = "https://api.openai.com/v1"
_LONGEST = 64 * 1024 * 1024
"""Bytes of an answer that are read."""
_SAID = 300
"""Characters of a server's own words that an error shows."""
_REFUSALS = 256
"""Schemas that a server refused and that are remembered."""
_NO_KEY = "none"
_PASSING = frozenset((408, 409, 425, 429))
_REFUSING = frozenset((400, 404, 415, 422, 501))


class OpenAIModel:
    """A model behind an OpenAI-compatible server: hosted APIs, vLLM, Ollama, llama.cpp.

    Where a request has a schema, the server is asked to constrain the answer to it
    (`response_format`). A server that refuses is remembered, and the request is sent again
    without: so say the form in the prompt as well. The answer is checked in any case.

    Args:
        name: the model, as the server calls it.
        base_url: where the server is; by default `OPENAI_BASE_URL`, or else OpenAI's own.
        api_key: by default `OPENAI_API_KEY`, but never for a `base_url` given here: a key goes
            only where it belongs.
        timeout: seconds of one attempt, from the connection to the last byte.
        retries: attempts after the first; counted, as every attempt is.
        price: what tokens cost, for the run's budget.
        schema_format: `json_schema` never falls back, `none` never constrains.
        headers: further headers, say of a gateway.
        extra_body: further fields of each request; part of the identity.

    Raises:
        MissingExtra: the `openai` package is not installed.
        DefinitionError: an argument that cannot work.
    """

    def __init__(
        self,
        name: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout: float = 60.0,
        retries: int = 2,
        price: Price | None = None,
        schema_format: SchemaFormat = "auto",
        headers: Mapping[str, str] | None = None,
        extra_body: Mapping[str, Any] | None = None,
    ) -> None:
        if find_spec("openai") is None:
            raise MissingExtra(
                "OpenAIModel needs the package 'openai': pip install 'hornbook[openai]'"
            )
        url = base_url or os.environ.get("OPENAI_BASE_URL") or _HOSTED
        _refuse(name, url, timeout, retries, schema_format)
        self._name = name
        self._url = url
        self._key = _key(api_key, base_url)
        self._timeout = float(timeout)
        self._price = price or Price()
        self._format = schema_format
        self._headers = dict(headers or {})
        self._extra = dict(extra_body or {})
        self._dialect: Dialect = Dialect(schemas=schema_format != "none")
        self._lock = Lock()
        self._client: Any = None
        self._clients: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
        self._told_of_usage = False
        self.max_attempts: int | None = 1 + retries
        """Attempts for one request; one of them may go into learning what a server refuses."""
        extra = f"+{digest(self._extra)[7:19]}" if self._extra else ""
        self.identity = f"{name}@{bare_url(url)}{extra}"
        """The model's name and where it is served; no credentials."""

    def complete(self, request: Request, /, *, timeout: float | None = None) -> Completion:
        """Make one attempt.

        Raises:
            TransportError: it gave no completion.
        """
        schema, seconds = self._schema(request), self._seconds(timeout)
        until = time.monotonic() + seconds
        try:
            creating = self._sync().chat.completions.with_streaming_response.create
            with creating(**self._body(request, schema), timeout=seconds) as response:
                body = self._all(response.iter_bytes(), until, seconds)
                content_type = response.headers.get("content-type", "")
        except Exception as error:  # noqa: BLE001 - told apart below, and unknown ones raised
            self._raise(error, schema, seconds)
        return self._completion(body, content_type)

    async def acomplete(self, request: Request, /, *, timeout: float | None = None) -> Completion:
        """The async twin of `complete`."""
        import asyncio

        schema, seconds = self._schema(request), self._seconds(timeout)
        try:
            async with asyncio.timeout(seconds):
                creating = self._async().chat.completions.with_streaming_response.create
                async with creating(**self._body(request, schema), timeout=seconds) as response:
                    body = await self._aall(response.iter_bytes())
                    content_type = response.headers.get("content-type", "")
        except Exception as error:  # noqa: BLE001 - told apart below, and unknown ones raised
            self._raise(error, schema, seconds)
        return self._completion(body, content_type)

    def close(self) -> None:
        """Close the connections of sync calls."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    async def aclose(self) -> None:
        """Close the connections of this loop, and those of sync calls."""
        import asyncio

        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.close()
        self.close()

    def __enter__(self) -> "OpenAIModel":
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    async def __aenter__(self) -> "OpenAIModel":
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        return f"OpenAIModel({self.identity!r})"

    # --- sending --------------------------------------------------------------------------

    def _sync(self) -> Any:
        with self._lock:
            if self._client is None:
                self._client = import_module("openai").OpenAI(**self._settings())
            return self._client

    def _async(self) -> Any:
        """A client for each loop: connections cannot be used on another than their own."""
        import asyncio

        loop = asyncio.get_running_loop()
        with self._lock:
            client = self._clients.get(loop)
            if client is None:
                client = import_module("openai").AsyncOpenAI(**self._settings())
                self._clients[loop] = client
            return client

    def _settings(self) -> dict[str, Any]:
        return {
            "api_key": self._key,
            "base_url": self._url,
            "max_retries": 0,
            "default_headers": self._headers,
        }

    def _schema(self, request: Request) -> str | None:
        """The digest of the schema that the server is asked to constrain the answer to."""
        key, dialect = request.schema_digest, self._dialect
        return key if dialect.schemas and key not in dialect.refused else None

    def _body(self, request: Request, schema: str | None) -> dict[str, Any]:
        body = payload(self._name, request, self._dialect, schema)
        return {**body, "extra_body": self._extra} if self._extra else body

    def _seconds(self, timeout: float | None) -> float:
        return self._timeout if timeout is None else min(self._timeout, max(timeout, 0.001))

    def _all(self, chunks: Iterator[bytes], until: float, seconds: float) -> bytes:
        """The whole answer; a client's own timeout starts again with each piece of it."""
        body = bytearray()
        for chunk in chunks:
            self._add(body, chunk)
            if time.monotonic() > until:
                raise self._late(seconds)
        return bytes(body)

    async def _aall(self, chunks: AsyncIterator[bytes]) -> bytes:
        body = bytearray()
        async for chunk in chunks:
            self._add(body, chunk)
        return bytes(body)

    def _add(self, body: bytearray, chunk: bytes) -> None:
        body += chunk
        if len(body) > _LONGEST:
            raise TransportError(
                f"model {self.identity!r} answered more than {_LONGEST // 2**20} MiB"
            )

    # --- what came of it ------------------------------------------------------------------

    def _completion(self, body: bytes, content_type: str) -> Completion:
        try:
            made, told_usage = completion_of(body, content_type, self.identity)
        except TransportError as error:
            raise TransportError(self._safe(str(error)), retryable=error.retryable) from None
        if not told_usage and not self._told_of_usage:
            self._told_of_usage = True
            logger("models").warning(
                "model %r tells no usage: its tokens and cost count as 0", self.identity
            )
        return replace(made, cost=self._price.of(made.usage))

    def _raise(self, error: Exception, schema: str | None, seconds: float) -> NoReturn:
        if isinstance(error, TransportError):
            raise error
        if isinstance(error, UnicodeEncodeError):
            raise TransportError(
                f"model {self.identity!r}: the request holds a lone surrogate, which UTF-8 cannot "
                f"say"
            ) from None
        openai = import_module("openai")
        if isinstance(error, openai.APIStatusError):
            # `from None` everywhere: what is chained would be shown, with the request's headers.
            raise self._refused(error, schema) from None
        if isinstance(error, TimeoutError) or "Timeout" in type(error).__name__:
            raise self._late(seconds) from None
        if isinstance(error, openai.APIConnectionError | OSError) or _is_http(error):
            cause = error.__cause__ if isinstance(error.__cause__, Exception) else error
            raise TransportError(
                self._safe(f"the connection to model {self.identity!r} failed: {told(cause)}"),
                retryable=True,
            ) from None
        raise error

    def _late(self, seconds: float) -> TransportError:
        return TransportError(
            f"model {self.identity!r} did not answer within {round(seconds, 3):g} s", retryable=True
        )

    def _refused(self, error: Any, schema: str | None) -> TransportError:
        status: int = error.status_code
        said = error_text(error.body) or str(error)
        learnt = self._learn(status, said, schema) or self._leave_out(error)
        if learnt is not None:
            return TransportError(
                self._safe(f"model {self.identity!r} refuses {learnt} ({status}): {said}"),
                retryable=True,
                retry_after=0.0,
            )
        spent = getattr(error, "code", None) == "insufficient_quota"
        passing = (status in _PASSING or status >= 500) and not spent
        return TransportError(
            self._safe(f"model {self.identity!r} answered {status}: {said}"),
            retryable=passing,
            retry_after=retry_after(error.response.headers, time.time()) if passing else None,
        )

    def _learn(self, status: int, said: str, schema: str | None) -> str | None:
        """What the server does not understand, to be left out from now on; None for nothing."""
        words, dialect = said.lower(), self._dialect
        if status not in _REFUSING:
            return None
        if dialect.tokens == "max_tokens" and "max_completion_tokens" in words:
            self._dialect = replace(dialect, tokens="max_completion_tokens")
            return "max_tokens, which it calls max_completion_tokens"
        asked = schema is not None and self._format == "auto"
        if not asked or not any(word in words for word in _OF_SCHEMAS):
            return None
        if schema is not None and "invalid" in words and "schema" in words:
            kept = dialect.refused if len(dialect.refused) < _REFUSALS else frozenset[str]()
            self._dialect = replace(dialect, refused=kept | {schema})
            return "this schema, which is left out from now on"
        self._dialect = replace(dialect, schemas=False)
        return "response_format, which is left out from now on"

    def _leave_out(self, error: Any) -> str | None:
        """A sampling parameter that the model does not take: some take their own only."""
        name = getattr(error, "param", None)
        if error.status_code not in _REFUSING or name not in _SAMPLING - self._dialect.left_out:
            return None
        self._dialect = replace(self._dialect, left_out=self._dialect.left_out | {name})
        logger("models").warning(
            "model %r refuses %s: it is left out from now on, and the model's own applies",
            *(self.identity, name),
        )
        return f"{name}, which is left out from now on"

    def _safe(self, text: str) -> str:
        from hornbook.trace.redact import redact_text

        bare = text if self._key == _NO_KEY else text.replace(self._key, "<redacted>")
        for secret in self._headers.values():
            bare = bare.replace(secret, "<redacted>") if len(secret) >= 8 else bare
        return redact_text(bare, limit=_SAID + len(self.identity))


_SAMPLING = frozenset(("temperature", "top_p", "seed"))
_OF_SCHEMAS = ("response_format", "json_schema", "schema", "grammar", "structured", "guided")
"""Words by which servers say what they do not take."""


def _is_http(error: Exception) -> bool:
    """Whether the client's HTTP library raised it; which one that is depends on its version."""
    return any(
        base.__name__ == "RequestError" and base.__module__.startswith("httpx")
        for base in type(error).__mro__
    )


def _key(api_key: str | None, base_url: str | None) -> str:
    if api_key is not None:
        return api_key
    if base_url is not None:
        return _NO_KEY
    key = os.environ.get("OPENAI_API_KEY")
    if not key:
        raise DefinitionError(
            "OpenAIModel: no API key: set OPENAI_API_KEY, or pass api_key=; a server that needs "
            "none is named by base_url="
        )
    return key


def _refuse(name: object, url: str, timeout: object, retries: object, form: object) -> None:
    """Refuse arguments that cannot work; the URL is not shown, since it may hold a password."""
    parts = urlsplit(url)
    if not isinstance(name, str) or not name:
        raise DefinitionError(f"OpenAIModel(name={name!r:.60}): expected the model's name")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise DefinitionError(
            f"OpenAIModel({name!r}): base_url={bare_url(url)!r}: expected an http or https URL"
        )
    number = isinstance(timeout, int | float) and not isinstance(timeout, bool)
    if not number or not 0 < timeout < float("inf"):  # type: ignore[operator]
        raise DefinitionError(
            f"OpenAIModel({name!r}): timeout={timeout!r:.60}: expected seconds above 0"
        )
    if type(retries) is not int or retries < 0:
        raise DefinitionError(
            f"OpenAIModel({name!r}): retries={retries!r:.60}: expected a whole number of at least 0"
        )
    if form not in ("auto", "json_schema", "none"):
        raise DefinitionError(
            f"OpenAIModel({name!r}): schema_format={form!r:.60}: one of auto, json_schema, none"
        )
