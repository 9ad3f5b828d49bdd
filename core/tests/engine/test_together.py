"""Branches that run together: dependencies, failures, and who is stopped when."""

import asyncio
import threading
import time
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from hornbook import Budget, BudgetExceeded
from hornbook import run as open_run
from hornbook.engine import Engine, Life, Together, invoke
from hornbook.errors import DefinitionError
from hornbook.step import register_control_flow

MODES = ("sync", "async")


class Broken(Exception):
    pass


class Steering(Exception):
    """A host's control flow."""


class Meeting:
    """Steps that end only when all of them are under way."""

    def __init__(self, parties: int) -> None:
        self.barrier = threading.Barrier(parties, timeout=20)
        self.parties = parties

    def wait(self, **given: Any) -> int:
        self.barrier.wait()
        return self.parties


@pytest.mark.requirement("engine:together:concurrent")
@pytest.mark.parametrize("mode", MODES)
async def test_branches_that_need_nothing_run_at_the_same_time(kit: SimpleNamespace, mode: str):
    meeting = Meeting(3)
    work = kit.work(meeting.wait, name="meet", blocking=True, pure=False)
    branches = [kit.branch(name, kit.calling(work, f"p.{name}")) for name in "abc"]
    value, error, _ = await kit.lived(Engine(), lambda: kit.together(*branches), mode)
    assert (value, error) == ({"a": 3, "b": 3, "c": 3}, None)


@pytest.mark.requirement("engine:together:concurrent")
@pytest.mark.parametrize("mode", MODES)
async def test_coroutine_functions_run_at_the_same_time(kit: SimpleNamespace, mode: str):
    here: list[str] = []
    met: list[asyncio.Event] = []

    async def meet(name: str) -> str:
        if not met:
            met.append(asyncio.Event())
        here.append(name)
        if len(here) == 3:
            met[0].set()
        await asyncio.wait_for(met[0].wait(), 20)
        return name

    work = kit.work(meet)
    branches = [kit.branch(name, kit.calling(work, f"p.{name}", name=name)) for name in "abc"]
    value, error, _ = await kit.lived(Engine(), lambda: kit.together(*branches), mode)
    assert (value, error) == ({"a": "a", "b": "b", "c": "c"}, None)


@pytest.mark.requirement("engine:together:needs")
@pytest.mark.parametrize("mode", MODES)
async def test_a_branch_starts_as_soon_as_its_needs_are_there(kit: SimpleNamespace, mode: str):
    first_is_through = threading.Event()

    def waits(**given: Any) -> int:
        assert first_is_through.wait(20)
        return 1

    def goes_first(a: int) -> int:
        first_is_through.set()
        return a + 10

    slow = kit.work(waits, blocking=True)
    quick = kit.work(lambda: 1, name="quick")
    after = kit.work(goes_first)
    last = kit.work(lambda a, b, c: a + b + c, name="last")
    value, error, _ = await kit.lived(
        Engine(),
        lambda: kit.together(
            kit.branch("d", kit.calling(last, "p.d"), "a", "b", "c"),
            kit.branch("b", kit.calling(slow, "p.b")),
            kit.branch("a", kit.calling(quick, "p.a")),
            kit.branch("c", kit.calling(after, "p.c"), "a"),
        ),
        mode,
    )
    assert (value, error) == ({"d": 13, "b": 1, "a": 1, "c": 11}, None)
    assert list(value) == ["d", "b", "a", "c"]


@pytest.mark.requirement("engine:together:needs")
@pytest.mark.parametrize("mode", MODES)
async def test_no_branches_give_no_results(kit: SimpleNamespace, mode: str):
    assert (await kit.lived(Engine(), kit.together, mode))[:2] == ({}, None)


