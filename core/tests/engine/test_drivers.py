"""The two drivers: where they run, and how time and cancellation reach every step."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from types import SimpleNamespace
from typing import Any

import pytest

from hornbook import Budget, BudgetExceeded, Recover
from hornbook import run as open_run
from hornbook.engine import Engine, Life, StepTimeout
from hornbook.engine.effects import Do

MODES = ("sync", "async")


async def later(x: int) -> int:
    await asyncio.sleep(0)
    return x + 1


def two(kit: SimpleNamespace, work: Any) -> Life:
    return kit.together(
        kit.branch("a", kit.calling(work, "p.a", x=1)),
        kit.branch("b", kit.calling(work, "p.b", x=2)),
    )


def running(name: str) -> list[threading.Thread]:
    return [one for one in threading.enumerate() if one.name == name]


@pytest.mark.requirement("engine:sync:anywhere")
@pytest.mark.parametrize("function", [later, lambda x: x + 1])
async def test_the_sync_driver_works_inside_a_running_loop(kit: SimpleNamespace, function: Any):
    work = kit.work(function, name="next")
    assert Engine().run(kit.of(work, x=1), name="p", value=1) == 2
    assert Engine().run(lambda: two(kit, work), name="p", value=1) == {"a": 2, "b": 3}


@pytest.mark.requirement("engine:sync:anywhere")
def test_the_sync_driver_works_with_no_loop(kit: SimpleNamespace):
    work = kit.work(later)
    assert Engine().run(kit.of(work, x=1), name="p", value=1) == 2
    assert Engine().run(lambda: two(kit, work), name="p", value=1) == {"a": 2, "b": 3}


@pytest.mark.requirement("engine:sync:anywhere")
def test_one_engine_serves_many_threads(kit: SimpleNamespace):
    engine, work = Engine(), kit.work(later)
    with ThreadPoolExecutor(8) as pool:
        runs = [
            pool.submit(engine.run, lambda: two(kit, work), name="p", value=None) for _ in range(24)
        ]
        assert [run.result() for run in runs] == [{"a": 2, "b": 3}] * 24


@pytest.mark.requirement("engine:sync:nested")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("outer_is_async", [False, True])
async def test_a_step_may_run_a_program(kit: SimpleNamespace, mode: str, outer_is_async: bool):
    inner = kit.work(later)

    def runs(x: int) -> dict[str, int]:
        return Engine().run(lambda: two(kit, inner), name="inner", value=x)

    async def runs_later(x: int) -> dict[str, int]:
        await asyncio.sleep(0)
        return runs(x)

    work = kit.work(runs_later if outer_is_async else runs, name="outer")
    value, error, events = await kit.lived(Engine(), lambda: two(kit, work), mode)
    assert (value, error) == ({"a": {"a": 2, "b": 3}, "b": {"a": 2, "b": 3}}, None)
    (top,) = kit.normalised(events)
    assert [step["steps"][0]["name"] for step in top["steps"]] == ["inner", "inner"]


@pytest.mark.requirement("engine:async:contexts")
async def test_context_variables_reach_the_steps_of_a_branch_and_no_other(kit: SimpleNamespace):
    seen: ContextVar[str] = ContextVar("seen", default="nothing")
    seen.set("outside")

    async def sets(x: int) -> str:
        before = seen.get()
        seen.set(f"step {x}")
        await asyncio.sleep(0)
        return before

    work = kit.work(sets)
    assert await Engine().arun(lambda: two(kit, work), name="p", value=None) == {
        "a": "outside",
        "b": "outside",
    }
    assert seen.get() == "outside"


@pytest.mark.requirement("engine:sync:one-thread", "engine:async:one-task")
@pytest.mark.parametrize("mode", MODES)
async def test_what_is_alone_needs_no_thread_and_no_task(kit: SimpleNamespace, mode: str):
    here = threading.get_ident(), asyncio.current_task()
    seen: list[Any] = []

    def plain(x: int) -> int:
        seen.append(threading.get_ident())
        return x

    async def coroutine(x: int) -> int:
        async with asyncio.timeout(5):  # it works on the task that awaits
            await asyncio.sleep(0)
        seen.append(asyncio.current_task())
        return x

    inside = kit.work(coroutine, name="async")
    alone = [
        kit.branch("a", kit.calling(kit.work(plain, blocking=mode == "sync"), "p.a", x=1)),
        kit.branch("b", lambda given: kit.calling(inside, "p.b", x=2)({}), "a"),
    ]
    assert (await kit.lived(Engine(), lambda: kit.together(*alone), mode))[1] is None
    assert seen[0] == here[0]
    if mode == "async":
        assert seen[1] is here[1]


# Timeouts.


@pytest.mark.requirement("engine:step:timeout")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("shape", ["plain", "async", "stubborn"])
async def test_a_step_that_hangs_is_stopped_and_its_siblings_finish(
    kit: SimpleNamespace, mode: str, shape: str
):
    release = threading.Event()

    def hangs(x: int) -> int:
        release.wait(30)
        return x

    async def hangs_later(x: int) -> int:
        await asyncio.sleep(30)
        return x

    async def stubborn(x: int) -> int:
        for _ in range(5):
            try:
                await asyncio.sleep(0.08)
            except asyncio.CancelledError:
                continue
        return x

    function = {"plain": hangs, "async": hangs_later, "stubborn": stubborn}[shape]
    slow = kit.work(function, name="slow", timeout=0.05)
    quick = kit.work(later, name="quick", timeout=5.0)
    began = time.monotonic()
    _, error, events = await kit.lived(
        Engine(),
        lambda: kit.together(
            kit.branch("slow", kit.calling(slow, "p.slow", x=1)),
            kit.branch("quick", kit.calling(quick, "p.quick", x=1)),
        ),
        mode,
    )
    release.set()
    assert isinstance(error, StepTimeout)
    assert (error.step, error.place, error.seconds) == ("slow", "p.slow", 0.05)
    assert error.__notes__ == ["in step 'slow' at p.slow"]
    assert time.monotonic() - began < 1.0
    statuses = {one["place"]: one["status"] for one in kit.normalised(events)[0]["steps"]}
    assert statuses == {"p.slow": "error", "p.quick": "satisfied"}
    await asyncio.sleep(0.5 if shape == "stubborn" else 0)


@pytest.mark.requirement("engine:step:timeout")
@pytest.mark.parametrize("mode", MODES)
async def test_a_timeout_can_be_recovered_from(kit: SimpleNamespace, mode: str):
    tries: list[int] = []

    async def slow_at_first(x: int) -> int:
        tries.append(x)
        await asyncio.sleep(30 if len(tries) == 1 else 0)
        return x

    work = kit.work(slow_at_first, timeout=0.05, recover=Recover(retry=1, on=[StepTimeout]))
    value, error, events = await kit.lived(Engine(), kit.of(work, x=3), mode)
    assert (value, error) == (3, None)
    (step,) = kit.normalised(events)[0]["steps"]
    assert (step["status"], step["attempts"]) == ("recovered", 2)


# The run's seconds.


@pytest.mark.requirement("engine:budget:seconds")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("shape", ["plain", "async"])
async def test_the_runs_seconds_end_every_step(kit: SimpleNamespace, mode: str, shape: str):
    release, cancelled = threading.Event(), threading.Event()

    def hangs(x: int) -> int:
        release.wait(30)
        return x

    async def hangs_later(x: int) -> int:
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            cancelled.set()
            raise
        return x

    work = kit.work(hangs if shape == "plain" else hangs_later, name="slow")
    began = time.monotonic()
    _, error, events = await kit.lived(
        Engine(max_concurrency=1), lambda: two(kit, work), mode, budget=Budget(seconds=0.1)
    )
    release.set()
    assert time.monotonic() - began < 1.0
    assert isinstance(error, BudgetExceeded)
    assert error.limit == "seconds"
    assert [one["status"] for one in kit.normalised(events)[0]["steps"]] == ["error", "error"]
    assert shape == "plain" or cancelled.wait(5)


@pytest.mark.requirement("engine:budget:seconds")
@pytest.mark.parametrize("mode", MODES)
async def test_within_the_seconds_nothing_changes(kit: SimpleNamespace, mode: str):
    works = {"a": kit.work(later), "b": kit.work(lambda x: x + 1, name="plain")}
    branches = [kit.branch(name, kit.calling(works[name], name, x=1)) for name in works]
    value, error, _ = await kit.lived(
        Engine(), lambda: kit.together(*branches), mode, budget=Budget(seconds=30)
    )
    assert (value, error) == ({"a": 2, "b": 2}, None)


@pytest.mark.requirement("engine:budget:seconds")
@pytest.mark.parametrize("mode", MODES)
async def test_a_short_timeout_goes_before_a_long_deadline(kit: SimpleNamespace, mode: str):
    async def hangs(x: int) -> None:
        await asyncio.sleep(30)

    work = kit.work(hangs, timeout=0.05)
    _, error, _ = await kit.lived(Engine(), kit.of(work, x=1), mode, budget=Budget(seconds=20))
    assert isinstance(error, StepTimeout)


@pytest.mark.requirement("engine:budget:seconds")
@pytest.mark.parametrize("mode", MODES)
async def test_nothing_is_begun_after_the_runs_seconds(kit: SimpleNamespace, mode: str):
    begun: list[int] = []

    def first(x: int) -> None:
        begun.append(x)
        time.sleep(0.3)

    work = kit.work(first)
    _, error, _ = await kit.lived(
        Engine(max_concurrency=1), lambda: two(kit, work), mode, budget=Budget(seconds=0.1)
    )
    assert isinstance(error, BudgetExceeded)
    assert begun == [1]


@pytest.mark.requirement("engine:budget:seconds")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("timeout", [None, 5.0])
async def test_the_meters_clock_decides_when_the_seconds_are_over(
    kit: SimpleNamespace, mode: str, timeout: float | None, monkeypatch: pytest.MonkeyPatch
):
    async def hangs(x: int) -> None:
        await asyncio.sleep(30)

    work = kit.work(hangs, timeout=timeout)
    with open_run(budget=Budget(seconds=0.05)) as run:
        check, left = run.meter.check_time, run.meter.remaining_seconds
        asked: list[str] = []

        def slow_clock(step: str) -> None:
            asked.append(step)
            if len(asked) > 3:
                check(step)

        monkeypatch.setattr(run.meter, "check_time", slow_clock)
        monkeypatch.setattr(run.meter, "remaining_seconds", lambda: max(0.02, left() or 0.0))
        with pytest.raises(BudgetExceeded):
            await kit.either(Engine(), kit.of(work, x=1), mode)
    assert asked[:3] == ["p", "hangs", "hangs"]


@pytest.mark.requirement("engine:budget:joined")
@pytest.mark.parametrize("mode", MODES)
async def test_a_program_joins_the_run_around_it(kit: SimpleNamespace, mode: str):
    work = kit.work(lambda x: x, name="same")
    with open_run(budget=Budget(calls=3)) as run:
        if mode == "sync":
            Engine().run(kit.of(work, x=1), name="p", value=1)
        else:
            await Engine().arun(kit.of(work, x=1), name="p", value=1, budget=Budget(calls=1))
    assert [event.kind for event in run.events if event.kind.startswith("run")] == [
        "run.start",
        "run.end",
    ]


# Cancellation.


@pytest.mark.requirement("engine:cancel:timeout")
@pytest.mark.parametrize("shape", ["alone", "one branch", "two branches"])
async def test_asyncio_timeout_stops_a_program_and_closes_its_record(
    kit: SimpleNamespace, shape: str
):
    cleaned: list[int] = []

    async def hangs(x: int) -> None:
        try:
            await asyncio.sleep(30)
        finally:
            await asyncio.sleep(0)
            cleaned.append(x)

    work = kit.work(hangs)
    life_of = {
        "alone": kit.of(work, "p.a", x=1),
        "one branch": lambda: kit.together(kit.branch("a", kit.calling(work, "p.a", x=1))),
        "two branches": lambda: two(kit, work),
    }[shape]
    with open_run() as run, pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await Engine().arun(life_of, name="p", value=None)
    assert sorted(cleaned) == ([1, 2] if shape == "two branches" else [1])
    (top,) = kit.normalised(run.events)
    assert top["status"] == "cancelled"
    assert {one["status"] for one in top["steps"]} == {"cancelled"}


@pytest.mark.requirement("engine:cancel:task")
async def test_cancelling_the_task_stops_a_program(kit: SimpleNamespace):
    began = asyncio.Event()

    async def hangs(x: int) -> None:
        began.set()
        await asyncio.sleep(30)

    work = kit.work(hangs)
    task = asyncio.create_task(Engine().arun(lambda: two(kit, work), name="p", value=None))
    await began.wait()
    task.cancel("enough")
    with pytest.raises(asyncio.CancelledError):
        await task
    assert task.cancelled()
    assert [one for one in asyncio.all_tasks() if one is not asyncio.current_task()] == []


@pytest.mark.requirement("engine:cancel:ignored")
@pytest.mark.parametrize("alone", [True, False])
async def test_a_step_that_ignores_its_cancellation_does_not_keep_the_program(
    kit: SimpleNamespace, alone: bool
):
    async def stubborn(x: int) -> int:
        for _ in range(4):
            try:
                await asyncio.sleep(0.1)
            except asyncio.CancelledError:
                continue
        return x

    first, second = kit.work(stubborn), kit.work(later)
    followed: list[int] = []

    def life() -> Life:
        if alone:
            yield from kit.calling(first, "p.a", x=1)({})
        else:
            yield from two(kit, first)
        followed.append(1)
        yield from kit.calling(second, "p.c", x=1)({})

    began = time.monotonic()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await Engine().arun(life, name="p", value=None)
    assert time.monotonic() - began < 0.6
    assert followed == []
    await asyncio.sleep(0.5)


@pytest.mark.requirement("engine:cancel:caught")
async def test_a_program_that_catches_its_cancellation_is_stopped_all_the_same(
    kit: SimpleNamespace,
):
    async def hangs(x: int) -> None:
        await asyncio.sleep(30)

    work = kit.work(hangs)

    def life() -> Life:
        while True:
            try:
                yield from two(kit, work)
            except asyncio.CancelledError:
                continue

    async def stopped() -> None:
        await Engine().arun(life, name="p", value=None)

    task = asyncio.create_task(stopped())
    await asyncio.sleep(0.02)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.requirement("engine:cancel:keyboard")
@pytest.mark.skipif(os.name == "nt", reason="signals reach only the console there")
@pytest.mark.parametrize("shape", ["plain", "alone", "together"])
def test_a_keyboard_interrupt_stops_the_sync_driver_at_once(kit: SimpleNamespace, shape: str):
    cancelled = threading.Event()

    async def hangs(x: int) -> None:
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    def sleeps(x: int) -> None:
        time.sleep(30)

    work = kit.work(sleeps if shape == "plain" else hangs, name="hangs")
    life_of = (lambda: two(kit, work)) if shape == "together" else kit.of(work, "p.a", x=1)
    timer = threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT))
    began = time.monotonic()
    with open_run() as run:
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            Engine().run(life_of, name="p", value=None)
    timer.join()
    assert time.monotonic() - began < 5
    assert shape == "plain" or cancelled.wait(5)
    (top,) = kit.normalised(run.events)
    assert {top["status"]} | {one["status"] for one in top["steps"]} == {"cancelled"}


LEFT_BEHIND = """
import asyncio, sys, time
sys.path.insert(0, sys.argv[1])
from conftest import make_work, of
from hornbook.engine import Engine, StepTimeout

