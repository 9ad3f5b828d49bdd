"""`contract` on the nodes of a graph: what a node writes meets its clauses, or is recovered."""

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar, cast

from langchain_core.runnables import Runnable, RunnableConfig

from hornbook.contracts.contract import Contract
from hornbook.errors import DefinitionError
from hornbook.step.colour import is_asyncgen, is_coroutine, is_generator, qualified
from hornbook.step.hosted import HostedStep
from hornbook.step.operation import Operation, Outcome
from hornbook.step.recover import Recover
from hornbook_langgraph.compat import (
    NodeRunnable,
    execution,
    functions_of,
    is_async_only,
    is_subgraph,
    resumed,
    running_config,
    runtime_of,
)
from hornbook_langgraph.fitted import fitted
from hornbook_langgraph.identity import StepIdentity
from hornbook_langgraph.inputs import (
    INJECTED,
    NodeInputs,
    NodeParameters,
    changed_state,
    positional,
)
from hornbook_langgraph.update import update_of

__all__ = ["contract", "node_runnable"]

F = TypeVar("F", bound=Callable[..., Any])
N = TypeVar("N", bound="Callable[..., Any] | Runnable[Any, Any]")


def contract(
    contract: Contract[Any],
    *,
    recover: Recover | None = None,
    name: str | None = None,
    writes: Sequence[str] = (),
    deterministic: bool = False,
) -> Callable[[N], N]:
    """Hold a node to a contract: a function of either colour, a method, or a Runnable.

    The node keeps its signature, type hints and colour. Its inputs are the keys of the
    state, and `state`; its output is the update that it writes, whatever its form. An
    `output=` with named keys (a TypedDict, a model, a dataclass) is checked key by key.

    Args:
        contract: the clauses; a path in `ensures` starts at a key of the update.
        recover: what to do about a violation; to halt, when left out. A fallback is a node
            function: it takes the state, and of what LangGraph injects what it asks for.
        name: the step's name in reports and records; the function's qualified name.
        writes: keys that the update must hold.
        deterministic: the node gives equal updates for equal states, so that a retry
            needs `Recover(modify=...)`.

    Raises:
        DefinitionError: the contract names what the state does not have, the node is a
            generator, or the recovery cannot work with it.
    """
    if not isinstance(cast("object", contract), Contract):
        raise DefinitionError(f"contract({contract!r}): give a Contract, then the node")
    held = fitted(contract, writes)
    recovering = recover or Recover()
    if deterministic and recovering.retry and recovering.modify is None:
        raise DefinitionError(
            f"contract {contract.name!r} is for a node declared deterministic, so that a retry "
            f"gives the same again: give Recover(modify=...), or no retry"
        )

    def decorate(node: N) -> N:
        if isinstance(node, Runnable):
            runnable = cast("Runnable[Any, Any]", node)
            return cast("N", node_runnable(runnable, held, recovering, name=name))
        given: object = node
        if isinstance(given, classmethod | staticmethod):
            method = cast("Any", given)
            return method.__class__(_decorated(method.__func__, held, recovering, name))
        return cast("N", _decorated(node, held, recovering, name))

    return decorate


def node_runnable(
    runnable: "Runnable[Any, Any]",
    contract: Contract[Any],
    recover: Recover,
    *,
    name: str | None,
    inputs: tuple[str, ...] | None = None,
) -> NodeRunnable:
    """A node that is no bare function, under contract; LangGraph still finds a graph in it."""
    step = name or runnable.get_name()
    functions = functions_of(runnable)
    for function in functions:
        _refuse_generator(function, step)
    if inputs is not None:
        contract.refuse_unknown_inputs((*inputs, "state"), step)
    operation = _operation(
        step,
        contract,
        _as_nodes(recover, step, asynchronous=is_async_only(runnable)),
        bind=_state_inputs,
        rebuild=_with_state,
        subgraph=is_subgraph(runnable),
    )
    hosted = HostedStep(operation, _given)

    # LangGraph looks for subgraphs among what these functions close over.
    def func(state: Any, config: RunnableConfig) -> Any:
        return hosted.call(runnable.invoke, (state,), {"config": config})

    async def afunc(state: Any, config: RunnableConfig) -> Any:
        return await hosted.acall(runnable.ainvoke, (state,), {"config": config})

    return NodeRunnable(func, afunc, runnable, contract.name)


