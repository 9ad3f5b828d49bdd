"""Holding a value to a contract: all clauses, four verdicts, the type, and the inputs."""

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, field_validator

from hornbook import Contract, clauses
from hornbook.contracts import Clause, ContractReport
from hornbook.errors import DefinitionError


class Address(BaseModel):
    city: str
    zip: int


class Person(BaseModel):
    name: str
    age: int
    address: Address | None = None


def statuses(report: ContractReport) -> list[str]:
    return [verdict.status for verdict in report.verdicts]


@pytest.mark.requirement("check:clauses:all")
def test_every_clause_runs_whatever_the_others_say() -> None:
    ran: list[int] = []

    def noted(number: int, answer: Any) -> Clause:
        def test(value: object) -> Any:
            ran.append(number)
            return answer

        return clauses.that(f"clause {number}", test)

    contract = Contract("c", ensures=[noted(1, False), noted(2, "?"), noted(3, True)])
    assert statuses(contract.check(0)) == ["Violated", "Undetermined", "Satisfied"]
    assert ran == [1, 2, 3]


@pytest.mark.requirement("check:clauses:all")
@given(st.lists(st.sampled_from([True, False, None, "raises"]), max_size=8))
def test_each_clause_is_asked_once_and_told_in_order(answers: list[Any]) -> None:
    asked: list[int] = []

    def clause(at: int, answer: Any) -> Clause:
        def test(value: object) -> Any:
            asked.append(at)
            if answer == "raises":
                raise ValueError
            return answer

        return clauses.that(f"clause {at}", test)

    contract = Contract("c", ensures=[clause(at, answer) for at, answer in enumerate(answers)])
    report = contract.check("value")
    assert asked == list(range(len(answers)))
    assert [v.clause for v in report.verdicts] == [f"clause {at}" for at in range(len(answers))]
    assert report.ok is all(answer is True for answer in answers)
    assert [v.clause for v in report.violations] == [
        f"clause {at}" for at, answer in enumerate(answers) if answer is not True
    ]


@pytest.mark.requirement("check:clauses:inline")
def test_deterministic_clauses_run_in_the_callers_thread_and_task() -> None:
    seen: list[tuple[Any, Any]] = []

    def where(value: object) -> bool:
        try:
            task = asyncio.current_task()
        except RuntimeError:
            task = None
        seen.append((threading.current_thread(), task))
        return True

    contract = Contract("c", output=int, ensures=[clauses.that("where", where)])
    before = threading.active_count()

    async def main() -> None:
        assert (await contract.acheck(1)).ok
        assert seen[-1] == (threading.current_thread(), asyncio.current_task())
        assert len(asyncio.all_tasks()) == 1

    assert contract.check(1).ok
    assert seen[-1] == (threading.current_thread(), None)
    asyncio.run(main())
    assert threading.active_count() == before


@pytest.mark.requirement("check:clauses:inline")
def test_an_async_check_of_deterministic_clauses_never_suspends() -> None:
    contract = Contract("c", output=int, ensures=[clauses.that("even", lambda n: n % 2 == 0)])
    with pytest.raises(StopIteration) as stopped:
        contract.acheck(3).send(None)
    assert statuses(stopped.value.value) == ["Satisfied", "Violated"]


@pytest.mark.requirement("check:verdicts:four", "check:verdicts:fails-closed")
def test_the_four_verdicts_and_which_of_them_fail() -> None:
    contract = Contract(
        "person",
        output=Person,
        ensures=[
            clauses.in_range("age", low=0),
            clauses.in_range("address.zip", low=1),
            clauses.that("named", lambda person: person.name != ""),
            clauses.that("crashes", lambda person: person.nickname == ""),
        ],
    )
    report = contract.check(Person(name="Ada", age=-1))
    assert statuses(report) == [
        "Satisfied", "Violated", "NotApplicable", "Satisfied", "Undetermined"
    ]  # fmt: skip
    assert [v.clause for v in report.violations] == ["in_range age", "crashes"]
    assert [v.failed for v in report.verdicts] == [False, True, False, False, True]
    only_undetermined = Contract("c", ensures=[clauses.that("crashes", lambda v: v.nothing)])
    assert not only_undetermined.check(1).ok


