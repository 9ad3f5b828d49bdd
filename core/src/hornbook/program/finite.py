"""The clause that every primitive without a contract of its own is held to besides its type."""

import math
from collections.abc import Mapping, Set
from dataclasses import fields, is_dataclass
from decimal import Decimal
from typing import Any, cast

from pydantic import BaseModel

from hornbook.contracts.value_clauses import that

__all__ = ["finite", "finite_clause"]


def finite(value: Any) -> bool:
    """Whether all numbers in a value, at any depth, are finite: no NaN, no infinity."""
    waiting, seen = [value], set[int]()
    while waiting:
        item = waiting.pop()
        if isinstance(item, float):
            if not math.isfinite(item):
                return False
        elif isinstance(item, Decimal):
            if not item.is_finite():
                return False
        elif id(item) not in seen:
            inside = _inside(item)
            if inside:
                seen.add(id(item))
                waiting += inside
    return True


def _inside(item: Any) -> list[Any]:
    if isinstance(item, str | bytes | int | None):
        return []
    if isinstance(item, Mapping):
        return list(cast("Mapping[Any, Any]", item).values())
    if isinstance(item, list | tuple | Set):
        return list(cast("list[Any]", item))
    if isinstance(item, BaseModel):
        return [getattr(item, name) for name in type(item).model_fields]
    if is_dataclass(item):
        return [getattr(item, field.name, None) for field in fields(item)]
    return []


finite_clause = that("numbers are finite", finite)