@pytest.mark.requirement("engine:together:sequential")
@pytest.mark.parametrize("mode", MODES)
async def test_without_concurrency_branches_run_one_after_the_other(
    kit: SimpleNamespace, mode: str
):
    under_way: list[int] = []
    most: list[int] = []

    async def alone(**given: Any) -> int:
        under_way.append(1)
        most.append(len(under_way))
        await asyncio.sleep(0)
        under_way.pop()
        return 1

    work = kit.work(alone, pure=False)
    branches = [
        kit.branch("c", kit.calling(work, "p.c"), "a"),
        kit.branch("a", kit.calling(work, "p.a")),
        kit.branch("b", kit.calling(work, "p.b")),
    ]
    engine = Engine(concurrency=False)
    value, error, _ = await kit.lived(engine, lambda: kit.together(*branches), mode)
    assert (value, error, most) == ({"c": 1, "a": 1, "b": 1}, None, [1, 1, 1])


@pytest.mark.requirement("engine:together:bounded")
@pytest.mark.parametrize("mode", MODES)
async def test_no_more_is_under_way_than_allowed(kit: SimpleNamespace, mode: str):
    lock, under_way, most = threading.Lock(), [0], [0]

    def counts(x: int) -> int:
        with lock:
            under_way[0] += 1
            most[0] = max(most[0], under_way[0])
        time.sleep(0.01)
        with lock:
            under_way[0] -= 1
        return x

    work = kit.work(counts, blocking=True)
    branches = [kit.branch(str(n), kit.calling(work, f"p.{n}", x=n)) for n in range(7)]
    engine = Engine(max_concurrency=2)
    value, error, _ = await kit.lived(engine, lambda: kit.together(*branches), mode)
    assert (value, error, most) == ({str(n): n for n in range(7)}, None, [2])


@pytest.mark.requirement("engine:together:siblings-finish", "engine:together:blocked")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("blocking", [False, True])
async def test_siblings_of_a_raising_step_finish_and_dependents_are_not_started(
    kit: SimpleNamespace, mode: str, blocking: bool
):
    finished: list[str] = []

    def breaks(**given: Any) -> None:
        raise Broken("early")

    def breaks_too(**given: Any) -> None:
        time.sleep(0.02)
        raise ValueError("late")

    def ends(**given: Any) -> int:
        time.sleep(0.05)
        finished.append("ends")
        return 1

    works = {
        name: kit.work(function, name=name, blocking=blocking)
        for name, function in {"late": breaks_too, "ends": ends, "early": breaks}.items()
    }
    branches = [kit.branch(name, kit.calling(work, f"p.{name}")) for name, work in works.items()]
    branches += [
        kit.branch("next", kit.calling(works["ends"], "p.next"), "early", "ends"),
        kit.branch("last", kit.calling(works["ends"], "p.last"), "next"),
    ]
    _, error, events = await kit.lived(Engine(), lambda: kit.together(*branches), mode)
    assert (type(error), str(error)) == (ValueError, "late")
    assert error.__notes__ == [
        "in step 'late' at p.late",
        "branch 'early' failed as well: Broken: early",
        "branch 'next' was not started: it needs 'early'",
        "branch 'last' was not started: it needs 'next'",
    ]
    assert finished == ["ends"]
    (top,) = kit.normalised(events)
    assert [(one["place"], one["status"]) for one in top["steps"]] == [
        ("p.early", "error"),
        ("p.ends", "satisfied"),
        ("p.late", "error"),
    ]
    assert top["marks"] == [
        ["note", "blocked", None, {"branch": "last", "needs": "next"}],
        ["note", "blocked", None, {"branch": "next", "needs": "early"}],
    ]


@pytest.mark.requirement("engine:together:siblings-finish")
@pytest.mark.parametrize("mode", MODES)
async def test_a_branch_that_cannot_begin_is_a_failed_branch(kit: SimpleNamespace, mode: str):
    def cannot(given: Mapping[str, Any]) -> Life:
        raise Broken("at the start")

    other = kit.calling(kit.work(lambda: 1, name="one"), "p.b")
    branches = [kit.branch("a", cannot), kit.branch("b", other)]
    _, error, events = await kit.lived(Engine(), lambda: kit.together(*branches), mode)
    assert (type(error), str(error)) == (Broken, "at the start")
    assert [one["place"] for one in kit.normalised(events)[0]["steps"]] == ["p.b"]


