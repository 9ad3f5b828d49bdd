"""Where the values of arguments may come from, in the order of INV-L.

What the user said comes before what tools returned and before the host's state; of each
value that is found, the first source in that order is recorded (Forethought 4, INV-L).
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from hornbook.contracts.segments import written
from hornbook.kernel.seen import SeenCall

__all__ = ["GuardContext", "Source", "ToolResult", "parsed"]

_JSON = ("{", "[")
_MAX_DEPTH = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What one call of a tool returned."""

    name: str
    value: Any
    """Text (JSON text is read as such) or JSON values."""
    arguments: Mapping[str, Any] | None = None
    """What the tool was called with: a result is no source of what stands in here."""
    error: bool = False
    """An error is no source: it repeats what was invented."""


class Source:
    """One place to look in; read no further than a search needs."""

    __slots__ = ("_arguments", "_given", "_text", "_value", "_values", "name")

    def __init__(self, name: str, value: Any, arguments: Mapping[str, Any] | None = None) -> None:
        self.name = name
        self._value = value
        self._arguments = arguments
        self._text: str | None = value if isinstance(value, str) else None
        self._values: dict[Any, str] | None = None
        self._given: tuple[str, ...] | None = None

    @property
    def text(self) -> str:
        """All of it as text."""
        if self._text is None:
            self._text = _text(self._value)
        return self._text

    def path_of(self, value: Any) -> str | None:
        """Return where a value stands as a whole in a structured source, or None."""
        if not isinstance(value, str | int | float):
            return None
        # Parsing is what costs: text that does not hold the value need not be parsed.
        if isinstance(value, str) and value not in self.text and "\\" not in self.text:
            return None
        if isinstance(self._value, str) and not self._value.lstrip().startswith(_JSON):
            return "." if value == self._value else None
        if self._values is None:
            self._values = _values(parsed(self._value))
        return self._values.get(_key(value))

    @property
    def given(self) -> tuple[str, ...]:
        """All that the model wrote in the call: what the result says of it may be an echo."""
        if self._given is None:
            self._given = tuple(_texts(self._arguments)) if self._arguments else ()
        return self._given

    def echoes(self, value: Any) -> bool:
        """Whether one text of the call is the value; within longer texts the search looks."""
        same = str(value).casefold()
        return any(text.casefold() == same for text in self.given)


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
    calls: Sequence[SeenCall] = ()
    """The calls that were made, oldest first: what repeats, order and the end of a turn need."""
    _sources: tuple[Source, ...] | None = field(default=None, init=False, repr=False, compare=False)

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
                yield Source(f"result of {result.name}", result.value, result.arguments)
        for name, value in self.state.items():
            yield Source(f"state{written(name)}", value)
        if isinstance(self.trusted, Mapping):
            for name, value in self.trusted.items():
                yield Source(f"trusted{written(name)}", value)
        else:
            for value in self.trusted:
                yield Source("trusted", value)


def parsed(value: Any) -> Any:
    """Return the JSON that a text is; any other value is returned as it is."""
    if not isinstance(value, str) or not value.lstrip().startswith(_JSON):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _text(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, TypeError, RecursionError):  # circular, odd keys, or too deep
        return str(value)


def _texts(value: Any) -> Iterator[str]:
    """Yield all texts in a value, names too, however deep; what holds itself is read once."""
    waiting, seen = [value], set[int]()
    while waiting:
        current: Any = waiting.pop()
        if isinstance(current, Mapping | list | tuple | set | frozenset):
            if id(cast("object", current)) in seen:
                continue
            seen.add(id(cast("object", current)))
            if isinstance(current, Mapping):
                waiting.extend(cast("Mapping[Any, Any]", current).values())
            waiting.extend(cast("Iterable[Any]", current))
        elif current is not None:
            yield str(current)
            inner = parsed(current)
            if inner is not current:
                waiting.append(inner)


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
