"""What a rule's sentence must be before anything reads it: clean, bounded, and data.

A rule ends up in a prompt. So its text is one short if-then statement that can neither
close the template around it nor pose as a message, a tag or an instruction to forget
other instructions.
"""

import re
import unicodedata

from hornbook.errors import RuleError

__all__ = ["MAX_CHARS", "MAX_WORDS", "check_text"]

MAX_CHARS = 600
MAX_WORDS = 90
_MIN_WORDS = 5

_IF_THEN = re.compile(r"if\b.+?(?:,|\bthen\b)\s*\S", re.IGNORECASE)
_MARKUP = re.compile(r"<[/!|<?A-Za-z]|\|>|>>|\[/?INST|[{}]|```|^#|https?://|www\.", re.IGNORECASE)
_ROLE = re.compile(r"\b(?:system|assistant|user|developer|human|tool)\s*:", re.IGNORECASE)
_OVERRIDE = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass)\b.{0,40}"
    r"\b(?:previous|prior|above|earlier|preceding|all|any|system|other)\b.{0,40}"
    r"\b(?:instructions?|prompts?|rules?|messages?|guardrails?|polic(?:y|ies)|constraints?)\b",
    re.IGNORECASE,
)
_FORBIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def check_text(text: str) -> None:
    """Raise RuleError unless the text is a clean, bounded if-then sentence.

    Raises:
        RuleError: naming what is wrong and, where there is one, the offending part.
    """
    # Length comes first: no pattern ever runs over unbounded text.
    if len(text) > MAX_CHARS:
        raise RuleError(f"text: {len(text)} characters; a rule has at most {MAX_CHARS}")
    _check_characters(text)
    words = len(text.split())
    if not _MIN_WORDS <= words <= MAX_WORDS:
        raise RuleError(f"text: {words} words; a rule has {_MIN_WORDS} to {MAX_WORDS}")
    if not _IF_THEN.match(text):
        raise RuleError(f"text: {_cut(text)!r} is not of the form 'If ..., then ...'")
    _check_prompt(text)


def _check_characters(text: str) -> None:
    for position, character in enumerate(text):
        if unicodedata.category(character) in _FORBIDDEN_CATEGORIES:
            raise RuleError(
                f"text: control or invisible character U+{ord(character):04X} at {position}"
            )
    if text != text.strip():
        raise RuleError("text: starts or ends with a space")


def _check_prompt(text: str) -> None:
    for pattern, what in (
        (_MARKUP, "prompt markup"),
        (_ROLE, "a message role"),
        (_OVERRIDE, "an instruction to override others"),
    ):
        found = pattern.search(text)
        if found:
            raise RuleError(f"text: holds {what}, {_cut(found.group())!r}; a rule is plain prose")


def _cut(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."
