"""Whether a value stands in a source text, and where.

A value stands there as whole tokens: `17` does not stand in `170`, `A17` or `17.5`. By
default both are compared in normal form, and numbers, dates and enums by what they mean.
Spans always lead into the original text.
"""

import unicodedata
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import date, time
from decimal import Decimal
from enum import Enum
from functools import lru_cache
from numbers import Number
from typing import Any, Literal, cast

from pydantic import BaseModel

from hornbook.contracts.dates import Moment, find_moment, moment_of, read_moment
from hornbook.contracts.fuzzy import best_window
from hornbook.contracts.normalized import NormalText, Span, folded, is_word, joins, normal_text
from hornbook.contracts.numerals import Numeral, find_numeral, numeral_of, read_numeral
from hornbook.contracts.source_text import Part, parts_of, text_of

__all__ = ["Mode", "Part", "Span", "Ungroundable", "locate", "parts_of", "text_of"]

Mode = Literal["exact", "normalized", "fuzzy"]

_THRESHOLD = 0.85
_LONGEST_NUMBER = 64
"""What is longer is neither a number nor a date, and not worth remembering."""
_MINUS = "-\u2212"
_INNER_MARKS = ".,'"
_CLOSING = ")]}%"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ungroundable:
    """A value of which it makes no sense to ask whether it stands in a text."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Search:
    """A source, and how it is searched."""

    source: str
    mode: Mode
    threshold: float
    partial: bool


_Found = tuple[Span, ...] | Ungroundable


def locate(
    value: Any,
    source: str,
    *,
    mode: Mode = "normalized",
    threshold: float | None = None,
    partial: bool = False,
) -> tuple[Span, ...] | Ungroundable:
    """Where `value` stands in `source` for the first time; empty when it does not.

    There is one span, or two where a day and its time stand apart. Of a collection ask item
    by item.

    Args:
        value: a text, number, date, time or enum member, or anything with a text of its own.
        source: the text that is searched.
        mode: `exact`: letter by letter. `normalized`: case, width, quotes, dashes and space
            do not count, and numbers, dates and enums are compared by what they mean.
            `fuzzy`: as normalized, and else the part of the text that is most like the
            value, if its likeness reaches `threshold`; digits must be the same.
        threshold: in (0, 1]; 0.85 when left out.
        partial: a part of a token will do, and a day and month without the year.
    """
    if type(value) is str and mode == "normalized":  # the most frequent case, without detours
        text, needle = normal_text(source), folded(value)
        at = _find(text.text, needle, partial) if needle else -1
        if at >= 0 and any(map(_means_something, needle)):
            return (text.span(at, at + len(needle)),)
    search = _Search(source=source, mode=mode, threshold=threshold or _THRESHOLD, partial=partial)
    return _locate(value, search)


def _locate(value: Any, search: _Search) -> _Found:
    match value:
        case Enum():
            return _locate_member(value, search)
        case str():
            return _locate_text(str(value), search)
        case None:
            return Ungroundable(reason="the value is None")
        case bool():
            return Ungroundable(reason="true and false stand in no text")
        case Number():
            return _locate_number(value, search)
        case date() | time():
            return _locate_moment(value, search)
        case Mapping() | Sequence() | Set() | BaseModel():
            kind = type(cast(object, value)).__name__
            return Ungroundable(reason=f"a {kind} is no single value; its items may be grounded")
        case _ if type(value).__str__ is object.__str__:
            return Ungroundable(reason=f"a {type(value).__name__} has no text of its own")
        case _:
            return _locate_text(str(value), search)


def _locate_text(value: str, search: _Search) -> _Found:
    needle = folded(value)
    if not needle:
        return Ungroundable(reason="the value is empty")
    if not any(map(_means_something, needle)):
        return Ungroundable(reason="the value is nothing but punctuation")
    if search.mode == "exact":
        return _verbatim(value, search)
    text = normal_text(search.source)
    at = _find(text.text, needle, search.partial)
    if at >= 0:
        return (text.span(at, at + len(needle)),)
    return _locate_meaning(needle, text, search)


def _locate_meaning(needle: str, text: NormalText, search: _Search) -> tuple[Span, ...]:
    """Where a text stands in another form: as a number, a date, or nearly."""
    meaning = _meaning_of(needle) if len(needle) <= _LONGEST_NUMBER else None
    if isinstance(meaning, Moment):
        places = find_moment(meaning, text, partial=search.partial) or ()
        return tuple(text.span(*place) for place in places)
    if meaning is not None:
        place = find_numeral(meaning, text)
        return () if place is None else (text.span(*place),)
    if search.mode == "fuzzy":
        place = best_window(needle, text, threshold=search.threshold, partial=search.partial)
        return () if place is None else (text.span(*place),)
    return ()


@lru_cache(maxsize=1024)
def _meaning_of(needle: str) -> Moment | Numeral | None:
    if not any(map(str.isdigit, needle)):
        return None
    return read_moment(needle) or read_numeral(needle)


def _locate_number(value: Any, search: _Search) -> _Found:
    finite = value.is_finite() if isinstance(value, Decimal) else abs(value) < float("inf")
    if not finite:
        return Ungroundable(reason=f"{value} is no finite number")
    numeral = numeral_of(value)
    if search.mode == "exact" or numeral is None:
        return _locate_text(str(value), search)
    text = normal_text(search.source)
    place = find_numeral(numeral, text)
    return () if place is None else (text.span(*place),)


def _locate_moment(value: date | time, search: _Search) -> tuple[Span, ...]:
    if search.mode == "exact":
        return _verbatim(value.isoformat(), search)
    text = normal_text(search.source)
    places = find_moment(moment_of(value), text, partial=search.partial) or ()
    return tuple(text.span(*place) for place in places)


def _locate_member(member: Enum, search: _Search) -> _Found:
    """An enum member stands there by its value, or by its name, with `_` read as a space."""
    by_value = _locate(member.value, search)
    if by_value and not isinstance(by_value, Ungroundable):
        return by_value
    for name in dict.fromkeys((member.name, member.name.replace("_", " "))):
        by_name = _locate_text(name, search)
        if by_name and not isinstance(by_name, Ungroundable):
            return by_name
    return ()


def _verbatim(value: str, search: _Search) -> tuple[Span, ...]:
    at = _find(search.source, value, search.partial)
    return () if at < 0 else (Span(start=at, end=at + len(value), text=value),)


def _find(text: str, needle: str, partial: bool) -> int:
    at = text.find(needle)
    while at >= 0 and not partial:
        if not (_cut_before(text, at) or _cut_after(text, at + len(needle))):
            return at
        at = text.find(needle, at + 1)
    return at


def _cut_before(text: str, at: int) -> bool:
    """Whether a token that began earlier goes on at `at`."""
    if at == 0:
        return False
    before, first = text[at - 1], text[at]
    if is_word(before):
        return joins(before, first) or (first in _MINUS and text[at + 1 : at + 2].isdigit())
    if not first.isdigit():
        return False
    if before in _INNER_MARKS:
        return text[at - 2 : at - 1].isdigit() and at > 1
    sign = at - 1 if before in _MINUS or unicodedata.category(before) != "Sc" else at - 2
    if sign < 0 or text[sign] not in _MINUS:
        return False
    return sign == 0 or not (is_word(text[sign - 1]) or text[sign - 1] in _CLOSING)


def _cut_after(text: str, end: int) -> bool:
    """Whether the token that ends at `end` really goes on."""
    if end >= len(text):
        return False
    last, after = text[end - 1], text[end]
    if is_word(after):
        return joins(last, after)
    return after in _INNER_MARKS and last.isdigit() and text[end + 1 : end + 2].isdigit()


def _means_something(character: str) -> bool:
    return character.isalnum() or unicodedata.category(character)[0] not in "PZC"
