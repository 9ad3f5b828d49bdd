"""What can be wrong with examples, evaluations and exports."""

from hornbook.errors import HornbookError

__all__ = ["EvaluationError"]


class EvaluationError(HornbookError, ValueError):
    """Examples, a stored evaluation or an export that cannot be used; names file and line."""

    code = "evaluation"
