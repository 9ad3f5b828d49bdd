"""A judge that compares embeddings: nearness in meaning, as far as an embedder sees it."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeAlias, cast, runtime_checkable

from hornbook.contracts.judge import Judgement, Question
from hornbook.errors import DefinitionError

__all__ = ["Embedder", "EmbeddingJudge", "sentences"]

_VERSION = 1
_SHOWN = 120
"""Characters of a sentence that the evidence quotes."""
_ENDS = re.compile(r"(?<=[.!?\u2026\u3002\uff01\uff1f])\s+|\s*\n\s*")

Vector: TypeAlias = Sequence[float]


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors; any library's will do."""

    @property
    def identity(self) -> str:
        """Which model embeds, with all that decides how."""
        ...

    def embed(self, texts: Sequence[str], /) -> Sequence[Vector | None]:
        """One vector for each text, all of one length; None for one that it cannot take whole.

        An embedder that silently cut a text would compare another text than the judged one.
        """
        ...


class EmbeddingJudge:
    """Judges `similar` and `covers` by the cosine of embeddings.

    `similar` is the cosine of text and source; what points away (below 0) is as unlike as
    what has nothing in common, and scores 0. `covers` is how near the worst covered sentence
    of the source comes to its nearest sentence of the text: it measures whether each thing in
    the source is *spoken of*, not whether what is said is right; it does not see negations,
    and a source that is one sentence with several requests counts as one thing. `entails` is
    Undetermined: nearness is no logic. Cosines are not probabilities, and each embedder has
    its own range: calibrate the clause to find its threshold.

    A vector that is zero or holds NaN, and a text that the embedder cannot take whole, is
    Undetermined. A batch is one call of the embedder, and one call of a run's budget, as
    asking any judge is.

    Raises:
        DefinitionError: what is given is no embedder.
    """

    max_calls = 1
    """A contract reserves one call for each batch, whoever judges."""

    def __init__(self, embedder: Embedder, *, name: str = "EmbeddingJudge") -> None:
        given = cast("object", embedder)
        if isinstance(given, type) or not isinstance(given, Embedder):
            raise DefinitionError(
                f"EmbeddingJudge: {embedder!r} is no embedder; it needs identity and embed(texts)"
            )
        self.name = name
        self._embedder = embedder

    def __repr__(self) -> str:
        return f"EmbeddingJudge({self._embedder.identity!r})"

    @property
    def identity(self) -> str:
        """The embedder's identity, and the version of how vectors are compared."""
        return f"embedding-judge/{_VERSION} {self._embedder.identity}"

    @property
    def version(self) -> str:
        """The identity, so that contracts with other judges have other digests."""
        return self.identity

    def judge(self, questions: Sequence[Question], /) -> list[Judgement]:
        """One judgement for each question, in their order."""
        texts = dict.fromkeys(text for question in questions for text in _texts(question))
        vectors = _Vectors(self._embedder, list(texts))
        return [_judgement(question, vectors) for question in questions]


def sentences(text: str) -> list[str]:
    """The sentences and lines of a text that say something."""
    parts = (part.strip() for part in _ENDS.split(text))
    return [part for part in parts if any(map(str.isalnum, part))]


def _texts(question: Question) -> Iterator[str]:
    match question.kind:
        case "similar":
            yield from (question.text, question.source)
        case "covers":
            yield from sentences(question.text)
            yield from sentences(question.source)
        case _:
            return


def _judgement(question: Question, vectors: "_Vectors") -> Judgement:
    match question.kind:
        case "similar":
            score = vectors.likeness(question.text, question.source)
            return _undecided(score) if isinstance(score, str) else Judgement(score=score)
        case "covers":
            return _covered(question, vectors)
        case _:
            return _undecided(f"an EmbeddingJudge does not judge {question.kind!r}")


def _covered(question: Question, vectors: "_Vectors") -> Judgement:
    asked, said = sentences(question.source), sentences(question.text)
    if not asked or not said:
        return _undecided("there are no sentences to compare")
    worst, evidence = math.inf, dict[str, Any]()
    for sentence in asked:
        best, nearest = -1.0, ""
        for candidate in said:
            score = vectors.likeness(candidate, sentence)
            if isinstance(score, str):
                return _undecided(score)
            if score > best:
                best, nearest = score, candidate
        if best < worst:
            worst = best
            evidence = {"least covered": sentence[:_SHOWN], "nearest": nearest[:_SHOWN]}
    return Judgement(score=worst, evidence=evidence)


def _undecided(reason: str) -> Judgement:
    return Judgement(score=None, reason=reason)


class _Vectors:
    """The unit vectors of some texts, or why one has none."""

    def __init__(self, embedder: Embedder, texts: Sequence[str]) -> None:
        given: Sequence[Vector | None] = embedder.embed(texts) if texts else ()
        if len(given) != len(texts):
            raise ValueError(f"the embedder gave {len(given)} vectors for {len(texts)} texts")
        self._of: Mapping[str, Vector | str] = {
            text: _unit(vector) for text, vector in zip(texts, given, strict=True)
        }

    def likeness(self, one: str, other: str) -> float | str:
        """The cosine from 0 to 1, or the reason why there is none."""
        left, right = self._of[one], self._of[other]
        if isinstance(left, str):
            return left
        if isinstance(right, str):
            return right
        if len(left) != len(right):
            return f"the embedder gave vectors of {len(left)} and of {len(right)} numbers"
        cosine = math.fsum(a * b for a, b in zip(left, right, strict=True))
        return min(1.0, max(0.0, cosine))


def _unit(vector: Vector | None) -> Vector | str:
    if vector is None:
        return "the text is too long for the embedder to take whole"
    numbers = [float(number) for number in vector]
    length = math.hypot(*numbers)
    if not math.isfinite(length):
        return "the embedder gave a vector that is not finite"
    if length == 0:
        return "the embedder gave a vector of zeros"
    return [number / length for number in numbers]
