"""The assurance table: what is guaranteed of each step, what is measured, and how well."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from hornbook.contracts.clause import Clause
from hornbook.contracts.contract import Contract
from hornbook.contracts.judge import Calibration, Rate
from hornbook.program import Primitive
from hornbook.verify.checking import Evaluated
from hornbook.verify.expecting import static_place
from hornbook.verify.subject import Subject
from hornbook.verify.values import ClauseRow, Finding, MutantResult, StepAssurance

__all__ = ["Calibrated", "assurance_of", "idle_clauses", "not_run"]


class Calibrated(Protocol):
    """Where the calibrations of measured clauses are: `hornbook.judges.Calibrations`."""

    def of(self, contract: Contract[Any], clause: Clause, /) -> Calibration | None:
        """The calibration of a clause; None where it was not measured."""
        ...


Calibrations = Mapping[str, Calibration] | Calibrated | None


def assurance_of(
    subject: Subject,
    mutants: Sequence[MutantResult],
    *,
    evaluations: Mapping[str, Evaluated],
    calibrations: Calibrations,
) -> tuple[StepAssurance, ...]:
    """A row for each step, in order of declaration.

    Args:
        subject: the program.
        mutants: what became of its mutants.
        evaluations: by name of a primitive, how often it was right.
        calibrations: of measured clauses, by name or as they are stored.
    """
    by_place: dict[str, list[MutantResult]] = {}
    for one in mutants:
        by_place.setdefault(static_place(one.place), []).append(one)
    return tuple(
        _step(place, step, by_place.get(place, []), evaluations.get(step.name), calibrations)
        for place, step in subject.steps.items()
    )


def _step(
    place: str,
    step: Primitive[..., Any],
    tried: Sequence[MutantResult],
    evaluation: Evaluated | None,
    calibrations: Calibrations,
) -> StepAssurance:
    beyond = [one for one in tried if not one.tripped]
    return StepAssurance(
        place=place,
        step=step.name,
        kind="neural" if step.neural else "symbolic",
        clauses=tuple(_clauses(step, tried, calibrations)),
        beyond=len(beyond),
        beyond_caught=sum(one.fate in ("later", "expected") for one in beyond),
        beyond_same=sum(one.fate == "same" for one in beyond),
        accuracy=None if evaluation is None else evaluation.exact,
        wrong_if_satisfied=_rate(evaluation),
        required=step.requires_accuracy,
    )


def _rate(evaluation: Evaluated | None) -> Rate | None:
    found = getattr(evaluation, "wrong_given_satisfied", None)
    return found if isinstance(found, Rate) else None


def _clauses(
    step: Primitive[..., Any], tried: Sequence[MutantResult], calibrations: Calibrations
) -> Iterator[ClauseRow]:
    contract, given = step.contract, step.given_contract
    written = () if given is None else (*given.requires, *given.ensures)
    for clause in contract.requires:
        row = _row(contract, clause, (), calibrations, derived=clause not in written)
        yield replace(row, clause=f"requires {clause.name}")
    if contract.output not in (None, Any):
        caught = sum("output" in one.tripped for one in tried)
        yield ClauseRow(
            clause="output type",
            assurance="guaranteed",
            caught=caught,
            tried=bool(tried),
            derived=True,
        )
    for clause in contract.ensures:
        yield _row(contract, clause, tried, calibrations, derived=clause not in written)


def _row(
    contract: Contract[Any],
    clause: Clause,
    tried: Sequence[MutantResult],
    calibrations: Calibrations,
    *,
    derived: bool,
) -> ClauseRow:
    aimed = [one for one in tried if one.aims == clause.name]
    calibration = _calibration(contract, clause, calibrations)
    measured = clause.assurance == "measured"
    return ClauseRow(
        clause=clause.name,
        assurance=clause.assurance,
        error=str(calibration or "uncalibrated") if measured else "",
        caught=sum(clause.name in one.tripped for one in tried),
        passed=sum(not one.tripped for one in aimed),
        tried=bool(tried),
        false_accept=None if calibration is None else calibration.false_accept,
        derived=derived,
    )


def _calibration(
    contract: Contract[Any], clause: Clause, calibrations: Calibrations
) -> Calibration | None:
    """What was given to `verify` by name, else what the clause carries, else what is stored."""
    if isinstance(calibrations, Mapping):
        named = calibrations.get(f"{contract.name}.{clause.name}") or calibrations.get(clause.name)
        return named or clause.calibration
    if clause.calibration is not None or calibrations is None:
        return clause.calibration
    return calibrations.of(contract, clause)


def idle_clauses(table: Iterable[StepAssurance]) -> Iterator[Finding]:
    """A warning for each clause that no mutant trips."""
    for step in table:
        for clause in step.clauses:
            if clause.idle:
                message = (
                    f"clause {clause.clause!r} of {step.step!r} is idle: no mutant trips it, so "
                    f"that these scenarios do not show what it is for"
                )
                yield Finding(
                    level="warning", code="idle-clause", place=step.place, message=message
                )


def not_run(subject: Subject, mutants: Sequence[MutantResult]) -> Iterator[Finding]:
    """A remark on each step that no scenario runs, so that nothing is known of its contract."""
    tried = {static_place(one.place) for one in mutants}
    for place, step in subject.steps.items():
        if place not in tried:
            message = f"no scenario has a value of {step.name!r}: nothing is known of its contract"
            yield Finding(level="info", code="not-run", place=place, message=message)
