"""What an answer states that no source says: numbers, identifiers and names of files."""

from collections.abc import Iterator

from hornbook.contracts import Violation
from hornbook.contracts.shown import shown
from hornbook.kernel.context import parsed
from hornbook.kernel.doing import Turn, numbers, scalars
from hornbook.kernel.figures import computed
from hornbook.kernel.literals import Mention, literals, plain
from hornbook.kernel.thresholds import Thresholds

__all__ = ["ANSWER", "unsourced_in_answer"]

ANSWER = "answer-sourced"

_SMALL = 100
"""Whole numbers below it count, rank and date: no source is asked."""
_DIGITS = 2
_MOST = 60


def unsourced_in_answer(turn: Turn, thresholds: Thresholds) -> Iterator[Violation]:
    """Yield the literals of an answer that neither the user, a call nor a result has."""
    told = [m for m in literals(turn.answer) if m.kind in ("number", "identifier", "file")]
    if not told or not (turn.calls or turn.earlier or turn.context.results):
        return
    sources = turn.context.sources()
    texts = [source.text for source in sources]
    texts += [str(v) for call in turn.context.calls for v in scalars(call.arguments)]
    texts += [str(call.value) for call in turn.context.calls if call.error is None]
    whole = f" {plain(' '.join(texts))} "
    figures = {n for text in texts for n in numbers(text)}
    lately = [
        n for call in reversed(turn.calls) for v in scalars(parsed(call.value)) for n in numbers(v)
    ]
    recent = list(dict.fromkeys([*lately, *numbers(turn.request)]))[:_MOST]
    for mention in told:
        if not _stands(mention, whole, figures, recent, thresholds):
            yield Violation(
                clause=ANSWER,
                path=".",
                expected="what the user said or a tool returned",
                observed=shown(mention.text),
                evidence={"source": "answer", "span": [mention.start, mention.end]},
                hint=f"no source says {shown(mention.text)}: look it up, or leave it out",
            )


def _stands(
    mention: Mention, whole: str, figures: set[float], recent: list[float], thresholds: Thresholds
) -> bool:
    if f" {plain(mention.text)} " in whole:
        return True
    if mention.kind != "number":
        digits = sum(character.isdigit() for character in mention.text)
        known = len(mention.text) >= thresholds.identifier and digits >= _DIGITS
        return mention.kind == "identifier" and not known
    value = next(numbers(mention.text.lstrip("$")), None)
    if value is None or (value == int(value) and abs(value) < _SMALL):
        return True
    return any(abs(value - n) < _HALF for n in figures) or computed(value, recent)


_HALF = 0.5
"""An answer may round."""
