"""Numbers that stand in no source and follow from none: neither said, returned, nor computed."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

from hornbook.kernel.context import GuardContext
from hornbook.kernel.doing import numbers, scalars
from hornbook.kernel.registry import ToolSpec

__all__ = ["computed", "unsourced"]

_WORDS = {
    "zero": 0, "half": 0.5, "one": 1, "once": 1, "two": 2, "twice": 2, "double": 2, "doubl": 2,
    "couple": 2, "pair": 2, "three": 3, "triple": 3, "four": 4, "quarter": 0.25, "five": 5,
    "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "dozen": 12, "hundred": 100,
    "thousand": 1000,
}  # fmt: skip
_SMALL = 10
"""A whole number up to this may be a choice, a rank, a count: no source is asked."""
_LEFT_OPEN = re.compile(
    r"\b(?:full|fully|fill up|all|whole|entire(?:ly)?|complete(?:ly)?|rest|remaining|"
    r"remainder|max(?:imum)?|min(?:imum)?|enough|total|approx(?:imately)?|about|around|roughly|round(?:ed)?|estimated?|"
    r"sufficient|adequate|average|percent(?:age)?|equivalent|times|tax|discount)\b|%",
    re.IGNORECASE,
)
"""A request with such words leaves an amount to be worked out."""
_MOST = 60
"""So many of the latest numbers are computed with."""
_PLACES = (0, 1, 2, 3)
_ROUND = (-3, -2, -1)
_SAME = 1e-6
_NEAR = (0.5, 2.0)


def unsourced(
    spec: ToolSpec, arguments: Mapping[str, Any], context: GuardContext
) -> Iterator[tuple[str, float]]:
    """Yield the numbers among a changing call's arguments that come from nowhere, by argument."""
    if spec.read_only or not context.turns or _LEFT_OPEN.search(context.turns[-1]):
        return
    left = _unused(context, arguments)
    for name, value in arguments.items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            continue
        if (value == int(value) and abs(value) <= _SMALL) or _in_schema(spec, name, value):
            continue
        known, recent = _known(context, arguments, name)
        if float(value) in known or -float(value) in known or computed(float(value), recent):
            continue
        if any(_mistakable(float(value), other) for other in left):
            yield name, value


def _unused(context: GuardContext, arguments: Mapping[str, Any]) -> list[float]:
    """Return the numbers of the request, and of what came back in this turn, that no call takes."""
    turn = len(context.turns)
    here = [call for call in context.calls if call.turn == turn]
    taken = {n for call in here for value in scalars(call.arguments) for n in numbers(value)}
    taken |= {n for value in scalars(arguments) for n in numbers(value)}
    told = [*_in_text(context.turns[-1])]
    told += [n for call in here for value in _read(call.value) for n in numbers(value)]
    return [n for n in dict.fromkeys(told) if n not in taken]


def _mistakable(value: float, other: float) -> bool:
    """Whether a number may be a slip of another: near to it, or off by a power of ten."""
    if not other or not value:
        return False
    return _NEAR[0] <= abs(value / other) <= _NEAR[1] or value / other in (10.0, 0.1, 100.0, 0.01)


def _in_schema(spec: ToolSpec, name: str, value: float) -> bool:
    schema = spec.shape.properties.get(name)
    told = [spec.description, *(scalars(schema) if schema is not None else ())]
    return any(float(value) == n for text in told for n in numbers(text))


def _known(
    context: GuardContext, arguments: Mapping[str, Any], name: str
) -> tuple[set[float], list[float]]:
    """Return all numbers of the sources, and those of late that one would compute with."""
    turn = len(context.turns)
    spoken = [n for text in context.turns for n in _in_text(text)]
    lately = [n for text in context.turns[-1:] for n in _in_text(text)]
    for call in context.calls:
        own = [n for value in _read(call.value) for n in numbers(value)]
        own += [n for value in scalars(call.arguments) for n in numbers(value)]
        spoken += own
        if call.turn >= turn - 1:
            lately += own
    others = [n for key, value in arguments.items() if key != name for n in numbers(value)]
    trusted = [n for value in scalars(context.trusted) for n in numbers(value)]
    state = [n for value in scalars(context.state) for n in numbers(value)]
    return {*spoken, *trusted, *state}, [*dict.fromkeys([*reversed(lately), *others, *state])][
        :_MOST
    ]


def _read(value: Any) -> Iterator[Any]:
    from hornbook.kernel.context import parsed

    yield from scalars(parsed(value))


def _in_text(text: str) -> Iterator[float]:
    yield from numbers(text.replace("$", " "))
    for word in text.casefold().replace("-", " ").split():
        if (value := _WORDS.get(word.strip(".,!?;:'\""))) is not None:
            yield float(value)


def computed(value: float, recent: list[float]) -> bool:
    """Whether a number is a rounded one, or one step of arithmetic away from two."""
    for a in recent:
        if _is(value, a) or _is(value, 2 * a) or _is(value, a / 2):
            return True
        for b in recent:
            if _is(value, a + b) or _is(value, a - b) or _is(value, a * b):
                return True
            if (b and _is(value, a / b)) or _is(value, a * b / 100):
                return True
    return False


def _is(value: float, other: float) -> bool:
    if abs(value - other) <= _SAME * max(1.0, abs(value)):
        return True
    if abs(value - other) > max(1.0, 0.2 * abs(other)):
        return False
    return any(abs(value - round(other, n)) <= _SAME for n in (*_PLACES, *_ROUND)) or (
        cast("float", int(other)) == value
    )
