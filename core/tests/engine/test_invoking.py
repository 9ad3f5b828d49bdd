"""One primitive in the engine: what it gives, what is recorded, and what its recovery does."""

import asyncio
import math
import traceback
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import pytest

from hornbook import Budget, BudgetExceeded, ContractViolation, Recover, clauses, feedback
from hornbook import run as open_run
from hornbook.contracts import Contract
from hornbook.engine import Controls, Engine, Life, StepTimeout, decided, invoke, settings
from hornbook.errors import DefinitionError
from hornbook.step import Decision, register_control_flow

MODES = ("sync", "async")


def is_finite(value: object) -> bool:
    return isinstance(value, float) and math.isfinite(value)


FINITE = Contract("finite", output=float, ensures=[clauses.that("finite", is_finite)])
POSITIVE = Contract(
    "positive",
    output=int,
    requires=[clauses.bound("x")],
    ensures=[clauses.in_range(".", low=1)],
)


@pytest.mark.requirement("engine:step:value")
@pytest.mark.parametrize("mode", MODES)
async def test_a_primitive_gives_its_value_and_its_place_is_recorded(
    kit: SimpleNamespace, mode: str
):
    double = kit.work(lambda x: 2 * x, name="double", contract=Contract("int", output=int))
    value, error, events = await kit.lived(Engine(), kit.of(double, "p[0]", x=4), mode)
    assert (value, error) == (8, None)
    assert kit.normalised(events) == [
        {
            "kind": "node",
            "name": "p",
            "place": "",
            "inputs": {"value": None},
            "marks": [],
            "steps": [
                {
                    "kind": "node",
                    "name": "double",
                    "place": "p[0]",
                    "inputs": {"x": 4},
                    "marks": [],
                    "steps": [],
                    "status": "satisfied",
                    "output": 8,
                    "attempts": 1,
                    "error": None,
                    "violations": [],
                }
            ],
            "status": "satisfied",
            "output": 8,
            "attempts": 1,
            "error": None,
            "violations": [],
        }
    ]


@pytest.mark.requirement("engine:step:value")
async def test_what_the_operation_says_of_itself_is_recorded_with_the_place(kit: SimpleNamespace):
    one = kit.work(lambda x: x, name="one", meta=lambda args, kwargs: {"version": "3"})
    with open_run() as run:
        Engine().run(kit.of(one, "p[0]", x=1), name="p", value=None)
    assert run.events[2].data["meta"] == {"place": "p[0]", "version": "3"}


@pytest.mark.requirement("engine:step:nan")
@pytest.mark.parametrize("mode", MODES)
async def test_nan_violates_a_contract_that_asks_for_finite_numbers(
    kit: SimpleNamespace, mode: str
):
    broken = kit.work(lambda: math.nan, name="mean", contract=FINITE)
    _, error, _ = await kit.lived(Engine(), kit.of(broken, "p[2]"), mode)
    assert isinstance(error, ContractViolation)
    assert [one.clause for one in error.report.violations] == ["finite"]
    assert error.__notes__ == ["in step 'mean' at p[2]"]


@pytest.mark.requirement("engine:step:retry")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("blocking", [False, True])
async def test_a_retry_is_told_what_was_wrong(kit: SimpleNamespace, mode: str, blocking: bool):
    told: list[str] = []

    def guess(x: int) -> int:
        told.append(str(feedback()))
        return len(told) - 1

    work = kit.work(
        guess, contract=POSITIVE, recover=Recover(retry=1), blocking=blocking, pure=False
    )
    value, error, events = await kit.lived(Engine(), kit.of(work, x=1), mode)
    assert (value, error) == (1, None)
    assert told[0] == "None"
    assert told[1].startswith("The previous answer was rejected. ")
    (step,) = kit.normalised(events)[0]["steps"]
    assert (step["status"], step["attempts"]) == ("recovered", 2)


@pytest.mark.requirement("engine:step:prerequisites")
@pytest.mark.parametrize("mode", MODES)
async def test_an_unmet_prerequisite_halts_before_the_first_attempt(
    kit: SimpleNamespace, mode: str
):
    called: list[int] = []
    work = kit.work(called.append, name="put", contract=POSITIVE, recover=Recover(retry=3))
    _, error, _ = await kit.lived(Engine(), kit.of(work, x=None), mode)
    assert isinstance(error, ContractViolation)
    assert (error.report.attempts, called) == (0, [])


