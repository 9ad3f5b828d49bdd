"""Before and after, example by example: is a difference more than chance?

Forethought's table 5 gives two accuracies a primitive and their average weighted by size.
Both were measured on the same examples, so the exact McNemar test tells what they differ by.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from math import comb
from typing import Any

from hornbook.contracts.judge import Rate
from hornbook.evaluation.errors import EvaluationError
from hornbook.evaluation.results import Evaluation, Judged
from hornbook.judges import wilson

__all__ = ["Comparison", "Weighted", "compare", "weighted"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two evaluations of one primitive on the same examples."""

    primitive: str
    n: int
    before: Rate
    after: Rate
    gained: int
    """Examples that were wrong and are right."""
    lost: int
    """Examples that were right and are wrong."""
    p_value: float
    """Of the exact two-sided McNemar test: how likely a difference as great is by chance."""
    unpaired: int = 0
    """Examples that only one of the two has; they count nowhere."""

    @property
    def difference(self) -> float:
        """How much greater the share of right outputs is."""
        return self.after.value - self.before.value

    def __str__(self) -> str:
        """On one line."""
        left_out = f", {self.unpaired} left out" if self.unpaired else ""
        return (
            f"{self.primitive}: {self.before} -> {self.after} ({self.difference:+.1%}), n={self.n}"
            f"{left_out}, {self.gained} gained, {self.lost} lost, p={self.p_value:.3g}"
        )

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {**asdict(self), "difference": self.difference}


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighted:
    """The average over primitives, each weighted by its number of examples."""

    n: int
    before: float
    after: float

    def __str__(self) -> str:
        """On one line."""
        return f"weighted average: {self.before:.1%} -> {self.after:.1%}, n={self.n}"


def compare(before: Evaluation, after: Evaluation) -> Comparison:
    """Pair two evaluations by their examples.

    Raises:
        EvaluationError: they are of two primitives, one after recovery and one of first
            attempts, or have no example in common.
    """
    if before.primitive != after.primitive:
        raise EvaluationError(
            f"{before.primitive!r} and {after.primitive!r} are two primitives: evaluations are "
            f"compared of one"
        )
    if before.recovery is not after.recovery:
        raise EvaluationError(
            f"{before.primitive!r}: one evaluation is of first attempts and one after recovery"
        )
    pairs, unpaired = _paired(before.judged, after.judged)
    if not pairs:
        raise EvaluationError(f"{before.primitive!r}: the evaluations have no example in common")
    gained = sum(not old.right and new.right for old, new in pairs)
    lost = sum(old.right and not new.right for old, new in pairs)
    return Comparison(
        primitive=after.primitive,
        n=len(pairs),
        before=wilson(sum(old.right for old, _ in pairs), len(pairs)),
        after=wilson(sum(new.right for _, new in pairs), len(pairs)),
        gained=gained,
        lost=lost,
        p_value=_mcnemar(gained, lost),
        unpaired=unpaired,
    )


def weighted(comparisons: Iterable[Comparison]) -> Weighted:
    """The last line of Forethought's table 5.

    Raises:
        EvaluationError: there is nothing to average.
    """
    given = list(comparisons)
    n = sum(one.n for one in given)
    if not n:
        raise EvaluationError("there are no comparisons to average")
    before = sum(one.before.value * one.n for one in given) / n
    after = sum(one.after.value * one.n for one in given) / n
    return Weighted(n=n, before=before, after=after)


def _paired(
    before: Sequence[Judged], after: Sequence[Judged]
) -> tuple[list[tuple[Judged, Judged]], int]:
    """The pairs of one example, and how many have no partner; equal examples pair in order."""
    waiting: dict[str, list[Judged]] = {}
    for old in before:
        waiting.setdefault(old.key, []).append(old)
    pairs = [(waiting[new.key].pop(0), new) for new in after if waiting.get(new.key)]
    return pairs, len(before) + len(after) - 2 * len(pairs)


def _mcnemar(gained: int, lost: int) -> float:
    """The exact test: of the examples that changed, each is a toss of a fair coin."""
    changed = gained + lost
    tail = sum(comb(changed, at) for at in range(min(gained, lost) + 1))
    return min(1.0, 2 * tail / 2**changed)
