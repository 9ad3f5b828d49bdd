"""Paths that lead into a value: `items[].price`.

`.` is the whole value, `a.b` a field of a field, `items[0]` one item, `items[]` every
item of a sequence or set and every value of a mapping, `["odd key"]` a key that is no
plain name. Only what a type declares is read, so looking never runs a property.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Any, Final, TypeAlias, cast

from pydantic import BaseModel

from hornbook.contracts.declared import declared_names, is_root_model
from hornbook.contracts.segments import EACH, Segment, joined, read_segments
from hornbook.contracts.type_paths import PathType, follow
from hornbook.errors import DefinitionError

__all__ = [
    "ABSENT",
    "EACH",
    "Absent",
    "Match",
    "Path",
    "PathType",
    "check_path",
    "joined",
    "leaf_type",
    "parse",
    "part_of",
]


class _Nothing(Enum):
    ABSENT = "absent"

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = _Nothing.ABSENT
"""What `Path.get` gives where there is no value; None is a value."""


# Not frozen, as other values here are: a check makes one for each value it looks at, and
# freezing would make that three times as dear.
@dataclass(slots=True)
class Match:
    """One value that a path leads to."""

    path: str
    """Where it is, with positions and keys in place of `[]`."""
    value: Any


@dataclass(slots=True, repr=False)
class Absent:
    """A place a path leads to where there is no value; as an observed value it is nothing."""

    path: str

    def __repr__(self) -> str:
        return "nothing"


Place: TypeAlias = Match | Absent


@dataclass(frozen=True, slots=True, kw_only=True)
class Path:
    """A path that was read; make one with `parse`."""

    text: str
    segments: tuple[Segment, ...]
    single: bool
    """Whether it leads to one place at most: it has no `[]`."""

    def __str__(self) -> str:
        return self.text

    def get(self, value: Any) -> Any:
        """The one value of a `single` path, or `ABSENT`."""
        assert self.single
        for segment in self.segments:
            value = part_of(value, segment)
            if value is ABSENT:
                return ABSENT
        return value

    def matches(self, value: Any) -> Iterable[Place]:
        """Every place in `value` that the path leads to; no items, no places."""
        if not self.single:
            return _walk(value, self.segments, ())
        found = self.get(value)
        return (Absent(self.text) if found is ABSENT else Match(self.text, found),)


def parse(text: str) -> Path:
    """Read a path; the same text gives the same object.

    Raises:
        DefinitionError: `text` is no path; the message says from which column on.
    """
    try:
        return _parse(text)
    except TypeError:
        raise DefinitionError(f"a path is a text, not {text!r}") from None


@lru_cache(maxsize=2048)
def _parse(text: object) -> Path:
    if not isinstance(text, str):
        raise TypeError
    segments = read_segments(text)
    return Path(text=text, segments=segments, single=EACH not in segments)


def check_path(path: str, tp: Any) -> PathType:
    """Whether values of the type `tp` have something at `path`.

    Returns:
        `known`: always; `optional`: a part on the way, or what it leads to, may be None or
        missing by declaration; `unknown`: the type cannot tell (Any, a key of a dict, a
        position in a list).

    Raises:
        DefinitionError: no value of the type has it. The message names the path, the type,
            where it fails, the fields that exist and the nearest of them.
    """
    return follow(path, tp).kind


def leaf_type(path: str, tp: Any) -> Any:
    """The type that `path` leads to in `tp`: a union of what is possible, Any where unknown."""
    return follow(path, tp).leaf


def part_of(value: Any, segment: Segment) -> Any:
    """The one part of `value` that a name, key or position stands for, or `ABSENT`."""
    if type(value) is dict:
        return cast("dict[Any, Any]", value).get(segment, ABSENT)
    if isinstance(segment, str) and segment in declared_names(cast("type[Any]", type(value))):
        return getattr(value, segment, ABSENT)
    if isinstance(value, Mapping):
        return cast("Mapping[Any, Any]", value).get(segment, ABSENT)
    if is_root_model(value):
        return part_of(value.root, segment)
    if isinstance(segment, str):
        return _extra_field(value, segment)
    if isinstance(segment, int):
        return _item(value, segment)
    return ABSENT


def _extra_field(value: Any, name: str) -> Any:
    if isinstance(value, BaseModel) and value.model_extra:
        return value.model_extra.get(name, ABSENT)
    return ABSENT


def _item(value: Any, position: int) -> Any:
    if isinstance(value, str | bytes | bytearray) or not isinstance(value, Sequence):
        return ABSENT
    items = cast("Sequence[Any]", value)
    return items[position] if -len(items) <= position < len(items) else ABSENT


def _walk(value: Any, segments: tuple[Segment, ...], done: tuple[object, ...]) -> Iterator[Place]:
    for at, segment in enumerate(segments):
        if segment is EACH:
            items = _items(value)
            if items is None:
                yield Absent(joined(*done, *segments[at:]))
                return
            for key, item in items:
                yield from _walk(item, segments[at + 1 :], (*done, key))
            return
        value = part_of(value, segment)
        if value is ABSENT:
            yield Absent(joined(*done, *segments[at:]))
            return
        done = (*done, segment)
    yield Match(joined(*done), value)


def _items(value: Any) -> Iterable[tuple[object, Any]] | None:
    if isinstance(value, Mapping):
        return cast("Mapping[object, Any]", value).items()
    if isinstance(value, str | bytes | bytearray):
        return None
    if isinstance(value, Sequence | Set):
        return enumerate(cast("Iterable[Any]", value))
    return _items(value.root) if is_root_model(value) else None
