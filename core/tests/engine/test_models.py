"""Neural primitives in the engine: one way to ask, batches, budgets, deterministic replay."""

import asyncio
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hornbook import Budget, BudgetExceeded, ContractViolation, Recover, clauses
from hornbook import run as open_run
from hornbook.contracts import Contract
from hornbook.engine import Engine, Life, StepTimeout, invoke
from hornbook.judges import ModelJudge
from hornbook.models import (
    Completion,
    Message,
    ReplayError,
    Request,
    ScriptedBatchModel,
    ScriptedModel,
    TransportError,
    ask,
)

MODES = ("sync", "async")


def request(inputs: Mapping[str, Any], told: Any) -> Request:
    content = f"echo {inputs['x']}" + ("" if told is None else f"; {told}")
    return Request(messages=(Message(role="user", content=content),))


def read(completion: Completion) -> str:
    return completion.text


def echo(asked: Request) -> str:
    return asked.messages[-1].content.split()[1].rstrip(";")


LONG = Contract(
    "long",
    output=str,
    ensures=[clauses.that("at least 3 characters", lambda text: len(str(text)) >= 3)],
)


@pytest.fixture
def neural(kit: SimpleNamespace) -> Callable[..., Any]:
    def make(model: Any, **given: Any) -> Any:
        defaults = {
            "name": "echo",
            "model": model,
            "request": request,
            "read": read,
            "counts_attempts": False,
            "output": str,
        }
        return kit.work(**(defaults | given))

    return make


def fan(kit: SimpleNamespace, work: Any, *xs: Any) -> Callable[[], Life]:
    branches = [kit.branch(f"b{at}", kit.calling(work, f"p.b{at}", x=x)) for at, x in enumerate(xs)]
    return lambda: kit.together(*branches)


@pytest.mark.requirement("engine:model:asked")
@pytest.mark.parametrize("mode", MODES)
async def test_a_neural_primitive_asks_its_model_as_a_step_of_its_own(
    kit: SimpleNamespace, neural: Any, mode: str
):
    model = ScriptedModel(echo, identity="tiny")
    value, error, events = await kit.lived(Engine(), kit.of(neural(model), "p[0]", x=7), mode)
    assert (value, error, model.calls) == ("7", None, 1)
    (step,) = kit.normalised(events)[0]["steps"]
    assert [(one["kind"], one["name"], one["output"]) for one in step["steps"]] == [
        ("model", "echo", "7")
    ]
    assert events[-1].data["calls"] == 1


@pytest.mark.requirement("engine:model:asked")
@pytest.mark.parametrize("mode", MODES)
async def test_a_retry_asks_again_with_the_violation_and_each_call_is_metered_once(
    kit: SimpleNamespace, neural: Any, mode: str
):
    model = ScriptedModel(["x", "long enough"])
    work = neural(model, contract=LONG, recover=Recover(retry=1))
    value, _, events = await kit.lived(Engine(), kit.of(work, x=1), mode)
    assert value == "long enough"
    assert events[-1].data["calls"] == 2
    first, second = (asked.messages[0].content for asked in model.requests)
    assert first == "echo 1"
    assert second.startswith("echo 1; The previous answer was rejected. ")


@pytest.mark.requirement("engine:model:asked")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("batched", [False, True])
async def test_a_model_that_fails_fails_its_step_and_no_other(
    kit: SimpleNamespace, neural: Any, mode: str, batched: bool
):
    kind = ScriptedBatchModel if batched else ScriptedModel
    model = kind({"echo 1": TransportError("the line is dead"), "echo": "fine"})
    _, error, events = await kit.lived(Engine(), fan(kit, neural(model), 1, 2, 3), mode)
    assert isinstance(error, TransportError)
    assert error.__notes__ == ["in step 'echo' at p.b0"]
    steps = kit.normalised(events)[0]["steps"]
    assert [one["status"] for one in steps] == ["error", "satisfied", "satisfied"]


@pytest.mark.requirement("engine:batching:one-batch")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("batching", [True, False])
async def test_questions_that_wait_together_are_one_batch(
    kit: SimpleNamespace, neural: Any, mode: str, batching: bool
):
    model = ScriptedBatchModel(echo)
    engine = Engine(batching=batching)
    value, error, events = await kit.lived(engine, fan(kit, neural(model), 1, 2, 3, 2), mode)
    assert (value, error) == ({"b0": "1", "b1": "2", "b2": "3", "b3": "2"}, None)
    assert model.batches == ((3,) if batching else ())
    assert events[-1].data["calls"] == 3
    steps = kit.normalised(events)[0]["steps"]
    assert [[one["output"] for one in step["steps"]] for step in steps] == [
        ["1"],
        ["2"],
        ["3"],
        [],
    ]


