"""How values of each type are written: the closed table behind `encode`."""

import dataclasses
from collections.abc import Callable, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from numbers import Integral, Rational, Real
from pathlib import PurePath
from typing import Any, Protocol, TypeAlias, cast
from uuid import UUID

from pydantic import BaseModel

from hornbook.canon.decoding import Opaque
from hornbook.canon.wire import JSON, printable

__all__ = ["EXACT", "EXACTLY", "Walker", "Write", "type_name", "write_of"]

EXACT = 2**53
"""Whole numbers up to this are exact in every JSON library; beyond, they are tagged."""


class Walker(Protocol):
    """A walk over a value, as the writers below need it."""

    def value(self, value: Any, depth: int) -> JSON:
        """Write any value."""
        ...

    def text(self, value: str) -> JSON:
        """Write a text."""
        ...

    def mapping(self, value: Mapping[Any, Any], depth: int) -> JSON:
        """Write a dict, or what is like one."""
        ...

    def sequence(self, value: Any, depth: int) -> JSON:
        """Write the items of a list or tuple."""
        ...

    def fields(self, value: object, fields: Mapping[str, Any], depth: int) -> JSON:
        """Write an object by its fields, under the name of its class."""
        ...

    def described(self, value: object) -> JSON:
        """Write what a value says of itself: it cannot be read back."""
        ...

    def sorted(self, value: Any, depth: int) -> JSON:
        """Write the items of a set, in the order of their bytes."""
        ...


Write: TypeAlias = Callable[[Walker, Any, int], JSON]


def write_of(kind: type[Any]) -> Write:
    """Return the way to write instances of a class that is not in `EXACTLY`."""
    if issubclass(kind, tuple):
        return _named_tuple if hasattr(cast(object, kind), "_fields") else EXACTLY[tuple]
    for base, write in _BASES:
        if issubclass(kind, base):
            return write
    return _dataclass if dataclasses.is_dataclass(kind) else _described


def type_name(kind: type[Any]) -> str:
    """Return `module.Class`, or the bare name of a built-in."""
    module = str(getattr(kind, "__module__", "?"))
    name = kind.__qualname__ if module == "builtins" else f"{module}.{kind.__qualname__}"
    return printable(name)


def _int(walk: Walker, value: int, depth: int) -> JSON:
    if -EXACT <= value <= EXACT:
        return value
    # Python limits decimal digits (a setting, at least 640 of them), but not hex digits.
    return {"$int": str(value) if value.bit_length() <= 2048 else walk.text(hex(value))}


def _float(walk: Walker, value: float, depth: int) -> JSON:
    # Libraries differ in how they write exponents, so what has one is written by us.
    if 1e-4 <= value < 1e16 or value == 0 or -1e16 < value <= -1e-4:
        return value
    return {"$float": float.__repr__(value)}


def _bytes(walk: Walker, value: bytes | bytearray | memoryview, depth: int) -> JSON:
    from binascii import b2a_base64

    raw = bytes(value)
    text = raw.decode("latin-1")
    kept = walk.text(text)
    if kept != text:
        return {"$repr": kept, "$type": type_name(type(value))}
    return {"$bytes": b2a_base64(raw, newline=False).decode("ascii")}


def _enum(walk: Walker, value: Enum, depth: int) -> JSON:
    name = printable(f"{type_name(type(value))}.{value.name}")
    return {"$enum": name, "value": walk.value(value.value, depth + 1)}


def _model(walk: Walker, value: BaseModel, depth: int) -> JSON:
    held = value.__dict__
    fields = {name: held[name] for name in type(value).model_fields if name in held}
    return walk.fields(value, fields | (value.model_extra or {}), depth)


def _dataclass(walk: Walker, value: Any, depth: int) -> JSON:
    names = [field.name for field in dataclasses.fields(value)]
    return walk.fields(value, {name: getattr(value, name) for name in names}, depth)


def _named_tuple(walk: Walker, value: Any, depth: int) -> JSON:
    return walk.fields(value, dict(zip(value._fields, value, strict=True)), depth)


def _described(walk: Walker, value: object, depth: int) -> JSON:
    return walk.described(value)


def _mapping(walk: Walker, value: Mapping[Any, Any], depth: int) -> JSON:
    return walk.mapping(value, depth)


def _leaf(tag: str, write: Callable[[Any], JSON]) -> Write:
    return lambda walk, value, depth: {tag: write(value)}


def _as(convert: Callable[[Any], object]) -> Write:
    return lambda walk, value, depth: walk.value(convert(value), depth)


EXACTLY: dict[type[Any], Write] = {
    int: _int,
    float: _float,
    dict: _mapping,
    list: lambda walk, value, depth: walk.sequence(value, depth),
    tuple: lambda walk, value, depth: {"$tuple": walk.sequence(value, depth + 1)},
    set: lambda walk, value, depth: {"$set": walk.sorted(value, depth + 1)},
    frozenset: lambda walk, value, depth: {"$frozenset": walk.sorted(value, depth + 1)},
    bytes: _bytes,
    bytearray: _bytes,
    memoryview: _bytes,
    datetime: _leaf("$datetime", datetime.isoformat),
    date: _leaf("$date", date.isoformat),
    time: _leaf("$time", time.isoformat),
    timedelta: _leaf("$timedelta", lambda held: [held.days, held.seconds, held.microseconds]),
    Decimal: _leaf("$decimal", Decimal.__str__),
    UUID: _leaf("$uuid", UUID.__str__),
    Opaque: lambda walk, value, depth: value.json,
}
"""By exact class, as most values are found."""

_BASES: tuple[tuple[type[Any], Write], ...] = (
    (Enum, _enum),
    (BaseModel, _model),
    (str, _as(str.__str__)),
    (int, _as(int.__int__)),
    (float, _as(float.__float__)),
    *((kind, EXACTLY[kind]) for kind in (dict, list, set, frozenset, datetime, date, time)),
    *((kind, EXACTLY[kind]) for kind in (timedelta, Decimal, UUID, bytes, bytearray)),
    (Mapping, _mapping),
    (PurePath, lambda walk, value, depth: {"$path": walk.text(str(value))}),
    (Integral, _as(int)),
    (Rational, _described),
    (Real, _as(float)),
)
