"""What a run's context holds, as far as a guard can look for values in it."""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import date, time
from decimal import Decimal
from enum import Enum
from types import ModuleType
from typing import Any, Final, TypeAlias, cast
from uuid import UUID

from pydantic import BaseModel

__all__ = ["plain_state"]

_DEEPEST: Final = 16
_MOST: Final = 100_000
_PART: Final = 10
"""Texts and numbers of one context, and how many of these an object or a container counts for:
each call of a tool reads them. Those that stand higher come first."""

_WHOLE = "context"
"""What a context is called that is a list, and has no names of its own."""

_WRITTEN = (UUID, Decimal, date, time)
_PLAIN = frozenset({str, int, float, bool, type(None)})
_LEAVES = (str, int, float, bytes, Enum, *_WRITTEN)
_LISTS = (list, tuple, set, frozenset, deque)

Parts: TypeAlias = "Mapping[Any, Any] | Sequence[Any] | None"


def plain_state(context: object) -> dict[str, Any]:
    """The values in a run's context by name: JSON, as far as it can be told.

    The attributes of objects are values too; private ones, functions and properties are
    none. What is met again, as in a cycle, is read once.
    """
    found: dict[str, Any] = {}
    waiting: deque[tuple[Any, Any, object, int]] = deque([(found, _WHOLE, context, 0)])
    seen: set[int] = set()
    left = _MOST
    while waiting and left > 0:
        into, place, value, depth = waiting.popleft()
        left -= _PART
        parts = _parts(value)
        if parts is None:
            into[place] = _leaf(value)
        elif id(value) not in seen and depth < _DEEPEST:
            seen.add(id(value))
            into[place], odd = _put(parts)
            left -= len(into[place])
            waiting.extend((into[place], name, part, depth + 1) for name, part in odd)
    whole: Any = found.get(_WHOLE)
    if isinstance(whole, list):
        return found
    return cast("dict[str, Any]", whole) if isinstance(whole, dict) else {}


def _put(parts: Mapping[Any, Any] | Sequence[Any]) -> tuple[Any, list[tuple[Any, Any]]]:
    """The parts that are plain in a container of their own, and the others with their places."""
    if isinstance(parts, Mapping):
        kept = [(str(name), part) for name, part in parts.items() if isinstance(name, str | int)]
        made: Any = {}
    else:
        kept = list(enumerate(parts))
        made = [None] * min(len(kept), _MOST)
    odd: list[tuple[Any, Any]] = []
    for name, part in kept[:_MOST]:
        if type(part) in _PLAIN:
            made[name] = part
        else:
            odd.append((name, part))
    return made, odd


def _leaf(value: object) -> str | int | float | None:
    if isinstance(value, Enum):
        value = value.value
    if isinstance(value, _WRITTEN):
        return str(value)
    return value if isinstance(value, str | int | float) else None


def _parts(value: object) -> Parts:
    """What a value is put together from; None for one that has no parts."""
    if type(value) is dict or type(value) is list:
        return cast("Parts", value)
    if value is None or isinstance(value, _LEAVES):
        return None
    try:
        if isinstance(value, Mapping | BaseModel):
            return dict(cast("Mapping[Any, Any]", value))
        if isinstance(value, _LISTS):
            return list(cast("Sequence[Any]", value))
        return _attributes(value)
    except Exception:  # noqa: BLE001 - what is iterated may be anything at all
        return None


def _attributes(value: object) -> Mapping[str, Any] | None:
    if isinstance(value, type | ModuleType) or callable(value):
        return None
    if is_dataclass(value):
        return {one.name: getattr(value, one.name, None) for one in fields(value)}
    slots = [name for kind in type(value).__mro__ for name in _slots(kind)]
    held = {name: getattr(value, name) for name in slots if hasattr(value, name)}
    held |= getattr(value, "__dict__", {})
    public = {name: part for name, part in held.items() if not name.startswith("_")}
    return public or None


def _slots(kind: type) -> Sequence[str]:
    declared: Any = vars(kind).get("__slots__", ())
    return (declared,) if isinstance(declared, str) else tuple(declared)
