"""Looking into a value of any shape, and making a copy in which one part is another.

Copies are made without validation, since the point of a mutant is to be wrong.
"""

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import is_dataclass
from typing import Any, TypeAlias, cast

from pydantic import BaseModel

from hornbook.contracts.declared import declared_names, is_named_tuple, is_root_model
from hornbook.contracts.paths import joined

__all__ = ["Parts", "parts", "places", "replaced", "segments_of"]

Parts: TypeAlias = tuple[Any, ...]
"""Names, keys and positions that lead into a value."""

_ITEMS = 2
"""Items of one collection that are looked into: the others are like them."""
_DEEPEST = 4
_MISSING: Any = object()


def places(value: Any, at: Parts = ()) -> Iterator[tuple[Parts, Any]]:
    """Every part of a value with where it is, the whole first; collections by their first items."""
    yield at, value
    if len(at) < _DEEPEST:
        for key, part in parts(value):
            yield from places(part, (*at, key))


def parts(value: Any) -> Iterator[tuple[Any, Any]]:
    """The parts that a value is made of: fields, entries, the first items."""
    if is_root_model(value):
        yield from parts(value.root)
        return
    if isinstance(value, Mapping):
        yield from cast("Mapping[Any, Any]", value).items()
    elif is_record(value):
        for name in _own_fields(value):
            part = getattr(value, name, _MISSING)
            if part is not _MISSING:
                yield name, part
    elif isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray):
        yield from enumerate(cast("Sequence[Any]", value)[:_ITEMS])


def is_record(value: Any) -> bool:
    """Whether a value has named fields that a copy of it can be given."""
    kind = cast("type[Any]", type(value))
    return isinstance(value, BaseModel) or is_dataclass(kind) or is_named_tuple(kind)


def _own_fields(value: Any) -> Sequence[str]:
    if isinstance(value, BaseModel):
        return list(type(value).model_fields)
    return list(declared_names(cast("type[Any]", type(value))))


def replaced(value: Any, at: Parts, new: Any) -> Any:
    """A copy of `value` with `new` in one place."""
    if not at:
        return new
    if is_root_model(value):
        return value.model_copy(update={"root": replaced(value.root, at, new)})
    key, rest = at[0], at[1:]
    return _with(value, key, replaced(_part(value, key), rest, new))


def _part(value: Any, key: Any) -> Any:
    return getattr(value, key) if is_record(value) and isinstance(key, str) else value[key]


def _with(value: Any, key: Any, part: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_copy(update={key: part})
    if isinstance(value, Mapping):
        held = cast("Mapping[Any, Any]", value)
        return {**held, key: part}
    if is_named_tuple(cast("type[Any]", type(value))):
        made = list(cast("tuple[Any, ...]", value))
        made[key if isinstance(key, int) else value._fields.index(key)] = part
        return cast("Any", type(value))._make(made)
    if is_dataclass(cast("type[Any]", type(value))):
        made = copy.copy(value)
        object.__setattr__(made, key, part)
        return made
    items = [part if at == key else item for at, item in enumerate(value)]
    return tuple(items) if isinstance(value, tuple) else items


def segments_of(at: Parts) -> str:
    """Where a part is, as paths are written."""
    return joined(*at)
