"""Budgets and meters: what is limited, and that no limit is ever overrun."""

import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hornbook import Budget, BudgetExceeded, HornbookError, run
from hornbook.budget import Meter, Spent
from hornbook.errors import DefinitionError


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.requirement("budget:limits:frozen")
def test_a_budget_is_a_frozen_limit() -> None:
    limit = Budget(calls=3)
    with pytest.raises(AttributeError):
        limit.calls = 4  # type: ignore[misc]
    assert limit == Budget(calls=3, tokens=None, seconds=None, cost=None)
    assert pickle.loads(pickle.dumps(limit)) == limit


@pytest.mark.requirement("budget:limits:each")
@pytest.mark.parametrize("field", ["calls", "tokens", "seconds", "cost"])
@pytest.mark.parametrize("value", [-1, "3", True, float("nan")])
def test_a_limit_that_is_no_limit_is_refused(field: str, value: Any) -> None:
    with pytest.raises(DefinitionError) as refused:
        Budget(**{field: value})
    assert str(refused.value) == (
        f"Budget({field}={value!r}): a limit is a number of at least 0, or None"
    )


@pytest.mark.requirement("budget:limits:each")
def test_calls_are_limited() -> None:
    meter = Meter(Budget(calls=2))
    meter.reserve("a")
    meter.reserve("b")
    with pytest.raises(BudgetExceeded) as spent:
        meter.reserve("c")
    assert str(spent.value) == (
        "the budget of 2 calls is spent (by step: a 1, b 1): step 'c' asked for more"
    )
    assert (spent.value.limit, spent.value.spent) == ("calls", {"a": 1, "b": 1})


@pytest.mark.requirement("budget:limits:each")
@pytest.mark.parametrize("limit", ["tokens", "cost"])
def test_what_only_the_answer_tells_stops_the_next_call(limit: str) -> None:
    meter = Meter(Budget(**{limit: 10}))
    meter.reserve("a")
    meter.settle("a", **{limit: 12})
    assert getattr(meter.spent, limit) == 12
    with pytest.raises(BudgetExceeded) as spent:
        meter.reserve("b")
    assert str(spent.value) == (
        f"the budget of 10 {limit} is spent (by step: a 12): step 'b' asked for more"
    )


@pytest.mark.requirement("budget:limits:each")
def test_seconds_are_limited() -> None:
    clock = Clock()
    meter = Meter(Budget(seconds=5), clock=clock)
    clock.now = 4.5
    meter.check_time("a")
    assert meter.remaining_seconds() == 0.5
    clock.now = 6.0
    assert meter.remaining_seconds() == 0.0
    for call in (meter.check_time, meter.reserve):
        with pytest.raises(BudgetExceeded) as spent:
            call("b")
        assert str(spent.value) == (
            "the budget of 5 seconds is spent (6.000 s since the run was opened): "
            "step 'b' was not started"
        )
        assert spent.value.limit == "seconds"
    assert meter.spent == Spent(calls=0, seconds=6.0)


@pytest.mark.requirement("budget:limits:each")
def test_no_limit_is_no_limit() -> None:
    meter = Meter()
    meter.reserve("a", calls=10**6)
    meter.settle("a", tokens=10**9, cost=1e9)
    assert meter.remaining_seconds() is None
    assert not meter.limits_time
    assert meter.spent.calls == 10**6


@pytest.mark.requirement("budget:limits:each")
@pytest.mark.parametrize("limit", ["calls", "tokens", "cost"])
def test_a_limit_of_nothing_lets_nothing_pass(limit: str) -> None:
    with pytest.raises(BudgetExceeded, match=rf"the budget of 0 {limit} is spent \(by step: not"):
        Meter(Budget(**{limit: 0})).reserve("a")


@pytest.mark.requirement("budget:exceeded:error")
def test_a_spent_budget_is_a_runtime_error_that_says_by_whom() -> None:
    error = BudgetExceeded("spent", limit="calls", spent={"a": 1})
    assert isinstance(error, HornbookError)
    assert isinstance(error, RuntimeError)
    assert error.code == "budget"
    back = pickle.loads(pickle.dumps(error))
    assert (str(back), back.limit, back.spent) == ("spent", "calls", {"a": 1})


@pytest.mark.requirement("budget:meter:nested")
def test_a_refusal_further_out_takes_nothing_further_in() -> None:
    outer = Meter(Budget(calls=1))
    inner = Meter(Budget(calls=5), outer=outer)
    inner.reserve("a")
    with pytest.raises(BudgetExceeded, match="the budget of 1 calls"):
        inner.reserve("a")
    assert (outer.spent.calls, inner.spent.calls) == (1, 1)


