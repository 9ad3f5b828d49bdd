"""Patterns read into a program for the linear-time machine of `pattern_machine`.

The syntax is the part of Rust's that needs neither look-around nor word boundaries: literals,
classes, groups, alternatives, repetitions greedy and lazy, `^` and `$`, and `(?i)` and `(?s)`
at the beginning. Whether one character fits a class is always asked of pydantic-core's Rust
engine, so that both agree on every class.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, TypeAlias

from hornbook.contracts.text_clauses import full_match
from hornbook.program.library.errors import ProblemError

__all__ = ["Instruction", "Program", "compiled"]

_MOST_INSTRUCTIONS = 2_000

Op: TypeAlias = Literal["atom", "split", "jump", "save", "begin", "end", "match"]


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction of the machine."""

    op: Op
    fits: Callable[[str], bool] | None = None
    """For `atom`: whether it takes a character."""
    to: int = 0
    """For `split` the target that is tried first, for `jump` the target, for `save` the slot."""
    other: int = 0
    """For `split`: the target that is tried second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A pattern, ready to run."""

    pattern: str
    code: tuple[Instruction, ...]
    groups: tuple[str, ...]
    """The named groups; group i has the slots 2i + 2 and 2i + 3, the match 0 and 1."""
    whole: Callable[[str], bool]
    """Whether a whole text matches, by the Rust engine."""


@lru_cache(maxsize=256)
def compiled(pattern: str) -> Program:
    """Compile a pattern.

    Raises:
        DefinitionError: the Rust engine does not take it.
        ProblemError: it uses what this machine leaves out, or is too large.
    """
    whole = full_match(pattern, "match_pattern")
    reader = _Reader(pattern)
    code = reader.read()
    return Program(pattern=pattern, code=code, groups=tuple(reader.groups), whole=whole)


_Code: TypeAlias = list[Instruction]