@pytest.mark.requirement("check:verdicts:not-applicable")
def test_below_a_part_that_failed_its_type_nothing_else_is_said() -> None:
    contract = Contract(
        "person",
        output=Person,
        ensures=[
            clauses.in_range("age", low=0),
            clauses.matches("address.city", "[A-Z].*"),
            clauses.matches("name", "[A-Z].*"),
        ],
    )
    broken = Person.model_construct(name="ada", age="old", address={"city": 3})
    report = contract.check(broken)
    assert [(v.clause, v.path) for v in report.violations] == [
        ("output", "age"),
        ("output", "address"),
        ("matches name", "name"),
    ]
    assert statuses(report)[1:3] == ["NotApplicable", "NotApplicable"]
    assert report.verdict("in_range age").reason == "age failed its type"


@pytest.mark.requirement("check:verdicts:not-applicable")
def test_nothing_applies_to_a_value_that_is_of_another_type_altogether() -> None:
    asked: list[object] = []
    contract = Contract(
        "person",
        output=Person,
        ensures=[
            clauses.that("asked", lambda value: asked.append(value) is None),
            clauses.in_range("age", low=0),
        ],
    )
    report = contract.check("Ada")
    assert statuses(report) == ["Violated", "NotApplicable", "NotApplicable"]
    assert len(report.violations) == 1
    assert asked == []


STRICT: dict[str, tuple[Any, Any]] = {
    "text for int": (int, "3"),
    "float for int": (int, 3.0),
    "bool for int": (int, True),
    "tuple for list": (list[int], (1, 2)),
    "list for set": (set[int], [1]),
    "int for text": (str, 3),
    "dict for model": (Address, {"city": "Rome", "zip": 1}),
    "text for bytes": (bytes, "x"),
    "text inside": (dict[str, int], {"a": "1"}),
}


@pytest.mark.requirement("check:output:strict")
@pytest.mark.parametrize(("tp", "value"), STRICT.values(), ids=STRICT)
def test_the_type_is_checked_strictly(tp: Any, value: Any) -> None:
    report = Contract("c", output=tp).check(value)
    assert statuses(report) == ["Violated"]
    assert {v.clause for v in report.violations} == {"output"}


@pytest.mark.requirement("check:output:strict")
def test_strict_false_lets_pass_what_could_be_converted_and_converts_nothing() -> None:
    relaxed = Contract("c", output=list[int], strict=False)
    value = ["1", 2.0]
    assert relaxed.check(value).ok
    assert value == ["1", 2.0]
    assert not relaxed.check(["one"]).ok


@pytest.mark.requirement("contract:construct:output")
@pytest.mark.parametrize(
    ("tp", "good", "bad"),
    [
        (int | str, 3, 3.5),
        (list[Address], [Address(city="Rome", zip=1)], [1]),
        (tuple[int, str], (1, "a"), (1, 2)),
        (dict[str, list[int]], {"a": [1]}, {"a": 1}),
        (None, None, 0),
        (bytes, b"", ""),
    ],
)
def test_output_is_anything_a_type_adapter_takes(tp: Any, good: Any, bad: Any) -> None:
    contract = Contract("c", output=tp)
    assert contract.check(good).ok
    assert not contract.check(bad).ok


@dataclass
class Point:
    x: int
    y: int


@pytest.mark.requirement("check:output:revalidate")
@pytest.mark.parametrize(
    "value", [Address.model_construct(city=3, zip="x"), Point(x="1", y=2)], ids=["model", "class"]
)
def test_instances_are_looked_into_again_unless_told_otherwise(value: Any) -> None:
    assert not Contract("c", output=type(value)).check(value).ok
    assert not Contract("c", output=type(value), revalidate="always").check(value).ok
    assert Contract("c", output=type(value), revalidate="never").check(value).ok
    assert not Contract("c", output=type(value), revalidate="never").check(3).ok


