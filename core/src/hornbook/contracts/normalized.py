"""Text in one form for comparing, with the way back to the characters it came from.

Case is folded, compatible characters made one (full width and narrow, ligatures, digits of
any script), quotes and dashes made plain, and space collapsed. Superscripts and fractions
stay, since they would run into the digits beside them.
"""

import re
import unicodedata
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock
from typing import NamedTuple, TypeVar, cast

__all__ = ["NormalText", "Span", "folded", "is_word", "joins", "normal_text"]

_T = TypeVar("_T")

_GAPS = r"\s\u00ad\u200b\u2060\ufeff"
"""White space, and what is invisible: soft hyphens and the like."""
_WORDS_OR_GAP = re.compile(rf"(?P<words>[^{_GAPS}]+(?:\s[^{_GAPS}]+)*)|[{_GAPS}]+")
_WORD_OR_SPACE = re.compile(r"\S+|\s")
_SPACE = re.compile(r"\s")

_MARKS = str.maketrans(
    dict.fromkeys("`\u2018\u2019\u201a\u201b\u2032\u2035\u00b4\u02bc\u2039\u203a", "'")
    | dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u2036\u00ab\u00bb", '"')
    | dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d", "-")
)
_KEPT_FORMS = ("<super>", "<sub>", "<fraction>", "<circle>")
_FIRST_UNSPACED = "\u0e00"
_UNSPACED = re.compile(
    # Thai, Lao, Burmese, Khmer, Japanese and Chinese.
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff]"
)
_JOINER = "\u200d"

_LONGEST_CLUSTER = 32
_MOST_TEXTS = 128
_MOST_CHARACTERS = 4_000_000
_LONGEST_KEPT = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A part of a source text."""

    start: int
    end: int
    text: str


class _Run(NamedTuple):
    """A stretch of the original and what it is in normal form."""

    text: str
    start: int
    end: int
    even: bool
    """Whether it stands character for character."""


class NormalText:
    """A text in normal form, which tells where its parts stand in the original."""

    __slots__ = ("_derived", "_runs", "_starts", "_unmoved", "original", "text")

    def __init__(self, original: str) -> None:
        self.original = original
        self._runs: list[_Run] = []
        self._starts: list[int] = []
        self._derived: dict[object, object] = {}
        parts: list[str] = []
        length = 0
        for run in _runs_of(original):
            parts.append(run.text)
            if run.text and not self._continues_last(run):
                self._runs.append(run)
                self._starts.append(length)
            length += len(run.text)
        self.text = "".join(parts)
        self._unmoved = len(self._runs) < 2 and length == len(original)

    def _continues_last(self, run: _Run) -> bool:
        if not (run.even and self._runs and self._runs[-1].even):
            return False
        last = self._runs[-1]
        if last.end != run.start:
            return False
        self._runs[-1] = _Run(last.text, last.start, run.end, even=True)
        return True

    def span(self, start: int, end: int) -> Span:
        """The part of the original that became `text[start:end]`."""
        if self._unmoved:
            return Span(start=start, end=end, text=self.original[start:end])
        first, offset = self._at(start)
        begin = first.start + offset if first.even else first.start
        last, offset = self._at(end - 1)
        stop = last.start + offset + 1 if last.even else last.end
        return Span(start=begin, end=stop, text=self.original[begin:stop])

    def _at(self, position: int) -> tuple[_Run, int]:
        at = bisect_right(self._starts, position) - 1
        return self._runs[at], position - self._starts[at]

    def derived(self, build: Callable[["NormalText"], _T]) -> _T:
        """What `build` makes of this text, made once."""
        try:
            return cast(_T, self._derived[build])
        except KeyError:
            made = self._derived[build] = build(self)
            return made


def folded(text: str) -> str:
    """A value in the normal form, without space around it."""
    if text.isascii():
        return " ".join(text.split()).lower().replace("`", "'")
    return "".join(run.text for run in _runs_of(text)).strip(" ")


def is_word(character: str) -> bool:
    """Whether a character belongs to a word: a letter, digit, underscore or mark."""
    return character.isalnum() or character == "_" or (character > "\x7f" and _binds(character))


def joins(before: str, after: str) -> bool:
    """Whether two neighbours belong to one word.

    In scripts that put no space between words every character may begin one.
    """
    if not (is_word(before) and is_word(after)):
        return False
    if before < _FIRST_UNSPACED and after < _FIRST_UNSPACED:
        return True
    return _binds(after) or before == _JOINER or not _UNSPACED.search(before + after)


def _runs_of(text: str) -> Iterator[_Run]:
    for found in _WORDS_OR_GAP.finditer(text):
        if found["words"] is None:
            gap = found.group()
            space = " " if _SPACE.search(gap) else ""
            yield _Run(space, *found.span(), even=len(gap) == len(space))
            continue
        run = _even_run(text, *found.span())
        if run is not None:
            yield run
            continue
        for word in _WORD_OR_SPACE.finditer(text, *found.span()):
            run = _even_run(text, *word.span())
            yield from _clusters(text, *word.span()) if run is None else (run,)


def _even_run(text: str, start: int, end: int) -> _Run | None:
    """A run in which every character becomes one other, and none joins its neighbour."""
    form = text[start:end].translate(_forms)
    return _Run(form, start, end, even=True) if len(form) == end - start else None


def _clusters(text: str, start: int, end: int) -> Iterator[_Run]:
    """Characters with the marks that belong to them: they may become one, or one several."""
    at = even_from = start
    while at < end:
        stop, limit = at + 1, min(end, at + _LONGEST_CLUSTER)
        while stop < limit and _continues(text[stop]):
            stop += 1
        form = _normal_form(text[at:stop])
        if len(form) != 1 or stop > at + 1 or _continues(text[at]):
            if even_from < at:
                yield _Run(text[even_from:at].translate(_forms), even_from, at, even=True)
            yield _Run(form, at, stop, even=False)
            even_from = stop
        at = stop
    if even_from < end:
        yield _Run(text[even_from:end].translate(_forms), even_from, end, even=True)


class _Forms(dict[int, str]):
    """The normal form of every character met so far, for `str.translate`."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        form = " " if character.isspace() else _normal_form(character)
        # Too long for one character: the run is then looked at cluster by cluster.
        self[code] = form = "  " if _continues(character) else form
        return form


