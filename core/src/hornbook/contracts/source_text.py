"""The text that an input holds: of a string, a message, a list of messages, or any record."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import date, time
from decimal import Decimal
from enum import Enum
from typing import Any, TypeAlias, cast
from uuid import UUID

from pydantic import BaseModel

from hornbook.contracts.declared import declared_names
from hornbook.contracts.segments import joined

__all__ = ["Part", "parts_of", "text_of"]

_SEPARATOR = "\n\x00\n"
"""Stands between parts, so that no value is found across two of them."""
_DEEPEST = 32
_BLOCKS_WITHOUT_TEXT = frozenset(
    {
        "audio",
        "file",
        "function_call",
        "image",
        "image_url",
        "input_audio",
        "input_file",
        "input_image",
        "reasoning",
        "redacted_thinking",
        "thinking",
        "tool_call",
        "tool_use",
        "video",
    }
)
"""Types of content blocks that hold data, or what a model made up: no source of a value."""

_Leaf: TypeAlias = tuple[tuple[object, ...], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One text within the text of an input."""

    path: str
    start: int
    end: int


def text_of(source: Any) -> str | None:
    """The text of an input; None where it holds none.

    Of a message (a mapping or object with `content` and a `role` or `type`) only the content
    counts, of a content block only its text; of other records and collections all values.
    """
    if isinstance(source, str):
        return source
    texts = [text for _, text in _leaves(source, (), 0)]
    return _SEPARATOR.join(texts) if texts else None


def parts_of(source: Any) -> tuple[Part, ...]:
    """Where in `text_of(source)` which part of the input stands."""
    parts: list[Part] = []
    start = 0
    for keys, text in _leaves(source, (), 0):
        parts.append(Part(path=joined(*keys), start=start, end=start + len(text)))
        start += len(text) + len(_SEPARATOR)
    return tuple(parts)


def _leaves(
    value: Any, at: tuple[object, ...], depth: int, within: frozenset[int] = frozenset()
) -> Iterator[_Leaf]:
    """The texts below `value`; what holds itself is looked into once."""
    if depth > _DEEPEST or id(value) in within:
        return
    text = _leaf_text(value)
    if text is not None:
        yield at, text
        return
    around = within | {id(value)}
    for key, item in _children(value):
        yield from _leaves(item, (*at, key), depth + 1, around)


def _leaf_text(value: Any) -> str | None:
    match value:
        case Enum():
            return _leaf_text(value.value)
        case str():
            return str(value)
        case bool() | None:
            return None
        case int() | float() | Decimal() | UUID():
            return str(value)
        case date() | time():
            return value.isoformat()
        case _:
            return None


def _children(value: Any) -> Iterable[tuple[object, Any]]:
    if isinstance(value, str | bytes | bytearray):
        return ()
    if isinstance(value, Mapping):
        return _of_record(cast("Mapping[object, Any]", value))
    if isinstance(value, Sequence | Set):
        return enumerate(cast("Iterable[Any]", value))
    if isinstance(value, BaseModel):
        return _of_record({**value.__dict__, **(value.model_extra or {})})
    names = declared_names(cast("type[Any]", type(value)))
    return _of_record({name: getattr(value, name, None) for name in names})


def _of_record(record: Mapping[Any, Any]) -> Iterable[tuple[object, Any]]:
    if "content" in record and ("role" in record or "type" in record or len(record) == 1):
        return (("content", record["content"]),)
    kind = record.get("type")
    if isinstance(kind, str) and isinstance(record.get("text"), str):
        return (("text", record["text"]),)
    return () if kind in _BLOCKS_WITHOUT_TEXT else record.items()
