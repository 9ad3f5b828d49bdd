"""A machine that runs a pattern over a text in time linear in both (Pike's construction).

All ways to match go on side by side, the preferred one first, so that no text makes it slow
and the match is the one that a backtracking engine would find first.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from hornbook.program.library.errors import ProblemError
from hornbook.program.library.pattern_syntax import Program

__all__ = ["find_all", "match_whole"]

_MOST_WORK = 5_000_000
"""Characters times instructions."""

Slots: TypeAlias = tuple[int, ...]
"""Where the match and each group begin and end; -1 where a group took no part."""

_Threads: TypeAlias = list[tuple[int, Slots]]


def find_all(program: Program, text: str) -> Iterator[Slots]:
    """The matches from left to right, none of which overlap and none of which is empty.

    Raises:
        ProblemError: text and pattern together are too large.
    """
    _refuse_size(program, text)
    start = 0
    while start <= len(text):
        slots = _Run(program, text, whole=False).first(start)
        if slots is None:
            return
        if slots[1] > slots[0]:
            yield slots
        start = max(slots[1], slots[0] + 1)


def match_whole(program: Program, text: str) -> Slots | None:
    """The match of the whole text, if it is one.

    Raises:
        ProblemError: text and pattern together are too large.
    """
    _refuse_size(program, text)
    return _Run(program, text, whole=True).first(0)


def _refuse_size(program: Program, text: str) -> None:
    if len(text) * len(program.code) > _MOST_WORK:
        raise ProblemError(
            f"a text of {len(text)} characters is too long for the pattern "
            f"{program.pattern!r:.80}: at most {_MOST_WORK // len(program.code)} fit"
        )


@dataclass(frozen=True, slots=True)
class _Run:
    program: Program
    text: str
    whole: bool

    def first(self, start: int) -> Slots | None:
        """The first match that begins at `start` or after it."""
        nothing: Slots = (-1,) * (2 * len(self.program.groups) + 2)
        threads: _Threads = []
        best: Slots | None = None
        for at in range(start, len(self.text) + 1):
            # A new attempt has the least preference, and none is due once there is a match.
            if best is None and (at == start or not self.whole):
                threads.append((0, nothing))
            if not threads:
                break
            threads, found = self._step(threads, at)
            best = found or best
        return best

    def _step(self, threads: _Threads, at: int) -> tuple[_Threads, Slots | None]:
        """All threads over one character; a match ends those that are preferred less."""
        code, seen = self.program.code, set[int]()
        character = self.text[at : at + 1]
        after: _Threads = []
        for pc, slots in threads:
            for leaf, marked in self._leaves(pc, slots, at, seen):
                one = code[leaf]
                if one.op == "match":
                    if not self.whole or at == len(self.text):
                        return after, marked
                elif character and one.fits is not None and one.fits(character):
                    after.append((leaf + 1, marked))
        return after, None

    def _leaves(
        self, pc: int, slots: Slots, at: int, seen: set[int]
    ) -> Iterator[tuple[int, Slots]]:
        """What a thread comes to without taking a character, the preferred first."""
        waiting = [(pc, slots)]
        while waiting:
            pc, slots = waiting.pop()
            if pc in seen:
                continue
            seen.add(pc)
            one = self.program.code[pc]
            match one.op:
                case "jump":
                    waiting.append((one.to, slots))
                case "split":
                    waiting += [(one.other, slots), (one.to, slots)]
                case "save":
                    waiting.append((pc + 1, (*slots[: one.to], at, *slots[one.to + 1 :])))
                case "begin" | "end":
                    if at == (0 if one.op == "begin" else len(self.text)):
                        waiting.append((pc + 1, slots))
                case _:
                    yield pc, slots
