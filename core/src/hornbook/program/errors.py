"""What may go wrong with a program: when it is built, given a value, or run."""

from hornbook.errors import DefinitionError, HornbookError

__all__ = ["BranchError", "ProgramError", "ProgramInputError", "RoundsExhausted"]


class ProgramError(DefinitionError):
    """A composition that cannot work: ill-typed, unbounded, cyclic, or not writable."""

    code = "program"


class ProgramInputError(HornbookError, ValueError):
    """The value given to a program is not of the program's input type."""

    code = "program-input"


class BranchError(HornbookError, RuntimeError):
    """A Conditional's test gave a label that no branch is for."""

    code = "program-branch"


class RoundsExhausted(HornbookError, RuntimeError):
    """An Iterate with `exhausted="fail"` used all its rounds, and `until` did not hold."""

    code = "program-rounds"
