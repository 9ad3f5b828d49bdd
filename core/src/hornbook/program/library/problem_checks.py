"""Whether a constraint problem is well formed; all that is wrong is told at once."""

from collections.abc import Iterator, Mapping
from typing import Any

from hornbook.contracts.shown import shown
from hornbook.program.library.errors import ProblemError
from hornbook.program.library.problem import (
    Compare,
    Problem,
    Sum,
    Table,
    Value,
    name_of,
    variables_of,
)

__all__ = ["checked_problem"]

_MAX_VARIABLES = 2_000
_MAX_VALUES = 100_000
"""Over all domains."""
_MAX_CELLS = 1_000_000
"""Over the rows of all tables."""
_MAX_SPAN = 2_000_000
"""How far apart the least and the greatest sum may be; one bit stands for each."""

_Domains = Mapping[str, tuple[Value, ...]]


def checked_problem(problem: Problem) -> Problem:
    """The problem itself.

    Raises:
        ProblemError: it is not well formed or too large; names every fault with its place.
    """
    faults = [*_domain_faults(problem.domains), *_size_faults(problem)]
    names: set[str] = set()
    for constraint in problem.constraints:
        name = name_of(constraint)
        faults += [f"constraint {name!r}: {fault}" for fault in _faults(constraint, problem)]
        if name in names:
            faults.append(f"two constraints are called {name!r}: give one of them another name")
        names.add(name)
    if faults:
        raise ProblemError("; ".join(faults[:8]))
    return problem


def _domain_faults(domains: _Domains) -> Iterator[str]:
    for variable, values in domains.items():
        seen: set[Value] = set()
        for value in values:
            if value != value:
                yield f"variable {variable!r}: NaN equals nothing and is no value"
            elif value in seen:
                yield f"variable {variable!r}: the value {shown(value)} stands there twice"
            seen.add(value)


def _size_faults(problem: Problem) -> Iterator[str]:
    if len(problem.domains) > _MAX_VARIABLES:
        yield f"{len(problem.domains)} variables are more than {_MAX_VARIABLES}"
    values = sum(map(len, problem.domains.values()))
    if values > _MAX_VALUES:
        yield f"the domains have {values} values together, more than {_MAX_VALUES}"
    tables = [one for one in problem.constraints if isinstance(one, Table)]
    cells = sum(len(table.rows) * len(table.over) for table in tables)
    if cells > _MAX_CELLS:
        yield f"the tables have {cells} cells together, more than {_MAX_CELLS}"


def _faults(constraint: Any, problem: Problem) -> Iterator[str]:
    over = variables_of(constraint)
    if not over:
        yield "it has no variable"
    unknown = [one for one in dict.fromkeys(over) if one not in problem.domains]
    for variable in unknown:
        yield f"there is no variable {variable!r}"
    for variable in dict.fromkeys(one for one in over if over.count(one) > 1):
        yield f"the variable {variable!r} stands there twice"
    if unknown:
        return
    match constraint:
        case Sum():
            yield from _sum_faults(constraint, problem.domains)
        case Compare():
            yield from _compare_faults(constraint, problem.domains)
        case Table():
            yield from _table_faults(constraint)
        case _:
            return


def _sum_faults(constraint: Sum, domains: _Domains) -> Iterator[str]:
    weights = constraint.weights
    if weights is not None and len(weights) != len(constraint.over):
        yield f"{len(weights)} weights for {len(constraint.over)} variables"
        return
    span = 0
    for at, variable in enumerate(constraint.over):
        values = domains[variable]
        odd = [value for value in values if type(value) is not int]
        if odd:
            yield f"{variable!r} has {shown(odd[0])}, and a sum is over whole numbers"
            return
        weight = 1 if weights is None else weights[at]
        numbers = [weight * int(value) for value in values]
        span += max(numbers, default=0) - min(numbers, default=0)
    if span > _MAX_SPAN:
        yield f"its sums lie up to {span} apart, more than {_MAX_SPAN}"


def _compare_faults(constraint: Compare, domains: _Domains) -> Iterator[str]:
    values = (*domains[constraint.left], *domains[constraint.right])
    texts = [value for value in values if isinstance(value, str)]
    if texts and constraint.offset:
        yield f"an offset is for numbers, and there is {shown(texts[0])}"
    ordered = constraint.relation not in ("==", "!=")
    if ordered and texts and len(texts) < len(values):
        yield "texts and numbers have no order between them"


def _table_faults(constraint: Table) -> Iterator[str]:
    for at, row in enumerate(constraint.rows):
        if len(row) != len(constraint.over):
            yield f"row {at} has {len(row)} values for {len(constraint.over)} variables"
            return
