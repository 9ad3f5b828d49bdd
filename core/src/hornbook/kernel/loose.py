"""Reading answers that no contract may have held: with the control layer off, anything comes."""

from collections.abc import Mapping
from typing import Any, cast

__all__ = ["fields_of", "texts_of"]


def fields_of(value: object) -> dict[str, Any]:
    """The fields of an object; of anything else, none."""
    if not isinstance(value, Mapping):
        return {}
    return {str(key): item for key, item in cast("Mapping[Any, Any]", value).items()}


def texts_of(value: object) -> tuple[str, ...]:
    """The items of a list, as texts; of anything else, none."""
    return tuple(map(str, cast("list[Any]", value))) if isinstance(value, list | tuple) else ()