@pytest.mark.requirement("engine:batching:one-batch")
@pytest.mark.parametrize("mode", MODES)
async def test_each_model_has_a_batch_of_its_own(kit: SimpleNamespace, neural: Any, mode: str):
    first, second = ScriptedBatchModel(echo), ScriptedBatchModel(echo, identity="other")
    works = [neural(first), neural(second), neural(first), neural(second), neural(second)]
    branches = [
        kit.branch(str(at), kit.calling(work, f"p.{at}", x=at)) for at, work in enumerate(works)
    ]
    value, _, _ = await kit.lived(Engine(), lambda: kit.together(*branches), mode)
    assert list(value.values()) == ["0", "1", "2", "3", "4"]
    assert (first.batches, second.batches) == ((2,), (3,))


@pytest.mark.requirement("engine:batching:budget")
@pytest.mark.parametrize("mode", MODES)
async def test_a_batch_spends_what_its_questions_would(
    kit: SimpleNamespace, neural: Any, mode: str
):
    model = ScriptedBatchModel(echo)
    _, error, events = await kit.lived(
        Engine(), fan(kit, neural(model), 1, 2, 3), mode, budget=Budget(calls=2)
    )
    assert isinstance(error, BudgetExceeded)
    assert events[-1].data["calls"] == 2


@pytest.mark.requirement("engine:budget:tokens")
@pytest.mark.parametrize("mode", MODES)
async def test_tokens_and_cost_are_budgeted(kit: SimpleNamespace, neural: Any, mode: str):
    from hornbook.models import Price

    model = ScriptedModel(echo, price=Price(input=1_000_000.0))
    work = neural(model)

    def life() -> Life:
        for x in range(5):
            yield from invoke(work, {"x": x}, place=f"p[{x}]")

    for budget, calls in ((Budget(tokens=3), 1), (Budget(cost=3.0), 2)):
        before = model.calls
        _, error, _ = await kit.lived(Engine(), life, mode, budget=budget)
        assert isinstance(error, BudgetExceeded)
        assert model.calls - before == calls


@pytest.mark.requirement("engine:cache:model")
@pytest.mark.parametrize("mode", MODES)
async def test_a_hit_is_no_call(kit: SimpleNamespace, neural: Any, mode: str):
    model = ScriptedModel(echo)
    work = neural(model)

    def life() -> Life:
        values = ""
        for at in range(3):
            values += yield from invoke(work, {"x": 1}, place=f"p[{at}]")
        return values

    value, _, events = await kit.lived(Engine(), life, mode, budget=Budget(calls=1))
    assert (value, model.calls) == ("111", 1)
    assert sum(event.name == "cache hit" for event in events) == 2


@pytest.mark.requirement("engine:cache:model")
async def test_another_model_is_another_call(kit: SimpleNamespace, neural: Any):
    first, second = ScriptedModel(echo), ScriptedModel(echo, identity="other")

    def life() -> Life:
        yield from invoke(neural(first), {"x": 1}, place="p[0]")
        yield from invoke(neural(second), {"x": 1}, place="p[1]")

    await kit.lived(Engine(), life, "sync")
    assert (first.calls, second.calls) == (1, 1)


class Hanging:
    """A model that never answers and ignores its timeout."""

    identity = "hanging"
    max_attempts: int | None = 1

    def __init__(self) -> None:
        self.release = threading.Event()

    def complete(self, request: Request, /, *, timeout: float | None = None) -> Completion:
        self.release.wait(30)
        return Completion(text="late")

    async def acomplete(self, request: Request, /, *, timeout: float | None = None) -> Completion:
        await asyncio.sleep(30)
        return Completion(text="late")


@pytest.mark.requirement("engine:model:hangs")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("ended_by", ["timeout", "seconds"])
async def test_a_model_that_hangs_is_left_behind(
    kit: SimpleNamespace, neural: Any, mode: str, ended_by: str
):
    model, quick = Hanging(), ScriptedModel(echo)
    slow = neural(model, name="slow", timeout=0.05 if ended_by == "timeout" else None)
    branches = [
        kit.branch("slow", kit.calling(slow, "p.slow", x=1)),
        kit.branch("quick", kit.calling(neural(quick), "p.quick", x=1)),
    ]
    budget = Budget(seconds=0.3) if ended_by == "seconds" else None
    began = time.monotonic()
    _, error, events = await kit.lived(
        Engine(), lambda: kit.together(*branches), mode, budget=budget
    )
    model.release.set()
    assert type(error) is (StepTimeout if ended_by == "timeout" else BudgetExceeded)
    assert time.monotonic() - began < 2
    statuses = {one["place"]: one["status"] for one in kit.normalised(events)[0]["steps"]}
    assert statuses == {"p.slow": "error", "p.quick": "satisfied"}


