"""What a text says that cannot be said in other words: names, numbers, quoted text."""

import re
from collections.abc import Iterator, Sequence

from hornbook.contracts.grounding import Ungroundable, locate

__all__ = ["marks_of", "unmentioned"]

_QUOTED = re.compile(r'"([^"]+)"|“([^”]+)”|«([^»]+)»|(?<!\w)\'([^\']+)\'(?!\w)')
_WORD = re.compile(r"[^\W_](?:(?:[\w'\u2019.:/@+-]|(?<=\d),(?=\d))*[^\W_])?")
_ENDS = ".!?:;\n"
_LOOKED = 40
"""Characters before a word that tell whether a sentence begins with it."""
_NO_NAMES = frozenset({"I", "A"})


def marks_of(text: str) -> tuple[str, ...]:
    """Quoted texts, then words with digits and words written as names, each once, in order.

    The first word of a sentence is taken for a name only where more capitals than the first
    stand in it: that it has one says nothing there.
    """
    quoted = [next(filter(None, found.groups())) for found in _QUOTED.finditer(text)]
    return tuple(dict.fromkeys([*quoted, *_words(text)]))


def _words(text: str) -> Iterator[str]:
    for found in _WORD.finditer(text):
        word = found[0]
        before = text[max(0, found.start() - _LOOKED) : found.start()]
        if any(map(str.isdigit, word)) or _is_name(word, first=_opens(before)):
            yield word


def _is_name(word: str, *, first: bool) -> bool:
    if first:
        return sum(map(str.isupper, word)) > 1
    return word[0].isupper() and word not in _NO_NAMES


def _opens(before: str) -> bool:
    """Whether a sentence begins after this."""
    stripped = before.rstrip(" \t\"'“«(-*•")
    return not stripped or stripped[-1] in _ENDS


def unmentioned(text: str, parts: Sequence[str]) -> tuple[str, ...]:
    """The marks of a text that stand in none of the parts."""
    joined = "\n".join(parts)
    return tuple(mark for mark in marks_of(text) if not _stands(mark, joined))


def _stands(mark: str, text: str) -> bool:
    found = locate(mark, text)
    return isinstance(found, Ungroundable) or bool(found)
