"""The end of a turn: what of the request no call and no answer covers (Forethought 4, appendix D).

Schemas cannot see a call that is missing, and no tool complains of it. What a request states
to the letter must come back in what was done about it.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, cast

from hornbook.contracts import Violation
from hornbook.contracts.shown import shown
from hornbook.kernel.answering import ANSWER, unsourced_in_answer
from hornbook.kernel.choices import choices, named
from hornbook.kernel.doing import Turn, numbers
from hornbook.kernel.figures import unsourced
from hornbook.kernel.literals import Mention, plain
from hornbook.kernel.order import ORDER, out_of_order
from hornbook.kernel.registry import ToolRegistry
from hornbook.kernel.slips import EXACT, slips
from hornbook.kernel.thresholds import Thresholds
from hornbook.kernel.toolwords import ToolWords
from hornbook.kernel.wording import name_words, words

__all__ = ["CLAUSES", "violations"]

ACTED, VALUES, TOOLS, ERRORS = (
    "request-acted-on",
    "values-covered",
    "tools-called",
    "errors-settled",
)
FIGURES, CHOICES = "numbers-sourced", "choices-heeded"
CLAUSES = (ACTED, ERRORS, ORDER, VALUES, EXACT, CHOICES, FIGURES, TOOLS, ANSWER)

_REQUEST = re.compile(
    r"\?|\b(?:please|kindly|could you|can you|would you|will you|let's|let us|help me|i need|"
    r"i want|i'd like|i'd love|i should|needs? to|could (?:really )?use|it'd be|it would be|"
    r"i would like|make sure|ensure|go ahead|proceed)\b",
    re.IGNORECASE,
)
_ASKS = re.compile(r"\?\s*$")
_REFUSES = re.compile(
    r"\b(?:cannot|can't|can not|unable|not able|not possible|sorry|not allowed|must not|won't)\b",
    re.IGNORECASE,
)
_WHO = re.compile(
    r"\b(?:my|your)\s+(?:\w+\s+){0,2}\w+\s*(?:is|are|:|=|as)?\W*$|\bI\s*\(\s*\w+\s+id\W*$"
    r"|\b(?:password|username|user id|sender id)\W*(?:is\W*)?$",
    re.IGNORECASE,
)
_DATE = re.compile(r"\d{1,4}([/.-])\d{1,4}(?:\1\d{1,4})?|\d{1,2}:\d{2}")
_AFFIX = 3
_DIGITS = 2
_MEASURE = re.compile(r"\d+(?:[x\u00d7]\d+)+|\d+[a-zA-Z\u00b5]{1,6}")
_FORMAT = re.compile(r"\b(?:format|template|like|such as|replaced|placeholder)\b", re.IGNORECASE)
_SUPPOSED = re.compile(r"\b(?:if|should|unless|in case|in the event)\b[^.!?]*$", re.IGNORECASE)
_ELSEWHERE = re.compile(
    r"\b(?:existing|previous|remember|recall|originally|formerly|from)\b[^.!?,;]{0,30}$|"
    r"\bof (?:the|this|that)\s+$",
    re.IGNORECASE,
)
_NAME = re.compile(r"[A-Za-z.]+(?: [A-Za-z.]+)?")
_PLACE = re.compile(
    r"\W{0,2}(?:folder|directory|stock|company|project|sector|account|file|document|shares?)\b",
    re.IGNORECASE,
)
_WITHIN = re.compile(r"\b(?:in|inside|within|of|from|using|on)\b(?:\s+\w+){0,3}\s*$", re.IGNORECASE)


def violations(
    turn: Turn, registry: ToolRegistry, wording: ToolWords, thresholds: Thresholds
) -> Iterator[Violation]:
    """Yield what is left undone, the surest first."""
    if not turn.request.strip():
        return
    yield from unsourced_in_answer(turn, thresholds)
    if _open(turn.answer):
        return
    acted = list(_not_acted_on(turn, registry, wording))
    yield from acted
    yield from _unsettled(turn)
    yield from out_of_order(turn.calls, registry)
    if not acted and turn.calls:
        yield from _uncovered(turn, registry, thresholds)
        yield from _uncalled(turn, registry, wording)
        yield from slips(turn, registry, thresholds)
        yield from _unheeded(turn, registry)
        yield from _from_nowhere(turn, registry)


def _open(answer: str) -> bool:
    """Whether an answer asks the user back or says that it cannot be done."""
    return bool(_ASKS.search(answer) or _REFUSES.search(answer))


def _not_acted_on(turn: Turn, registry: ToolRegistry, wording: ToolWords) -> Iterator[Violation]:
    if turn.calls or not registry:
        return
    asked = [d for d in wording.demands(turn.request) if not registry[d.tool].read_only]
    if not (
        asked or turn.mentions or _REQUEST.search(turn.request) or wording.orders(turn.request)
    ):
        return
    if not asked and _informs(turn):
        return
    if not asked and not any(wording.speaks_of(tool, turn.request) for tool in registry):
        return
    yield _violation(
        ACTED,
        turn,
        (asked[0].start, asked[0].end) if asked else (0, len(turn.request)),
        expected=f"a call of {asked[0].tool}" if asked else "a call that does what is asked",
        hint="no tool was called in this turn: do what is asked, or say why not",
    )


def _informs(turn: Turn) -> bool:
    """Whether the answer says something of its own that earlier turns brought up."""
    said = [word for word in turn.said.split() if len(word) > 3 or word.isdigit()]
    own = [word for word in said if f" {word} " not in plain(turn.request)]
    return sum(f" {word} " in turn.known for word in own) >= 2


def _unsettled(turn: Turn) -> Iterator[Violation]:
    """Yield calls that failed and were neither made good nor told of."""
    for at, call in enumerate(turn.calls):
        if call.error is None or any(
            later.error is None and later.tool == call.tool for later in turn.calls[at + 1 :]
        ):
            continue
        if re.search(
            r"\b(?:error|fail|could not|couldn't|unable|did not)", turn.answer, re.IGNORECASE
        ):
            continue
        yield Violation(
            clause=ERRORS,
            path=".",
            expected=f"{call.tool} done, or told that it failed",
            observed=shown(str(call.error)),
            evidence={"tool": call.tool, "turn": call.turn},
            hint=f"{call.tool} failed and was not called again: correct it, or tell the user",
        )


def _uncovered(turn: Turn, registry: ToolRegistry, thresholds: Thresholds) -> Iterator[Violation]:
    for mention in turn.mentions:
        if mention.kind == "number":
            missing = _number_missing(turn, mention, registry)
        elif _aside(turn, mention, registry, thresholds):
            continue
        else:
            missing = not _covers(turn, mention, thresholds)
        if missing:
            yield _violation(
                VALUES,
                turn,
                (mention.start, mention.end),
                expected="a call or an answer that takes it up",
                hint=f"nothing was done about {shown(mention.text)}",
            )


def _aside(turn: Turn, mention: Mention, registry: ToolRegistry, thresholds: Thresholds) -> bool:
    """Whether a literal is told by the way: who the user is, or what would be if."""
    before = turn.request[: mention.start]
    if f" {plain(mention.text)} " in turn.known:  # it may only say which thing is meant
        return True
    if mention.kind == "identifier" and _is_label(mention.text, thresholds):
        return True
    if mention.kind == "quoted" and (mention.text in registry or _is_all(turn, mention)):
        return True
    if _WHO.search(before[-80:]) and " " not in mention.text:
        return True
    if mention.kind == "quoted" and _is_surrounding(turn, mention, before):
        return True
    return bool(_SUPPOSED.search(before) or _ELSEWHERE.search(before[-60:]))


def _is_surrounding(turn: Turn, mention: Mention, before: str) -> bool:
    """Whether a quoted name tells where something is, rather than what to do with it."""
    if not _NAME.fullmatch(mention.text):
        return False
    within = _WITHIN.search(before[-40:]) is not None
    return within or _PLACE.match(turn.request[mention.end :]) is not None


def _is_label(text: str, thresholds: Thresholds) -> bool:
    """Whether an unquoted identifier names a part of the request, as `group1`, or a measure."""
    digits = sum(character.isdigit() for character in text)
    return (
        len(text) < thresholds.identifier
        or digits < _DIGITS
        or _MEASURE.fullmatch(text) is not None
    )


def _is_all(turn: Turn, mention: Mention) -> bool:
    """Whether all of the request stands in quotes."""
    return 2 * (mention.end - mention.start) > len(turn.request)


def _covers(turn: Turn, mention: Mention, thresholds: Thresholds) -> bool:
    wanted = plain(mention.text).removeprefix("the ").removeprefix("a ")
    if not wanted:
        return True
    whole = f" {wanted} "
    if any(whole in f" {given} " for given in turn.given) or whole in turn.returned:
        return True
    if _DATE.fullmatch(mention.text) or _affix(turn, wanted):
        return True
    if whole in turn.said or wanted.replace(" ", "") in (g.replace(" ", "") for g in turn.given):
        return True
    if any(_short_for(given, wanted) for given in turn.given):
        return True
    around = turn.request[max(0, mention.start - 40) : mention.end + 40]
    share = (
        thresholds.template if _FORMAT.search(around) or "{" in mention.text else thresholds.covered
    )
    return share < 1.0 and _overlap(turn, wanted) >= share


def _affix(turn: Turn, wanted: str) -> bool:
    """Whether an argument begins or ends with a text too short to be anything else."""
    return len(wanted) <= _AFFIX and any(
        given.startswith(wanted) or given.endswith(wanted) for given in turn.given
    )


def _short_for(given: str, wanted: str) -> bool:
    return (
        len(given) > 2
        and " " not in given
        and wanted.startswith(given)
        and len(wanted) > len(given)
    )


def _overlap(turn: Turn, wanted: str) -> float:
    tokens = wanted.split()
    if len(tokens) == 1:
        return 1.0
    return max(
        (sum(f" {t} " in f" {given} " for t in tokens) / len(tokens) for given in turn.given),
        default=0.0,
    )


def _number_missing(turn: Turn, mention: Mention, registry: ToolRegistry) -> bool:
    """Whether a number is left out although a call had a place for it."""
    value = next(numbers(mention.text.lstrip("$")), None)
    if value is None or value in turn.figures or f" {plain(mention.text)} " in " ".join(turn.given):
        return False
    before = turn.request[: mention.start]
    if _SUPPOSED.search(before):
        return False
    near = {
        word.stem for word in words(turn.request[max(0, mention.start - 30) : mention.end + 20])
    }
    return any(
        name not in call.arguments
        and _is_number(schema, value)
        and near.issuperset(name_words(name))
        for call in turn.calls
        if (spec := registry.get(call.tool)) is not None
        for name, schema in spec.shape.properties.items()
    )


def _is_number(schema: Any, value: float) -> bool:
    """Whether a schema is one of a number that is not the value when left out."""
    if not isinstance(schema, Mapping):
        return False
    own = cast("Mapping[str, Any]", schema)
    return own.get("type") in ("integer", "number") and own.get("default") != value


def _uncalled(turn: Turn, registry: ToolRegistry, wording: ToolWords) -> Iterator[Violation]:
    called = {call.tool for call in turn.calls}
    told: set[str] = set()
    # What was looked up before need not be looked up again.
    called |= {
        call.tool
        for call in turn.earlier
        if call.tool in registry and registry[call.tool].read_only
    }
    for demand in wording.demands(turn.request):
        if demand.tool in told:
            continue
        if not any(wording.does_as_much(tool, demand.tool) for tool in called):
            told.add(demand.tool)
            yield _violation(
                TOOLS,
                turn,
                (demand.start, demand.end),
                expected=f"a call of {demand.tool}",
                hint=f"{demand.tool} was not called: do it, or say why not",
            )


def _unheeded(turn: Turn, registry: ToolRegistry) -> Iterator[Violation]:
    """Yield arguments that choose another value than the only one that the request names."""
    for call in turn.calls:
        spec = registry.get(call.tool)
        if spec is None or call.error is not None:
            continue
        for name, value in call.arguments.items():
            if not isinstance(value, str):
                continue
            listed = choices(spec.shape.properties.get(name))
            if value not in listed:
                continue
            spoken = {
                one: at for one, stems in listed.items() if (at := named(stems, turn.request))
            }
            if value in spoken or len(spoken) != 1:
                continue
            meant, at = next(iter(spoken.items()))
            own = [c for c in turn.calls if c.tool == call.tool]
            if not any(meant in list(c.arguments.values()) for c in own):
                yield _violation(
                    CHOICES,
                    turn,
                    at,
                    expected=f"{name}={meant!r} in the call of {call.tool}",
                    hint=f"{call.tool} was called with {name}={shown(value, name)}",
                )


def _from_nowhere(turn: Turn, registry: ToolRegistry) -> Iterator[Violation]:
    for at, call in enumerate(turn.calls):
        if call.error is None and call.tool in registry:
            before = replace(turn.context, calls=(*turn.earlier, *turn.calls[:at]))
            for name, value in unsourced(registry[call.tool], call.arguments, before):
                yield Violation(
                    clause=FIGURES,
                    path=name,
                    expected="a number that was said, returned or computed from such",
                    observed=shown(value, name),
                    evidence={"tool": call.tool, "turn": call.turn},
                    hint=f"check {name} of {call.tool}: no source has this number",
                )


def _violation(
    clause: str, turn: Turn, span: tuple[int, int], *, expected: str, hint: str
) -> Violation:
    start, end = span
    text = turn.request[start:end].strip()
    return Violation(
        clause=clause,
        path=".",
        expected=expected,
        observed=shown(text),
        evidence={"source": f"turn {turn.number}", "span": [start, end], "text": text},
        hint=hint,
    )
