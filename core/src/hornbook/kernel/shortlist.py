"""Which tools a model is shown where a registry has too many: BM25, and an embedder if given."""

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from hornbook.kernel.loose import fields_of
from hornbook.kernel.registry import ToolRegistry, ToolSpec

__all__ = ["Embed", "Shortlist"]

SHOWN = 30
"""Tools up to which all are shown."""
_K1, _B = 1.5, 0.75
"""BM25's usual parameters (Robertson and Zaragoza 2009)."""
_FUSED = 60
"""The constant of reciprocal rank fusion (Cormack et al. 2009)."""
_WORD = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")

Embed: TypeAlias = Callable[[Sequence[str]], Sequence[Sequence[float]]]
"""Gives a vector for each text."""


class Shortlist:
    """The tools of a registry by how well they fit a text; built once, then immutable.

    Args:
        registry: the tools.
        most: how many are shown; a registry of no more is shown whole.
        embed: vectors of texts, asked once for all tools and once for each text.
    """

    def __init__(
        self, registry: ToolRegistry, most: int = SHOWN, embed: Embed | None = None
    ) -> None:
        self._registry = registry
        self._most = most
        self._embed = embed
        self.needed = len(registry) > most
        """Whether the registry is larger than what is shown."""
        texts = [_text(spec) for spec in registry.values()] if self.needed else []
        self._counts = [Counter(_words(text)) for text in texts]
        self._lengths = [sum(counts.values()) for counts in self._counts]
        self._rarity = _rarity(self._counts)
        self._vectors = list(embed(texts)) if embed is not None and texts else []

    def of(self, text: str, always: Sequence[str] = ()) -> tuple[ToolSpec, ...]:
        """The tools to show for a text, in order of registration.

        Args:
            text: a request or a task.
            always: tools that are shown whatever the text is.
        """
        specs = tuple(self._registry.values())
        if not self.needed:
            return specs
        places = {name: at for at, name in enumerate(self._registry)}
        chosen = [places[name] for name in always if name in places]
        chosen += [at for at in self._ranked(text) if at not in chosen]
        return tuple(specs[at] for at in sorted(chosen[: self._most]))

    def _ranked(self, text: str) -> list[int]:
        words = _words(text)
        by_words = [self._bm25(at, words) for at in range(len(self._counts))]
        if self._embed is None:
            return _order(by_words)
        # A tool that shares no word with the text has no place in the ranking by words.
        lexical = [at for at in _order(by_words) if by_words[at] > 0.0]
        (vector,) = self._embed([text])
        semantic = _order([_cosine(vector, other) for other in self._vectors])
        scores = [0.0] * len(by_words)
        for ranking in (lexical, semantic):
            for rank, at in enumerate(ranking):
                scores[at] += 1 / (_FUSED + rank)
        return _order(scores)

    def _bm25(self, at: int, query: Sequence[str]) -> float:
        counts = self._counts[at]
        average = sum(self._lengths) / len(self._lengths)
        norm = _K1 * (1 - _B + _B * self._lengths[at] / (average or 1.0))
        return sum(
            self._rarity.get(word, 0.0) * counts[word] * (_K1 + 1) / (counts[word] + norm)
            for word in query
            if word in counts
        )


def _order(scores: Sequence[float]) -> list[int]:
    """Positions by score, the best first, and by position where scores are equal."""
    return sorted(range(len(scores)), key=lambda at: (-scores[at], at))


def _rarity(counts: Sequence[Mapping[str, int]]) -> dict[str, float]:
    found = Counter(word for one in counts for word in one)
    total = len(counts)
    return {word: math.log(1 + (total - n + 0.5) / (n + 0.5)) for word, n in found.items()}


def _text(spec: ToolSpec) -> str:
    properties: Mapping[str, Any] = spec.shape.properties
    about = [str(fields_of(schema).get("description", "")) for schema in properties.values()]
    # The name says most; it counts twice.
    return " ".join([spec.name, spec.name, spec.description, *properties, *about])


def _words(text: str) -> list[str]:
    plain = _CAMEL.sub(" ", text.replace("_", " ")).casefold()
    return [_stem(word) for word in _WORD.findall(plain)]


def _stem(word: str) -> str:
    """The word without the endings that tell numbers and tenses apart."""
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def _cosine(one: Sequence[float], other: Sequence[float]) -> float:
    size = math.hypot(*one) * math.hypot(*other)
    return sum(a * b for a, b in zip(one, other, strict=True)) / size if size else 0.0
