"""What tells a value from all others that a step could treat differently.

Canonical bytes say what a value means; a cache must also tell apart what a step can see
beyond that: the order of a dict, the class of an item, which items are one object.
"""

import dataclasses
from collections import Counter, OrderedDict
from collections.abc import Iterable
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum
from functools import lru_cache
from pathlib import PurePath
from typing import Any, Final, cast
from uuid import UUID
from zoneinfo import ZoneInfo

from pydantic import BaseModel
from pydantic_core import TzInfo

from hornbook import canon

__all__ = ["identity", "slots_of"]

_DESCRIBED = b'"$repr"'
"""Stands in canonical bytes exactly where a value was described and not written."""
_PLAIN: Final[frozenset[type[Any]]] = frozenset((str, int, bool, type(None), float))
_SIMPLE: Final[frozenset[type[Any]]] = frozenset((bytes, bytearray, Decimal, UUID, date, timedelta))
_CONTAINERS: Final[tuple[type[Any], ...]] = (dict, list, tuple, set, frozenset)
_TEXTS: Final[tuple[type[Any], ...]] = (str, int, float, bytes)
_ORDERED: Final[frozenset[type[Any]]] = frozenset((OrderedDict, Counter))
_DEEPEST = 90
_LARGEST = 1_000_000
"""Values inside one another, in all."""


class _Unlike(Exception):
    """A value may differ from another in what cannot be seen."""


def identity(value: object, *, told: Any = None, read_back: bool = False) -> bytes | None:
    """Bytes that are equal for values that no step can tell apart, the same in every process.

    Args:
        value: what to tell from others.
        told: plain data that goes with it.
        read_back: it is compared to what was read back from its JSON: which fields of a model
            were given does not count, nor does the class of a time zone.

    Returns:
        None for what may hold more than can be seen: objects of classes that are unknown, or
        with private attributes, iterators, functions.
    """
    try:
        form = _Walk(read_back).form(value, 0)
    except Exception:  # noqa: BLE001 - a value's own code may raise anything, beside _Unlike
        return None
    written = canon.dumps([form] if told is None else [form, told])
    return None if _DESCRIBED in written else written


@lru_cache(maxsize=1024)
def slots_of(kind: type) -> frozenset[str]:
    """The names of all attributes that instances hold in slots."""
    found: set[str] = set()
    for base in kind.__mro__:
        slots = vars(base).get("__slots__", ())
        found.update((slots,) if isinstance(slots, str) else slots)
    return frozenset(found - {"__dict__", "__weakref__"})


