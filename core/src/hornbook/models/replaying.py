"""Replay: a model that gives the answers that a record holds, and no others.

Forethought 3.1 asks for "deterministic replay". What is replayed finds its answer by the
place in the program from which it asks and the digest of the request; where the record has
no such place, by the digest in order of occurrence. A request that the record does not hold
is drift, and the error says what differs from the nearest one that it does hold.
"""

import re
import threading
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias, cast

from hornbook.canon import digest
from hornbook.errors import BudgetExceeded
from hornbook.models.drift import nearest, what_differs
from hornbook.models.failures import ReplayError, TransportError
from hornbook.models.protocol import Model
from hornbook.models.raising import raised_again
from hornbook.models.values import Completion, Finish, Request, Usage
from hornbook.trace.events import Event
from hornbook.trace.frame import META, OPERATION, PARENT, Frame, current

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
    around: tuple[str, str] | None
    """The nearest step around it that has a place: its id, and the place."""
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
            self.attempts.append(raised_again(error) or self._lost(error))

    def _lost(self, error: str) -> ReplayError:
        return ReplayError(
            f"{self._who()} ended with {error!r:.200}, which cannot be raised again",
            step=self.name,
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


class _Occurrences:
    """Numbers steps among those of the same place, in the order in which they first ask."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._numbers: dict[object, tuple[int, object]] = {}

    def number(self, place: str, key: object, held: object = None) -> int:
        """The number of a step; `held` is kept, so that a key that is its id stays its own."""
        if key not in self._numbers:
            self._numbers[key] = self._counts.get(place, 0), held
            self._counts[place] = self._numbers[key][0] + 1
        return self._numbers[key][0]


_Key: TypeAlias = tuple[str, str | None, int | None]
"""Digest of a request; the place around it; the occurrence of that place. None is any."""


@dataclass(slots=True, eq=False)
class _Left:
    """What is left of the attempts of a step."""

    model: str
    attempts: deque[Completion | Exception]


class _Recording:
    """The model steps of a record, each with what is left of its attempts."""

    def __init__(self, source: str | Path | Iterable[Event]) -> None:
        self._steps = _steps(source)
        self._lock = threading.Lock()
        self._all: list[_Left] = []
        self._left: dict[_Key, deque[_Left]] = {}
        self._asking = _Occurrences()
        """Of the steps that ask now."""
        asked = _Occurrences()
        for step in self._steps:
            if step.attempts:
                self._keep(step, asked)

    def _keep(self, step: _Step, asked: _Occurrences) -> None:
        left = _Left(step.model, deque(step.attempts))
        self._all.append(left)
        around = None
        if step.around is not None:
            key, place = step.around
            around = place, asked.number(place, key)
        for one in _keys(step.request, around):
            self._left.setdefault(one, deque()).append(left)

    def models(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(step.model for step in self._steps))

    def most_attempts(self) -> int:
        return max((len(step.attempts) for step in self._steps), default=1) or 1

    def left(self) -> int:
        with self._lock:
            return sum(bool(one.attempts) for one in self._all)

    def answer(self, request: Request, like: str) -> Completion:
        given = self._take(request, like)
        if given is None:
            raise self._drift(request, like)
        if isinstance(given, Exception):
            raise given
        return given

    def _take(self, request: Request, like: str) -> Completion | Exception | None:
        around = _placed(current.get())
        with self._lock:
            number = None
            if around is not None:
                place, frame = around
                number = place, self._asking.number(place, id(frame), frame)
            for key in _keys(request.digest, number):
                left = self._first(key, like)
                if left is not None:
                    return left.attempts.popleft()
        return None

    def _first(self, key: _Key, like: str) -> _Left | None:
        queue = self._left.get(key)
        if queue is None:
            return None
        while queue and not queue[0].attempts:
            queue.popleft()
        return next((one for one in queue if one.attempts and like in ("", one.model)), None)

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


def _keys(request: str, around: tuple[str, int] | None) -> list[_Key]:
    """Where an answer is looked for: at its very place first, at last by the request alone."""
    alone: list[_Key] = [(request, None, None)]
    return alone if around is None else [(request, *around), (request, around[0], None), *alone]


def _placed(frame: Frame | None) -> tuple[str, Frame] | None:
    """The place of the nearest step around that has one, and its frame."""
    while frame is not None:
        meta: Mapping[str, Any] = frame[META] or {}
        place = meta.get("place")
        if isinstance(place, str):
            return place, frame
        frame = frame[PARENT]
    return None


def _steps(source: str | Path | Iterable[Event]) -> list[_Step]:
    from hornbook.trace.reader import read

    events = read(source) if isinstance(source, str | Path) else source
    found: dict[str, _Step] = {}
    around: dict[str, tuple[str, str]] = {}
    for event in events:
        data = event.data
        if event.kind == "step.start":
            _note_place(event, around)
            step = _model_step(event, around)
            if step is not None:
                found[event.id] = step
        elif event.kind == "attempt" and event.status == "error" and event.id in found:
            found[event.id].failed(data)
        elif event.kind == "decision" and event.name == "proceed" and event.id in found:
            found[event.id].changed(data)
        elif event.kind == "step.end" and event.id in found:
            found[event.id].ended(data)
    return list(found.values())


def _note_place(event: Event, around: dict[str, tuple[str, str]]) -> None:
    meta: Mapping[str, Any] = event.data.get("meta") or {}
    place = meta.get("place")
    if isinstance(place, str):
        around[event.id] = event.id, place
    elif event.parent in around:
        around[event.id] = around[event.parent]


def _model_step(event: Event, around: Mapping[str, tuple[str, str]]) -> _Step | None:
    data = event.data
    meta = data.get("meta")
    if data.get("step") != "model" or not isinstance(meta, dict):
        return None
    named = cast("dict[str, Any]", meta)
    if "request" not in named or "model" not in named:
        return None
    inputs, model, request = data.get("inputs", {}), str(named["model"]), str(named["request"])
    return _Step(event.name, model, request, inputs, around.get(event.id))


def _step_here() -> str:
    frame = current.get()
    return "model" if frame is None or frame[OPERATION] is None else str(frame[OPERATION].name)
