"""Counting over the events of runs: who is the least reliable?"""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hornbook
from hornbook import Contract, ContractViolation, Recover, clauses, contract
from hornbook.trace import Event
from hornbook.trace.stats import COUNTED, StepStats, stats

POSITIVE = Contract(
    "positive", output=int, ensures=[clauses.in_range(".", low=1, name="is positive")]
)


def zero(answers: list[int]) -> int:
    return 0


def one(answers: list[int]) -> int:
    return 1


@contract(POSITIVE, recover=Recover(retry=1, fallback=[one]), name="careful")
def careful(answers: list[int]) -> int:
    return answers.pop(0)


@contract(POSITIVE, recover=Recover(then="waive"), name="careless")
def careless(answers: list[int]) -> int:
    return answers.pop(0)


@contract(POSITIVE, name="strict")
def strict(answers: list[int]) -> int:
    if not answers:
        raise LookupError("no answer")
    return answers.pop(0)


def counts(step: StepStats) -> dict[str, int]:
    """What was counted of it, but for what is zero."""
    names = ("calls", *COUNTED, "halted", "cached", "unfinished")
    return {name: getattr(step, name) for name in names if getattr(step, name)}


@pytest.mark.requirement("trace:stats:counts")
def test_violations_retries_fallbacks_waivers_and_errors_are_counted_by_step():
    with hornbook.run(None) as run:
        assert careful([5]) == 5
        assert careful([0, 7]) == 7
        assert careful([0, 0]) == 1
        assert careless([0]) == 0
        for answers, error in (([0], ContractViolation), ([], LookupError)):
            with pytest.raises(error):
                strict(answers)
        strict([3])
    found = stats(run.events)
    assert (found.runs, found.incomplete) == (1, 0)
    assert {step.name: counts(step) for step in found.steps} == {
        "careful": {"calls": 3, "violated": 2, "retried": 2, "fell_back": 1},
        "careless": {"calls": 1, "violated": 1, "waived": 1},
        "strict": {"calls": 3, "violated": 1, "failed": 1, "halted": 1},
    }
    assert all(step.kind == "node" and step.seconds > 0 for step in found.steps)


@pytest.mark.requirement("trace:stats:order")
def test_the_least_reliable_comes_first_and_few_calls_say_little():
    with hornbook.run(None) as run:
        careless([0])
        for _ in range(8):
            careful([0, 1])
        strict([1])
    assert [step.name for step in stats(run.events).steps] == ["careful", "careless", "strict"]


def event(kind: str, id_: str, seq: int = 0, run: str = "R", **more: object) -> Event:
    return Event(kind=kind, seq=seq, run=run, id=id_, **more)  # type: ignore[arg-type]


@pytest.mark.requirement("trace:stats:tokens")
def test_the_tokens_of_model_calls_count_where_the_call_was_made():
    usage = {"usage": {"input_tokens": 10, "output_tokens": 3}, "microseconds": 500_000}
    model = {"step": "model"}
    found = stats(
        [
            event("step.start", "1", name="decompose", data={"step": "node"}),
            event("step.start", "2", name="decompose", parent="1", data=model),
            event("step.end", "2", name="decompose", parent="1", status="satisfied", data=usage),
            event("step.end", "1", name="decompose", data={"microseconds": 600_000}),
            event("step.start", "3", name="chat", data=model),
            event("step.end", "3", name="chat", status="satisfied", data=usage),
            event("note", "3", name="cache hit"),
        ]
    )
    told = {step.name: (step.kind, step.calls, step.tokens, step.cached) for step in found.steps}
    assert told == {"decompose": ("node", 1, 13, 0), "chat": ("model", 1, 13, 1)}
    (decompose,) = [step for step in found.steps if step.name == "decompose"]
    assert decompose.mean_seconds == 0.6


@pytest.mark.requirement("trace:stats:program")
def test_a_primitive_that_is_run_as_a_program_counts_once():
    placed = {"step": "node", "meta": {"place": "decompose"}}
    found = stats(
        [
            event("step.start", "1", name="decompose", data={"step": "node"}),
            event("step.start", "2", name="decompose", parent="1", data=placed),
            event("step.end", "2", name="decompose", parent="1"),
            event("step.end", "1", name="decompose"),
        ]
    )
    assert [step.calls for step in found.steps] == [1]


@pytest.mark.requirement("trace:stats:incomplete")
def test_runs_that_were_cut_off_count_as_far_as_they_go():
    with hornbook.run(None) as run:
        careful([0, 1])
        careful([2])
    whole = run.events
    found = stats(whole[:-2])
    assert (found.runs, found.incomplete) == (1, 1)
    (step,) = found.steps
    assert counts(step) == {"calls": 2, "violated": 1, "retried": 1, "unfinished": 1}
    assert step.ended == 1
    assert stats([]).as_dict() == {"runs": 0, "incomplete": 0, "steps": []}


@pytest.mark.requirement("trace:stats:incomplete")
@given(st.data())
def test_any_part_of_a_record_is_counted_without_complaint(data: st.DataObject):
    with hornbook.run(None) as run:
        careful([0, 0])
        careless([0])
    kept = [one for one in run.events if data.draw(st.booleans())]
    found = stats(kept)
    for step in found.steps:
        assert 0 <= step.unfinished <= step.calls
        assert all(getattr(step, name) <= step.calls for name in COUNTED)


@pytest.mark.requirement("trace:stats:runs")
def test_several_runs_are_counted_together():
    runs = []
    for answers in ([0, 1], [1]):
        with hornbook.run(None) as run:
            careful(answers)
        runs.append(run.events)
    found = stats(itertools.chain(*runs))
    assert found.runs == 2
    assert counts(found.steps[0]) == {"calls": 2, "violated": 1, "retried": 1}


@pytest.mark.requirement("trace:stats:order")
def test_a_step_that_never_failed_is_not_listed_before_one_that_did():
    with hornbook.run(None) as run:
        strict([1])
        for _ in range(20):
            careless([1])
        careless([0])
    assert [step.name for step in stats(run.events).steps] == ["careless", "strict"]
