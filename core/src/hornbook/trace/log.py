"""Where a run's events go: into memory as rows, or into a file as they happen.

In memory a step is two small tuples, its frame and its ending, and events are made from
them when someone reads; they hold references, so what a step changes later shows changed.
In a file each event is encoded and written before the step goes on.
"""

import itertools
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict
from weakref import WeakSet

from hornbook.trace.events import Event, Kind
from hornbook.trace.frame import Ending, Frame

if TYPE_CHECKING:
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
        self._epoch = time.time() - time.monotonic()
        self.start: Callable[[Frame], object] = self._start
        self.end: Callable[[Ending], object] = self._end

    @property
    def path(self) -> Path | None:
        """The run's folder; None in memory."""
        return None

    @property
    def events(self) -> tuple[Event, ...]:
        """All events so far."""
        raise NotImplementedError  # pragma: no cover - both kinds define it

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
                "time": time.time(),
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
        at: Frame | None = frame
        while at is not None and at[2] is None:
            at = at[3]
        return self.run if at is None else f"{self.writer_of(at[1])}.{at[1]}"

    def parent_id(self, frame: Frame) -> str | None:
        """The id of the step around it, or None at the top of the run."""
        own: Frame | None = frame
        while own is not None and own[2] is None:
            own = own[3]
        if own is None or own[3] is None:
            return None
        found = self.step_id(own[3])
        return self.joined_at(own) if found == self.run else found

    def joined_at(self, frame: Frame) -> str | None:
        """The step of another process that this process's part of the run hangs under."""
        run = frame[0]
        return None if run is None else run.joined_at

    def start_fields(self, frame: Frame) -> Fields:
        """The `step.start` of a frame."""
        _, _, operation, _, args, kwargs, started, _, meta = frame
        assert operation is not None
        data: dict[str, Any] = {
            "step": operation.kind,
            "host": operation.host,
            "inputs": operation.bind(args, kwargs),
        }
        if operation.agent is not None:
            data["agent"] = operation.agent
        if meta:
            data["meta"] = meta
        return self._fields("step.start", frame, started, None, data)

    def end_fields(self, ending: Ending) -> Fields:
        """The `step.end` of an ending."""
        frame, ended, value, outcome = ending
        data: dict[str, Any] = {"microseconds": round((ended - frame[6]) * 1e6), "output": value}
        if outcome is not None:
            data |= outcome.as_record()
        status = "satisfied" if outcome is None else outcome.status
        return self._fields("step.end", frame, ended, status, data)

    def _fields(
        self, kind: Kind, frame: Frame, clock: float, status: str | None, data: Mapping[str, Any]
    ) -> Fields:
        operation = frame[2]
        assert operation is not None
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

    def _start(self, frame: Frame) -> None:
        self.write(self.start_fields(frame))

    def _end(self, ending: Ending) -> None:
        self.write(self.end_fields(ending))

    def observe(self, event: Event) -> None:
        """Show an event to the observers, none of which can harm the step."""
        for observer in self._observers:
            try:
                observer(event)
            except Exception:
                _logger().exception("an observer of the trace raised; the step goes on")


class MemoryLog(Log):
    """Rows in a list; the place in the list is the event's `seq`."""

    def __init__(self, run: str, observers: Sequence[Observer] = ()) -> None:
        super().__init__(run, observers)
        self._rows: list[Frame | Ending | Fields] = []
        self._lock = threading.Lock()
        if not observers:
            # The hot path: one bound append, and no event is made until someone reads.
            self.start = self.end = self._rows.append

    @property
    def events(self) -> tuple[Event, ...]:
        return tuple(self._event(seq, row) for seq, row in enumerate(list(self._rows)))

    def write(self, fields: Fields) -> None:
        if not self._observers:
            self._rows.append(fields)
            return
        with self._lock:
            self._rows.append(fields)
            seq = len(self._rows) - 1
        self.observe(self._event(seq, fields))

    def _event(self, seq: int, row: Frame | Ending | Fields) -> Event:
        from hornbook.trace.redact import recordable

        if isinstance(row, dict):
            fields = row
        elif len(row) == 4:
            fields = self.end_fields(row)
        else:
            fields = self.start_fields(row)
        return Event(seq=seq, run=self.run, **{**fields, "data": recordable(fields["data"])})


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
        return self._path

    @property
    def events(self) -> tuple[Event, ...]:
        from hornbook.trace.reader import read

        return tuple(read(self._path))

    def write(self, fields: Fields) -> None:
        seq = self._file.append(fields)
        if self._observers:
            from hornbook.trace.redact import recordable

            data = recordable(fields["data"])
            self.observe(Event(seq=seq, run=self.run, **{**fields, "data": data}))

    def close(self, fields: Fields) -> None:
        self._file.end(fields)

    def writer_of(self, number: int) -> str:
        for last, writer in self._earlier:
            if number <= last:
                return writer
        return self._file.writer

    def before_fork(self) -> None:
        """Remember the token that numbers given out so far belong to, should this fork."""
        self._writer = self._file.writer

    def after_fork(self) -> None:
        """In the child: what was numbered before the fork stands in the parent's file."""
        self._earlier.append((self.next_number(), self._writer))


_files: "WeakSet[FileLog]" = WeakSet()


def _each(method: str) -> None:
    for file in list(_files):
        getattr(file, method)()


if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(
        before=lambda: _each("before_fork"), after_in_child=lambda: _each("after_fork")
    )


def _logger() -> Any:
    from logging import getLogger

    return getLogger("hornbook")
