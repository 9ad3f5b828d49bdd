"""Replay: a model that gives the answers that a record holds, and no others.

Forethought 3.1 asks for "deterministic replay". What is replayed finds its answer by the
digest of the request, in order of occurrence; a request that the record does not hold is
drift, and the error says what differs from the nearest one that it does hold.
"""

import re
import threading
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from hornbook.canon import digest
from hornbook.errors import BudgetExceeded
from hornbook.models.drift import nearest, what_differs
from hornbook.models.failures import ReplayError, TransportError
from hornbook.models.protocol import Model
from hornbook.models.values import Completion, Finish, Request, Usage
from hornbook.trace.events import Event
from hornbook.trace.frame import OPERATION, current

__all__ = ["RecordedModel", "recorded"]


def recorded(
    source: str | Path | Iterable[Event], /, like: Model | str | None = None
) -> "RecordedModel":
    """A model that answers from a record, each request as often as it was answered there.

    Args:
        source: the folder or file of a run, or its events.
        like: the model that it stands for, or its identity. Left out, it is the one model in
            the record, or where there are several, any of them.

    Raises:
        TraceError: there is no record, or it cannot be read.
    """
    made = RecordedModel(_Recording(source), "")
    if like is not None:
        return made.standing_for(like)
    return made.standing_for(made.models[0]) if len(made.models) == 1 else made


class RecordedModel:
    """A model that answers from a record; made by `recorded`."""

    def __init__(self, recording: "_Recording", identity: str) -> None:
        self._recording = recording
        self._like = identity
        self.identity = identity or "recorded"
        """That of the model it stands for, so that records and cache keys stay the same."""
        self.max_attempts: int | None = recording.most_attempts()

    @property
    def models(self) -> tuple[str, ...]:
        """The identities of the models in the record."""
        return self._recording.models()

    @property
    def left(self) -> int:
        """Recorded steps that nothing has asked for yet: all models', not only this one's."""
        return self._recording.left()

    def standing_for(self, model: Model | str) -> "RecordedModel":
        """One that stands for another model, and takes its answers from the same record."""
        identity = model if isinstance(model, str) else model.identity
        return RecordedModel(self._recording, identity)

    def complete(self, request: Request, /, *, timeout: float | None = None) -> Completion:
        """Give the next recorded answer to this request.

        Raises:
            TransportError: that attempt failed when it was recorded.
            ReplayError: the record holds no further answer to it.
        """
        return self._recording.answer(request, self._like)

    async def acomplete(self, request: Request, /, *, timeout: float | None = None) -> Completion:
        """The async twin of `complete`."""
        return self._recording.answer(request, self._like)

    def __repr__(self) -> str:
        return f"RecordedModel({self.identity!r}, left={self.left})"


@dataclass(slots=True)
class _Step:
    """A recorded model step, and what its attempts gave, in order."""

    name: str
    model: str
    request: str
    inputs: Mapping[str, Any]
    attempts: list[Completion | Exception] = field(default_factory=list[Completion | Exception])
    last: str = ""
    """What the record says of the last attempt that failed."""

    def changed(self, data: Mapping[str, Any]) -> None:
        """Note what a plugin changed of the request, for what an error shows of it."""
        given = data.get("inputs")
        if isinstance(given, Mapping):
            self.inputs = {**self.inputs, **cast("Mapping[str, Any]", given)}

    def failed(self, data: Mapping[str, Any]) -> None:
        self.last = str(data.get("error", ""))
        retryable = data.get("retryable") is True
        # Nothing is waited for in a replay. The class of the error is lost, if it is a host's own.
        said = self.last.partition(": ")[2] or self.last
        self.attempts.append(TransportError(said, retryable=retryable, retry_after=0.0))

    def ended(self, data: Mapping[str, Any]) -> None:
        self.request = str(data.get("request", self.request))
        if not data.get("attempts"):
            return
        if "digest" in data:
            self.attempts.append(self._completion(data))
            return
        error, failed = str(data.get("error", "")), self.attempts[-1:]
        if error.startswith("BudgetExceeded: "):
            self.attempts[-1:] = [_spent(error, failed)]
        elif failed and error in (self.last, ""):  # "" where a plugin stood in for it
            cast("TransportError", failed[0]).retryable = False
        else:
            self.attempts.append(
                ReplayError(
                    f"{self._who()} ended with {error!r:.200}, which cannot be raised again",
                    step=self.name,
                )
            )

    def _completion(self, data: Mapping[str, Any]) -> Completion | Exception:
        text = data.get("answer", data.get("output"))
        if not isinstance(text, str) or digest(text) != data["digest"]:
            return ReplayError(
                f"{self._who()} gave a text that the record does not hold whole: it was cut or "
                f"redacted",
                step=self.name,
            )
        used = cast("Mapping[str, Any]", data.get("usage") or {})
        return Completion(
            text=text,
            usage=Usage(
                input_tokens=int(used.get("input_tokens", 0)),
                output_tokens=int(used.get("output_tokens", 0)),
            ),
            model=str(data.get("model", self.model)),
            finish=cast("Finish", data.get("finish", "stop")),
            cost=float(data.get("cost", 0.0)),
        )

    def _who(self) -> str:
        return f"step {self.name!r} of the record"


