"""Where the boxes and arrows of a program graph go: plain geometry, the same every time.

Blocks are laid out from the inside out. A sequence is a column; the children of a parallel
stand in ranks by what they need, and an arrow that passes a rank has a slot of its own in it;
branches and alternatives are a row.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from hornbook.report.data import GraphNode
from hornbook.report.markup import clip, width_of
from hornbook.report.ranks import Item, Plan, Way, plan

__all__ = ["Arrow", "Block", "Box", "lay_out"]

Point = tuple[float, float]

LABEL, NOTE = 26, 32
"""How many narrow characters of a label and of a note are shown in the drawing."""
HEADER = 30
_CHARACTER, _SMALL = 7.6, 6.4
_PAD, _GAP, _SIDE, _SLOT = 18, 30, 24, 16
_LABELLED = 46
_LOOP = 74
_LIFT = 14
"""How far a label stands above what its arrow points at."""
# Python's own stack bounds how deep boxes can be drawn in boxes; no reader goes deeper.
_DEEPEST = 40
_LEFT_OUT = "some arrows are left out"


@dataclass(frozen=True, slots=True)
class Box:
    """The rectangle of a node."""

    node: GraphNode
    x: float
    y: float
    width: float
    height: float
    closed: bool = False
    """It has nodes inside that are not drawn."""
    whole: bool = True
    """What its children need is all drawn."""

    @property
    def note(self) -> str:
        """What stands under or beside its label."""
        return clip(self.node.note, NOTE) if self.whole else _LEFT_OUT


@dataclass(frozen=True, slots=True)
class Arrow:
    """A path through points."""

    points: tuple[Point, ...]
    label: str = ""
    at: Point | None = None
    """Where the label's middle is."""
    style: str = "flow"
    """`flow` bends from point to point, `loop` and `otherwise` go straight."""
    head: bool = True
    """It ends in an arrow head; one that joins another has none."""


@dataclass(frozen=True, slots=True)
class Block:
    """A laid out part: values enter at the middle of its top and leave at the middle below."""

    width: float
    height: float
    boxes: tuple[Box, ...] = ()
    arrows: tuple[Arrow, ...] = ()

    def moved(self, dx: float, dy: float) -> "Block":
        """Give the same, `dx` to the right and `dy` down."""
        boxes = tuple(replace(box, x=box.x + dx, y=box.y + dy) for box in self.boxes)
        arrows = tuple(_moved(arrow, dx, dy) for arrow in self.arrows)
        return Block(self.width, self.height, boxes, arrows)


def _moved(arrow: Arrow, dx: float, dy: float) -> Arrow:
    points = tuple((x + dx, y + dy) for x, y in arrow.points)
    at = None if arrow.at is None else (arrow.at[0] + dx, arrow.at[1] + dy)
    return replace(arrow, points=points, at=at)


@dataclass(frozen=True, slots=True)
class _Placed:
    """A block at its place, and the top and bottom of the row that it stands in."""

    block: Block
    x: float
    y: float
    top: float
    bottom: float

    @property
    def middle(self) -> float:
        return self.x + self.block.width / 2

    @property
    def way_in(self) -> tuple[Point, ...]:
        """From the top of the row to the block: beside a higher block, arrows go straight."""
        return ((self.middle, self.top), (self.middle, self.y))

    @property
    def way_out(self) -> tuple[Point, ...]:
        """From the block to the bottom of the row."""
        return ((self.middle, self.y + self.block.height), (self.middle, self.bottom))


def lay_out(node: GraphNode, depth: int = 0) -> Block:
    """Lay out a node and all inside it, from the point (0, 0)."""
    if not node.children or depth >= _DEEPEST:
        return _leaf(node)
    blocks = [lay_out(child, depth + 1) for child in node.children]
    whole = True
    match node.kind:
        case "parallel":
            planned = plan(node.children)
            whole, inner = planned.whole, _ranked(planned, node.children, blocks)
        case "conditional":
            inner = _branches(node.children, blocks)
        case "fallback":
            inner = _alternatives(blocks)
        case "iterate":
            inner = _loop(blocks)
        case _:
            inner = _column(blocks)
    return _framed(Box(node, 0, 0, 0, 0, whole=whole), inner)


