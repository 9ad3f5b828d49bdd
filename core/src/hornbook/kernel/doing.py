"""One turn as `finish` sees it: what was asked, what was called, what came back, what is said."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

from hornbook.kernel.context import GuardContext
from hornbook.kernel.literals import Mention, literals, plain
from hornbook.kernel.seen import SeenCall

__all__ = ["Turn", "numbers", "scalars", "turn_of"]

_NUMBER = re.compile(r"(?<![\w.])[-]?\d+(?:,\d{3})*(?:\.\d+)?(?![\w]*[A-Za-z])")
_NO_END = 100_000


@dataclass(frozen=True)
class Turn:
    """The request at hand and what was done about it."""

    number: int
    request: str
    answer: str
    calls: tuple[SeenCall, ...]
    earlier: tuple[SeenCall, ...]
    context: GuardContext = field(repr=False)

    @cached_property
    def mentions(self) -> list[Mention]:
        """The literals of the request."""
        return literals(self.request)

    @cached_property
    def given(self) -> list[str]:
        """Each text of the arguments of this turn's calls, to compare with."""
        return [
            plain(str(value))
            for call in self.calls
            for value in (*scalars(call.arguments), *_names(call.arguments), call.tool)
        ]

    @cached_property
    def returned(self) -> str:
        """What came back in this turn, to compare with."""
        return _padded(
            " ".join(str(call.value)[:_NO_END] for call in self.calls if call.error is None)
        )

    @cached_property
    def said(self) -> str:
        """The answer, to compare with."""
        return _padded(self.answer)

    @cached_property
    def known(self) -> str:
        """All that stood in earlier turns, their calls and results, to compare with."""
        texts = [*self.context.turns[: self.number - 1]]
        for call in self.earlier:
            texts += [str(value) for value in scalars(call.arguments)]
            texts.append(str(call.value)[:_NO_END])
        return _padded(" ".join(texts))

    @cached_property
    def figures(self) -> frozenset[float]:
        """The numbers of this turn's calls."""
        return frozenset(
            n for call in self.calls for value in scalars(call.arguments) for n in numbers(value)
        )


def turn_of(answer: str, context: GuardContext) -> Turn:
    """Return the turn that an answer is to end."""
    number = len(context.turns)
    return Turn(
        number=number,
        request=context.turns[-1] if number else "",
        answer=answer,
        calls=tuple(call for call in context.calls if call.turn == number),
        earlier=tuple(call for call in context.calls if call.turn < number),
        context=context,
    )


def scalars(value: Any) -> Iterator[Any]:
    """Yield what a value is made of; JSON text is read as such."""
    if isinstance(value, Mapping):
        for item in cast("Mapping[Any, Any]", value).values():
            yield from scalars(item)
    elif isinstance(value, list | tuple | set | frozenset):
        for item in cast("Sequence[Any]", value):
            yield from scalars(item)
    elif value is not None:
        yield value


def _names(value: Any) -> Iterator[str]:
    """Yield the names in the maps that are values of arguments."""
    for item in cast("Mapping[Any, Any]", value).values() if isinstance(value, Mapping) else ():
        if isinstance(item, Mapping):
            yield from map(str, cast("Mapping[Any, Any]", item))
            yield from _names(item)


def numbers(value: Any) -> Iterator[float]:
    """Yield the numbers that a value is, or that stand in its text."""
    if isinstance(value, bool):
        return
    if isinstance(value, int | float):
        yield float(value)
        return
    for found in _NUMBER.findall(str(value)[:_NO_END]):
        try:
            yield float(found.replace(",", ""))
        except ValueError:
            continue


def _padded(text: str) -> str:
    return f" {plain(text)} "
