"""What an argument lets one choose from, and which of it a request names."""

import re
from collections.abc import Mapping
from typing import Any, cast

from hornbook.kernel.wording import GENERIC, name_words, stem

__all__ = ["choices", "named"]

_LISTED = re.compile(
    r"(?:enum|one of|choices|options|either|possible values|valid values|allowed)\W*[:=]?\s*\[?"
    r"([^.\]()]{3,600})",
    re.IGNORECASE,
)
_SLASHED = re.compile(r"\((\w+(?:/\w+)+)\)")
_EXPLAINED = re.compile(r"['\"`]([^'\"`]{1,40})['\"`]\s*(?:for|:|=|means|-)\s*(?:the\s+)?([a-z]+)")
_ITEM = re.compile(r"['\"`]([^'\"`]{1,40})['\"`]|([\w -]+)")
_FEWEST = 2


def choices(schema: Any) -> Mapping[str, tuple[str, ...]]:
    """Return what a schema or its description lists, each with the stems that name it."""
    if not isinstance(schema, Mapping):
        return {}
    own = cast("Mapping[str, Any]", schema)
    listed: Any = own.get("enum")
    if isinstance(listed, list | tuple):
        return {
            text: name_words(text) for text in cast("list[Any]", listed) if isinstance(text, str)
        }
    told: Any = own.get("description")
    found = _described(told) if isinstance(told, str) else {}
    return found if len(found) >= _FEWEST else {}


def named(wanted: tuple[str, ...], request: str) -> tuple[int, int] | None:
    """Return where a request has the words that name a choice, one after the other."""
    if not wanted or any(len(word) < _FEWEST + 1 or word in GENERIC for word in wanted):
        return None
    for found in re.finditer(r"\w+", request):
        if stem(found.group()) == wanted[0]:
            rest = [stem(w) for w in re.findall(r"\w+", request[found.end() : found.end() + 80])]
            if tuple(rest[: len(wanted) - 1]) == wanted[1:]:
                return found.span()
    return None


def _described(text: str) -> dict[str, tuple[str, ...]]:
    explained = {value: (stem(gloss),) for value, gloss in _EXPLAINED.findall(text)}
    if len(explained) >= _FEWEST:
        return explained
    if slashed := _SLASHED.search(text):
        return {item: name_words(item) for item in slashed[1].split("/")}
    listed = _LISTED.search(text)
    if listed is None:
        return {}
    items = (quoted or bare.strip() for quoted, bare in _ITEM.findall(listed[1]))
    return {item: name_words(item) for item in items if item and item not in ("or", "and")}
