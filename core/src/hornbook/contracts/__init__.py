"""Contracts: clauses, verdicts and reports. Nothing here runs a step."""

from typing import TYPE_CHECKING

from hornbook import lazy

if TYPE_CHECKING:
    from hornbook.contracts import clauses
    from hornbook.contracts.clause import Clause
    from hornbook.contracts.contract import Contract
    from hornbook.contracts.finding import Answer
    from hornbook.contracts.judge import Calibration, Judge, Judgement, Question, Rate
    from hornbook.contracts.report import ContractReport, ContractViolation, Verdict, Violation

__all__ = [
    "Answer",
    "Calibration",
    "Clause",
    "Contract",
    "ContractReport",
    "ContractViolation",
    "Judge",
    "Judgement",
    "Question",
    "Rate",
    "Verdict",
    "Violation",
    "clauses",
]

__getattr__, __dir__ = lazy.attach(
    __name__,
    {
        "Answer": "hornbook.contracts.finding",
        "Calibration": "hornbook.contracts.judge",
        "Clause": "hornbook.contracts.clause",
        "Contract": "hornbook.contracts.contract",
        "ContractReport": "hornbook.contracts.report",
        "ContractViolation": "hornbook.contracts.report",
        "Judge": "hornbook.contracts.judge",
        "Judgement": "hornbook.contracts.judge",
        "Question": "hornbook.contracts.judge",
        "Rate": "hornbook.contracts.judge",
        "Verdict": "hornbook.contracts.report",
        "Violation": "hornbook.contracts.report",
        "clauses": "hornbook.contracts.clauses",
    },
)
