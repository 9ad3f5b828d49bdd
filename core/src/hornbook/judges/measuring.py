"""Calibration: how often one measured clause is wrong on labelled examples (Forethought 3.1).

Each example is held to the clause by itself, as a contract would hold a step's output to it,
so that the judge is asked what it will be asked in production: one batch an example.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from hornbook.budget import Budget
from hornbook.contracts.clause import Clause
from hornbook.contracts.contract import Contract
from hornbook.contracts.judge import Calibration
from hornbook.contracts.report import Status, Verdict
from hornbook.errors import DefinitionError
from hornbook.judges.examples import Prepared, prepared
from hornbook.judges.intervals import wilson
from hornbook.judges.labelled import Labelled

if TYPE_CHECKING:
    from hornbook.trace.runs import Run

__all__ = [
    "Measurement",
    "Progress",
    "Threshold",
    "Trial",
    "acalibrate",
    "ameasure",
    "calibrate",
    "clause_named",
    "measure",
]

_SAME = 1e-9
"""Thresholds nearer than this are one."""

Progress: TypeAlias = Callable[[int, int], object]
"""Told after each example how many are done, and of how many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What a clause said of one labelled example."""

    label: bool
    status: Status
    """At a threshold of 0, where a score never refuses; see `Measurement.status`."""
    score: float | None
    """The lowest that the judge gave; None where it gave none."""
    reason: str = ""
    where: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """The error rates that a clause would have at one threshold."""

    threshold: float
    calibration: Calibration


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """A clause and what it said of every example."""

    clause: Clause
    trials: tuple[Trial, ...]

    @property
    def calibration(self) -> Calibration:
        """The error rates at the clause's own threshold."""
        return self._at(self.clause.threshold)

    def sweep(self, thresholds: Sequence[float] | None = None) -> tuple[Threshold, ...]:
        """The error rates at other thresholds, from the same scores.

        Args:
            thresholds: in [0, 1]; left out, each twentieth and the clause's own.

        Raises:
            DefinitionError: the clause is composed of others, which have the thresholds.
        """
        if self.clause.judge is None:
            raise DefinitionError(
                f"clause {self.clause.name!r} is composed of others and has no threshold of its "
                f"own: sweep a clause that asks a judge itself"
            )
        steps = _steps(self.clause.threshold) if thresholds is None else thresholds
        return tuple(Threshold(threshold=at, calibration=self._at(at)) for at in steps)

    def status(self, trial: Trial, threshold: float | None = None) -> Status:
        """What the clause says of an example, at its own threshold or at another one.

        One place whose score is too low violates it, whatever is not known of others.
        """
        at = self.clause.threshold if threshold is None else threshold
        if self.clause.judge is not None and trial.score is not None and trial.score < at:
            return "Violated"
        return trial.status

    def _at(self, threshold: float) -> Calibration:
        said = [self.status(trial, threshold) for trial in self.trials]
        waived = self.clause.on_undetermined == "waive"
        passed = [one != "Violated" and (one != "Undetermined" or waived) for one in said]
        bad = [ok for ok, trial in zip(passed, self.trials, strict=True) if not trial.label]
        good = [ok for ok, trial in zip(passed, self.trials, strict=True) if trial.label]
        return Calibration(
            n=len(self.trials),
            false_accept=wilson(sum(bad), len(bad)),
            false_reject=wilson(len(good) - sum(good), len(good)),
            undetermined=said.count("Undetermined"),
        )


def _steps(own: float) -> list[float]:
    """The twentieths, with a clause's own threshold in its place among them."""
    others = [at / 20 for at in range(21) if abs(at / 20 - own) > _SAME]
    return sorted([*others, own])


def calibrate(
    contract: Contract[Any],
    examples: Iterable[Labelled],
    *,
    clause: str | None = None,
    budget: Budget | None = None,
    progress: Progress | None = None,
) -> Calibration:
    """Measure how often a measured clause is wrong on labelled examples.

    What it lets pass although its label is false is a false accept, what it refuses although
    its label is true a false reject. Undetermined refuses, as it does in a contract, unless
    the clause waives it; it is counted by itself as well.

    Args:
        contract: holds the clause; its `output` is what the values are read as.
        examples: both labels must occur.
        clause: name of the clause; may be left out where only one is measured.
        budget: the limit for all examples together.
        progress: called with done and total after each example.

    Raises:
        CalibrationError: an example does not fit the contract, or a label does not occur.
        DefinitionError: there is no such clause, or it is not measured.
        BudgetExceeded: the budget is spent before all examples are through.
    """
    return measure(contract, examples, clause=clause, budget=budget, progress=progress).calibration


