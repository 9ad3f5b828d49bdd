"""The context of a run as a source: whatever it holds, as far as it can be told."""

from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

import pytest
from agents import Agent, function_tool
from pydantic import BaseModel

from hornbook.testing.script import Script, call
from hornbook_openai_agents.state import plain_state
from hornbook_openai_agents.testing import scripted


class Customer(BaseModel):
    customer_id: str = "C-17"


class Plain:
    def __init__(self, value: object) -> None:
        self.value = value
        self._hidden = "C-99"

    @property
    def computed(self) -> str:
        raise AssertionError  # pragma: no cover


class Slotted:
    __slots__ = ("unset", "value")

    def __init__(self, value: object) -> None:
        self.value = value


@dataclass
class Desk:
    customer: object
    notes: list[str] = field(default_factory=list[str])


class Colour(Enum):
    RED = "C-17"


CONTEXTS = [
    Customer(),
    Plain("C-17"),
    Plain(Customer()),
    Slotted(Plain("C-17")),
    Desk(Customer()),
    Desk(None, ["C-17"]),
    {"customer": Customer()},
    {"customers": {"C-17": "Ann"}},
    [Customer()],
    ({"C-17"},),
    {"a": [{"b": (Plain([Desk(Colour.RED)]),)}]},
]


@pytest.mark.requirement("openai:context:deep")
@pytest.mark.parametrize("context", CONTEXTS, ids=range(len(CONTEXTS)))
def test_a_value_is_found_wherever_it_stands(go: Any, context: Any):
    seen: list[str] = []

    @function_tool
    def look(customer_id: str) -> str:
        """Look."""
        seen.append(customer_id)
        return "ok"

    replies = [call("look", customer_id="C-17"), call("look", customer_id="C-99"), "Done."]
    desk = Agent(name="desk", tools=[look], model=scripted(Script.of(*replies)))
    go(desk, "Look me up.", context=context)
    assert seen == ["C-17"]


@pytest.mark.requirement("openai:context:deep")
def test_values_keep_their_form():
    own = UUID(int=7)
    context = {"id": own, "due": date(2026, 1, 2), "sum": Decimal("1.50"), "n": 3, "ok": True}
    odd = {"raw": b"C-17", "call": print, "kind": Customer, 7: "seven", ("a",): "no name"}
    assert plain_state(context | odd) == {
        "id": str(own),
        "due": "2026-01-02",
        "sum": "1.50",
        "n": 3,
        "ok": True,
        "raw": None,
        "call": None,
        "kind": None,
        "7": "seven",
    }
    assert plain_state(None) == plain_state(object()) == plain_state("C-17") == {}
    assert plain_state(["C-17"]) == {"context": ["C-17"]}


@pytest.mark.requirement("openai:context:deep")
def test_cycles_depth_and_size_are_bounded():
    cycle: dict[str, Any] = {"id": "C-17"}
    cycle["self"] = [cycle]
    assert plain_state(cycle) == {"id": "C-17", "self": [None]}
    deep: Any = "C-17"
    for _ in range(200):
        deep = [deep]
    assert plain_state({"deep": deep, "id": "C-18"})["id"] == "C-18"
    wide = {"rows": [{"a": [number]} for number in range(100_000)], "id": "C-17"}
    assert plain_state(wide)["id"] == "C-17"


@pytest.mark.requirement("openai:context:deep")
def test_what_cannot_be_read_is_left_out():
    class Broken(list[str]):
        def __iter__(self) -> Any:
            raise RuntimeError("gone")

    assert plain_state({"broken": Broken(), "id": "C-17"}) == {"broken": None, "id": "C-17"}
