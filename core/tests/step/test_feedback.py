"""What a step that is tried again is told: the newest violation, and no more with time."""

import asyncio
import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbook import Contract, ContractViolation, Recover, clauses, contract, feedback, run
from hornbook.step import Feedback

HELD = Contract(
    "draft",
    ensures=[
        clauses.that("short", lambda text: len(text) < 20),
        clauses.that("polite", lambda text: "please" in text),
    ],
)


@pytest.mark.requirement("recover:retry:feedback")
def test_there_is_none_outside_of_a_step_and_in_a_first_attempt() -> None:
    seen: list[Any] = []

    @contract(HELD)
    def draft() -> str:
        seen.append(feedback())
        return "please"

    assert feedback() is None
    draft()
    with run():
        draft()
        assert feedback() is None
    assert seen == [None, None]


@pytest.mark.requirement("recover:retry:feedback")
@pytest.mark.parametrize("in_run", [False, True])
@pytest.mark.parametrize("later", [False, True])
def test_the_newest_violation_is_the_first_of_the_last_attempt(in_run: bool, later: bool) -> None:
    told: list[Feedback | None] = []
    drafts = ["a very long and rude draft", "rude", "please"]

    def draft() -> str:
        told.append(feedback())
        return drafts[len(told) - 1]

    async def adraft() -> str:
        await asyncio.sleep(0)
        return draft()

    step: Any = contract(HELD, recover=Recover(retry=2), name="draft")(adraft if later else draft)

    def go() -> Any:
        return asyncio.run(step()) if later else step()

    if in_run:
        with run():
            assert go() == "please"
    else:
        assert go() == "please"
    assert told[0] is None
    assert [one.violation.clause for one in told if one] == ["short", "polite"]
    assert [one.attempt for one in told if one] == [1, 2]
    assert told[1] is not None
    assert [v.clause for v in told[1].report.violations] == ["short", "polite"]
    assert str(told[2]) == ("The previous answer was rejected. polite: expected polite; got 'rude'")
    assert feedback() is None


@pytest.mark.requirement("recover:retry:feedback")
def test_a_fallback_is_told_too() -> None:
    told: list[Any] = []

    def fallback() -> str:
        told.append(feedback())
        return "please"

    @contract(HELD, recover=Recover(fallback=[fallback]))
    def draft() -> str:
        return "rude"

    draft()
    assert told[0].violation.clause == "polite"


@pytest.mark.requirement("recover:retry:feedback")
def test_an_exception_is_told_as_the_violation_exception() -> None:
    told: list[Any] = []

    @contract(HELD, recover=Recover(retry=1, on=[OSError]))
    def draft() -> str:
        told.append(feedback())
        if len(told) == 1:
            raise OSError("no connection")
        return "please"

    draft()
    assert str(told[1]) == (
        "The previous answer was rejected. "
        "exception: expected a value; got 'OSError: no connection'"
    )


@pytest.mark.requirement("recover:retry:feedback")
@given(st.integers(1, 6), st.text(min_size=100, max_size=3000))
def test_it_does_not_grow(retries: int, text: str) -> None:
    sizes: list[int] = []
    held = Contract(
        "c", ensures=[clauses.that(text[:50] + "x", lambda value: False, name=text[:80] + "x")]
    )

    @contract(held, recover=Recover(retry=retries))
    def draft() -> str:
        sizes.append(len(str(feedback())))
        return text

    with pytest.raises(ContractViolation):
        draft()
    assert len(sizes) == retries + 1
    assert max(sizes) <= 400
    assert len(set(sizes[1:])) == 1


@pytest.mark.requirement("recover:retry:feedback")
def test_a_step_inside_another_is_told_only_of_itself() -> None:
    told: list[tuple[str, Any]] = []

    @contract(HELD)
    def inner() -> str:
        told.append(("inner", feedback()))
        return "please"

    @contract(HELD, recover=Recover(retry=1))
    def outer() -> str:
        inner()
        told.append(("outer", feedback()))
        return "please" if feedback() else "rude"

    outer()
    assert [(name, one is None) for name, one in told] == [
        ("inner", True), ("outer", True), ("inner", True), ("outer", False)
    ]  # fmt: skip


@pytest.mark.requirement("recover:retry:feedback")
async def test_what_one_task_is_told_another_is_not() -> None:
    told: dict[int, str] = {}

    @contract(Contract("c", ensures=[clauses.that("done", lambda value: value == "done")]),
              recover=Recover(retry=1))  # fmt: skip
    async def step(number: int) -> str:
        for _ in range(number % 3):
            await asyncio.sleep(0)
        newest = feedback()
        if newest is None:
            return f"try {number}"
        told[number] = newest.violation.observed
        return "done"

    await asyncio.gather(*(step(number) for number in range(100)))
    assert told == {number: f"'try {number}'" for number in range(100)}


@pytest.mark.requirement("recover:retry:feedback")
def test_a_thread_of_its_own_is_told_nothing() -> None:
    told: list[Any] = []

    @contract(HELD, recover=Recover(retry=1))
    def draft() -> str:
        thread = threading.Thread(target=lambda: told.append(feedback()))
        thread.start()
        thread.join()
        return "please" if feedback() else "rude"

    draft()
    assert told == [None, None]