async def acalibrate(
    contract: Contract[Any],
    examples: Iterable[Labelled],
    *,
    clause: str | None = None,
    budget: Budget | None = None,
    progress: Progress | None = None,
    concurrency: int = 8,
) -> Calibration:
    """The async twin of `calibrate`, with up to `concurrency` examples under way at once."""
    done = await ameasure(
        contract,
        examples,
        clause=clause,
        budget=budget,
        progress=progress,
        concurrency=concurrency,
    )
    return done.calibration


def measure(
    contract: Contract[Any],
    examples: Iterable[Labelled],
    *,
    clause: str | None = None,
    budget: Budget | None = None,
    progress: Progress | None = None,
) -> Measurement:
    """As `calibrate`, keeping what was said of each example, for `Measurement.sweep`."""
    found = clause_named(contract, clause)
    bench = _Bench.of(contract, found)
    ready = prepared(contract, found, examples)
    trials: list[Trial] = []
    with _run(budget):
        for example in ready:
            trials.append(bench.trial(example))
            if progress is not None:
                progress(len(trials), len(ready))
    return Measurement(clause=found, trials=tuple(trials))


async def ameasure(
    contract: Contract[Any],
    examples: Iterable[Labelled],
    *,
    clause: str | None = None,
    budget: Budget | None = None,
    progress: Progress | None = None,
    concurrency: int = 8,
) -> Measurement:
    """The async twin of `measure`; the trials stand in the order of the examples."""
    from asyncio import TaskGroup

    found = clause_named(contract, clause)
    bench = _Bench.of(contract, found)
    ready = prepared(contract, found, examples)
    trials: dict[int, Trial] = {}
    waiting = iter(enumerate(ready))

    async def work() -> None:
        for at, example in waiting:
            trials[at] = await bench.atrial(example)
            if progress is not None:
                progress(len(trials), len(ready))

    with _run(budget):
        try:
            async with TaskGroup() as group:
                for _ in range(max(1, concurrency)):
                    group.create_task(work())
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None
    return Measurement(clause=found, trials=tuple(trials[at] for at in range(len(ready))))


def clause_named(contract: Contract[Any], name: str | None) -> Clause:
    """The measured clause of that name; without a name, the only measured one.

    Raises:
        DefinitionError: there is none, or there are several, or it is not measured.
    """
    clauses = contract.requires + contract.ensures
    measured = [clause for clause in clauses if clause.assurance == "measured"]
    there_are = ", ".join(repr(clause.name) for clause in measured) or "none"
    if name is None:
        if len(measured) == 1:
            return measured[0]
        raise DefinitionError(
            f"contract {contract.name!r}: say which clause to calibrate; measured are: {there_are}"
        )
    for clause in clauses:
        if clause.name == name:
            if clause.assurance == "measured":
                return clause
            raise DefinitionError(
                f"contract {contract.name!r}: clause {name!r} is guaranteed, and only a measured "
                f"one has error rates; measured are: {there_are}"
            )
    raise DefinitionError(
        f"contract {contract.name!r} has no clause {name!r}; measured are: {there_are}"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Bench:
    """A contract of one clause, and which side of a step it is on."""

    contract: Contract[Any]
    clause: str
    requires: bool

    @classmethod
    def of(cls, contract: Contract[Any], clause: Clause) -> "_Bench":
        """Below the threshold a clause hides what is Undetermined elsewhere: it is 0 here."""
        open_ = clause if clause.judge is None else replace(clause, threshold=0.0)
        requires = clause.name in {one.name for one in contract.requires}
        fields: dict[str, Any] = {"requires" if requires else "ensures": [open_]}
        if contract.output is not None:
            fields["output"] = contract.output
        single: Contract[Any] = Contract(
            contract.name,
            version=contract.version,
            strict=contract.strict,
            revalidate=contract.revalidate,
            deadline=contract.deadline,
            **fields,
        )
        return cls(contract=single, clause=clause.name, requires=requires)

    def trial(self, example: Prepared) -> Trial:
        if self.requires:
            report = self.contract.check_inputs(example.inputs)
        else:
            report = self.contract.check(example.value, example.inputs)
        return _trial(example, report.verdict(self.clause))

    async def atrial(self, example: Prepared) -> Trial:
        if self.requires:
            report = await self.contract.acheck_inputs(example.inputs)
        else:
            report = await self.contract.acheck(example.value, example.inputs)
        return _trial(example, report.verdict(self.clause))


def _trial(example: Prepared, verdict: Verdict) -> Trial:
    return Trial(
        label=example.label,
        status=verdict.status,
        score=verdict.score,
        reason=verdict.reason,
        where=example.where,
    )


def _run(budget: Budget | None) -> "Run | nullcontext[None]":
    """A run for the budget; without one nothing is opened, and the run around counts."""
    if budget is None:
        return nullcontext()
    from hornbook.trace.runs import run

    return run(budget=budget)
