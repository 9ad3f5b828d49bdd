"""Contracts: how they are written down, what is refused then, and that they never change."""

import asyncio
import copy
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest
from pydantic import BaseModel
from typing_extensions import TypedDict

from hornbook import Contract, HornbookError, clauses, contract
from hornbook.contracts import Clause
from hornbook.errors import DefinitionError


class Item(BaseModel):
    name: str
    price: float


class Order(BaseModel):
    order_id: str
    items: list[Item]
    note: str | None = None


@dataclass
class OrderClass:
    order_id: str


class OrderDict(TypedDict):
    order_id: str


class OrderTuple(NamedTuple):
    order_id: str


def positive(value: Any) -> bool:
    return value > 0


class Silent:
    def judge(self, questions: Any) -> Any:
        raise AssertionError("nobody asks")


@pytest.mark.requirement("contract:construct:names")
def test_two_clauses_of_one_name_are_refused() -> None:
    with pytest.raises(DefinitionError) as refused:
        Contract("c", ensures=[clauses.that("same", positive), clauses.that("same", bool)])
    assert str(refused.value) == (
        "contract 'c' has two clauses named 'same'; give one of them another name="
    )


@pytest.mark.requirement("contract:construct:names")
def test_names_are_unique_across_requires_and_ensures_and_the_type() -> None:
    for arguments in (
        {"requires": [clauses.bound("a", name="x")], "ensures": [clauses.that("x", bool)]},
        {"output": int, "ensures": [clauses.that("output", bool)]},
    ):
        with pytest.raises(DefinitionError, match="has two clauses named"):
            Contract("c", **arguments)  # type: ignore[arg-type]
    assert Contract("c", ensures=[clauses.that("output", positive)]).check(1).ok


@pytest.mark.requirement("contract:construct:names")
def test_one_kind_twice_at_one_path_needs_a_name() -> None:
    low, high = clauses.in_range("n", low=1), clauses.in_range("n", high=3)
    with pytest.raises(DefinitionError, match="give one of them another name="):
        Contract("c", ensures=[low, high])
    assert Contract("c", ensures=[low, clauses.in_range("n", high=3, name="high")])


@pytest.mark.requirement("contract:construct:immutable")
@pytest.mark.parametrize("attribute", ["name", "ensures", "output", "digest", "anything"])
def test_a_contract_cannot_be_changed(attribute: str) -> None:
    held = Contract("c", output=int)
    with pytest.raises(AttributeError) as refused:
        setattr(held, attribute, 3)
    assert str(refused.value) == f"contract 'c' is immutable: {attribute!r} cannot be set"
    with pytest.raises(AttributeError, match="is immutable"):
        delattr(held, attribute)


@pytest.mark.requirement("contract:construct:immutable")
def test_a_contract_keeps_nothing_that_is_the_callers() -> None:
    ensures = [clauses.that("positive", positive)]
    held = Contract("c", ensures=ensures)
    digest = held.digest
    ensures.append(clauses.that("never", lambda value: False))
    assert held.check(1).ok
    assert held.digest == digest
    with pytest.raises(TypeError):
        held.ensures[0].params["message"] = "other"  # type: ignore[index]


@pytest.mark.requirement("contract:construct:immutable")
def test_copies_of_a_contract_are_the_contract() -> None:
    held = Contract("c", ensures=[clauses.that("positive", lambda value: value > 0)])
    assert copy.copy(held) is held
    assert copy.deepcopy({"contract": held})["contract"] is held
    assert repr(held) == "<Contract 'c' version 1: positive>"
    assert repr(Contract("empty", version="2")) == "<Contract 'empty' version 2: no clauses>"


