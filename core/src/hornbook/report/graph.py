"""The program graph: a drawing of the nodes, and below or beside it what each one is.

The list is complete without the drawing and without any script: each node of the drawing is
a link to its entry. The script shows the entry of the chosen node beside the drawing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from hornbook.report.data import GraphNode, Lines, plain
from hornbook.report.document import Asset, Setting, asset
from hornbook.report.layout import HEADER, LABEL, NOTE, Arrow, Block, Box, lay_out
from hornbook.report.markup import Markup, badge, clip, definitions, tag

__all__ = ["GraphPanel"]

_MARGIN, _END, _ENDS = 12, 26, 54
_TITLE = 200
_LISTED = 12
"""How many needs stand on a line each."""


@dataclass(frozen=True, slots=True)
class GraphPanel:
    """Shows a program from its root `GraphNode`."""

    root: GraphNode
    title: str = "Program"
    takes: str = ""
    """The program's input type, as text."""
    gives: str = ""
    """Its output type."""

    def assets(self) -> Sequence[Asset]:
        """The drawing's style sheet and script."""
        return (asset("graph.css"), asset("graph.js"))

    def places(self) -> Sequence[str]:
        """All nodes, outer before inner."""
        return [node.id for node in self.root.walk()]

    def data(self) -> Any:
        """The nodes as a flat list; `children` are ids."""
        return {
            "takes": self.takes,
            "gives": self.gives,
            "nodes": [_plain(node) for node in self.root.walk()],
        }

    def render(self, setting: Setting) -> Markup:
        """Make the drawing and the list."""
        ids = {id(node): setting.id_of(nth) for nth, node in enumerate(self.root.walk())}
        entries = (
            _entry(node, setting.id_of(nth), setting) for nth, node in enumerate(self.root.walk())
        )
        return tag(
            "div",
            tag(
                "div",
                _drawing(self, ids),
                class_="drawing",
                role="region",
                tabindex=0,
                aria_label=f"{self.title}: drawing",
            ),
            tag("ol", *entries, class_="entries", aria_label=f"{self.title}: steps"),
            class_="graph",
        )


def _plain(node: GraphNode) -> dict[str, Any]:
    # Without what is inside: a deep program would be deeper than JSON can be written.
    children = [child.id for child in node.children]
    return plain(replace(node, children=())) | {"children": children}


def _entry(node: GraphNode, anchor: str, setting: Setting) -> Markup:
    head = tag("h3", tag("span", node.label, class_="value"), " ", badge(node.kind, node.tone))
    place = tag("p", tag("span", node.id, class_="place"))
    note = tag("p", node.note, class_="note") if node.note else ""
    told = definitions(node.detail, _around(node, setting))
    return tag("li", head, place, note, told, id=anchor, tabindex=-1)


def _around(node: GraphNode, setting: Setting) -> dict[str, Lines | tuple[Markup, ...]]:
    """Say in words what the drawing shows of the node: its name there, its needs, its inside."""
    told: dict[str, Lines | tuple[Markup, ...]] = {}
    if node.port:
        told["Called"] = node.port
    if node.needs:
        told["Needs"] = node.needs if len(node.needs) <= _LISTED else ", ".join(node.needs)
    if node.children:
        told["Inside"] = tuple(
            tag("span", child.label, " ", setting.link(child.id)) for child in node.children
        )
    return told


def _drawing(panel: GraphPanel, ids: dict[int, str]) -> Markup:
    block = lay_out(panel.root)
    ends = (clip(panel.takes, NOTE) or "input", clip(panel.gives, NOTE) or "output")
    width = max(block.width, 8.0 * max(map(len, ends)) + 40)
    moved = block.moved((width - block.width) / 2 + _MARGIN, _MARGIN + _ENDS)
    width, height = width + 2 * _MARGIN, block.height + 2 * (_MARGIN + _ENDS)
    marks = [*_ends(width / 2, height, ends), *map(_arrow, moved.arrows)]
    boxes = (_box(box, ids[id(box.node)]) for box in moved.boxes)
    return tag(
        "svg",
        # Frames lie under the arrows, and those under what stands in the frames.
        *_frames(moved),
        *marks,
        *boxes,
        viewBox=f"0 0 {_round(width)} {_round(height)}",
        width=_round(width),
        height=_round(height),
        role="group",
        aria_label=f"{panel.title}, drawn",
    )


