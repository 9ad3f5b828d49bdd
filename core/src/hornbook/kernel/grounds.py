"""Which arguments must stand in a source, and the search for the source.

Without a declaration only text that looks like an identifier is grounded: prose is
rephrased, numbers are computed, choices come from the schema, dates are converted.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hornbook.contracts.grounding import Ungroundable, locate
from hornbook.kernel.context import Source
from hornbook.kernel.registry import ToolSpec
from hornbook.kernel.shape import Leaf, covers, is_fixed

__all__ = ["Found", "Policy", "Ungrounded", "find", "looks_like_identifier"]

_MAX_IDENTIFIER = 200
_DATE_OR_TIME = re.compile(
    r"\d{4}-\d{1,2}(-\d{1,2})?([T_]\d{1,2}:\d{2}[\d:.+Z-]*)?|\d{1,2}[/.-]\d{1,2}[/.-]\d{2,4}"
    r"|\d{1,2}(:\d{2}){1,2}(\.\d+)?([ap]m|Z|[+-]\d{2}:?\d{2})?|\d{1,2}[ap]m",
    re.IGNORECASE,
)
_ONE_WORD = re.compile(r"\S*[\d@]\S*")
_CALCULATION = re.compile(r"[\d.,()+*/%^=<>-]+")
_NUMBER_OR_CODE = re.compile(r"\d{2,}|\d+(-\d+)+")
_BEFORE = frozenset(' \n\t"(')
_AFTER = frozenset(' \n\t")?!;:')

_ORNAMENTS = re.compile(r"^[^\w]+|[^\w]+$")
_SEPARATORS = re.compile(r"[\s().+-]")
_DIGIT_RUN = re.compile(r"\+?\(?\d[\d().-]*(?: [\d(][\d().-]*)*")
_DECIMAL = re.compile(r"(?<![\w.,-])\d{1,15}\.\d{1,15}(?![\w.]*\w)")
_LETTERS_THEN_DIGITS = re.compile(r"([A-Z]{1,4})(\d{5,})")
_MIN_DIGITS = 7
"""Shorter numbers meet by chance when their separators are left out."""


def looks_like_identifier(text: str) -> bool:
    """Whether a text is a name for one thing: an id, a code, an address; not prose, not a date."""
    if len(text) > _MAX_IDENTIFIER or not _ONE_WORD.fullmatch(text):
        return False
    if _DATE_OR_TIME.fullmatch(text):
        return False
    return not _CALCULATION.fullmatch(text) or _NUMBER_OR_CODE.fullmatch(text) is not None


@dataclass(frozen=True, slots=True)
class Policy:
    """What of one tool's arguments is grounded."""

    grounded: tuple[str, ...] = ()
    """Declared paths: these always, numbers too."""
    free: tuple[str, ...] = ()
    """Declared paths: these never."""

    def applies(self, tool: ToolSpec, leaf: Leaf) -> bool:
        """Whether a leaf of a tool's arguments must stand in a source."""
        if leaf.value is None or isinstance(leaf.value, bool):
            return False
        if self.free and any(covers(declared, leaf.path) for declared in self.free):
            return False
        if leaf.unseen:
            return True
        if leaf.kind == "name":
            return looks_like_identifier(leaf.value)
        if self.grounded and any(covers(declared, leaf.path) for declared in self.grounded):
            return True
        return (
            isinstance(leaf.value, str)
            and looks_like_identifier(leaf.value)
            and (leaf.kind == "key" or not is_fixed(tool.parameters, tool.shape, leaf))
        )


@dataclass(frozen=True, slots=True)
class Found:
    """The first source a value stands in."""

    evidence: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Ungrounded:
    """No source has the value, or none can (then `reason` says why)."""

    looked_in: tuple[str, ...]
    reason: str = field(default="")


def find(value: Any, sources: Sequence[Source]) -> Found | Ungrounded:
    """Return the first source that has a value, as a whole or as whole tokens of its text."""
    looked_in: dict[str, None] = {}
    for source in sources:
        if not source.text.strip():
            continue
        looked_in[source.name] = None
        answer = _in_source(value, source)
        if isinstance(answer, Ungrounded):
            return answer
        if answer is not None and not _is_echo(value, source):
            return answer
    if isinstance(value, str) and (parts := _composed(value, sources)) is not None:
        return Found(parts)
    return Ungrounded(tuple(looked_in), "" if looked_in else "the context holds no text")


