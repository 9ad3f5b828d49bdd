"""`restructure` and `restructuring`: declared moves, checked before and after."""

from dataclasses import dataclass
from typing import Any, NotRequired

import pytest
from pydantic import BaseModel
from typing_extensions import TypedDict

from hornbook import ContractViolation
from hornbook import program as p
from hornbook.engine import Engine
from hornbook.errors import DefinitionError
from hornbook.program.library import Move, RestructureError, restructure, restructuring

ORDER = {
    "id": "A-17",
    "buyer": {"fullName": "Ada", "mail": None},
    "lines": [{"sku": "x", "tags": ["new", "red"]}, {"sku": "y", "tags": ["old"]}],
}


@pytest.mark.requirement("library:restructure:moves")
def test_values_are_renamed_picked_nested_filled_in_and_flattened():
    made = restructure(
        ORDER,
        (
            Move(to="order.number", take="id"),
            Move(to="order.customer.name", take="buyer.fullName"),
            Move(to="first", take="lines[0].sku"),
            Move(to="skus", take="lines[].sku"),
            Move(to="tags", take="lines[].tags", flatten=True),
            Move(to="currency", take="currency", default="EUR"),
            Move(to="source", default="mail"),
            Move(to="note", take="note", optional=True),
            Move(to="mail", take="buyer.mail"),
        ),
    )
    assert made == {
        "order": {"number": "A-17", "customer": {"name": "Ada"}},
        "first": "x",
        "skus": ["x", "y"],
        "tags": ["new", "red", "old"],
        "currency": "EUR",
        "source": "mail",
        "mail": None,
    }
    assert type(made["order"]) is dict


@pytest.mark.requirement("library:restructure:each")
def test_each_item_of_a_list_is_given_another_shape_too():
    each = (Move(to="article.id", take="sku"), Move(to="tag", take="tags[0]"))
    assert restructure(ORDER, (Move(to="items", take="lines[]", each=each),)) == {
        "items": [
            {"article": {"id": "x"}, "tag": "new"},
            {"article": {"id": "y"}, "tag": "old"},
        ]
    }
    assert restructure(ORDER, (Move(to=".", take="buyer.fullName"),)) == "Ada"


@pytest.mark.requirement("library:restructure:missing")
def test_every_path_that_leads_nowhere_is_named():
    each = (Move(to="price", take="price"),)
    with pytest.raises(RestructureError) as caught:
        restructure(
            ORDER,
            (
                Move(to="a", take="buyer.phone"),
                Move(to="items", take="lines[]", each=each),
            ),
        )
    assert str(caught.value) == (
        "the value has nothing at buyer.phone, lines[0].price, lines[1].price: give the move a "
        "default=, or say optional=True"
    )
    assert caught.value.code == "restructure"


class Address(BaseModel):
    city: str


class Customer(BaseModel):
    name: str
    address: Address
    age: int = 0


@pytest.mark.requirement("library:restructure:checked")
def test_the_result_is_held_to_its_type_and_nothing_is_converted():
    moves = (Move(to="name", take="n"), Move(to="address.city", take="c"))
    assert restructure({"n": "Ada", "c": "Oslo"}, moves, Customer) == Customer(
        name="Ada", address=Address(city="Oslo")
    )
    with pytest.raises(ContractViolation) as caught:
        restructure({"n": 7, "c": "Oslo"}, moves, Customer)
    assert [one.clause for one in caught.value.report.violations] == [
        "the result is of the output type"
    ]


@pytest.mark.requirement("library:restructure:malformed")
@pytest.mark.parametrize(
    ("moves", "message"),
    [
        (
            (Move(to="a[].b", take="id"),),
            "Move(to='a[].b'): it is a path of names, as 'customer.name'",
        ),
        ((Move(to="a"),), "Move(to='a'): it says neither take= nor default="),
        (
            (Move(to="a", take="id"), Move(to="a", take="id")),
            "Move(to='a'): another move puts something there too",
        ),
        (
            (Move(to="a", take="buyer"), Move(to="a.b", take="id")),
            "Move(to='a.b'): another move puts a value at 'a'",
        ),
        (
            (Move(to="a", take="id", flatten=True),),
            "Move(to='a', flatten=True): what is flattened is a list of what a path with [] leads "
            "to, not 'id'",
        ),
    ],
)
def test_moves_that_cannot_work_are_refused(moves: tuple[Move, ...], message: str):
    with pytest.raises(DefinitionError) as caught:
        restructure(ORDER, moves)
    assert str(caught.value) == message


