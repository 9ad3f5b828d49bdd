"""Triage: a shop's mail becomes a ticket, and the ticket an answer.

A program of four steps. A model reads the mail; what it says is held to a contract, asked
again once, and read by a plain rule where that does not help. Plain functions do the rest.

    python examples/triage.py
    hornbook verify examples.triage:program --scenarios examples/scenarios
"""

import re
from typing import Literal

from pydantic import BaseModel

from hornbook import Contract, Recover, clauses
from hornbook import program as p
from hornbook.models import Request, ScriptedModel
from hornbook.program import neural, primitive


class Mail(BaseModel):
    sender: str
    text: str


class Ticket(BaseModel):
    queue: Literal["returns", "parcels", "other"]
    order: str | None
    """An order number, such as A-1001; None where the mail has none."""


class Answer(BaseModel):
    to: str
    text: str


def small_model(request: Request) -> str:
    """Stand in for a small model: it knows two words, and takes any number for an order."""
    mail = request.messages[-1].content.partition("Mail:")[2]
    queue = "returns" if "refund" in mail else "parcels" if "parcel" in mail else "other"
    number = re.search(r"\S*\d+", mail)
    return Ticket(queue=queue, order=number[0] if number else None).model_dump_json()


def by_rule(sender: str, text: str) -> Ticket:
    """Read a mail without a model: no queue is guessed."""
    found = re.search(r"\b[A-Z]-\d{4}\b", text)
    return Ticket(queue="other", order=found[0] if found else None)


read = neural(
    "read",
    ScriptedModel(small_model, identity="small-model"),
    prompt=(
        "Which queue is this mail for, and which order is it about?\nFrom: {sender}\nMail: {text}"
    ),
    input=Mail,
    output=Ticket,
    contract=Contract(
        "ticket",
        output=Ticket,
        ensures=[
            clauses.matches("order", r"[A-Z]-\d{4}", optional=True),
            clauses.grounded("order", source="text", optional=True),
        ],
    ),
    recover=Recover(retry=1, fallback=[by_rule]),
)


@primitive
def tidy(mail: Mail) -> Mail:
    """Join the lines, so that an order number is not torn apart."""
    return mail.model_copy(update={"text": " ".join(mail.text.split())})


@primitive
def has_order(ticket: Ticket) -> bool:
    return ticket.order is not None


def names_the_order(answer: Answer, inputs: dict[str, object]) -> bool:
    ticket = inputs["ticket"]
    return isinstance(ticket, Ticket) and str(ticket.order) in answer.text


@primitive(
    contract=Contract(
        "confirmation",
        output=Answer,
        ensures=[clauses.that("the answer names the order", names_the_order)],
    )
)
def confirm(ticket: Ticket, sender: str) -> Answer:
    text = f"Thank you. Your order {ticket.order} is with our colleagues for {ticket.queue}."
    return Answer(to=sender, text=text)


@primitive(
    contract=Contract(
        "question",
        output=Answer,
        ensures=[clauses.matches("text", r".+\?")],
    )
)
def ask_for_order(sender: str) -> Answer:
    return Answer(to=sender, text="Which order is it about?")


@primitive
def sender(mail: Mail) -> str:
    return mail.sender


program = p.Sequence(
    tidy,
    p.Parallel(sender, ticket=read),
    p.Conditional(has_order, confirm, ask_for_order),
).named("triage")


if __name__ == "__main__":
    print(program.to_text())
    mails = (
        "I want a refund for order A-1001.",
        "Where is my parcel?",
        "My parcel, order 1002, is late. I wrote two weeks ago, about A-1002.",
    )
    for text in mails:
        print(f"\n> {text}\n{program.run(Mail(sender='ann@example.org', text=text)).text}")
