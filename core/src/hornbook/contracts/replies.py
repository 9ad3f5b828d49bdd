"""What judges gave, looked at before it is believed: judgements, or the reason for none."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from hornbook.contracts.judge import Judge, Judgement, Question
from hornbook.contracts.shown import SHOWN_CHARACTERS, shown
from hornbook.errors import BudgetExceeded, told
from hornbook.trace.redact import redact_text

__all__ = ["Reply", "late", "replies_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A judgement that was checked, or the reason why there is none."""

    score: float | None = None
    evidence: Any = None
    reason: str = ""


def replies_of(questions: Sequence[Question], answer: object) -> list[Reply]:
    """One reply for each question, whatever a judge gave or raised.

    Raises:
        BudgetExceeded: the judge spent what was left: that is no verdict.
    """
    if isinstance(answer, BudgetExceeded):
        raise answer
    try:
        return _replies(questions, answer)
    except Exception as error:  # noqa: BLE001 - a judge's own objects may raise when read
        answer = error
        return _replies(questions, answer)


def late(questions: Sequence[Question]) -> list[Reply]:
    """The replies of a judge that did not answer in time."""
    reason = f"judge {_name(questions[0].judge)} did not answer before its deadline"
    return [Reply(reason=reason)] * len(questions)


def _replies(questions: Sequence[Question], answer: object) -> list[Reply]:
    name = _name(questions[0].judge)
    if isinstance(answer, TimeoutError):
        return late(questions)
    if isinstance(answer, BaseException):
        why = redact_text(told(answer), limit=SHOWN_CHARACTERS)
        return [Reply(reason=f"judge {name} raised {why}")] * len(questions)
    if not isinstance(answer, Sequence) or isinstance(answer, str | bytes):
        got = type(answer).__name__
        reason = f"judge {name} gave {got}, not a sequence of judgements"
        return [Reply(reason=reason)] * len(questions)
    given = cast("Sequence[object]", answer)
    if len(given) != len(questions):
        reason = f"judge {name} gave {len(given)} judgements for {len(questions)} questions"
        return [Reply(reason=reason)] * len(questions)
    return [_reply(name, given[at]) for at in range(len(questions))]


def _reply(name: str, judgement: object) -> Reply:
    if not isinstance(judgement, Judgement):
        return Reply(reason=f"judge {name} gave {type(judgement).__name__}, not a Judgement")
    score = cast("object", judgement.score)
    if score is None:
        return Reply(reason=_untold(name, judgement), evidence=judgement.evidence)
    if isinstance(score, bool) or not isinstance(score, int | float) or not 0 <= score <= 1:
        return Reply(reason=f"judge {name} gave the score {shown(score)}, not a number in [0, 1]")
    return Reply(score=float(score), evidence=judgement.evidence)


def _untold(name: str, judgement: Judgement) -> str:
    why = redact_text(str(judgement.reason), limit=SHOWN_CHARACTERS)
    return f"judge {name} could not tell" + (f": {why}" if why else "")


def _name(judge: Judge) -> str:
    try:
        name = str(getattr(judge, "name", None) or type(judge).__name__)
    except Exception:  # noqa: BLE001 - a judge whose name raises is told by its type
        name = type(judge).__name__
    return repr(name)