def _leaf(node: GraphNode) -> Block:
    label, note = clip(node.label, LABEL), clip(node.note, NOTE)
    width = max(110, width_of(label) * _CHARACTER + 2 * _PAD, width_of(note) * _SMALL + 2 * _PAD)
    height = 62 if note else 46
    box = Box(node, 0, 0, width, height, bool(node.children))
    return Block(width, height, (box,))


def _framed(frame: Box, inner: Block) -> Block:
    label = clip(frame.node.label, LABEL)
    head = width_of(label) * _CHARACTER + width_of(frame.note) * _SMALL
    width = max(inner.width + 2 * _SIDE, head + 3 * _PAD)
    height = HEADER + inner.height
    placed = inner.moved((width - inner.width) / 2, HEADER)
    around = replace(frame, width=width, height=height)
    return Block(width, height, (around, *placed.boxes), placed.arrows)


def _gathered(width: float, height: float, parts: Sequence[_Placed], arrows: list[Arrow]) -> Block:
    moved = [part.block.moved(part.x, part.y) for part in parts]
    boxes = tuple(box for block in moved for box in block.boxes)
    inner = tuple(arrow for block in moved for arrow in block.arrows)
    return Block(width, height, boxes, (*inner, *arrows))


def _stacked(blocks: Sequence[Block], width: float, y: float = _GAP) -> list[_Placed]:
    parts: list[_Placed] = []
    for block in blocks:
        parts.append(_Placed(block, (width - block.width) / 2, y, y, y + block.height))
        y += block.height + _GAP
    return parts


def _column(blocks: Sequence[Block]) -> Block:
    width = max(block.width for block in blocks)
    parts = _stacked(blocks, width)
    height = parts[-1].bottom + _GAP
    starts = [(width / 2, 0.0), *(part.way_out[-1] for part in parts)]
    ends = [*(part.way_in[0] for part in parts), (width / 2, height)]
    arrows = [Arrow(pair) for pair in zip(starts, ends, strict=True)]
    return _gathered(width, height, parts, arrows)


def _loop(blocks: Sequence[Block]) -> Block:
    """A column, with the way back from its end to its start on the right."""
    column = _column(blocks)
    width = column.width + 2 * _LOOP
    moved = column.moved(_LOOP, 0)
    right, low = width - _LOOP / 2, column.height - _GAP / 2
    middle = width / 2
    points = ((middle, low), (right, low), (right, _GAP / 2), (middle, _GAP / 2))
    back = Arrow(points, "again", (right, column.height / 2), "loop")
    return replace(moved, width=width, arrows=(*moved.arrows, back))


def _slot(block: Block, label: str) -> float:
    return max(block.width, width_of(clip(label, LABEL)) * _SMALL + 2 * _PAD)


def _wide(sizes: Sequence[float], gap: float) -> float:
    return sum(sizes) + gap * (len(sizes) - 1)


def _in_row(
    blocks: Sequence[Block], sizes: Sequence[float], start: Point, gap: float
) -> list[_Placed]:
    """Side by side from `start`, each in the middle of its slot and of the row's height."""
    x, top = start
    height = max(block.height for block in blocks)
    parts: list[_Placed] = []
    for block, size in zip(blocks, sizes, strict=True):
        left, y = x + (size - block.width) / 2, top + (height - block.height) / 2
        parts.append(_Placed(block, left, y, top, top + height))
        x += size + gap
    return parts


def _joined(parts: Sequence[_Placed], end: Point) -> list[Arrow]:
    return [Arrow((*part.way_out, end)) for part in parts]