class _Walk:
    """One walk over one value; lists that begin with what kind of value it is."""

    def __init__(self, read_back: bool) -> None:
        self._read_back = read_back
        self._seen: dict[int, tuple[int, object]] = {}
        """Numbers of the objects that can change: a step sees where two of them are one. They
        are held, so that their ids stay their own."""
        self._left = _LARGEST

    def form(self, value: Any, depth: int) -> Any:
        """A value as nested lists and leaves that canonical bytes tell apart."""
        kind = cast("type[Any]", type(value))
        if kind in _PLAIN:
            return value
        self._left -= 1
        if depth > _DEEPEST or self._left < 0:
            raise _Unlike
        if kind in _SIMPLE:
            return [kind.__name__, bytes(value) if kind is bytearray else value]
        if kind is tuple:
            return self._items("tuple", value, depth)
        if kind is frozenset:
            return self._unordered("frozenset", value, depth)
        if isinstance(value, Enum):
            return ["enum", self._name(kind), value.name, self.form(value.value, depth + 1)]
        if isinstance(value, datetime | time):
            return self._moment(kind, value)
        if isinstance(value, PurePath) and kind.__module__.startswith("pathlib"):
            return ["path", kind.__name__, str(value)]
        return self._changeable(kind, value, depth)

    def _changeable(self, kind: type[Any], value: Any, depth: int) -> Any:
        seen = self._seen.get(id(value))
        if seen is not None:
            return ["same", seen[0]]
        self._seen[id(value)] = len(self._seen), value
        if kind is list:
            return self._items("list", value, depth)
        if kind is dict:
            return self._pairs("dict", value.items(), depth)
        if kind is set:
            return self._unordered("set", value, depth)
        if isinstance(value, BaseModel):
            return self._model(kind, value, depth)
        if dataclasses.is_dataclass(kind):
            return self._dataclass(kind, value, depth)
        return self._subclass(kind, value, depth)

    def _items(self, tag: str, items: Iterable[Any], depth: int) -> list[Any]:
        written = (one if type(one) in _PLAIN else self.form(one, depth + 1) for one in items)
        found = [tag, *written]
        self._count(len(found))
        return found

    def _pairs(self, tag: str, pairs: Iterable[tuple[Any, Any]], depth: int) -> list[Any]:
        return self._items(tag, (one for pair in pairs for one in pair), depth)

    def _unordered(self, tag: str, items: Iterable[Any], depth: int) -> list[Any]:
        return [tag, *sorted(self._items(tag, items, depth)[1:], key=canon.dumps)]

    def _count(self, many: int) -> None:
        self._left -= many
        if self._left < 0:
            raise _Unlike

    def _model(self, kind: type[Any], value: BaseModel, depth: int) -> list[Any]:
        if value.__pydantic_private__ or slots_of(kind) - slots_of(BaseModel):
            raise _Unlike
        extra = (value.__pydantic_extra__ or {}).items()
        given = [] if self._read_back else sorted(value.__pydantic_fields_set__)
        return [
            "model",
            self._name(kind),
            self._pairs("held", vars(value).items(), depth),
            self._pairs("extra", extra, depth),
            *given,
        ]

    def _dataclass(self, kind: type[Any], value: Any, depth: int) -> list[Any]:
        names = [field.name for field in dataclasses.fields(value)]
        more = (set(getattr(value, "__dict__", ())) | slots_of(kind)) - set(names)
        if more or isinstance(value, (*_CONTAINERS, *_TEXTS, BaseException)):
            raise _Unlike
        held = [(name, getattr(value, name)) for name in names]
        return ["dataclass", self._name(kind), self._pairs("held", held, depth)]

    def _subclass(self, kind: type[Any], value: Any, depth: int) -> list[Any]:
        """A value of a class that refines one of Python's and holds nothing more than it."""
        known: tuple[Any, ...] = (*_CONTAINERS, *_TEXTS)
        base: Any = next((one for one in known if one in kind.__mro__), None)
        if base is None or getattr(value, "__dict__", None) or not _adds_nothing(kind, base):
            raise _Unlike
        if base in _TEXTS:
            return ["text", self._name(kind), _TEXT_OF[base](value)]
        if base is dict:
            pairs: Any = OrderedDict if OrderedDict in kind.__mro__ else dict
            return ["dict of", self._name(kind), self._pairs("dict", pairs.items(value), depth)]
        items: Iterable[Any] = base.__iter__(value)
        write = self._unordered if base in (set, frozenset) else self._items
        return ["items of", self._name(kind), write(base.__name__, items, depth)]

    def _moment(self, kind: type[Any], value: datetime | time) -> list[Any]:
        zone = value.tzinfo
        if kind not in (datetime, time):
            raise _Unlike
        if self._read_back or zone is None:
            return [kind.__name__, value.isoformat(), value.fold]
        if not isinstance(zone, timezone | ZoneInfo | TzInfo):
            raise _Unlike
        return [kind.__name__, value.isoformat(), value.fold, type(zone).__name__, repr(zone)]

    def _name(self, kind: type[Any]) -> str:
        """The name of a class; one made in a function may be any of those made there."""
        if "<locals>" in kind.__qualname__ and not self._read_back:
            raise _Unlike
        return f"{kind.__module__}.{kind.__qualname__}"


_TEXT_OF: Final[dict[type[Any], Any]] = {
    str: str.__str__,
    int: int.__int__,
    float: float.__float__,
    bytes: bytes.__bytes__,
}


def _adds_nothing(kind: type[Any], base: type[Any]) -> bool:
    """Whether all classes between are written in Python and hold nothing in slots."""
    between = kind.__mro__[: kind.__mro__.index(base)]
    written = (one in _ORDERED or vars(one).keys() & {"__dict__", "__slots__"} for one in between)
    return all(written) and not slots_of(kind)
