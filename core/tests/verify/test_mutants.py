"""Mutants: what a step could have given instead."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import Enum
from typing import Any, Literal, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, RootModel
from typing_extensions import TypedDict

from hornbook import Contract, clauses
from hornbook.canon import digest
from hornbook.contracts.clause import Clause
from hornbook.verify import Mutant, mutants_of

TEXT = "Refund order A-17 or B-22, at most 30 euro."


class Line(BaseModel, frozen=True):
    kind: Literal["part", "tool"]
    price: float
    note: str | None = None


class Order(BaseModel):
    id: str
    lines: list[Line]


class Colour(Enum):
    RED = 1
    BLUE = 2


class Pair(NamedTuple):
    left: int
    right: str


class Keyed(TypedDict):
    name: str


@dataclass(frozen=True, slots=True)
class Point:
    x: int


ORDER = Order(id="A-17", lines=[Line(kind="part", price=2.0), Line(kind="tool", price=3.0)])


def tried(
    value: Any, output: Any, *ensures: Clause, inputs: Mapping[str, Any] | None = None
) -> dict[str, tuple[str | None, tuple[str, ...]]]:
    """For each mutant, by what is different: what it aims at, and the clauses that it trips."""
    contract = Contract("tried", output=output, ensures=ensures)
    return {
        one.what: (
            one.aims,
            tuple(v.clause for v in contract.check(one.value, inputs).verdicts if v.failed),
        )
        for one in mutants_of(value, output=output, clauses=ensures, inputs=inputs)
    }


@pytest.mark.requirement("verify:mutants:types")
@pytest.mark.parametrize(
    ("value", "output"),
    [
        (ORDER, Order),
        ("a", str),
        (3, int),
        (2.5, float),
        (True, bool),
        ([1, 2], list[int]),
        ((1, "a"), tuple[int, str]),
        ({"a": 1}, dict[str, int]),
        (Keyed(name="a"), Keyed),
        (Point(1), Point),
        (Pair(1, "a"), Pair),
        (Colour.RED, Colour),
        (date(2026, 1, 2), date),
        (Decimal("2.5"), Decimal),
        (RootModel[list[int]]([1]), RootModel[list[int]]),
    ],
)
def test_what_is_made_to_break_the_type_does(value: Any, output: Any) -> None:
    made = [one for one in tried(value, output).values() if one[0] == "output"]
    assert len(made) >= 2
    assert {tripped for _, tripped in made} == {("output",)}


@pytest.mark.requirement("verify:mutants:types")
def test_parts_of_every_depth_are_ill_typed() -> None:
    made = tried(ORDER, Order)
    broken = [what for what, (_, tripped) in made.items() if tripped]
    assert {"None", "id: None", "id: 8305", "lines[1].price: 'ill-typed'"} <= set(broken)
    assert made["lines[0].note: 8305"] == ("output", ("output",))


@pytest.mark.requirement("verify:mutants:types")
def test_a_missing_entry_and_one_too_many_are_tried() -> None:
    made = tried(Keyed(name="a"), Keyed)
    assert made["{}"] == (None, ("output",))
    assert "{'name': 'a', 'unasked': 'an extra entry'}" in made


@pytest.mark.requirement("verify:mutants:clauses")
@pytest.mark.parametrize(
    ("value", "clause"),
    [
        ({"x": "a"}, clauses.one_of("x", ["a", "b"])),
        ({"x": 3}, clauses.one_of("x", [3, 4])),
        ({"x": ["a"]}, clauses.subset_of("x", ["a", "b"])),
        ({"x": {"a"}}, clauses.subset_of("x", ["a", "b"])),
        ({"x": "a"}, clauses.refers_to("x", ["a"])),
        ({"x": "a"}, clauses.refers_to("x", lambda inputs: inputs["ids"])),
        ({"x": 3}, clauses.in_range("x", low=0)),
        ({"x": 3}, clauses.in_range("x", high=9)),
        ({"x": 3.5}, clauses.in_range("x", low=0.5, high=9.5)),
        ({"x": date(2026, 1, 2)}, clauses.in_range("x", low=date(2026, 1, 1))),
        ({"x": "ab"}, clauses.matches("x", "[a-z]+")),
        ({"x": ["a", "b"]}, clauses.unique("x")),
        ({"x": [{"k": 1}]}, clauses.unique("x", key="k")),
        ({"x": "A-17"}, clauses.grounded("x", source="text")),
        ({"x": ["A-17"]}, clauses.grounded("x", source="text")),
        ({"x": 30}, clauses.grounded("x", source="text")),
        ({"x": {"k": 1}}, clauses.monotone("x", before="before")),
        ({"x": ["k"]}, clauses.monotone("x", before="before")),
        ({"x": [3]}, clauses.forall("x[]", clauses.in_range(".", low=0))),
        ({"x": 3}, clauses.implies(lambda value: True, clauses.in_range("x", low=0))),
    ],
)
def test_each_kind_of_clause_is_tripped_by_what_aims_at_it(value: Any, clause: Clause) -> None:
    inputs = {"text": TEXT, "ids": ["a"], "before": {"k": 1}}
    aimed = [
        tripped
        for aims, tripped in tried(value, Any, clause, inputs=inputs).values()
        if aims == clause.name
    ]
    assert aimed
    assert (clause.name,) in aimed


@pytest.mark.requirement("verify:mutants:wrong")
def test_wrong_values_that_every_clause_accepts_are_tried() -> None:
    ensures = (
        clauses.grounded("id", source="text"),
        clauses.in_range("lines[].price", low=0, high=10),
    )
    made = tried(ORDER, Order, *ensures, inputs={"text": TEXT})
    unseen = {what for what, (_, tripped) in made.items() if not tripped}
    assert {"id: 'B-22'", "lines[0].kind: 'tool'", "lines[0].price: 3.0", "lines: []"} <= unseen
    assert made["lines[0].price: nan"] == (None, ("in_range lines[].price",))


@pytest.mark.requirement("verify:mutants:wrong")
@pytest.mark.parametrize(
    ("value", "output", "others"),
    [
        ("a", Literal["a", "b", "c"], {"b", "c"}),
        ("a", Literal["a", "b"] | None, {"b"}),
        (Colour.RED, Colour, {Colour.BLUE}),
        (True, bool, {False}),
        (None, int | None, {8305}),
    ],
)
def test_closed_sets_are_tried_by_their_other_members(
    value: Any, output: Any, others: set[Any]
) -> None:
    contract = Contract[Any]("tried", output=output)
    made = [one.value for one in mutants_of(value, output=output)]
    assert {one for one in made if one is not None and contract.check(one).ok} == others


@pytest.mark.requirement("verify:mutants:pure")
def test_the_value_itself_stays_as_it_is_and_no_mutant_equals_it() -> None:
    before = ORDER.model_copy(deep=True)
    made = mutants_of(ORDER, output=Order)
    assert before == ORDER
    digests = [digest(one.value) for one in made]
    assert digest(ORDER) not in digests
    assert len(set(digests)) == len(digests)


@pytest.mark.requirement("verify:mutants:hooks")
def test_a_hook_adds_mutants_of_its_own() -> None:
    def swapped(value: Any, inputs: Mapping[str, Any]) -> list[Any]:
        return [value[::-1], inputs["other"]]

    made = mutants_of("ab", output=str, inputs={"other": "xy"}, makers=[swapped])
    assert made[:2] == (Mutant(value="ba", what="'ba'"), Mutant(value="xy", what="'xy'"))


@pytest.mark.requirement("verify:mutants:pure")
@pytest.mark.parametrize(
    "clause",
    [
        clauses.refers_to("x", lambda inputs: inputs["gone"]),
        clauses.grounded("x", source="gone"),
        clauses.in_range("x", low="a"),
        clauses.unique("x"),
        clauses.one_of('["a b"].c', [1]),
    ],
)
def test_a_clause_that_cannot_be_looked_at_makes_no_mutants_and_raises_nothing(
    clause: Clause,
) -> None:
    assert mutants_of({"x": 3}, clauses=[clause])


LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.dates()
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=3), inner, max_size=3)
        | st.tuples(inner, inner)
    ),
    max_leaves=8,
)


@pytest.mark.requirement("verify:mutants:pure")
@given(value=VALUES)
def test_any_value_has_mutants_all_different(value: Any) -> None:
    made = mutants_of(value)
    assert made
    digests = {digest(one.value) for one in made}
    assert len(digests) == len(made)
    assert digest(value) not in digests
    assert not (isinstance(value, float) and math.isnan(value)) or len(made) >= 1
