"""What each kind of constraint leaves of the domains of its variables.

Every filter is exact: it keeps a value exactly when the constraint has a solution with it
within the domains (generalised arc consistency).
"""

import operator
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import prod
from typing import Any, TypeAlias

from hornbook.program.library.all_different import filter_all_different
from hornbook.program.library.problem import AllDifferent, Compare, Relation, Sum, Table, Value

__all__ = ["RELATIONS", "Domains", "condition_of", "filtered"]

Domains: TypeAlias = Mapping[str, tuple[Value, ...]]
Filtered: TypeAlias = dict[str, tuple[Value, ...]]

RELATIONS: Mapping[Relation, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def filtered(constraint: Any, domains: Domains) -> Filtered:
    """The domains of the constraint's variables, with what it cannot have taken out."""
    match constraint:
        case AllDifferent():
            return filter_all_different(constraint.over, domains)
        case Sum():
            return _filter_sum(constraint, domains)
        case Compare():
            return _filter_compare(constraint, domains)
        case Table(allowed=True):
            return _filter_allowed(constraint, domains)
        case _:
            return _filter_forbidden(constraint, domains)


def condition_of(constraint: Any) -> Callable[[Mapping[str, Value]], bool]:
    """Tells of an assignment of all variables whether it satisfies the constraint."""
    match constraint:
        case AllDifferent():
            return lambda given: (
                len({given[one] for one in constraint.over}) == len(constraint.over)
            )
        case Sum():
            return partial(_sums_up, constraint)
        case Compare():
            fits = RELATIONS[constraint.relation]
            return lambda given: fits(
                given[constraint.left], _plus(given[constraint.right], constraint.offset)
            )
        case _:
            rows = frozenset(constraint.rows)
            return lambda given: (
                (tuple(given[one] for one in constraint.over) in rows) is constraint.allowed
            )


def _sums_up(constraint: Sum, given: Mapping[str, Value]) -> bool:
    pairs = zip(_weights(constraint), constraint.over, strict=True)
    total = sum(weight * int(given[variable]) for weight, variable in pairs)
    return RELATIONS[constraint.relation](total, constraint.total)


def _plus(value: Any, offset: float) -> Any:
    return value + offset if offset else value


def _weights(constraint: Sum) -> Sequence[int]:
    return constraint.weights or (1,) * len(constraint.over)


def _filter_compare(constraint: Compare, domains: Domains) -> Filtered:
    left, right = domains[constraint.left], domains[constraint.right]
    if not left or not right:
        return {constraint.left: (), constraint.right: ()}
    offset = constraint.offset
    moved = [_plus(value, offset) for value in right]
    fits = RELATIONS[constraint.relation]
    extreme: Sequence[Any]
    match constraint.relation:
        case "==":
            kept_left = _within(left, set(moved))
            kept_right = _zipped(right, moved, set(left).__contains__)
            return {constraint.left: kept_left, constraint.right: kept_right}
        case "!=":
            kept_left = left if len(moved) > 1 else tuple(v for v in left if v != moved[0])
            only = left[0] if len(left) == 1 else None
            kept_right = right if len(left) > 1 else _zipped(right, moved, lambda v: v != only)
            return {constraint.left: kept_left, constraint.right: kept_right}
        case "<" | "<=":
            extreme = [min(left), max(moved)]  # type: ignore[type-var]
        case _:
            extreme = [max(left), min(moved)]  # type: ignore[type-var]
    return {
        constraint.left: tuple(value for value in left if fits(value, extreme[1])),
        constraint.right: _zipped(right, moved, lambda value: fits(extreme[0], value)),
    }


def _within(values: tuple[Value, ...], allowed: set[Any]) -> tuple[Value, ...]:
    return tuple(value for value in values if value in allowed)


def _zipped(
    values: tuple[Value, ...], moved: Sequence[Any], keep: Callable[[Any], bool]
) -> tuple[Value, ...]:
    return tuple(value for value, other in zip(values, moved, strict=True) if keep(other))


def _filter_sum(constraint: Sum, domains: Domains) -> Filtered:
    """By sets of sums as bits of one number: those that can be reached, and those needed."""
    parts = [
        [weight * int(value) for value in domains[variable]]
        for weight, variable in zip(_weights(constraint), constraint.over, strict=True)
    ]
    if not all(parts):
        return dict.fromkeys(constraint.over, ())
    lows = [min(part) for part in parts]
    shifts = [[value - low for value in part] for part, low in zip(parts, lows, strict=True)]
    needed = _needed(constraint, shifts, total=constraint.total - sum(lows))
    reached = 1
    kept: Filtered = {}
    for at, variable in enumerate(constraint.over):
        values = zip(domains[variable], shifts[at], strict=True)
        kept[variable] = tuple(v for v, shift in values if (reached << shift) & needed[at + 1])
        reached = _any(reached << shift for shift in set(shifts[at]))
    return kept


def _needed(constraint: Sum, shifts: Sequence[Sequence[int]], *, total: int) -> list[int]:
    """For each position, the sums from which the rest of the variables can still do it."""
    greatest = sum(max(part) for part in shifts)
    needed = [_wanted(constraint.relation, total, greatest)]
    for part in reversed(shifts):
        needed.append(_any(needed[-1] >> shift for shift in set(part)))
    return needed[::-1]


def _wanted(relation: Relation, total: int, greatest: int) -> int:
    """The sums from 0 to `greatest` that stand in the relation to `total`, as bits."""
    everything = (1 << (greatest + 1)) - 1
    below = (1 << min(max(total, 0), greatest + 1)) - 1
    exactly = 1 << total if 0 <= total <= greatest else 0
    match relation:
        case "==":
            return exactly
        case "!=":
            return everything & ~exactly
        case "<":
            return below
        case "<=":
            return below | exactly
        case ">":
            return everything & ~(below | exactly)
        case ">=":
            return everything & ~below


def _any(sets: Any) -> int:
    joined = 0
    for one in sets:
        joined |= one
    return joined


def _filter_allowed(constraint: Table, domains: Domains) -> Filtered:
    over = constraint.over
    live = _live(constraint, domains)
    supported = [{row[at] for row in live} for at in range(len(over))]
    return {one: _within(domains[one], supported[at]) for at, one in enumerate(over)}


def _filter_forbidden(constraint: Table, domains: Domains) -> Filtered:
    """A value is out when every combination with it is forbidden: they are counted."""
    over = constraint.over
    live = set(_live(constraint, domains))
    kept: Filtered = {}
    for at, variable in enumerate(over):
        others = prod(len(domains[one]) for one in over if one != variable)
        count = Counter(row[at] for row in live)
        kept[variable] = tuple(value for value in domains[variable] if count[value] < others)
    return kept


def _live(constraint: Table, domains: Domains) -> list[tuple[Value, ...]]:
    allowed = [set(domains[variable]) for variable in constraint.over]
    return [
        row
        for row in constraint.rows
        if all(value in values for value, values in zip(row, allowed, strict=True))
    ]
