"""A real small model runs a program. Nothing is claimed of how often it is right."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NoReturn

import pytest
from typing_extensions import TypedDict

import hornbook
from hornbook import Contract, Recover, clauses
from hornbook.engine import Engine
from hornbook.models import Model, Sampling
from hornbook.program import Program, Sequence, neural, primitive
from hornbook.trace.reader import read, verify_trace

TEXT = "Please send twelve blue  Pens to Ann."
SHORT = Sampling(max_tokens=40)


class Order(TypedDict):
    item: str
    quantity: int


def stands_in_text(order: Order, inputs: Mapping[str, Any]) -> bool:
    return order["item"].lower() in inputs["text"].lower()


def as_written(text: str) -> Order:
    return {"item": text.rstrip("."), "quantity": 1}


def by_quantity(order: str, quantity: int) -> Literal["small", "large"]:
    return "small" if quantity < 10 else "large"


ORDER = Contract(
    "order",
    ensures=[
        clauses.that("an item is named", lambda order: bool(order["item"].strip())),
        clauses.that("the item stands in the text", stands_in_text),
    ],
)
NOT_EMPTY = Contract(
    "clean", ensures=[clauses.that("a text is left", lambda order: bool(order["order"]))]
)
SIZE = Contract("size", ensures=[clauses.that("a known size", {"small", "large"}.__contains__)])


class Cleaned(TypedDict):
    order: str
    quantity: int


@primitive(contract=NOT_EMPTY)
def clean(item: str, quantity: int) -> Cleaned:
    """One space between words, and small letters."""
    return {"order": " ".join(item.split()).lower(), "quantity": quantity}


def desk(model: Model) -> Program:
    extract = neural(
        "extract",
        model,
        prompt="{text}\nWrite the item and its quantity as JSON.",
        input={"text": str},
        output=Order,
        contract=ORDER,
        recover=Recover(retry=1, fallback=[as_written]),
        sampling=SHORT,
    )
    classify = neural(
        "classify",
        model,
        prompt="An order of {quantity} of: {order}. Is it small or large?",
        input={"order": str, "quantity": int},
        output=Literal["small", "large"],
        contract=SIZE,
        recover=Recover(retry=1, fallback=[by_quantity]),
        sampling=SHORT,
    )
    return Sequence(extract, clean, classify).named("desk")


class Absent:
    """In place of the model: it is never asked."""

    max_attempts = 1

    def __init__(self, identity: str) -> None:
        self.identity = identity

    def complete(self, *args: Any, **named: Any) -> NoReturn:
        raise AssertionError("the model is asked")

    async def acomplete(self, *args: Any, **named: Any) -> NoReturn:
        raise AssertionError("the model is asked")


async def given(program: Program, awaits: bool, **named: Any) -> Any:
    return await program.arun(TEXT, **named) if awaits else program.run(TEXT, **named)


def places(path: Path) -> list[str]:
    steps = [event for event in read(path) if event.kind == "step.start"]
    metas = [event.data.get("meta") or {} for event in steps]
    return [meta["place"] for meta in metas if "place" in meta]


@pytest.mark.requirement("program:real-model:runs", "program:real-model:replayed")
@pytest.mark.parametrize("awaits", [False, True], ids=["sync", "async"])
async def test_a_small_model_runs_three_steps_within_the_bound_and_is_replayed(
    smollm: Any, tmp_path: Path, awaits: bool
):
    program = desk(smollm)
    bound = program.max_calls()
    assert dict(bound) == {smollm.identity: 4}
    with hornbook.run(tmp_path) as run:
        size = await given(program, awaits)
    assert size in ("small", "large")

    spent = run.meter.spent
    assert 2 <= spent.calls <= bound.total
    assert spent.tokens > 0
    assert run.path is not None
    assert verify_trace(run.path).ok
    assert places(run.path) == ["desk[0]", "desk[1]", "desk[2]"]
    models = [event for event in read(run.path) if event.data.get("step") == "model"]
    assert len(models) == spent.calls

    with hornbook.run(None) as again:
        replayed = await given(
            desk(Absent(smollm.identity)), awaits, engine=Engine(replay=run.path)
        )
    assert replayed == size
    assert again.meter.spent.calls == spent.calls