class _Recording:
    """The model steps of a record, each with what is left of its attempts."""

    def __init__(self, source: str | Path | Iterable[Event]) -> None:
        self._steps = _steps(source)
        self._lock = threading.Lock()
        self._left: dict[str, deque[tuple[_Step, deque[Completion | Exception]]]] = {}
        for step in self._steps:
            if step.attempts:
                queue = self._left.setdefault(step.request, deque())
                queue.append((step, deque(step.attempts)))

    def models(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(step.model for step in self._steps))

    def most_attempts(self) -> int:
        return max((len(step.attempts) for step in self._steps), default=1) or 1

    def left(self) -> int:
        with self._lock:
            return sum(len(queue) for queue in self._left.values())

    def answer(self, request: Request, like: str) -> Completion:
        given = self._take(request, like)
        if given is None:
            raise self._drift(request, like)
        if isinstance(given, Exception):
            raise given
        return given

    def _take(self, request: Request, like: str) -> Completion | Exception | None:
        with self._lock:
            queue = self._left.get(request.digest, deque())
            for at, (step, attempts) in enumerate(queue):
                if like and step.model != like:
                    continue
                given = attempts.popleft()
                if not attempts:
                    del queue[at]
                return given
        return None

    def _drift(self, request: Request, like: str) -> ReplayError:
        step = _step_here()
        same = [one for one in self._steps if one.request == request.digest]
        mine = [one for one in same if not like or one.model == like]
        if mine and not any(one.attempts for one in mine):
            why = "a plugin or the budget ended that step there, before the model was asked"
        elif mine:
            many = sum(bool(one.attempts) for one in mine)
            why = f"this request was answered {many} times there, and is asked once more"
        elif same:
            why = f"this request was asked of model {same[0].model!r} there, not of {like!r}"
        elif not self._steps:
            why = "it holds no model step"
        else:
            by_name = [(one.name, one.inputs) for one in self._steps]
            name, inputs = nearest(step, request, by_name)
            why = f"nearest is step {name!r}, where {what_differs(inputs, request)}"
        return ReplayError(f"step {step!r} is not as recorded: {why}", step=step)


def _spent(error: str, failed: Sequence[Completion | Exception]) -> BudgetExceeded:
    """A run that ended there for want of budget ends there again, whatever the budget is now."""
    said = error.removeprefix("BudgetExceeded: ")
    limit = re.search(r"\b(calls|tokens|seconds|cost)\b", said)
    raised = BudgetExceeded(said, limit="calls" if limit is None else limit[1], spent={})
    for attempt in failed:
        raised.__cause__ = cast("TransportError", attempt)
    return raised


def _steps(source: str | Path | Iterable[Event]) -> list[_Step]:
    from hornbook.trace.reader import read

    events = read(source) if isinstance(source, str | Path) else source
    found: dict[str, _Step] = {}
    for event in events:
        data = event.data
        meta = data.get("meta")
        if event.kind == "step.start" and data.get("step") == "model" and isinstance(meta, dict):
            named = cast("dict[str, Any]", meta)
            if "request" in named and "model" in named:
                found[event.id] = _Step(
                    event.name, str(named["model"]), str(named["request"]), data.get("inputs", {})
                )
        elif event.kind == "attempt" and event.status == "error" and event.id in found:
            found[event.id].failed(data)
        elif event.kind == "decision" and event.name == "proceed" and event.id in found:
            found[event.id].changed(data)
        elif event.kind == "step.end" and event.id in found:
            found[event.id].ended(data)
    return list(found.values())


def _step_here() -> str:
    frame = current.get()
    return "model" if frame is None or frame[OPERATION] is None else str(frame[OPERATION].name)
