"""Generators: collected, checked as a list, and only then given on."""

import inspect
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbook import Contract, ContractViolation, Recover, checked, clauses, contract, run
from hornbook.step import feedback

SORTED = Contract(
    "sorted",
    output=list[int],
    ensures=[clauses.that("sorted", lambda items: items == sorted(items))],
)


def reversed_then_sorted(calls: list[str], items: list[int]) -> Iterator[int]:
    calls.append("started")
    yield from items if feedback() else items[::-1]
    calls.append("finished")


@contract(SORTED)
def count(*numbers: Any) -> Iterator[Any]:
    """Count."""
    yield from numbers


@contract(SORTED)
async def acount(*numbers: Any) -> AsyncIterator[Any]:
    """Count, later."""
    for number in numbers:
        yield number


async def collected(items: AsyncIterator[Any]) -> list[Any]:
    return [item async for item in items]


@pytest.mark.requirement("decorate:generator:collected", "decorate:function:colour")
def test_a_generator_stays_one() -> None:
    assert inspect.isgeneratorfunction(count)
    assert inspect.isasyncgenfunction(acount)
    assert inspect.signature(count) == inspect.signature(count.__wrapped__)  # type: ignore[attr-defined]
    assert list(count(1, 2, 3)) == [1, 2, 3]
    assert list(count()) == []


@pytest.mark.requirement("decorate:generator:async")
async def test_an_async_generator_is_treated_as_a_generator_is() -> None:
    assert await collected(acount(1, 2, 3)) == [1, 2, 3]
    with pytest.raises(ContractViolation) as halted:
        await collected(acount(3, 1))
    assert str(halted.value) == (
        "acount: contract 'sorted' violated\n  - sorted: expected sorted; got [3, 1]"
    )


@pytest.mark.requirement("decorate:generator:collected")
def test_nothing_runs_before_the_first_item_is_asked_for() -> None:
    calls: list[str] = []
    step = contract(SORTED, name="step")(reversed_then_sorted)
    items = step(calls, [1])
    assert calls == []
    assert next(items) == 1
    assert calls == ["started", "finished"]


@pytest.mark.requirement("decorate:generator:collected")
def test_no_item_is_given_on_before_all_are_checked() -> None:
    given: list[int] = []
    with pytest.raises(ContractViolation):
        given.extend(count(1, 3, 2))
    assert given == []


@pytest.mark.requirement("decorate:generator:collected", "contract:construct:output")
def test_output_is_the_type_of_the_list() -> None:
    with pytest.raises(ContractViolation) as halted:
        list(count("1"))
    assert [(v.clause, v.path) for v in halted.value.report.violations] == [("output", "[0]")]


@pytest.mark.requirement("decorate:generator:collected", "recover:retry:bounded")
def test_a_retry_starts_the_generator_again() -> None:
    calls: list[str] = []
    step = contract(SORTED, recover=Recover(retry=1))(reversed_then_sorted)
    assert list(step(calls, [1, 2])) == [1, 2]
    assert calls == ["started", "finished"] * 2


def endless() -> Iterator[int]:
    number = 0
    try:
        while True:
            yield number
            number += 1
    finally:
        CLOSED.append(number)


async def aendless() -> AsyncIterator[int]:
    number = 0
    try:
        while True:
            yield number
            number += 1
    finally:
        CLOSED.append(number)


CLOSED: list[int] = []
TOO_MANY = (
    "step: contract 'sorted' violated\n"
    "  - max_items: expected an end of the items; got more than 3 items "
    "(raise max_items= where the step is decorated)"
)


@pytest.mark.requirement("decorate:generator:max-items")
async def test_more_items_than_max_items_is_undetermined_and_ends_the_generator() -> None:
    CLOSED.clear()
    with pytest.raises(ContractViolation) as halted:
        list(contract(SORTED, max_items=3, name="step")(endless)())
    assert str(halted.value) == TOO_MANY
    assert [v.status for v in halted.value.report.verdicts] == ["Undetermined"]
    with pytest.raises(ContractViolation) as halted:
        await collected(contract(SORTED, max_items=3, name="step")(aendless)())
    assert str(halted.value) == TOO_MANY
    assert CLOSED == [3, 3]


@pytest.mark.requirement("decorate:generator:max-items")
@given(st.integers(0, 6), st.integers(0, 6))
def test_exactly_max_items_are_allowed(size: int, most: int) -> None:
    step = contract(SORTED, max_items=most)(lambda: (yield from range(size)))
    outcome = checked(step)()
    assert (outcome.status == "satisfied") is (size <= most)
    assert outcome.value == (list(range(size)) if size <= most else None)


@pytest.mark.requirement("decorate:generator:max-items", "recover:fallback:order")
def test_too_many_items_are_a_reason_to_fall_back() -> None:
    step = contract(SORTED, max_items=3, recover=Recover(fallback=[lambda: [1, 2]]))(endless)
    assert list(step()) == [1, 2]


@pytest.mark.requirement("recover:fallback:contract", "decorate:generator:collected")
async def test_a_fallback_of_a_generator_may_be_one_or_give_a_list() -> None:
    def wrong() -> Iterator[int]:
        yield from (2, 1)

    def as_generator() -> Iterator[int]:
        yield from (1, 2)

    async def as_async_generator() -> AsyncIterator[int]:
        yield 5

    async def failing() -> AsyncIterator[int]:
        yield 2
        yield 1

    assert list(contract(SORTED, recover=Recover(fallback=[as_generator]))(wrong)()) == [1, 2]
    for fallback, items in ((as_generator, [1, 2]), (as_async_generator, [5])):
        step = contract(SORTED, recover=Recover(fallback=[fallback]))(failing)
        assert await collected(step()) == items
    with pytest.raises(ContractViolation):
        list(contract(SORTED, recover=Recover(fallback=[wrong]))(wrong)())


@pytest.mark.requirement("recover:on:propagates")
async def test_an_exception_between_items_propagates() -> None:
    @contract(SORTED)
    def breaks() -> Iterator[int]:
        yield 1
        raise KeyError("torn")

    @contract(SORTED)
    async def abreaks() -> AsyncIterator[int]:
        yield 1
        raise KeyError("torn")

    with pytest.raises(KeyError, match="torn"):
        list(breaks())
    with pytest.raises(KeyError, match="torn"):
        await collected(abreaks())


@pytest.mark.requirement("checked:status:four", "checked:async:awaitable")
async def test_checked_gives_the_list() -> None:
    assert checked(count)(1, 2).value == [1, 2]
    outcome = await checked(acount)(2, 1)  # type: ignore[misc]
    assert (outcome.status, outcome.value, outcome.attempts) == ("violated", None, 1)


@pytest.mark.requirement("trace:events:pairs", "decorate:generator:collected")
async def test_a_generator_is_one_step_in_the_record() -> None:
    with run() as opened:
        list(count(1, 2))
        [item async for item in acount(3)]
    steps = [(e.kind, e.name, e.data.get("output")) for e in opened.events[1:-1]]
    assert steps == [
        ("step.start", "count", None),
        ("step.end", "count", [1, 2]),
        ("step.start", "acount", None),
        ("step.end", "acount", [3]),
    ]


@pytest.mark.requirement("decorate:function:methods")
def test_a_generator_may_be_a_method() -> None:
    class Desk:
        @contract(SORTED)
        def items(self, *numbers: int) -> Iterator[int]:
            yield from numbers

    assert list(Desk().items(1, 2)) == [1, 2]
    assert checked(Desk().items)(2, 1).status == "violated"
