"""One contract, one step, many threads and tasks: none of them sees anything of another."""

import asyncio
import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hornbook import (
    Budget,
    BudgetExceeded,
    Contract,
    ContractViolation,
    Recover,
    Violation,
    checked,
    clauses,
    contract,
    feedback,
    run,
)
from hornbook.contracts import Judgement, Question
from hornbook.trace import Event, Run, current_run

TASKS = 1000
OWN = Contract(
    "own",
    output=str,
    ensures=[
        clauses.that("own answer", lambda value, inputs: value.startswith(f"{inputs['number']}:")),
        clauses.that("second try", lambda value: value.endswith(":2")),
    ],
)


def again(number: int) -> str:
    """Fails once, and then only if what it is told is its own."""
    told = feedback()
    if told is None:
        return f"{number}:1"
    mine = told.violation.observed == f"'{number}:1'"
    return f"{number}:2" if mine else "somebody else's feedback"


@contract(OWN, recover=Recover(retry=1), name="step")
def step(number: int) -> str:
    return again(number)


@contract(OWN, recover=Recover(retry=1), name="step")
async def astep(number: int) -> str:
    for _ in range(number % 3):
        await asyncio.sleep(0)
    return again(number)


def well_nested(events: Sequence[Event]) -> bool:
    """One start and one end a step; what belongs to it lies between, and its parent is open."""
    opened: dict[str, Event] = {}
    ended: set[str] = set()
    for event in events:
        if event.kind == "step.start":
            assert event.id not in opened
            assert event.parent is None or (event.parent in opened and event.parent not in ended)
            opened[event.id] = event
        elif event.kind in ("attempt", "decision", "step.end"):
            assert event.id in opened
            assert event.id not in ended
        if event.kind == "step.end":
            ended.add(event.id)
    return ended == set(opened)


@pytest.mark.requirement("contract:shared:threads", "trace:events:pairs")
async def test_a_thousand_tasks_share_a_contract_and_a_run() -> None:
    with run() as opened:
        answers = await asyncio.gather(*(astep(number) for number in range(TASKS)))
    assert answers == [f"{number}:2" for number in range(TASKS)]
    assert well_nested(opened.events)
    by_step: dict[str, list[Event]] = defaultdict(list)
    for event in opened.events[1:-1]:
        by_step[event.id].append(event)
    assert len(by_step) == TASKS
    for events in by_step.values():
        number = events[0].data["inputs"]["number"]
        assert events[-1].data["output"] == f"{number}:2"
        assert [event.kind for event in events] == [
            "step.start", "attempt", "decision", "attempt", "step.end"
        ]  # fmt: skip


@pytest.mark.requirement("contract:shared:threads", "run:context:wrap")
def test_two_threads_share_a_contract_and_a_run() -> None:
    with run() as opened, ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(opened.wrap(step), range(TASKS)))
    assert answers == [f"{number}:2" for number in range(TASKS)]
    assert well_nested(opened.events)
    ends = [event for event in opened.events if event.kind == "step.end"]
    assert sorted(event.data["output"] for event in ends) == sorted(answers)


@pytest.mark.requirement("contract:shared:threads", "budget:limits:frozen")
def test_two_threads_each_with_a_run_of_a_thousand_tasks() -> None:
    limit = Budget(calls=TASKS)

    async def tasks(first: int) -> tuple[Run, list[str]]:
        async with run(budget=limit) as opened:
            numbers = range(first, first + TASKS)
            return opened, await asyncio.gather(*(astep(number) for number in numbers))

    with ThreadPoolExecutor(2) as pool:
        running = [pool.submit(asyncio.run, tasks(first)) for first in (0, 10_000)]
        (one, first), (other, second) = (future.result() for future in running)
    assert first == [f"{number}:2" for number in range(TASKS)]
    assert second == [f"{number}:2" for number in range(10_000, 10_000 + TASKS)]
    for opened, low in ((one, 0), (other, 10_000)):
        assert opened.meter.spent.calls == TASKS
        numbers = [
            event.data["inputs"]["number"] for event in opened.events if event.kind == "step.start"
        ]
        assert sorted(numbers) == list(range(low, low + TASKS))


@pytest.mark.requirement("contract:shared:threads", "report:fields:all")
async def test_the_cost_in_a_report_is_that_of_its_own_step() -> None:
    class Judge:
        async def judge(self, questions: Sequence[Question]) -> list[Judgement]:
            await asyncio.sleep(0)
            return [Judgement(score=0.0) for _ in questions]

    held = Contract("c", ensures=[clauses.covers(".", source="text", judge=Judge())])

    @contract(held, recover=Recover(retry=1))
    async def judged(text: str) -> str:
        return text

    with run() as opened:
        outcomes = await asyncio.gather(*(checked(judged)(f"text {n}") for n in range(50)))
    assert {outcome.report.cost.calls for outcome in outcomes} == {3}
    assert opened.meter.spent.calls == 150


@pytest.mark.requirement("contract:shared:threads")
def test_threads_that_recover_at_once_keep_their_own_inputs() -> None:
    barrier = threading.Barrier(2, timeout=60)
    held = Contract("c", ensures=[clauses.that("three", lambda value: value.count("x") == 3)])

    def more(inputs: Any, violation: Violation) -> Any:
        barrier.wait()
        return {"text": inputs["text"] + "x"}

    @contract(held, recover=Recover(retry=3, modify=more))
    def grow(text: str) -> str:
        return text

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(grow, ["a", "b"])) == ["axxx", "bxxx"]


