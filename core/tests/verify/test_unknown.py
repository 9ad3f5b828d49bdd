"""Scenarios that expect fields or clauses which their program does not have."""

from typing import Any

import pytest
from pydantic import BaseModel, Field, RootModel, model_validator

from hornbook import Contract, clauses
from hornbook import program as p
from hornbook.program import primitive
from hornbook.verify import Expectation, ExpectedViolation, Scenario, play_scenario

SHORT = Contract("short", output=str, ensures=[clauses.that("short text", lambda text: True)])


@primitive(contract=SHORT)
def cut(text: str) -> str:
    return text[:9]


@primitive
def loud(text: str) -> str:
    return text.upper()


@pytest.mark.requirement("verify:scenarios:refused")
def test_a_clause_that_there_is_not_is_named_with_the_nearest() -> None:
    def told(**wanted: str) -> tuple[str, ...]:
        expect = Expectation(violation=ExpectedViolation(**wanted))
        scenario = Scenario(name="one", input="a", expect=expect)
        return play_scenario(p.Sequence(cut, loud), scenario).failures

    assert told(step="cut", clause="short txt") == (
        "step 'cut' has no clause 'short txt'; the nearest is 'short text'",
        "violation: expected a violation of 'short txt' at step 'cut', got no violation",
    )
    assert told(clause="short txt")[0] == (
        "the program has no clause 'short txt'; the nearest is 'short text'"
    )
    assert told(step="program[0]", clause="xyz")[0].startswith(
        "step 'program[0]' has no clause 'xyz'; it has "
    )
    for clause in ("short text", "output", "exception"):
        (failure,) = told(clause=clause)
        assert failure == f"violation: expected a violation of '{clause}', got no violation"


@pytest.mark.requirement("verify:scenarios:refused")
def test_expected_fields_are_looked_for_at_every_depth() -> None:
    class Line(BaseModel):
        sku: str = Field(alias="SKU")
        count: int = 1

    class Open(BaseModel, extra="allow"):
        pass

    class Order(BaseModel):
        lines: list[Line] = []
        first: Line | None = None
        other: Open = Open()
        by_name: dict[str, Line] = {}

    @primitive
    def same(order: Order) -> Order:
        return order

    def told(output: Any) -> tuple[str, ...]:
        given = {"lines": [{"SKU": "a"}], "other": {"x": 1}}
        expect = Expectation(output=output)
        return play_scenario(same, Scenario(name="one", input=given, expect=expect)).failures

    assert told({"lines": [{"SKU": "a"}], "other": {"x": 1}}) == ()
    assert told({"lines": [{"SKU": "a", "cont": 1}]}) == (
        "'output.lines[0]' is expected to have 'cont', which is no field of Line; the nearest is "
        "'count'",
    )
    assert told({"first": {"zzz": 1}}) == (
        "'output.first' is expected to have 'zzz', which is no field of Line; it has sku, count, "
        "SKU",
    )


@pytest.mark.requirement("verify:scenarios:data")
def test_data_that_a_class_reads_in_its_own_way_may_have_other_keys() -> None:
    class Anything(RootModel[dict[str, int]]):
        pass

    class Sum(BaseModel):
        total: int

        @model_validator(mode="before")
        @classmethod
        def added(cls, data: Any) -> Any:
            return {"total": data["left"] + data["right"]} if "left" in data else data

    @primitive
    def summed(given: Anything) -> Sum:
        return Sum(total=sum(given.root.values()))

    expect = Expectation(output={"left": 1, "right": 2})
    assert play_scenario(summed, Scenario(name="one", input={"a": 3}, expect=expect)).ok
