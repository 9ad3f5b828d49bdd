"""Contracts on the nodes of a graph that is already written down, and off again."""

# pyright: reportMissingTypeStubs=false
# The host has types in its sources and does not say so.

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from langgraph.graph import StateGraph

from hornbook.contracts.contract import Contract
from hornbook.errors import DefinitionError
from hornbook.hosting.held import Contracts, with_recovery
from hornbook.step.recover import Recover
from hornbook_langgraph.compat import NodeRunnable
from hornbook_langgraph.fitted import fitted
from hornbook_langgraph.node import node_runnable

__all__ = ["attach", "detach"]

_HANDLER = "__error_handler__"


def attach(
    builder: "StateGraph[Any, Any, Any, Any]",
    contracts: Contracts,
    *,
    writes: Mapping[str, Sequence[str]] | None = None,
) -> None:
    """Put contracts on nodes of a graph, before it is compiled; the builder itself changes.

    Args:
        builder: the graph as it is being built.
        contracts: by the node's name, a contract or one with its recovery.
        writes: by the node's name, keys that its update must hold.

    Raises:
        DefinitionError: there is no such node, or a contract does not fit it.
    """
    _refuse_other(builder, "attach")
    wanted = writes or {}
    _refuse_unknown(builder, [*contracts, *wanted])
    changed = {
        name: _contracted(builder, name, *with_recovery(name, given), wanted.get(name, ()))
        for name, given in contracts.items()
    }
    # All or none: what is refused above leaves the builder as it was.
    builder.nodes.update(changed)
    if builder.compiled:
        warnings.warn(
            "attach(): this graph has been compiled already, and what was compiled keeps its "
            "nodes without contracts: compile it again",
            stacklevel=2,
        )


def detach(builder: "StateGraph[Any, Any, Any, Any]", names: Iterable[str] | None = None) -> None:
    """Take contracts off nodes again, off all of them by default.

    Raises:
        DefinitionError: there is no such node, or it has no contract from `attach`.
    """
    _refuse_other(builder, "detach")
    attached = {
        name: spec.runnable
        for name, spec in builder.nodes.items()
        if isinstance(spec.runnable, NodeRunnable)
    }
    chosen = list(attached) if names is None else list(names)
    _refuse_unknown(builder, chosen)
    for name in chosen:
        if name not in attached:
            raise DefinitionError(f"node {name!r} has no contract that attach() put on it")
    for name in chosen:
        builder.nodes[name] = replace(builder.nodes[name], runnable=attached[name].original)


def _contracted(
    builder: "StateGraph[Any, Any, Any, Any]",
    name: str,
    contract: Contract[Any],
    recover: Recover,
    writes: Sequence[str],
) -> Any:
    spec = builder.nodes[name]
    runnable = cast("Any", spec.runnable)
    if isinstance(runnable, NodeRunnable):
        raise DefinitionError(
            f"node {name!r} already has contract {runnable.contract!r}: detach it first"
        )
    inputs = tuple(cast("Any", builder).schemas[spec.input_schema])
    held = fitted(contract, writes)
    node = node_runnable(runnable, held, recover, name=name, inputs=inputs)
    return replace(spec, runnable=node)


def _refuse_other(builder: object, verb: str) -> None:
    if not isinstance(builder, StateGraph):
        raise DefinitionError(
            f"{verb}() takes the StateGraph that is being built, before compile(), "
            f"not {type(builder).__name__}"
        )


def _refuse_unknown(builder: "StateGraph[Any, Any, Any, Any]", names: Iterable[str]) -> None:
    for name in names:
        if name not in builder.nodes:
            known = [repr(node) for node in builder.nodes if not node.startswith(_HANDLER)]
            raise DefinitionError(
                f"the graph has no node {name!r}; its nodes are {', '.join(known) or 'none'}"
            )
