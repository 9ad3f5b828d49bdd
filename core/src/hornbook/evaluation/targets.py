"""Which recorded attempts become training examples, and what each is to teach.

An attempt teaches when its contract was satisfied, or when a correction says what is right.
What was redacted or cut in the record is refused: a model must learn neither.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from hornbook import canon
from hornbook.canon import CanonError
from hornbook.evaluation.attempts import Recorded
from hornbook.evaluation.examples import Example

__all__ = ["Lesson", "Refusal", "lessons"]

Refusal: TypeAlias = Literal["violated", "unheld", "redacted", "cut", "duplicate", "conflict"]
"""Why an attempt is no example: its contract was not satisfied and no correction is there; it
was not held to its contract, or does not meet it now, and no correction is there; the record
withholds a secret in it; the record has it cut; there is one like it; there is one with the
same messages and another target."""

_WITHHELD = re.compile(r"<redact(?:ed|ion failed)>")
_CUT = re.compile(r"\.\.\. \[cut, \d+ characters in all\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """One training example, and where it comes from."""

    messages: tuple[Mapping[str, str], ...]
    """The last is the assistant's, with the target."""
    scenario: str
    run: str
    step: str
    model: str
    corrected: bool
    """Whether the target is that of a correction."""


def lessons(
    attempts: Iterable[Recorded],
    gold: Sequence[Example] = (),
    system: str | None = None,
    used: set[str] | None = None,
    meets: Callable[[Recorded], bool] | None = None,
) -> Iterator[Lesson | Refusal]:
    """A training example for each attempt, or why it is none.

    Args:
        attempts: as recorded.
        gold: inputs with the right outputs, whatever the model answered.
        system: the system message of examples whose prompt has none.
        used: filled with the keys of the corrections that speak of some attempt.
        meets: whether what was answered meets the primitive's contract as it is now.
    """
    right = {_inputs_key(one.input): one for one in gold}
    used = set() if used is None else used
    taught: dict[str, str] = {}
    for attempt in attempts:
        target = _target(attempt, right, used)
        if target is None:
            yield "violated"
            continue
        text, corrected = target
        if not corrected and not (attempt.held and (meets is None or meets(attempt))):
            yield "unheld"
            continue
        lesson = _lesson(attempt, text, corrected, system)
        yield _refusal(lesson, taught) or lesson


def _target(
    attempt: Recorded, right: Mapping[str, Example], used: set[str]
) -> tuple[str, bool] | None:
    for key in _keys_of(attempt.inputs):
        if key in right:
            used.add(right[key].key)
            return _as_target(right[key].output), True
    return (_plain(attempt.text), False) if attempt.satisfied else None


def _as_target(output: Any) -> str:
    return output if isinstance(output, str) else _written(output)


def _plain(text: str) -> str:
    """JSON in one way of writing it; any other text as it is."""
    try:
        return _written(canon.loads(text))
    except CanonError:
        return text


def _written(data: Any) -> str:
    # Keys keep their order: a model that reasons before it answers must learn to.
    return json.dumps(data, ensure_ascii=False)


def _keys_of(inputs: Any) -> Iterator[str]:
    """An example's input is all inputs by name; of a single one it may be that alone."""
    yield _inputs_key(inputs)
    if isinstance(inputs, dict) and len(inputs) == 1:  # pyright: ignore[reportUnknownArgumentType]
        yield _inputs_key(next(iter(inputs.values())))  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType, reportUnknownMemberType]


def _inputs_key(inputs: Any) -> str:
    # As the record writes it, which takes secrets out of both alike.
    from hornbook.trace.redact import redact

    return canon.digest(redact(inputs))


def _lesson(attempt: Recorded, target: str, corrected: bool, system: str | None) -> Lesson:
    asked = attempt.messages
    if system is not None and not any(one["role"] == "system" for one in asked):
        asked = ({"role": "system", "content": system}, *asked)
    return Lesson(
        messages=(*asked, {"role": "assistant", "content": target}),
        scenario=attempt.scenario,
        run=attempt.run,
        step=attempt.step,
        model=attempt.model,
        corrected=corrected,
    )


def _refusal(lesson: Lesson, taught: dict[str, str]) -> Refusal | None:
    texts = [one["content"] for one in lesson.messages]
    if any(map(_WITHHELD.search, texts)):
        return "redacted"
    if any(map(_CUT.search, texts)):
        return "cut"
    asked, target = canon.digest(list(lesson.messages[:-1])), _meaning(texts[-1])
    if asked in taught:
        return "duplicate" if taught[asked] == target else "conflict"
    taught[asked] = target
    return None


def _meaning(target: str) -> str:
    """Equal for targets that are the same data."""
    try:
        return canon.digest(canon.loads(target))
    except CanonError:
        return target
