"""Small primitives at the top of a module, where importing finds them."""

from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal, NotRequired, TypeVar

from pydantic import BaseModel
from typing_extensions import TypedDict

from hornbook import Contract, Recover, clauses
from hornbook.models import Completion, Message
from hornbook.program import primitive

T = TypeVar("T")


class Size(Enum):
    SMALL = "small"
    LARGE = "large"


class Query(BaseModel):
    text: str
    limit: int = 3


class Wish(TypedDict):
    text: str
    note: NotRequired[str]


@dataclass
class Span:
    start: int
    end: int = 9


class Found(BaseModel):
    names: list[str]


@primitive
def strip(text: str) -> str:
    """Without spaces around."""
    return text.strip()


@primitive
def words(text: str) -> list[str]:
    return text.split()


@primitive
def count(text: str) -> int:
    return len(text)


@primitive
def join(words: list[str], count: int, sep: str = "-") -> str:
    return sep.join([*words, str(count)])


@primitive
def first(items: list[T]) -> T:
    return items[0]


@primitive
def increment(number: int) -> int:
    return number + 1


@primitive
def is_long(text: str) -> bool:
    return len(text) > 3


@primitive
def size_of(text: str) -> Size:
    return Size.LARGE if len(text) > 3 else Size.SMALL


@primitive
def kind_of(text: str) -> Literal["name", "number"]:
    return "number" if text.isdigit() else "name"


@primitive
async def later(text: str) -> str:
    return text + "!"


def plain(text: str) -> str:
    return text + "?"


def spare(text: str) -> str:
    return "spare"


def not_empty(value: str) -> bool:
    return bool(value)


def ask_politely(inputs: Any) -> list[Message]:
    return [
        Message(role="system", content="Be brief."),
        Message(role="user", content=f"Please: {inputs['text']}"),
    ]


def ten_or_more(before: int, after: int) -> bool:
    return after >= 10 and after > before


def wider(inputs: Any, violation: Any) -> dict[str, Any]:
    return {"text": inputs["text"] + "."}


SAID = Contract("said", version="2", output=str, ensures=[clauses.that("not empty", not_empty)])


@primitive(name="shout", version="3", contract=SAID, recover=Recover(retry=1, modify=wider))
def loud(text: str) -> str:
    return text.upper()


class Unbounded:
    """A host's model, which says nothing of its own attempts."""

    identity = "host"
    max_attempts = None

    def complete(self, request: Any, /, *, timeout: float | None = None) -> Completion:
        return Completion(text="1")

    async def acomplete(self, request: Any, /, *, timeout: float | None = None) -> Completion:
        return Completion(text="1")


@primitive
def about_length(number: int, step: int) -> int:
    return number + step
