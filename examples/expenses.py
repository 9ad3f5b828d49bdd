"""Expenses: a receipt is read, its sum is checked, and a large claim goes to the manager.

The contract of the model's step can only say that each amount stands on the receipt. Whether
the right amounts were taken shows a step later, where the lines must add up: a check of a
whole catches what checks of its parts cannot.

    hornbook verify examples.expenses:program --scenarios examples/scenarios
"""

from typing import Literal

from pydantic import BaseModel

from hornbook import Contract, Recover, clauses
from hornbook import program as p
from hornbook.models import ScriptedModel
from hornbook.program import neural, primitive


class Scan(BaseModel):
    text: str


class Line(BaseModel):
    what: str
    amount: float


class Receipt(BaseModel):
    lines: list[Line]
    total: float


class Claim(BaseModel):
    amount: float
    lines: int


def adds_up(claim: Claim, inputs: dict[str, object]) -> bool:
    receipt = inputs["receipt"]
    assert isinstance(receipt, Receipt)
    return abs(sum(line.amount for line in receipt.lines) - claim.amount) < 0.005


read_receipt = neural(
    "read_receipt",
    ScriptedModel([], identity="small-model"),
    prompt="List the lines and the total of this receipt.\n\n{text}",
    input=Scan,
    output=Receipt,
    contract=Contract(
        "receipt",
        output=Receipt,
        ensures=[
            clauses.grounded("lines[].what", source="text"),
            clauses.grounded("lines[].amount", source="text"),
            clauses.grounded("total", source="text"),
            clauses.in_range("lines[].amount", low=0.0),
            clauses.unique("lines", key="what"),
        ],
    ),
    recover=Recover(retry=1),
)


@primitive(
    contract=Contract(
        "claim", output=Claim, ensures=[clauses.that("the lines add up to the total", adds_up)]
    )
)
def claim(receipt: Receipt) -> Claim:
    return Claim(amount=receipt.total, lines=len(receipt.lines))


@primitive
def size(claim: Claim) -> Literal["small", "large"]:
    return "small" if claim.amount <= 50 else "large"


@primitive
def pay(claim: Claim) -> str:
    return f"pay {claim.amount:.2f}"


@primitive
def ask_manager(claim: Claim) -> str:
    return f"ask the manager about {claim.amount:.2f}"


program = p.Sequence(
    read_receipt, claim, p.Conditional(size, {"small": pay, "large": ask_manager})
).named("expenses")
