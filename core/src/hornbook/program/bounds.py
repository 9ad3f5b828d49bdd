"""How many calls a program can make at most, told without running it (DESIGN section 5)."""

import math
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias, cast

from hornbook.contracts.clause import Clause
from hornbook.contracts.contract import Contract
from hornbook.contracts.judge import Judge
from hornbook.program.elaborate import Typed, refuse_open
from hornbook.program.node import Program
from hornbook.program.operators import Conditional, Holds, Iterate
from hornbook.program.primitives import Primitive
from hornbook.program.types_forms import labels_of

__all__ = ["Calls", "Count", "calls_of"]

Count: TypeAlias = int | float
"""A whole number, or infinity where a host does not bound its own calls."""


class Calls(Mapping[str, Count]):
    """The most calls of each model and judge, by identity; `math.inf` is unbounded by host.

    What plugins add by deciding about a step is not in it.
    """

    __slots__ = ("_by_model", "_total", "attempts")

    def __init__(
        self,
        by_model: Mapping[str, Count] | None = None,
        attempts: int = 0,
        total: Count | None = None,
    ) -> None:
        self._by_model = {name: most for name, most in (by_model or {}).items() if most}
        self._total: Count = sum(self._by_model.values()) if total is None else total
        self.attempts = attempts
        """Attempts of symbolic steps after their first, which a Budget counts as calls too."""

    @property
    def total(self) -> Count:
        """The most calls in all; less than the sum where branches ask different models."""
        return self._total

    @property
    def budget(self) -> Count:
        """What `Budget(calls=...)` has to allow so that no run is ever refused a call."""
        return self._total + self.attempts

    def __getitem__(self, identity: str) -> Count:
        return self._by_model[identity]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_model)

    def __len__(self) -> int:
        return len(self._by_model)

    def __str__(self) -> str:
        """On one line, as `judge: 2, model: 6; 8 in all`."""
        if not self._by_model:
            return "no calls"
        each = ", ".join(f"{name}: {_shown(self[name])}" for name in sorted(self))
        return f"{each}; {_shown(self._total)} in all"

    def __repr__(self) -> str:
        return f"<Calls {self}>"

    def plus(self, other: "Calls") -> "Calls":
        """Both, one after the other or beside each other."""
        names = {**self._by_model, **other._by_model}
        both = {name: self.get(name, 0) + other.get(name, 0) for name in names}
        return Calls(both, self.attempts + other.attempts, self._total + other._total)

    def times(self, rounds: int) -> "Calls":
        """The same, so often."""
        each = {name: most * rounds for name, most in self._by_model.items()}
        return Calls(each, self.attempts * rounds, self._total * rounds)

    def either(self, other: "Calls") -> "Calls":
        """One or the other: the most of each, by model and in all."""
        names = {**self._by_model, **other._by_model}
        most = {name: max(self.get(name, 0), other.get(name, 0)) for name in names}
        return Calls(most, max(self.attempts, other.attempts), max(self._total, other._total))


def calls_of(program: Program) -> Calls:
    """The bound of a whole program.

    Raises:
        ProgramError: it is a part that refers to what is not there.
    """
    refuse_open(program)
    return _calls(program._typed)  # pyright: ignore[reportPrivateUsage]


def _calls(typed: Typed) -> Calls:
    node = typed.node
    match node:
        case Primitive():
            return _of_primitive(cast("Primitive[..., Any]", node), typed)
        case Conditional():
            return _calls(typed.part(".test")).plus(_of_branches(node, typed))
        case Iterate():
            return _sum(typed).times(node.at_most)
        case Holds():
            return _of_check(node.contract, node.contract.ensures)
        case _:
            return _sum(typed)


def _sum(typed: Typed) -> Calls:
    total = Calls()
    for _, part in typed.parts:
        total = total.plus(_calls(part))
    return total


def _of_branches(node: Conditional, typed: Typed) -> Calls:
    most = Calls()
    never = unreachable(node, typed)
    for suffix, part in typed.parts:
        if suffix != ".test" and suffix not in never:
            most = most.either(_calls(part))
    return most


def unreachable(node: Conditional, typed: Typed) -> frozenset[str]:
    """What of a Conditional's branches its test cannot reach, where it stands."""
    labels = labels_of(typed.part(".test").output) or ()
    taken = {id(node.branch(label)) for label in labels}
    return frozenset(
        suffix for suffix, part in typed.parts if suffix != ".test" and id(part.node) not in taken
    )


def _of_primitive(node: Primitive[..., Any], typed: Typed) -> Calls:
    recover = node.recover
    attempts = 1 + recover.retry + len(recover.fallback)
    calls = _of_check(node.contract, node.contract.ensures).times(attempts)
    calls = calls.plus(_of_check(node.contract, node.contract.requires))
    model = node.model
    if model is not None:
        each: Count = math.inf if model.max_attempts is None else model.max_attempts
        calls = calls.plus(Calls({model.identity: (1 + recover.retry) * each}))
    else:
        calls = calls.plus(Calls(attempts=attempts - 1))
    return calls.plus(_sum(typed))


def _of_check(contract: Contract[Any], clauses: tuple[Clause, ...]) -> Calls:
    """Each judge gets one batch a round; clauses composed of others may take several rounds."""
    rounds = max((_rounds(clause) for clause in clauses), default=0)
    total = Calls()
    for judge in {id(one): one for clause in clauses for one in _judges(clause)}.values():
        most: Count | None = getattr(judge, "max_calls", 1)
        total = total.plus(Calls({_identity(judge): math.inf if most is None else rounds * most}))
    return total


def _rounds(clause: Clause) -> int:
    if clause.judge is not None:
        return 1
    inside = [_rounds(part) for part in clause.parts]
    return sum(inside) if clause.kind == "implies" else max(inside, default=0)


def _judges(clause: Clause) -> Iterator[Judge]:
    if clause.judge is not None:
        yield clause.judge
    for part in clause.parts:
        yield from _judges(part)


def _identity(judge: Judge) -> str:
    kind = type(judge)
    return str(getattr(judge, "identity", None) or f"{kind.__module__}:{kind.__qualname__}")


def _shown(count: Count) -> str:
    return "unbounded by host" if count == math.inf else f"{count:g}"
