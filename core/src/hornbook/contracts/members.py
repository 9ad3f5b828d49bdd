"""The alternatives that a type stands for, and its name in messages."""

import re
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Final,
    ForwardRef,
    Literal,
    NotRequired,
    Required,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
)

from typing_extensions import ReadOnly

__all__ = ["class_of", "is_a", "members", "substituted", "type_name"]

_WRAPPERS = (Annotated, ClassVar, Final, NotRequired, ReadOnly, Required)
_DEEPEST = 64
"""How many aliases may stand for one another: a recursive one never ends."""


def members(tp: Any, depth: int = 0) -> tuple[Any, ...]:
    """The types a value may have: a union's members, without wrappers, aliases and NewTypes.

    What cannot be told is Any: a TypeVar, a reference that does not resolve.
    """
    origin = get_origin(tp)
    if depth > _DEEPEST or tp is object or isinstance(tp, str | ForwardRef | TypeVar):
        return (Any,)
    if tp is None:
        return (NoneType,)
    if origin in _WRAPPERS:
        return members(get_args(tp)[0], depth + 1)
    if origin is Union or origin is UnionType:
        found = [member for arg in get_args(tp) for member in members(arg, depth + 1)]
        return tuple(dict.fromkeys(found))
    if origin is Literal:
        return tuple(dict.fromkeys(map(type, get_args(tp))))
    if hasattr(tp, "__supertype__"):
        return members(tp.__supertype__, depth + 1)
    alias = tp if origin is None else origin
    if type(alias).__name__ == "TypeAliasType":
        given = dict(zip(alias.__type_params__, get_args(tp), strict=False))
        return members(substituted(alias.__value__, given), depth + 1)
    return (tp,)


def class_of(tp: Any) -> type[Any] | None:
    """The class of a type's values: `list` of `list[int]`; None where there is none."""
    kind = get_origin(tp) or tp
    return cast("type[Any]", kind) if isinstance(kind, type) else None


def is_a(kind: type[Any], *bases: type[Any]) -> bool:
    """Whether a class derives from one of `bases`."""
    return issubclass(kind, bases)


def substituted(tp: Any, given: dict[Any, Any]) -> Any:
    """`tp` with type variables replaced by what they are given."""
    if tp in given:
        return given[tp]
    variables = getattr(tp, "__parameters__", ())
    if not given or isinstance(tp, type) or not variables:
        return tp
    return tp[tuple(given.get(variable, variable) for variable in variables)]


_MODULES = re.compile(r"\b(?:[A-Za-z_]\w*\.|<locals>\.)+(?=[A-Za-z_])")


def type_name(tp: Any) -> str:
    """A type as it is written, without the modules it comes from."""
    if isinstance(tp, type) and get_origin(tp) is None:
        return "None" if tp is NoneType else cast("type[Any]", tp).__name__
    if isinstance(tp, str):
        return repr(tp)
    return _MODULES.sub("", repr(tp).replace("NoneType", "None"))