class SlowBatch(ScriptedBatchModel):
    def complete_many(self, requests: Any, /, *, timeout: float | None = None) -> Any:
        time.sleep(0.5)
        return super().complete_many(requests, timeout=None)

    async def acomplete_many(self, requests: Any, /, *, timeout: float | None = None) -> Any:
        await asyncio.sleep(0.5)
        return await super().acomplete_many(requests, timeout=None)


@pytest.mark.requirement("engine:model:hangs")
@pytest.mark.parametrize("mode", MODES)
async def test_a_batch_that_hangs_times_out_for_each_of_its_steps(
    kit: SimpleNamespace, neural: Any, mode: str
):
    model = SlowBatch(echo)
    _, error, _ = await kit.lived(Engine(), fan(kit, neural(model, timeout=0.05), 1, 2), mode)
    assert isinstance(error, StepTimeout)
    assert str(error).startswith("step 'echo' at p.b0 ")
    assert "branch 'b1' failed as well: StepTimeout: step 'echo' at p.b1 " in "".join(
        error.__notes__
    )


@pytest.mark.requirement("engine:cancel:batch")
async def test_cancelling_a_batch_closes_the_record_of_each_of_its_steps(
    kit: SimpleNamespace, neural: Any
):
    model = ScriptedBatchModel(echo, delay=30)
    with open_run() as run, pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await Engine().arun(fan(kit, neural(model), 1, 2, 3), name="p", value=None)
    (top,) = kit.normalised(run.events)
    steps = [top, *top["steps"]]
    assert [one["status"] for one in steps] == ["cancelled"] * 4


# Replay.


def pipeline(kit: SimpleNamespace, work: Any, shout: Any) -> Callable[[], Life]:
    def life() -> Life:
        found = yield from fan(kit, work, "one", "two")()
        loud = yield from invoke(shout, {"text": found["b0"]}, place="p[1]")
        return (yield from invoke(work, {"x": loud}, place="p[2]"))

    return life


@pytest.fixture
def recorded_run(kit: SimpleNamespace, neural: Any, tmp_path: Path) -> tuple[Any, Path]:
    model = ScriptedModel(echo, identity="tiny")
    shout = kit.work(lambda text: text.upper(), name="shout")
    with open_run(trace=tmp_path) as run:
        Engine().run(pipeline(kit, neural(model), shout), name="p", value=None)
    assert run.path is not None
    return model, run.path


class Dead:
    """A model that must not be called."""

    identity = "tiny"
    max_attempts: int | None = 1

    def complete(self, request: Request, /, *, timeout: float | None = None) -> Completion:
        raise AssertionError("a replay calls no model")

    async def acomplete(self, request: Request, /, *, timeout: float | None = None) -> Completion:
        raise AssertionError("a replay calls no model")


@pytest.mark.requirement("engine:replay:same")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("form", ["folder", "events"])
async def test_a_replay_gives_the_same_and_calls_no_model(
    kit: SimpleNamespace, neural: Any, recorded_run: tuple[Any, Path], mode: str, form: str
):
    from hornbook.trace import read as read_record

    _, folder = recorded_run
    record = folder if form == "folder" else tuple(read_record(folder))
    shout = kit.work(lambda text: text.upper(), name="shout")
    engine = Engine(replay=record)
    value, error, events = await kit.lived(engine, pipeline(kit, neural(Dead()), shout), mode)
    assert (value, error) == ("ONE", None)
    assert kit.normalised(events) == kit.normalised(tuple(read_record(folder)))


