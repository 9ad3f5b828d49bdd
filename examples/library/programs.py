"""The library's primitives, each as a program of its own for the scenarios that explain it.

    hornbook verify --scenarios examples/library

What is bound here is bound in a program too: `check_format.bind(format="iban")`.
"""

from pydantic import BaseModel

from hornbook import Recover
from hornbook import program as p
from hornbook.models import ScriptedModel
from hornbook.program.library import (
    Move,
    Propagation,
    check_format,
    check_type,
    classify_relation,
    decompose,
    entails,
    extract_entities,
    match_pattern,
    propagate,
    restructure,
)

# While a program is verified its scenarios reply in place of the model.
model = ScriptedModel([], identity="small-model")

order_lines = check_type.bind(
    against={
        "type": "array",
        "items": {
            "type": "object",
            "required": ["sku", "count"],
            "properties": {"sku": {"type": "string"}, "count": {"type": "integer", "minimum": 1}},
        },
    }
)

iban = check_format.bind(format="iban")

day = check_format.bind(format="iso_date")

orders_in = match_pattern.bind(template="order {id:word} of {day:date}")


class Order(BaseModel):
    id: str
    customer: str


class Basket(BaseModel):
    order: Order
    skus: list[str]
    currency: str


basket = restructure.bind(
    output=Basket,
    moves=(
        Move(to="order.id", take="id"),
        Move(to="order.customer", take="buyer.name"),
        Move(to="skus", take="lines[].sku"),
        Move(to="currency", take="currency", default="EUR"),
    ),
)


def rota(solved: Propagation) -> dict[str, str]:
    """Who works when, where only one way is left."""
    return {shift: str(people[0]) for shift, people in solved.domains.items() if len(people) == 1}


shifts = p.Sequence(propagate.bind(search="first"), rota).named("shifts")

names = extract_entities(model, kinds=("person", "place"), recover=Recover(retry=1))

relation = classify_relation(model, labels=("works for", "owns", "none"))

parts = decompose(model, recover=Recover(retry=1))

entailment = entails(model)
