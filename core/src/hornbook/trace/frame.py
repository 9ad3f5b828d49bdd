"""Where a step stands: the frame that a running step leaves for those it calls.

It is also the step's one row in the record in memory. A frame is a list and not an object
of a class, because one is made for every step, and making a list costs a fifth of making
an object; the names below are its positions.
"""

from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hornbook.trace.runs import Run

__all__ = [
    "ARGS",
    "ENDED",
    "FEEDBACK",
    "KWARGS",
    "META",
    "NUMBER",
    "OPERATION",
    "OUTCOME",
    "PARENT",
    "RUN",
    "STARTED",
    "VALUE",
    "Ended",
    "Frame",
    "Recorded",
    "current",
    "current_run",
]


class Ended(Protocol):
    """What the record wants to know of a step that did not simply succeed."""

    @property
    def status(self) -> str:
        """How it ended: `recovered`, `violated`, `error`, ..."""
        ...

    @property
    def ok(self) -> bool:
        """Whether it gave a value."""
        ...

    def as_record(self) -> "Mapping[str, Any]":
        """Attempts, report, error: plain data, not yet redacted."""
        ...


class Recorded(Protocol):
    """What the record wants to know of the operation that a step runs."""

    @property
    def name(self) -> str:
        """What records call the step."""
        ...

    @property
    def kind(self) -> str:
        """`run`, `node`, `model` or `tool`."""
        ...

    @property
    def host(self) -> str:
        """The agent framework."""
        ...

    @property
    def agent(self) -> str | None:
        """The agent it belongs to, where the host has several."""
        ...

    @property
    def contract_digest(self) -> str | None:
        """Digest of its contract, when it has one."""
        ...

    def bind(self, args: tuple[Any, ...], kwargs: "Mapping[str, Any]") -> "Mapping[str, Any]":
        """The arguments by name."""
        ...

    def shown(self, raw: Any) -> Any:
        """What the record holds of a raw result."""
        ...


Frame: TypeAlias = list[Any]
"""What stands at each of the positions below."""

RUN = 0
"""The `Run`, or None outside of one."""
NUMBER = 1
"""Unique in the run and process; None until someone asks for it."""
OPERATION = 2
"""What is `Recorded` of the operation; None in the frame of a run itself."""
PARENT = 3
"""The frame around it, or None."""
ARGS = 4
KWARGS = 5
STARTED = 6
"""A `time.perf_counter` reading."""
FEEDBACK = 7
"""What a retried step is told."""
META = 8
"""What the host says of the step."""
ENDED = 9
"""A `time.perf_counter` reading; None while the step is under way."""
VALUE = 10
"""What it gave."""
OUTCOME = 11
"""None for a plain success at once, else `Ended`."""

current: ContextVar[Frame | None] = ContextVar("hornbook_frame", default=None)
"""The frame of the step that is running here, in this thread and task."""


def current_run() -> "Run | None":
    """The run that is open here, or None."""
    frame = current.get()
    return None if frame is None else frame[RUN]
