"""What a conversation has heard: the sources of a guard where tools see no history."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from hornbook.hosting import Heard
from hornbook.kernel import ToolGuard, ToolRegistry


def find(order: str) -> str:
    """Find an order."""
    return order


GUARD = ToolGuard(ToolRegistry.of(find))


def source(heard: Heard, order: str) -> str | None:
    report = GUARD.check("find", {"order": order}, heard.context({"cart": "A-4004"}))
    return report.verdict("grounded order").evidence["source"] if report.ok else None


@pytest.mark.requirement("hosting:heard:sources")
def test_turns_come_before_results_and_these_before_state_and_settings() -> None:
    heard = Heard(trusted={"customer": "C-5005"})
    heard.said("about A-1001", "and A-2002")
    heard.returned("list", {}, ["A-2002", "A-3003"])
    assert source(heard, "A-1001") == "turn 1"
    assert source(heard, "A-2002") == "turn 2"
    assert source(heard, "A-3003") == "result of list"
    assert source(heard, "A-4004") == "state.cart"
    assert source(heard, "C-5005") == "trusted.customer"
    assert source(heard, "A-9009") is None


@pytest.mark.requirement("hosting:heard:sources")
def test_what_is_heard_again_counts_once() -> None:
    heard = Heard()
    heard.said("one")
    heard.said("one", "two")
    assert heard.context().turns == ("one", "two")


@pytest.mark.requirement("hosting:heard:bounded")
def test_the_oldest_are_forgotten() -> None:
    heard = Heard()
    heard.said(*(f"turn {number}" for number in range(600)))
    for number in range(600):
        heard.returned("list", {}, number)
    context = heard.context()
    assert (len(context.turns), len(context.results)) == (512, 512)
    assert (context.turns[-1], context.results[-1].value) == ("turn 599", 599)


@pytest.mark.requirement("hosting:heard:threads")
def test_threads_may_share_one() -> None:
    heard = Heard()
    with ThreadPoolExecutor(8) as pool:
        for number in range(200):
            pool.submit(heard.returned, "list", {}, number)
            pool.submit(heard.context)
    assert sorted(result.value for result in heard.context().results) == list(range(200))
