"""The Wilson score interval: how far a share counted on few examples can be trusted."""

from math import sqrt
from statistics import NormalDist

from hornbook.contracts.judge import Rate
from hornbook.errors import DefinitionError

__all__ = ["wilson"]


def wilson(count: int, n: int, *, confidence: float = 0.95) -> Rate:
    """The share `count / n` with its Wilson interval.

    It stays within [0, 1] and has a width also where the count is 0 or n, as it often is for
    a good judge on a small sample; the usual normal interval has neither.

    Raises:
        DefinitionError: there is nothing to count, or more was counted than there is.
    """
    if not 0 <= count <= n or n == 0:
        raise DefinitionError(f"a share needs 0 <= count <= n and n above 0: {count} of {n}")
    if not 0 < confidence < 1:
        raise DefinitionError(f"confidence is a number between 0 and 1: {confidence!r}")
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    share = count / n
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    # Rounding must not put the share outside of its own interval.
    low = 0.0 if count == 0 else max(0.0, min(share, middle - half))
    high = 1.0 if count == n else min(1.0, max(share, middle + half))
    return Rate(value=share, low=low, high=high)
