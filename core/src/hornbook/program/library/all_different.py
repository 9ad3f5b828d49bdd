"""Generalised arc consistency of `all_different`, by matching (Regin 1994).

A value of a variable stays exactly when some matching of all variables to distinct values
uses it: those are the edges of one maximum matching, of its alternating cycles, and of its
alternating paths from a free value.
"""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from hornbook.program.library.problem import Value

__all__ = ["filter_all_different"]

_Domains: TypeAlias = Mapping[str, Sequence[Value]]


def filter_all_different(over: Sequence[str], domains: _Domains) -> dict[str, tuple[Value, ...]]:
    """The domains of the variables, with what no matching uses taken out."""
    matched = _matching(over, domains)
    if matched is None:
        return dict.fromkeys(over, ())
    after = _value_graph(over, domains, matched)
    component = _components(after)
    free = _reachable([value for value in after if value not in set(matched.values())], after)

    def stays(variable: str, value: Value) -> bool:
        own = matched[variable]
        return value == own or value in free or component[value] == component[own]

    return {
        variable: tuple(value for value in domains[variable] if stays(variable, value))
        for variable in over
    }


def _matching(over: Sequence[str], domains: _Domains) -> dict[str, Value] | None:
    """A distinct value for each variable, or None when there are not enough."""
    of_variable: dict[str, Value] = {}
    of_value: dict[Value, str] = {}
    # Those with little choice first: most then need no augmenting path.
    for variable in sorted(over, key=lambda one: len(domains[one])):
        if not _augment(variable, domains, of_variable, of_value):
            return None
    return of_variable


def _augment(
    start: str, domains: _Domains, of_variable: dict[str, Value], of_value: dict[Value, str]
) -> bool:
    """Match `start`, moving others to other values along a shortest path."""
    came_by: dict[Value, str] = {}
    waiting = [start]
    for variable in waiting:
        for value in domains[variable]:
            if value in came_by:
                continue
            came_by[value] = variable
            if value in of_value:
                waiting.append(of_value[value])
                continue
            _shift(value, came_by, of_variable, of_value)
            return True
    return False


def _shift(
    value: Value,
    came_by: Mapping[Value, str],
    of_variable: dict[str, Value],
    of_value: dict[Value, str],
) -> None:
    while True:
        variable = came_by[value]
        before = of_variable.get(variable)
        of_variable[variable], of_value[value] = value, variable
        if before is None:
            return
        value = before


def _value_graph(
    over: Sequence[str], domains: _Domains, matched: Mapping[str, Value]
) -> dict[Value, list[Value]]:
    """From each value to those whose variable could take it instead."""
    after: dict[Value, list[Value]] = {}
    for variable in over:
        own = matched[variable]
        after.setdefault(own, [])
        for value in domains[variable]:
            if value != own:
                after.setdefault(value, []).append(own)
    return after


def _reachable(starts: Sequence[Value], after: Mapping[Value, list[Value]]) -> set[Value]:
    found, waiting = set(starts), list(starts)
    while waiting:
        for value in after[waiting.pop()]:
            if value not in found:
                found.add(value)
                waiting.append(value)
    return found


def _components(after: Mapping[Value, list[Value]]) -> dict[Value, int]:
    """The strongly connected component of each value (Tarjan, without recursion)."""
    index: dict[Value, int] = {}
    low: dict[Value, int] = {}
    component: dict[Value, int] = {}
    stack: list[Value] = []
    for root in after:
        if root in index:
            continue
        work = [(root, iter(after[root]))]
        index[root] = low[root] = len(index)
        stack.append(root)
        while work:
            value, nexts = work[-1]
            for other in nexts:
                if other not in index:
                    index[other] = low[other] = len(index)
                    stack.append(other)
                    work.append((other, iter(after[other])))
                    break
                if other not in component:
                    low[value] = min(low[value], index[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[value])
                if low[value] == index[value]:
                    _close(value, stack, component, index[value])
    return component


def _close(root: Value, stack: list[Value], component: dict[Value, int], number: int) -> None:
    while True:
        value = stack.pop()
        component[value] = number
        if value == root:
            return