def _decorated(
    fn: Callable[..., Any], contract: Contract[Any], recover: Recover, name: str | None
) -> Callable[..., Any]:
    step = name or qualified(fn)
    if not callable(fn):
        raise DefinitionError(f"contract {contract.name!r}: {fn!r} is no node")
    _refuse_generator(fn, step)
    parameters = NodeParameters(fn, step)
    if parameters.names is not None:
        contract.refuse_unknown_inputs(parameters.names, step)
    asynchronous = is_coroutine(fn)
    operation = _operation(
        step,
        contract,
        _as_nodes(recover, step, asynchronous=asynchronous),
        bind=parameters.bind,
        rebuild=parameters.rebuild,
    )
    around = _around_async if asynchronous else _around
    return functools.wraps(fn)(around(fn, HostedStep(operation, _given)))


def _state_inputs(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Mapping[str, Any]:
    return NodeInputs(args[0])


def _with_state(
    args: tuple[Any, ...], kwargs: Mapping[str, Any], changed: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return (changed_state(args[0], changed),), dict(kwargs)


def _around(fn: Callable[..., Any], hosted: HostedStep) -> Callable[..., Any]:
    def node(*args: Any, **kwargs: Any) -> Any:
        return hosted.call(fn, args, kwargs)

    return node


def _around_async(fn: Callable[..., Any], hosted: HostedStep) -> Callable[..., Any]:
    async def node(*args: Any, **kwargs: Any) -> Any:
        return await hosted.acall(fn, args, kwargs)

    return node


def _given(outcome: Outcome, args: tuple[Any, ...]) -> Any:
    """What the graph gets: a blocked node writes what the hook gave, if anything."""
    if outcome.status == "blocked" and outcome.decision is not None:
        return outcome.decision.value
    return outcome.settled()


def _operation(
    step: str,
    contract: Contract[Any],
    recover: Recover,
    *,
    bind: Any,
    rebuild: Any,
    subgraph: bool = False,
) -> Operation:
    return Operation(
        name=step,
        kind="node",
        host="langgraph",
        contract=contract,
        recover=recover,
        bind=bind,
        rebuild=rebuild,
        view=update_of,
        meta=_meta,
        may_retry=lambda: not resumed(running_config(), subgraph=subgraph),
    )


def _meta(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Mapping[str, Any]:
    config = running_config()
    return StepIdentity(config, execution(config))


def _as_nodes(recover: Recover, step: str, *, asynchronous: bool) -> Recover:
    """The recovery with fallbacks that are called as LangGraph would call them."""
    if not recover.fallback:
        return recover
    fallbacks = tuple(_as_node(one, step, asynchronous) for one in recover.fallback)
    return replace(recover, fallback=fallbacks)


def _as_node(fallback: Callable[..., Any], step: str, asynchronous: bool) -> Callable[..., Any]:
    named = qualified(fallback)
    if is_coroutine(fallback) and not asynchronous:
        raise DefinitionError(
            f"step {step!r} is sync and its fallback {named!r} is async: "
            f"make the node async, or the fallback sync"
        )
    parameters = inspect.signature(fallback).parameters
    required = [one for one in positional(fallback) if one.default is inspect.Parameter.empty]
    if not positional(fallback) or len(required) > 2:
        raise DefinitionError(
            f"fallback {named!r} of step {step!r} is no node: a node takes the state, and of "
            f"{', '.join(INJECTED[:4])} what it asks for by name"
        )
    wanted = [name for name in INJECTED if name in parameters]

    def called(*args: Any, **kwargs: Any) -> Any:
        return fallback(*args, **{name: _injected(name, kwargs) for name in wanted})

    return functools.wraps(fallback)(called)


def _injected(name: str, given: Mapping[str, Any]) -> Any:
    if name in given:
        return given[name]
    config = running_config()
    runtime = runtime_of(config)
    return config if name == "config" else runtime if name == "runtime" else _of(runtime, name)


def _of(runtime: Any, name: str) -> Any:
    return getattr(runtime, "stream_writer" if name == "writer" else name, None)


def _refuse_generator(fn: Callable[..., Any], step: str) -> None:
    if is_generator(fn) or is_asyncgen(fn):
        raise DefinitionError(
            f"node {step!r} is a generator, of which LangGraph keeps only what is yielded last: "
            f"return the update, and stream with runtime.stream_writer"
        )
