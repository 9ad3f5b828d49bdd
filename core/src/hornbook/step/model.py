"""What hooks and adapters are shown of a step, and what they may decide about it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

from hornbook.contracts.report import ContractReport
from hornbook.errors import DefinitionError

__all__ = ["Action", "Checked", "Decision", "Step", "StepKind", "StepStatus", "fold"]

T = TypeVar("T")

StepKind = Literal["run", "node", "model", "tool"]
Action = Literal["proceed", "retry", "substitute", "block", "halt"]
StepStatus = Literal["satisfied", "recovered", "waived", "violated"]

_STRICTNESS: Mapping[Action, int] = {
    "proceed": 0,
    "retry": 1,
    "substitute": 2,
    "block": 3,
    "halt": 4,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One occurrence of an operation, as a hook sees it."""

    kind: StepKind
    name: str
    inputs: Mapping[str, Any]
    host: str = "python"
    """The agent framework: `python`, `langgraph`, ..."""
    agent: str | None = None
    step_id: str = ""
    parent_id: str | None = None
    attempt: int = 1
    """1 for the first call; grows with retries and fallbacks."""
    meta: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The host's own ids: thread, checkpoint, tool call, replay."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What a hook decides about a step.

    `block` refuses the step and lets the agent go on; `halt` ends the run. The `value` of
    `proceed` replaces the inputs (before a step); that of `substitute` is the output, and
    has to meet the contract.
    """

    action: Action
    value: Any = None
    reason: str = ""

    def __post_init__(self) -> None:
        if self.action not in _STRICTNESS:
            actions = ", ".join(_STRICTNESS)
            raise DefinitionError(f"Decision(action={self.action!r}): one of {actions}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked(Generic[T]):
    """A step's result together with what its contract says of it."""

    value: T | None
    """None when violated: the rejected value is in the report."""
    status: StepStatus
    report: ContractReport
    attempts: int


def fold(decisions: Iterable[Decision]) -> Decision | None:
    """The strictest decision: halt > block > substitute > retry > proceed; the first of equals."""
    strictest: Decision | None = None
    for decision in decisions:
        if strictest is None or _STRICTNESS[decision.action] > _STRICTNESS[strictest.action]:
            strictest = decision
    return strictest