@pytest.mark.requirement("engine:step:fallback")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("timeout", [None, 5.0])
async def test_a_fallback_gets_the_inputs_and_meets_the_same_contract(
    kit: SimpleNamespace, mode: str, timeout: float | None
):
    async def later(x: int) -> int:
        return x + 10

    async def never(x: int) -> int:
        return -1

    work = kit.work(
        lambda x: 0,
        name="zero",
        contract=POSITIVE,
        recover=Recover(fallback=[lambda x: -x, never, later]),
        timeout=timeout,
    )
    value, error, events = await kit.lived(Engine(), kit.of(work, x=1), mode)
    assert (value, error) == (11, None)
    assert kit.normalised(events)[0]["steps"][0]["attempts"] == 4


class Lives:
    """A fallback that is a primitive itself."""

    def __init__(self, work: Any) -> None:
        self.work = work

    def __call__(self, x: int) -> int:
        raise AssertionError("it is lived, not called")

    def life(self, inputs: dict[str, Any], *, place: str) -> Life:
        return (yield from invoke(self.work, inputs, place=place))


@pytest.mark.requirement("engine:step:fallback")
@pytest.mark.parametrize("mode", MODES)
async def test_a_fallback_that_is_a_primitive_is_a_step_of_its_own(kit: SimpleNamespace, mode: str):
    other = kit.work(lambda x: 7, name="other", contract=POSITIVE)
    work = kit.work(
        lambda x: 0, name="zero", contract=POSITIVE, recover=Recover(fallback=[Lives(other)])
    )
    value, _, events = await kit.lived(Engine(), kit.of(work, "p[1]", x=1), mode)
    assert value == 7
    (step,) = kit.normalised(events)[0]["steps"]
    assert [one["place"] for one in step["steps"]] == ["p[1].fallback[0]"]


class Broken(Exception):
    pass


@pytest.mark.requirement("engine:step:raises")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("shape", ["plain", "async", "blocking", "timed"])
async def test_an_exception_keeps_its_type_and_traceback_and_says_where(
    kit: SimpleNamespace, mode: str, shape: str
):
    def breaks() -> None:
        raise Broken("no luck")

    async def breaks_later() -> None:
        await asyncio.sleep(0)
        raise Broken("no luck")

    work = kit.work(
        breaks_later if shape == "async" else breaks,
        name="risky",
        blocking=shape == "blocking",
        timeout=5.0 if shape == "timed" else None,
    )
    _, error, events = await kit.lived(Engine(), kit.of(work, "p.left[0]"), mode)
    assert type(error) is Broken
    assert str(error) == "no luck"
    assert error.__notes__ == ["in step 'risky' at p.left[0]"]
    names = [frame.name for frame in traceback.extract_tb(error.__traceback__)]
    assert names[-1] == ("breaks_later" if shape == "async" else "breaks")
    (top,) = kit.normalised(events)
    assert (top["status"], top["error"]) == ("error", "Broken: no luck")
    assert (top["steps"][0]["status"], top["steps"][0]["attempts"]) == ("error", 1)


@pytest.mark.requirement("engine:step:raises")
async def test_an_exception_raised_twice_says_where_once(kit: SimpleNamespace):
    same = Broken("the same object")

    def breaks() -> None:
        raise same

    work = kit.work(breaks, name="risky", pure=False)

    def twice() -> Life:
        for _ in range(2):
            with suppress(Broken):
                yield from invoke(work, {}, place="p[0]")
        return same.__notes__

    assert Engine().run(twice, name="p", value=None) == ["in step 'risky' at p[0]"]


@pytest.mark.requirement("engine:step:stop-iteration")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("shape", ["plain", "blocking", "fallback"])
async def test_a_stop_iteration_of_a_step_is_one_clear_error_in_both_drivers(
    kit: SimpleNamespace, mode: str, shape: str
):
    def ends(**inputs: Any) -> Any:
        return next(iter(()))

    if shape == "fallback":
        work = kit.work(
            lambda x: 0, name="ends", contract=POSITIVE, recover=Recover(fallback=[ends])
        )
        life_of = kit.of(work, x=1)
    else:
        life_of = kit.of(kit.work(ends, blocking=shape == "blocking"))
    _, error, _ = await kit.lived(Engine(), life_of, mode)
    assert type(error) is RuntimeError
    assert str(error) == "step 'ends' raised StopIteration(): no step may raise that"
    assert isinstance(error.__cause__, StopIteration)


