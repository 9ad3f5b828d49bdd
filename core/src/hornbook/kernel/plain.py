"""Whether a value is JSON as far as it must be to be checked at all."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, cast

from hornbook.contracts.segments import joined
from hornbook.schema.compiler import MAX_DEPTH

__all__ = ["Unfit", "first_unfit", "is_finite"]


@dataclass(frozen=True, slots=True)
class Unfit:
    """The first place at which a value cannot be checked."""

    path: str
    expected: str
    value: Any
    undecided: str = ""
    """Why nothing can be said of the value; empty where it is simply wrong."""


def first_unfit(value: object) -> Unfit | None:
    """Return where a value holds itself, is nested too deep, or is a number that JSON lacks."""
    return next(_unfit(value, (), frozenset()), None)


def is_finite(value: float | Decimal) -> bool:
    """Whether JSON can write a number: it has neither NaN nor infinities."""
    return value.is_finite() if isinstance(value, Decimal) else math.isfinite(value)


def _unfit(value: Any, steps: tuple[object, ...], within: frozenset[int]) -> Iterator[Unfit]:
    if isinstance(value, float | Decimal):
        if not is_finite(value):
            yield Unfit(joined(*steps), "a finite number: JSON has no other", value)
        return
    if not isinstance(value, Mapping | list | tuple | set | frozenset):
        return
    place, here = joined(*steps[:1]), id(cast("object", value))
    if here in within:
        yield Unfit(place, "a value that does not hold itself", "...", "it holds itself")
    elif len(steps) > MAX_DEPTH:
        expected = f"at most {MAX_DEPTH} levels of nesting"
        yield Unfit(place, expected, "...", f"it is nested more than {MAX_DEPTH} levels deep")
    else:
        for step, item in _parts(value):
            yield from _unfit(item, (*steps, step), within | {here})


def _parts(value: Any) -> Iterable[tuple[object, Any]]:
    if isinstance(value, Mapping):
        return [(str(name), item) for name, item in cast("Mapping[Any, Any]", value).items()]
    return enumerate(cast("Iterable[Any]", value))
