"""The one module that relies on what the hosts do not quite promise.

Each private name of LangGraph and LangChain that the adapter needs is wrapped here, and
held by `tests/test_compat.py` against the version that is installed.
"""

# pyright: reportMissingTypeStubs=false
# The host has types in its sources and does not say so.

from collections.abc import Callable, Hashable, Mapping
from typing import Any, cast

from langchain_core.runnables import Runnable, RunnableLambda
from langchain_core.runnables.config import var_child_runnable_config
from langgraph._internal._runnable import RunnableCallable
from langgraph.errors import GraphBubbleUp
from langgraph.prebuilt import ToolNode
from langgraph.prebuilt import tool_node as _tool_node
from langgraph.pregel import Pregel
from langgraph.runtime import ExecutionInfo, Runtime

from hornbook.errors import HornbookError
from hornbook.step.control_flow import register_control_flow

__all__ = [
    "NO_CONFIG",
    "REPLAY",
    "Config",
    "NodeRunnable",
    "config_in_use",
    "conversation",
    "execution",
    "functions_of",
    "is_async_only",
    "is_subgraph",
    "resumed",
    "running_config",
    "runtime_of",
    "with_tool_wrap",
]

# Whoever uses the host comes by here, and only then are its exceptions of interest.
register_control_flow(GraphBubbleUp)

Config = Mapping[str, Any]

_CONFIGURABLE = "configurable"
_RUNTIME = "__pregel_runtime"
REPLAY = "__pregel_replay_state"
"""Where a config says, among what is configurable, that history is being replayed."""
_RESUMING = "__pregel_resuming"
_SCRATCHPAD = "__pregel_scratchpad"
NO_CONFIG: Config = {}
config_in_use: Callable[[], Any] = var_child_runnable_config.get
"""The config of what is running here, or None: `running_config` for those who cannot wait."""


def running_config() -> Config:
    """The config of the node or tool that is running here; empty outside of any graph."""
    config = var_child_runnable_config.get()
    return NO_CONFIG if config is None else cast("Config", config)


def runtime_of(config: Config) -> "Runtime[Any] | None":
    """The runtime that LangGraph gives to a node on request."""
    return config.get(_CONFIGURABLE, NO_CONFIG).get(_RUNTIME)


def execution(config: Config) -> ExecutionInfo | None:
    """What LangGraph says of the task that is running: its ids and its attempt."""
    runtime = runtime_of(config)
    return None if runtime is None else runtime.execution_info


def resumed(config: Config, *, subgraph: bool = False) -> bool:
    """Whether the running task has consumed an answer to an `interrupt()`.

    A subgraph keeps its answers to itself: it counts as resumed in every resumed run.
    """
    configurable = config.get(_CONFIGURABLE, NO_CONFIG)
    scratchpad = configurable.get(_SCRATCHPAD)
    if scratchpad is not None and scratchpad.resume:
        return True
    return subgraph and bool(configurable.get(_RESUMING)) and configurable.get(REPLAY) is None


def conversation(runtime: Any) -> Hashable | None:
    """What tells one conversation from another: the thread, else this one run of the graph.

    `runtime` is what LangGraph gives to a node, or `ToolNode` to a tool.
    """
    execution: ExecutionInfo | None = getattr(runtime, "execution_info", None)
    if execution is not None and execution.thread_id is not None:
        return str(execution.thread_id)
    control = getattr(runtime, "control", None)
    if control is None:
        control = getattr(
            runtime_of(getattr(runtime, "config", None) or NO_CONFIG), "control", None
        )
    return control


class NodeRunnable(RunnableCallable):
    """What stands in a builder for a node under contract; LangGraph sees through it."""

    def __init__(
        self,
        func: Callable[..., Any],
        afunc: Callable[..., Any],
        original: Runnable[Any, Any],
        contract: str,
    ) -> None:
        name = original.get_name()
        cast("Any", super()).__init__(func, afunc, name=name, trace=False, recurse=False)
        self.original = original
        self.contract = contract


def functions_of(runnable: object) -> tuple[Callable[..., Any], ...]:
    """The functions that a node was made from; none when it was made from another Runnable."""
    if not isinstance(runnable, RunnableCallable | RunnableLambda):
        return ()
    found: list[Any] = [getattr(cast("Any", runnable), name, None) for name in ("func", "afunc")]
    return tuple(fn for fn in found if fn is not None)


def is_async_only(runnable: object) -> bool:
    """Whether a node was made from a coroutine function, and so cannot run sync."""
    return isinstance(runnable, RunnableCallable) and cast("Any", runnable).func is None


def is_subgraph(runnable: object) -> bool:
    """Whether a node is a compiled graph."""
    return isinstance(runnable, Pregel)


def with_tool_wrap(node: ToolNode, wrap: Callable[..., Any], awrap: Callable[..., Any]) -> ToolNode:
    """A copy of a tool node in which the wraps stand around each tool, inside its own."""
    given: Any = node
    outer, aouter = given._wrap_tool_call, given._awrap_tool_call
    return type(node)(
        list(node.tools_by_name.values()),
        name=node.name or "tools",
        tags=list(node.tags) if node.tags else None,
        handle_tool_errors=_without_ours(given._handle_tool_errors),
        messages_key=given._messages_key,
        wrap_tool_call=wrap if outer is None else _chained(outer, wrap),
        # With a sync wrap alone LangGraph uses that one in async runs too; so it stays.
        awrap_tool_call=_achained(aouter, awrap) if aouter else awrap if outer is None else None,
    )


def _chained(outer: Callable[..., Any], inner: Callable[..., Any]) -> Callable[..., Any]:
    def wrap_tool_call(request: Any, execute: Callable[..., Any]) -> Any:
        def within(changed: Any) -> Any:
            return inner(changed, execute)

        return outer(request, within)

    return wrap_tool_call


def _achained(outer: Callable[..., Any], inner: Callable[..., Any]) -> Callable[..., Any]:
    async def awrap_tool_call(request: Any, execute: Callable[..., Any]) -> Any:
        def within(changed: Any) -> Any:
            return inner(changed, execute)

        return await outer(request, within)

    return awrap_tool_call


def _without_ours(handling: Any) -> Any:
    """The same handling of errors, but for ours: a halt is no error to tell the model of."""
    private: Any = _tool_node
    if not handling or handling is private._default_handle_tool_errors:
        return handling
    if isinstance(handling, type):
        handled: tuple[type[Exception], ...] = (handling,)
    elif isinstance(handling, tuple):
        handled = cast("tuple[type[Exception], ...]", handling)
    else:
        handled = private._infer_handled_types(handling) if callable(handling) else (Exception,)

    def handle(error: Exception) -> str:
        if isinstance(error, HornbookError) or not isinstance(error, handled):
            raise error
        return private._handle_tool_error(error, flag=handling)

    return handle
