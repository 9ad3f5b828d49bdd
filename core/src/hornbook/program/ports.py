"""Named ports: the record that a Parallel gives, and the records that have such names."""

from collections.abc import Iterable, Mapping
from dataclasses import is_dataclass
from typing import Any, cast
from weakref import WeakValueDictionary

from pydantic import BaseModel
from typing_extensions import TypedDict, is_typeddict

from hornbook.contracts import members
from hornbook.contracts.declared import is_named_tuple
from hornbook.contracts.fields import FieldType, field_types
from hornbook.contracts.members import class_of
from hornbook.program.types_forms import bare

__all__ = ["is_ports", "near", "ports_of", "ports_type", "read_port", "type_name"]

_MARK = "__hornbook_ports__"


def type_name(tp: Any) -> str:
    """A type as it is written; named ports by their names, in whatever they stand."""
    return members.type_name(tp).replace("program.{", "{")


def ports_type(ports: Mapping[str, Any]) -> Any:
    """The type of a record with exactly these names: a TypedDict, a dict at run time.

    The same names of the same types give the same type while it is in use: so a program that
    stands in a larger one is known to be given what it was typed for.
    """
    key = tuple(ports.items())
    try:
        known = _MADE.get(key)
    except TypeError:  # a type with metadata that has no hash
        return _made(ports)
    if known is None:
        known = _made(ports)
        _MADE[key] = known
    return known


_MADE: WeakValueDictionary[tuple[tuple[str, Any], ...], Any] = WeakValueDictionary()


def _made(ports: Mapping[str, Any]) -> Any:
    shown = ", ".join(f"{name}: {type_name(tp)}" for name, tp in ports.items())
    make: Any = TypedDict
    made = make(f"{{{shown}}}", dict(ports))
    made.__module__ = "hornbook.program"
    setattr(made, _MARK, True)
    return made


def is_ports(tp: Any) -> bool:
    """Whether a type was made by `ports_type`: it has no keys but those it names."""
    return getattr(tp, _MARK, False) is True


def ports_of(tp: Any) -> Mapping[str, FieldType] | None:
    """The names that values of a type can be taken apart by; None where there are none."""
    tp = bare(tp)
    kind = class_of(tp)
    if kind is None or not _is_record(kind):
        return None
    return field_types(tp)


def near(name: str, known: Iterable[str]) -> str | None:
    """The known name that is most like one that is not known; None where none is."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(name, list(known), n=1)), None)


def read_port(value: Any, name: str) -> Any:
    """What stands under a name in a record, whatever kind of record it is."""
    if isinstance(value, Mapping):
        return cast("Mapping[str, Any]", value)[name]
    return getattr(value, name)


def _is_record(kind: type[Any]) -> bool:
    return (
        is_typeddict(kind)
        or issubclass(kind, BaseModel)
        or is_dataclass(kind)
        or is_named_tuple(kind)
    )
