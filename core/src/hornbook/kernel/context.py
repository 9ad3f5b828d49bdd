"""Where the values of arguments may come from, in the order of INV-L.

What the user said comes before what tools returned and before the host's state; of each
value that is found, the first source in that order is recorded (Forethought 4, INV-L).
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from hornbook.contracts.segments import written

__all__ = ["GuardContext", "Source", "ToolResult"]

_MAX_DEPTH = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What one call of a tool returned."""

    name: str
    value: Any
    """Text (JSON text is read as such) or JSON values."""
    arguments: Mapping[str, Any] | None = None
    """What the tool was called with: prose that only echoes it is no source."""
    error: bool = False
    """An error is no source: it repeats what was invented."""


@dataclass(frozen=True, slots=True)
class Source:
    """One place to look in: its name, its text, and its exact values when it is structured."""

    name: str
    text: str
    values: Mapping[Any, str] = field(default_factory=dict[Any, str])
    """Each scalar in it, with its path; the type is part of the key, so that 1 is not true."""
    echoed: frozenset[str] = frozenset()
    """Texts that say nothing here, because the tool was given them."""

    def path_of(self, value: Any) -> str | None:
        """Return where a value stands as a whole, or None."""
        return self.values.get(_key(value)) if isinstance(value, str | int | float) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardContext:
    """What a guard may ground arguments in; an adapter keeps it for each run."""

    turns: Sequence[str] = ()
    """What the user said, oldest first."""
    results: Sequence[ToolResult] = ()
    state: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The host's state, or the scratchpad."""
    trusted: Sequence[Any] | Mapping[str, Any] = ()
    """Values that need no other source: settings, the signed-in user, a policy's constants."""
    _sources: tuple[Source, ...] | None = field(
        default=None, init=False, repr=False, compare=False
    )

    def sources(self) -> tuple[Source, ...]:
        """Return the sources in the order in which they are looked at."""
        if self._sources is None:
            object.__setattr__(self, "_sources", tuple(self._read()))
        return self._sources or ()

    def _read(self) -> Iterator[Source]:
        for number, turn in enumerate(self.turns, 1):
            yield Source(f"turn {number}", turn)
        for result in self.results:
            if not result.error:
                yield _result_source(result)
        for name, value in self.state.items():
            yield _source(f"state{written(name)}", value)
        yield from self._trusted()

    def _trusted(self) -> Iterator[Source]:
        if isinstance(self.trusted, Mapping):
            for name, value in self.trusted.items():
                yield _source(f"trusted{written(name)}", value)
        else:
            for value in self.trusted:
                yield _source("trusted", value)


def _result_source(result: ToolResult) -> Source:
    source = _source(f"result of {result.name}", result.value)
    given = _scalars(result.arguments or {}, "", 0)
    echoed = frozenset(str(value).casefold() for _, value in given)
    return Source(source.name, source.text, source.values, echoed)


def _source(name: str, value: Any) -> Source:
    if isinstance(value, str):
        return Source(name, value, _values(_parsed(value)))
    return Source(name, _text(value), _values(value))


def _parsed(text: str) -> Any:
    """Return the JSON a text is, or the text."""
    if not text.lstrip().startswith(("{", "[")):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _text(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, TypeError, RecursionError):  # circular, odd keys, or too deep
        return str(value)


def _values(value: Any) -> dict[Any, str]:
    found: dict[Any, str] = {}
    for path, item in _scalars(value, "", 0):
        found.setdefault(_key(item), path)
    return found


def _key(value: Any) -> Any:
    return (isinstance(value, bool), value)


def _scalars(value: Any, path: str, depth: int) -> Iterator[tuple[str, Any]]:
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, Mapping):
        for name, item in cast("Mapping[Any, Any]", value).items():
            yield from _scalars(item, path + written(name), depth + 1)
    elif isinstance(value, list | tuple):
        for number, item in enumerate(cast("Sequence[Any]", value)):
            yield from _scalars(item, path + written(number), depth + 1)
    elif isinstance(value, str | int | float):
        yield path.removeprefix(".") or ".", value
