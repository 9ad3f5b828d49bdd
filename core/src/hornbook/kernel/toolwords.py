"""Which tools a request asks for in so many words, by their names and descriptions.

Only names that say what the tool does take part: `get_order` shares its words with half of the
requests that speak of an order, `cancel_order` with those that ask for it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from hornbook.kernel.literals import literals
from hornbook.kernel.registry import ToolRegistry, ToolSpec
from hornbook.kernel.wording import GENERIC, Word, alike, clauses, is_common, name_words, words

__all__ = ["Demand", "ToolWords", "without_quotes"]

_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_LABEL = re.compile(r"^[A-Z][\w ]{0,30}:\s+")
_SUPPOSED = re.compile(
    r"\b(?:if|should (?:i|you|any|the|it|we)|unless|when|whenever|in case|instead of|rather than|"
    r"no need|not|never|without|don't)\b|n't\b",
    re.IGNORECASE,
)
"""What makes a sentence suppose or forbid rather than ask."""
_TOLD = re.compile(
    r"\b(?:after|since|once|now that|having|had|already|i've|i have|i just|we've|was|were|been|"
    r"being|previously|recently|earlier|before|upon|no longer)\b",
    re.IGNORECASE,
)
"""What makes a clause tell rather than ask."""
_OPENED = re.compile(r"(?<!\w)['\"\u2018\u201c](?=\w)")
"""A quote that is never closed: what follows is quoted as far as one can tell."""
_LEADS = frozenset(["now", "next", "then", "first", "also", "and", "so", "ok", "okay", "great"])


@dataclass(frozen=True, slots=True)
class Demand:
    """A part of a request that asks for some tool."""

    tool: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Profile:
    verb: str
    """What the tool does, where its name begins with it; else empty."""
    objects: frozenset[str]
    told: frozenset[str]
    """All that its name and description say."""


class ToolWords:
    """The words of a registry's tools."""

    def __init__(self, registry: ToolRegistry) -> None:
        own = _own_descriptions(registry)
        self._profiles = {tool.name: _profile(tool, own[tool.name]) for tool in registry.values()}
        self._doing = frozenset(part for tool in registry for part in name_words(tool)[:1])

    def demands(self, text: str) -> list[Demand]:
        """Return the parts of a text that name what a tool does and to what."""
        found: list[Demand] = []
        bare = without_quotes(text)
        for start, end in _asking(bare):
            spoken = list(words(bare[start:end], start))
            for tool, profile in self._profiles.items():
                if profile.verb and profile.objects and _asks(profile, spoken):
                    found.append(Demand(tool, start, end))
        return found

    def speaks_of(self, tool: str, text: str) -> bool:
        """Whether a text has any word that the tool's name or description has."""
        profile = self._profiles.get(tool)
        if profile is None or not profile.told:
            return True
        stems = {word.stem for word in words(text)}
        return any(alike(one) & stems for one in profile.told)

    def orders(self, text: str) -> bool:
        """Whether any clause of a text begins with a word of doing, as an order does."""
        for start, end in clauses(text):
            first = next((w for w in words(text[start:end]) if not _leads_in(w)), None)
            if first is not None and (first.stem in self._doing or is_common(first.stem)):
                return True
        return False

    def does_as_much(self, tool: str, other: str) -> bool:
        """Whether a tool's name and description say all that another's name says."""
        mine, theirs = self._profiles.get(tool), self._profiles.get(other)
        if mine is None or theirs is None:
            return False
        return all(alike(one) & mine.told for one in {theirs.verb, *theirs.objects} - {""})

    def asked(self, tool: str, text: str) -> bool:
        """Whether a text asks for a tool by name."""
        return any(demand.tool == tool for demand in self.demands(text))


def _leads_in(word: Word) -> bool:
    return word.text.casefold().endswith("ly") or word.stem in _LEADS


def _asks(profile: _Profile, spoken: Sequence[Word]) -> bool:
    stems = {word.stem for word in spoken}
    if not all(alike(one) & stems for one in profile.objects):
        return False
    doing = alike(profile.verb)
    objects = frozenset[str]().union(*map(alike, profile.objects))
    last = max(word.start for word in spoken if word.stem in objects)
    # "booked" tells and "the booking we cancel" is a thing: what asks comes before its object.
    return any(
        word.stem in doing
        and word.stem not in profile.objects
        and word.start < last
        and not word.text.casefold().endswith(("ed", "ing", "ion", "s"))
        for word in spoken
    )


def _asking(text: str) -> list[tuple[int, int]]:
    """Return the clauses that ask: a supposition reaches over its whole sentence."""
    found: list[tuple[int, int]] = []
    at = 0
    for sentence in _SENTENCE.split(text):
        start = text.index(sentence, at)
        at = start + len(sentence)
        if _SUPPOSED.search(sentence):
            continue
        for low, high in clauses(sentence):
            if _TOLD.search(sentence[low:high]) is None:
                found.append((start + low, start + high))
    return found


def without_quotes(text: str) -> str:
    """Return a text with its quoted parts blanked, all else where it was."""
    for mention in literals(text):
        if mention.kind == "quoted":
            width = mention.end - mention.start
            text = f"{text[: mention.start]}{' ' * width}{text[mention.end :]}"
    opened = _OPENED.search(text)
    return text if opened is None else text[: opened.start()].ljust(len(text))


def _own_descriptions(registry: ToolRegistry) -> dict[str, str]:
    """Return of each description its first sentence that no other tool shares."""
    split = {tool.name: _SENTENCE.split(tool.description) for tool in registry.values()}
    shared: dict[str, int] = {}
    for sentences in split.values():
        for sentence in set(sentences):
            shared[sentence] = shared.get(sentence, 0) + 1
    return {
        name: next((_LABEL.sub("", s) for s in sentences if shared[s] == 1), "")
        for name, sentences in split.items()
    }


def _profile(tool: ToolSpec, description: str) -> _Profile:
    parts = list(name_words(tool.name))
    first = next((word.stem for word in words(description)), "")
    does = len(parts) > 1 and parts[0] not in GENERIC and (is_common(parts[0]) or parts[0] == first)
    verb = parts[0] if does else ""
    objects = frozenset(p for p in parts[1:] if p not in GENERIC and len(p) > 1)
    told = {word.stem for word in words(description)} | set(parts)
    return _Profile(verb, objects - {verb}, frozenset(told - GENERIC))
