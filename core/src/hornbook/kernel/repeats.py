"""Side effects made twice, and calls that vary one just made without a reason in the request."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hornbook import canon
from hornbook.contracts import Violation
from hornbook.contracts.shown import shown
from hornbook.kernel.context import GuardContext
from hornbook.kernel.doing import numbers, scalars
from hornbook.kernel.literals import literals, plain
from hornbook.kernel.registry import ToolSpec
from hornbook.kernel.seen import SeenCall
from hornbook.kernel.toolwords import ToolWords

__all__ = ["REPEATED", "VARIED", "repeats"]

REPEATED, VARIED = "not-repeated", "not-varied"

_AGAIN = re.compile(
    r"\b(?:again|another|once more|one more|twice|thrice|\d+ times|(?:two|three|four|five) times|"
    r"both|double|repeat(?:ed(?:ly)?)?|redo|re-?(?:send|post|run|start|try|do)\w*|same|more)\b",
    re.IGNORECASE,
)
_LETTER, _RESULT, _WORD = 3, 2, 1
"""A value stands in the request to the letter, in what came back, or as some word."""
_TRIVIAL = 2
"""A text of so few characters stands anywhere."""


def repeats(
    spec: ToolSpec, arguments: Mapping[str, Any], context: GuardContext, wording: ToolWords
) -> Iterator[Violation]:
    """Yield why a call that changes something need not be made: it was, or a like one was."""
    if spec.read_only:
        return
    turn = len(context.turns)
    request = context.turns[-1] if turn else ""
    same_tool = [call for call in context.calls if call.tool == spec.name and call.error is None]
    if not same_tool:
        return
    key = _key(arguments)
    last = same_tool[-1]
    if _key(last.arguments) == key:
        if not _asked_again(spec.name, arguments, last, request, turn, wording):
            yield _repeated(spec.name, last, turn)
        return
    if last.turn == turn:
        yield from _varied(spec, arguments, last, context, request)


def _key(arguments: Mapping[str, Any]) -> str:
    try:
        return canon.digest(dict(arguments))
    except canon.CanonError:
        return repr(sorted(map(repr, arguments.items())))


def _asked_again(
    tool: str,
    arguments: Mapping[str, Any],
    last: SeenCall,
    request: str,
    turn: int,
    wording: ToolWords,
) -> bool:
    if _AGAIN.search(request):
        return True
    if last.turn == turn:
        return False
    if wording.asked(tool, request):
        return True
    spoken = f" {plain(request)} "
    told = [plain(str(v)) for v in scalars(arguments) if isinstance(v, str)]
    telling = [text for text in told if len(text) > _TRIVIAL]
    return bool(telling) and all(f" {text} " in spoken for text in telling)


def _repeated(tool: str, last: SeenCall, turn: int) -> Violation:
    when = "in this turn" if last.turn == turn else f"in turn {last.turn}"
    return Violation(
        clause=REPEATED,
        path=".",
        expected="a call that was not made yet",
        observed=shown(dict(last.arguments)),
        evidence={"tool": tool, "turn": last.turn},
        hint=f"the same call was made {when} and took effect; go on without it",
    )


def _varied(
    spec: ToolSpec,
    arguments: Mapping[str, Any],
    last: SeenCall,
    context: GuardContext,
    request: str,
) -> Iterator[Violation]:
    """Yield when one value differs from the call just made, and the request stands by that one."""
    names = [
        n for n in {**last.arguments, **arguments} if last.arguments.get(n) != arguments.get(n)
    ]
    if len(names) != 1:
        return
    name = names[0]
    made, now = last.arguments.get(name), arguments.get(name)
    results = [str(c.value) for c in context.calls if c.turn == last.turn and c.error is None]
    if not _words(now) or not _words(made):  # nothing, or a mark like ".."
        return
    stands = _strength(now, request, results)
    if stands < _strength(made, request, results) == _LETTER:
        yield Violation(
            clause=VARIED,
            path=name,
            expected="a value that the request gives for a further call",
            observed=shown(now, name),
            evidence={"made": shown(made, name), "turn": last.turn},
            hint=f"{spec.name} was just called with the value that was asked for; go on",
        )


def _words(value: Any) -> list[str]:
    return [text for v in scalars(value) if (text := plain(str(v)))]


def _strength(value: Any, request: str, results: Sequence[str]) -> int:
    """How well the request stands by a value."""
    own = _words(value)
    figures = [n for v in scalars(value) for n in numbers(v)]
    mentions = literals(request)
    said = {plain(m.text) for m in mentions}
    counted = {n for m in mentions for n in numbers(m.text.lstrip("$"))}
    grades: list[int] = []
    for text in own:
        if text in said:
            grades.append(_LETTER)
        elif any(f" {text} " in f" {plain(result)} " for result in results):
            grades.append(_RESULT)
        else:
            grades.append(_WORD if f" {text} " in f" {plain(request)} " else 0)
    if figures and all(n in counted for n in figures):
        return _LETTER
    return min(grades)
