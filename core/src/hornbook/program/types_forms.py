"""Types taken apart: what stands behind aliases and wrappers, and what a class is made of."""

from collections import abc
from collections.abc import Collection
from enum import Enum, Flag
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Final,
    ForwardRef,
    Literal,
    NewType,
    NotRequired,
    Required,
    TypeVar,
    Union,
    get_args,
    get_origin,
)

from typing_extensions import ReadOnly

from hornbook.contracts.declared import is_named_tuple
from hornbook.contracts.fields import field_types
from hornbook.contracts.members import class_of, substituted

__all__ = [
    "alternatives",
    "bare",
    "is_literal",
    "is_new_type",
    "joined",
    "labels_of",
    "variable_bound",
    "viewed",
]

_WRAPPERS = (Annotated, ClassVar, Final, NotRequired, ReadOnly, Required)
_DEEPEST = 64
"""How many aliases may stand for one another: a recursive one never ends."""
_OF_ITEMS = (abc.Iterable, abc.Collection, abc.Container, abc.Reversible)


def bare(tp: Any) -> Any:
    """A type without wrappers and aliases; a NewType stays what it is."""
    for _ in range(_DEEPEST):
        origin = get_origin(tp)
        alias = tp if origin is None else origin
        if tp is None:
            return NoneType
        if isinstance(tp, str | ForwardRef):  # it does not resolve, so nothing is known of it
            return Any
        if origin in _WRAPPERS:
            tp = get_args(tp)[0]
        elif type(alias).__name__ == "TypeAliasType":
            given = dict(zip(alias.__type_params__, get_args(tp), strict=False))
            tp = substituted(alias.__value__, given)
        else:
            return tp
    return Any


def is_new_type(tp: Any) -> bool:
    """Whether a type was made by `NewType`."""
    return isinstance(tp, NewType)


def is_literal(tp: Any) -> bool:
    """Whether a type is a Literal."""
    return get_origin(tp) is Literal


def alternatives(tp: Any) -> tuple[Any, ...]:
    """The members of a union, each bare; a type that is no union is its only member."""
    tp = bare(tp)
    if get_origin(tp) not in (Union, UnionType):
        return (tp,)
    found = [one for part in get_args(tp) for one in alternatives(part)]
    return tuple(dict.fromkeys(found))


def labels_of(tp: Any) -> tuple[Any, ...] | None:
    """The values of a type that has finitely many by declaration; None where it has not."""
    found: list[Any] = []
    for one in alternatives(tp):
        one = one.__supertype__ if is_new_type(one) else one
        if one is bool:
            found += [True, False]
        elif one is NoneType:
            found.append(None)
        elif is_literal(one):
            found += get_args(one)
        elif isinstance(one, type) and issubclass(one, Enum) and not issubclass(one, Flag):
            # Flags are combined: a value of a Flag need not be one of its members.
            found += list(one)
        else:
            return None
    distinct: dict[Any, Any] = {(type(label), label): label for label in found}
    return tuple(distinct.values())


def joined(*types: Any) -> Any:
    """The union of types, without labels of a type that is among them."""
    every = dict.fromkeys(one for tp in types for one in alternatives(tp))
    found = tuple(one for one in every if not _is_covered(one, every))
    if Any in found:
        return Any
    return Union[found]  # noqa: UP007 - the members are known only now


def _is_covered(tp: Any, others: Collection[Any]) -> bool:
    return is_literal(tp) and all(type(label) in others for label in get_args(tp))


def viewed(tp: Any, base: type[Any]) -> tuple[Any, ...] | None:
    """The arguments that `tp` has as a `base`: `(int,)` of `list[int]` seen as a Sequence.

    None when its class derives from no such base; Any stands for what is not told.
    """
    kind = class_of(tp)
    if kind is None or not _derives(kind, base):
        return None
    if is_named_tuple(kind):
        return (joined(*(field.type for field in field_types(tp).values())),)
    if kind is base:
        return get_args(tp)
    if _is_builtin(kind):
        return _builtin_view(kind, get_args(tp), base)
    given = dict(zip(getattr(kind, "__parameters__", ()), get_args(tp), strict=False))
    for parent in getattr(kind, "__orig_bases__", ()):
        found = viewed(substituted(parent, given), base)
        if found is not None:
            return found
    return ()


def _derives(kind: type[Any], base: type[Any]) -> bool:
    try:
        return issubclass(kind, base)
    except TypeError:  # a protocol with data members
        return False


def _is_builtin(kind: type[Any]) -> bool:
    return kind.__module__ in ("builtins", "collections", "collections.abc", "typing")


def _builtin_view(kind: type[Any], args: tuple[Any, ...], base: type[Any]) -> tuple[Any, ...]:
    if not args:
        return ()
    if issubclass(kind, tuple):
        items = args[:1] if args[-1] is Ellipsis else args
        return (joined(*items),)
    if issubclass(kind, abc.Mapping) and base in _OF_ITEMS:
        return args[:1]
    return args


def variable_bound(variable: TypeVar) -> Any:
    """What any type put in place of a type variable has to be."""
    constraints = variable.__constraints__
    if constraints:
        return joined(*constraints)
    return Any if variable.__bound__ is None else variable.__bound__
