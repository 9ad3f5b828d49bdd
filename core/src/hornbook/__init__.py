"""Contracts, checked tool calls, learned rules and readable records for agent stacks.

Every name is loaded when it is first used, so that importing `hornbook` costs little.
"""

from typing import TYPE_CHECKING, Any

from hornbook import late

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

_HOMES = {
    "Budget": "hornbook.budget",
    "BudgetExceeded": "hornbook.errors",
    "Checked": "hornbook.step",
    "Contract": "hornbook.contracts",
    "ContractReport": "hornbook.contracts",
    "ContractViolation": "hornbook.contracts",
    "HornbookError": "hornbook.errors",
    "Recover": "hornbook.step",
    "Violation": "hornbook.contracts",
    "checked": "hornbook.step",
    "clauses": "hornbook.contracts",
    "contract": "hornbook.step",
    "feedback": "hornbook.step",
    "run": "hornbook.trace",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in _HOMES:
        raise AttributeError(f"module 'hornbook' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


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
