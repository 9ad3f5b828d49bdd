"""The text form of paths: reading it into segments, and writing segments back."""

import re
from enum import Enum
from typing import TypeAlias

from hornbook.errors import DefinitionError

__all__ = ["EACH", "Each", "Segment", "joined", "read_segments", "written"]


class Each(Enum):
    """The type of the segment that stands for every item."""

    EACH = "[]"


EACH = Each.EACH

Segment: TypeAlias = str | int | Each
"""A field's name or a key, a position, or every item."""

_PLAIN_NAME = r"[^\s.\[\]\"'*$]+"
_NAME = re.compile(_PLAIN_NAME)
_BRACKET = re.compile(
    r"""\[\s*(?: (?P<index>-?\d+) | "(?P<key>(?:[^"\\]|\\["\\])*)" )?\s*\]""", re.VERBOSE
)
_ESCAPED = re.compile(r"\\(.)")


def read_segments(text: str) -> tuple[Segment, ...]:
    """Read a path; `.` has no segments.

    Raises:
        DefinitionError: the text is no path; the message says from where on.
    """
    if text == ".":
        return ()
    if not text:
        raise DefinitionError("path '' is empty; write '.' for the whole value")
    segments: list[Segment] = []
    at = 0
    while at < len(text):
        segment, at = _read_one(text, at)
        segments.append(segment)
    return tuple(segments)


def _read_one(text: str, at: int) -> tuple[Segment, int]:
    if text[at] == "[":
        found = _BRACKET.match(text, at)
        if found is None:
            rule = 'inside brackets stands nothing, a number or a "quoted" key'
            raise _unreadable(text, at, rule)
        return _bracketed(found), found.end()
    start = at + 1 if at and text[at] == "." else at
    found = _NAME.match(text, start)
    if found is None or (at and start == at):
        raise _unreadable(text, at, "a path reads like 'a.b', 'items[].price' or 'items[0]'")
    return found.group(), found.end()


def _bracketed(found: re.Match[str]) -> Segment:
    if found["index"] is not None:
        return int(found["index"])
    if found["key"] is not None:
        return _ESCAPED.sub(r"\1", found["key"])
    return EACH


def _unreadable(text: str, at: int, rule: str) -> DefinitionError:
    return DefinitionError(
        f"path {text!r} cannot be read from column {at + 1} on, at {text[at:]!r}: {rule}"
    )


def written(key: object) -> str:
    """One segment as it is written behind others; other keys show their repr."""
    if isinstance(key, Each):
        return "[]"
    if isinstance(key, str):
        if _NAME.fullmatch(key):
            return f".{key}"
        escaped = key.replace("\\", "\\\\").replace('"', '\\"')
        return f'["{escaped}"]'
    return f"[{key!r}]"


def joined(*parts: object) -> str:
    """The path made of these segments."""
    return "".join(map(written, parts)).removeprefix(".") or "."
