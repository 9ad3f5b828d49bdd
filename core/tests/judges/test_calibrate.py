"""Calibration: a measured clause held to labelled examples."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import date
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

import hornbook
from hornbook import Budget, BudgetExceeded, Contract, clauses
from hornbook.contracts import Calibration, Judgement, Question
from hornbook.errors import DefinitionError
from hornbook.judges import (
    CalibrationError,
    Labelled,
    acalibrate,
    ameasure,
    calibrate,
    measure,
    wilson,
)


class Told:
    """A judge whose scores are the texts themselves; `?` is one that it cannot tell."""

    def __init__(self) -> None:
        self.batches: list[int] = []

    def judge(self, questions: Sequence[Question]) -> list[Judgement]:
        self.batches.append(len(questions))
        return [self._one(question.text) for question in questions]

    def _one(self, text: str) -> Judgement:
        return Judgement(score=None if text == "?" else float(text))


def held(**clause: Any) -> Contract[Any]:
    made = clauses.similar(".", source="q", judge=Told(), name="near", **clause)
    return Contract("answer", ensures=[made])


def example(value: Any, label: bool) -> Labelled:
    return Labelled(value=value, inputs={"q": "words"}, label=label)


EXAMPLES = [
    example("0.9", True),
    example("0.8", True),
    example("0.3", True),
    example("?", True),
    example("0.7", False),
    example("0.2", False),
    example("0.1", False),
    example("?", False),
]


def sync(contract: Contract[Any], examples: Sequence[Labelled], **named: Any) -> Calibration:
    return calibrate(contract, examples, **named)


def in_a_loop(contract: Contract[Any], examples: Sequence[Labelled], **named: Any) -> Calibration:
    return asyncio.run(acalibrate(contract, examples, **named))


either = pytest.mark.parametrize("run", [sync, in_a_loop], ids=["sync", "async"])
Way = Callable[..., Calibration]


@either
@pytest.mark.requirement("judges:calibrate:rates", "judges:calibrate:undetermined")
def test_false_accepts_and_rejects_are_counted_and_undetermined_refuses(run: Way):
    assert run(held(), EXAMPLES) == Calibration(
        n=8, false_accept=wilson(1, 4), false_reject=wilson(2, 4), undetermined=2
    )


@either
@pytest.mark.requirement("judges:calibrate:undetermined")
def test_what_the_clause_waives_passes(run: Way):
    assert run(held(on_undetermined="waive"), EXAMPLES) == Calibration(
        n=8, false_accept=wilson(2, 4), false_reject=wilson(1, 4), undetermined=2
    )


@pytest.mark.requirement("judges:calibrate:undetermined")
def test_undetermined_is_shown_by_itself():
    assert str(calibrate(held(), EXAMPLES)) == (
        "n=8, false accept 0.250 [0.046, 0.699], false reject 0.500 [0.150, 0.850], undetermined 2"
    )


@pytest.mark.requirement("judges:calibrate:sweep")
def test_a_sweep_tells_the_rates_at_other_thresholds_from_the_same_scores():
    contract = held()
    judge = contract.ensures[0].judge
    assert isinstance(judge, Told)
    measured = measure(contract, EXAMPLES)
    found = {at.threshold: at.calibration for at in measured.sweep([0.0, 0.25, 0.75, 1.0])}
    assert {at: (one.false_accept.value, one.false_reject.value) for at, one in found.items()} == {
        0.0: (0.75, 0.25),
        0.25: (0.25, 0.25),
        0.75: (0.0, 0.5),
        1.0: (0.0, 1.0),
    }
    assert len(judge.batches) == len(EXAMPLES)
    assert [at.threshold for at in measured.sweep()] == [at / 20 for at in range(21)]


scores = st.one_of(st.none(), st.floats(0, 1).map(lambda score: round(score, 3)))


@given(
    st.lists(st.tuples(st.lists(scores, max_size=3), st.booleans()), min_size=2, max_size=12),
    st.floats(0, 1),
    st.sampled_from(["fail", "waive"]),
)
@settings(max_examples=60)
@pytest.mark.requirement("judges:calibrate:sweep", "judges:calibrate:rates")
def test_the_rates_are_those_of_the_contract_itself_at_every_threshold(
    drawn: list[tuple[list[float | None], bool]], threshold: float, unknown: Any
):
    """Also with several places in one value, of which some are Undetermined."""

    def contract(at: float) -> Contract[Any]:
        made = clauses.similar(
            "[]", source="q", judge=Told(), threshold=at, on_undetermined=unknown
        )
        return Contract("answer", output=list[str], ensures=[made])

    examples = [
        example(["?" if score is None else repr(score) for score in values], label)
        for values, label in [*drawn, ([0.5], True), ([0.5], False)]
    ]
    (found,) = measure(contract(0.5), examples).sweep([threshold])
    reports = [contract(threshold).check(one.value, one.inputs) for one in examples]
    passed = [report.ok for report in reports]
    bad = [ok for ok, one in zip(passed, examples, strict=True) if not one.label]
    good = [ok for ok, one in zip(passed, examples, strict=True) if one.label]
    assert found.calibration.false_accept == wilson(sum(bad), len(bad))
    assert found.calibration.false_reject == wilson(len(good) - sum(good), len(good))
    statuses = [report.verdicts[-1].status for report in reports]
    assert found.calibration.undetermined == statuses.count("Undetermined")
    assert calibrate(contract(threshold), examples) == found.calibration


@either
@pytest.mark.requirement("judges:calibrate:undetermined")
def test_a_place_below_the_threshold_refuses_before_another_is_waived(run: Way):
    made = clauses.similar("[]", source="q", judge=Told(), on_undetermined="waive")
    contract = Contract("answer", output=list[str], ensures=[made])
    examples = [example(["?", "0.1"], False), example(["?"], True), example(["?", "0.9"], True)]
    assert run(contract, examples) == Calibration(
        n=3, false_accept=wilson(0, 1), false_reject=wilson(0, 2), undetermined=2
    )
    low, high = measure(contract, examples).sweep([0.05, 0.95])
    assert low.calibration == Calibration(
        n=3, false_accept=wilson(1, 1), false_reject=wilson(0, 2), undetermined=3
    )
    assert high.calibration == Calibration(
        n=3, false_accept=wilson(0, 1), false_reject=wilson(1, 2), undetermined=1
    )


@pytest.mark.parametrize("own", [0.82, 0.0, 1.0, 0.1 * 3, 0.123456789])
@pytest.mark.requirement("judges:calibrate:sweep")
def test_a_sweep_has_the_clauses_own_threshold_in_its_place(own: float):
    measured = measure(held(threshold=own), EXAMPLES)
    swept = [at.threshold for at in measured.sweep()]
    assert own in swept
    assert swept == sorted(swept)
    assert len(swept) == (21 if own in (0.0, 1.0, 0.1 * 3) else 22)
    (mine,) = [at.calibration for at in measured.sweep() if at.threshold == own]
    assert mine == measured.calibration


@pytest.mark.requirement("judges:calibrate:composed")
def test_a_composed_clause_is_calibrated_as_a_whole_and_has_no_sweep():
    each = clauses.forall("items", clauses.similar("[]", source="q", judge=Told()), name="all")
    contract = Contract("answer", output=dict[str, list[str]], ensures=[each])
    examples = [
        example({"items": ["0.9", "0.8"]}, True),
        example({"items": ["0.9", "0.1"]}, False),
    ]
    measured = measure(contract, examples, clause="all")
    assert measured.calibration == Calibration(
        n=2, false_accept=wilson(0, 1), false_reject=wilson(0, 1)
    )
    with pytest.raises(DefinitionError) as caught:
        measured.sweep()
    assert str(caught.value) == (
        "clause 'all' is composed of others and has no threshold of its own: sweep a clause that "
        "asks a judge itself"
    )


class Answer(BaseModel):
    text: str
    day: date


@pytest.mark.requirement("judges:calibrate:typed")
def test_values_are_read_as_the_contracts_output():
    made = clauses.similar("text", source="q", judge=Told())
    contract = Contract("answer", output=Answer, ensures=[made])
    good = example({"text": "0.9", "day": "2026-11-30"}, True)
    bad = example({"text": "0.1", "day": "2026-11-30"}, False)
    given = example(Answer(text="0.1", day=date(2026, 11, 30)), False)
    assert calibrate(contract, [good, bad, given]).false_accept == wilson(0, 2)

    with pytest.raises(CalibrationError) as caught:
        calibrate(contract, [good, example({"text": "0.1", "day": "soon"}, False)])
    assert str(caught.value) == (
        "example 2: value does not fit the contract's output at day: Input should be a valid date "
        "in the format YYYY-MM-DD, input is too short"
    )


class Plain:
    """A message of some host, of which JSON can say nothing."""

    content: str

    def __init__(self, content: str) -> None:
        self.content = content


@pytest.mark.requirement("judges:calibrate:typed")
def test_a_value_that_is_of_another_type_would_measure_nothing_and_is_refused():
    """A clause below a part that failed its type is never asked."""
    contract = Contract("answer", output=Plain, ensures=list(held().ensures))
    good = example(Plain("0.9"), True)
    assert calibrate(contract, [good, example(Plain("0.8"), False)]).false_accept == wilson(1, 1)
    with pytest.raises(CalibrationError) as caught:
        calibrate(contract, [good, example({"text": "0.1"}, False)])
    assert str(caught.value) == (
        "example 2: value does not fit the contract's output: expected an instance of Plain"
    )
    made = clauses.similar("text", source="q", judge=Told())
    wrong = Answer.model_construct(text=1, day="soon")
    with pytest.raises(CalibrationError, match="does not fit the contract's output at text: "):
        calibrate(Contract("answer", output=Answer, ensures=[made]), [example(wrong, True)])


@pytest.mark.requirement("judges:calibrate:typed")
def test_a_clause_on_the_inputs_is_calibrated_on_the_inputs():
    made = clauses.similar("question", source="q", judge=Told())
    contract = Contract("answer", output=Answer, requires=[made])
    examples = [
        Labelled(value=None, inputs={"q": "w", "question": "0.9"}, label=True),
        Labelled(value=None, inputs={"q": "w", "question": "0.8"}, label=False),
    ]
    for found in (calibrate(contract, examples), asyncio.run(acalibrate(contract, examples))):
        assert found == Calibration(n=2, false_accept=wilson(1, 1), false_reject=wilson(0, 1))


@pytest.mark.parametrize(
    ("examples", "message"),
    [
        (
            [example("0.9", True)],
            "no example has the label false: a calibration needs good values and bad ones",
        ),
        (
            [Labelled(value="1", inputs={"q": "w"}, label=False, where="l.jsonl, line 1")],
            "l.jsonl: no example has the label true: a calibration needs good values and bad ones",
        ),
        ([], "no example has the label true: a calibration needs good values and bad ones"),
        (
            [Labelled(value="1", label=True, where="l.jsonl, line 7")],
            "l.jsonl, line 7: inputs lack 'q', which clause 'near' reads",
        ),
    ],
)
@either
@pytest.mark.requirement("judges:calibrate:refused")
def test_examples_that_measure_nothing_are_refused_before_a_judge_is_asked(
    run: Way, examples: list[Labelled], message: str
):
    contract = held()
    with pytest.raises(CalibrationError) as caught:
        run(contract, examples)
    assert str(caught.value) == message
    judge = contract.ensures[0].judge
    assert isinstance(judge, Told)
    assert judge.batches == []


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (None, "contract 'c': say which clause to calibrate; measured are: 'one', 'two'"),
        ("nix", "contract 'c' has no clause 'nix'; measured are: 'one', 'two'"),
        (
            "sure",
            "contract 'c': clause 'sure' is guaranteed, and only a measured one has error rates; "
            "measured are: 'one', 'two'",
        ),
    ],
)
@pytest.mark.requirement("judges:calibrate:refused")
def test_the_clause_must_be_a_measured_one(name: str | None, message: str):
    contract = Contract(
        "c",
        ensures=[
            clauses.similar(".", source="q", judge=Told(), name="one"),
            clauses.covers(".", source="q", judge=Told(), name="two"),
            clauses.that("sure", bool),
        ],
    )
    with pytest.raises(DefinitionError) as caught:
        calibrate(contract, EXAMPLES, clause=name)
    assert str(caught.value) == message


@pytest.mark.requirement("judges:calibrate:refused")
def test_a_contract_with_no_measured_clause_has_nothing_to_calibrate():
    with pytest.raises(DefinitionError) as caught:
        calibrate(Contract("c", ensures=[clauses.that("sure", bool)]), EXAMPLES)
    assert str(caught.value) == ("contract 'c': say which clause to calibrate; measured are: none")


@either
@pytest.mark.requirement("judges:calibrate:budget")
def test_a_budget_stops_it(run: Way):
    with pytest.raises(BudgetExceeded) as caught:
        run(held(), EXAMPLES, budget=Budget(calls=3))
    assert caught.value.limit == "calls"


@either
@pytest.mark.requirement("judges:calibrate:budget")
def test_the_run_around_counts_each_example(run: Way):
    with hornbook.run(trace=None) as around:
        run(held(), EXAMPLES, budget=Budget(calls=8))
    assert around.meter.spent.calls == 8


@either
@pytest.mark.requirement("judges:calibrate:progress")
def test_progress_is_told_after_each_example(run: Way):
    seen: list[tuple[int, int]] = []
    run(held(), EXAMPLES, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(at, 8) for at in range(1, 9)]


@pytest.mark.requirement("judges:calibrate:async")
async def test_async_trials_stand_in_the_order_of_the_examples_and_run_together():
    under_way = 0
    most = 0

    class Slow:
        async def judge(self, questions: Sequence[Question]) -> list[Judgement]:
            nonlocal under_way, most
            under_way += 1
            most = max(most, under_way)
            for _ in range(int(questions[0].text)):
                await asyncio.sleep(0)
            under_way -= 1
            return [Judgement(score=int(question.text) / 10) for question in questions]

    contract = Contract("c", ensures=[clauses.similar(".", source="q", judge=Slow())])
    examples = [example(str(9 - at), at % 2 == 0) for at in range(10)]
    measured = await ameasure(contract, examples, concurrency=3)
    assert [trial.score for trial in measured.trials] == [(9 - at) / 10 for at in range(10)]
    assert most == 3
