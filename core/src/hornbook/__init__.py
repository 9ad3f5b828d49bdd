"""Contracts, checked tool calls, learned rules and readable records for agent stacks.

Every name is loaded when it is first used, so that importing `hornbook` costs little.
"""

from typing import TYPE_CHECKING, Any

from hornbook import late, lazy

if TYPE_CHECKING:
    from hornbook.budget import Budget
    from hornbook.contracts import Contract, ContractReport, ContractViolation, Violation, clauses
    from hornbook.errors import BudgetExceeded, HornbookError
    from hornbook.step import Checked, Recover, checked, contract, feedback
    from hornbook.trace import run

__all__ = [
    "Budget",
    "BudgetExceeded",
    "Checked",
    "Contract",
    "ContractReport",
    "ContractViolation",
    "HornbookError",
    "Recover",
    "Violation",
    "__version__",
    "checked",
    "clauses",
    "contract",
    "feedback",
    "run",
]

__version__ = "0.1.0"

__getattr__, _ = lazy.attach(
    __name__,
    {
        "Budget": "hornbook.budget",
        "BudgetExceeded": "hornbook.errors",
        "Checked": "hornbook.step.model",
        "Contract": "hornbook.contracts.contract",
        "ContractReport": "hornbook.contracts.report",
        "ContractViolation": "hornbook.contracts.report",
        "HornbookError": "hornbook.errors",
        "Recover": "hornbook.step.recover",
        "Violation": "hornbook.contracts.report",
        "checked": "hornbook.step.decorate",
        "clauses": "hornbook.contracts",
        "contract": "hornbook.step.decorate",
        "feedback": "hornbook.step.attempts",
        "run": "hornbook.trace.runs",
    },
)


def __dir__() -> list[str]:
    # The submodules that happen to be loaded are no names of the interface.
    return sorted(__all__)


def _hook_set() -> Any:
    from hornbook import plugins

    return plugins.hook_set()


def _clause_kinds() -> Any:
    from hornbook import plugins

    return plugins.clause_kinds()


def _observers(sinks: Any) -> Any:
    from hornbook import plugins

    return plugins.observers(sinks)


late.hook_set.ask = _hook_set
late.clause_kinds.ask = _clause_kinds
late.observers.ask = _observers