@pytest.mark.requirement("budget:meter:nested")
def test_time_and_settled_costs_reach_the_outer_meter() -> None:
    clock = Clock()
    outer = Meter(Budget(seconds=5, tokens=10), clock=clock)
    inner = Meter(Budget(seconds=9), outer=outer, clock=clock)
    inner.settle("a", tokens=10)
    assert outer.by_step("tokens") == {"a": 10}
    with pytest.raises(BudgetExceeded, match="the budget of 10 tokens"):
        inner.reserve("b")
    clock.now = 4
    assert inner.remaining_seconds() == 1
    assert inner.limits_time
    assert Meter(outer=outer).limits_time
    clock.now = 5
    with pytest.raises(BudgetExceeded, match="the budget of 5 seconds"):
        inner.check_time("b")


NESTING = st.recursive(
    st.integers(1, 6),
    lambda inner: st.tuples(st.none() | st.integers(0, 12), st.lists(inner, max_size=4)),
    max_leaves=12,
)


def spend(shape: Any, around: Meter) -> int:
    """Spend as a shape says; give how many calls were granted."""
    if isinstance(shape, int):
        granted = 0
        for _ in range(shape):
            try:
                around.reserve("step")
            except BudgetExceeded:
                break
            granted += 1
        return granted
    limit, parts = shape
    own = Meter(Budget(calls=limit), outer=around)
    granted = sum(spend(part, own) for part in parts)
    assert own.spent.calls == granted
    assert limit is None or granted <= limit
    return granted


@pytest.mark.requirement("budget:meter:nested")
@given(NESTING, st.integers(0, 10))
def test_law_no_nesting_overruns_the_outermost_limit(shape: Any, limit: int) -> None:
    outermost = Meter(Budget(calls=limit))
    granted = spend(shape, outermost)
    assert outermost.spent.calls == granted <= limit
    assert outermost.by_step("calls") == ({"step": granted} if granted else {})


@pytest.mark.requirement("budget:meter:threads", "budget:meter:nested")
@settings(max_examples=25)
@given(st.lists(NESTING, min_size=2, max_size=4), st.integers(0, 30))
def test_law_nor_do_threads(shapes: list[Any], limit: int) -> None:
    outermost = Meter(Budget(calls=limit))
    ready = threading.Barrier(len(shapes), timeout=60)

    def work(shape: Any) -> int:
        ready.wait()
        return spend(shape, outermost)

    with ThreadPoolExecutor(len(shapes)) as pool:
        granted = sum(pool.map(work, shapes))
    assert outermost.spent.calls == granted <= limit


@pytest.mark.requirement("budget:meter:threads")
def test_threads_are_granted_exactly_what_there_is() -> None:
    meter = Meter(Budget(calls=1000))

    def work(number: int) -> int:
        granted = 0
        while True:
            try:
                meter.reserve(f"thread {number}")
            except BudgetExceeded:
                return granted
            meter.settle(f"thread {number}", tokens=1)
            granted += 1

    with ThreadPoolExecutor(8) as pool:
        granted = list(pool.map(work, range(8)))
    assert sum(granted) == meter.spent.calls == meter.spent.tokens == 1000
    assert meter.by_step("calls") == {
        f"thread {number}": count for number, count in enumerate(granted) if count
    }


@pytest.mark.requirement("budget:meter:nested", "run:nested:joins")
def test_nested_runs_draw_on_the_outer_meter() -> None:
    with run(budget=Budget(calls=3)) as outer:
        with run(budget=Budget(calls=2)) as inner:
            inner.meter.reserve("a", calls=2)
            with pytest.raises(BudgetExceeded, match="the budget of 2 calls"):
                inner.meter.reserve("a")
        with run() as unlimited, pytest.raises(BudgetExceeded, match="the budget of 3 calls"):
            unlimited.meter.reserve("b", calls=2)
        assert (outer.meter.spent.calls, inner.meter.spent.calls) == (2, 2)


@pytest.mark.requirement("budget:limits:frozen")
def test_a_run_that_is_over_leaves_nothing_to_the_next() -> None:
    limit = Budget(calls=1)
    for _ in range(2):
        with run(budget=limit) as opened:
            opened.meter.reserve("a")
            assert opened.meter.spent.calls == 1
