"""Membership, patterns, bounds and duplicates, and how their paths lead into a value."""

import threading
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from hornbook import Contract, clauses
from hornbook.contracts import Clause, ContractReport
from hornbook.errors import DefinitionError


class Item(BaseModel):
    name: str
    price: float
    note: str | None = None


class Order(BaseModel):
    id: str
    items: list[Item]


def check(clause: Clause, value: Any, inputs: Mapping[str, Any] | None = None) -> ContractReport:
    return Contract("c", ensures=[clause]).check(value, inputs)


def status(clause: Clause, value: Any, inputs: Mapping[str, Any] | None = None) -> str:
    return check(clause, value, inputs).verdicts[0].status


@pytest.mark.requirement("clause:one-of:membership")
@pytest.mark.parametrize("values", [["red", "blue"], ("red", "blue"), {"red", "blue"}])
def test_one_of_takes_any_collection(values: Any) -> None:
    clause = clauses.one_of("colour", values)
    assert status(clause, {"colour": "red"}) == "Satisfied"
    assert status(clause, {"colour": "green"}) == "Violated"
    assert status(clause, {"colour": ["red"]}) == "Violated"
    assert status(clause, {}) == "Undetermined"


@pytest.mark.requirement("clause:one-of:membership")
def test_one_of_names_the_place_what_is_allowed_and_what_was_there() -> None:
    report = check(clauses.one_of("items[].colour", ["red", "blue"]), {"items": [{"colour": "x"}]})
    assert str(report) == (
        "c: contract 'c' violated\n"
        "  - one_of items[].colour at items[0].colour: expected one of 'red', 'blue'; got 'x'"
    )


@pytest.mark.requirement("clause:one-of:membership")
def test_a_long_list_of_what_is_allowed_is_cut() -> None:
    (violation,) = check(clauses.one_of(".", range(100)), -1).violations
    assert violation.expected == "one of 0, 1, 2, 3, 4, 5, 6, 7, ... (100 in all)"


@pytest.mark.requirement("clause:one-of:membership")
def test_values_that_have_no_hash_are_members_too() -> None:
    clause = clauses.one_of(".", [[1], {"a": 2}])
    assert status(clause, [1]) == "Satisfied"
    assert status(clause, {"a": 2}) == "Satisfied"
    assert status(clause, [2]) == "Violated"


@pytest.mark.requirement("clause:one-of:membership", "contract:construct:immutable")
def test_a_clause_keeps_the_values_it_was_given() -> None:
    values = ["red"]
    clause = clauses.one_of(".", values)
    values.append("blue")
    assert status(clause, "blue") == "Violated"


@pytest.mark.requirement("clause:one-of:membership")
@pytest.mark.parametrize("kind", [clauses.one_of, clauses.subset_of, clauses.refers_to])
@pytest.mark.parametrize("values", ["red", b"re", 3, None])
def test_a_text_is_no_collection_of_values(kind: Any, values: Any) -> None:
    with pytest.raises(DefinitionError) as refused:
        kind("colour", values)
    assert str(refused.value) == (
        f"{kind.__name__}('colour'): {values!r} is not a collection of values"
    )


@pytest.mark.requirement("clause:one-of:membership")
def test_subset_of_looks_at_each_item() -> None:
    clause = clauses.subset_of("tags", {"a", "b"})
    assert status(clause, {"tags": []}) == "Satisfied"
    assert status(clause, {"tags": ["a", "a", "b"]}) == "Satisfied"
    report = check(clause, {"tags": ["a", "c", "d"]})
    assert report.verdicts[0].status == "Violated"
    assert report.violations[0].evidence == {"outside": ["'c'", "'d'"]}
    assert report.violations[0].expected == "items among 'a', 'b'"


@pytest.mark.requirement("clause:one-of:membership", "check:verdicts:fails-closed")
@pytest.mark.parametrize("value", ["ab", 3, None])
def test_what_has_no_items_is_undetermined(value: Any) -> None:
    for clause in (clauses.subset_of("tags", ["a"]), clauses.unique("tags")):
        found = check(clause, {"tags": value}).verdicts[0]
        kind = type(value).__name__
        assert found.status == "Undetermined"
        assert found.reason == f"the check raised TypeError: {kind} is not a collection"


