"""Reading a table of a scenario file key by key, and collecting what is wrong with it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, cast

from hornbook.verify.lines import Field, Lines, line_of

__all__ = ["Problems", "Table"]

_KINDS: Mapping[type[Any], str] = {
    str: "a text",
    int: "a whole number",
    bool: "true or false",
    dict: "a table",
    list: "a list",
}


@dataclass(slots=True, kw_only=True)
class Problems:
    """What is wrong with one file, each as a sentence with file and line."""

    file: str
    lines: Lines = field(default_factory=dict[Field, int])
    found: list[str] = field(default_factory=list[str])

    def add(self, at: Field, what: str) -> None:
        """Tell of a problem at a field."""
        self.found.append(f"{self.where(at)}: {what}")

    def where(self, at: Field) -> str:
        """`file:line` of a field; the file alone where the line is not known."""
        line = line_of(self.lines, at)
        return self.file if line is None else f"{self.file}:{line}"


class Table:
    """A mapping whose keys are read one by one; `close` tells of those nobody read."""

    def __init__(self, data: Mapping[str, Any], at: Field, called: str, problems: Problems) -> None:
        self._data = data
        self._known: list[str] = []
        self.at = at
        self.called = called
        """What sentences call it: `scenario 'late parcel'`."""
        self.problems = problems

    @property
    def names(self) -> tuple[str, ...]:
        """Its keys, where they are free."""
        return tuple(self._data)

    def _take(self, key: str, kind: type[Any], required: bool) -> Any:
        self._known.append(key)
        if key not in self._data:
            if required:
                self.problems.add(self.at, f"{self.called}: {key!r} is missing")
            return None
        value = self._data[key]
        if _is(value, kind):
            return value
        self.wrong(key, f"is {_KINDS[kind]}, not {_described(value)}")
        return None

    def wrong(self, key: str, what: str) -> None:
        """Tell of a problem with one key."""
        self.problems.add((*self.at, key), f"{self.called}: {key!r} {what}")

    def text(self, key: str, *, required: bool = False) -> str | None:
        """The text under a key; one that is empty is wrong."""
        found: str | None = self._take(key, str, required)
        if found is not None and not found.strip():
            self.wrong(key, "is empty")
            return None
        return found

    def count(self, key: str) -> int | None:
        """The whole number under a key, not below 0."""
        found: int | None = self._take(key, int, False)
        if found is not None and found < 0:
            self.wrong(key, f"is a number of at least 0, not {found}")
            return None
        return found

    def flag(self, key: str) -> bool | None:
        """The truth value under a key."""
        return self._take(key, bool, False)

    def choice(self, key: str, among: tuple[str, ...]) -> Any:
        """The text under a key that must be one of a few."""
        found = self.text(key)
        if found is None or found in among:
            return found
        self.wrong(key, f"is {', '.join(among)}, not {found!r}{_nearest(found, among)}")
        return None

    def anything(self, key: str, otherwise: Any, *, required: bool = False) -> Any:
        """Whatever stands under a key."""
        self._known.append(key)
        if required and key not in self._data:
            self.problems.add(self.at, f"{self.called}: {key!r} is missing")
        return self._data.get(key, otherwise)

    def table(self, key: str, called: str = "") -> "Table | None":
        """The table under a key; sentences call it as this one, and `called`."""
        found = self._take(key, dict, False)
        if found is None:
            return None
        name = f"{self.called}, {called}" if called else self.called
        return Table(found, (*self.at, key), name, self.problems)

    def tables(self, key: str) -> list[tuple[int, Any]]:
        """The items of the list under a key, with their positions."""
        found = self._take(key, list, False)
        return list(enumerate(cast("list[Any]", found or [])))

    def mapping(self, key: str) -> Mapping[str, Any]:
        """The table under a key whose own keys are free."""
        return self._take(key, dict, False) or {}

    def close(self) -> None:
        """Tell of every key that was not asked for, with the nearest one that may stand there."""
        for key in self._data:
            if key not in self._known:
                known = ", ".join(self._known)
                near = _nearest(key, self._known) or f"; there are {known}"
                self.problems.add((*self.at, key), f"{self.called}: unknown key {key!r}{near}")


def _is(value: object, kind: type[Any]) -> bool:
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, kind)


def _nearest(word: str, among: "list[str] | tuple[str, ...]") -> str:
    near = get_close_matches(word, among, n=1, cutoff=0.5)
    return f"; the nearest is {near[0]!r}" if near else ""


def _described(value: object) -> str:
    for kind in (str, bool, int, dict, list):
        if isinstance(value, kind):
            return _KINDS[bool if isinstance(value, bool) else kind]
    return f"a {type(value).__name__}"