def _composed(value: str, sources: Sequence[Source]) -> Mapping[str, Any] | None:
    """Return where the parts of a value stand that is put together of what the user gave.

    "P followed by 12345678" is P12345678, and a name that a tool returned gets the ending
    that the user asks for. Nothing is put together without words of the user's.
    """
    asked = [source for source in sources if source.name.startswith("turn ")]
    name, dot, ending = value.rpartition(".")
    if dot and name and ending.isalpha():
        for turn in asked:
            spoken = _ending_span(ending, turn.text)
            stands = spoken and _first(name, sources)
            if spoken and stands:
                return {**stands, "with": {"source": turn.name, "span": list(spoken)}}
    if value.isdecimal() and (rounded := _rounded(value, sources)) is not None:
        return rounded
    letters = _LETTERS_THEN_DIGITS.fullmatch(value)
    if letters is None:
        return None
    for turn in asked:
        first, second = (_whole_word(part, turn.text) for part in letters.groups())
        if first and second:
            return {"source": turn.name, "span": list(first), "with": {"span": list(second)}}
    return None


def _rounded(value: str, sources: Sequence[Source]) -> Mapping[str, Any] | None:
    """Return where a number stands that a whole number is rounded from."""
    for source in sources:
        for found in _DECIMAL.finditer(source.text):
            if abs(float(found.group()) - int(value)) < 1 and not _is_echo(value, source):
                return {"source": source.name, "span": list(found.span()), "text": found.group()}
    return None


def _first(value: str, sources: Sequence[Source]) -> dict[str, Any] | None:
    for source in sources:
        answer = _in_source(value, source)
        if isinstance(answer, Found) and not _is_echo(value, source):
            return dict(answer.evidence)
    return None


def _ending_span(ending: str, text: str) -> tuple[int, int] | None:
    found = re.search(rf"\.{re.escape(ending)}(?!\w)", text, re.IGNORECASE)
    return found.span() if found else None


def _whole_word(part: str, text: str) -> tuple[int, int] | None:
    found = re.search(rf"(?<![\w-]){re.escape(part)}(?![\w-])", text)
    return found.span() if found else None


def _in_source(value: Any, source: Source) -> Found | Ungrounded | None:
    path = source.path_of(value)
    if path is not None:
        return Found({"source": source.name, "at": path, "value": value})
    span = _span(value, source.text)
    if isinstance(span, Ungroundable):
        return Ungrounded((), span.reason)
    if span is None:
        return None
    start, end = span
    return Found({"source": source.name, "span": [start, end], "text": source.text[start:end]})


def _is_echo(value: Any, source: Source) -> bool:
    """Whether the call that gave the source was given the value, alone or within a text.

    A tool says back what it was asked, in prose and in records; a value that was known
    before stands in the source that it was known from.
    """
    return source.echoes(value) or any(
        isinstance(_span(value, text), tuple) for text in source.given
    )


def _span(value: Any, text: str) -> tuple[int, int] | Ungroundable | None:
    """Return where a text has a value: as written, without its ornaments, or digit by digit."""
    if type(value) is str and (plain := _between_spaces(value, text)) is not None:
        return plain
    spans = locate(value, text, mode="normalized", threshold=None, partial=False)
    if isinstance(spans, Ungroundable):
        return spans
    if spans:
        return spans[0].start, spans[0].end
    if not isinstance(value, str):
        return None
    # A tool wants "#W123" or "555-123-2002" where people write W123 and (555) 123 2002.
    bare = _ORNAMENTS.sub("", value)
    if bare and bare != value:
        more = locate(bare, text, mode="normalized", threshold=None, partial=False)
        if more and not isinstance(more, Ungroundable):
            return more[0].start, more[0].end
    return _digits_span(value, text)


def _between_spaces(value: str, text: str) -> tuple[int, int] | None:
    """Return where a value stands to the letter with nothing but space or a comma around it.

    What this finds, the search by meaning would find too; it takes a tenth of the time.
    """
    start = text.find(value)
    end = start + len(value)
    if start < 0 or not (value[:1].isalnum() and value[-1:].isalnum()):
        return None
    before, after = text[start - 1 : start], text[end : end + 2]
    if before and before not in _BEFORE:
        return None
    stands = not after or after[0] in _AFTER or (after[0] in ".," and not after[1:].strip())
    return (start, end) if stands else None


def _digits_span(value: str, text: str) -> tuple[int, int] | None:
    digits = _SEPARATORS.sub("", value)
    if len(digits) < _MIN_DIGITS or not digits.isdecimal():
        return None
    for run in _DIGIT_RUN.finditer(text):
        if _SEPARATORS.sub("", run.group()) == digits:
            return run.span()
    return None
