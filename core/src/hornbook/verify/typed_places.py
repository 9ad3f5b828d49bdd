"""The declared type of one part of a value, with its Literals, where the type tells."""

from collections.abc import Mapping, Sequence, Set
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from hornbook.contracts.declared import is_root_type
from hornbook.contracts.fields import field_types
from hornbook.contracts.members import class_of, is_a
from hornbook.verify.places import Parts

__all__ = ["alternatives", "type_at"]

_DEEPEST = 16
"""How many aliases may stand for one another: a recursive one never ends."""


def alternatives(tp: Any, depth: int = 0) -> tuple[Any, ...]:
    """The members of a union, without wrappers and aliases; a Literal stays one."""
    if depth > _DEEPEST:
        return (Any,)
    origin = get_origin(tp)
    inner = getattr(tp, "__supertype__", None) or getattr(tp, "__value__", None)
    if inner is not None:
        return alternatives(inner, depth + 1)
    if origin is Annotated:
        return alternatives(get_args(tp)[0], depth + 1)
    if origin in (Union, UnionType):
        return tuple(one for arg in get_args(tp) for one in alternatives(arg, depth + 1))
    return (tp,)


def type_at(at: Parts, tp: Any) -> Any:
    """The type of the part that `at` leads to in values of `tp`; Any where it cannot be told."""
    for key in at:
        found = [inside for kind in alternatives(tp) for inside in _inside(kind, key)]
        if not found:
            return Any
        tp = found[0] if len(found) == 1 else Union[tuple(found)]  # noqa: UP007
    return tp


def _inside(tp: Any, key: Any) -> tuple[Any, ...]:
    kind = class_of(tp)
    if kind is None:
        return ()
    fields, args = field_types(tp), get_args(tp)
    if is_root_type(kind):
        return (type_at((key,), fields["root"].type),)
    if key in fields:
        return (fields[key].type,)
    if is_a(kind, Mapping):
        return args[1:2]
    if is_a(kind, tuple) and args and args[-1] is not Ellipsis:
        return args[key : key + 1] if isinstance(key, int) else ()
    return args[:1] if is_a(kind, Sequence, Set) and not is_a(kind, str, bytes) else ()