@pytest.mark.requirement("engine:step:base-exception")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("blocking", [False, True])
async def test_a_base_exception_of_a_step_passes_and_closes_the_record(
    kit: SimpleNamespace, mode: str, blocking: bool
):
    class Fatal(BaseException):
        pass

    def dies() -> None:
        raise Fatal("now")

    work = kit.work(dies, recover=Recover(retry=3), blocking=blocking)
    with open_run() as run, pytest.raises(Fatal, match="now"):
        await kit.either(Engine(), kit.of(work), mode)
    (top,) = kit.normalised(run.events)
    assert (top["status"], top["steps"][0]["status"]) == ("cancelled", "cancelled")


class Interrupt(Exception):
    """A host's control flow."""


@pytest.mark.requirement("engine:step:control-flow")
@pytest.mark.parametrize("mode", MODES)
async def test_control_flow_of_a_host_passes_untouched(kit: SimpleNamespace, mode: str):
    register_control_flow(Interrupt)

    def asks() -> None:
        raise Interrupt("a person")

    work = kit.work(asks, recover=Recover(retry=3, fallback=[lambda: 1]))
    _, error, events = await kit.lived(Engine(), kit.of(work), mode)
    assert type(error) is Interrupt
    assert not hasattr(error, "__notes__")
    assert kit.normalised(events)[0]["steps"][0]["status"] == "interrupted"


@pytest.mark.requirement("engine:substitutes:value")
@pytest.mark.parametrize("mode", MODES)
async def test_a_substitute_stands_in_place_of_a_step_on_every_attempt(
    kit: SimpleNamespace, mode: str
):
    called: list[int] = []

    def real(x: int) -> int:
        called.append(x)
        return x

    work = kit.work(real, contract=POSITIVE, recover=Recover(retry=1))
    good = Engine(substitutes={"p[0]": 5})
    bad = Engine(substitutes={"p[0]": -5})
    value, _, _ = await kit.lived(good, kit.of(work, "p[0]", x=1), mode)
    _, error, _ = await kit.lived(bad, kit.of(work, "p[0]", x=1), mode)
    elsewhere, _, _ = await kit.lived(bad, kit.of(work, "p[1]", x=1), mode)
    assert (value, elsewhere, called) == (5, 1, [1])
    assert isinstance(error, ContractViolation)
    assert error.report.attempts == 2


@pytest.mark.requirement("engine:controls:ablation")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("off", "x", "value", "attempts"),
    [
        ("", 1, 1, 2),
        ("contracts", 1, 0, 1),
        ("prerequisites", None, 1, 2),
        ("contracts prerequisites", None, 0, 1),
        ("recovery", 1, None, 1),
    ],
)
async def test_each_part_of_the_control_layer_can_be_switched_off(
    kit: SimpleNamespace, mode: str, off: str, x: Any, value: Any, attempts: int
):
    tries: list[Any] = []

    def counts(x: Any) -> int:
        tries.append(x)
        return len(tries) - 1

    controls = Controls(**dict.fromkeys(off.split(), False))
    work = kit.work(counts, contract=POSITIVE, recover=Recover(retry=1), pure=False)
    found, error, _ = await kit.lived(Engine(controls=controls), kit.of(work, x=x), mode)
    assert (found, len(tries)) == (value, attempts)
    assert isinstance(error, ContractViolation) is (off == "recovery")


@pytest.mark.requirement("engine:controls:ablation")
async def test_a_part_that_was_never_declared_changes_nothing_when_it_is_off(kit: SimpleNamespace):
    plain = Contract("plain", output=int)
    engine = Engine(controls=Controls(prerequisites=False))
    bare = kit.work(lambda: "text", name="bare")
    typed = kit.work(lambda: "text", name="typed", contract=plain)
    assert (await kit.lived(engine, kit.of(bare), "sync"))[0] == "text"
    assert isinstance((await kit.lived(engine, kit.of(typed), "sync"))[1], ContractViolation)


@pytest.mark.requirement("engine:budget:calls")
@pytest.mark.parametrize("mode", MODES)
async def test_a_retry_counts_as_a_call_unless_it_is_metered_inside(
    kit: SimpleNamespace, mode: str
):
    counted = kit.work(lambda x: 0, name="a", contract=POSITIVE, recover=Recover(retry=2))
    inside = kit.work(
        lambda x: 0,
        name="b",
        contract=POSITIVE,
        recover=Recover(retry=2),
        counts_attempts=False,
    )
    one_call = Budget(calls=1)
    _, error, _ = await kit.lived(Engine(), kit.of(counted, x=1), mode, budget=one_call)
    assert isinstance(error, BudgetExceeded)
    _, error, _ = await kit.lived(Engine(), kit.of(inside, x=1), mode, budget=one_call)
    assert isinstance(error, ContractViolation)


