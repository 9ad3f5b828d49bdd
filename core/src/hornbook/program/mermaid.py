"""A program as a Mermaid flowchart."""

import itertools

from hornbook.program.elaborate import Typed
from hornbook.program.labels import edge_label, label_of
from hornbook.program.node import Program
from hornbook.program.operators import Conditional, Fallback, Iterate, Parallel, Sequence
from hornbook.program.primitives import Primitive

__all__ = ["to_mermaid"]


def to_mermaid(program: Program) -> str:
    """The program's tree as `flowchart TD`; a dotted arrow is a reference between branches."""
    drawing = _Drawing()
    drawing.node(program._typed)  # pyright: ignore[reportPrivateUsage]
    return "\n".join(["flowchart TD", *drawing.lines, ""])


class _Drawing:
    def __init__(self) -> None:
        self.lines: list[str] = []
        self._number = itertools.count()

    def node(self, typed: Typed) -> str:
        """Draw a node with all below it; gives its id."""
        own = f"n{next(self._number)}"
        left, right = _shape(typed.node)
        self.lines.append(f'    {own}{left}"{_escaped(label_of(typed.node))}"{right}')
        drawn: dict[str, str] = {}
        for suffix, part in typed.parts:
            drawn[suffix] = self.node(part)
            label = _escaped(edge_label(suffix))
            self.lines.append(f'    {own} -->|"{label}"| {drawn[suffix]}')
        for name, needs in typed.needs.items():
            for other in needs:
                self.lines.append(f"    {drawn[f'.{other}']} -.-> {drawn[f'.{name}']}")
        return own


def _shape(node: Program) -> tuple[str, str]:
    match node:
        case Primitive():
            return ("([", "])") if node.neural else ("[", "]")
        case Conditional():
            return "{", "}"
        case Sequence() | Parallel() | Iterate() | Fallback():
            return "[[", "]]"
        case _:
            return "(", ")"


def _escaped(text: str) -> str:
    """A label between quotes: Mermaid reads entities, with `#` for the ampersand."""
    one_line = " ".join(text.split())
    special = {one: f"#{ord(one)};" for one in '#"<>&`|\\;'}
    return one_line.translate(str.maketrans(special)) or " "
