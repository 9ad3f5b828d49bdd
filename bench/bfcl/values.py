"""Wrong values that look right: from the same conversation, or made up in its manner."""

import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .material import Call, Task
from .world import Event

__all__ = ["Leaf", "choices", "invented", "leaves", "put", "said_so_far", "taken"]

_QUOTED = re.compile(r"(?<!\w)'([^'\n]{2,60})'(?!\w)|\"([^\"\n]{2,60})\"")
_WORD = re.compile(r"[\w@#$.:/-]*\w")
_PROPER = re.compile(r"(?<=[a-z,] )[A-Z][\w-]+(?: [A-Z][\w-]+)*")
_CHOICES = re.compile(r"(?:\[Enum\]|[Oo]ptions(?: are)?): *\[?([^\]]+)\]?")
_CHOICE = re.compile(r"[\w-][\w -]*")
_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.]*\w)")
_BEST = 4
"""From so many of the likeliest wrong values one is drawn."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """A text, number or truth value within arguments."""

    path: tuple[str | int, ...]
    value: Any


def leaves(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[Leaf]:
    """Yield what a value is made of."""
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield from leaves(item, (*path, name))
    elif isinstance(value, list | tuple):
        for at, item in enumerate(value):
            yield from leaves(item, (*path, at))
    elif value is not None:
        yield Leaf(path, value)


def put(call: Call, leaf: Leaf, value: Any) -> Call:
    """Return a call with another value at the place of a leaf."""
    return replace(call, arguments=_put(call.arguments, leaf.path, value))


def _put(whole: Any, path: tuple[str | int, ...], value: Any) -> Any:
    if not path:
        return value
    first, rest = path[0], path[1:]
    if isinstance(whole, Mapping):
        return {key: _put(at, rest, value) if key == first else at for key, at in whole.items()}
    return [_put(item, rest, value) if at == first else item for at, item in enumerate(whole)]


def said_so_far(task: Task, turn: int, events: Sequence[Sequence[Event]]) -> list[Any]:
    """Return the values that stand in the conversation up to a turn, each once."""
    found: dict[Any, Any] = {}
    for text in task.turns[: turn + 1]:
        for value in _in_text(text):
            found.setdefault((type(value), value), value)
    for event in (event for done in events[: turn + 1] for event in done):
        for leaf in leaves(_read(event.text)):
            found.setdefault((type(leaf.value), leaf.value), leaf.value)
    return list(found.values())


def _in_text(text: str) -> Iterator[Any]:
    for first, second in _QUOTED.findall(text):
        yield first or second
    yield from _PROPER.findall(text)
    for word in _WORD.findall(text):
        if any(character.isdigit() or character in "._@#" for character in word[1:]):
            yield word
    for number in _NUMBER.findall(text):
        yield float(number) if "." in number else int(number)


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def taken(leaf: Leaf, calls: Sequence[Call], said: Sequence[Any], rng: random.Random) -> Any:
    """Return a wrong value from the conversation: of the same kind, as like as can be; or None."""
    name = leaf.path[0] if len(leaf.path) == 1 else None
    named = [call.arguments[str(name)] for call in calls if name in call.arguments]
    same = [value for value in named if _is_wrong(value, leaf.value)]
    likely = sorted(
        (value for value in said if _is_wrong(value, leaf.value)),
        key=lambda value: _unlike(value, leaf.value),
    )
    pool = list({repr(value): value for value in [*same[:2], *likely]}.values())[:_BEST]
    return rng.choice(pool) if pool else None


def _is_wrong(value: Any, right: Any) -> bool:
    if isinstance(value, bool) or isinstance(right, bool):
        return False
    if isinstance(right, str):
        return isinstance(value, str) and value.casefold() != right.casefold()
    return isinstance(value, int | float) and value != right and type(value) is type(right)


def _unlike(value: Any, right: Any) -> float:
    if not isinstance(right, str):
        return abs(float(value) - float(right)) / (abs(float(right)) + 1)
    marks = [any(test(c) for c in value) != any(test(c) for c in right) for test in _TESTS]
    return sum(marks) * 3 + abs(len(value) - len(right)) / (len(right) + 1)


_TESTS = (str.isdigit, str.isspace, str.isupper, str.islower, "._".__contains__, "@#".__contains__)


def invented(value: Any, rng: random.Random) -> Any:
    """Return a value nobody gave: a slip of one digit, a changed name."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return rng.choice([value * 10, value + 1, abs(value - 1), value + 100])
    if isinstance(value, float):
        return rng.choice([value * 10, value + 1.0, round(value / 2, 2) + 0.5])
    digits = [at for at, character in enumerate(value) if character.isdigit()]
    if digits:
        at = rng.choice(digits)
        return f"{value[:at]}{(int(value[at]) + rng.randint(1, 9)) % 10}{value[at + 1 :]}"
    stem, dot, ending = value.rpartition(".")
    if dot and ending.isalpha() and " " not in value:
        return f"{stem}{rng.choice(['_final', '_v2', '_new', '_copy'])}.{ending}"
    if " " in value:
        words = value.split()
        at = rng.randrange(len(words))
        return " ".join([*words[:at], *words[at + 1 :]])
    if len(value) < 3:
        return f"{value}1"
    at = rng.randrange(1, len(value) - 1)
    return f"{value[:at]}{value[at + 1]}{value[at]}{value[at + 2 :]}"


def choices(description: str, value: Any) -> list[str]:
    """Return the other values that a parameter's description lists, if it lists any."""
    listed = _CHOICES.search(description)
    found = _CHOICE.findall(listed[1]) if listed else []
    stripped = [word.strip() for word in found]
    return [word for word in stripped if word and word != value] if value in stripped else []