@pytest.mark.requirement("clause:refers-to:ids")
def test_refers_to_takes_ids_or_a_function_of_the_inputs() -> None:
    known = clauses.refers_to("id", ["A17", "B2"])
    asked = clauses.refers_to("id", lambda inputs: inputs["ids"], name="asked")
    contract = Contract("c", ensures=[known, asked])
    assert contract.check({"id": "A17"}, {"ids": ["A17"]}).ok
    report = contract.check({"id": "A1"}, {"ids": {"A17"}})
    assert [v.expected for v in report.violations] == ["one of 'A17', 'B2'", "one of 'A17'"]


@pytest.mark.requirement("clause:refers-to:ids")
@pytest.mark.parametrize(
    ("ids", "reason"),
    [
        ("A17", "the check raised DefinitionError: refers_to('id'): 'A17' is not a collection"),
        (None, "the check raised DefinitionError: refers_to('id'): None is not a collection"),
        (iter(["A1"]), "the check raised DefinitionError: refers_to('id'): <list_iterator"),
    ],
    ids=["text", "none", "iterator"],
)
def test_ids_that_are_no_collection_are_undetermined(ids: Any, reason: str) -> None:
    found = check(clauses.refers_to("id", lambda inputs: ids), {"id": "A1"}).verdicts[0]
    assert found.status == "Undetermined"
    assert found.reason.startswith(reason)


@pytest.mark.requirement("clause:refers-to:ids", "bad-input:clause:raises")
def test_a_function_of_ids_that_raises_is_undetermined() -> None:
    found = check(clauses.refers_to("id", lambda inputs: inputs["ids"]), {"id": "A1"}).verdicts[0]
    assert (found.status, found.reason) == ("Undetermined", "the check raised KeyError: 'ids'")


@pytest.mark.requirement("clause:refers-to:ids", "clause:that:async")
def test_ids_from_an_async_function_are_refused() -> None:
    async def ids(inputs: Any) -> list[str]:
        return []

    with pytest.raises(DefinitionError) as refused:
        clauses.refers_to("id", ids)  # type: ignore[arg-type]
    assert str(refused.value) == "refers_to('id'): the ids come from an async function"


@pytest.mark.requirement("clause:matches:full")
@pytest.mark.parametrize(
    ("pattern", "text", "fits"),
    [
        ("[A-Z][0-9]+", "A17", True),
        ("[A-Z][0-9]+", "A17 ", False),
        ("[A-Z][0-9]+", " A17", False),
        ("[A-Z][0-9]+", "A17\n", False),
        ("a|bc", "bc", True),
        ("a|bc", "abc", False),
        ("", "", True),
        ("", "x", False),
        ("(?i)abc", "ABC", True),
        (r"\p{Greek}+", "λόγος", True),
    ],
)
def test_the_whole_text_matches(pattern: str, text: str, fits: bool) -> None:
    assert status(clauses.matches(".", pattern), text) == ("Satisfied" if fits else "Violated")


@pytest.mark.requirement("clause:matches:full")
@pytest.mark.parametrize("value", [17, None, b"A17", ["A17"]])
def test_what_is_no_text_does_not_match(value: Any) -> None:
    assert status(clauses.matches("id", "A17"), {"id": value}) == "Violated"


@pytest.mark.requirement("clause:matches:full")
@pytest.mark.parametrize("pattern", ["[a", "(?=x)x", r"(a)\1", "a)(b"])
def test_what_is_no_linear_time_pattern_is_refused_when_written_down(pattern: str) -> None:
    with pytest.raises(DefinitionError) as refused:
        clauses.matches("id", pattern)
    message = str(refused.value)
    assert message.startswith(f"matches('id'): {pattern!r} is not a pattern: ")
    assert "\n" not in message


@pytest.mark.requirement("clause:matches:linear")
@pytest.mark.parametrize("pattern", ["(a+)+b", "(a|a)*b", "(.*)*x"])
def test_a_pattern_that_explodes_elsewhere_is_decided(pattern: str) -> None:
    clause, found = clauses.matches(".", pattern), list[str]()
    thread = threading.Thread(
        target=lambda: found.append(status(clause, "a" * 50_000)), daemon=True
    )
    thread.start()
    thread.join(60)  # a backtracking engine would need longer than the sun lasts
    assert found == ["Violated"]


