"""From any Python value to plain JSON, never raising for a value."""

import re
import sys
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from itertools import islice
from typing import Any, Literal, TypeGuard

from hornbook.canon.forms import EXACT, EXACTLY, type_name, write_of
from hornbook.canon.wire import JSON, has_surrogate, printable, serialise, sha256

__all__ = ["MAX_DEPTH", "WITHHELD", "KeyUse", "Rules", "cut_of", "digest", "dumps", "encode"]

KeyUse = Literal["plain", "withheld", "odd"]

MAX_DEPTH = 100
"""Levels of JSON that `encode` writes; what lies deeper is described."""
WITHHELD = "<redacted>"
"""What stands where a value was withheld."""

_SHOWN = 400
"""Characters of a repr that are written."""
_LOOKED_AT = 8_000
_SMALL = 16
"""Items up to which a collection of leaves is written without counting."""
_LEAVES = frozenset((str, int, bool, type(None), float))
_ADDRESS = r" at 0x[0-9A-Fa-f]+"


class Rules:
    """What a walk over a value leaves out: nothing; the redactor refines this."""

    max_items: int = sys.maxsize
    """Items of one collection that are written; the others are counted."""
    max_nodes: int = 1_000_000
    """Items in all; a collection that would exceed this is described instead."""

    def __init__(self) -> None:
        self.known: set[str] = set()
        """Short texts that are written as they are: a cache, so that a walk need not ask."""
        self.plain_keys: set[str] = set()
        """Keys that are written as they are, likewise."""

    def text(self, text: str) -> str:
        """Return what is written in place of `text`."""
        return text

    def denies(self, key: str) -> bool:
        """Whether what stands under `key` is withheld."""
        return False

    def key(self, key: str) -> KeyUse:
        """How `key` is written: as it is, with its value withheld, or in a list of pairs."""
        if key[:1] == "$" or has_surrogate(key) or self.text(key) != key:
            return "odd"
        if self.denies(key):
            return "withheld"
        _remember(self.plain_keys, key)
        return "plain"

    def clean(self, text: str) -> JSON:
        """Return `text` as it is written, escaped where UTF-8 cannot say it."""
        kept = self.text(text)
        if has_surrogate(kept):
            return {"$str": printable(kept.replace("\\", "\\\\"))}
        if kept is text:
            _remember(self.known, text)
        return kept


def encode(value: object, rules: Rules | None = None) -> JSON:
    """Return `value` as plain JSON; whatever it is, this does not raise."""
    walk = _Walk(rules or _EVERYTHING, value)
    try:
        return walk.mapping(value, 0) if _is_dict(value) else walk.value(value, 0)
    # As in `value`, for the little that goes past it: the host can be deep in recursion.
    except Exception as error:  # noqa: BLE001
        return walk.failed(value, error)


def dumps(value: object) -> bytes:
    """Return the canonical bytes of any value; `decode(loads(...))` reads them back."""
    return serialise(encode(value))


def digest(value: object) -> str:
    """Return `sha256:` and the hash of the canonical bytes of any value."""
    return f"sha256:{sha256()(dumps(value)).hexdigest()}"


def cut_of(start: str, size: int) -> str:
    """Return the start of a text of `size` characters, marked as cut."""
    return f"{start}... [cut, {size} characters in all]"


_EVERYTHING = Rules()


def _is_dict(value: object) -> TypeGuard[dict[Any, Any]]:
    return type(value) is dict


