"""Following a path through a type instead of a value, to refuse it before anything runs."""

from collections import abc
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from types import NoneType
from typing import Any, Literal, NamedTuple, Union, get_args

from typing_extensions import is_protocol, is_typeddict

from hornbook.contracts.declared import is_named_tuple, is_root_type
from hornbook.contracts.fields import FieldType, field_types, has_open_fields
from hornbook.contracts.members import class_of, is_a, members, type_name
from hornbook.contracts.segments import Each, Segment, joined, read_segments
from hornbook.errors import DefinitionError

__all__ = ["PathType", "Reached", "follow"]

PathType = Literal["known", "optional", "unknown"]

_ABSTRACT_COLLECTIONS = (abc.Iterable, abc.Collection, abc.Reversible)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """What a path leads to in a type."""

    kind: PathType
    types: tuple[Any, ...]

    @property
    def leaf(self) -> Any:
        """The types as one type."""
        try:
            return Union[self.types]  # noqa: UP007
        except TypeError:  # an Annotated with metadata that is not hashable
            return Any


class _Step(NamedTuple):
    """What one segment leads to."""

    types: tuple[Any, ...]
    optional: bool = False
    unknown: bool = False


def follow(path: str, tp: Any) -> Reached:
    """Follow `path` through the type `tp`.

    Raises:
        DefinitionError: no value of the type has anything there.
    """
    segments = read_segments(path)
    types = members(tp)
    optional = unknown = False
    for at, segment in enumerate(segments):
        step = _step(types, segment)
        if step is None:
            raise _no_such_part(path, tp, types, segments, at)
        optional |= step.optional
        unknown |= step.unknown
        types = tuple(dict.fromkeys(member for found in step.types for member in members(found)))
    optional |= NoneType in types and len(types) > 1
    kind: PathType = "unknown" if unknown else "optional" if optional else "known"
    return Reached(kind=kind, types=types)


def _step(types: tuple[Any, ...], segment: Segment) -> _Step | None:
    steps = [_from_type(tp, segment) for tp in types]
    found = [step for step in steps if step is not None]
    if not found:
        return None
    return _Step(
        tuple(tp for step in found for tp in step.types),
        optional=len(found) < len(steps) or any(step.optional for step in found),
        unknown=any(step.unknown for step in found),
    )


def _from_type(tp: Any, segment: Segment) -> _Step | None:
    if tp is Any:
        return _Step((Any,), unknown=True)
    kind = class_of(tp)
    if kind is None:
        return None
    fields = field_types(tp)
    if isinstance(segment, str) and segment in fields:
        return _from_fields([fields[segment]])
    if is_root_type(kind):
        return _step(members(fields["root"].type), segment)
    if is_a(kind, Mapping) and not is_typeddict(kind):
        return _from_mapping(get_args(tp), segment)
    if isinstance(segment, str):
        opens = has_open_fields(kind) or is_protocol(kind)
        return _Step((Any,), unknown=True) if opens else None
    if is_typeddict(kind) or is_named_tuple(kind):
        return _from_record(kind, list(fields.values()), segment)
    return _from_collection(kind, get_args(tp), segment)


def _from_fields(fields: Sequence[FieldType]) -> _Step:
    return _Step(
        tuple(field.type for field in fields), optional=any(field.optional for field in fields)
    )


def _from_record(kind: type[Any], fields: list[FieldType], segment: int | Each) -> _Step | None:
    if isinstance(segment, Each):
        return _from_fields([FieldType(field.type) for field in fields])
    if is_typeddict(kind) or not -len(fields) <= segment < len(fields):
        return None
    return _from_fields([fields[segment]])


def _from_mapping(args: tuple[Any, ...], segment: Segment) -> _Step | None:
    keys, values = (*args, Any, Any)[:2] if len(args) != 1 else (args[0], Any)
    if isinstance(segment, Each):
        return _Step((values,))
    fits = any(
        key is Any or ((kind := class_of(key)) is not None and is_a(kind, type(segment)))
        for key in members(keys)
    )
    return _Step((values,), unknown=True) if fits else None


def _from_collection(kind: type[Any], args: tuple[Any, ...], segment: int | Each) -> _Step | None:
    if is_a(kind, str, bytes, bytearray):
        return None
    if is_a(kind, tuple) and args and args[-1] is not Ellipsis:
        return _from_fixed_tuple(args, segment)
    if is_a(kind, Set) and not isinstance(segment, Each):
        return None
    if not is_a(kind, Sequence, Set) and kind not in _ABSTRACT_COLLECTIONS:
        return None
    return _Step((args[0] if args else Any,), unknown=not isinstance(segment, Each))


def _from_fixed_tuple(args: tuple[Any, ...], segment: int | Each) -> _Step | None:
    if isinstance(segment, Each):
        return _Step(args)
    if any(map(_is_unpacked, args)):
        return _Step((Any,), unknown=True)
    return _Step((args[segment],)) if -len(args) <= segment < len(args) else None


def _is_unpacked(arg: Any) -> bool:
    return type_name(arg).startswith(("*", "Unpack["))


def _no_such_part(
    path: str, tp: Any, types: tuple[Any, ...], segments: tuple[Segment, ...], at: int
) -> DefinitionError:
    owners = tuple(owner for owner in types if owner is not NoneType) or types
    named = " | ".join(type_name(owner) for owner in owners)
    where = f" at {joined(*segments[:at])!r}" if at else ""
    problem = f"{named}{where} has {_lacking(owners, segments[at])}"
    return DefinitionError(f"path {path!r} does not fit {type_name(tp)}: {problem}")


def _lacking(owners: Iterable[Any], segment: Segment) -> str:
    if isinstance(segment, Each):
        return "no items"
    if isinstance(segment, int):
        return f"no position {segment}"
    fields = {name: field for owner in owners for name, field in field_types(owner).items()}
    if not fields:
        return f"no fields, so no {segment!r}"
    listed = ", ".join(map(repr, fields))
    return f"no field {segment!r}; it has {listed}{_nearest(segment, fields)}"


def _nearest(name: str, fields: Mapping[str, FieldType]) -> str:
    from difflib import get_close_matches

    for field, found in fields.items():
        if found.alias == name:
            return f"; {name!r} is the alias of {field!r}"
    close = get_close_matches(name, fields, n=1, cutoff=0.5)
    return f"; the nearest is {close[0]!r}" if close else ""
