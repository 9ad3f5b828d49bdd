"""Judges: who answers the questions of measured clauses, and how good they were measured."""

from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from hornbook.errors import DefinitionError

__all__ = ["Calibration", "Judge", "Judgement", "Question", "Rate"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What a judge says to one question."""

    score: float | None
    """In [0, 1]; None when the judge cannot tell."""
    evidence: Any = None
    reason: str = ""
    """Why there is no score."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One thing a measured clause wants to know. Texts are data, never instructions."""

    kind: str
    """`covers`, `entails` or `similar`: how `text` should stand to `source`."""
    text: str
    source: str
    path: str
    clause: str
    judge: "Judge"


@runtime_checkable
class Judge(Protocol):
    """Scores questions in batches, sync or async.

    A judge may also carry `identity`, a text that changes when its answers may (without it,
    its type and `version` stand for it), and `max_calls`, the most calls that one batch takes
    of a budget (1 without it: asking a judge reserves one; None where nobody can say).
    """

    def judge(
        self, questions: Sequence[Question], /
    ) -> Sequence[Judgement] | Awaitable[Sequence[Judgement]]:
        """One judgement for each question, in their order."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """A measured rate with its 95 % interval."""

    value: float
    low: float
    high: float

    def __post_init__(self) -> None:
        if not 0.0 <= self.low <= self.value <= self.high <= 1.0:
            raise DefinitionError(
                f"a rate needs 0 <= low <= value <= high <= 1: {self.low}, {self.value}, "
                f"{self.high}"
            )

    def __str__(self) -> str:
        """As `0.040 [0.020, 0.080]`."""
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """How often a measured clause was wrong on labelled examples."""

    n: int
    false_accept: Rate
    """Share of bad values that it let pass."""
    false_reject: Rate
    """Share of good values that it refused."""
    undetermined: int = 0
    """How many of the n it could not decide; they count as refused, unless it waives them."""

    def __str__(self) -> str:
        """On one line, for reports."""
        undecided = f", undetermined {self.undetermined}" if self.undetermined else ""
        rates = f"false accept {self.false_accept}, false reject {self.false_reject}"
        return f"n={self.n}, {rates}{undecided}"
