"""What a node is called in a picture: its kind, its name and what bounds it."""

from typing import Any, cast

from hornbook.program.node import Program
from hornbook.program.operators import (
    UNNAMED,
    Conditional,
    Constant,
    Fallback,
    Holds,
    Iterate,
    Parallel,
    Passing,
    Sequence,
)
from hornbook.program.primitives import Primitive

__all__ = ["edge_label", "label_of"]

_LONGEST = 60


def label_of(node: Program) -> str:
    """One line about a node by itself."""
    match node:
        case Primitive():
            return _of_primitive(cast("Primitive[..., Any]", node))
        case Constant():
            shown = repr(node.value)
            return f"constant {shown if len(shown) <= _LONGEST else shown[: _LONGEST - 3] + '...'}"
        case Holds():
            return f"contract {node.name} holds"
        case Passing():
            return "pass"
        case Iterate():
            more = ", else fail" if node.until is not None and node.exhausted == "fail" else ""
            return f"Iterate{_named(node)} at most {node.at_most}{more}"
        case Sequence() | Parallel() | Conditional() | Fallback():
            return f"{type(node).__name__}{_named(node)}"
        case _:
            return type(node).__name__


def edge_label(suffix: str) -> str:
    """How a part is reached from the node around, from what its place ends with."""
    if suffix == "#1":
        return "body"
    return suffix.removeprefix("#1").lstrip(".")


def _named(node: Program) -> str:
    return "" if node.name == UNNAMED else f" {node.name}"


def _of_primitive(node: Primitive[..., Any]) -> str:
    said = [f"neural {node.name}" if node.neural else node.name]
    bound = ", ".join(f"{name}={value!s:.40}" for name, value in node.bindings.items())
    if bound:
        said.append(f"({bound})")
    if node.neural:
        said.append(f"by {node.model.identity}")
    if node.recover.retry:
        said.append(f"retry {node.recover.retry}")
    if not node.pure:
        said.append("impure")
    return " ".join(said)
