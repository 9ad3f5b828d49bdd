"""Which exceptions of a part are that part's failure, and which end the run."""

from hornbook.errors import (
    BudgetExceeded,
    ConfigError,
    DefinitionError,
    MissingExtra,
    PluginError,
    RunError,
    TraceError,
)
from hornbook.kernel.result import InvariantViolation
from hornbook.step.control_flow import is_control_flow

__all__ = ["is_failure"]

_ENDS_THE_RUN = (
    BudgetExceeded,
    ConfigError,
    DefinitionError,
    InvariantViolation,
    MissingExtra,
    PluginError,
    RunError,
    TraceError,
)


def is_failure(error: BaseException) -> bool:
    """Whether an exception abandons a task only (INV-R)."""
    from hornbook.models import ReplayError

    return not is_control_flow(error) and not isinstance(error, (*_ENDS_THE_RUN, ReplayError))