@pytest.mark.requirement("engine:decided:recorded")
@pytest.mark.parametrize("mode", MODES)
async def test_a_decision_belongs_to_the_programs_step(kit: SimpleNamespace, mode: str):
    def life() -> Life:
        yield from decided("p[3]", "then", label="big")
        return 1

    _, _, events = await kit.lived(Engine(), life, mode)
    (top,) = kit.normalised(events)
    assert top["marks"] == [["decision", "then", None, {"place": "p[3]", "label": "big"}]]


@pytest.mark.requirement("engine:decided:recorded")
def test_a_decision_outside_of_a_run_is_no_error():
    assert list(decided("p", "then")) == []


@pytest.mark.requirement("engine:settings:asked")
@pytest.mark.parametrize("mode", MODES)
async def test_a_life_can_ask_what_the_engine_is_set_to(kit: SimpleNamespace, mode: str):
    def life() -> Life:
        engine = yield from settings()
        return engine.pruning

    assert (await kit.lived(Engine(pruning=False), life, mode))[0] is False


@pytest.mark.requirement("engine:settings:refused")
@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"max_concurrency": 0}, "Engine(max_concurrency=0): a whole number of at least 1"),
        ({"max_concurrency": True}, "Engine(max_concurrency=True): a whole number of at least 1"),
        ({"cache": "disk"}, "Engine(cache='disk'): 'run', a cache such as MemoryCache(), or None"),
    ],
)
def test_a_setting_that_cannot_work_is_refused(setting: dict[str, Any], message: str):
    with pytest.raises(DefinitionError) as caught:
        Engine(**setting)
    assert str(caught.value) == message


@pytest.mark.requirement("engine:step:awaitable")
@pytest.mark.parametrize("mode", MODES)
async def test_a_plain_function_may_give_something_to_await(kit: SimpleNamespace, mode: str):
    async def later(x: int) -> int:
        return x + 1

    work = kit.work(lambda x: later(x), name="sly")
    value, error, _ = await kit.lived(Engine(), kit.of(work, x=1), mode)
    assert (value, error) == (2, None)


@pytest.mark.requirement("engine:step:contract-crashes")
@pytest.mark.parametrize("mode", MODES)
async def test_a_clause_that_crashes_fails_closed(kit: SimpleNamespace, mode: str):
    def crashes(value: object) -> bool:
        raise ZeroDivisionError

    contract = Contract("c", ensures=[clauses.that("fine", crashes)])
    _, error, _ = await kit.lived(Engine(), kit.of(kit.work(lambda: 1, contract=contract)), mode)
    assert isinstance(error, ContractViolation)
    assert error.report.verdict("fine").status == "Undetermined"


@pytest.mark.requirement("engine:step:timeout")
def test_a_timeout_names_step_place_and_seconds_and_can_be_pickled():
    import pickle

    error = pickle.loads(pickle.dumps(StepTimeout("slow", "p[0]", 0.5)))
    assert str(error) == (
        "step 'slow' at p[0] took longer than its timeout of 0.5 seconds: it was stopped; allow "
        "it more with timeout=, or recover with Recover(on=[StepTimeout])"
    )
    assert (error.step, error.place, error.seconds) == ("slow", "p[0]", 0.5)


@pytest.fixture
def substituting():
    """A plugin that gives every violated or failed step a value."""
    from hornbook.step.hookset import HookSet, Impl, slot

    before = slot.get()

    def decide(**arguments: Any) -> Decision:
        return Decision(action="substitute", value=3)

    impl = Impl("test", decide, ("step",))
    slot.replace(HookSet(generation=-1, on_violation=(impl,), on_error=(impl,)))
    yield
    slot.replace(before)


@pytest.mark.requirement("engine:step:hooks")
@pytest.mark.usefixtures("substituting")
@pytest.mark.parametrize("mode", MODES)
async def test_hooks_take_part_in_the_steps_of_a_program(kit: SimpleNamespace, mode: str):
    def breaks(x: int) -> int:
        raise Broken("no luck")

    violating = kit.work(lambda x: 0, name="zero", contract=POSITIVE)
    for work in (violating, kit.work(breaks, contract=POSITIVE)):
        value, error, _ = await kit.lived(Engine(), kit.of(work, x=1), mode)
        assert (value, error) == (3, None)
