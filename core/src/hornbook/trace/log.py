"""Where a run's events go: into memory as rows, or into a file as they happen.

In memory a step is one row, its frame, and events are made from the rows when someone
reads; they hold references, so what a step changes later shows changed. In a file each
event is encoded and written before the step goes on.
"""

import itertools
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from heapq import heappop, heappush
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict
from weakref import WeakSet

from hornbook.errors import TraceError
from hornbook.log import logger
from hornbook.trace.events import Event, Kind
from hornbook.trace.frame import (
    ARGS,
    ENDED,
    KWARGS,
    META,
    NUMBER,
    OPERATION,
    OUTCOME,
    PARENT,
    RUN,
    STARTED,
    VALUE,
    Ended,
    Frame,
    Recorded,
)

if TYPE_CHECKING:
    from hornbook.trace.runs import Run
    from hornbook.trace.writer import TraceFile

__all__ = ["Fields", "FileLog", "Log", "MemoryLog", "Observer"]

Observer = Callable[[Event], None]


class Fields(TypedDict):
    """An event before it has a place in its file."""

    kind: Kind
    id: str
    parent: str | None
    time: float
    name: str
    contract: str | None
    status: str | None
    data: Mapping[str, Any]


class Log:
    """What memory and file have in common: numbers, clocks, and how events are made."""

    def __init__(self, run: str, observers: Sequence[Observer] = ()) -> None:
        self.run = run
        self.next_number = itertools.count(1).__next__
        self._observers = tuple(observers)
        self._epoch = time.time() - time.perf_counter()
        self._numbering = threading.Lock()

    @property
    def path(self) -> Path | None:
        """The run's folder; None in memory."""
        return None

    @property
    def events(self) -> tuple[Event, ...]:
        """All events so far."""
        raise NotImplementedError  # pragma: no cover - both kinds define it

    def start(self, frame: Frame) -> object:
        """Record that a step starts."""
        self.write(self.start_fields(frame))

    def end(self, frame: Frame) -> object:
        """Record that a step has ended."""
        self.write(self.end_fields(frame))

    def hot(self) -> tuple[Callable[[Frame], object], Callable[[Frame], object] | None]:
        """What a step on the fast path calls on its start and end; None where nothing is."""
        return self.start, self.end

    def mark(
        self,
        kind: Kind,
        frame: Frame,
        name: str,
        *,
        status: str | None = None,
        data: Mapping[str, Any] | None = None,
    ) -> None:
        """Record an event that belongs to a step under way."""
        self.write(
            {
                "kind": kind,
                "id": self.step_id(frame),
                "parent": self.parent_id(frame),
                "time": self._epoch + time.perf_counter(),
                "name": name,
                "contract": None,
                "status": status,
                "data": data or {},
            }
        )

    def write(self, fields: Fields) -> None:
        """Record one event."""
        raise NotImplementedError  # pragma: no cover - both kinds define it

    def close(self, fields: Fields) -> None:
        """Record the end of the run."""
        self.write(fields)

    def writer_of(self, number: int) -> str:
        """The token of the file that a step's number belongs to."""
        return "0"

    def step_id(self, frame: Frame) -> str:
        """The id of the step a frame belongs to: the nearest that is a step at all."""
        step = _nearest_step(frame)
        if step is None:
            return self.run
        number = self._number(step)
        return f"{self.writer_of(number)}.{number}"

    def parent_id(self, frame: Frame) -> str | None:
        """The id of the step around it, or None at the top of the run."""
        step = _nearest_step(frame)
        around = None if step is None else _nearest_step(step[PARENT])
        if around is not None:
            return self.step_id(around)
        # In another process the top hangs under the step that it was joined at.
        run: Run | None = frame[RUN]
        return None if run is None or step is None else run.joined_at

    def start_fields(self, frame: Frame) -> Fields:
        """The `step.start` of a frame."""
        operation: Recorded = frame[OPERATION]
        data: dict[str, Any] = {
            "step": operation.kind,
            "host": operation.host,
            "inputs": operation.bind(frame[ARGS], frame[KWARGS]),
        }
        if operation.agent is not None:
            data["agent"] = operation.agent
        if frame[META]:
            data["meta"] = frame[META]
        return self._fields("step.start", frame, frame[STARTED], None, data)

    def end_fields(self, frame: Frame) -> Fields:
        """The `step.end` of a frame that has ended."""
        outcome: Ended | None = frame[OUTCOME]
        microseconds = round((frame[ENDED] - frame[STARTED]) * 1e6)
        operation: Recorded = frame[OPERATION]
        output = operation.shown(frame[VALUE]) if outcome is None or outcome.ok else None
        data: dict[str, Any] = {"microseconds": microseconds, "output": output}
        if outcome is not None:
            data |= outcome.as_record()
        status = "satisfied" if outcome is None else outcome.status
        return self._fields("step.end", frame, frame[ENDED], status, data)

    def _number(self, frame: Frame) -> int:
        with self._numbering:
            if frame[NUMBER] is None:
                frame[NUMBER] = self.next_number()
            return frame[NUMBER]

    def _fields(
        self, kind: Kind, frame: Frame, clock: float, status: str | None, data: Mapping[str, Any]
    ) -> Fields:
        operation: Recorded = frame[OPERATION]
        return {
            "kind": kind,
            "id": self.step_id(frame),
            "parent": self.parent_id(frame),
            "time": self._epoch + clock,
            "name": operation.name,
            "contract": operation.contract_digest,
            "status": status,
            "data": data,
        }

    def observe(self, event: Event) -> None:
        """Show an event to the observers, none of which can harm the step."""
        for observer in self._observers:
            try:
                observer(event)
            except Exception:  # noqa: BLE001 - whatever it raises is the observer's own matter
                logger("trace").exception("an observer of the trace raised; the step goes on")