class _Walk:
    """One walk over one value; guards against cycles, depth and size.

    The two loops over items write the common leaves in place: a call for each would be most
    of the cost of a record.
    """

    __slots__ = ("_active", "_known", "_left", "_max_items", "_plain_keys", "_rules")

    def __init__(self, rules: Rules, value: object) -> None:
        self._rules = rules
        self._known = rules.known
        self._plain_keys = rules.plain_keys
        self._max_items = rules.max_items
        self._left = rules.max_nodes
        # A dict at the top is under way from the start; all else is when its items are.
        self._active = {id(value)} if _is_dict(value) else set[int]()

    def value(self, value: Any, depth: int) -> JSON:
        """Write any value."""
        kind: type[object] = type(value)  # pyright: ignore[reportUnknownVariableType]
        if kind is str:
            return value if value in self._known else self._rules.clean(value)
        if value is None or kind is bool:
            return value
        try:
            write = EXACTLY.get(kind) or write_of(kind)
            return write(self, value, depth)
        # A value's own code (repr, iteration, properties) may raise anything; only it suffers.
        except Exception as error:  # noqa: BLE001
            return self.failed(value, error)

    def mapping(self, value: Mapping[Any, Any], depth: int) -> JSON:
        """Write a dict, or what is like one."""
        size = len(value)
        if size > _SMALL and (why := self._crowded(size)):
            return _refused(value, size, why)
        if size > self._max_items:
            return self._cut_mapping(value, size, depth)
        found: dict[str, JSON] = {}
        plain, known, nested = self._plain_keys, self._known, depth == 0
        try:
            for key, item in value.items():
                if type(key) is not str or (key not in plain and self._rules.key(key) != "plain"):
                    return self._odd_mapping(value, size, depth, nested=nested)
                kind: type[object] = type(item)  # pyright: ignore[reportUnknownVariableType]
                if (
                    (kind is str and item in known)
                    or (kind is int and -EXACT <= item <= EXACT)
                    or item is None
                    or kind is bool
                    or (kind is float and 1e-4 <= item < 1e16)
                ):
                    found[key] = item
                elif kind in _LEAVES:
                    found[key] = self.value(item, depth)
                elif nested or not (why := self._enter(value, size, depth)):
                    nested = True
                    write = _WRITE.get(kind, _Walk.value)
                    found[key] = write(self, item, depth + 1)
                else:
                    return _refused(value, size, why)
        except RuntimeError as error:
            return self._changed_mapping(value, depth, error)
        if nested:
            self._active.discard(id(value))
        return found

    def sequence(self, value: Any, depth: int) -> JSON:
        """Write a list or tuple; in a pair like `("password", x)` the second is withheld."""
        size = len(value)
        if size > _SMALL and (why := self._crowded(size)):
            return _refused(value, size, why)
        items = self._shown(value, size) if size == 2 or size > _SMALL else value
        found: list[JSON] = []
        known, nested = self._known, False
        for item in items:
            kind: type[object] = type(item)  # pyright: ignore[reportUnknownVariableType]
            if (
                (kind is str and item in known)
                or (kind is int and -EXACT <= item <= EXACT)
                or item is None
                or kind is bool
                or (kind is float and 1e-4 <= item < 1e16)
            ):
                found.append(item)
            elif kind in _LEAVES:
                found.append(self.value(item, depth))
            elif nested or not (why := self._enter(value, size, depth)):
                nested = True
                write = _WRITE.get(kind, _Walk.value)
                found.append(write(self, item, depth + 1))
            else:
                return _refused(value, size, why)
        if nested:
            self._active.discard(id(value))
        if size > self._max_items:
            found.append({"$cut": size - self._max_items})
        return found

    def sorted(self, value: Iterable[Any], depth: int) -> JSON:
        """Write the items of a set, in the order of their bytes."""
        found = self.sequence(list(value), depth)
        return sorted(found, key=serialise) if isinstance(found, list) else found

    def fields(self, value: object, fields: Mapping[str, Any], depth: int) -> JSON:
        """Write an object by its fields, under the name of its class."""
        if why := self._enter(value, len(fields), depth):
            return _refused(value, len(fields), why)
        written = self.mapping(fields, depth + 1)
        self._active.discard(id(value))
        return {"$object": type_name(type(value)), "fields": written}

    def text(self, value: str) -> JSON:
        """Write a text."""
        return self._rules.clean(value)

    def described(self, value: object) -> JSON:
        """Write what a value says of itself: it cannot be read back."""
        name = type_name(type(value))
        try:
            text = str.__str__(repr(value))
        # As in `value`: a repr may raise anything.
        except Exception as error:  # noqa: BLE001
            text = f"<{name}: its repr raised {type(error).__name__}>"
        shown = self._rules.text(re.sub(_ADDRESS, "", text[:_LOOKED_AT]))
        if len(shown) > _SHOWN:
            shown = cut_of(shown[:_SHOWN], len(text))
        return {"$repr": printable(shown), "$type": name}

    def _enter(self, value: object, size: int, depth: int) -> str:
        """Mark a collection as under way, or say why it cannot be written."""
        mark = id(value)
        if mark in self._active:
            return "contains itself"
        if depth >= MAX_DEPTH:
            return "nested too deep"
        if size <= _SMALL and (why := self._crowded(size)):
            return why
        self._active.add(mark)
        return ""

    def _crowded(self, size: int) -> str:
        self._left -= size
        return "too large" if self._left < 0 else ""

    def failed(self, value: object, error: Exception) -> JSON:
        """Describe a value that could not be written; of a collection not even the repr."""
        if not issubclass(type(value), (Mapping, list, tuple, set, frozenset)):
            return self.described(value)
        name = type_name(type(value))
        return {"$repr": f"<{name}: reading it raised {type(error).__name__}>", "$type": name}

    def _shown(self, value: Any, size: int) -> Any:
        if size == 2 and self._is_denied(value[0]):
            return value[0], _withheld(value[1])
        return value if size <= self._max_items else islice(value, self._max_items)

    def _cut_mapping(self, value: Mapping[Any, Any], size: int, depth: int) -> JSON:
        kept = dict(islice(value.items(), self._max_items))
        return {"$cut": size - len(kept), "items": self.mapping(kept, depth + 1)}

    def _changed_mapping(self, value: Mapping[Any, Any], depth: int, error: RuntimeError) -> JSON:
        """Start again with a copy when another thread has changed the dict meanwhile."""
        if type(error) is not RuntimeError or not _is_dict(value):
            raise error
        self._active.discard(id(value))
        return self.mapping(value.copy(), depth)

    def _odd_mapping(
        self, value: Mapping[Any, Any], size: int, depth: int, *, nested: bool
    ) -> JSON:
        """Write a dict with keys that JSON has not, that look like our tags, or are denied."""
        if not nested and (why := self._enter(value, size, depth)):
            return _refused(value, size, why)
        pairs = [
            (key, _withheld(item) if self._is_denied(key) else item)
            for key, item in list(value.items())
        ]
        written: JSON
        if any(type(key) is not str or self._rules.key(key) == "odd" for key, _ in pairs):
            found: list[JSON] = [
                [self.value(key, depth + 3), self.value(item, depth + 3)] for key, item in pairs
            ]
            written = {"$dict": sorted(found, key=serialise)}
        else:
            written = {key: self.value(item, depth + 1) for key, item in pairs}
        self._active.discard(id(value))
        return written

    def _is_denied(self, key: object) -> bool:
        key = key.value if isinstance(key, Enum) else key
        key = key.decode("latin-1") if isinstance(key, bytes) else key
        return isinstance(key, str) and self._rules.denies(str.__str__(key))


_WRITE: dict[type[Any], Callable[[_Walk, Any, int], JSON]] = {
    dict: _Walk.mapping,
    list: _Walk.sequence,
}


def _refused(value: object, size: int, why: str) -> JSON:
    """Describe a collection without its repr, which would be as deep or as large."""
    name = type_name(type(value))
    return {"$repr": f"<{name} of {size} items: {why}>", "$type": name}


def _withheld(value: object) -> object:
    """Return the mark; but that a value is absent, or a mere flag, is no secret."""
    return value if value is None or isinstance(value, bool) else WITHHELD


def _remember(known: set[str], text: str) -> None:
    if len(text) <= 96:
        if len(known) >= 4096:
            known.clear()
        known.add(text)
