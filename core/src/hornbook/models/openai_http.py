"""Models behind OpenAI-compatible HTTP servers, through the `openai` client.

The client's own retries are off: `ask` retries, so that each attempt is counted. Its
redirects are off too: a prompt and a key go where the program says, and nowhere else.
"""

import json
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.util import find_spec
from threading import Lock
from typing import Any
from urllib.parse import urljoin, urlsplit
from weakref import WeakKeyDictionary

from hornbook.canon import digest
from hornbook.errors import MissingExtra, told
from hornbook.log import logger
from hornbook.models.failures import TransportError
from hornbook.models.openai_dialect import Dialect, SchemaFormat, lesson, of_error, refused_in
from hornbook.models.openai_secrets import Secrets, of_url
from hornbook.models.openai_settings import NO_KEY, bare_url, headers_of, key_of, refuse, url_of
from hornbook.models.openai_wire import completion_of, error_text, payload, retry_after
from hornbook.models.values import Completion, Price, Request

__all__ = ["OpenAIModel"]

_LONGEST = 64 * 1024 * 1024
"""Bytes of an answer that are read."""
_LONGEST_ERROR = 64 * 1024
"""Bytes of an error's body that are read."""
_SAID = 300
"""Characters of a server's own words that an error shows."""
_TO_CLOSE = 5.0
"""Seconds that closing connections may take."""
_PASSING = frozenset((408, 409, 425, 429))
_OWN_HEADERS = frozenset(
    (
        *("host", "accept", "accept-encoding", "connection", "content-type", "content-length"),
        *("transfer-encoding", "user-agent", "authorization"),
    )
)