@pytest.mark.requirement("engine:together:caught")
@pytest.mark.parametrize("mode", MODES)
async def test_a_program_may_go_on_after_a_failure(kit: SimpleNamespace, mode: str):
    def breaks() -> None:
        raise Broken

    one, bad = kit.work(lambda: 1, name="one"), kit.work(breaks)

    def life() -> Life:
        try:
            yield Together((kit.branch("a", kit.calling(bad, "p.a")),))
        except Broken:
            return (yield from invoke(one, {}, place="p.b"))

    assert (await kit.lived(Engine(), life, mode))[:2] == (1, None)


@pytest.mark.requirement("engine:together:control-flow")
@pytest.mark.parametrize("mode", MODES)
async def test_control_flow_of_a_host_goes_before_failures_and_stays_untouched(
    kit: SimpleNamespace, mode: str
):
    register_control_flow(Steering)

    def breaks() -> None:
        raise Broken

    def steers() -> None:
        raise Steering("to a person")

    branches = [
        kit.branch("a", kit.calling(kit.work(breaks), "p.a")),
        kit.branch("b", kit.calling(kit.work(steers), "p.b")),
    ]
    _, error, _ = await kit.lived(Engine(), lambda: kit.together(*branches), mode)
    assert type(error) is Steering
    assert not hasattr(error, "__notes__")


@pytest.mark.requirement("engine:together:stuck")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("needs", "message"),
    [
        (
            {"a": ["b"], "b": ["c"], "c": ["b"]},
            "branches that need each other never start: b -> c -> b",
        ),
        ({"a": ["x"]}, "branch 'a' needs 'x', and there are only 'a'"),
    ],
)
async def test_branches_that_can_never_start_are_an_error_and_no_hang(
    kit: SimpleNamespace, mode: str, needs: dict[str, list[str]], message: str
):
    one = kit.work(lambda **given: 1, name="one")
    branches = [kit.branch(name, kit.calling(one, name), *of) for name, of in needs.items()]
    _, error, _ = await kit.lived(Engine(), lambda: kit.together(*branches), mode)
    assert (type(error), str(error)) == (DefinitionError, message)


@pytest.mark.requirement("engine:together:stopped")
@pytest.mark.parametrize("mode", MODES)
async def test_what_stops_a_program_stops_all_branches_at_once(kit: SimpleNamespace, mode: str):
    class Fatal(BaseException):
        pass

    cancelled: list[str] = []

    async def hangs(**given: Any) -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.append("yes")
            raise

    async def dies() -> None:
        await asyncio.sleep(0.05)
        raise Fatal("all of it")

    def blocks() -> None:
        time.sleep(1)

    hang, die = kit.work(hangs), kit.work(dies)
    block = kit.work(blocks, blocking=True)

    def inner(given: Mapping[str, Any]) -> Life:
        return kit.together(
            kit.branch("hang", kit.calling(hang, "p.b.hang")),
            kit.branch("same", kit.calling(hang, "p.b.same")),
            kit.branch("next", kit.calling(hang, "p.b.next"), "hang"),
        )

    branches = [
        kit.branch("a", kit.calling(die, "p.a")),
        kit.branch("b", inner),
        kit.branch("c", kit.calling(block, "p.c")),
    ]
    engine, began = Engine(), time.monotonic()
    with open_run() as run, pytest.raises(Fatal, match="all of it"):
        await kit.either(engine, lambda: kit.together(*branches), mode)
    assert time.monotonic() - began < 0.9
    (top,) = kit.normalised(run.events)
    places = {one["place"]: one.get("status", "still open") for one in top["steps"]}
    assert places == dict.fromkeys(
        ("p.a", "p.b.hang", "p.b.same", "p.c"),
        "cancelled",
    )
    for _ in range(100):
        if cancelled:
            break
        await asyncio.sleep(0.01)
    assert cancelled == ["yes"]


