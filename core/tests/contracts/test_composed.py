"""Clauses made of clauses, what must not be gone, and inputs that must be there."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from hornbook import Contract, clauses
from hornbook.contracts import Clause, ContractReport, Judgement, Question
from hornbook.errors import DefinitionError


class Line(BaseModel):
    sku: str
    price: float
    note: str | None = None


class Order(BaseModel):
    paid: bool
    receipt: str | None = None
    lines: list[Line] = []


class Scores:
    """A judge that gives the score that stands in the text, and remembers its batches."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []

    def judge(self, questions: Sequence[Question]) -> list[Judgement]:
        self.batches.append([question.text for question in questions])
        return [Judgement(score=float(question.text)) for question in questions]


def check(clause: Clause, value: Any, inputs: Mapping[str, Any] | None = None) -> ContractReport:
    return Contract("c", ensures=[clause]).check(value, inputs)


def status(clause: Clause, value: Any, inputs: Mapping[str, Any] | None = None) -> str:
    return check(clause, value, inputs).verdicts[0].status


@pytest.mark.requirement("clause:implies:condition")
def test_the_second_clause_counts_only_where_the_first_holds() -> None:
    paid = clauses.that("is paid", lambda order: order["paid"])
    clause = clauses.implies(paid, clauses.matches("receipt", "R[0-9]+"))
    assert status(clause, {"paid": True, "receipt": "R1"}) == "Satisfied"
    assert status(clause, {"paid": True, "receipt": "none"}) == "Violated"
    report = check(clause, {"paid": False, "receipt": "none"})
    assert report.ok
    assert report.verdicts[0].status == "NotApplicable"
    assert report.verdicts[0].reason == "'is paid' does not hold"


@pytest.mark.requirement("clause:implies:condition")
def test_a_violated_consequence_is_told_at_its_own_place() -> None:
    clause = clauses.implies(lambda order: True, clauses.matches("receipt", "R[0-9]+"), name="paid")
    assert [str(violation) for violation in check(clause, {"receipt": "x"}).violations] == [
        "paid at receipt: expected text that matches 'R[0-9]+'; got 'x'"
    ]


@pytest.mark.requirement("clause:implies:condition", "check:verdicts:fails-closed")
def test_a_condition_that_crashes_is_undetermined_and_names_the_condition() -> None:
    clause = clauses.implies(
        clauses.that("is paid", lambda order: order["paid"]), clauses.that("no", lambda v: False)
    )
    found = check(clause, {}).verdicts[0]
    assert found.status == "Undetermined"
    assert found.reason == "condition 'is paid': the check raised KeyError: 'paid'"


@pytest.mark.requirement("clause:implies:condition")
def test_a_condition_may_be_a_function_of_the_inputs_too() -> None:
    clause = clauses.implies(
        lambda value, inputs: inputs["strict"], clauses.that("no", lambda value: False)
    )
    assert status(clause, 1, {"strict": True}) == "Violated"
    assert status(clause, 1, {"strict": False}) == "NotApplicable"


@pytest.mark.requirement("clause:implies:condition", "contract:paths:unknown")
def test_the_paths_of_both_parts_are_held_against_the_output() -> None:
    for clause in (
        clauses.implies(clauses.one_of("payed", [True]), clauses.matches("receipt", ".+")),
        clauses.implies(clauses.one_of("paid", [True]), clauses.matches("receit", ".+")),
    ):
        with pytest.raises(DefinitionError, match="it has 'paid', 'receipt', 'lines'"):
            Contract("order", output=Order, ensures=[clause])


@pytest.mark.requirement("clause:implies:condition", "check:verdicts:not-applicable")
def test_a_consequence_at_an_optional_path_does_not_apply_where_it_is_absent() -> None:
    clause = clauses.implies(clauses.one_of("paid", [True]), clauses.matches("receipt", "R.*"))
    contract = Contract("order", output=Order, ensures=[clause])
    assert contract.check(Order(paid=True)).verdicts[1].status == "NotApplicable"
    assert contract.check(Order(paid=True, receipt="x")).verdicts[1].status == "Violated"


@pytest.mark.requirement("clause:implies:condition")
@given(st.booleans(), st.booleans())
def test_implies_is_the_table_of_logic(first: bool, second: bool) -> None:
    clause = clauses.implies(
        clauses.that("first", lambda value: first), clauses.that("second", lambda value: second)
    )
    assert check(clause, 0).ok is (not first or second)