_forms = _Forms()


@lru_cache(maxsize=8192)
def _normal_form(cluster: str) -> str:
    plain = cluster.translate(_MARKS)
    if unicodedata.decomposition(plain[0]).startswith(_KEPT_FORMS):
        return plain
    folded = unicodedata.normalize("NFKC", plain).casefold()
    # The capital of Turkish i folds to an i with a dot above it.
    form = unicodedata.normalize("NFKC", folded).replace("i\u0307", "i")
    return "".join(map(_western_digit, form))


def _western_digit(character: str) -> str:
    return str(unicodedata.decimal(character)) if character.isdecimal() else character


@lru_cache(maxsize=8192)
def _continues(character: str) -> bool:
    """Whether normalising may join it to the character before: marks, and parts of Hangul."""
    if character < "\u0300":
        return False
    first = unicodedata.normalize("NFKD", character)[0]
    return _binds(first) or "\u1160" <= first <= "\u11ff"


@lru_cache(maxsize=8192)
def _binds(character: str) -> bool:
    return character == _JOINER or unicodedata.category(character).startswith("M")


class _Kept:
    """The texts used last, so that many clauses on one source normalise it once."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._texts: OrderedDict[str, NormalText] = OrderedDict()
        self._characters = 0

    def get(self, source: str) -> NormalText:
        with self._lock:
            found = self._texts.get(source)
            if found is not None:
                self._texts.move_to_end(source)
                return found
        made = NormalText(source)
        if len(source) <= _LONGEST_KEPT:
            self._keep(made)
        return made

    def _keep(self, made: NormalText) -> None:
        with self._lock:
            if made.original not in self._texts:
                self._texts[made.original] = made
                self._characters += len(made.original)
            while len(self._texts) > _MOST_TEXTS or self._characters > _MOST_CHARACTERS:
                dropped, _ = self._texts.popitem(last=False)
                self._characters -= len(dropped)


_kept = _Kept()


def normal_text(source: str) -> NormalText:
    """The normal text of `source`; the same object while it is remembered."""
    return _kept.get(source)
