"""One attempt of a step, and what the record calls a step that did not come to an end."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hornbook.contracts.report import ContractReport
from hornbook.step.control_flow import is_control_flow, is_registered
from hornbook.step.model import Decision

__all__ = ["Tried", "Truncated", "raised_status"]


class Truncated(list[Any]):
    """The items of a generator that gave more than its step may take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """One call of a step or fallback: what it gave, or the exception that counts as violation."""

    raw: Any = None
    error: Exception | None = None
    known: Sequence[object] = ()
    """Answers that the contract's fast tests already gave."""
    substituted: bool = False
    """The value is a hook's, given in place of an exception."""
    passed: ContractReport | None = None
    """What the guard said of the arguments, where it was asked before the recovery."""
    stop: Decision | None = None
    """A hook's decision to end the step because of the exception."""


def raised_status(error: BaseException) -> str:
    """How the record calls a step that an exception passed through."""
    if isinstance(error, Exception):
        return "interrupted" if is_control_flow(error) else "error"
    return "interrupted" if is_registered(error) else "cancelled"
