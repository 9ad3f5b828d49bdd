"""Arguments that are nearly what was said or returned: a word left out, letters put on."""

import re
from collections.abc import Iterator, Sequence

from hornbook.contracts import Violation
from hornbook.contracts.shown import shown
from hornbook.kernel.choices import choices
from hornbook.kernel.context import parsed
from hornbook.kernel.doing import Turn, scalars
from hornbook.kernel.literals import plain
from hornbook.kernel.registry import ToolRegistry
from hornbook.kernel.seen import SeenCall
from hornbook.kernel.thresholds import Thresholds

__all__ = ["EXACT", "slips"]

EXACT = "values-exact"

_TOKEN = re.compile(r"\w[\w@#.-]*\w")
_SHORTEST = 3
_PUT_ON = 4
_FEWEST_WORDS = 4


def slips(turn: Turn, registry: ToolRegistry, thresholds: Thresholds) -> Iterator[Violation]:
    """Yield the texts of a turn's calls that stand nowhere, but for a slip would."""
    heard = [*turn.context.turns]
    texts = [m.text for m in turn.mentions if m.kind == "quoted"]
    earlier = [*_texts(turn.earlier)]
    for at, call in enumerate(turn.calls):
        spec = registry.get(call.tool)
        if spec is None or call.error is not None:
            continue
        # What a tool says after the call may be an echo of the slip.
        came = [*_texts(turn.calls[:at])]
        told = " ".join([*heard, *earlier, *came])
        whole, tokens = f" {plain(told)} ", set(_TOKEN.findall(told))
        for name, value in call.arguments.items():
            if not isinstance(value, str):
                continue
            if f" {plain(value)} " in whole:
                continue
            listed = choices(spec.shape.properties.get(name))
            meant = _put_on(value, {*tokens, *listed}) if value not in listed else None
            meant = meant or _left_out(value, [*texts, *came], thresholds)
            if meant is not None:
                yield _violation(call, name, shown(meant))


def _violation(call: SeenCall, name: str, expected: str) -> Violation:
    return Violation(
        clause=EXACT,
        path=name,
        expected=expected,
        observed=shown(call.arguments[name], name),
        evidence={"tool": call.tool, "turn": call.turn},
        hint=f"{call.tool}: give {name} as it was said, or say why it differs",
    )


def _texts(calls: Sequence[SeenCall]) -> Iterator[str]:
    """Yield the texts of calls and of what they brought."""
    for call in calls:
        if call.error is None:
            yield from (v for v in scalars(parsed(call.value)) if isinstance(v, str))
            yield from (v for v in scalars(call.arguments) if isinstance(v, str))


def _put_on(value: str, tokens: set[str]) -> str | None:
    """Return the word that a single word is, with some letters put on."""
    if not _TOKEN.fullmatch(value):
        return None
    return next(
        (
            token
            for token in sorted(tokens, key=len, reverse=True)
            if len(token) >= _SHORTEST
            and 0 < len(value) - len(token) <= _PUT_ON
            and value.startswith(token)
            and (token.isupper() or not value[len(token)].islower())
        ),
        None,
    )


def _left_out(value: str, texts: list[str], thresholds: Thresholds) -> str | None:
    """Return the text of which a value is all the words but some, in their order."""
    own = plain(value).split()
    for text in texts if len(own) >= _FEWEST_WORDS else ():
        theirs = plain(text).split()
        if len(own) < len(theirs) and len(own) >= thresholds.near * len(theirs):
            rest = iter(theirs)
            if all(word in rest for word in own):
                return text
    return None