@pytest.mark.requirement("clause:forall:items")
def test_forall_names_each_item_that_fails() -> None:
    clause = clauses.forall("lines[]", clauses.in_range("price", low=0), name="prices")
    report = check(clause, {"lines": [{"price": 1}, {"price": -1}, {"price": -2}]})
    assert str(report) == (
        "c: contract 'c' violated\n"
        "  - prices at lines[1].price: expected at least 0; got -1\n"
        "  - prices at lines[2].price: expected at least 0; got -2"
    )


@pytest.mark.requirement("clause:forall:items")
def test_forall_gives_each_item_whole_to_a_condition() -> None:
    clause = clauses.forall("[]", clauses.that("even", lambda n: n % 2 == 0))
    assert status(clause, [2, 4]) == "Satisfied"
    assert [v.path for v in check(clause, [2, 3, 5]).violations] == ["[1]", "[2]"]
    assert status(clause, []) == "Satisfied"


@pytest.mark.requirement("clause:forall:items", "contract:paths:unknown")
def test_the_path_of_the_part_starts_at_the_item_type() -> None:
    clause = clauses.forall("lines[]", clauses.in_range("prize", low=0))
    with pytest.raises(DefinitionError) as refused:
        Contract("order", output=Order, ensures=[clause])
    assert str(refused.value) == (
        "contract 'order', clause 'in_range prize for all lines[]': path 'prize' does not fit "
        "Line: Line has no field 'prize'; it has 'sku', 'price', 'note'; the nearest is 'price'"
    )


@pytest.mark.requirement("clause:forall:items", "check:verdicts:not-applicable")
def test_forall_skips_what_the_item_type_declares_optional() -> None:
    clause = clauses.forall("lines[]", clauses.matches("note", "[a-z]+"))
    contract = Contract("order", output=Order, ensures=[clause])
    lines = [Line(sku="a", price=1), Line(sku="b", price=1, note="NO")]
    assert [v.path for v in contract.check(Order(paid=True, lines=lines)).violations] == [
        "lines[1].note"
    ]


@pytest.mark.requirement("clause:forall:items", "check:verdicts:not-applicable")
def test_below_a_part_that_failed_its_type_a_part_does_not_apply() -> None:
    clause = clauses.forall("lines[]", clauses.in_range("price", low=0))
    contract = Contract("order", output=Order, ensures=[clause])
    broken = Line.model_construct(sku="a", price="free")
    report = contract.check(Order.model_construct(paid=True, lines=[broken]))
    assert [(v.clause, v.path) for v in report.violations] == [("output", "lines[0].price")]
    assert report.verdicts[1].status == "NotApplicable"


@pytest.mark.requirement("clause:forall:items")
def test_forall_nests() -> None:
    inner = clauses.forall("[]", clauses.that("positive", lambda n: n > 0))
    clause = clauses.forall("rows[]", inner, name="all")
    assert status(clause, {"rows": [[1, 2], [3]]}) == "Satisfied"
    assert [v.path for v in check(clause, {"rows": [[1], [2, -3]]}).violations] == ["rows[1][1]"]


