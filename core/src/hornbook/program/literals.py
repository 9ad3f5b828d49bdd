"""The types of values that stand in a program as they are."""

from collections.abc import Mapping
from enum import Enum
from types import NoneType
from typing import Any, Literal, cast

from hornbook.program.ports import ports_type
from hornbook.program.types_forms import joined

__all__ = ["type_of"]

_SHOWN = 8
"""Items of a collection whose types are told apart; of a longer one only the class is known."""


def type_of(value: Any) -> Any:
    """The narrowest type that is easily told: `Literal['x']` of a text, else its class."""
    kind = cast("type[Any]", type(value))
    if value is None:
        return NoneType
    if kind in (str, int, bool) or isinstance(value, Enum):
        return Literal[value]
    if kind in (list, set, frozenset):
        return cast("Any", kind)[_items(value)]
    if kind is tuple:
        return tuple[tuple(type_of(item) for item in value)] if value else tuple[()]
    if kind is dict:
        known = cast("Mapping[Any, Any]", value)
        if known and len(known) <= _SHOWN and all(isinstance(key, str) for key in known):
            return ports_type({key: type_of(item) for key, item in known.items()})
        return dict[_items(known), _items(known.values())]  # type: ignore[misc]
    return kind


def _items(values: Any) -> Any:
    from typing import Never

    found = list(values)
    if not found:
        return Never
    if len(found) > _SHOWN:
        return joined(*(type(item) for item in found))
    return joined(*(type_of(item) for item in found))
