"""Primitives keep the signature of their function under both checkers."""

from typing import Any, assert_type

from pydantic import BaseModel

from hornbook import Contract, Recover, clauses
from hornbook.models import ScriptedModel
from hornbook.program import (
    Calls,
    Conditional,
    Fallback,
    Iterate,
    Parallel,
    Primitive,
    Program,
    Sequence,
    constant,
    neural,
    primitive,
    ref,
)


class Entities(BaseModel):
    names: list[str]


@primitive
def dedupe(items: list[str]) -> list[str]:
    return sorted(set(items))


@primitive(version="2", recover=Recover(retry=1))
def count(items: list[str], limit: int = 9) -> int:
    return min(limit, len(items))


@primitive
async def fetch(url: str) -> bytes:
    return url.encode()


def few(items: list[str]) -> bool:
    return len(items) < 3


assert_type(dedupe(["a"]), list[str])
assert_type(count(["a"], limit=3), int)
dedupe(3)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
count(["a"], most=3)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]

model = ScriptedModel(["{}"])
named = Contract("named", output=Entities, ensures=[clauses.unique("names")])
entities = neural(
    "entities", model, prompt="Names in: {input}", output=Entities, contract=named, version="3"
)
assert_type(entities("Ann"), Entities)

program = Sequence(
    entities,
    Parallel(names=entities, size=count.bind(items=ref("input"))),
    Conditional(few, dedupe, constant([])),
    Iterate(dedupe, until=few, at_most=3),
    Fallback(dedupe, count),
)
assert_type(program.max_calls(), Calls)
some: Program = count.bind(limit=3)
other: Primitive[..., Any] = dedupe


async def run() -> None:
    assert_type(await fetch("x"), bytes)
    await program.arun("x")
