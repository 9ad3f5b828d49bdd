"""Shares with their intervals."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from hornbook.judges import wilson

__all__ = ["Share", "bootstrap"]


@dataclass(frozen=True, slots=True)
class Share:
    """So many of so many."""

    count: int
    n: int

    @property
    def value(self) -> float | None:
        """The share; None of nothing."""
        return self.count / self.n if self.n else None

    @property
    def data(self) -> dict[str, Any]:
        """As JSON, with the 95 % Wilson interval."""
        if not self.n:
            return {"count": 0, "n": 0, "value": None, "low": None, "high": None}
        rate = wilson(self.count, self.n)
        return {
            "count": self.count,
            "n": self.n,
            "value": round(rate.value, 4),
            "low": round(rate.low, 4),
            "high": round(rate.high, 4),
        }

    def __str__(self) -> str:
        if not self.n:
            return "-"
        rate = wilson(self.count, self.n)
        return f"{rate.value:.2f} [{rate.low:.2f}, {rate.high:.2f}] of {self.n}"

    @property
    def percent(self) -> str:
        """In per cent, for small shares."""
        if not self.n:
            return "-"
        rate = wilson(self.count, self.n)
        return (
            f"{self.count} of {self.n} = {100 * rate.value:.2f} % "
            f"[{100 * rate.low:.2f}, {100 * rate.high:.2f}]"
        )


def bootstrap(
    units: Sequence[Any],
    figure: Callable[[Sequence[Any]], float | None],
    *,
    rounds: int,
    seed: int = 0,
) -> tuple[float, float] | None:
    """Return the 95 % interval of a figure by drawing units, here tasks, with replacement."""
    rng = random.Random(seed)
    drawn = [figure(rng.choices(units, k=len(units))) for _ in range(rounds)]
    values = sorted(value for value in drawn if value is not None)
    if not values or len(values) < rounds // 2:
        return None
    return values[int(0.025 * len(values))], values[int(0.975 * len(values))]