def hangs(x):
    time.sleep(60)

async def hangs_later(x):
    while True:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            pass

for function in (hangs, hangs_later):
    try:
        Engine().run(of(make_work(function, timeout=0.05), x=1), name="p", value=None)
    except StepTimeout as error:
        print(error.step)
"""


@pytest.mark.requirement("engine:sync:exit")
def test_what_is_left_behind_does_not_keep_the_interpreter(kit: SimpleNamespace):
    here = os.path.dirname(__file__)
    done = subprocess.run(
        [sys.executable, "-c", LEFT_BEHIND, here],
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    assert (done.stdout.split(), done.stderr) == (["hangs", "hangs_later"], "")


@pytest.mark.requirement("engine:async:loop-closed")
def test_a_thread_that_ends_after_its_loop_is_not_heard(kit: SimpleNamespace):
    release = threading.Event()

    def hangs(x: int) -> None:
        release.wait(30)

    work = kit.work(hangs, timeout=0.02)
    with pytest.raises(StepTimeout):
        asyncio.run(Engine().arun(kit.of(work, x=1), name="p", value=None))
    release.set()
    for thread in running("hornbook-step"):
        thread.join(5)
    assert running("hornbook-step") == []


@pytest.mark.requirement("engine:cancel:task")
def test_what_is_cancelled_before_it_begins_ends_at_once(kit: SimpleNamespace):
    effect = Do(later, (), {"x": 1}, True, kit.work(later), "p")
    effect.cancel()
    with pytest.raises(asyncio.CancelledError):
        effect.run()
    effect.cancel()
