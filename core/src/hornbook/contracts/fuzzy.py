"""Finding the part of a text that is most like a value, in time linear in the text.

Myers' bit-parallel search tells, for every place where a part may end, the fewest edits
from the value to any part that ends there; only the best places are then looked at.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator

from hornbook.contracts.normalized import NormalText, is_word, joins

__all__ = ["best_window"]

_MOST_CANDIDATES = 64
_WORD = re.compile(r"\w+", re.ASCII)
_DIGITS = re.compile(r"\d+")


def best_window(
    value: str, text: NormalText, *, threshold: float, partial: bool
) -> tuple[int, int] | None:
    """Where the part most like `value` stands, if it is like enough.

    Likeness is one minus the edits over the longer length. Digits must be the same: another
    number is not nearly the right one. A part consists of whole words unless `partial`.
    """
    most = int(len(value) * (1 - threshold) / threshold)
    starts, ends = _everywhere(text) if partial else text.derived(_word_bounds)
    distances = list(_least_edits(value, text.text))
    likely = sorted((distances[end - 1], end) for end in ends if distances[end - 1] <= most)
    best, found = threshold, None
    digits = _DIGITS.findall(value)
    for least, end in likely[:_MOST_CANDIDATES]:
        if 1 - least / (len(value) + most) < best:
            break
        low, high = end - len(value) - most, end - len(value) + most
        for start in starts[bisect_left(starts, low) : bisect_right(starts, min(high, end - 1))]:
            window = text.text[start:end]
            likeness = 1 - _edits(value, window) / max(len(value), len(window))
            better = likeness > best or (likeness >= best and found is None)
            if better and _DIGITS.findall(window) == digits:
                best, found = likeness, (start, end)
    return found


def _everywhere(text: NormalText) -> tuple[range, range]:
    return range(len(text.text)), range(1, len(text.text) + 1)


def _word_bounds(text: NormalText) -> tuple[list[int], list[int]]:
    spans = list(_words(text.text))
    return [start for start, _ in spans], [end for _, end in spans]


def _words(text: str) -> Iterator[tuple[int, int]]:
    if text.isascii():
        yield from (word.span() for word in _WORD.finditer(text))
        return
    start = 0
    for at, character in enumerate(text):
        if not is_word(character):
            start = at + 1
        elif at + 1 == len(text) or not joins(character, text[at + 1]):
            yield start, at + 1
            start = at + 1


def _edits(value: str, window: str) -> int:
    """The fewest insertions, deletions and substitutions from one text to the other."""
    distance = len(value)
    for distance in _distances(value, window, anchored=True):  # noqa: B007
        pass
    return distance


def _least_edits(value: str, text: str) -> Iterable[int]:
    return _distances(value, text, anchored=False)


def _distances(value: str, text: str, *, anchored: bool) -> Iterator[int]:
    """For each end in `text`: the edits to the part from its start, or from anywhere, to there."""
    where: dict[str, int] = {}
    for at, character in enumerate(value):
        where[character] = where.get(character, 0) | 1 << at
    everything, last = (1 << len(value)) - 1, 1 << (len(value) - 1)
    up, down, distance = everything, 0, len(value)
    for character in text:
        equal = where.get(character, 0)
        vertical = equal | down
        horizontal = (((equal & up) + up) ^ up) | equal
        rises = down | (everything & ~(horizontal | up))
        falls = up & horizontal
        distance += bool(rises & last) - bool(falls & last)
        rises = (rises << 1 | anchored) & everything
        up = (falls << 1 | (everything & ~(vertical | rises))) & everything
        down = rises & vertical
        yield distance