@dataclass(slots=True)
class _Reader:
    """Reads a pattern from left to right; targets are relative until the very end."""

    pattern: str
    at: int = 0
    flags: str = ""
    groups: list[str] = field(default_factory=list[str])

    def read(self) -> tuple[Instruction, ...]:
        found = re.match(r"\(\?([is]+)\)", self.pattern)
        if found:
            self.flags, self.at = found[0], found.end()
        body = self._alternatives()
        code = [_save(0), *body, _save(1), Instruction("match")]
        return tuple(_absolute(at, one) for at, one in enumerate(code))

    def _alternatives(self) -> _Code:
        code = self._sequence()
        while self._peek() == "|":
            self.at += 1
            other = self._sequence()
            split = Instruction("split", to=1, other=len(code) + 2)
            code = [split, *code, Instruction("jump", to=len(other) + 1), *other]
        return self._sized(code)

    def _sequence(self) -> _Code:
        code: _Code = []
        while self._peek() not in ("", "|", ")"):
            code += self._repeated(self._item())
        return self._sized(code)

    def _repeated(self, item: _Code) -> _Code:
        found = re.compile(r"([*+?]|\{[0-9, ]+\})(\??)").match(self.pattern, self.at)
        if not found:
            return item
        self.at = found.end()
        if re.compile(r"[*+?{]").match(self.pattern, self.at):
            raise self._refused("a repetition of a repetition: put a group around the inner one")
        low, high = _bounds(found[1])
        lazy = found[2] == "?"
        self._sized(item, times=max(low, high or 0, 1))
        code = item * low
        if high is None:
            return self._sized([*code, *_star(item, lazy)])
        return self._sized([*code, *_options(item, high - low, lazy)])

    def _item(self) -> _Code:
        character = self._peek()
        match character:
            case "(":
                return self._group()
            case "[":
                return [self._atom(self._class_end())]
            case "\\":
                return self._escape()
            case "^" | "$":
                self.at += 1
                return [Instruction("begin" if character == "^" else "end")]
            case _:
                return [self._atom(self.at + 1)]

    def _group(self) -> _Code:
        found = re.compile(r"\((?:\?(?:(:)|P?<(\w+)>))?").match(self.pattern, self.at)
        assert found is not None
        self.at = found.end()
        if self._peek() == "?":
            raise self._refused("flags inside of a pattern: put (?i) or (?s) at its beginning")
        slot = -1
        if found[2]:
            slot = 2 * len(self.groups) + 2
            self.groups.append(found[2])
        code = self._alternatives()
        self.at += 1  # the closing parenthesis, which the Rust engine has made sure of
        return [_save(slot), *code, _save(slot + 1)] if slot >= 0 else code

    def _escape(self) -> _Code:
        kind = self.pattern[self.at + 1]
        if kind in "Az":
            self.at += 2
            return [Instruction("begin" if kind == "A" else "end")]
        if kind in "bB<>":
            raise self._refused("a word boundary")
        end = re.compile(
            r"\\(?:[pP](?:\{[^}]*\}|.)|[xuU]\{[^}]*\}|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}"
            r"|U[0-9A-Fa-f]{8}|.)",
            re.DOTALL,
        ).match(self.pattern, self.at)
        assert end is not None
        return [self._atom(end.end())]

    def _class_end(self) -> int:
        at = self.at + 1
        at += self.pattern[at] == "^"
        at += self.pattern[at] == "]"
        depth = 1
        while depth:
            if at >= len(self.pattern):  # a bracket in a class within a class
                raise self._refused("a class that is written in this way")
            character = self.pattern[at]
            at += 2 if character == "\\" else 1
            depth += (character == "[") - (character == "]")
        return at

    def _atom(self, end: int) -> Instruction:
        text, self.at = self.pattern[self.at : end], end
        if len(text) == 1 and text != "." and not self.flags:
            return Instruction("atom", fits=text.__eq__)
        return Instruction("atom", fits=_taking(self.flags + text))

    def _peek(self) -> str:
        return self.pattern[self.at : self.at + 1]

    def _sized(self, code: _Code, times: int = 1) -> _Code:
        if len(code) * times > _MOST_INSTRUCTIONS:
            raise ProblemError(
                f"the pattern {self.pattern!r:.80} is too large: written out it has more than "
                f"{_MOST_INSTRUCTIONS} parts"
            )
        return code

    def _refused(self, what: str) -> ProblemError:
        return ProblemError(
            f"the pattern {self.pattern!r:.80} has, from column {self.at + 1} on, what "
            f"match_pattern does not take: {what}"
        )


def _save(slot: int) -> Instruction:
    return Instruction("save", to=slot)


def _absolute(at: int, one: Instruction) -> Instruction:
    if one.op == "split":
        return Instruction("split", to=at + one.to, other=at + one.other)
    return Instruction("jump", to=at + one.to) if one.op == "jump" else one


def _split(first: int, second: int, lazy: bool) -> Instruction:
    to, other = (second, first) if lazy else (first, second)
    return Instruction("split", to=to, other=other)


def _star(item: _Code, lazy: bool) -> _Code:
    back = Instruction("jump", to=-len(item) - 1)
    return [_split(1, len(item) + 2, lazy), *item, back]


def _options(item: _Code, count: int, lazy: bool) -> _Code:
    """Up to `count` further items; leaving one out leaves out the rest."""
    size = (len(item) + 1) * count
    code: _Code = []
    for at in range(count):
        code += [_split(1, size - at * (len(item) + 1), lazy), *item]
    return code


def _bounds(quantifier: str) -> tuple[int, int | None]:
    match quantifier:
        case "*":
            return 0, None
        case "+":
            return 1, None
        case "?":
            return 0, 1
        case _:
            low, comma, high = quantifier[1:-1].replace(" ", "").partition(",")
            if not comma:
                return int(low), int(low)
            return int(low or 0), int(high) if high else None


@lru_cache(maxsize=4096)
def _taking(atom: str) -> Callable[[str], bool]:
    fits = full_match(atom, "match_pattern")
    known: dict[str, bool] = {}

    def take(character: str) -> bool:
        found = known.get(character)
        if found is None:
            found = known[character] = fits(character)
        return found

    return take
