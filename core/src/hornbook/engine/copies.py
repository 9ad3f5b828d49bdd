"""Copies of outputs that are kept: nobody who gets one can change what another gets."""

import dataclasses
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Iterable
from copy import deepcopy
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from pathlib import PurePath
from typing import Any, Final, cast
from uuid import UUID

from pydantic import BaseModel

from hornbook.engine.identity import slots_of

__all__ = ["KEPT_OUT", "copied"]

_FIXED: Final[frozenset[type[Any]]] = frozenset(
    (
        *(str, int, float, bool, type(None), bytes, complex, range),
        *(date, datetime, time, timedelta, Decimal, Fraction, UUID),
    )
)
"""Types whose values never change, so that all can share them."""
_REFINED: Final[tuple[type[Any], ...]] = (
    list,
    dict,
    set,
    frozenset,
    tuple,
    str,
    int,
    float,
    bytes,
    bytearray,
)
_LIBRARY: Final[tuple[type[Any], ...]] = (OrderedDict, Counter, defaultdict, deque)

KEPT_OUT: Final[Any] = object()
"""What `copied` gives for a value that must not be kept."""


class _KeptOut(Exception):
    """A value that is used up, or belongs to someone else."""


def copied(value: Any) -> Any:
    """A value that can be changed without a change to `value`; itself, where neither can be.

    `KEPT_OUT` for what has no copy that does the same: iterators, functions, handles, and
    objects of classes that are neither data nor Python's containers.
    """
    kind = cast("type[Any]", type(value))
    if kind in _FIXED:
        return value
    if kind is list and _FIXED.issuperset(map(type, value)):
        return value.copy()
    try:
        return _copy(value, {})
    except Exception:  # noqa: BLE001 - a value's own code may raise anything, beside _KeptOut
        return KEPT_OUT


def _copy(value: Any, memo: dict[int, Any]) -> Any:
    kind = cast("type[Any]", type(value))
    if kind in _FIXED or isinstance(value, Enum | PurePath):
        return value
    if id(value) in memo:
        return memo[id(value)]
    made: Any
    if kind is list:
        made = memo[id(value)] = []
        made.extend([_copy(one, memo) for one in value])
    elif kind is dict:
        made = memo[id(value)] = {}
        made.update((_copy(key, memo), _copy(one, memo)) for key, one in value.items())
    elif kind in (set, tuple, frozenset):
        given: Iterable[Any] = value
        items = [_copy(one, memo) for one in given]
        same = kind is not set and all(map(_is, items, given))
        made = memo[id(value)] = value if same else cast("Any", kind)(items)
    else:
        _look_inside(kind, value, memo)
        made = deepcopy(value, memo)
    return made


def _is(one: object, other: object) -> bool:
    return one is other


def _look_inside(kind: type[Any], value: Any, memo: dict[int, Any]) -> None:
    """Refuse what has no copy; what is inside is copied as here, and `deepcopy` finds it."""
    held: list[Any] = list(getattr(value, "__dict__", {}).values())
    if isinstance(value, BaseModel):
        held += [*(value.__pydantic_extra__ or {}).values()]
        held += [*(value.__pydantic_private__ or {}).values()]
    elif not dataclasses.is_dataclass(kind) and not isinstance(value, (*_REFINED, *_LIBRARY)):
        raise _KeptOut
    held += [getattr(cast("Any", value), name) for name in slots_of(kind) if name[:2] != "__"]
    if isinstance(value, dict):
        held += [*value.keys(), *value.values()]
    elif isinstance(value, list | tuple | set | frozenset | deque):
        held += value
    for one in held:
        _copy(one, memo)