class OpenAIModel:
    """A model behind an OpenAI-compatible server: hosted APIs, vLLM, Ollama, llama.cpp.

    Where a request has a schema, the server is asked to constrain the answer to it
    (`response_format`). A server that refuses is remembered, and the request is sent again
    without: so say the form in the prompt as well. The answer is checked in any case.

    Args:
        name: the model, as the server calls it.
        base_url: where the server is; by default `OPENAI_BASE_URL`, or else OpenAI's own.
        api_key: by default `OPENAI_API_KEY`, but never for a `base_url` given here: a key goes
            only where it belongs, and so do an organization, a project and further headers
            that the environment names.
        timeout: seconds of one attempt, from the connection to the last byte.
        retries: attempts after the first, where one fails; counted, as every attempt is.
        lessons: further attempts, where the server refuses a field that can be left out.
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
        lessons: int = 1,
        price: Price | None = None,
        schema_format: SchemaFormat = "auto",
        headers: Mapping[str, str] | None = None,
        extra_body: Mapping[str, Any] | None = None,
    ) -> None:
        if find_spec("openai") is None:
            raise MissingExtra(
                "OpenAIModel needs the package 'openai': pip install 'hornbook[openai]'"
            )
        refuse(name, timeout=timeout, retries=retries, lessons=lessons, schema_format=schema_format)
        self._name = name
        self._url = url_of(name, base_url)
        self._key = key_of(name, api_key, base_url)
        self._headers = headers_of(name, headers)
        self._environment = base_url is None
        self._timeout = float(timeout)
        self._price = price or Price()
        self._format = schema_format
        self._extra = dict(extra_body or {})
        self._dialect: Dialect = Dialect(schemas=schema_format != "none")
        self._lock = Lock()
        self._clients: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
        self._told_of_usage = False
        key = () if self._key == NO_KEY else (self._key,)
        self._secrets = Secrets((*key, *self._headers.values(), *of_url(urlsplit(self._url))))
        self.lessons = lessons
        """Attempts that go into learning what a server refuses, and into nothing else."""
        self.max_attempts: int | None = 1 + retries + lessons
        """Attempts for one request, all told."""
        extra = f"+{digest(self._extra)[7:19]}" if self._extra else ""
        self.identity = f"{name}@{bare_url(self._url)}{extra}"
        """The model's name and where it is served; no credentials."""

    def complete(self, request: Request, /, *, timeout: float | None = None) -> Completion:
        """Make one attempt.

        Raises:
            TransportError: it gave no completion.
        """
        from hornbook.models.openai_loop import waited_for

        import_module("openai")  # takes a second, which is nobody's time but the first caller's
        seconds = self._seconds(timeout)
        late: TransportError
        try:
            return waited_for(self._attempt(request, seconds), seconds)
        except TimeoutError:
            late = self._late(seconds)
        raise late

    async def acomplete(self, request: Request, /, *, timeout: float | None = None) -> Completion:
        """The async twin of `complete`."""
        return await self._attempt(request, self._seconds(timeout))

    def close(self) -> None:
        """Close the connections of sync calls."""
        from hornbook.models.openai_loop import waited_for

        if len(self._clients):
            with suppress(TimeoutError):
                waited_for(self._closed(), _TO_CLOSE)

    async def aclose(self) -> None:
        """Close the connections of this loop, and those of sync calls."""
        await self._closed()
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

    async def _attempt(self, request: Request, seconds: float) -> Completion:
        """Send the request once; written once for both colours, for one time limit."""
        import asyncio

        sent, client = self._sent(request), self._client()
        try:
            async with asyncio.timeout(seconds):
                creating = client.chat.completions.with_streaming_response.create
                extra = {"extra_body": self._extra} if self._extra else {}
                async with creating(**sent.body, **extra, timeout=seconds) as response:
                    body = await self._all(response.iter_bytes())
                    content_type = response.headers.get("content-type", "")
        except Exception as error:  # noqa: BLE001 - told apart below, and unknown ones raised
            failure = self._failure(error, sent, seconds)
        else:
            return self._completion(body, content_type)
        # Here, so that nothing is chained: it would be shown, with the request's headers.
        raise failure

    def _client(self) -> Any:
        """A client for each loop: connections cannot be used on another than their own."""
        import asyncio

        loop = asyncio.get_running_loop()
        with self._lock:
            client = self._clients.get(loop)
            if client is None:
                client = self._clients[loop] = self._made()
            return client

    def _made(self) -> Any:
        openai = import_module("openai")
        hooks = {"request": [self._only_own], "response": [_no_refusals]}
        return openai.AsyncOpenAI(
            api_key=self._key,
            base_url=self._url,
            max_retries=0,
            default_headers=self._headers,
            http_client=openai.DefaultAsyncHttpxClient(follow_redirects=False, event_hooks=hooks),
        )

    async def _closed(self) -> None:
        import asyncio

        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.close()

    async def _only_own(self, request: Any) -> None:
        """Take out what the client found in the environment, where that is not its place."""
        if self._environment:
            return
        own = _OWN_HEADERS | {name.lower() for name in self._headers}
        for name in list(request.headers):
            if name.lower() not in own and not name.lower().startswith("x-stainless-"):
                del request.headers[name]

    def _sent(self, request: Request) -> "_Sent":
        key, dialect = request.schema_digest, self._dialect
        schema = key if dialect.schemas and key not in dialect.refused else None
        return _Sent(payload(self._name, request, dialect, schema), schema)

    def _seconds(self, timeout: float | None) -> float:
        return self._timeout if timeout is None else min(self._timeout, max(timeout, 0.001))

    async def _all(self, chunks: AsyncIterator[bytes]) -> bytes:
        body = bytearray()
        async for chunk in chunks:
            body += chunk
            if len(body) > _LONGEST:
                raise TransportError(
                    f"model {self.identity!r} answered more than {_LONGEST // 2**20} MiB"
                )
        return bytes(body)

    # --- what came of it ------------------------------------------------------------------

    def _completion(self, body: bytes, content_type: str) -> Completion:
        failure: TransportError
        try:
            made, told_usage = completion_of(
                body, content_type, self.identity, self._secrets.out_of
            )
        except TransportError as error:
            failure = TransportError(self._safe(str(error)), retryable=error.retryable)
        else:
            if not told_usage and not self._told_of_usage:
                self._told_of_usage = True
                logger("models").warning(
                    "model %r tells no usage: its tokens and cost count as 0", self.identity
                )
            return replace(made, cost=self._price.of(made.usage))
        raise failure

    def _failure(self, error: Exception, sent: "_Sent", seconds: float) -> Exception:
        """What an attempt raises for what it met; what nobody foresaw stays what it is."""
        cause = error.__cause__ if isinstance(error.__cause__, Exception) else error
        if isinstance(error, TransportError):
            return error
        if isinstance(cause, _Answered):
            return self._refused(cause, sent)
        if isinstance(error, UnicodeEncodeError):
            return TransportError(
                f"model {self.identity!r}: the request holds a lone surrogate, which UTF-8 cannot "
                f"say"
            )
        if isinstance(error, TimeoutError) or "Timeout" in type(error).__name__:
            return self._late(seconds)
        connection = import_module("openai").APIConnectionError
        if isinstance(error, connection | OSError) or _is_http(error):
            said = f"the connection to model {self.identity!r} failed: {told(cause)}"
            return TransportError(self._safe(said), retryable=True)
        return error

    def _late(self, seconds: float) -> TransportError:
        return TransportError(
            f"model {self.identity!r} did not answer within {round(seconds, 3):g} s", retryable=True
        )

    def _refused(self, answered: "_Answered", sent: "_Sent") -> TransportError:
        status, headers = answered.status, answered.headers
        if 300 <= status < 400 and "location" in headers:
            return self._redirected(status, headers["location"])
        body = answered.parsed()
        error, said = of_error(body), error_text(body) or "nothing"
        learnt = self._learn(refused_in(status, error, said, sent.body), sent)
        if learnt:
            return TransportError(
                self._safe(f"model {self.identity!r} refuses {learnt} ({status}): {said}"),
                retryable=True,
                retry_after=0.0,
            )
        spent = error.get("code") == "insufficient_quota"
        passing = (status in _PASSING or status >= 500) and not spent
        return TransportError(
            self._safe(f"model {self.identity!r} answered {status}: {said}"),
            retryable=passing,
            retry_after=retry_after(headers, time.time()) if passing else None,
        )

    def _redirected(self, status: int, location: str) -> TransportError:
        try:
            parts = urlsplit(urljoin(self._url, location))
            origin = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
        except ValueError:
            origin = "nowhere"
        return TransportError(
            self._safe(
                f"model {self.identity!r} answered {status}, a redirect to {origin}, which is not "
                f"followed: the prompt would go along; base_url= has to name the place itself"
            )
        )

    def _learn(self, features: tuple[str, ...], sent: "_Sent") -> str:
        """Remember what the server does not understand; in words, and empty for nothing."""
        of_schemas = ("schema", "response_format")
        learnt = [one for one in features if self._format == "auto" or one not in of_schemas]
        with self._lock:
            before = self._dialect
            self._dialect = before.without(learnt, sent.schema)
            left_out = self._dialect.left_out - before.left_out
        for name in sorted(left_out):
            logger("models").warning(
                "model %r refuses %s: it is left out from now on, and the model's own applies",
                *(self.identity, name),
            )
        return lesson(learnt)

    def _safe(self, text: str) -> str:
        from hornbook.trace.redact import redact_text

        return redact_text(self._secrets.out_of(text), limit=_SAID + len(self.identity))


@dataclass(frozen=True, slots=True)
class _Sent:
    """The body of a request, and the digest of the schema in it."""

    body: Mapping[str, Any]
    schema: str | None


class _Answered(Exception):
    """An answer that is no success, with as much of its body as is worth reading."""

    def __init__(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        super().__init__(f"status {status}")
        self.status = status
        self.headers = headers
        self.body = body

    def parsed(self) -> object:
        """The JSON of its body, or else its text."""
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):
            return self.body.decode("utf-8", "replace")


async def _no_refusals(response: Any) -> None:
    """End an attempt at its status: the client would read all of a refusal's body, however long."""
    status: int = response.status_code
    if 200 <= status < 300:
        return
    body = bytearray()
    async for chunk in response.aiter_bytes():
        body += chunk[: _LONGEST_ERROR - len(body)]
        if len(body) >= _LONGEST_ERROR:
            break
    raise _Answered(status, response.headers, bytes(body))


def _is_http(error: Exception) -> bool:
    """Whether the client's HTTP library raised it; which one that is depends on its version."""
    return any(
        base.__name__ == "RequestError" and base.__module__.startswith("httpx")
        for base in type(error).__mro__
    )