@pytest.mark.requirement("clause:forall:items", "judge:calls:batched")
def test_measured_parts_are_asked_in_one_batch() -> None:
    judge = Scores()
    part = clauses.similar("text", source="q", judge=judge, threshold=0.5)
    clause = clauses.forall("[]", clauses.implies(lambda item: item["on"], part))
    items = [{"on": n != 1, "text": f"0.{n}"} for n in range(8)]
    report = check(clause, items, {"q": "words"})
    assert judge.batches == [["0.0", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7"]]
    assert [v.path for v in report.violations] == ["[0].text", "[2].text", "[3].text", "[4].text"]
    assert report.verdicts[0].assurance == "measured"
    assert report.verdicts[0].score == 0.0


@pytest.mark.requirement("clause:forall:items")
@given(st.lists(st.integers(-3, 3)))
def test_forall_is_all(numbers: list[int]) -> None:
    clause = clauses.forall("[]", clauses.that("positive", lambda n: n > 0))
    report = check(clause, numbers)
    assert report.ok is all(n > 0 for n in numbers)
    assert [v.path for v in report.violations] == [
        f"[{at}]" for at, n in enumerate(numbers) if n <= 0
    ]


@pytest.mark.requirement("clause:monotone:before")
def test_nothing_that_was_there_is_gone() -> None:
    clause = clauses.monotone("pad", before="pad")
    before = {"pad": {"a": 1, "b": 2}}
    assert status(clause, {"pad": {"a": 9, "b": 2, "c": 3}}, before) == "Satisfied"
    report = check(clause, {"pad": {"b": 2}}, before)
    assert report.violations[0].expected == "everything that input 'pad' has"
    assert report.violations[0].evidence == {"gone": ["'a'"]}


@pytest.mark.requirement("clause:monotone:before")
@pytest.mark.parametrize(
    ("before", "after", "held"),
    [
        ([1, 2], [2, 3, 1], True),
        ([1, 2], (1, 2), True),
        ({1, 2}, [1], False),
        ([[1]], [[1], [2]], True),
        ([[1]], [[2]], False),
        ([], [], True),
    ],
)
def test_items_of_any_collection_stay(before: Any, after: Any, held: bool) -> None:
    clause = clauses.monotone(".", before="earlier")
    expected = "Satisfied" if held else "Violated"
    assert status(clause, after, {"earlier": before}) == expected


@pytest.mark.requirement("clause:monotone:before", "check:verdicts:fails-closed")
@pytest.mark.parametrize(
    ("inputs", "after", "reason"),
    [
        ({}, [1], "input 'earlier' is absent"),
        ({"earlier": None}, [1], "input 'earlier' is absent"),
        ({"earlier": [1]}, 3, "the check raised TypeError: int is not a collection"),
        ({"earlier": "ab"}, ["a"], "the check raised TypeError: str is not a collection"),
    ],
)
def test_without_collections_nothing_can_be_told(inputs: Any, after: Any, reason: str) -> None:
    found = check(clauses.monotone(".", before="earlier"), after, inputs).verdicts[0]
    assert (found.status, found.reason) == ("Undetermined", reason)


@pytest.mark.requirement("clause:monotone:before")
@given(st.dictionaries(st.integers(0, 5), st.integers()), st.sets(st.integers(0, 5)))
def test_adding_keys_is_monotone_and_dropping_one_is_not(
    pad: dict[int, int], dropped: set[int]
) -> None:
    clause = clauses.monotone(".", before="pad")
    assert status(clause, {**pad, 99: 1}, {"pad": pad}) == "Satisfied"
    after = {key: value for key, value in pad.items() if key not in dropped}
    assert (status(clause, after, {"pad": pad}) == "Violated") is (len(after) < len(pad))


@pytest.mark.requirement("clause:bound:present")
@pytest.mark.parametrize(
    ("inputs", "missing"),
    [
        ({"a": 1, "b": 0}, []),
        ({"a": "", "b": False}, []),
        ({"a": 1}, ["b"]),
        ({"a": None, "b": None}, ["a", "b"]),
    ],
)
def test_bound_wants_inputs_that_are_present_and_not_none(
    inputs: dict[str, Any], missing: list[str]
) -> None:
    report = Contract("c", requires=[clauses.bound("a", "b")]).check_inputs(inputs)
    assert report.ok is (not missing)
    if missing:
        assert report.violations[0].expected == "a value for a, b"
        assert report.violations[0].evidence == {"missing": missing}


@pytest.mark.requirement("clause:bound:present")
def test_bound_reaches_into_an_input() -> None:
    contract = Contract("c", requires=[clauses.bound("user.id")])
    assert contract.check_inputs({"user": {"id": 1}}).ok
    assert not contract.check_inputs({"user": {}}).ok


@pytest.mark.requirement("clause:bound:present")
def test_bound_of_nothing_is_refused() -> None:
    with pytest.raises(DefinitionError) as refused:
        clauses.bound()
    assert str(refused.value) == "bound(): name at least one input"


@pytest.mark.requirement("check:verdicts:not-applicable")
def test_a_condition_on_all_of_an_optional_output_is_always_asked() -> None:
    contract = Contract(
        "c",
        output=int | None,
        ensures=[
            clauses.that("is given", lambda value: value is not None),
            clauses.implies(lambda value: True, clauses.that("known", lambda v: v is not None)),
            clauses.in_range(".", low=0),
        ],
    )
    assert [v.status for v in contract.check(None).verdicts] == [
        "Satisfied", "Violated", "Violated", "NotApplicable"
    ]  # fmt: skip
    assert contract.check(3).ok


@pytest.mark.requirement("clause:kinds:registered")
@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"kind": "mine"}, "clause 'x': it has no test"),
        ({"kind": "implies"}, "clause 'x': 0 parts are not those of kind 'implies'"),
        (
            {"kind": "mine", "judge": Scores()},
            "clause 'x': it asks a judge and names no input to compare with",
        ),
    ],
)
def test_a_clause_of_ones_own_that_cannot_be_examined_is_refused(fields: Any, told: str) -> None:
    with pytest.raises(DefinitionError) as refused:
        Clause(name="x", **fields)
    assert str(refused.value) == told