class Raw(TypedDict):
    id: str
    amount: int
    names: list[str]


@dataclass(frozen=True, kw_only=True)
class Request:
    order: str
    amount: int
    people: tuple[str, ...]
    note: str = ""


def size(made: dict[str, Any]) -> int:
    return len(made)


@pytest.mark.requirement("library:restructure:typed")
def test_a_typed_restructuring_is_a_primitive_like_any_other():
    shape = restructuring(
        Move(to="order", take="id"),
        Move(to="amount", take="amount"),
        Move(to="people", take="names"),
        input=Raw,
        output=dict[str, Any],
        name="shape",
    )
    program = p.Sequence(shape, size)
    assert program.input is Raw
    assert program.run({"id": "A", "amount": 3, "names": ["x"]}) == 3


@pytest.mark.requirement("library:restructure:typed")
def test_a_typed_restructuring_makes_a_value_of_its_type():
    shape = restructuring(
        Move(to="order", take="id"),
        Move(to="amount", take="amount"),
        Move(to="people", default=("Ada", "Bob")),
        input=Raw,
        output=Request,
    )
    assert shape({"id": "A", "amount": 3, "names": []}) == Request(
        order="A", amount=3, people=("Ada", "Bob")
    )


@pytest.mark.requirement("library:restructure:typed")
def test_what_does_not_fit_is_told_before_anything_runs():
    with pytest.raises(DefinitionError) as caught:
        restructuring(
            Move(to="order", take="amount"),
            Move(to="amount", take="amonut"),
            Move(to="note", take="id"),
            input=Raw,
            output=Request,
            name="shape",
        )
    told = str(caught.value)
    assert told.startswith("shape: Move(to='order'): int is no str; Move(to='amount'): ")
    assert "'amonut'" in told
    assert told.endswith("; no move puts 'people', which Request requires")


class Shop(TypedDict):
    orders: list[Raw]
    note: NotRequired[str]


class Totals(BaseModel):
    ids: list[str]
    people: list[str]
    lines: list[dict[str, str]]
    note: str = ""


@pytest.mark.requirement("library:restructure:typed")
def test_what_may_be_missing_is_given_a_default_or_said_to_be_optional():
    moves = (
        Move(to="ids", take="orders[].id"),
        Move(to="people", take="orders[].names", flatten=True),
        Move(to="lines", take="orders[]", each=(Move(to="order", take="id"),)),
    )
    with pytest.raises(DefinitionError) as caught:
        restructuring(*moves, Move(to="note", take="note"), input=Shop, output=Totals)
    assert str(caught.value) == (
        "restructure: Move(to='note'): note may be missing in Shop: give it a default=, or say "
        "optional=True"
    )
    note = Move(to="note", take="note", optional=True)
    shape = restructuring(*moves, note, input=Shop, output=Totals)
    shop: Shop = {"orders": [{"id": "A", "amount": 1, "names": ["x", "y"]}]}
    assert shape(shop) == Totals(ids=["A"], people=["x", "y"], lines=[{"order": "A"}])
    with pytest.raises(DefinitionError, match="no move puts 'people', which Totals requires"):
        restructuring(moves[0], moves[2], input=Shop, output=Totals)


@pytest.mark.requirement("library:restructure:contract")
def test_a_wrong_result_does_not_pass_its_contract():
    program = restructure.bind(moves=(Move(to="a", take="id"),))
    with pytest.raises(ContractViolation) as caught:
        program.run(ORDER, engine=Engine(substitutes={"restructure": {"a": "B-2"}}))
    assert [one.clause for one in caught.value.report.violations] == [
        "the result is what the moves make"
    ]
