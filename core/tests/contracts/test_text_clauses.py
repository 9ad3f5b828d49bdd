"""Clauses that read text: what stands in a source, and what a judge scores."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from enum import Enum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from hornbook import Contract, clauses
from hornbook.contracts import (
    Calibration,
    Clause,
    ContractReport,
    Judgement,
    Question,
    Rate,
    Verdict,
)
from hornbook.errors import DefinitionError

QUERY = "Please refund order A17 (ordered on 3 March 2024): 1,250.50 euros to Ann Lee."


class Fixed:
    """A judge that gives one score to every question."""

    def __init__(self, score: float | None, evidence: Any = None) -> None:
        self.score = score
        self.evidence = evidence
        self.asked: list[Question] = []

    def judge(self, questions: Sequence[Question]) -> list[Judgement]:
        self.asked += questions
        return [Judgement(score=self.score, evidence=self.evidence) for _ in questions]


def check(clause: Clause, value: Any, inputs: Mapping[str, Any]) -> ContractReport:
    return Contract("c", ensures=[clause]).check(value, inputs)


def found(value: Any, source: Any = QUERY, **options: Any) -> Verdict:
    clause = clauses.grounded(".", source="query", **options)
    return check(clause, value, {"query": source}).verdicts[0]


@pytest.mark.requirement("clause:grounded:exact")
def test_exact_wants_the_text_as_it_stands() -> None:
    assert found("A17", mode="exact").status == "Satisfied"
    assert found("a17", mode="exact").status == "Violated"
    assert found("Ann  Lee", mode="exact").status == "Violated"
    assert found(1250.5, mode="exact").status == "Violated"


@pytest.mark.requirement("clause:grounded:normalized")
@pytest.mark.parametrize("value", ["a17", "ANN LEE", "Ann\u00a0 Lee", "\uff21\uff11\uff17"])
def test_by_default_case_width_and_spacing_do_not_count(value: str) -> None:
    assert found(value).status == "Satisfied"


@pytest.mark.requirement("clause:grounded:fuzzy")
def test_fuzzy_accepts_what_is_close_enough() -> None:
    assert found("Ann Leigh").status == "Violated"
    assert found("Anne Lee", mode="fuzzy", threshold=0.7).status == "Satisfied"
    assert found("Anne Lee", mode="fuzzy", threshold=1.0).status == "Violated"
    assert found("Bob Smith", mode="fuzzy", threshold=0.7).status == "Violated"


@pytest.mark.requirement("clause:grounded:fuzzy")
@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"mode": "vague"}, "grounded('id'): mode 'vague' is none of exact, normalized, fuzzy"),
        ({"threshold": 0.5}, "grounded('id'): threshold is for mode='fuzzy', in (0, 1]"),
        (
            {"mode": "fuzzy", "threshold": 0.0},
            "grounded('id'): threshold is for mode='fuzzy', in (0, 1]",
        ),
        (
            {"mode": "fuzzy", "threshold": float("nan")},
            "grounded('id'): threshold is for mode='fuzzy', in (0, 1]",
        ),
    ],
    ids=["mode", "not fuzzy", "zero", "nan"],
)
def test_a_way_of_grounding_that_cannot_work_is_refused(options: dict[str, Any], told: str) -> None:
    with pytest.raises(DefinitionError) as refused:
        clauses.grounded("id", source="query", **options)
    assert str(refused.value) == told


@pytest.mark.requirement("clause:grounded:tokens")
@pytest.mark.parametrize("value", ["A1", "17", "refun", "nn Le", "7"])
def test_a_part_of_a_token_is_not_enough_unless_partial(value: str) -> None:
    assert found(value).status == "Violated"
    assert found(value, partial=True).status == "Satisfied"


@pytest.mark.requirement("clause:grounded:spans")
def test_the_evidence_is_spans_into_the_original_source() -> None:
    verdict = found("ann lee")
    assert verdict.evidence == {"spans": [[69, 76]]}
    assert QUERY[69:76] == "Ann Lee"


@pytest.mark.requirement("clause:grounded:spans")
@given(
    st.text("ab \u00e9\u0130\ufb01", max_size=20),
    st.text("xyz", min_size=1, max_size=5),
    st.text("ab \u00e9\u0130\ufb01", max_size=20),
)
def test_a_span_leads_to_the_value_whatever_stands_around(
    before: str, value: str, after: str
) -> None:
    source = f"{before} {value} {after}"
    ((start, end),) = found(value.upper(), source).evidence["spans"]
    assert source[start:end] == value


class Status(Enum):
    OPEN = "open"
    IN_TRANSIT = "in_transit"


@pytest.mark.requirement("clause:grounded:canonical")
@pytest.mark.parametrize(
    ("value", "source"),
    [
        (1250.5, QUERY),
        (date(2024, 3, 3), QUERY),
        (Status.OPEN, "the ticket is Open"),
        (Status.IN_TRANSIT, "It is in transit."),
        ("1250.50", QUERY),
        ("2024-03-03", QUERY),
    ],
)
def test_numbers_dates_and_enums_stand_there_by_what_they_mean(value: Any, source: str) -> None:
    assert found(value, source).status == "Satisfied"


@pytest.mark.requirement("clause:grounded:canonical")
@pytest.mark.parametrize("value", [1250, 125050, date(2024, 3, 4), Status.OPEN])
def test_what_means_something_else_does_not_stand_there(value: Any) -> None:
    assert found(value).status == "Violated"


@pytest.mark.requirement("clause:grounded:items")
def test_lists_are_grounded_item_by_item() -> None:
    assert found(["A17", "Ann Lee"]).evidence == {"spans": [[20, 23], [69, 76]]}
    verdict = found(["A17", "B99"])
    assert verdict.status == "Violated"
    assert verdict.evidence == {"absent": ["'B99'"], "spans": [[20, 23]]}


@pytest.mark.requirement("clause:grounded:items")
@pytest.mark.parametrize("items", [["", "B99"], ["B99", ""]])
def test_an_item_that_is_absent_is_a_violation_beside_one_that_is_unclear(
    items: list[str],
) -> None:
    assert found(items, on_undetermined="waive").status == "Violated"
    assert found(["A17", ""]).status == "Undetermined"


@pytest.mark.requirement("clause:grounded:undetermined", "check:verdicts:fails-closed")
@pytest.mark.parametrize("value", ["", "  ", None, [], "...", float("nan"), True])
def test_an_empty_value_is_undetermined(value: Any) -> None:
    assert found(value).status == "Undetermined"


@pytest.mark.requirement("clause:grounded:undetermined")
@pytest.mark.parametrize("inputs", [{}, {"query": None}, {"query": ""}, {"query": " \n"}])
def test_a_missing_source_is_undetermined(inputs: Any) -> None:
    report = check(clauses.grounded("id", source="query"), {"id": "A17"}, inputs)
    assert str(report) == (
        "c: contract 'c' violated\n"
        "  - grounded id at id: expected a value that stands in 'query'; got 'A17' "
        "(not determined: input 'query' holds no text)"
    )


@pytest.mark.requirement("clause:grounded:exact", "contract:paths:inputs")
def test_a_source_may_be_a_part_of_an_input_or_a_list_of_messages() -> None:
    clause = clauses.grounded("id", source="state.turns")
    turns = [{"role": "user", "content": "refund A17"}, {"role": "user", "content": "now"}]
    assert check(clause, {"id": "A17"}, {"state": {"turns": turns}}).ok
    assert not check(clause, {"id": "role"}, {"state": {"turns": turns}}).ok


class Refund(BaseModel):
    order_id: str
    reason: str | None = None


@pytest.mark.requirement("clause:grounded:exact", "contract:paths:inputs")
def test_in_requires_one_input_may_be_grounded_in_another() -> None:
    contract = Contract("c", requires=[clauses.grounded("order_id", source="query")])
    assert contract.check_inputs({"order_id": "A17", "query": QUERY}).ok
    report = contract.check_inputs({"order_id": "B9", "query": QUERY})
    assert str(report.violations[0]) == (
        "grounded order_id at order_id: expected a value that stands in 'query'; got 'B9'"
    )


MEASURED: dict[str, Callable[..., Clause]] = {
    "covers": clauses.covers,
    "entails": clauses.entails,
    "similar": clauses.similar,
}
measured = pytest.mark.parametrize("kind", MEASURED)


@measured
@pytest.mark.requirement("clause:measured:threshold")
def test_a_score_is_compared_with_the_threshold(kind: str) -> None:
    for score, expected in [(0.8, "Satisfied"), (0.9, "Satisfied"), (0.79, "Violated")]:
        clause = MEASURED[kind](".", source="query", judge=Fixed(score), threshold=0.8)
        verdict = check(clause, "An answer.", {"query": QUERY}).verdicts[0]
        assert (verdict.status, verdict.score) == (expected, score)
        assert verdict.assurance == "measured"


@pytest.mark.requirement("clause:measured:threshold")
def test_a_low_score_is_told_with_the_judges_evidence() -> None:
    clause = clauses.covers(".", source="query", judge=Fixed(0.5, "no date"), threshold=0.8)
    (violation,) = check(clause, "An answer.", {"query": QUERY}).violations
    assert violation.evidence == "no date"
    assert str(violation) == (
        "covers .: expected text that covers 'query' (score at least 0.8); got 'An answer.' "
        "(score 0.500 is below 0.8)"
    )


@measured
@pytest.mark.requirement("clause:measured:threshold")
def test_a_judge_is_asked_about_the_text_at_the_path(kind: str) -> None:
    judge = Fixed(1.0)
    clause = MEASURED[kind]("reason", source="query", judge=judge)
    contract = Contract("c", output=Refund, ensures=[clause])
    assert contract.check(Refund(order_id="A17", reason="late"), {"query": QUERY}).ok
    (question,) = judge.asked
    told = (question.kind, question.text, question.source, question.path, question.clause)
    assert told == (kind, "late", QUERY, "reason", f"{kind} reason")


@measured
@pytest.mark.requirement("clause:measured:threshold", "check:verdicts:not-applicable")
def test_a_judge_is_not_asked_where_there_is_nothing_to_ask(kind: str) -> None:
    judge = Fixed(1.0)
    clause = MEASURED[kind]("reason", source="query", judge=judge)
    contract = Contract("c", output=Refund, ensures=[clause])
    absent = contract.check(Refund(order_id="A17"), {"query": QUERY}).verdicts[1]
    empty = contract.check(Refund(order_id="A17", reason=" "), {"query": QUERY}).verdicts[1]
    unsourced = contract.check(Refund(order_id="A17", reason="late"), {}).verdicts[1]
    assert (absent.status, empty.status) == ("NotApplicable", "Undetermined")
    assert (empty.reason, unsourced.reason) == (
        "the value is empty", "input 'query' holds no text"
    )  # fmt: skip
    assert judge.asked == []


@measured
@pytest.mark.requirement("clause:measured:threshold")
@pytest.mark.parametrize("threshold", [-0.1, 1.1, float("nan")])
def test_a_threshold_outside_of_0_to_1_is_refused(kind: str, threshold: float) -> None:
    with pytest.raises(DefinitionError) as refused:
        MEASURED[kind]("reason", source="query", judge=Fixed(1.0), threshold=threshold)
    assert str(refused.value) == f"{kind}('reason'): threshold {threshold!r} is not in [0, 1]"


@measured
@pytest.mark.requirement("clause:measured:threshold", "bad-input:judge:garbage")
@pytest.mark.parametrize("judge", [None, 3, "judge", len, Fixed], ids=str)
def test_what_is_no_judge_is_refused(kind: str, judge: Any) -> None:
    with pytest.raises(DefinitionError) as refused:
        MEASURED[kind]("reason", source="query", judge=judge)
    assert str(refused.value) == (
        f"{kind}('reason'): {judge!r} is no judge; it needs a method judge(questions)"
    )


@pytest.mark.requirement("contract:calibration:carried")
def test_a_verdict_carries_how_good_its_clause_was_measured_to_be() -> None:
    calibration = Calibration(
        n=200,
        false_accept=Rate(value=0.04, low=0.02, high=0.08),
        false_reject=Rate(value=0.1, low=0.06, high=0.15),
    )
    clause = clauses.covers(".", source="q", judge=Fixed(0.9), calibration=calibration)
    report = check(clause, "text", {"q": "text"})
    assert report.verdicts[0].calibration == calibration
    assert str(report.verdicts[0]) == (
        "covers .: Satisfied (measured, n=200, false accept 0.040 [0.020, 0.080], "
        "false reject 0.100 [0.060, 0.150], score 0.900)"
    )
    assert '"calibration":{"false_accept":{"high":0.08,' in report.to_json()


@pytest.mark.requirement("contract:calibration:none")
def test_an_uncalibrated_measured_clause_is_shown_as_such() -> None:
    report = check(clauses.covers(".", source="q", judge=Fixed(0.9)), "text", {"q": "text"})
    assert str(report.verdicts[0]) == "covers .: Satisfied (measured, uncalibrated, score 0.900)"
    guaranteed = check(clauses.that("x", lambda value: True), 1, {}).verdicts[0]
    assert str(guaranteed) == "x: Satisfied (guaranteed)"


@pytest.mark.requirement("contract:calibration:carried")
def test_a_rate_lies_inside_its_interval() -> None:
    with pytest.raises(DefinitionError) as refused:
        Rate(value=0.5, low=0.6, high=0.7)
    assert str(refused.value) == "a rate needs 0 <= low <= value <= high <= 1: 0.6, 0.5, 0.7"
