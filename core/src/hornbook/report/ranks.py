"""The children of a parallel in ranks: each below all that it needs.

An arrow that passes a rank without stopping gets a slot in it, so that it runs between the
boxes and never behind one. All arrows from one child share their slots, and so do all to the
output; a need that others already imply has no arrow. Beyond some size a drawing says less
with more arrows, and then it has fewer of them: it grows as the program does.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from hornbook.report.data import GraphNode

__all__ = ["Item", "Plan", "Way", "plan"]

_Needs = Sequence[Sequence[int]]

_MOST_PASSED = 1000
"""How many slots are drawn before arrows go only from one rank to the next."""
_MOST_ARROWS = 3000
"""How many needs have an arrow before each child has only one."""
_MOST_COMPARED = 4000
"""Of how many children it is looked for what their needs imply."""


@dataclass(frozen=True, slots=True)
class Item:
    """What stands in a rank: a child, by its number, or (`child` is None) arrows passing."""

    rank: int
    child: int | None
    source: int = -1
    """The child that the passing arrows come from; -1 where they go to the output."""


@dataclass(frozen=True, slots=True)
class Way:
    """An arrow as the items that it touches, from top to bottom.

    One that starts in a slot branches off the arrow there; one that ends in a slot joins it.
    """

    items: tuple[Item, ...]
    from_top: bool = False
    """It comes from the parallel's input, above all ranks, and not from its first item."""
    to_bottom: bool = False
    """It goes to the parallel's output, below all ranks, and does not end at its last item."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The ranks from top to bottom, each from left to right, and the arrows."""

    ranks: tuple[tuple[Item, ...], ...]
    ways: tuple[Way, ...]
    whole: bool = True
    """Each need has an arrow or is implied by those that have one."""


def plan(children: Sequence[GraphNode]) -> Plan:
    """Put the children in ranks.

    A need that no sibling has the name of is left out, and so is an arrow of a cycle: a drawing
    is made of whatever is given.
    """
    needs = _needs(children)
    order = _order(needs)
    needs = [[need for need in each if order[need] < order[at]] for at, each in enumerate(needs)]
    ranks = _ranks(needs, order)
    wanted = needs if len(needs) > _MOST_COMPARED else _not_implied(needs, order)
    drawn = _drawn(wanted, ranks)
    ways = (*_between(drawn, ranks), *_out(needs, ranks))
    return Plan(_ordered(_rows(ways, ranks), ways), ways, drawn == wanted)


def _needs(children: Sequence[GraphNode]) -> list[list[int]]:
    ports = {child.port: number for number, child in enumerate(children) if child.port}
    return [
        [ports[need] for need in dict.fromkeys(child.needs) if need in ports] for child in children
    ]


def _order(needs: _Needs) -> dict[int, int]:
    """The children and their positions, each behind its needs, except for one in each cycle."""
    order: dict[int, int] = {}
    begun = set[int]()
    for root in range(len(needs)):
        stack = [] if root in begun else [(root, iter(needs[root]))]
        begun.add(root)
        while stack:
            child, rest = stack[-1]
            need = next((each for each in rest if each not in begun), None)
            if need is None:
                order[child] = len(order)
                stack.pop()
            else:
                begun.add(need)
                stack.append((need, iter(needs[need])))
    return order


def _ranks(needs: _Needs, order: dict[int, int]) -> list[int]:
    """The longest way to each from one that needs nothing."""
    ranks = [0] * len(needs)
    for child in order:
        ranks[child] = max((ranks[need] + 1 for need in needs[child]), default=0)
    return ranks


def _not_implied(needs: _Needs, order: dict[int, int]) -> list[list[int]]:
    """The needs of each that are not needs of another need of it."""
    found: list[list[int]] = [[] for _ in needs]
    above = [0] * len(needs)  # all that each needs, as the bits of a number
    for child in order:
        further = own = 0
        for need in needs[child]:
            further |= above[need]
            own |= 1 << need
        above[child] = further | own
        found[child] = [need for need in needs[child] if not further >> need & 1]
    return found


def _drawn(needs: list[list[int]], ranks: Sequence[int]) -> list[list[int]]:
    """The needs that get an arrow; each child that needs something has one from the rank above."""
    if _slots(needs, ranks) > _MOST_PASSED:
        needs = [
            [need for need in each if ranks[need] == ranks[child] - 1]
            for child, each in enumerate(needs)
        ]
    if sum(map(len, needs)) <= _MOST_ARROWS:
        return needs
    return [[max(each, key=lambda need: ranks[need])] if each else [] for each in needs]


def _slots(needs: _Needs, ranks: Sequence[int]) -> int:
    return sum(far - ranks[need] - 1 for need, far in _furthest(needs, ranks).items())


def _furthest(needs: _Needs, ranks: Sequence[int]) -> dict[int, int]:
    """For each that is needed, the lowest rank where it is."""
    furthest: dict[int, int] = {}
    for child, each in enumerate(needs):
        for need in each:
            furthest[need] = max(furthest.get(need, 0), ranks[child])
    return furthest


def _between(needs: _Needs, ranks: Sequence[int]) -> Iterator[Way]:
    """The arrows to the children: from what they need, or from the top."""
    trunks = _furthest(needs, ranks)
    for child, each in enumerate(needs):
        end = Item(ranks[child], child)
        if not each:
            yield Way((end,), from_top=True)
        for need in each:
            # The first that goes furthest draws the slots, and the others branch off.
            if trunks.get(need) == ranks[child]:
                del trunks[need]
                yield Way((*_passing(need, ranks[need], ranks[child], need), end))
            elif ranks[child] == ranks[need] + 1:
                yield Way((Item(ranks[need], need), end))
            else:
                yield Way((Item(ranks[child] - 1, None, need), end))


def _out(needs: _Needs, ranks: Sequence[int]) -> Iterator[Way]:
    """The arrows to the output, from what nothing else needs; they join the longest."""
    needed = {need for each in needs for need in each}
    ends = [child for child in range(len(needs)) if child not in needed]
    last = max(ranks)
    trunk = min(ends, key=lambda child: ranks[child])
    for child in ends:
        if child == trunk or ranks[child] == last:
            yield Way(_passing(child, ranks[child], last + 1, -1), to_bottom=True)
        else:
            yield Way((Item(ranks[child], child), Item(ranks[child] + 1, None)))


def _passing(child: int, first: int, last: int, source: int) -> tuple[Item, ...]:
    """A child and the slots from below it to above the rank `last`."""
    slots = (Item(rank, None, source) for rank in range(first + 1, last))
    return (Item(first, child), *slots)


def _rows(ways: Sequence[Way], ranks: Sequence[int]) -> list[list[Item]]:
    rows: list[list[Item]] = [[] for _ in range(max(ranks) + 1)]
    for child, rank in enumerate(ranks):
        rows[rank].append(Item(rank, child))
    slots = dict.fromkeys(item for way in ways for item in way.items if item.child is None)
    for item in slots:
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