class MemoryLog(Log):
    """Rows in a list, in the order in which they began."""

    def __init__(self, run: str, observers: Sequence[Observer] = ()) -> None:
        super().__init__(run, observers)
        self._rows: list[Frame | tuple[float, Fields]] = []
        self._lock = threading.Lock()

    @property
    def events(self) -> tuple[Event, ...]:
        """All events so far, made from the rows."""
        return tuple(_event(self.run, seq, one) for seq, one in enumerate(self._in_order()))

    def hot(self) -> tuple[Callable[[Frame], object], Callable[[Frame], object] | None]:
        """One append a step: its frame is the row, and tells by itself when it has ended."""
        return (self.start, self.end) if self._observers else (self._rows.append, None)

    def start(self, frame: Frame) -> object:
        """Record that a step starts."""
        return super().start(frame) if self._observers else self._rows.append(frame)

    def end(self, frame: Frame) -> object:
        """Record that a step has ended."""
        return super().end(frame) if self._observers else None

    def write(self, fields: Fields) -> None:
        """Record one event."""
        row = (time.perf_counter(), fields)
        if not self._observers:
            self._rows.append(row)
            return
        with self._lock:
            self._rows.append(row)
            seq = len(self._rows) - 1
        self.observe(_event(self.run, seq, fields))

    def _in_order(self) -> Iterator[Fields]:
        """What happened, as it happened: each end where its time falls among the rows."""
        ends: list[tuple[float, int, Frame]] = []
        for at, row in enumerate(list(self._rows)):
            clock: float = row[0] if isinstance(row, tuple) else row[STARTED]
            while ends and ends[0][0] < clock:
                yield self.end_fields(heappop(ends)[2])
            if isinstance(row, tuple):
                yield row[1]
                continue
            yield self.start_fields(row)
            ended: float | None = row[ENDED]
            if ended is not None:
                heappush(ends, (ended, -at, row))
        while ends:
            yield self.end_fields(heappop(ends)[2])


class FileLog(Log):
    """One JSONL file a process, written as things happen (DESIGN: `process` durability)."""

    def __init__(
        self, run: str, file: "TraceFile", path: Path, observers: Sequence[Observer] = ()
    ) -> None:
        super().__init__(run, observers)
        self._file = file
        self._path = path
        self._writer = file.writer
        self._earlier: list[tuple[int, str]] = []
        _files.add(self)

    @property
    def path(self) -> Path:
        """The run's folder."""
        return self._path

    @property
    def events(self) -> tuple[Event, ...]:
        """All events so far, read from every process's file."""
        from hornbook.trace.reader import read

        return tuple(read(self._path))

    def write(self, fields: Fields) -> None:
        """Record one event."""
        try:
            seq = self._file.append(fields)
        except TraceError:
            # Strict stops what has yet to begin; what was done is not lost over its record.
            if fields["kind"] in ("run.start", "step.start"):
                raise
            seq = -1
        if self._observers:
            self.observe(_event(self.run, seq, fields))

    def close(self, fields: Fields) -> None:
        """Record the end of the run, and anchor the record."""
        seq = self._file.end(fields)
        if self._observers:
            self.observe(_event(self.run, seq, fields))

    def writer_of(self, number: int) -> str:
        """The token of the file that a step's number belongs to."""
        for last, writer in self._earlier:
            if number <= last:
                return writer
        return self._file.writer

    def before_fork(self) -> None:
        """Remember the token that numbers given out so far belong to, should this fork."""
        self._writer = self._file.writer

    def after_fork(self) -> None:
        """In the child: what was numbered before the fork stands in the parent's file."""
        self._numbering = threading.Lock()
        self._earlier.append((self.next_number(), self._writer))


_files: "WeakSet[FileLog]" = WeakSet()


def _each(method: str) -> None:
    for file in list(_files):
        getattr(file, method)()


if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(
        before=lambda: _each("before_fork"), after_in_child=lambda: _each("after_fork")
    )


def _nearest_step(frame: Frame | None) -> Frame | None:
    while frame is not None and frame[OPERATION] is None:
        frame = frame[PARENT]
    return frame


def _event(run: str, seq: int, fields: Fields) -> Event:
    from hornbook.trace.redact import recordable

    return Event(
        kind=fields["kind"],
        seq=seq,
        run=run,
        id=fields["id"],
        parent=fields["parent"],
        time=fields["time"],
        name=fields["name"],
        contract=fields["contract"],
        status=fields["status"],
        data=recordable(fields["data"]),
    )
