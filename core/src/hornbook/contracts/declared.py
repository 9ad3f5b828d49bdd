"""Which parts a class declares: fields, not whatever attributes its instances have."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cached_property, lru_cache
from types import FunctionType
from typing import Any, ClassVar, cast, get_origin

from pydantic import BaseModel
from typing_extensions import Format, get_annotations

__all__ = ["annotations_of", "declared_names", "is_named_tuple", "is_root_model", "is_root_type"]

_CODE = (property, cached_property, FunctionType, classmethod, staticmethod)


@lru_cache(maxsize=1024)
def declared_names(kind: type[Any]) -> Mapping[str, None]:
    """The fields of a class, in order: what it declares by annotation, slot or field.

    A model's computed fields count; any other property does not, since reading it runs code.
    A mapping has keys instead.
    """
    if issubclass(kind, Mapping):
        return {}
    if issubclass(kind, BaseModel):
        return dict.fromkeys([*kind.model_fields, *kind.model_computed_fields])
    if is_dataclass(kind):
        return dict.fromkeys(field.name for field in fields(kind))
    if is_named_tuple(kind):
        return dict.fromkeys(cast(Any, kind)._fields)
    names = [name for base in reversed(kind.__mro__) for name in _own_names(base)]
    return dict.fromkeys(name for name in names if not _is_code(kind, name))


def annotations_of(kind: type[Any]) -> Mapping[str, Any]:
    """The annotations written in the body of a class, as they stand there."""
    return get_annotations(kind, format=Format.FORWARDREF)


def is_named_tuple(kind: type[Any]) -> bool:
    """Whether a class was made by `typing.NamedTuple` or `collections.namedtuple`."""
    return hasattr(kind, "_fields") and issubclass(kind, tuple)


def is_root_model(value: Any) -> bool:
    """Whether a value is a pydantic RootModel, which paths see through."""
    return is_root_type(cast("type[Any]", type(value)))


def is_root_type(kind: type[Any]) -> bool:
    """Whether a class is a pydantic RootModel."""
    return getattr(kind, "__pydantic_root_model__", False) is True


def _own_names(kind: type[Any]) -> list[str]:
    if kind.__module__ in ("builtins", "typing"):
        return []
    slots = kind.__dict__.get("__slots__", ())
    names = [slots] if isinstance(slots, str) else list(cast("tuple[str, ...]", slots))
    names += [name for name, hint in annotations_of(kind).items() if not _is_class_variable(hint)]
    return [name for name in names if not name.startswith("__")]


def _is_class_variable(hint: Any) -> bool:
    if isinstance(hint, str):
        return hint.split("[")[0].endswith("ClassVar")
    return hint is ClassVar or get_origin(hint) is ClassVar


def _is_code(kind: type[Any], name: str) -> bool:
    found = next((base.__dict__[name] for base in kind.__mro__ if name in base.__dict__), None)
    return isinstance(found, _CODE)