@pytest.mark.requirement("engine:together:contexts")
@pytest.mark.parametrize("mode", MODES)
async def test_each_step_is_recorded_under_the_step_that_called_it(kit: SimpleNamespace, mode: str):
    from hornbook import contract
    from hornbook.contracts import Contract

    @contract(Contract("inner", output=int))
    def inner(x: int) -> int:
        return x

    async def outer_later(x: int) -> int:
        await asyncio.sleep(0)
        return inner(x)

    works = {
        "a": kit.work(lambda x: inner(x), name="outer"),
        "b": kit.work(lambda x: inner(x), name="outer", blocking=True),
        "c": kit.work(outer_later, name="outer"),
    }
    branches = [
        kit.branch(name, kit.calling(work, f"p.{name}", x=1)) for name, work in works.items()
    ]
    engine = Engine(cache=None)
    _, _, events = await kit.lived(engine, lambda: kit.together(*branches), mode)
    (top,) = kit.normalised(events)
    assert [[one["name"].rpartition(".")[2] for one in step["steps"]] for step in top["steps"]] == [
        ["inner"],
        ["inner"],
        ["inner"],
    ]


@pytest.mark.requirement("engine:budget:calls")
@pytest.mark.parametrize("mode", MODES)
async def test_a_budget_that_is_spent_in_one_branch_stops_no_other(kit: SimpleNamespace, mode: str):
    def spends() -> None:
        from hornbook.trace.frame import current_run

        run = current_run()
        assert run is not None
        run.meter.reserve("spends", calls=2)

    branches = [
        kit.branch("a", kit.calling(kit.work(spends), "p.a")),
        kit.branch("b", kit.calling(kit.work(lambda: 1, name="one", blocking=True), "p.b")),
    ]
    _, error, events = await kit.lived(
        Engine(), lambda: kit.together(*branches), mode, budget=Budget(calls=1)
    )
    assert isinstance(error, BudgetExceeded)
    steps = kit.normalised(events)[0]["steps"]
    assert [one["status"] for one in steps] == ["error", "satisfied"]


class Fatal(BaseException):
    """Stops a program."""


@pytest.mark.requirement("engine:together:stopped", "engine:together:caught")
@pytest.mark.parametrize("mode", MODES)
async def test_what_waits_for_its_turn_is_never_begun_after_a_stop(kit: SimpleNamespace, mode: str):
    begun: list[int] = []

    async def dies(x: int) -> None:
        await asyncio.sleep(0)
        raise Fatal

    async def begins(x: int) -> int:
        begun.append(x)
        return x

    die, begin = kit.work(dies), kit.work(begins)

    def life() -> Life:
        try:
            yield Together(
                (
                    kit.branch("a", kit.calling(die, "p.a", x=1)),
                    kit.branch("b", kit.calling(begin, "p.b", x=2)),
                )
            )
        except Fatal:
            return (yield from invoke(begin, {"x": 3}, place="p.c"))

    value, error, _ = await kit.lived(Engine(max_concurrency=1), life, mode)
    assert (value, error, begun) == (3, None, [3])


@pytest.mark.requirement("engine:together:stopped")
@pytest.mark.parametrize("mode", MODES)
async def test_a_branch_that_raises_when_it_is_stopped_hides_nothing(
    kit: SimpleNamespace, mode: str
):
    async def dies() -> None:
        await asyncio.sleep(0)
        raise Fatal("the reason")

    async def hangs() -> None:
        await asyncio.sleep(30)

    die, hang = kit.work(dies), kit.work(hangs)

    def untidy(given: Mapping[str, Any]) -> Life:
        try:
            yield from invoke(hang, {}, place="p.b")
        finally:
            raise ValueError("while it is stopped")

    branches = [kit.branch("a", kit.calling(die, "p.a")), kit.branch("b", untidy)]
    with pytest.raises(Fatal, match="the reason"):
        await kit.either(Engine(), lambda: kit.together(*branches), mode)
