"""The control flow of a host, and cancellation: they pass through every step untouched."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from hornbook import Contract, Recover, checked, clauses, contract, feedback, plugins, run
from hornbook.hooks import hookimpl
from hornbook.step import Decision, register_control_flow
from hornbook.trace import Event

POSITIVE = Contract("positive", ensures=[clauses.that("positive", lambda value: value > 0)])
WANTING = Contract("wanting", requires=[clauses.bound("number")])


class Interrupt(RuntimeError):
    """An exception by which a host says that a human has to be asked."""


class Tripwire(BaseException):
    """One that is no Exception at all."""


class Unregistered(BaseException):
    """One that no adapter registered."""


@pytest.fixture(autouse=True)
def registered() -> None:
    register_control_flow(Interrupt, Tripwire)


class Deeper(Interrupt):
    pass


def ends(events: tuple[Event, ...]) -> list[tuple[str, str | None]]:
    return [(event.name, event.status) for event in events if event.kind == "step.end"]


RECOVERIES: dict[str, Recover] = {
    "default": Recover(),
    "everything": Recover(retry=3, on=[RuntimeError], fallback=[lambda number: 1], then="waive"),
}
FLOWS = [
    Interrupt("ask"),
    Deeper("ask"),
    Tripwire("stop"),
    asyncio.CancelledError(),
    Unregistered(),
]


@pytest.mark.requirement("recover:on:control-flow", "recover:control-flow:registered")
@pytest.mark.parametrize("recover", RECOVERIES.values(), ids=RECOVERIES)
@pytest.mark.parametrize("flow", FLOWS, ids=lambda flow: type(flow).__name__)
@pytest.mark.parametrize("held", [POSITIVE, WANTING], ids=["fast path", "slow path"])
async def test_control_flow_passes_and_starts_no_recovery(
    flow: BaseException, recover: Recover, held: Contract[Any]
) -> None:
    calls: list[int] = []

    @contract(held, recover=recover)
    def step(number: int) -> int:
        calls.append(number)
        raise flow

    @contract(held, recover=recover)
    async def astep(number: int) -> int:
        return step(number)

    for call in (step, checked(step)):
        with pytest.raises(type(flow)) as raised:
            call(1)
        assert raised.value is flow
    with pytest.raises(type(flow)) as raised:
        await astep(1)
    assert raised.value is flow
    assert calls == [1, 1, 1]


@pytest.mark.requirement("recover:on:control-flow", "trace:events:pairs")
@pytest.mark.parametrize(
    ("flow", "status"),
    [
        (Interrupt("ask"), "interrupted"),
        (Tripwire("stop"), "interrupted"),
        (Unregistered("stop"), "cancelled"),
        (KeyboardInterrupt(), "cancelled"),
        (ValueError("bad"), "error"),
    ],
    ids=repr,
)
@pytest.mark.parametrize("held", [POSITIVE, WANTING], ids=["fast path", "slow path"])
def test_the_record_tells_how_a_step_was_left(
    flow: BaseException, status: str, held: Contract[Any]
) -> None:
    @contract(held, name="step")
    def step(number: int) -> int:
        raise flow

    with run() as opened, pytest.raises(type(flow)):
        step(1)
    assert ends(opened.events) == [("step", status)]


@pytest.mark.requirement("recover:on:control-flow")
def test_no_hook_is_asked_about_control_flow() -> None:
    class Nosy:
        @hookimpl
        def hornbook_on_error(self, error: Exception) -> Decision:
            return Decision(action="substitute", value=1)

    @contract(POSITIVE)
    def step() -> int:
        raise Interrupt

    with plugins.registered(Nosy()), pytest.raises(Interrupt):
        step()


@pytest.mark.requirement("recover:on:control-flow")
def test_control_flow_of_a_retry_and_of_a_fallback_passes_too() -> None:
    def asks(number: int) -> int:
        raise Interrupt("ask")

    @contract(POSITIVE, recover=Recover(fallback=[asks]))
    def falls(number: int) -> int:
        return -1

    @contract(POSITIVE, recover=Recover(retry=2))
    def retries(number: int) -> int:
        return asks(number) if feedback() else -1

    for step in (falls, retries):
        with pytest.raises(Interrupt):
            step(1)
        assert feedback() is None


@pytest.mark.requirement("recover:on:control-flow", "trace:events:pairs")
@pytest.mark.parametrize("place", ["first", "second", "composed", "typed"])
@pytest.mark.parametrize("kind", [KeyboardInterrupt, Tripwire])
def test_what_ends_the_program_inside_a_check_leaves_a_whole_record(place: str, kind: Any) -> None:
    def stops(value: Any) -> bool:
        raise kind

    ensures = {
        "first": [clauses.that("stops", stops)],
        "second": [clauses.that("fine", lambda value: True), clauses.that("stops", stops)],
        "composed": [clauses.forall("[]", clauses.that("stops", stops))],
        "typed": [clauses.that("stops", stops)],
    }[place]
    typed = {"output": list[int]} if place == "typed" else {}

    @contract(Contract("c", ensures=ensures, **typed), name="step")
    def step() -> list[int]:
        return [1]

    with run() as opened, pytest.raises(kind):
        step()
    (end,) = ends(opened.events)
    assert end[0] == "step"
    assert end[1] in ("cancelled", "interrupted")


class Pause:
    """What a coroutine waits for until it is sent on, cancelled or closed."""

    def __await__(self) -> Iterator[None]:
        yield


async def wait_for_ever() -> int:
    await asyncio.Event().wait()
    return 1


@pytest.mark.requirement("recover:on:control-flow", "trace:events:pairs")
@pytest.mark.parametrize("held", [POSITIVE, WANTING], ids=["fast path", "slow path"])
async def test_a_cancelled_task_cancels_its_step(held: Contract[Any]) -> None:
    @contract(held, recover=Recover(retry=3, fallback=[lambda number: 1]), name="step")
    async def step(number: int) -> int:
        return await wait_for_ever()

    with run() as opened:
        task = asyncio.ensure_future(step(1))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert ends(opened.events) == [("step", "cancelled")]


@pytest.mark.requirement("recover:on:control-flow", "trace:events:pairs")
@pytest.mark.parametrize("held", [POSITIVE, WANTING], ids=["fast path", "slow path"])
def test_a_coroutine_that_is_closed_is_a_step_that_ended(held: Contract[Any]) -> None:
    @contract(held, name="step")
    async def step(number: int) -> int:
        return await Pause()

    with run() as opened:
        coroutine = step(1)
        coroutine.send(None)
        coroutine.close()
    assert ends(opened.events) == [("step", "cancelled")]


@pytest.mark.requirement("recover:control-flow:registered")
def test_registering_twice_and_from_threads_is_harmless() -> None:
    class Other(Exception):
        pass

    @contract(POSITIVE, recover=Recover(on=[Other]))
    def step() -> int:
        raise Other

    calls: list[Callable[[], None]] = [lambda: register_control_flow(Other)] * 3
    for call in calls:
        call()
    with pytest.raises(Other):
        step()