@pytest.mark.requirement("check:output:revalidate")
def test_what_was_assigned_after_validation_is_seen() -> None:
    address = Address(city="Rome", zip=1)
    contract = Contract("c", output=list[Address])
    assert contract.check([address]).ok
    address.zip = "many"  # type: ignore[assignment]
    assert [v.path for v in contract.check([address]).violations] == ["[0].zip"]


@pytest.mark.requirement("check:output:revalidate")
def test_a_third_way_of_revalidating_is_refused() -> None:
    with pytest.raises(DefinitionError, match="revalidate"):
        Contract("c", output=int, revalidate="sometimes")  # type: ignore[arg-type]


@pytest.mark.requirement("bad-input:clause:raises", "check:verdicts:fails-closed")
def test_a_validator_that_crashes_is_undetermined() -> None:
    class Touchy(BaseModel):
        n: int

        @field_validator("n", mode="after")
        @classmethod
        def crash(cls, n: int) -> int:
            if n > 1:
                raise ZeroDivisionError("crash")
            return n

    contract = Contract("c", output=Touchy, ensures=[clauses.in_range("n", low=0)])
    report = contract.check(Touchy.model_construct(n=2))
    assert statuses(report) == ["Undetermined", "NotApplicable"]
    assert report.verdicts[0].reason == "the check raised ZeroDivisionError: crash"
    assert str(report.violations[0]) == (
        "output: expected its type; got Touchy(n=2) "
        "(not determined: the check raised ZeroDivisionError: crash)"
    )


@pytest.mark.requirement("check:inputs:requires", "contract:paths:inputs")
def test_check_runs_ensures_and_check_inputs_runs_requires() -> None:
    contract = Contract(
        "c",
        requires=[
            clauses.bound("query"),
            clauses.matches("query", ".{3,}"),
            clauses.in_range("options.limit", low=1),
            clauses.that("not both", lambda inputs: not (inputs["a"] and inputs["b"])),
        ],
        ensures=[clauses.that("text", lambda value: isinstance(value, str))],
    )
    inputs = {"query": "ab", "options": {"limit": 0}, "a": True, "b": True}
    assert statuses(contract.check("x", inputs)) == ["Satisfied"]
    report = contract.check_inputs(inputs)
    assert statuses(report) == ["Satisfied", "Violated", "Violated", "Violated"]
    assert [v.path for v in report.violations] == ["query", "options.limit", "."]


@pytest.mark.requirement("check:inputs:requires")
async def test_the_twins_say_the_same() -> None:
    contract = Contract(
        "c",
        output=int,
        requires=[clauses.bound("n")],
        ensures=[clauses.that("above", lambda value, inputs: value > inputs["n"])],
    )
    assert await contract.acheck(1, {"n": 2}) == contract.check(1, {"n": 2})
    assert await contract.acheck(1) == contract.check(1)
    assert await contract.acheck_inputs({}) == contract.check_inputs({})


@pytest.mark.requirement("check:output:same-object")
@pytest.mark.parametrize("value", [[3, 1, 2], {"b": 1}, Person(name="Ada", age=3)], ids=repr)
def test_a_check_changes_nothing(value: Any) -> None:
    before = repr(value)
    ensures = [clauses.that("whole", lambda given: given is value)]
    assert Contract("c", output=type(value), ensures=ensures).check(value).ok
    assert repr(value) == before


@pytest.mark.requirement("check:clauses:all")
def test_a_contract_of_nothing_is_satisfied_by_everything() -> None:
    report = Contract("c").check(object())
    assert (report.ok, report.verdicts, report.violations) == (True, (), ())


FAILING: dict[str, Callable[[Any], Any]] = {
    "false": lambda value: False,
    "none": lambda value: None,
    "raises": lambda value: 1 / 0,
}


@pytest.mark.requirement("check:verdicts:fails-closed")
@pytest.mark.parametrize("fn", FAILING.values(), ids=FAILING)
def test_a_report_that_is_not_ok_has_a_violation_and_one_that_is_has_none(fn: Any) -> None:
    report = Contract("c", ensures=[clauses.that("holds", fn)]).check(1)
    assert (report.ok, len(report.violations)) == (False, 1)
