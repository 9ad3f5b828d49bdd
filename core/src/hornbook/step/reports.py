"""Reports of what is no clause: exceptions, cut-off generators, what hooks object to."""

from collections.abc import Sequence
from dataclasses import replace

from hornbook.contracts.report import ContractReport, Status, Verdict, Violation
from hornbook.contracts.shown import shown
from hornbook.errors import told
from hornbook.step.model import Decision
from hornbook.step.operation import Operation

__all__ = [
    "exception_report",
    "hook_report",
    "says_more",
    "truncated_report",
    "with_violations",
]


def exception_report(operation: Operation, error: Exception) -> ContractReport:
    """The step raised, and its recovery counts that as a violation."""
    violation = Violation(
        clause="exception",
        path=".",
        expected="a value",
        observed=shown(told(error)),
    )
    return _failed(operation, violation, "Violated")


def truncated_report(operation: Operation, taken: int) -> ContractReport:
    """A generator went on past `max_items`: nothing can be said of all its items."""
    violation = Violation(
        clause="max_items",
        path=".",
        expected="an end of the items",
        observed=f"more than {taken} items",
        hint="raise max_items= where the step is decorated",
    )
    return _failed(operation, violation, "Undetermined")


def hook_report(operation: Operation, decision: Decision, hook: str) -> ContractReport:
    """A hook blocks or halts the step before it ran."""
    violation = Violation(
        clause=hook,
        path=".",
        expected="a step that the plugins allow",
        observed=operation.name,
        hint=decision.reason,
    )
    return _failed(operation, violation, "Violated")


def with_violations(report: ContractReport, found: Sequence[Violation]) -> ContractReport:
    """The report with what `hornbook_check_output` found besides."""
    if not found:
        return report
    names = dict.fromkeys(violation.clause for violation in found)
    verdicts = tuple(
        Verdict(clause=name, status="Violated", reason="found by a plugin") for name in names
    )
    return replace(
        report,
        ok=False,
        verdicts=report.verdicts + verdicts,
        violations=report.violations + tuple(found),
    )


def says_more(report: ContractReport) -> bool:
    """Whether a satisfied report holds anything that the contract alone does not tell."""
    return any(
        verdict.status != "Satisfied" or verdict.evidence is not None or verdict.score is not None
        for verdict in report.verdicts
    )


def _failed(operation: Operation, violation: Violation, status: Status) -> ContractReport:
    contract = operation.contract
    verdict = Verdict(clause=violation.clause, status=status, reason=violation.observed)
    return ContractReport(
        contract="" if contract is None else contract.name,
        digest="" if contract is None else contract.digest,
        step=operation.name,
        ok=False,
        verdicts=(verdict,),
        violations=(violation,),
    )
