"""The fields of record types with their types: models, dataclasses, TypedDicts and the like."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NotRequired, Required, cast, get_args, get_origin

from pydantic import BaseModel
from typing_extensions import ReadOnly, get_type_hints, is_typeddict

from hornbook.contracts.declared import annotations_of, declared_names
from hornbook.contracts.members import class_of, substituted

__all__ = ["FieldType", "field_types", "has_open_fields"]


@dataclass(frozen=True, slots=True)
class FieldType:
    """The declared type of one field."""

    type: Any
    optional: bool = False
    """Whether it may be missing, as a NotRequired key may."""
    alias: str | None = None
    """The name it has in data, where that is another."""


def field_types(tp: Any) -> Mapping[str, FieldType]:
    """The fields of a record type by name; none for any other type."""
    kind = class_of(tp)
    if kind is None:
        return {}
    if issubclass(kind, BaseModel):
        return _model_fields(kind)
    given = dict(zip(getattr(kind, "__parameters__", ()), get_args(tp), strict=False))
    hints = _hints(kind)
    if is_typeddict(kind):
        return {name: _key(cast(Any, kind), name, hint, given) for name, hint in hints.items()}
    return {
        name: FieldType(substituted(hints.get(name, Any), given)) for name in declared_names(kind)
    }


def has_open_fields(kind: type[Any]) -> bool:
    """Whether instances may have fields that the class does not name."""
    return issubclass(kind, BaseModel) and kind.model_config.get("extra") == "allow"


def _model_fields(kind: type[BaseModel]) -> dict[str, FieldType]:
    fields = {
        name: FieldType(info.annotation, alias=info.alias)
        for name, info in kind.model_fields.items()
    }
    computed = kind.model_computed_fields.items()
    return fields | {name: FieldType(info.return_type, alias=info.alias) for name, info in computed}


def _key(kind: Any, name: str, hint: Any, given: dict[Any, Any]) -> FieldType:
    optional = name in kind.__optional_keys__
    while get_origin(hint) in (NotRequired, ReadOnly, Required):
        # The class's own account is wrong where annotations are strings; the hint is right.
        if get_origin(hint) is not ReadOnly:
            optional = get_origin(hint) is NotRequired
        hint = get_args(hint)[0]
    return FieldType(substituted(hint, given), optional=optional)


def _hints(kind: type[Any]) -> dict[str, Any]:
    if kind.__module__ == "builtins":
        return {}
    try:
        return get_type_hints(kind, include_extras=True)
    # Resolving runs the text of annotations, which may raise anything; then the names are
    # still known, and the types that are text are not.
    except Exception:  # noqa: BLE001
        bases = reversed(kind.__mro__)
        return {name: hint for base in bases for name, hint in annotations_of(base).items()}
