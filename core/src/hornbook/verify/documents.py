"""A verification as plain data, for JSON."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from hornbook.verify.comparing import as_data
from hornbook.verify.expecting import raised
from hornbook.verify.values import MutantResult, Played, ScenarioResult, StepAssurance

if TYPE_CHECKING:
    from hornbook.verify.verification import Verification

__all__ = ["document"]

_FORMAT = "hornbook-verification"
_VERSION = 1


def document(found: "Verification") -> dict[str, Any]:
    """Everything of a verification; values of the program are redacted and cut."""
    return {
        "format": _FORMAT,
        "version": _VERSION,
        "program": found.program,
        "digest": found.digest,
        "takes": found.takes,
        "gives": found.gives,
        "calls": found.calls,
        "ok": found.ok,
        "strict": found.strict,
        "findings": [asdict(finding) for finding in found.findings],
        "scenarios": [_scenario(one) for one in found.scenarios],
        "table": [_step(step) for step in found.table],
        "mutants": [_mutant(one) for one in found.mutants],
    }


def _scenario(one: ScenarioResult) -> dict[str, Any]:
    scenario, played = one.scenario, one.played
    return {
        "name": scenario.name,
        "about": scenario.about,
        "file": None if scenario.file is None else str(scenario.file),
        "line": scenario.line,
        "ok": one.ok,
        "failures": list(one.failures),
        "checks": [asdict(check) for check in one.checks],
        "run": None if played is None else _played(played),
    }


def _played(played: Played) -> dict[str, Any]:
    return {
        "status": played.status,
        "output": _recordable(played.output),
        "error": None if played.error is None else raised(played.error),
        "calls": played.calls,
        "microseconds": played.microseconds,
        "violations": [asdict(violation) for violation in played.violations],
        "steps": [
            {
                "place": step.place,
                "name": step.name,
                "status": step.status,
                "attempts": step.attempts,
                "output": _recordable(step.output),
                "microseconds": step.microseconds,
            }
            for step in played.steps
        ],
    }


def _recordable(value: Any) -> Any:
    """A value as a record would hold it: redacted, cut, and plain."""
    from hornbook.trace.redact import recordable

    return recordable({"value": as_data(value)})["value"]


def _step(step: StepAssurance) -> dict[str, Any]:
    data = asdict(step)
    for row, clause in zip(data["clauses"], step.clauses, strict=True):
        row["idle"] = clause.idle
    return data


def _mutant(one: MutantResult) -> dict[str, Any]:
    return {**asdict(one), "tripped": list(one.tripped)}
