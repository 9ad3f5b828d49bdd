"""Constraint problems over finite domains, as plain data (Forethought 3.1).

A problem says which values each variable may have, and which constraints hold among them.
All of it can stand in a scenario file: there are no functions in it; what only a function
can say is tabulated with `Table.where`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Discriminator

from hornbook.program.library.errors import ProblemError

__all__ = [
    "AllDifferent",
    "Compare",
    "Constraint",
    "Problem",
    "Relation",
    "Sum",
    "Table",
    "Value",
]

Value: TypeAlias = int | float | str | bool
"""What a variable may stand for; values are told apart by `==`."""

Relation: TypeAlias = Literal["==", "!=", "<", "<=", ">", ">="]

MAX_ROWS = 100_000
"""Rows that `Table.where` tries at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AllDifferent:
    """No two of the variables have one value."""

    over: tuple[str, ...]
    name: str = ""
    """What results call it; left out, it is called by its kind and variables."""
    kind: Literal["all_different"] = "all_different"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sum:
    """The weighted sum of variables stands in a relation to a total; whole numbers only."""

    over: tuple[str, ...]
    total: int
    relation: Relation = "=="
    weights: tuple[int, ...] | None = None
    """One for each variable; left out, each weighs 1."""
    name: str = ""
    kind: Literal["sum"] = "sum"


@dataclass(frozen=True, slots=True, kw_only=True)
class Compare:
    """`left` stands in a relation to `right` plus `offset`."""

    left: str
    relation: Relation
    right: str
    offset: int | float = 0
    """Added to `right`; for numbers only."""
    name: str = ""
    kind: Literal["compare"] = "compare"


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """The variables together have the values of one row; of none, where not `allowed`."""

    over: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]
    allowed: bool = True
    name: str = ""
    kind: Literal["table"] = "table"

    @staticmethod
    def where(
        test: Callable[..., bool], domains: Mapping[str, tuple[Value, ...]], *, name: str = ""
    ) -> "Table":
        """The table of all combinations for which `test(value, ...)` is True.

        Args:
            test: gets one value for each variable, in the order of `domains`.
            domains: the variables and their values.
            name: what results call the constraint.

        Raises:
            ProblemError: there are more than 100,000 combinations.
        """
        count = prod(map(len, domains.values()))
        if count > MAX_ROWS:
            raise ProblemError(
                f"Table.where over {', '.join(domains)}: {count} combinations are too many to "
                f"tabulate; the limit is {MAX_ROWS}"
            )
        rows = tuple(row for row in product(*domains.values()) if test(*row))
        return Table(over=tuple(domains), rows=rows, name=name)


Constraint: TypeAlias = Annotated[AllDifferent | Sum | Compare | Table, Discriminator("kind")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Variables with their domains, and the constraints among them."""

    domains: Mapping[str, tuple[Value, ...]]
    constraints: tuple[Constraint, ...] = ()


def variables_of(constraint: Any) -> tuple[str, ...]:
    """The variables that a constraint speaks of."""
    if isinstance(constraint, Compare):
        return (constraint.left, constraint.right)
    return constraint.over


def name_of(constraint: Any) -> str:
    """What results call a constraint."""
    if constraint.name:
        return constraint.name
    if isinstance(constraint, Compare):
        offset = f" {constraint.offset:+}" if constraint.offset else ""
        return f"{constraint.left} {constraint.relation} {constraint.right}{offset}"
    if isinstance(constraint, Sum):
        return f"sum({', '.join(constraint.over)}) {constraint.relation} {constraint.total}"
    return f"{constraint.kind}({', '.join(constraint.over)})"
