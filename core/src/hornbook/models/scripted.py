"""Models that answer from a script: for tests, examples and measurements."""

import json
import threading
import time
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias, cast

from hornbook.errors import DefinitionError
from hornbook.models.failures import TransportError
from hornbook.models.values import Completion, Price, Request, Usage

__all__ = ["ScriptedBatchModel", "ScriptedModel"]

Answer: TypeAlias = Any
"""A text, a `Completion`, an exception to raise, or any JSON value, which is written as text."""
Script: TypeAlias = Mapping[str, Answer] | Iterable[Answer] | Callable[[Request], Answer]


class ScriptedModel:
    """A model that answers from a script, counts its calls and keeps its requests.

    Args:
        script: a list answers in order of the calls; a function gets the request; a mapping is
            looked up by the last message, as a whole or else by the first key that stands in
            it. An answer is a text, a JSON value, a `Completion`, or an exception to raise.
        identity: what records and cache keys call it.
        delay: seconds that each call takes.
        max_attempts: what `Model.max_attempts` says.
        price: what its tokens cost; tokens are words, so that counts can be read off.

    Raises:
        DefinitionError: the script is none of the three, or the delay is no time.
    """

    def __init__(
        self,
        script: Script,
        *,
        identity: str = "scripted",
        delay: float = 0.0,
        max_attempts: int | None = 1,
        price: Price | None = None,
    ) -> None:
        if isinstance(delay, bool) or not isinstance(cast("object", delay), int | float):
            raise DefinitionError(f"ScriptedModel(delay={delay!r:.60}): expected seconds")
        if not 0 <= delay < threading.TIMEOUT_MAX:
            raise DefinitionError(f"ScriptedModel(delay={delay!r:.60}): expected seconds from 0 on")
        self.identity = identity
        self.max_attempts = max_attempts
        self._delay = delay
        self._price = price or Price()
        self._answer = _answering(script)
        self._requests: list[Request] = []

    @property
    def calls(self) -> int:
        """Attempts so far."""
        return len(self._requests)

    @property
    def requests(self) -> tuple[Request, ...]:
        """What was asked so far, in order."""
        return tuple(self._requests)

    def complete(self, request: Request, /, *, timeout: float | None = None) -> Completion:
        """Answer from the script.

        Raises:
            TransportError: the delay is longer than `timeout`.
            DefinitionError: the script has no answer.
        """
        given = self._take(request)
        if self._delay:
            time.sleep(self._pause(timeout))
        return self._told(request, given, timeout)

    async def acomplete(self, request: Request, /, *, timeout: float | None = None) -> Completion:
        """The async twin of `complete`."""
        from asyncio import sleep

        given = self._take(request)
        await sleep(self._pause(timeout))
        return self._told(request, given, timeout)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(identity={self.identity!r}, calls={self.calls})"

    def _take(self, request: Request) -> Answer:
        self._requests.append(request)
        return self._answer(request)

    def _pause(self, timeout: float | None) -> float:
        return self._delay if timeout is None else min(self._delay, timeout)

    def _told(self, request: Request, given: Answer, timeout: float | None) -> Completion:
        if timeout is not None and self._delay > timeout:
            raise TransportError(
                f"model {self.identity!r} did not answer within {round(timeout, 3):g} s",
                retryable=True,
            )
        if isinstance(given, BaseException):
            raise given
        if isinstance(given, Completion):
            return replace(given, model=given.model or self.identity)
        text = given if isinstance(given, str) else _written(given)
        asked = sum(len(message.content.split()) for message in request.messages)
        usage = Usage(input_tokens=asked, output_tokens=len(text.split()))
        cost = self._price.of(usage)
        return Completion(text=text, usage=usage, model=self.identity, cost=cost)


class ScriptedBatchModel(ScriptedModel):
    """A `ScriptedModel` that takes batches: one delay for all of a batch.

    `calls` counts requests; `batches` has the size of each batch.
    """

    def __init__(self, script: Script, **named: Any) -> None:
        super().__init__(script, **named)
        self._batches: list[int] = []

    @property
    def batches(self) -> tuple[int, ...]:
        """The size of each batch so far."""
        return tuple(self._batches)

    def complete_many(
        self, requests: Sequence[Request], /, *, timeout: float | None = None
    ) -> Sequence[Completion | Exception]:
        """Answer all from the script."""
        given = self._take_all(requests)
        time.sleep(self._pause(timeout))
        return [self._told_of(*pair, timeout) for pair in zip(requests, given, strict=True)]

    async def acomplete_many(
        self, requests: Sequence[Request], /, *, timeout: float | None = None
    ) -> Sequence[Completion | Exception]:
        """The async twin of `complete_many`."""
        from asyncio import sleep

        given = self._take_all(requests)
        await sleep(self._pause(timeout))
        return [self._told_of(*pair, timeout) for pair in zip(requests, given, strict=True)]

    def _take_all(self, requests: Sequence[Request]) -> list[Answer]:
        self._batches.append(len(requests))
        return [self._caught(self._take, request) for request in requests]

    def _told_of(
        self, request: Request, given: Answer, timeout: float | None
    ) -> Completion | Exception:
        return self._caught(self._told, request, given, timeout)

    def _caught(self, function: Callable[..., Any], *args: Any) -> Any:
        try:
            return function(*args)
        except Exception as error:  # noqa: BLE001 - the answer to one request of the batch
            return error


def _written(given: Answer) -> str:
    if isinstance(given, Coroutine):
        cast("Coroutine[Any, Any, Any]", given).close()
    try:
        return json.dumps(given, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise DefinitionError(
            f"the script answers {given!r:.60}, which is no text, JSON value, Completion or "
            f"exception: {error}"
        ) from None


def _answering(script: Any) -> Callable[[Request], Answer]:
    if callable(script):
        return cast("Callable[[Request], Answer]", script)
    if isinstance(script, Mapping):
        return _by_text(cast("Mapping[str, Answer]", script))
    if isinstance(script, Iterable) and not isinstance(script, str | bytes):
        return _in_order(list(cast("Iterable[Answer]", script)))
    raise DefinitionError(
        f"ScriptedModel({script!r:.60}): a script is a list, a mapping or a function"
    )


def _in_order(answers: list[Answer]) -> Callable[[Request], Answer]:
    left: Iterator[Answer] = iter(answers)
    end = object()
    lock = threading.Lock()

    def answer(request: Request) -> Answer:
        with lock:
            given = next(left, end)
        if given is end:
            raise DefinitionError(
                f"the script has {len(answers)} answers, and the model is asked once more: "
                f"{_last(request)!r:.200}"
            )
        return given

    return answer


def _by_text(answers: Mapping[str, Answer]) -> Callable[[Request], Answer]:
    def answer(request: Request) -> Answer:
        last = _last(request)
        if last in answers:
            return answers[last]
        for key, given in answers.items():
            if key in last:
                return given
        raise DefinitionError(f"the script has no answer to {last!r:.200}")

    return answer


def _last(request: Request) -> str:
    return request.messages[-1].content
