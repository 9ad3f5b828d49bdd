"""A program as data for the report's page."""

from typing import TYPE_CHECKING, Any, cast

from hornbook.program.elaborate import Typed, refuse_open
from hornbook.program.labels import edge_label
from hornbook.program.node import Program
from hornbook.program.operators import (
    UNNAMED,
    Conditional,
    Constant,
    Fallback,
    Holds,
    Iterate,
    Parallel,
    Sequence,
)
from hornbook.program.ports import type_name
from hornbook.program.primitives import Primitive

if TYPE_CHECKING:
    from hornbook.contracts.contract import Contract
    from hornbook.report.data import GraphNode, Kind, Lines

__all__ = ["graph_of", "to_html"]


def to_html(program: Program) -> str:
    """One static page: the drawing, each node with its types, and the bounds."""
    from hornbook.report import program_page

    refuse_open(program)
    calls = program.max_calls()
    facts: dict[str, Lines] = {
        "Calls at most": str(calls),
        "Nodes": str(sum(1 for _ in program.walk())),
        "Digest": program.digest,
    }
    return program_page(
        program.name,
        graph_of(program),
        takes=type_name(program.input),
        gives=type_name(program.output),
        facts=facts,
    )


def graph_of(program: Program) -> "GraphNode":
    """The program's tree as the report draws it; fallbacks of a primitive stand in its details."""
    return _node(program._typed, program.name, "", ())  # pyright: ignore[reportPrivateUsage]


def _node(typed: Typed, place: str, port: str, needs: tuple[str, ...]) -> "GraphNode":
    from hornbook.report.data import GraphNode

    node = typed.node
    leaf = isinstance(node, Primitive)
    children = tuple(
        _node(part, f"{place}{suffix}", edge_label(suffix), typed.needs.get(suffix[1:], ()))
        for suffix, part in (() if leaf else typed.parts)
    )
    return GraphNode(
        id=place,
        kind=_kind(node),
        label=node.name if leaf or node.name != UNNAMED else type(node).__name__,
        note=f"at most {node.at_most} rounds" if isinstance(node, Iterate) else "",
        detail=_detail(typed),
        children=children,
        port=port,
        needs=needs,
    )


def _kind(node: Program) -> "Kind":
    match node:
        case Primitive():
            return "neural" if node.neural else "symbolic"
        case Sequence():
            return "sequence"
        case Parallel():
            return "parallel"
        case Conditional():
            return "conditional"
        case Iterate():
            return "iterate"
        case Fallback():
            return "fallback"
        case Holds():
            return "contract"
        case Constant():
            return "constant"
        case _:
            return "pass"


def _detail(typed: Typed) -> "dict[str, Lines]":
    node = typed.node
    found: dict[str, Lines] = {
        "Takes": type_name(typed.input),
        "Gives": type_name(typed.output),
    }
    if isinstance(node, Primitive):
        return found | _of_primitive(cast("Primitive[..., Any]", node))
    if isinstance(node, Holds):
        return found | _clauses(node.contract)
    if isinstance(node, Constant):
        return found | {"Value": repr(node.value)[:200]}
    return found


def _of_primitive(node: Primitive[..., Any]) -> "dict[str, Lines]":
    found: dict[str, Lines] = {"Version": node.version}
    if node.neural:
        found["Model"] = node.model.identity
    bound = tuple(f"{name} = {value!s:.80}" for name, value in node.bindings.items())
    if bound:
        found["Bound"] = bound
    found |= _clauses(node.contract)
    recover = node.recover
    if recover.retry or recover.fallback:
        tried = f"{recover.retry} retries, {len(recover.fallback)} fallbacks"
        found["Recovery"] = f"{tried}, then {recover.then}"
    return found


def _clauses(contract: "Contract[Any]") -> "dict[str, Lines]":
    clauses = tuple(f"{one.name} ({one.assurance})" for one in contract.requires + contract.ensures)
    return {"Contract": f"{contract.name}, version {contract.version}", "Clauses": clauses}
