"""What a trace is made of: one closed set of event kinds, one event shape."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

__all__ = ["Event", "Kind"]

Kind = Literal[
    "run.start", "step.start", "attempt", "step.end", "decision", "rule", "fact", "note", "run.end"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One thing that happened in a run."""

    kind: Kind
    seq: int
    """Position in its file (or in memory), from 0; the only order to rely on within one."""
    run: str
    """The run's id (a ULID)."""
    id: str
    """The step the event belongs to; the run's id on `run.start` and `run.end`."""
    parent: str | None = None
    """The enclosing step, across files too; None at the top of a run."""
    time: float = 0.0
    """Seconds since the epoch, for display: never for order."""
    name: str = ""
    contract: str | None = None
    """Digest of the step's contract."""
    status: str | None = None
    data: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What is particular to the kind; JSON values, already redacted."""
