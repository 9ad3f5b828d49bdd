"""What differs between a request and one that was recorded, in words."""

from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any, cast

from hornbook.models.values import Request

__all__ = ["nearest", "what_differs"]

_SHOWN = 60
_BEFORE = 15
"""Characters before the first difference that are shown."""

Recorded = tuple[str, Mapping[str, Any]]


def nearest(step: str, request: Request, recorded: Sequence[Recorded]) -> Recorded:
    """The recorded request that is most alike; of equals, that of the same step, then the first."""
    asked = _as_recorded(request)

    def likeness(one: Recorded) -> tuple[bool, int, int]:
        return one[0] == step, *_likeness(one[1], asked)

    return max(recorded, key=likeness)


def what_differs(inputs: Mapping[str, Any], request: Request) -> str:
    """The first difference: in the messages, then schema, sampling and stop."""
    asked = _as_recorded(request)
    then, now = _messages(inputs), _messages(asked)
    for at, (before, after) in enumerate(zip(then, now, strict=False)):
        if before.get("role") != after.get("role"):
            return f"messages[{at}] is of {before.get('role')!r}, not {after.get('role')!r}"
        if before.get("content") != after.get("content"):
            return f"messages[{at}] is {_apart(before.get('content'), after.get('content'))}"
    if len(then) != len(now):
        return f"there are {len(then)} messages, not {len(now)}"
    for name in ("schema", "sampling", "stop"):
        if inputs.get(name) != asked.get(name):
            return f"{name} is {_short(inputs.get(name))}, not {_short(asked.get(name))}"
    return "the difference lies in what the record cut or withheld"


def _as_recorded(request: Request) -> Mapping[str, Any]:
    """The request as a record holds it: cut, and without secrets."""
    from hornbook.trace.redact import recordable

    return recordable(request.as_dict())


def _messages(inputs: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    given = inputs.get("messages")
    listed = cast("list[Any]", given) if isinstance(given, list) else []
    return [cast("Mapping[str, Any]", one) for one in listed if isinstance(one, dict)]


def _likeness(inputs: Mapping[str, Any], asked: Mapping[str, Any]) -> tuple[int, int]:
    """Leading messages that are equal, and characters of the next one."""
    pairs = list(zip(_messages(inputs), _messages(asked), strict=False))
    equal = len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))
    if equal == len(pairs):
        return equal, 0
    before, after = pairs[equal]
    return equal, _common(str(before.get("content")), str(after.get("content")))


def _common(before: str, after: str) -> int:
    alike = takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False))
    return sum(1 for _ in alike)


def _apart(before: object, after: object) -> str:
    """Two texts from a little before where they part."""
    then, now = str(before), str(after)
    start = max(0, _common(then, now) - _BEFORE)
    lead = "..." if start else ""
    return f"{_short(lead + then[start:])}, not {_short(lead + now[start:])}"


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN + 2 else f"{text[:_SHOWN]}..."
