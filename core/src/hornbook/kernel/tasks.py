"""Unit tasks, the bindings of their parameters, and the calls that come of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

__all__ = ["Binding", "BindingSource", "Call", "Decision", "Purpose", "Task"]

BindingSource: TypeAlias = Literal["turn", "scratchpad", "retrieved", "default"]
"""Where a value comes from: the turn context, the scratchpad, a retrieval task, the schema."""

Purpose: TypeAlias = Literal["task", "retrieval"]


def _nothing() -> dict[str, Any]:
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One unit task: at most one call of one tool (Forethought, appendix E.1)."""

    id: str
    description: str = ""
    tool: str | None = None
    """What Decompose thinks that it needs; Match-Func decides."""
    parameters: Mapping[str, Any] = field(default_factory=_nothing)
    """What the turn states: the task's turn context."""
    depends_on: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """What it is about, in words."""
        return self.description or (self.tool or self.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """One leaf of a call's arguments, with where its value comes from (INV-L)."""

    parameter: str
    """The path of the leaf: `city`, `passengers[0].dob`."""
    value: Any
    source: BindingSource
    consulted: tuple[str, ...] = ("turn",)
    """What was looked at, in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One fully bound call: made, or in mode `advise` proposed."""

    task: str
    tool: str
    arguments: Mapping[str, Any]
    bindings: tuple[Binding, ...] = ()
    purpose: Purpose = "task"
    step: int = 0
    value: Any = None
    error: str | None = None
    """Why it gave nothing that can be used; the call may have had its effect all the same."""
    executed: bool = True

    @property
    def ok(self) -> bool:
        """Whether it was made and gave a usable result."""
        return self.executed and self.error is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """One decision of a sub-process, for the reader and for scenarios."""

    step: int
    process: str
    """`decompose`, `get-order`, `check-prerequisites`, `match-func`, `match-params`, `execute`."""
    task: str | None
    what: str
    """What was decided about: a key, a parameter, a tool."""
    outcome: str
    why: str = ""

    def __str__(self) -> str:
        about = f"({self.task})" if self.task else ""
        why = f" ({self.why})" if self.why else ""
        return f"{self.process}{about}: {self.what} -> {self.outcome}{why}"
