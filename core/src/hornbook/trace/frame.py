"""Where a step stands: the frame that a running step leaves for those it calls.

A frame is a plain tuple and not a class, because one is made for every step and making a
tuple costs a fifth of making an object; the names below are its positions. It is also
the step's row in the record: a step writes its frame when it starts and its ending when
it ends, and events are made from the two when someone reads.
"""

from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hornbook.trace.runs import Run

__all__ = [
    "ARGS",
    "FEEDBACK",
    "KWARGS",
    "META",
    "NUMBER",
    "OPERATION",
    "PARENT",
    "RUN",
    "STARTED",
    "Ended",
    "Ending",
    "Frame",
    "Recorded",
    "current",
    "current_run",
]


class Ended(Protocol):
    """What the record wants to know of a step that did not simply succeed."""

    @property
    def status(self) -> str: ...

    def as_record(self) -> "Mapping[str, Any]":
        """Attempts, report, error: plain data, not yet redacted."""
        ...


class Recorded(Protocol):
    """What the record wants to know of the operation that a step runs."""

    @property
    def name(self) -> str: ...

    @property
    def kind(self) -> str: ...

    @property
    def host(self) -> str: ...

    @property
    def agent(self) -> str | None: ...

    @property
    def contract_digest(self) -> str | None: ...

    def bind(self, args: tuple[Any, ...], kwargs: "Mapping[str, Any]") -> "Mapping[str, Any]":
        """The arguments by name."""
        ...


if TYPE_CHECKING:
    Frame: TypeAlias = tuple[
        Run | None,
        int,
        Recorded | None,
        Any,
        tuple[Any, ...],
        dict[str, Any],
        float,
        Any,
        Mapping[str, Any],
    ]
    """(run, number, operation, parent, args, kwargs, started, feedback, meta).

    `number` is unique in the run and process, `started` is a `time.monotonic` reading,
    `feedback` is what a retried step is told, `meta` is what the host says of the step;
    `parent` is the Frame of the step around it, or None.
    """
    Ending: TypeAlias = tuple[Frame, float, Any, Ended | None]
    """(frame, ended, value, outcome); the outcome is None for a plain success at once."""
else:
    Frame = Ending = tuple

RUN, NUMBER, OPERATION, PARENT, ARGS, KWARGS, STARTED, FEEDBACK, META = range(9)

current: ContextVar[Frame | None] = ContextVar("hornbook_frame", default=None)
"""The frame of the step that is running here, in this thread and task."""


def current_run() -> "Run | None":
    """The run that is open here, or None."""
    frame = current.get()
    return None if frame is None else frame[RUN]
