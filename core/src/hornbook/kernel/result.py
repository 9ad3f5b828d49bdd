"""What a run of the kernel comes to: calls, scratchpad, and what was left undone and why."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from hornbook.contracts import ContractReport
from hornbook.errors import HornbookError
from hornbook.kernel.scratchpad import Scratchpad
from hornbook.kernel.tasks import Call, Decision

__all__ = [
    "Blocked",
    "Cycle",
    "DependencyBlocked",
    "InvariantViolation",
    "KernelResult",
    "MissingFunction",
    "MissingParameter",
    "PrimitiveFailed",
    "Proposed",
    "Refused",
    "Report",
    "ToolFailed",
]

_SHOWN = 2_000


class InvariantViolation(HornbookError, RuntimeError):
    """An invariant of the kernel does not hold: the kernel, or what it was extended by, is wrong.

    Attributes:
        invariant: `INV-S`, `INV-T`, `INV-E`, `INV-L` or `INV-R`.
        step: the first step at which it was seen.
    """

    code = "invariant"

    def __init__(self, invariant: str, step: int, why: str) -> None:
        super().__init__(f"{invariant} does not hold at step {step}: {why}")
        self.invariant = invariant
        self.step = step
        self.why = why

    def __reduce__(self) -> tuple[object, ...]:
        return InvariantViolation, (self.invariant, self.step, self.why)


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposed:
    """A unit task that a primitive proposes: a tool and parameters."""

    tool: str
    parameters: Mapping[str, Any]

    def __str__(self) -> str:
        return f"{self.tool}({_arguments(self.parameters)})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocked:
    """A prerequisite is not met."""

    task: str
    prerequisite: str
    remediation: Proposed | None = None
    """What would meet it: proposed, never executed."""
    why: str = ""

    def __str__(self) -> str:
        then = f"; {self.remediation} would meet it" if self.remediation else ""
        why = f" ({self.why})" if self.why else ""
        return f"task {self.task!r} is blocked: {self.prerequisite!r} is not met{why}{then}"


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingFunction:
    """No tool is for a task."""

    task: str
    why: str = ""

    def __str__(self) -> str:
        return f"task {self.task!r}: no tool is for it" + (f" ({self.why})" if self.why else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingParameter:
    """A parameter that nobody stated, nothing holds, and no retrieval found."""

    task: str
    name: str
    tool: str = ""

    def __str__(self) -> str:
        return f"task {self.task!r}: {self.tool} needs {self.name!r}, which is not known"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cycle:
    """Tasks that wait for each other; nothing was done."""

    tasks: tuple[str, ...]

    def __str__(self) -> str:
        return f"tasks wait for each other: {' -> '.join(self.tasks)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class DependencyBlocked:
    """A task that needs one which was not done."""

    task: str
    on: str

    def __str__(self) -> str:
        return f"task {self.task!r} was not begun: it needs {self.on!r}, which was not done"


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """The guard refuses a fully bound call; it was not made."""

    task: str
    tool: str
    report: ContractReport

    def __str__(self) -> str:
        first = self.report.violations[0] if self.report.violations else "it is refused"
        return f"task {self.task!r}: the call of {self.tool!r} is refused: {first}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFailed:
    """A call was made and gave nothing that can be used."""

    task: str
    tool: str
    why: str

    def __str__(self) -> str:
        return f"task {self.task!r}: {self.tool} failed: {self.why}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PrimitiveFailed:
    """A primitive gave no answer that can be used."""

    task: str | None
    primitive: str
    why: str

    def __str__(self) -> str:
        about = f"task {self.task!r}: " if self.task else ""
        return f"{about}{self.primitive} gave no usable answer: {self.why}"


Report: TypeAlias = (
    Blocked
    | Cycle
    | DependencyBlocked
    | MissingFunction
    | MissingParameter
    | PrimitiveFailed
    | Refused
    | ToolFailed
)


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelResult:
    """What was done about one turn."""

    turn: str
    calls: tuple[Call, ...] = ()
    """In the order in which they were made (or, in mode `advise`, are to be made)."""
    scratchpad: Scratchpad = field(default_factory=Scratchpad)
    """Give it as `state` with the next turn."""
    reports: tuple[Report, ...] = ()
    decisions: tuple[Decision, ...] = ()
    order: tuple[str, ...] = ()
    tasks: Mapping[str, str] = field(default_factory=dict[str, str])
    """What each task is about, by id."""

    @property
    def ok(self) -> bool:
        """Whether every task was done."""
        return not self.reports

    def render(self) -> str:
        """The structured trace, for the model that answers the user (Forethought 5)."""
        return "\n".join(_rendered(self))


def _rendered(result: KernelResult) -> list[str]:
    lines = [f"Request: {result.turn}", "", "Tasks, in the order in which they were done:"]
    lines += [f"- {one}: {result.tasks.get(one, '')}" for one in result.order] or ["- none"]
    lines += ["", "Calls:"]
    for call in result.calls:
        lines.append(f"- {call.tool}({_arguments(call.arguments)}) -> {_outcome(call)}")
        lines += [f"    {one.parameter} from {one.source}" for one in call.bindings]
    lines += [] if result.calls else ["- none"]
    if result.reports:
        lines += ["", "Not done:", *(f"- {report}" for report in result.reports)]
    return lines


def _outcome(call: Call) -> str:
    if not call.executed:
        return "to be called"
    return _json(call.value) if call.error is None else f"failed: {call.error}"


def _arguments(given: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={_json(value)}" for name, value in given.items())


def _json(value: Any) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, TypeError, RecursionError):
        text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
