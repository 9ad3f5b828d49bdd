"""Contracts: clauses, verdicts and reports. Nothing here runs a step."""

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