@pytest.mark.requirement("clause:in-range:inclusive")
def test_both_bounds_are_inside_and_either_may_be_left_out() -> None:
    both, low = clauses.in_range("n", 1, 3), clauses.in_range("n", low=1)
    high = clauses.in_range("n", high=3)
    assert [status(both, {"n": n}) for n in (0, 1, 2, 3, 4)] == [
        "Violated", "Satisfied", "Satisfied", "Satisfied", "Violated"
    ]  # fmt: skip
    assert [status(low, {"n": n}) for n in (0, 1, 10**9)] == ["Violated", "Satisfied", "Satisfied"]
    assert [status(high, {"n": n}) for n in (-(10**9), 3, 4)] == [
        "Satisfied", "Satisfied", "Violated"
    ]  # fmt: skip
    assert check(both, {"n": 4}).violations[0].expected == "at least 1 and at most 3"


@pytest.mark.requirement("clause:in-range:inclusive")
def test_not_a_number_is_in_no_range_and_what_cannot_be_compared_is_undetermined() -> None:
    clause = clauses.in_range("n", 1, 3)
    assert status(clause, {"n": float("nan")}) == "Violated"
    assert status(clause, {"n": "2"}) == "Undetermined"
    assert status(clause, {"n": None}) == "Undetermined"


@pytest.mark.requirement("clause:in-range:inclusive")
def test_bounds_are_of_any_type_with_an_order() -> None:
    assert status(clauses.in_range(".", low="b"), "a") == "Violated"
    assert status(clauses.in_range(".", low=0, high=0.5), 0.5) == "Satisfied"


@pytest.mark.requirement("clause:in-range:inclusive")
@pytest.mark.parametrize(
    ("low", "high", "told"),
    [
        (None, None, "in_range('n'): give low=, high= or both"),
        (3, 1, "in_range('n'): low 3 is above high 1"),
        (
            1,
            "z",
            "in_range('n'): '<=' not supported between instances of 'int' and 'str'",
        ),
        (float("nan"), 1, "in_range('n'): low nan is above high 1"),
    ],
)
def test_bounds_that_nothing_can_be_between_are_refused(low: Any, high: Any, told: str) -> None:
    with pytest.raises(DefinitionError) as refused:
        clauses.in_range("n", low, high)
    assert str(refused.value) == told


@pytest.mark.requirement("clause:in-range:inclusive")
@given(st.integers(), st.integers(), st.integers())
def test_in_range_is_what_comparing_says(a: int, b: int, n: int) -> None:
    low, high = min(a, b), max(a, b)
    held = status(clauses.in_range(".", low, high), n) == "Satisfied"
    assert held is (low <= n <= high)


@pytest.mark.requirement("clause:unique:key")
def test_duplicates_are_found_and_told() -> None:
    clause = clauses.unique("items")
    assert status(clause, {"items": [1, 2, 3]}) == "Satisfied"
    report = check(clause, {"items": [1, 2, 1, 1]})
    assert report.violations[0].expected == "no duplicates"
    assert report.violations[0].evidence == {"duplicates": ["1", "1"]}


@pytest.mark.requirement("clause:unique:key")
@pytest.mark.parametrize("key", ["name", lambda item: item.name], ids=["path", "function"])
def test_duplicates_are_told_by_a_key(key: Any) -> None:
    clause = clauses.unique("items", key=key)
    one, two = Item(name="a", price=1), Item(name="a", price=2)
    assert status(clause, {"items": [one, Item(name="b", price=1)]}) == "Satisfied"
    assert status(clause, {"items": [one, two]}) == "Violated"


@pytest.mark.requirement("clause:unique:key")
def test_items_without_a_hash_are_compared_too() -> None:
    clause = clauses.unique(".")
    assert status(clause, [{"a": 1}, {"a": 2}]) == "Satisfied"
    assert status(clause, [{"a": 1}, 3, {"a": 1}]) == "Violated"


@pytest.mark.requirement("clause:unique:key", "check:verdicts:fails-closed")
def test_an_item_without_the_key_is_undetermined() -> None:
    found = check(clauses.unique(".", key="id"), [{"id": 1}, {}]).verdicts[0]
    assert found.status == "Undetermined"
    assert found.reason == "the check raised KeyError: 'id is absent'"