UNFIT: dict[str, tuple[dict[str, Any], str]] = {
    "no name": ({"name": " "}, "a contract's name is a text that is not empty: ' '"),
    "name": ({"name": 3}, "a contract's name is a text that is not empty: 3"),
    "version": ({"version": 1}, "a contract's version is a text that is not empty: 1"),
    "a clause alone": (
        {"requires": "query"},
        "contract 'c': requires is a list of clauses, not 'query'",
    ),
    "a function": (
        {"ensures": [positive]},
        f"contract 'c': ensures holds {positive!r}, which is no clause; "
        "make one with hornbook.clauses",
    ),
    "a number": (
        {"ensures": 3},
        "contract 'c': ensures holds 3, which is no clause; make one with hornbook.clauses",
    ),
    "revalidate": (
        {"revalidate": "sometimes"},
        "contract 'c': revalidate is 'always' or 'never', not 'sometimes'",
    ),
    "deadline": (
        {"deadline": 0},
        "contract 'c': deadline is a number of seconds above 0, or None: 0",
    ),
}


@pytest.mark.requirement("bad-input:contract:field")
@pytest.mark.parametrize(("arguments", "told"), UNFIT.values(), ids=UNFIT)
def test_what_cannot_work_gives_one_clear_error(arguments: dict[str, Any], told: str) -> None:
    with pytest.raises(HornbookError) as refused:
        Contract(**{"name": "c", **arguments})
    assert str(refused.value) == told


@pytest.mark.requirement("bad-input:contract:field")
def test_a_clause_where_a_list_is_wanted_is_named() -> None:
    clause = clauses.that("positive", positive)
    with pytest.raises(DefinitionError, match="ensures is a list of clauses, not Clause"):
        Contract("c", ensures=clause)  # type: ignore[arg-type]


@pytest.mark.requirement("bad-input:contract:field")
def test_an_unknown_field_of_a_contract_is_named_by_the_error() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'outputs'"):
        Contract("c", outputs=int)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="unexpected keyword argument 'sauce'"):
        clauses.grounded("a", source="query", sauce="x")  # type: ignore[call-arg]


@pytest.mark.requirement("contract:construct:output", "bad-input:contract:field")
@pytest.mark.parametrize("output", [3, "no such type"])
def test_what_is_no_type_is_refused(output: Any) -> None:
    with pytest.raises(DefinitionError, match="values cannot be checked against the type"):
        Contract("c", output=output)


@pytest.mark.requirement("contract:paths:unknown", "bad-input:contract:field")
@pytest.mark.parametrize("output", [OrderClass, OrderDict, OrderTuple])
def test_an_unknown_path_names_the_fields_of_any_record(output: Any) -> None:
    with pytest.raises(DefinitionError) as refused:
        Contract("c", output=output, ensures=[clauses.matches("orderid", "A.*")])
    assert str(refused.value) == (
        f"contract 'c', clause 'matches orderid': path 'orderid' does not fit {output.__name__}: "
        f"{output.__name__} has no field 'orderid'; it has 'order_id'; the nearest is 'order_id'"
    )


PATHS: dict[str, Any] = {
    "one_of": lambda path: clauses.one_of(path, [1]),
    "subset_of": lambda path: clauses.subset_of(path, [1]),
    "refers_to": lambda path: clauses.refers_to(path, [1]),
    "matches": lambda path: clauses.matches(path, "a"),
    "in_range": lambda path: clauses.in_range(path, low=1),
    "unique": lambda path: clauses.unique(path),
    "forall": lambda path: clauses.forall(path, clauses.that("m", bool)),
    "monotone": lambda path: clauses.monotone(path, before="b"),
    "grounded": lambda path: clauses.grounded(path, source="q"),
    "covers": lambda path: clauses.covers(path, source="q", judge=Silent()),
}


@pytest.mark.requirement("contract:paths:unknown")
@pytest.mark.parametrize("kind", PATHS)
def test_every_kind_with_a_path_is_held_against_the_type(kind: str) -> None:
    with pytest.raises(DefinitionError, match="it has 'name', 'price'"):
        Contract("c", output=Order, ensures=[PATHS[kind]("items[].cost")])
    assert Contract("c", output=Order, ensures=[PATHS[kind]("items[].name")])


