"""What can be wrong before anything is verified: scenario files, and what names a program."""

from collections.abc import Sequence

from hornbook.errors import HornbookError

__all__ = ["ScenarioError", "TargetError"]

_TOLD = 5
"""Problems that the message spells out."""


class ScenarioError(HornbookError, ValueError):
    """Scenario files that cannot be used. All problems of a file are told at once.

    Attributes:
        problems: one sentence each, with the file and, where it is known, the line.
    """

    code = "scenario"

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        more = len(self.problems) - _TOLD
        rest = [f"and {more} more"] if more > 0 else []
        super().__init__("; ".join([*self.problems[:_TOLD], *rest]))

    def __reduce__(self) -> tuple[type["ScenarioError"], tuple[tuple[str, ...]]]:
        return ScenarioError, (self.problems,)


class TargetError(HornbookError, ValueError):
    """`module:program` names no program."""

    code = "target"
