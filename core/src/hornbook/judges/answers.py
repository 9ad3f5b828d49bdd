"""What a model answered, looked at before it is believed: each question's judgement or why none."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from hornbook import canon
from hornbook.contracts.grounding import Ungroundable, locate
from hornbook.contracts.judge import Judgement, Question
from hornbook.contracts.shown import shown
from hornbook.judges.framing import ANSWERS
from hornbook.models.values import Completion

__all__ = ["judgements", "undecided"]

_NOWHERE = "the model's quote stands in neither the text nor the source"


def judgements(
    questions: Sequence[Question], ids: Sequence[str], completion: Completion, *, confidence: bool
) -> list[Judgement]:
    """One judgement for each question; what cannot be read is no score with a reason."""
    answers = _answers(completion)
    if isinstance(answers, str):
        return [undecided(answers)] * len(questions)
    return [
        _judgement(question, answers.get(key), confidence)
        for question, key in zip(questions, ids, strict=True)
    ]


def undecided(reason: str) -> Judgement:
    """A judgement with no score."""
    return Judgement(score=None, reason=reason)


def _answers(completion: Completion) -> Mapping[str, Any] | str:
    """The answers by id, or the reason why there are none."""
    value: object = completion.value
    if completion.problem is not None:
        problem = f"the model's answer is {completion.problem}"
        if completion.problem.startswith("does not"):
            problem = f"the model's answer {completion.problem}"
        if completion.finish != "stop":
            return problem
        # It may be only one answer that does not fit: the others stand.
        try:
            value = canon.loads(completion.text)
        except canon.CanonError:
            return problem
    if not isinstance(value, Mapping):
        return f"the model's answer is {shown(value)}, no object of answers"
    return cast("Mapping[str, Any]", value)


def _judgement(question: Question, given: object, confidence: bool) -> Judgement:
    if given is None:
        return undecided("the model did not answer this question")
    fields: Mapping[str, Any] = {}
    if isinstance(given, Mapping):
        fields = cast("Mapping[str, Any]", given)
    answer, quote, sure = _typed(fields, confidence)
    if answer is None:
        return undecided(f"the model's answer to this question is ill-typed: {shown(given)}")
    evidence = _evidence(question, quote)
    if answer == "undetermined":
        return Judgement(score=None, evidence=evidence, reason="the model answered undetermined")
    return Judgement(score=0.5 + sure / 2 if answer == "yes" else 0.5 - sure / 2, evidence=evidence)


def _typed(fields: Mapping[str, Any], confidence: bool) -> tuple[str | None, str, float]:
    """Answer, quote and confidence; no answer where any of them is not what was asked for."""
    names = {"answer", "evidence", "confidence"} if confidence else {"answer", "evidence"}
    answer, quote = fields.get("answer"), fields.get("evidence")
    sure: object = fields.get("confidence") if confidence else 1.0
    number = isinstance(sure, int | float) and not isinstance(sure, bool) and 0 <= sure <= 1
    if set(fields) != names or answer not in ANSWERS or not isinstance(quote, str) or not number:
        return None, "", 0.0
    return answer, quote, float(cast("float", sure))


def _evidence(question: Question, quote: str) -> Mapping[str, Any] | None:
    """The quote with its place; one that stands nowhere is dropped, and that is noted."""
    if not quote.strip():
        return None
    for name, text in (("text", question.text), ("source", question.source)):
        if len(quote) > 2 * len(text):  # no normal form makes up for that
            continue
        found = locate(quote, text, partial=True)
        if found and not isinstance(found, Ungroundable):
            first, last = found[0], found[-1]
            return {"quote": text[first.start : last.end], "of": name, "span": _span(first, last)}
    return {"dropped": _NOWHERE}


def _span(first: Any, last: Any) -> list[int]:
    return [first.start, last.end]