def _round(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _rect(box: Box, class_: str, radius: int) -> Markup:
    return tag(
        "rect",
        x=_round(box.x),
        y=_round(box.y),
        width=_round(box.width),
        height=_round(box.height),
        rx=radius,
        class_=class_,
    )


def _is_frame(box: Box) -> bool:
    return bool(box.node.children) and not box.closed


def _frames(block: Block) -> list[Markup]:
    return [_rect(box, f"frame {box.node.kind}", 10) for box in block.boxes if _is_frame(box)]


def _box(box: Box, anchor: str) -> Markup:
    node = box.node
    name = clip(f"{node.label}, {node.kind}, {node.id}", _TITLE)
    parts = _frame_parts(box) if _is_frame(box) else _leaf_parts(box)
    class_ = f"node {node.kind} {node.tone}"
    return tag("a", tag("title", name), *parts, href=f"#{anchor}", class_=class_)


def _text(x: float, y: float, class_: str, *children: str | Markup) -> Markup:
    return tag("text", *children, x=_round(x), y=_round(y), class_=class_)


def _frame_parts(box: Box) -> tuple[Markup, ...]:
    """A frame can be chosen by its header only; what is inside it has its own links."""
    said = tag("tspan", f"  {box.note}", class_="note") if box.note else Markup("")
    header = Box(box.node, box.x, box.y, box.width, HEADER)
    label = clip(box.node.label, LABEL)
    return _rect(header, "header", 10), _text(box.x + 14, box.y + 20, "label", label, said)


def _leaf_parts(box: Box) -> tuple[Markup, ...]:
    node, middle = box.node, box.x + box.width / 2
    kind = f"{node.kind}, more inside" if box.closed else node.kind
    parts = [
        _rect(box, "box", 20 if node.kind == "neural" else 6),
        _text(middle, box.y + 20, "label", clip(node.label, LABEL)),
        _text(middle, box.y + 36, "kind", kind),
    ]
    if box.note:
        parts.append(_text(middle, box.y + 52, "note", box.note))
    return tuple(parts)


def _ends(x: float, height: float, names: tuple[str, str]) -> list[Markup]:
    """What comes in on top and goes out below."""
    top, bottom = _MARGIN + _END, height - _MARGIN - _END
    return [
        _text(x, _MARGIN + 16, "end", names[0]),
        _arrow(Arrow(((x, top), (x, _MARGIN + _ENDS)))),
        _arrow(Arrow(((x, height - _MARGIN - _ENDS), (x, bottom)))),
        _text(x, height - _MARGIN - 8, "end", names[1]),
    ]


def _arrow(arrow: Arrow) -> Markup:
    line = tag("path", d=_path(arrow), class_=f"line {arrow.style}")
    label = clip(arrow.label, LABEL)
    said = _text(*arrow.at, "port", label) if arrow.at and label else Markup("")
    head = tag("path", d=_head(arrow), class_="head") if arrow.head else Markup("")
    return tag("g", line, head, said)


def _path(arrow: Arrow) -> str:
    (x, y), *rest = arrow.points
    parts = [f"M{_round(x)} {_round(y)}"]
    for to_x, to_y in rest:
        if (to_x, to_y) == (x, y):
            continue
        straight = arrow.style != "flow" or to_x == x
        middle = _round((y + to_y) / 2)
        bend = "L" if straight else f"C{_round(x)} {middle} {_round(to_x)} {middle} "
        parts.append(f"{bend}{_round(to_x)} {_round(to_y)}")
        x, y = to_x, to_y
    return "".join(parts)


def _head(arrow: Arrow) -> str:
    """The arrow head: down at the end of a flow, sideways at the end of the others."""
    x, y = arrow.points[-1]
    if arrow.style == "flow":
        corners = ((x - 4, y - 7), (x, y), (x + 4, y - 7))
    else:
        back = x - 7 if arrow.points[-2][0] < x else x + 7
        corners = ((back, y - 4), (x, y), (back, y + 4))
    return "M" + "L".join(f"{_round(across)} {_round(down)}" for across, down in corners)
