"""What verifying finds, as values: findings, how scenarios went, what became of mutants."""

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from hornbook.contracts.judge import Rate
from hornbook.contracts.report import Assurance
from hornbook.verify.scenario import RunStatus, Scenario

__all__ = [
    "Check",
    "ClauseRow",
    "Code",
    "Fate",
    "Finding",
    "Level",
    "MutantResult",
    "Played",
    "ScenarioResult",
    "StepAssurance",
    "StepSeen",
    "ViolationSeen",
]

Level: TypeAlias = Literal["error", "warning", "info"]
"""An error fails the verification; a warning fails it when it is strict."""

Code: TypeAlias = Literal[
    "types",
    "bounds",
    "calls",
    "unreachable",
    "unchecked-output",
    "non-exhaustive",
    "effects-in-parallel",
    "not-portable",
    "accuracy",
    "idle-clause",
    "not-run",
    "mutants-cut",
    "scenario",
]
"""What kind of thing a finding is about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that a developer should know of a program before it is deployed."""

    level: Level
    code: Code
    place: str
    """Where in the program."""
    message: str
    """One sentence: what is so, and what to do."""

    def __str__(self) -> str:
        """As `warning at triage[1] (unchecked-output): ...`."""
        return f"{self.level} at {self.place} ({self.code}): {self.message}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that a scenario expects, against what was seen."""

    what: str
    expected: str
    seen: str
    ok: bool

    def __str__(self) -> str:
        """As `output.queue: expected 'returns', got 'parcels'`."""
        return f"{self.what}: expected {self.expected}, got {self.seen}"


@dataclass(frozen=True, slots=True, kw_only=True)
class StepSeen:
    """One step of a run, as it went."""

    place: str
    name: str
    status: str
    attempts: int
    output: Any
    inputs: Any
    microseconds: int
    depth: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ViolationSeen:
    """One violation in a run, also one that was recovered from."""

    place: str
    step: str
    clause: str
    told: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """What one run of a program came to."""

    status: RunStatus
    output: Any = None
    error: BaseException | None = None
    """What it raised."""
    steps: tuple[StepSeen, ...] = ()
    violations: tuple[ViolationSeen, ...] = ()
    calls: int = 0
    microseconds: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioResult:
    """How one scenario went."""

    scenario: Scenario
    played: Played | None
    """The sync run; None where it could not be run at all."""
    checks: tuple[Check, ...] = ()
    problem: str = ""
    """Why it could not be run, or failed apart from what it expects."""

    @property
    def ok(self) -> bool:
        """Whether all that was expected came true."""
        return not self.problem and all(check.ok for check in self.checks)

    @property
    def failures(self) -> tuple[str, ...]:
        """What did not, a sentence each."""
        told = (self.problem,) if self.problem else ()
        return told + tuple(str(check) for check in self.checks if not check.ok)


Fate: TypeAlias = Literal["contract", "later", "expected", "passed", "same"]
"""Who caught a mutant: the step's own contract, a later step, what the scenario expects, nobody;
or it changed nothing that the program gives."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MutantResult:
    """What became of one mutant."""

    scenario: str
    place: str
    step: str
    what: str
    aims: str | None
    """The clause it was made to break; None: a wrong value."""
    tripped: tuple[str, ...]
    """Clauses of the step's own contract that refuse it."""
    fate: Fate
    by: str
    """In words: `caught at step route (one_of queue)`, `passed`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClauseRow:
    """What one clause of a step is good for."""

    clause: str
    assurance: Assurance
    error: str = ""
    """Of a measured clause: its calibration, or `uncalibrated`."""
    caught: int = 0
    """Mutants that it refused."""
    passed: int = 0
    """Mutants that were made to break it and did not."""
    tried: bool = False
    """Whether the step was mutated at all."""
    false_accept: Rate | None = None
    derived: bool = False
    """It comes with every primitive, and was not written for this one."""

    @property
    def idle(self) -> bool:
        """Whether it was written for this step and no mutant trips it."""
        return self.tried and self.caught == 0 and not self.derived


@dataclass(frozen=True, slots=True, kw_only=True)
class StepAssurance:
    """One step: what is guaranteed of its output, what is measured, and what nothing checks."""

    place: str
    step: str
    kind: Literal["symbolic", "neural"]
    clauses: tuple[ClauseRow, ...]
    beyond: int = 0
    """Mutants that meet the contract and are wrong."""
    beyond_caught: int = 0
    """Of these, caught by a later step or by what a scenario expects."""
    beyond_same: int = 0
    """Of these, without any effect on what the program gives."""
    accuracy: Rate | None = None
    """Measured share of exactly right outputs."""
    wrong_if_satisfied: Rate | None = None
    """Measured P(wrong | the contract is satisfied)."""
    required: float | None = None
    """`requires_accuracy` of the primitive."""
