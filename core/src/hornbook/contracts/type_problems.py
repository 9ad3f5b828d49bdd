"""What a pydantic error says, in our terms: a path, what was expected, what was found."""

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from itertools import islice
from typing import Any, cast

from pydantic_core import ErrorDetails, ValidationError

from hornbook.contracts.paths import ABSENT, Absent, joined, part_of

__all__ = ["TypeProblem", "problems_in"]

_PREFIXES = ("Input should be ", "Value error, ", "Assertion failed, ")
_OWN_WORDS = {"missing": "a value", "extra_forbidden": "no such field"}
_KEY = "[key]"


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeProblem:
    """One place where a value is not of its type."""

    path: str
    expected: str
    observed: Any
    """The value there; an `Absent` where there is none."""
    kind: str
    """pydantic's name for the problem: `int_type`, `missing`, `greater_than`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Placed:
    problem: TypeProblem
    unions: frozenset[str]
    """The paths at which an alternative of a union was tried on the way."""

    def gave_up_at_once(self, deeper: Set[str]) -> bool:
        """Whether its alternative fits nothing, where another one of the union fits in part."""
        return self.problem.path in self.unions and self.problem.path in deeper


def problems_in(error: ValidationError, value: Any) -> tuple[TypeProblem, ...]:
    """The problems that `error` tells of `value`, in its order.

    Alternatives of a union that fail at the same place make one problem, and those that fit
    nothing are left out where another one fits in part.
    """
    placed = [_placed(value, details) for details in error.errors(include_url=False)]
    deeper = {path for found in placed for path in found.unions if path != found.problem.path}
    problems: dict[object, TypeProblem] = {}
    for at, found in enumerate(placed):
        if not found.gave_up_at_once(deeper):
            key = found.problem.path if found.unions else at
            problems[key] = _either(problems.get(key), found.problem)
    return tuple(problems.values())


def _either(known: TypeProblem | None, problem: TypeProblem) -> TypeProblem:
    if known is None or problem.expected in known.expected.split(" or "):
        return known or problem
    return TypeProblem(
        path=known.path,
        expected=f"{known.expected} or {problem.expected}",
        observed=known.observed,
        kind=known.kind,
    )


def _placed(value: Any, details: ErrorDetails) -> _Placed:
    kind, location = details["type"], details["loc"]
    parts: list[int | str] = []
    unions: set[str] = set()
    for at, item in enumerate(location):
        found, part = _part(value, item)
        if found is not ABSENT:
            value = found
            parts.append(part)
        elif kind == "missing" and at == len(location) - 1:
            parts.append(item)
        elif item != _KEY:
            # The name of an alternative: pydantic puts it between the parts.
            unions.add(joined(*parts))
    path = joined(*parts)
    observed = Absent(path) if kind == "missing" else details["input"]
    expected = _expected(details, of_key=_KEY in location[-1:])
    problem = TypeProblem(path=path, expected=expected, observed=observed, kind=kind)
    return _Placed(problem=problem, unions=frozenset(unions))


def _part(value: Any, item: int | str) -> tuple[Any, Any]:
    """The part of a value that pydantic calls `item`, and what a path calls it."""
    found = part_of(value, item)
    if found is not ABSENT:
        return found, item
    if isinstance(value, Set) and isinstance(item, int):
        members = cast("Iterable[Any]", value)
        return next(islice(members, item, None), ABSENT), item
    if isinstance(value, Mapping):
        # pydantic writes out a key that is neither text nor a number.
        entries = cast("Mapping[Any, Any]", value).items()
        named = ((entry, key) for key, entry in entries if item in (str(key), repr(key)))
        return next(named, (ABSENT, item))
    return ABSENT, item


def _expected(details: ErrorDetails, *, of_key: bool) -> str:
    text = _OWN_WORDS.get(details["type"], details["msg"])
    for prefix in _PREFIXES:
        text = text.removeprefix(prefix)
    return f"a key that is {text}" if of_key else text
