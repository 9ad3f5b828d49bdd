"""The normalised record: what is compared between hosts, and what is left out."""

from typing import Any

import pytest

from hornbook import Contract, Recover, clauses, contract, run
from hornbook.testing.conformance import Did, normalised
from hornbook.testing.conformance.record import unsound
from hornbook.trace.events import Event

BIG = Contract("big", ensures=[clauses.in_range(".", low=5)])


def event(seq: int, kind: Any, step: str, name: str = "", /, **data: Any) -> Event:
    status = data.pop("status", None)
    return Event(
        kind=kind, seq=seq, run="R", id=step, name=name, status=status, data=data, time=seq / 7
    )


def start(step: str, kind: str, name: str, seq: int = 0, /, **inputs: Any) -> Event:
    return event(
        seq, "step.start", step, name, step=kind, host="x", inputs=inputs, meta={"call": step}
    )


def end(step: str, status: str = "satisfied", **data: Any) -> Event:
    return event(9, "step.end", step, status=status, output=1, microseconds=3, **data)


def report(*violations: tuple[str, str]) -> dict[str, Any]:
    listed = [{"clause": clause, "path": path} for clause, path in violations]
    return {"ok": not violations, "violations": listed}


@pytest.mark.requirement("conformance:record:normalised")
def test_a_step_is_told_by_all_its_events() -> None:
    events = [
        start("1", "tool", "quote", order="A-1"),
        event(1, "attempt", "1", "quote", violations=["low at price: expected 5; got 1"]),
        event(2, "decision", "1", "retry"),
        event(3, "rule", "1", "look-first"),
        end("1", "recovered", attempts=2, report=report()),
    ]
    (did,) = normalised(events)
    assert did == Did(
        kind="tool",
        name="quote",
        status="recovered",
        attempts=2,
        violated=("low at price",),
        decisions=("retry",),
        rules=("look-first",),
        inputs={"order": "A-1"},
    )
    assert str(did) == (
        "tool quote(order='A-1'); recovered; 2 attempts; violated: low at price; "
        "decided: retry; rules: look-first"
    )


@pytest.mark.requirement("conformance:record:normalised")
def test_what_is_violated_before_the_first_attempt_is_read_from_the_report() -> None:
    violated = report(("known-tool", "."), ("typed", "amount"))
    events = [start("1", "tool", "quote"), end("1", "blocked", attempts=0, report=violated)]
    assert normalised(events)[0].violated == ("known-tool", "typed at amount")


@pytest.mark.requirement("conformance:record:normalised")
def test_nodes_ids_times_and_the_models_inputs_are_left_out() -> None:
    one = [start("1", "node", "agent"), start("2", "model", "model", messages=["hi"]), end("2")]
    other = [start("7", "model", "model", 40, prompt="hi there"), end("7")]
    assert normalised(one) == normalised(other) == (Did(kind="model", name="model"),)


@pytest.mark.requirement("conformance:record:normalised")
def test_the_order_of_parallel_tools_means_nothing_and_that_of_the_models_calls_does() -> None:
    def steps(*names: str) -> tuple[Did, ...]:
        kinds = {"m": "model"}
        events = [start(str(at), kinds.get(name, "tool"), name) for at, name in enumerate(names)]
        return normalised([*events, *(end(str(at)) for at in range(len(names)))])

    assert steps("m", "b", "a", "m") == steps("m", "a", "b", "m")
    assert steps("m", "a", "m", "b") != steps("m", "b", "m", "a")


@pytest.mark.requirement("conformance:record:own-steps")
def test_a_step_of_the_hosts_own_is_left_out_only_where_it_simply_succeeded() -> None:
    shown = event(1, "rule", "1", "look-first")
    events = [start("1", "tool", "finish"), shown, end("1"), start("2", "tool", "finish")]
    kept = normalised([*events, end("2", "error")], lambda one: one.name == "finish")
    assert [did.status for did in kept] == ["error"]


@pytest.mark.requirement("conformance:record:normalised")
def test_a_step_that_never_ended_shows() -> None:
    assert normalised([start("1", "tool", "find")])[0].status == "not ended"


@pytest.mark.requirement("conformance:record:normalised")
def test_the_record_of_plain_functions_has_no_model_or_tool_steps() -> None:
    @contract(BIG, recover=Recover(then="waive"))
    def small() -> int:
        return 1

    with run(trace=None) as recorded:
        small()
    assert normalised(recorded.events) == ()
    assert unsound(recorded.events) == []


@pytest.mark.requirement("conformance:record:sound")
def test_a_record_that_is_not_well_formed_is_found() -> None:
    child = Event(kind="step.start", seq=3, run="R", id="3", parent="gone", name="lost")
    events = [
        event(0, "run.start", "R", "run"),
        start("1", "tool", "twice"),
        end("1"),
        end("1"),
        start("2", "tool", "never"),
        child,
        end("3"),
    ]
    assert unsound(events) == [
        "the record does not go from a run.start to a run.end",
        "twice: 2 step.end for one step.start",
        "never: 0 step.end for one step.start",
        "lost: the step around it is not in the record",
    ]


@pytest.mark.requirement("conformance:record:sound")
def test_a_step_that_hides_its_call_or_its_output_is_found() -> None:
    nameless = event(1, "step.start", "1", "quote", step="tool", host="x", inputs={})
    empty = event(2, "step.end", "1", "quote", status="satisfied", output=None, microseconds=3)
    around = event(0, "run.start", "R", "run"), event(3, "run.end", "R", "run")
    assert unsound([around[0], nameless, empty, around[1]]) == [
        "quote: nothing says which call of the host it is",
        "quote: what it gave is not in the record",
    ]