@pytest.mark.requirement("clause:unique:key")
@given(st.lists(st.one_of(st.integers(0, 4), st.text(max_size=1), st.lists(st.integers(0, 2)))))
def test_unique_agrees_with_comparing_all_pairs(items: list[Any]) -> None:
    equal = any(items[i] == items[j] for i in range(len(items)) for j in range(i))
    assert (status(clauses.unique("."), items) == "Violated") is equal


@pytest.mark.requirement("contract:paths:output")
def test_a_path_leads_to_every_item_to_one_or_to_all_of_it() -> None:
    order = Order(id="A", items=[Item(name="a", price=-1), Item(name="b", price=2)])
    contract = Contract(
        "order",
        output=Order,
        ensures=[
            clauses.in_range("items[].price", low=0),
            clauses.in_range("items[0].price", low=0, name="first"),
            clauses.in_range("items[-1].price", low=0, name="last"),
            clauses.that("whole", lambda whole: whole is order),
        ],
    )
    report = contract.check(order)
    assert [(v.clause, v.path, v.observed) for v in report.violations] == [
        ("in_range items[].price", "items[0].price", "-1.0"),
        ("first", "items[0].price", "-1.0"),
    ]


@pytest.mark.requirement("contract:paths:output")
def test_every_place_that_fails_is_told() -> None:
    value = {"items": [{"price": n} for n in (-1, 1, -2, "x")]}
    report = check(clauses.in_range("items[].price", low=0), value)
    assert report.verdicts[0].status == "Violated"
    assert [(v.path, v.observed) for v in report.violations] == [
        ("items[0].price", "-1"),
        ("items[2].price", "-2"),
        ("items[3].price", "'x'"),
    ]


@pytest.mark.requirement("contract:paths:output")
def test_of_no_items_nothing_is_wrong() -> None:
    found = check(clauses.in_range("items[].price", low=0), {"items": []}).verdicts[0]
    assert (found.status, found.reason) == ("Satisfied", "no items")


@pytest.mark.requirement("contract:paths:opaque")
def test_an_absent_path_is_undetermined_where_the_type_cannot_tell() -> None:
    contract = Contract("c", output=dict[str, Any], ensures=[clauses.in_range("a.b", low=0)])
    report = contract.check({"a": {}})
    assert not report.ok
    assert str(report.violations[0]) == (
        "in_range a.b at a.b: expected at least 0; got nothing (not determined: a.b is absent)"
    )


@pytest.mark.requirement("contract:paths:opaque")
@pytest.mark.parametrize("value", [{"a": {}}, {"a": None}, {}, {"a": {"b": None}}])
def test_an_optional_clause_does_not_apply_to_what_is_absent(value: Any) -> None:
    report = check(clauses.in_range("a.b", low=0, optional=True), value)
    assert report.ok
    assert report.verdicts[0].status == "NotApplicable"
    assert report.verdicts[0].reason == "a.b is optional and absent"


@pytest.mark.requirement("check:verdicts:not-applicable")
def test_a_path_that_the_type_declares_optional_need_not_be_there() -> None:
    contract = Contract("c", output=Order, ensures=[clauses.matches("items[].note", "[a-z]+")])
    noted, plain = Item(name="a", price=1, note="ok"), Item(name="b", price=1)
    assert contract.check(Order(id="A", items=[plain])).verdicts[1].status == "NotApplicable"
    assert contract.check(Order(id="A", items=[plain, noted])).verdicts[1].status == "Satisfied"
    noted.note = "NO"
    assert contract.check(Order(id="A", items=[plain, noted])).verdicts[1].status == "Violated"


@pytest.mark.requirement("bad-input:clause:raises")
def test_a_value_that_raises_when_it_is_looked_into_is_undetermined() -> None:
    class Torn(dict[str, int]):
        def get(self, key: str, default: Any = None) -> Any:
            raise OSError("torn")

    found = check(clauses.in_range("a", low=0), Torn(a=1)).verdicts[0]
    assert (found.status, found.reason) == ("Undetermined", "the check raised OSError: torn")
