"""The error base and the errors that belong to no single part.

Every error of Hornbook derives from `HornbookError` and has a stable `code`; the
types and codes are API, the wording of messages is not. `ContractViolation` lives
beside the report it carries, in `hornbook.contracts`.
"""

from typing import ClassVar

__all__ = [
    "BudgetExceeded",
    "ConfigError",
    "DefinitionError",
    "HornbookError",
    "MissingExtra",
    "PluginError",
    "RuleError",
    "RunError",
    "TraceError",
    "told",
]


class HornbookError(Exception):
    """Base of every error that Hornbook raises on its own account."""

    code: ClassVar[str] = "hornbook"


class DefinitionError(HornbookError, ValueError):
    """A contract, clause, recovery or step that cannot work, found when it is written down."""

    code = "definition"


class ConfigError(HornbookError, ValueError):
    """A configuration file or variable that cannot be used."""

    code = "config"


class TraceError(HornbookError):
    """A record that cannot be read, or (under `strict`) cannot be written."""

    code = "trace"


class RunError(HornbookError):
    """A run opened or joined in a way that cannot work."""

    code = "run"


class RuleError(HornbookError, ValueError):
    """A learned rule or rule library that is not well formed."""

    code = "rule"


class PluginError(HornbookError):
    """A plugin that failed to load, or a hook implementation that raised."""

    code = "plugin"


class MissingExtra(HornbookError, ImportError):
    """An optional dependency is needed and not installed; the message says what to install."""

    code = "missing-extra"


class BudgetExceeded(HornbookError, RuntimeError):
    """A budget is spent. It is no violation and starts no recovery.

    Attributes:
        limit: which limit was reached: `calls`, `tokens`, `seconds` or `cost`.
        spent: what was spent of that limit, by step name.
    """

    code = "budget"

    def __init__(self, message: str, *, limit: str, spent: dict[str, float]) -> None:
        super().__init__(message)
        self.limit = limit
        self.spent = spent

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild_budget_exceeded, (str(self), self.limit, self.spent)


def _rebuild_budget_exceeded(message: str, limit: str, spent: dict[str, float]) -> BudgetExceeded:
    return BudgetExceeded(message, limit=limit, spent=spent)


def told(error: BaseException) -> str:
    """`Type: message` of any exception; one whose text cannot be had is told by its type."""
    name = type(error).__name__
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 - its __str__ is somebody's code, and this tells of errors
        return f"{name}, whose text cannot be had"
    return f"{name}: {text}" if text else name
