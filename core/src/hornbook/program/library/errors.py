"""What can be wrong with what a library primitive is given, found before it works."""

from hornbook.errors import HornbookError

__all__ = ["ProblemError", "RestructureError"]


class ProblemError(HornbookError, ValueError):
    """A constraint problem, pattern or format that is not well formed, or too large."""

    code = "problem"


class RestructureError(HornbookError, LookupError):
    """A value lacks what a declared mapping takes from it; every missing path is named."""

    code = "restructure"
