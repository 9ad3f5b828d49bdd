"""Declared moves of values from paths to paths, and what they make of a value."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, cast

from hornbook.contracts.paths import Match, parse
from hornbook.contracts.segments import EACH
from hornbook.errors import DefinitionError
from hornbook.program.library.errors import RestructureError

__all__ = ["NO_DEFAULT", "Move", "moved", "names_to"]


class _NoDefault(Enum):
    NO_DEFAULT = "no default"

    def __repr__(self) -> str:
        return "NO_DEFAULT"


NO_DEFAULT: Final = _NoDefault.NO_DEFAULT
"""There is none; None is a default like any other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """Take what stands at one path, and put it at another."""

    to: str
    """A path of names: `customer.name` nests; `.` makes it the whole result."""
    take: str | None = None
    """A path into the value. With `[]` in it, the list of all that it leads to. Left out, the
    `default` is put there always."""
    default: Any = NO_DEFAULT
    """What is put there when nothing stands at `take`."""
    optional: bool = False
    """Nothing is put there when nothing stands at `take`."""
    flatten: bool = False
    """The items of lists in the list that was taken, in place of those lists."""
    each: "tuple[Move, ...]" = ()
    """What to make of each item of the list that was taken; the same for a single value."""


def moved(value: Any, moves: Sequence[Move]) -> Any:
    """The value that the moves make of `value`.

    Raises:
        RestructureError: nothing stands where something is taken; all such paths are named.
        DefinitionError: a move that cannot work.
    """
    missing: list[str] = []
    made = _made(value, moves, ".", missing)
    if missing:
        raise RestructureError(
            f"the value has nothing at {', '.join(missing)}: give the move a default=, or say "
            f"optional=True"
        )
    return made


def names_to(move: Move) -> tuple[str, ...]:
    """The names on the way to where a move puts its value.

    Raises:
        DefinitionError: its path is not one of names, or nothing says what to put there.
    """
    names = parse(move.to).segments
    if not all(isinstance(name, str) for name in names):
        raise DefinitionError(f"Move(to={move.to!r}): it is a path of names, as 'customer.name'")
    if move.take is None and move.default is NO_DEFAULT:
        raise DefinitionError(f"Move(to={move.to!r}): it says neither take= nor default=")
    if move.flatten and (move.take is None or EACH not in parse(move.take).segments):
        raise DefinitionError(
            f"Move(to={move.to!r}, flatten=True): what is flattened is a list of what a path "
            f"with [] leads to, not {move.take!r}"
        )
    return cast("tuple[str, ...]", names)


def _made(value: Any, moves: Sequence[Move], where: str, missing: list[str]) -> Any:
    made = _Nested()
    for move in moves:
        names = names_to(move)
        found = list(_taken(value, move, where, missing))
        if not found:
            continue
        if not names:
            if len(moves) > 1:
                raise DefinitionError("Move(to='.') makes the whole result, and is the only move")
            return found[0]
        _put(made, names, found[0], move)
    return _plain(made)


def _taken(value: Any, move: Move, where: str, missing: list[str]) -> Iterator[Any]:
    """What a move takes: one value, or none."""
    if move.take is None:
        yield move.default
        return
    path = parse(move.take)
    places = list(path.matches(value))
    found = [place for place in places if isinstance(place, Match)]
    if len(found) < len(places):
        if move.default is not NO_DEFAULT:
            yield move.default
        elif not move.optional:
            absent = [place.path for place in places if not isinstance(place, Match)]
            missing += [_joined(where, one) for one in absent]
        return
    if not path.single:
        yield _listed([place.value for place in found], found, move, missing)
    elif found:
        yield _shaped(found[0].value, move, _joined(where, found[0].path), missing)


def _listed(
    values: list[Any], places: Sequence[Match], move: Move, missing: list[str]
) -> list[Any]:
    if move.flatten:
        values = [item for value in values for item in _items(value)]
    if not move.each:
        return values
    named = [place.path for place in places] if not move.flatten else [str(move.take)] * len(values)
    return [_made(value, move.each, at, missing) for value, at in zip(values, named, strict=True)]


def _items(value: Any) -> Sequence[Any]:
    return cast("Sequence[Any]", value) if isinstance(value, list | tuple) else [value]


def _shaped(value: Any, move: Move, where: str, missing: list[str]) -> Any:
    return _made(value, move.each, where, missing) if move.each else value


def _joined(where: str, path: str) -> str:
    if where == ".":
        return path
    return where if path == "." else f"{where}{'' if path.startswith('[') else '.'}{path}"


def _put(made: "_Nested", names: Sequence[str], value: Any, move: Move) -> None:
    held = made
    for name in names[:-1]:
        inner = held.setdefault(name, _Nested())
        # A mapping that was taken is a value, and nothing of another move goes into it.
        if not isinstance(inner, _Nested):
            raise DefinitionError(f"Move(to={move.to!r}): another move puts a value at {name!r}")
        held = inner
    if names[-1] in held:
        raise DefinitionError(f"Move(to={move.to!r}): another move puts something there too")
    held[names[-1]] = value


class _Nested(dict[str, Any]):
    """A mapping that moves make on their way; a plain one in the end."""


def _plain(made: Any) -> Any:
    if isinstance(made, _Nested):
        return {name: _plain(one) for name, one in made.items()}
    return made


def put_places(moves: Sequence[Move]) -> Mapping[tuple[str, ...], Move]:
    """Each move by where it puts its value.

    Raises:
        DefinitionError: two of them put something at one place, or one inside another's.
    """
    made = _Nested()
    for move in moves:
        names = names_to(move)
        if names:
            _put(made, names, None, move)
    return {names_to(move): move for move in moves}
