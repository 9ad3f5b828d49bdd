"""What a retried step is told about its last attempt."""

from dataclasses import dataclass

from hornbook.contracts.report import ContractReport, Violation
from hornbook.trace.frame import FEEDBACK, current

__all__ = ["Feedback", "feedback"]

_TEXT_LIMIT = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """The newest violation: the first of the last attempt, in order of declaration."""

    violation: Violation
    report: ContractReport
    """The last attempt's report, with all its violations."""
    attempt: int
    """The number of the attempt that failed, from 1."""

    def __str__(self) -> str:
        """For a prompt; its size does not grow with the attempts."""
        text = f"The previous answer was rejected. {self.violation}"
        return text if len(text) <= _TEXT_LIMIT else f"{text[: _TEXT_LIMIT - 3]}..."


def feedback() -> Feedback | None:
    """What was wrong with the last attempt of the step that is running, if it is a retry."""
    frame = current.get()
    told = None if frame is None else frame[FEEDBACK]
    return told if isinstance(told, Feedback) else None
