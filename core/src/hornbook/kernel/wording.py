"""Words of a request and of a tool's description, brought to a form in which they can meet.

No model: simple endings are cut and common verbs of doing have their everyday synonyms.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

__all__ = [
    "GENERIC",
    "Word",
    "alike",
    "clauses",
    "is_common",
    "name_parts",
    "name_words",
    "stem",
    "words",
]

# fmt: off
GENERIC = frozenset({
    "a", "all", "an", "and", "any", "are", "as", "at", "based", "be", "been", "by", "current",
    "currently", "do", "does", "for", "from", "get", "give", "handl", "has", "have", "here", "i",
    "if", "in", "into", "is", "it", "its", "list", "me", "my", "new", "of", "on", "or", "our",
    "out", "particular", "per", "please", "provid", "request", "return", "set", "specific",
    "specified", "specify", "that", "the", "their", "them", "then", "there", "these", "this",
    "those", "to", "tool", "up", "us", "use", "user", "using", "was", "we", "with", "you", "your",
    "available", "given", "via", "need", "want", "would", "could", "can", "will", "some", "about",
    "information", "info", "detail", "data", "system", "api", "also", "after", "before", "until",
    "once", "which", "who", "what", "when", "where", "how", "each", "every", "other",
})
# fmt: on
"""Words, and stems of words, that tell no tool from another."""

_SYNONYMS = (
    "create make generate draft initiate establish compose produce craft lodge submit raise open",
    "delete remove erase discard drop",
    "send dispatch relay forward deliver transmit text",
    "show display view see reveal print list",
    "search look locate seek find",
    "cancel scrap rescind revoke annul abort",
    "fill refuel replenish refill",
    "start ignite initiate engage activate launch",
    "post tweet publish broadcast",
    "copy replicate duplicate clone",
    "move transfer relocate",
    "compare contrast juxtapose",
    "sort arrange alphabetize",
    "count tally",
    "convert translate",
    "resolve settle",
    "book reserve",
    "fund deposit infuse inject",
    "place purchase buy acquire",
    "estimate determine gauge assess calculate compute",
    "edit modify update change amend adjust",
    "register enroll",
    "directory folder",
    "write jot infuse inscribe",
    "log sign",
    "check verify inspect",
    "message note memo",
    "nearest closest",
    "average mean",
)

_WORD = re.compile(r"[A-Za-z][A-Za-z']*|\d+(?:\.\d+)?")
_CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_CLAUSE = re.compile(
    r"[.!?;:,\n]+(?=\s|$)|\b(?:and|then|afterwards?|plus|but|while)\b", re.IGNORECASE
)
_SHORT = 3


@dataclass(frozen=True, slots=True)
class Word:
    """A word and where it stands."""

    text: str
    stem: str
    start: int
    end: int


@lru_cache(maxsize=4096)
def stem(word: str) -> str:
    """Return a word without its common endings, in lower case."""
    plain = word.casefold().removesuffix("'s").strip("'")
    for ending in ("ing", "ed", "es", "s"):
        rest = plain.removesuffix(ending)
        if rest != plain and len(rest) >= _SHORT and not (ending == "s" and rest[-1] in "su"):
            plain = rest[:-1] if ending in ("ing", "ed") and _is_doubled(rest) else rest
            break
    if plain.endswith(("i", "y")) and len(plain) > _SHORT:
        plain = plain[:-1] + "i"
    return plain.removesuffix("e") if len(plain) > _SHORT else plain


def _is_doubled(word: str) -> bool:
    return len(word) > _SHORT and word[-1] == word[-2] and word[-1] not in "lsz"


def _groups() -> dict[str, frozenset[str]]:
    meanings: dict[str, set[str]] = {}
    for line in _SYNONYMS:
        stems = {stem(word) for word in line.split()}
        for one in stems:
            meanings.setdefault(one, set()).update(stems)
    return {one: frozenset(group) for one, group in meanings.items()}


_MEANINGS = _groups()


def alike(one: str) -> frozenset[str]:
    """Return the stems that may stand for a stem, itself among them."""
    return _MEANINGS.get(one) or frozenset((one,))


def is_common(one: str) -> bool:
    """Whether a stem is one of the common words of doing."""
    return one in _MEANINGS


def words(text: str, start: int = 0) -> Iterator[Word]:
    """Yield the words of a text with their places, counted from `start`."""
    for found in _WORD.finditer(text):
        yield Word(found.group(), stem(found.group()), start + found.start(), start + found.end())


def clauses(text: str) -> Iterator[tuple[int, int]]:
    """Yield where the parts of a text stand that each may ask for one thing."""
    at = 0
    for cut in _CLAUSE.finditer(text):
        if text[at : cut.start()].strip():
            yield at, cut.start()
        at = cut.end()
    if text[at:].strip():
        yield at, len(text)


def name_parts(name: str) -> list[str]:
    """Return the words that a name like `get_stock_info` or `lockDoors` is made of."""
    pieces = re.split(r"[\W_]+", name)
    return [part.casefold() for piece in pieces for part in _CAMEL.findall(piece)]


def name_words(name: str) -> tuple[str, ...]:
    """Return the stems of the words of a name."""
    return tuple(map(stem, name_parts(name)))