@pytest.mark.requirement("contract:paths:unknown", "bad-input:contract:field")
@pytest.mark.parametrize("path", ["", "a..b", "a[", "a[x]", "a b", 3, None, "[", "a.", "*"])
def test_what_is_no_path_is_refused_when_the_clause_is_written(path: Any) -> None:
    for make in PATHS.values():
        with pytest.raises(DefinitionError, match="path"):
            make(path)
    with pytest.raises(DefinitionError, match="path"):
        clauses.grounded("id", source=path)


@pytest.mark.requirement("contract:paths:opaque")
@pytest.mark.parametrize("output", [dict, Any, dict[str, Any], object], ids=str)
def test_paths_into_what_no_type_tells_are_allowed(output: Any) -> None:
    assert Contract("c", output=output, ensures=[clauses.in_range("a", low=0)])


@pytest.mark.requirement("contract:paths:opaque")
def test_without_an_output_no_path_is_refused() -> None:
    assert Contract("c", ensures=[clauses.in_range("a.b[].c", low=0)])


UNKNOWN: dict[str, tuple[str, Any]] = {
    "source": ("ensures", clauses.grounded("order_id", source="text", name="x")),
    "part of a source": ("ensures", clauses.grounded("order_id", source="text.body", name="x")),
    "judge": ("ensures", clauses.covers(".", source="text", judge=Silent(), name="x")),
    "before": ("ensures", clauses.monotone(".", before="text", name="x")),
    "bound": ("requires", clauses.bound("query", "text", name="x")),
    "precondition": ("requires", clauses.matches("text", ".+", name="x")),
    "inside implies": (
        "requires",
        clauses.implies(clauses.one_of("query", ["a"]), clauses.one_of("text", ["a"]), name="x"),
    ),
    "inside forall": (
        "ensures",
        clauses.forall("items[]", clauses.grounded("name", source="text"), name="x"),
    ),
}


@pytest.mark.requirement("contract:parameters:unknown", "bad-input:contract:field")
@pytest.mark.parametrize(("where", "clause"), UNKNOWN.values(), ids=UNKNOWN)
def test_an_input_that_is_no_parameter_is_refused_when_the_step_is_decorated(
    where: str, clause: Clause
) -> None:
    held = Contract("c", **{where: [clause]})

    def extract(query: str, limit: int = 3) -> Any:
        raise AssertionError("it is never called")

    with pytest.raises(DefinitionError) as refused:
        contract(held)(extract)
    assert str(refused.value) == (
        "contract 'c', clause 'x': 'text' is no parameter of 'extract'; "
        "its parameters are query, limit"
    )


@pytest.mark.requirement("contract:parameters:unknown")
def test_paths_into_the_output_are_no_inputs() -> None:
    held = Contract("c", output=Order, ensures=[clauses.matches("order_id", "A.*")])

    @contract(held)
    def make() -> Order:
        return Order(order_id="A1", items=[])

    assert make().order_id == "A1"


@pytest.mark.requirement("contract:shared:threads")
def test_threads_and_tasks_share_one_contract() -> None:
    held = Contract(
        "c",
        output=tuple[int, int],
        ensures=[
            clauses.that("own", lambda value, inputs: value[0] == inputs["n"]),
            clauses.that("even", lambda value: value[1] % 2 == 0),
        ],
    )

    def one(n: int) -> bool:
        report = held.check((n, n), {"n": n}, step=f"step {n}")
        return (report.ok, report.step) == (n % 2 == 0, f"step {n}")

    async def aone(n: int) -> bool:
        report = await held.acheck((n, n), {"n": n}, step=f"step {n}")
        await asyncio.sleep(0)
        return (report.ok, report.step) == (n % 2 == 0, f"step {n}")

    async def tasks() -> bool:
        return all(await asyncio.gather(*(aone(n) for n in range(1000))))

    with ThreadPoolExecutor(2) as pool:
        assert all(pool.map(one, range(2000)))
        assert all(future.result() for future in [pool.submit(asyncio.run, tasks())])


@pytest.mark.requirement("bad-input:contract:field")
def test_a_function_is_no_output_type():
    def refund() -> None:
        raise AssertionError("a check must not call it")

    with pytest.raises(DefinitionError, match=r"^output=refund: a function is no type$"):
        Contract("c", output=refund)