@pytest.mark.requirement("run:context:tasks")
async def test_tasks_that_open_runs_of_their_own_keep_apart() -> None:
    async def own(number: int) -> Run:
        async with run(tags={"number": str(number)}) as opened:
            await astep(number)
            assert current_run() is opened
        return opened

    assert current_run() is None
    runs = await asyncio.gather(*(own(number) for number in range(200)))
    assert current_run() is None
    assert len({opened.id for opened in runs}) == 200
    for number, opened in enumerate(runs):
        steps = [event for event in opened.events if event.kind == "step.start"]
        assert [event.data["inputs"] for event in steps] == [{"number": number}]


@pytest.mark.requirement("trace:events:pairs", "contract:shared:threads")
async def test_parallel_steps_hang_below_the_step_that_started_them() -> None:
    @contract(Contract("any"), name="outer")
    async def outer(number: int) -> list[str]:
        return list(await asyncio.gather(*(astep(number * 100 + at) for at in range(5))))

    with run() as opened:
        await asyncio.gather(*(outer(number) for number in range(20)))
    assert well_nested(opened.events)
    starts = {event.id: event for event in opened.events if event.kind == "step.start"}
    inner = [event for event in starts.values() if event.name == "step"]
    assert len(inner) == 100
    for event in inner:
        assert event.parent is not None
        number = starts[event.parent].data["inputs"]["number"]
        assert event.data["inputs"]["number"] // 100 == number


Tree = Any
TREES: st.SearchStrategy[Tree] = st.recursive(
    st.sampled_from(["ok", "bad", "raise", "retry"]),
    lambda inner: st.lists(inner, min_size=1, max_size=3),
    max_leaves=12,
)


class Boom(Exception):
    pass


@contract(Contract("leaf", ensures=[clauses.that("ok", lambda value: value == "ok")]),
          recover=Recover(retry=1), name="leaf")  # fmt: skip
def leaf(kind: str) -> str:
    if kind == "raise":
        raise Boom
    return "ok" if kind == "retry" and feedback() else kind


@contract(Contract("tree"), name="branch")
def branch(trees: list[Tree], walk: Callable[[Tree], None]) -> None:
    for tree in trees:
        walk(tree)


def walk(tree: Tree) -> None:
    with suppress(Boom, ContractViolation):
        branch(tree, walk) if isinstance(tree, list) else leaf(tree)


@contract(Contract("leaf", ensures=[clauses.that("ok", lambda value: value == "ok")]),
          recover=Recover(retry=1), name="leaf")  # fmt: skip
async def aleaf(kind: str) -> str:
    await asyncio.sleep(0)
    return leaf.__wrapped__(kind)  # type: ignore[attr-defined, no-any-return]


@contract(Contract("tree"), name="branch")
async def abranch(trees: list[Tree]) -> None:
    await asyncio.gather(*(awalk(tree) for tree in trees))


async def awalk(tree: Tree) -> None:
    with suppress(Boom, ContractViolation):
        await (abranch(tree) if isinstance(tree, list) else aleaf(tree))


def leaves(tree: Tree) -> list[str]:
    return [one for part in tree for one in leaves(part)] if isinstance(tree, list) else [tree]


@pytest.mark.requirement("trace:events:pairs", "trace:events:closed")
@given(TREES)
def test_law_events_are_well_nested_whatever_happens(tree: Tree) -> None:
    with run() as opened:
        walk(tree)
    assert well_nested(opened.events)
    ends = [event for event in opened.events if event.kind == "step.end" and event.name == "leaf"]
    expected = {"ok": "satisfied", "bad": "violated", "raise": "error", "retry": "recovered"}
    assert [event.status for event in ends] == [expected[kind] for kind in leaves(tree)]
    assert [event.seq for event in opened.events] == list(range(len(opened.events)))


@pytest.mark.requirement("trace:events:pairs", "trace:events:closed")
@settings(max_examples=30)
@given(TREES)
def test_law_events_of_parallel_steps_are_well_nested_too(tree: Tree) -> None:
    async def main() -> Run:
        async with run() as opened:
            await awalk(tree)
        return opened

    opened = asyncio.run(main())
    assert well_nested(opened.events)
    ends = [event for event in opened.events if event.kind == "step.end" and event.name == "leaf"]
    expected = {"ok": "satisfied", "bad": "violated", "raise": "error", "retry": "recovered"}
    assert sorted(str(event.status) for event in ends) == sorted(
        expected[kind] for kind in leaves(tree)
    )


@pytest.mark.requirement("budget:limits:frozen", "contract:shared:threads")
def test_two_runs_never_share_a_meter_though_they_share_a_budget() -> None:
    limit = Budget(calls=1)
    with run(budget=limit) as one:
        step(1)
        with pytest.raises(BudgetExceeded):
            step(2)
    with run(budget=limit) as other:
        step(3)
    assert one.meter is not other.meter
    assert (one.meter.spent.calls, other.meter.spent.calls) == (1, 1)
