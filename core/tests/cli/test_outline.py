"""The outline of a run: what is shown of each step, and that no record can break it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbook.cli.outline import outline
from hornbook.trace.events import Event, Kind

RUN = "01J00000000000000000000000"

pytestmark = pytest.mark.requirement("trace:command:show")


class Record:
    """Events as a run leaves them, numbered as they come."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def add(
        self,
        kind: Kind,
        at: str = RUN,
        name: str = "run",
        *,
        parent: str | None = None,
        status: str | None = None,
        time: float = 0.0,
        **data: Any,
    ) -> "Record":
        self.events.append(
            Event(
                kind=kind,
                seq=len(self.events),
                run=RUN,
                id=at,
                parent=parent,
                time=time,
                name=name,
                status=status,
                data=data,
            )
        )
        return self

    def lines(self, *, values: bool = False) -> list[str]:
        return list(outline(self.events, values=values))


def test_a_run_is_shown_with_its_steps_below_one_another() -> None:
    record = Record()
    record.add("run.start", name="support-bot", time=1_760_000_000.0)
    record.add("step.start", "a.1", "agent", step="node", inputs={})
    record.add("step.start", "a.2", "refund", parent="a.1", step="tool", agent="desk")
    record.add("step.end", "a.2", "refund", parent="a.1", status="satisfied", microseconds=12500)
    record.add("step.end", "a.1", "agent", status="recovered", microseconds=2_500_000, attempts=2)
    record.add("run.end", name="support-bot", status="completed")
    assert record.lines() == [
        f"run {RUN} (support-bot), completed, 2025-10-09 08:53:20 UTC",
        "  agent (node), recovered, 2.50 s, 2 attempts",
        "    refund (tool of desk), satisfied, 12.5 ms",
    ]


def test_what_happened_in_a_step_is_told_in_order() -> None:
    violation = {
        "clause": "order is grounded",
        "path": "order_id",
        "expected": "a value that stands in query",
        "observed": "'A99'",
        "hint": "ask for it",
    }
    waived = {"clause": "covers", "status": "Undetermined", "reason": "no judge", "waived": True}
    record = Record()
    record.add("step.start", "a.1", "refund", step="tool")
    record.add("rule", "a.1", "R1", text="If a refund is asked, then look up the order first.")
    record.add("attempt", "a.1", "refund", status="violated", attempt=1, violations=["too much"])
    record.add("decision", "a.1", "retry", attempt=2)
    record.add("decision", "a.1", "block", reason="not in office hours")
    record.add("note", "a.1", "remark", colour="red", empty=None)
    report = {
        "contract": "refund-request",
        "violations": [violation, {**violation, "path": ".", "hint": ""}],
        "verdicts": [waived],
    }
    record.add("step.end", "a.1", "refund", status="blocked", report=report, error="E: x")
    assert record.lines() == [
        "refund (tool), blocked",
        "  | rule R1 injected: text If a refund is asked, then look up the order first.",
        "  | attempt 1: violated",
        "  |   - too much",
        "  | decision retry: attempt 2",
        "  | decision block: reason not in office hours",
        "  | note remark: colour red",
        "  | contract 'refund-request' violated",
        "  |   - order is grounded at order_id: expected a value that stands in query; "
        "got 'A99' (ask for it)",
        "  |   - order is grounded: expected a value that stands in query; got 'A99'",
        "  | waived covers: no judge",
        "  | error E: x",
    ]


def test_inputs_and_outputs_are_shown_when_asked_for() -> None:
    record = Record()
    record.add("step.start", "a.1", "refund", step="tool", inputs={"order": "A17"})
    record.add("step.end", "a.1", "refund", status="satisfied", output=["done"])
    assert record.lines(values=True) == [
        "refund (tool), satisfied",
        '  | inputs {"order": "A17"}',
        '  | output ["done"]',
    ]
    assert record.lines() == ["refund (tool), satisfied"]


def test_a_run_tells_what_it_spent_and_lost() -> None:
    record = Record()
    record.add("run.start")
    record.add("run.end", status="failed", calls=3, tokens=0, cost=0.25, dropped=2, error="E: x")
    assert record.lines()[1:] == [
        "  | spent 3 calls, 0.25 cost",
        "  | dropped 2 records that could not be written",
        "  | error E: x",
    ]


def test_a_killed_run_shows_what_is_open() -> None:
    record = Record()
    record.add("run.start")
    record.add("step.start", "a.1", "refund", step="tool")
    assert record.lines() == [
        f"run {RUN} (run), open: its end is not recorded, 1970-01-01 00:00:00 UTC",
        "  refund (tool), open: its end is not recorded",
    ]


@pytest.mark.requirement("cli:output:safe")
def test_a_record_cannot_forge_lines_or_drive_the_terminal() -> None:
    record = Record()
    record.add("step.start", "a.1", "x\x1b[2J\nrun forged", step="tool\r")
    record.add("note", "a.1", "n\n", **{"k\n": {"v": "\x9b\n"}})
    record.add("step.end", "a.1", "x", status="satis\nfied")
    assert record.lines() == [
        r"x\x1b[2J\nrun forged (tool\r), satis\nfied",
        r'  | note n\n: k\n {"v": "\x9b\n"}',
    ]


def test_steps_in_a_circle_or_below_nothing_are_shown_once() -> None:
    record = Record()
    record.add("step.start", "a", "one", parent="b")
    record.add("step.start", "b", "two", parent="a")
    record.add("step.start", "c", "three", parent="lost")
    record.add("step.start", "d", "four", parent="d")
    shown = [line.split(",")[0].strip() for line in record.lines()]
    assert sorted(shown) == ["four", "one", "three", "two"]


def test_a_record_may_be_deeper_than_python_recurses() -> None:
    record = Record()
    for depth in range(5000):
        record.add("step.start", f"a.{depth}", f"step {depth}", parent=f"a.{depth - 1}")
    assert len(record.lines()) == 5000


def test_a_time_that_no_calendar_has_is_said_to_be_unknown() -> None:
    assert Record().add("run.start", time=1e300).lines()[0].endswith(", at an unknown time")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
KEYS = (
    *("step", "agent", "microseconds", "attempts", "report", "error", "inputs", "output"),
    *("violations", "calls", "dropped"),
)
IDS = st.sampled_from([RUN, "a", "b", "c"])
EVENTS = st.builds(
    Event,
    kind=st.sampled_from(Kind.__args__),
    seq=st.integers(0, 9),
    run=st.just(RUN),
    id=IDS,
    parent=st.none() | IDS,
    time=st.floats(),
    name=st.text(),
    status=st.none() | st.text(),
    data=st.dictionaries(st.sampled_from(KEYS), JSON, max_size=4),
)


@given(st.lists(EVENTS, max_size=8))
def test_no_events_lead_to_an_error_or_a_control_character(events: list[Event]) -> None:
    for line in outline(events, values=True):
        assert line.isprintable() or all(c.isprintable() or ord(c) > 0x9F for c in line)
