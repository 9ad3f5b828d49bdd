"""Other values in place of one value: of another type, and of the same type but wrong."""

from collections.abc import Iterator, Mapping, Sequence, Set
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any, Literal, cast, get_args, get_origin

from hornbook.contracts.declared import is_named_tuple
from hornbook.contracts.members import members
from hornbook.verify.typed_places import alternatives

__all__ = ["ill_typed", "outside", "shifted", "tokens", "wrong"]

_OTHERS = 3
"""Other members of a closed set that are tried."""

_NOBODY_SAYS = "zyxwv-8305"
"""A text that stands in no source."""


def ill_typed(value: Any, tp: Any = Any) -> Iterator[Any]:
    """Values of another type."""
    if value is not None:
        yield None
    text = isinstance(value, str) or (value is None and str in members(tp))
    yield 8305 if text else "ill-typed"


def wrong(value: Any, tp: Any = Any) -> Iterator[Any]:
    """Values of the same type that are not this one.

    Args:
        value: the right one.
        tp: its type, which tells the other members of a closed set and what None stands for.
    """
    yield from _other_literals(value, tp)
    match value:
        case None:
            yield from _instead_of_nothing(tp)
        case Enum():
            yield from [one for one in type(value) if one is not value][:_OTHERS]
        case bool():
            yield not value
        case str():
            yield from _texts(value, tp)
        case int() | float() | Decimal():
            yield from _numbers(value)
        case date() | time():
            yield from _moved(value)
        case Mapping() | Set() | list() | tuple():
            yield from _collections(value)
        case _:
            pass


def _other_literals(value: Any, tp: Any) -> list[Any]:
    return [one for one in _literals(tp) if one != value][:_OTHERS]


def _literals(tp: Any) -> list[Any]:
    """The values of a Literal, also one inside a union, an Annotated or an alias."""
    return [
        one for kind in alternatives(tp) if get_origin(kind) is Literal for one in get_args(kind)
    ]


def _instead_of_nothing(tp: Any) -> Iterator[Any]:
    examples: Mapping[Any, Any] = {str: _NOBODY_SAYS, int: 8305, float: 8305.0, bool: True}
    for kind in members(tp):
        if kind in examples:
            yield examples[kind]


def _texts(value: str, tp: Any) -> Iterator[str]:
    if _literals(tp):
        return
    if value:
        yield ""
    if len(value) > 1:
        yield value[: len(value) // 2]
    yield _NOBODY_SAYS


def _numbers(value: Any) -> Iterator[Any]:
    one = type(value)(1)
    yield value + one
    if value:
        yield -value
        yield value * type(value)(1000)
        yield type(value)(0)
    if isinstance(value, float):
        yield float("nan")
        yield float("inf")


def _moved(value: Any) -> Iterator[Any]:
    if isinstance(value, date):
        try:
            yield value + timedelta(days=1)
        except OverflowError:  # the last day that there is
            yield value - timedelta(days=1)
    else:
        yield value.replace(hour=(value.hour + 1) % 24)


def _collections(value: Any) -> Iterator[Any]:
    if is_named_tuple(cast("type[Any]", type(value))):
        return
    if isinstance(value, Mapping):
        held = cast("Mapping[Any, Any]", value)
        for gone in list(held)[:_OTHERS]:
            yield {key: part for key, part in held.items() if key != gone}
        return
    if isinstance(value, Set):
        items = sorted(cast("Set[Any]", value), key=repr)
        made = cast("Any", type(cast("Any", value)))
        yield from (made(), made(items[1:])) if items else ()
        return
    yield from _sequences(cast("Sequence[Any]", value))


def _sequences(value: Sequence[Any]) -> Iterator[Any]:
    made = cast("Any", type(value))
    if value:
        yield made()
        yield made(value[1:])
        yield made([*value, value[0]])
    if len(value) > 1 and value[0] != value[-1]:
        yield made(reversed(value))


def outside(value: Any, among: Any) -> Iterator[Any]:
    """A value like this one that is none of `among`."""
    match value:
        case Enum() | bool():
            return
        case str():
            made = f"not-{value}"
            while made in among:
                made += "-either"
            yield made
        case int() | float() | Decimal():
            numbers = [one for one in among if isinstance(one, int | float | Decimal)]
            kind: Any = type(value)
            yield kind(max([value, *numbers])) + kind(1)
        case _:
            pass


def shifted(bound: Any, by: int) -> Iterator[Any]:
    """A value just beyond a bound, on the side that `by` says."""
    match bound:
        case bool() | str():
            return
        case int() | Decimal():
            yield bound + by
        case float():
            yield bound + float(by)
        case date():
            yield bound + timedelta(days=by)
        case _:
            pass


def tokens(value: Any, source: str) -> Iterator[Any]:
    """Other values that stand in a text as this one may: right by its words, and yet wrong."""
    words = [word.strip(".,;:!?()\"'") for word in source.split()]
    if isinstance(value, str):
        found = [word for word in words if len(word) > 2 and word not in value]
        # What looks like the value is the mistake that a model makes.
        yield from sorted(dict.fromkeys(found), key=lambda word: _unlike(word, value))[:_OTHERS]
    elif isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        numbers = [word for word in words if word.isdigit() and type(value)(word) != value]
        yield from [type(value)(word) for word in dict.fromkeys(numbers)][:_OTHERS]


def _unlike(word: str, value: str) -> int:
    return abs(len(word) - len(value)) + 10 * (_has_digit(word) != _has_digit(value))


def _has_digit(text: str) -> bool:
    return any(character.isdigit() for character in text)
