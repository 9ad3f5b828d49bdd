"""Runs: how they are opened, what they record, and where."""

import asyncio
import functools
import json
import os
from collections.abc import Callable, Iterator
from operator import attrgetter, methodcaller
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hornbook import (
    Budget,
    Contract,
    ContractViolation,
    Recover,
    clauses,
    contract,
    run,
)
from hornbook.errors import DefinitionError, RunError, TraceError
from hornbook.ids import is_run_id
from hornbook.trace import Event, current_run, read, read_header, record, verify_trace

POSITIVE = Contract("positive", ensures=[clauses.that("positive", lambda value: value > 0)])

posix = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")


@pytest.fixture(autouse=True)
def unconfigured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No configuration of whoever runs the tests decides where records go."""
    for name in [name for name in os.environ if name.startswith("HORNBOOK_")]:
        monkeypatch.delenv(name)
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")


@contract(POSITIVE, name="step")
def step(number: int) -> int:
    return number


@contract(POSITIVE, name="astep")
async def astep(number: int) -> int:
    await asyncio.sleep(0)
    return number


@contract(POSITIVE, name="outer")
def outer(number: int) -> int:
    return step(number)


def kinds(events: Any) -> list[str]:
    return [event.kind for event in events]


def starts(events: Any) -> list[Event]:
    return [event for event in events if event.kind == "step.start"]


ONE_STEP = ["run.start", "step.start", "step.end", "run.end"]


@pytest.mark.requirement("run:records:memory")
@pytest.mark.parametrize("arguments", [{}, {"trace": None}], ids=["nothing", "None"])
def test_without_a_folder_records_stay_in_memory(arguments: dict[str, Any]) -> None:
    with run(**arguments) as opened:
        assert step(3) == 3
    assert opened.path is None
    assert list(Path().iterdir()) == []
    assert kinds(opened.events) == ONE_STEP
    assert opened.events[1].name == "step"
    assert opened.events[-1].seq == 3


@pytest.mark.requirement("run:records:memory", "trace:events:closed")
def test_events_are_typed_and_hold_what_the_design_names() -> None:
    with run(namespace="desk") as opened:
        outer(3)
    begin, first, second, inner_end, outer_end, end = opened.events
    assert all(isinstance(event, Event) for event in opened.events)
    assert [event.seq for event in opened.events] == [0, 1, 2, 3, 4, 5]
    assert {event.run for event in opened.events} == {opened.id}
    assert is_run_id(opened.id)
    assert (begin.id, begin.parent, begin.name, end.status) == (
        opened.id, None, "desk", "completed"
    )  # fmt: skip
    assert (first.name, first.parent, first.status) == ("outer", None, None)
    assert (second.name, second.parent) == ("step", first.id)
    assert (inner_end.id, outer_end.id) == (second.id, first.id)
    assert (inner_end.status, outer_end.status) == ("satisfied", "satisfied")
    assert {event.contract for event in opened.events[1:5]} == {POSITIVE.digest}
    assert first.data == {"step": "node", "host": "python", "inputs": {"number": 3}}
    assert inner_end.data["output"] == 3
    assert inner_end.data["microseconds"] >= 0
    times = [event.time for event in opened.events]
    assert times == sorted(times)


@pytest.mark.requirement("trace:events:closed", "run:records:memory")
def test_attempts_decisions_and_the_report_are_recorded() -> None:
    @contract(POSITIVE, recover=Recover(retry=1, fallback=[lambda: -3]), name="failing")
    def failing() -> int:
        return -1

    with run() as opened, pytest.raises(ContractViolation) as halted:
        failing()
    told = [(event.kind, event.name, event.status) for event in opened.events[1:-1]]
    assert told == [
        ("step.start", "failing", None),
        ("attempt", "failing", "violated"),
        ("decision", "retry", None),
        ("attempt", "failing", "violated"),
        ("decision", "fallback", None),
        ("attempt", "failing", "violated"),
        ("decision", "halt", None),
        ("step.end", "failing", "violated"),
    ]
    assert {event.id for event in opened.events[1:-1]} == {opened.events[1].id}
    assert opened.events[2].data == {
        "attempt": 1, "violations": ["positive: expected positive; got -1"]
    }  # fmt: skip
    data = opened.events[-2].data
    assert (data["attempts"], data["output"]) == (3, None)
    assert data["report"] == json.loads(halted.value.report.to_json())


@pytest.mark.requirement("run:records:memory")
def test_a_remark_belongs_to_the_step_under_way() -> None:
    @contract(POSITIVE)
    def noting() -> int:
        opened.note("inside", {"n": 1})
        return 1

    with run() as opened:
        noting()
        opened.note("outside")
    notes = [event for event in opened.events if event.kind == "note"]
    assert [(event.name, event.data) for event in notes] == [("inside", {"n": 1}), ("outside", {})]
    assert [event.id for event in notes] == [starts(opened.events)[0].id, opened.id]


@pytest.mark.requirement("run:records:none")
def test_outside_of_any_run_a_contract_checks_and_records_nothing(tmp_path: Path) -> None:
    assert current_run() is None
    assert step(3) == 3
    with pytest.raises(ContractViolation):
        step(-3)
    assert list(Path().iterdir()) == []


@pytest.mark.requirement("run:context:async")
async def test_a_run_is_an_async_context_manager_too() -> None:
    async with run(trace=None) as opened:
        assert current_run() is opened
        assert await astep(3) == 3
    assert current_run() is None
    assert kinds(opened.events) == ONE_STEP


@pytest.mark.requirement("run:context:async", "run:records:memory")
@pytest.mark.parametrize("error", [ValueError("bad"), KeyboardInterrupt()], ids=repr)
def test_an_exception_passes_through_a_run_and_is_told(error: BaseException) -> None:
    with pytest.raises(type(error)) as raised, run() as opened:
        raise error
    assert raised.value is error
    end = opened.events[-1]
    assert (end.kind, end.status) == ("run.end", "failed")
    assert end.data["error"].startswith(type(error).__name__)
    assert current_run() is None


@pytest.mark.requirement("run:nested:joins")
def test_a_run_inside_another_joins_it() -> None:
    with run(namespace="desk", tags={"a": "1"}) as around:
        with run() as inner:
            step(1)
            assert current_run() is inner
        with run(namespace="other", tags={"b": "2"}) as named:
            step(2)
        assert current_run() is around
    assert inner.id == named.id == around.id
    assert kinds(around.events).count("run.start") == 1
    assert kinds(around.events).count("run.end") == 1
    assert inner.events == around.events
    assert (inner.namespace, named.namespace) == ("desk", "other")
    assert named.tags == {"a": "1", "b": "2"}


@pytest.mark.requirement("run:records:memory")
@pytest.mark.parametrize("given", [True, 7, b"runs"])
def test_a_trace_that_is_no_folder_is_one_sentence(given: object) -> None:
    with pytest.raises(RunError) as refused:
        run(trace=given)  # type: ignore[arg-type]
    assert str(refused.value) == (
        f"trace={given!r}: give the folder to record in, or None to keep the record in memory"
    )


@pytest.mark.requirement("run:nested:joins")
def test_another_trace_in_a_run_is_an_error(tmp_path: Path) -> None:
    with run() as around:
        with pytest.raises(RunError) as refused, run(trace=tmp_path / "other"):
            pass
        assert str(refused.value) == (
            "a run inside another joins it, and its record is in memory: "
            "leave out trace= and handle="
        )
        assert current_run() is around
    with run(trace=tmp_path / "runs") as around, pytest.raises(RunError, match="its record is in"):
        run(trace=tmp_path / "other").__enter__()
    assert not (tmp_path / "other").exists()


@pytest.mark.requirement("run:nested:joins")
def test_the_same_trace_in_a_run_is_no_other(tmp_path: Path) -> None:
    with run(trace=tmp_path / "runs") as around, run(trace=str(tmp_path / "runs")) as inner:
        step(1)
    assert inner.path == around.path
    assert kinds(around.events) == ONE_STEP


@pytest.mark.requirement("budget:limits:each")
def test_a_budget_that_is_none_is_one_sentence() -> None:
    with pytest.raises(DefinitionError) as refused:
        run(budget=3)  # type: ignore[arg-type]
    assert str(refused.value) == (
        "budget=3 is no Budget: write what is limited, such as Budget(calls=3)"
    )


@pytest.mark.requirement("run:nested:joins")
@pytest.mark.parametrize("inner", [True, False])
def test_a_run_is_opened_once(inner: bool) -> None:
    once = run()
    with once:
        if inner:
            with pytest.raises(RunError, match="a run is opened once"):
                once.__enter__()
    if not inner:
        with pytest.raises(RunError) as refused, once:
            pass
        assert str(refused.value) == (
            "a run is opened once: call hornbook.run(...) again for another"
        )


@pytest.mark.requirement("run:records:none")
@pytest.mark.parametrize("use", ["id", "path", "events", "handle", "note", "wrap"])
def test_a_run_that_was_not_opened_says_how_to(use: str) -> None:
    uses = {"note": methodcaller("note", "n"), "wrap": methodcaller("wrap", step)}
    look = uses.get(use) or (methodcaller(use) if use == "handle" else attrgetter(use))
    with pytest.raises(RunError) as refused:
        look(run())
    assert str(refused.value) == (
        "this run is not open: use it as `with hornbook.run(...) as run:`"
    )


@pytest.mark.requirement("run:header:tags", "trace:file:header")
def test_namespace_tags_and_limits_stand_in_the_record(tmp_path: Path) -> None:
    limit = Budget(calls=3, seconds=60)
    with run(trace=tmp_path / "runs", namespace="desk", tags={"case": "7"}, budget=limit) as opened:
        pass
    assert opened.path is not None
    header = read_header(opened.path)
    assert (header["namespace"], header["tags"]) == ("desk", {"case": "7"})
    begin = next(read(opened.path))
    assert begin.data == {
        "namespace": "desk", "tags": {"case": "7"}, "budget": {"calls": 3, "seconds": 60}
    }  # fmt: skip


@pytest.mark.requirement("run:header:tags", "budget:limits:each")
def test_what_was_spent_stands_at_the_end() -> None:
    with run() as opened:
        opened.meter.reserve("step", calls=2)
        opened.meter.settle("step", tokens=30, cost=0.5)
    data = opened.events[-1].data
    assert (data["calls"], data["tokens"], data["cost"]) == (2, 30, 0.5)
    assert data["microseconds"] >= 0


@pytest.mark.requirement("trace:file:per-process", "trace:file:intention")
def test_a_run_with_a_folder_writes_as_it_goes(tmp_path: Path) -> None:
    seen: list[list[str]] = []

    @contract(POSITIVE)
    def looking() -> int:
        seen.append(kinds(read(opened.path)))
        return 1

    with run(trace=tmp_path / "runs") as opened:
        looking()
    assert opened.path == tmp_path / "runs" / opened.id
    assert seen == [["run.start", "step.start"]]
    assert kinds(read(opened.path)) == ONE_STEP
    verification = verify_trace(opened.path)
    assert (verification.status, verification.ok) == ("complete", True)


@pytest.mark.requirement("trace:file:per-process")
def test_record_is_run_with_a_folder(tmp_path: Path) -> None:
    with record(tmp_path / "runs", durability="process", namespace="desk") as opened:
        step(3)
    assert verify_trace(opened.path).ok
    with pytest.raises(RunError) as refused:
        record(tmp_path, durability="someday")  # type: ignore[arg-type]
    assert str(refused.value) == "durability 'someday' is not known; there is 'process'"


def essence(events: tuple[Event, ...]) -> list[Any]:
    """What two runs of the same steps have in common: no times, and ids in order of appearance."""
    ids: dict[str | None, int] = {None: -1}
    told: list[Any] = []
    for event in events:
        unlike = ("microseconds", "events", "steps")
        data = {key: value for key, value in event.data.items() if key not in unlike}
        own, parent = (ids.setdefault(one, len(ids)) for one in (event.id, event.parent))
        named = (event.kind, event.seq, event.name, event.contract, event.status)
        told.append((*named, own, parent, data))
    return told


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=3), inner, max_size=3)
        | st.tuples(inner)
    ),
    max_leaves=5,
)


@pytest.mark.requirement("trace:events:same")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.booleans(), VALUES), max_size=4))
def test_records_in_memory_and_on_disk_hold_the_same_events(
    tmp_path: Path, steps: list[tuple[bool, Any]]
) -> None:
    @contract(
        Contract("c", ensures=[clauses.that("fine", lambda value: value[0])]),
        recover=Recover(retry=1, then="waive"),
        name="step",
    )
    def give(value: tuple[bool, Any]) -> tuple[bool, Any]:
        return value

    def live(trace: Path | None) -> list[Any]:
        with run(trace=trace, namespace="desk") as opened:
            for value in steps:
                give(value)
        return essence(opened.events)

    assert live(None) == live(tmp_path / "runs")


@pytest.mark.requirement("trace:write:bad-value", "trace:events:pairs")
@pytest.mark.parametrize("durable", [False, True])
def test_one_bad_value_never_raises_into_a_step(tmp_path: Path, durable: bool) -> None:
    class Odd(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no text")

        __repr__ = __str__

    @contract(Contract("any", ensures=[clauses.one_of(".", [1])]), recover=Recover(then="waive"))
    def echo(value: Any) -> Any:
        return value

    @contract(Contract("any"))
    def breaks(value: Any) -> Any:
        raise value

    loop: list[Any] = []
    loop.append(loop)
    with run(trace=tmp_path / "runs" if durable else None) as opened:
        for bad in (Odd(), loop, object(), float("nan"), "\ud800", {1: {2: {3}}}, lambda: None):
            assert echo(bad) is bad
        with pytest.raises(Odd):
            breaks(Odd())
    assert kinds(opened.events).count("step.end") == 8
    assert opened.events[-2].data["error"] == "Odd, whose text cannot be had"


@pytest.mark.requirement("redact:point:one", "trace:write:bad-value")
@pytest.mark.parametrize("durable", [False, True])
def test_no_secret_reaches_a_record(tmp_path: Path, durable: bool) -> None:
    secret = "sk-ant-REDACTED" + "abcdefghij0123456789" * 5

    @contract(POSITIVE, recover=Recover(on=[ValueError]), name="call")
    def call(api_key: str, text: str) -> Any:
        raise ValueError(f"refused: {secret}")

    trace = tmp_path / "runs" if durable else None
    with run(trace=trace, tags={"key": secret}) as opened, pytest.raises(ContractViolation):
        call(secret, text=f"Authorization: Bearer {secret}")
    assert secret not in str(opened.events)
    if durable:
        written = b"".join(path.read_bytes() for path in (tmp_path / "runs").rglob("*.jsonl"))
        assert written
        assert secret.encode() not in written


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    def fill() -> None:
        def full(fd: int, data: bytes) -> int:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "write", full)

    yield fill
    monkeypatch.undo()


@pytest.mark.requirement("trace:write:fails-open")
def test_where_records_cannot_be_written_steps_go_on(
    tmp_path: Path, full_disk: Callable[[], None], caplog: pytest.LogCaptureFixture
) -> None:
    with run(trace=tmp_path / "runs") as opened:
        full_disk()
        assert [step(number) for number in (1, 2, 3)] == [1, 2, 3]
    assert [one.name for one in caplog.records if one.name != "hornbook.plugins"] == [
        "hornbook.trace"
    ]
    assert kinds(opened.events) == ["run.start"]
    assert not verify_trace(opened.path).ok


@pytest.mark.requirement("trace:write:strict")
def test_under_strict_no_step_begins_that_cannot_be_recorded(
    tmp_path: Path, full_disk: Callable[[], None]
) -> None:
    calls: list[str] = []

    @contract(POSITIVE)
    def fills() -> int:
        calls.append("fills")
        full_disk()
        return 1

    @contract(POSITIVE)
    def never() -> int:
        calls.append("never")
        return 1

    opened = run(trace=tmp_path / "runs", strict=True).__enter__()
    assert fills() == 1  # it was done: its value is not lost over its record
    for begin in (never, functools.partial(opened.__exit__, None, None, None)):
        with pytest.raises(TraceError, match="No space left on device"):
            begin()
    assert calls == ["fills"]


@pytest.mark.requirement("trace:write:strict")
def test_under_strict_a_run_that_cannot_be_recorded_does_not_open(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("in the way", encoding="utf-8")
    with pytest.raises(TraceError), run(trace=tmp_path / "runs", strict=True):
        pass
    assert current_run() is None
    with run(trace=tmp_path / "runs"):
        assert step(3) == 3
