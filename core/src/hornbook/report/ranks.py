"""The children of a parallel in ranks: each below all that it needs.

An arrow that passes a rank without stopping gets a slot in it, so that it runs between the
boxes and never behind one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from hornbook.report.data import GraphNode

__all__ = ["Item", "Plan", "Way", "plan"]

_Edge = tuple[int | None, int | None]


@dataclass(frozen=True, slots=True)
class Item:
    """What stands in a rank: a child, by its number, or (`child` is None) an arrow passing."""

    rank: int
    child: int | None
    edge: int = -1
    """The passing arrow's number."""


@dataclass(frozen=True, slots=True)
class Way:
    """An arrow as the items that it touches, from top to bottom."""

    items: tuple[Item, ...]
    from_top: bool
    """It comes from the parallel's input, above all ranks, and not from its first item."""
    to_bottom: bool
    """It goes to the parallel's output, below all ranks, and does not end at its last item."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The ranks from top to bottom, each from left to right, and the arrows."""

    ranks: tuple[tuple[Item, ...], ...]
    ways: tuple[Way, ...]


def plan(children: Sequence[GraphNode]) -> Plan:
    """Put the children in ranks.

    A need that no sibling has the name of is left out, and so is an arrow of a cycle: a drawing
    is made of whatever is given.
    """
    needs = _needs(children)
    ranks = _ranks(needs)
    ways = tuple(_way(number, edge, ranks) for number, edge in enumerate(_edges(needs, ranks)))
    return Plan(_ordered(_rows(ways, ranks), ways), ways)


def _needs(children: Sequence[GraphNode]) -> list[list[int]]:
    ports = {child.port: number for number, child in enumerate(children) if child.port}
    return [
        [ports[need] for need in dict.fromkeys(child.needs) if need in ports] for child in children
    ]


def _ranks(needs: Sequence[Sequence[int]]) -> list[int]:
    """The longest way to each from one that needs nothing; in a cycle, any number."""
    ranks = [0] * len(needs)
    for _ in needs:
        longer = [max((ranks[need] + 1 for need in each), default=0) for each in needs]
        if longer == ranks:
            break
        ranks = longer
    kept = {rank: position for position, rank in enumerate(sorted(set(ranks)))}
    return [kept[rank] for rank in ranks]


def _edges(needs: Sequence[Sequence[int]], ranks: Sequence[int]) -> Iterator[_Edge]:
    """Pairs of where an arrow comes from and goes to; None is the top, or the bottom."""
    needed = set[int]()
    for child, each in enumerate(needs):
        above = [need for need in each if ranks[need] < ranks[child]]
        needed.update(above)
        yield from ((need, child) for need in above)
        if not above:
            yield None, child
    yield from ((child, None) for child in range(len(needs)) if child not in needed)


def _way(number: int, edge: _Edge, ranks: Sequence[int]) -> Way:
    start, end = edge
    first = -1 if start is None else ranks[start]
    last = max(ranks) + 1 if end is None else ranks[end]
    passing = [Item(rank, None, number) for rank in range(first + 1, last)]
    before = [] if start is None else [Item(first, start)]
    after = [] if end is None else [Item(last, end)]
    return Way((*before, *passing, *after), start is None, end is None)


def _rows(ways: Sequence[Way], ranks: Sequence[int]) -> list[list[Item]]:
    rows: list[list[Item]] = [[] for _ in range(max(ranks) + 1)]
    for child, rank in enumerate(ranks):
        rows[rank].append(Item(rank, child))
    for way in ways:
        for item in way.items:
            if item.child is None:
                rows[item.rank].append(item)
    return rows


def _ordered(rows: list[list[Item]], ways: Sequence[Way]) -> tuple[tuple[Item, ...], ...]:
    """Order each rank by where in the ranks above its items come from."""
    above: dict[Item, list[Item]] = {}
    for way in ways:
        for upper, lower in pairwise(way.items):
            above.setdefault(lower, []).append(upper)
    position: dict[Item, float] = {}
    for row in rows:
        means = {item: _mean([position[upper] for upper in above.get(item, ())]) for item in row}
        row.sort(key=lambda item, means=means: means[item])
        position.update((item, at - (len(row) - 1) / 2) for at, item in enumerate(row))
    return tuple(map(tuple, rows))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
