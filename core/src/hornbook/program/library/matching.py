"""`match_pattern`: where a pattern or a template stands in a text, with spans as evidence.

Symbolic (Forethought 3.1, "pattern matching"). Found by a machine of our own, which gives
spans, and checked by pydantic-core's Rust engine, which does not: two engines, one answer.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from hornbook.contracts.clauses import that
from hornbook.contracts.contract import Contract
from hornbook.contracts.text_clauses import full_match
from hornbook.program.library.errors import ProblemError
from hornbook.program.library.pattern_machine import Slots, find_all, match_whole
from hornbook.program.library.pattern_syntax import Program, compiled
from hornbook.program.primitives import primitive

__all__ = ["PATTERN_MATCH", "Found", "Matches", "Part", "match_pattern"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What a named group took, and where it stands."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One match, and where it stands in the text."""

    text: str
    start: int
    end: int
    groups: dict[str, Part] = field(default_factory=dict[str, Part])
    """By name; a group that took no part is left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Matches:
    """All matches, from left to right."""

    found: tuple[Found, ...] = ()
    complete: bool = True
    """Whether these are all; there may be more where `max_matches` were found."""


def _spans_lead_there(found: Matches, inputs: Mapping[str, Any]) -> bool:
    text: str = inputs["text"]
    return all(
        _stands(one, text)
        and all(
            _stands(part, text) and one.start <= part.start and part.end <= one.end
            for part in one.groups.values()
        )
        for one in found.found
    )


def _stands(one: Found | Part, text: str) -> bool:
    return 0 <= one.start <= one.end <= len(text) and text[one.start : one.end] == one.text


def _in_order(found: Matches) -> bool:
    at = 0
    for one in found.found:
        if one.start < at:
            return False
        at = one.end
    return True


def _each_is_one(found: Matches, inputs: Mapping[str, Any]) -> bool:
    program = _program(inputs.get("pattern"), inputs.get("template"))
    text: str = inputs["text"]
    whole: bool = inputs.get("whole", False)
    return all(program.whole(one.text) and (not whole or one.text == text) for one in found.found)


def _none_is_missed(found: Matches, inputs: Mapping[str, Any]) -> bool:
    program = _program(inputs.get("pattern"), inputs.get("template"))
    text: str = inputs["text"]
    if found.found:
        return True
    if inputs.get("whole", False):
        return not program.whole(text)
    if program.whole(""):  # an empty match stands everywhere and is none of those looked for
        return True
    return not full_match(f"(?s:.*)(?:{program.pattern})(?s:.*)", "match_pattern")(text)


PATTERN_MATCH: Contract[Matches] = Contract(
    "match_pattern",
    output=Matches,
    ensures=[
        that("spans lead to what is said", _spans_lead_there),
        that("matches stand apart and in order", _in_order),
        that("each match is one for the Rust engine too", _each_is_one),
        that("where there is a match, one is found", _none_is_missed),
    ],
)
"""What `match_pattern` promises of its result."""


@primitive(contract=PATTERN_MATCH)
def match_pattern(
    text: str,
    pattern: str | None = None,
    template: str | None = None,
    whole: bool = False,
    max_matches: int = 1_000,
) -> Matches:
    """Find a pattern, or a template, in a text; in time linear in the text for each match.

    Args:
        text: what is searched.
        pattern: a regular expression in Rust's syntax with named groups `(?P<name>...)`,
            without word boundaries.
        template: a text with holes: `"order {id:int} from {city}"`. A hole takes any text,
            or with a kind an `int`, `number`, `word` or `date`; `{{` and `}}` are braces.
        whole: the whole text must match, instead of any part of it.
        max_matches: after so many the search ends.

    Raises:
        ProblemError: not exactly one of `pattern` and `template` is given, the template is
            not well formed, or it is too large for the text.
        DefinitionError: the pattern is not one.
    """
    program = _program(pattern, template)
    if whole:
        slots = match_whole(program, text)
        return Matches(found=() if slots is None else (_found(slots, program, text),))
    found = tuple(
        _found(slots, program, text) for slots in islice(find_all(program, text), max_matches)
    )
    return Matches(found=found, complete=len(found) < max_matches)


def _found(slots: Slots, program: Program, text: str) -> Found:
    spans = {
        name: (slots[2 * at + 2], slots[2 * at + 3])
        for at, name in enumerate(program.groups)
        if slots[2 * at + 3] >= 0
    }
    groups = {
        name: Part(text=text[start:end], start=start, end=end)
        for name, (start, end) in spans.items()
    }
    start, end = slots[:2]
    return Found(text=text[start:end], start=start, end=end, groups=groups)


def _program(pattern: str | None, template: str | None) -> Program:
    if (pattern is None) is (template is None):
        raise ProblemError("match_pattern takes a pattern or a template: give one of the two")
    return compiled(_pattern_of(template) if template is not None else str(pattern))


_HOLES: Mapping[str, str] = {
    "": ".+?",
    "date": "[0-9]{4}-[0-9]{2}-[0-9]{2}",
    "int": "[+-]?[0-9]+",
    "number": r"[+-]?[0-9]+(?:\.[0-9]+)?",
    "word": r"\w+",
}
_PIECE = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]|[^{}]+")


def _pattern_of(template: str) -> str:
    pieces: list[str] = []
    names: set[str] = set()
    for piece in _PIECE.finditer(template):
        if piece[1] is not None:
            last = piece.end() == len(template)
            pieces.append(_hole(template, piece[1], names, last=last))
        elif piece[0] in "{}":
            raise ProblemError(
                f"template {template!r:.80}: a single {piece[0]!r} in column {piece.start() + 1}; "
                f"a brace is written twice"
            )
        else:
            literal = piece[0][0] if piece[0] in ("{{", "}}") else piece[0]
            pieces.append(re.sub(r"([\\.+*?()|\[\]{}^$#&~-])", r"\\\1", literal))
    return "".join(pieces)


def _hole(template: str, hole: str, names: set[str], *, last: bool) -> str:
    name, _, kind = hole.partition(":")
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise ProblemError(f"template {template!r:.80}: {{{hole}}} has no name that is a word")
    if name in names:
        raise ProblemError(f"template {template!r:.80}: there are two holes {name!r}")
    if kind not in _HOLES:
        kinds = ", ".join(sorted(filter(None, _HOLES)))
        raise ProblemError(f"template {template!r:.80}: a hole is {kinds}, not {kind!r:.40}")
    names.add(name)
    # A hole at the very end has nothing that would stop it: it takes all there is.
    return f"(?P<{name}>{'.+' if last and not kind else _HOLES[kind]})"