def _branches(children: Sequence[GraphNode], blocks: Sequence[Block]) -> Block:
    """The test on top, the branches in a row below it, each named on its arrow."""
    if len(blocks) == 1:
        return _column(blocks)
    labels = [child.port for child in children[1:]]
    sizes = [_slot(*pair) for pair in zip(blocks[1:], labels, strict=True)]
    width = max(blocks[0].width, _wide(sizes, _SIDE))
    (test,) = _stacked(blocks[:1], width)
    start = ((width - _wide(sizes, _SIDE)) / 2, test.bottom + _LABELLED)
    row = _in_row(blocks[1:], sizes, start, _SIDE)
    height = row[0].bottom + _GAP
    arrows = [Arrow(((width / 2, 0), *test.way_in))]
    arrows += [_named(test.way_out[-1], *pair) for pair in zip(row, labels, strict=True)]
    arrows += _joined(row, (width / 2, height))
    return _gathered(width, height, [test, *row], arrows)


def _named(start: Point, part: _Placed, label: str) -> Arrow:
    return Arrow((start, *part.way_in), label, (part.middle, part.y - _LIFT))


def _alternatives(blocks: Sequence[Block]) -> Block:
    """In a row, each tried where the one before it failed."""
    parts = _in_row(blocks, [block.width for block in blocks], (0, _GAP), _LOOP)
    width = parts[-1].x + blocks[-1].width
    height = parts[0].bottom + _GAP
    arrows = [Arrow(((width / 2, 0), *parts[0].way_in))]
    arrows += [_otherwise(*pair) for pair in pairwise(parts)]
    arrows += _joined(parts, (width / 2, height))
    return _gathered(width, height, parts, arrows)


def _otherwise(one: _Placed, other: _Placed) -> Arrow:
    y = (one.top + one.bottom) / 2
    start, end = one.x + one.block.width, other.x
    return Arrow(((start, y), (end, y)), "else", ((start + end) / 2, y - _LIFT), "otherwise")


def _ranked(planned: Plan, children: Sequence[GraphNode], blocks: Sequence[Block]) -> Block:
    """In ranks by what each needs, as `plan` puts them."""
    sizes = [[_size(item, children, blocks) for item in row] for row in planned.ranks]
    width = max(_wide(row, _SIDE) for row in sizes)
    places: dict[Item, _Placed] = {}
    y = 0.0
    for row, row_sizes in zip(planned.ranks, sizes, strict=True):
        row_blocks = [_block(item, blocks) for item in row]
        start = ((width - _wide(row_sizes, _SIDE)) / 2, y + _LABELLED)
        parts = _in_row(row_blocks, row_sizes, start, _SIDE)
        places.update(zip(row, parts, strict=True))
        y = parts[0].bottom
    height = y + _GAP
    arrows = _arrows(planned, places, children, (width, height))
    parts = [part for item, part in places.items() if item.child is not None]
    return _gathered(width, height, parts, arrows)


def _block(item: Item, blocks: Sequence[Block]) -> Block:
    return Block(_SLOT, 0) if item.child is None else blocks[item.child]


def _size(item: Item, children: Sequence[GraphNode], blocks: Sequence[Block]) -> float:
    if item.child is None:
        return _SLOT
    return _slot(blocks[item.child], children[item.child].port)


def _arrows(
    planned: Plan,
    places: Mapping[Item, _Placed],
    children: Sequence[GraphNode],
    size: tuple[float, float],
) -> list[Arrow]:
    """The arrows of the plan; the first that ends at a child is named after its port."""
    arrows: list[Arrow] = []
    named = set[int]()
    for way in planned.ways:
        points = _points(way, places, size)
        target = None if way.to_bottom else way.items[-1].child
        if target is None or target in named:
            arrows.append(Arrow(points, head=way.to_bottom or target is not None))
            continue
        named.add(target)
        at = (points[-1][0], points[-1][1] - _LIFT)
        arrows.append(Arrow(points, children[target].port, at))
    return arrows


def _points(
    way: Way, places: Mapping[Item, _Placed], size: tuple[float, float]
) -> tuple[Point, ...]:
    points: list[Point] = [(size[0] / 2, 0.0)] if way.from_top else []
    for number, item in enumerate(way.items):
        if number or way.from_top:
            points += places[item].way_in
        if number < len(way.items) - 1 or way.to_bottom:
            points += places[item].way_out
    return (*points, (size[0] / 2, size[1])) if way.to_bottom else tuple(points)
