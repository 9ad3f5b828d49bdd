"""The text of an input, as grounding searches it."""

import dataclasses
from datetime import date
from decimal import Decimal
from enum import Enum
from typing import Any

import pytest
from pydantic import BaseModel

from hornbook.contracts.grounding import locate, parts_of, text_of

pytestmark = pytest.mark.requirement("clause:grounded:undetermined")

DAY = date(2026, 11, 30)


class State(Enum):
    IN_PROGRESS = "in_progress"


class Message(BaseModel):
    type: str = "human"
    content: Any
    id: str | None = "message-1"


class Ticket(BaseModel):
    title: str
    amount: Decimal = Decimal("1.50")
    paid: bool = True
    due: date | None = None


@dataclasses.dataclass
class Note:
    text: str
    state: State = State.IN_PROGRESS


SPLIT = "\n\x00\n"


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("a text", "a text"),
        ("", ""),
        (None, None),
        ([], None),
        ({"a": None, "b": [True]}, None),
        (b"bytes", None),
        (3, "3"),
        ({"role": "user", "content": "hello", "name": "bob"}, "hello"),
        ({"content": "hello"}, "hello"),
        ({"content": "hello", "title": "x"}, f"hello{SPLIT}x"),
        ([{"role": "user", "content": "a"}, {"role": "tool", "content": "b"}], f"a{SPLIT}b"),
        (Message(content="hello"), "hello"),
        (
            Message(
                content=[
                    {"type": "text", "text": "see"},
                    {"type": "image_url", "image_url": {"url": "data:..."}},
                    {"type": "tool_use", "input": {"id": "invented"}},
                    {"type": "tool_result", "content": [{"type": "text", "text": "A17"}]},
                    "plain",
                ]
            ),
            f"see{SPLIT}A17{SPLIT}plain",
        ),
        (Ticket(title="broken", due=DAY), f"broken{SPLIT}1.50{SPLIT}2026-11-30"),
        (Note("hi"), f"hi{SPLIT}in_progress"),
        ({"messages": [Message(content="a")], "order": {"id": "A17"}}, f"a{SPLIT}A17"),
    ],
)
def test_the_text_of_an_input_is_that_of_its_leaves(source: Any, text: str | None) -> None:
    assert text_of(source) == text


def test_every_part_of_a_text_knows_where_it_came_from() -> None:
    source = {
        "messages": [Message(content="one"), Message(content=[{"type": "text", "text": "A17"}])]
    }
    text = text_of(source)
    assert text is not None
    assert {part.path: text[part.start : part.end] for part in parts_of(source)} == {
        "messages[0].content": "one",
        "messages[1].content[0].text": "A17",
    }
    assert [part.path for part in parts_of("a text")] == ["."]


def test_no_value_is_found_across_two_parts() -> None:
    text = text_of(["order", "A17"])
    assert text is not None
    assert locate("order A17", text) == ()
    assert locate("order A17", text, mode="fuzzy") == ()


def test_a_record_that_holds_itself_has_a_text() -> None:
    source: dict[str, Any] = {"a": "text"}
    source["self"] = source
    assert locate("text", text_of(source) or "")


@pytest.mark.requirement("clause:grounded:undetermined")
def test_a_source_that_holds_itself_is_looked_into_once():
    source: list[object] = ["A17"]
    source += [source, source]
    assert text_of(source) == "A17"