@pytest.mark.requirement("engine:replay:same")
@pytest.mark.parametrize("mode", MODES)
async def test_judges_and_functions_that_ask_a_model_are_replayed_too(
    kit: SimpleNamespace, mode: str
):
    def program(model: Any) -> Callable[[], Life]:
        def asks(text: str) -> str:
            return ask(model, Request(messages=[Message(role="user", content=text)])).text

        covered = clauses.covers(".", source="text", judge=ModelJudge(model))
        held = Contract("covered", output=str, ensures=[covered])
        return kit.of(kit.work(asks, name="asks", contract=held), "p[0]", text="one")

    def answers(request: Request) -> object:
        questions = (request.schema or {}).get("required", ())
        return {one: {"evidence": "one", "answer": "yes"} for one in questions} or "one"

    with open_run() as run:
        Engine().run(program(ScriptedModel(answers, identity="tiny")), name="p", value=None)
    record: Any  # the run itself will do as well
    for record in (run.events, run):
        value, error, events = await kit.lived(Engine(replay=record), program(Dead()), mode)
        assert (value, error) == ("one", None)
        assert kit.normalised(events) == kit.normalised(run.events)


@pytest.mark.requirement("engine:replay:same")
def test_a_run_that_was_recorded_on_disk_is_replayed(kit: SimpleNamespace, tmp_path: Path):
    program = kit.of(kit.work(lambda x: x + 1, name="next"), "p[0]", x=1)
    with open_run(trace=tmp_path) as run:
        assert Engine().run(program, name="p", value=None) == 2
    record: Any = run
    assert Engine(replay=record).run(program, name="p", value=None) == 2


@pytest.mark.requirement("engine:replay:drift")
@pytest.mark.parametrize("mode", MODES)
async def test_a_changed_step_is_drift_and_is_named(
    kit: SimpleNamespace, neural: Any, recorded_run: tuple[Any, Path], mode: str
):
    engine = Engine(replay=recorded_run[1])
    changed = kit.work(lambda text: text.title(), name="shout")
    _, error, _ = await kit.lived(engine, pipeline(kit, neural(Dead()), changed), mode)
    assert isinstance(error, ReplayError)
    assert error.step == "echo"  # the first question that the record does not hold

    same_question = kit.work(lambda text: text.upper(), name="cry")

    def other_end() -> Life:
        yield from pipeline(kit, neural(Dead()), same_question)()
        return (yield from invoke(changed, {"text": "x"}, place="p[3]"))

    _, error, _ = await kit.lived(engine, other_end, mode)
    assert isinstance(error, ReplayError)
    assert str(error) == (
        "step 'shout' at p[3] was taken now, and the record has no such step: the program or its "
        "input has changed since it was recorded"
    )

    def shorter() -> Life:
        return (yield from fan(kit, neural(Dead()), "one", "two")())

    _, error, _ = await kit.lived(engine, shorter, mode)
    assert isinstance(error, ReplayError)
    assert str(error) == (
        "step 'shout' at p[1] is in the record and was not taken now: the program or its input "
        "has changed since it was recorded"
    )


@pytest.mark.requirement("engine:replay:drift")
@pytest.mark.parametrize("mode", MODES)
async def test_a_step_that_gives_something_else_is_drift(kit: SimpleNamespace, mode: str):
    count = iter(range(100))
    work = kit.work(lambda: next(count), name="clock", pure=False)
    with open_run() as run:
        Engine().run(kit.of(work, "p[0]"), name="p", value=None)
    _, error, _ = await kit.lived(Engine(replay=run.events), kit.of(work, "p[0]"), mode)
    assert isinstance(error, ReplayError)
    assert (error.step, str(error)) == (
        "clock",
        "step 'clock' at p[0] gave satisfied: 1 now, and the record has satisfied: 0: its code has "
        "changed, or it is not deterministic",
    )


@pytest.mark.requirement("engine:replay:same")
async def test_a_record_of_several_programs_replays_the_first_of_them(kit: SimpleNamespace):
    one = kit.work(lambda: 1, name="one")
    with open_run() as run:
        for _ in range(2):
            Engine().run(kit.of(one, "p[0]"), name="p", value=None)
    with open_run():
        assert Engine(replay=run.events).run(kit.of(one, "p[0]"), name="p", value=None) == 1


@pytest.mark.requirement("engine:replay:failure")
@pytest.mark.parametrize("mode", MODES)
async def test_a_recorded_failure_fails_again(kit: SimpleNamespace, neural: Any, mode: str):
    model = ScriptedModel(["a", "b"], identity="tiny")
    recover = Recover(retry=1)
    work = neural(model, contract=LONG, recover=recover)
    _, error, events = await kit.lived(Engine(), kit.of(work, x=1), "sync")
    again = neural(Dead(), contract=LONG, recover=recover)
    _, once_more, _ = await kit.lived(Engine(replay=events), kit.of(again, x=1), mode)
    assert isinstance(error, ContractViolation)
    assert isinstance(once_more, ContractViolation)
    assert str(once_more) == str(error)
