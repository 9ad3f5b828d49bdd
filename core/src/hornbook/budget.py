"""Limits, and the meters that hold a run to them.

A `Budget` is a frozen limit. Each run opens one `Meter`; a nested run's meter draws on
the outer one as well, so no nesting can spend more than the outermost limit.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, fields

from hornbook.errors import BudgetExceeded, DefinitionError

__all__ = ["Budget", "Meter", "Spent"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What a run, or one call outside a run, may spend. None means no limit.

    Raises:
        DefinitionError: a limit that is negative or not a number.
    """

    calls: int | None = None
    """Model calls, judge calls, and attempts after the first of any step."""
    tokens: int | None = None
    """Input and output tokens together, as the host reports them."""
    seconds: float | None = None
    """Wall time from the opening of the run."""
    cost: float | None = None
    """In the currency of the user's own price table."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value: object = getattr(self, field.name)
            if value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
                raise DefinitionError(
                    f"Budget({field.name}={value!r}): a limit is a number of at least 0, or None"
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What was spent, in the units of `Budget`."""

    calls: int = 0
    tokens: int = 0
    seconds: float = 0.0
    cost: float = 0.0


class Meter:
    """Counts what is spent against a budget; safe to share between threads.

    `reserve` before a call refuses when the limit is reached; `settle` after it adds what
    only the answer tells (tokens and cost), so one call may pass those two limits and the
    next is refused.
    """

    def __init__(
        self,
        budget: Budget | None = None,
        *,
        outer: "Meter | None" = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.budget = budget or Budget()
        self._outer = outer
        self._clock = clock
        self._opened = clock()
        self._lock = threading.Lock()
        self._calls: dict[str, float] = {}
        self._by_step: dict[str, dict[str, float]] = {"calls": self._calls}
        self._totals = {"calls": 0.0, "tokens": 0.0, "cost": 0.0}
        self._limited = self.budget != Budget()

    @property
    def limits_time(self) -> bool:
        """Whether this meter, or one it draws on, has a limit in seconds."""
        return self.budget.seconds is not None or (
            self._outer is not None and self._outer.limits_time
        )

    def remaining_seconds(self) -> float | None:
        """Seconds until the nearest deadline, at least 0.0; None when there is none."""
        own = None
        if self.budget.seconds is not None:
            own = max(0.0, self.budget.seconds - (self._clock() - self._opened))
        outer = self._outer.remaining_seconds() if self._outer is not None else None
        return min((left for left in (own, outer) if left is not None), default=None)

    def check_time(self, step: str) -> None:
        """Refuse to go on past the deadline.

        Raises:
            BudgetExceeded: the run's seconds are spent.
        """
        limit, elapsed = self.budget.seconds, self._clock() - self._opened
        if limit is not None and elapsed >= limit:
            raise BudgetExceeded(
                f"the budget of {limit:g} seconds is spent ({elapsed:.3f} s since the run was "
                f"opened): step {step!r} was not started",
                limit="seconds",
                spent={step: elapsed},
            )
        if self._outer is not None:
            self._outer.check_time(step)

    def reserve(self, step: str, *, calls: int = 1) -> None:
        """Take `calls` out of the budget, here and in every meter this one draws on.

        Raises:
            BudgetExceeded: some limit is reached; nothing was taken anywhere.
        """
        if self._limited:
            self.check_time(step)
        with self._lock:
            if self._limited:
                self._refuse_if_spent(step, calls)
            if self._outer is not None:
                self._outer.reserve(step, calls=calls)
            self._totals["calls"] += calls
            self._calls[step] = self._calls.get(step, 0) + calls

    def settle(self, step: str, *, tokens: int = 0, cost: float = 0.0) -> None:
        """Add what a call turned out to use. Never refuses: the call is already paid for."""
        with self._lock:
            self._add(step, "tokens", tokens)
            self._add(step, "cost", cost)
        if self._outer is not None:
            self._outer.settle(step, tokens=tokens, cost=cost)

    @property
    def spent(self) -> Spent:
        """What was spent through this meter so far."""
        with self._lock:
            return Spent(
                calls=int(self._totals["calls"]),
                tokens=int(self._totals["tokens"]),
                seconds=self._clock() - self._opened,
                cost=self._totals["cost"],
            )

    def by_step(self, limit: str) -> dict[str, float]:
        """What was spent of one limit (`calls`, `tokens`, `cost`), by step name."""
        with self._lock:
            return dict(self._by_step.get(limit, {}))

    def _refuse_if_spent(self, step: str, calls: int) -> None:
        wanted = {"calls": float(calls), "tokens": 0.0, "cost": 0.0}
        for limit, want in wanted.items():
            allowed: float | None = getattr(self.budget, limit)
            if allowed is None:
                continue
            used = self._totals[limit]
            if used + want > allowed or (limit != "calls" and used >= allowed):
                by_step = dict(self._by_step.get(limit, {}))
                shares = ", ".join(f"{name} {amount:g}" for name, amount in by_step.items())
                raise BudgetExceeded(
                    f"the budget of {allowed:g} {limit} is spent (by step: {shares or 'nothing'})"
                    f": step {step!r} asked for more",
                    limit=limit,
                    spent=by_step,
                )

    def _add(self, step: str, limit: str, amount: float) -> None:
        if amount:
            self._totals[limit] += amount
            shares = self._by_step.setdefault(limit, {})
            shares[step] = shares.get(step, 0) + amount
