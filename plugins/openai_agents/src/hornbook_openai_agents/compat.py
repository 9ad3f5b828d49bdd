"""The one module that relies on what the SDK does not quite promise.

Each private name of the SDK that the adapter needs is wrapped here, and held by
`tests/test_compat.py` against the version that is installed.
"""

import copy
import weakref
from collections.abc import Awaitable, Callable, Sequence
from types import CellType, FunctionType
from typing import Any, TypeAlias, cast

from agents import (
    Agent,
    FunctionTool,
    Handoff,
    InputGuardrailTripwireTriggered,
    MaxTurnsExceeded,
    OutputGuardrailTripwireTriggered,
    RunConfig,
    RunResultStreaming,
    RunState,
    ToolApprovalItem,
    ToolInputGuardrailTripwireTriggered,
    ToolOutputGuardrailTripwireTriggered,
)
from agents import tool as _tool
from agents.agent_tool_state import get_agent_tool_state_scope, peek_agent_tool_run_result
from agents.items import ItemHelpers
from agents.tool_context import ToolContext

from hornbook.errors import DefinitionError
from hornbook.step.control_flow import register_control_flow

__all__ = [
    "CONTROL_FLOW",
    "Inner",
    "Passing",
    "Wrap",
    "agent_of",
    "counted_requests",
    "current_agent",
    "forget_prepared",
    "handed_to",
    "interrupted",
    "is_agent_tool",
    "is_cancelled",
    "is_wrapped",
    "items_so_far",
    "with_agent",
    "with_target",
    "wrapped",
]

CONTROL_FLOW = (
    InputGuardrailTripwireTriggered,
    MaxTurnsExceeded,
    OutputGuardrailTripwireTriggered,
    ToolInputGuardrailTripwireTriggered,
    ToolOutputGuardrailTripwireTriggered,
)
"""A run's own ways to stop, which are no failures of a step."""

# Whoever uses the host comes by here, and only then are its exceptions of interest.
register_control_flow(*CONTROL_FLOW)

Inner: TypeAlias = Callable[[ToolContext[Any], str], Awaitable[Any]]
"""What a tool does with its arguments as JSON text; it raises what goes wrong."""

Wrap: TypeAlias = Callable[[Inner, ToolContext[Any], str], Awaitable[Any]]
"""What stands around a call of a tool; an exception that the SDK may tell to the model is
raised, one that has to end the run is returned as `Passing`."""

_private: Any = _tool
_Invoker: Any = _private._FailureHandlingFunctionToolInvoker
_SYNC_MARK: str = _private._SYNC_FUNCTION_TOOL_MARKER
_WRAPPED_MARK: str = _private._FUNCTION_TOOL_WRAPPED_CALLABLE_MARKER
_WRAPS = "hornbook_wraps"
_PREPARE = "__agents_prepare_arguments__"
_REQUESTS = "_agents_sdk_request_count"


class Passing:
    """An exception on its way past the SDK, which tells a tool's exceptions to the model."""

    __slots__ = ("error",)

    def __init__(self, error: Exception) -> None:
        self.error = error


class _WrappedInvoker(_Invoker):
    """The SDK's own invoker, with its policy for exceptions, around another function."""

    hornbook_wraps = True

    async def __call__(self, ctx: ToolContext[Any], input: str) -> Any:  # noqa: A002 - the SDK's
        result: Any = await _Invoker.__call__(self, ctx, input)
        if isinstance(result, Passing):
            raise result.error
        return result

    def __agents_bind_function_tool__(self, function_tool: FunctionTool) -> "_WrappedInvoker":
        given: Any = self
        return _WrappedInvoker(
            given._invoke_tool_impl, given._on_handled_error, function_tool=function_tool
        )


def wrapped(tool: FunctionTool, wrap: Wrap) -> FunctionTool:
    """A copy of a tool with `wrap` around what it does, inside the SDK's policy for exceptions.

    The SDK turns an exception of a decorated function into text; `wrap` stands inside of
    that and sees the exception itself.
    """
    changed = copy.copy(tool)
    invoker: Any = tool.on_invoke_tool
    if not isinstance(invoker, _Invoker):
        changed.on_invoke_tool = _around_plain(tool, wrap)
        return changed
    given: Any = invoker
    inner = given._invoke_tool_impl

    async def invoke(ctx: ToolContext[Any], arguments: str) -> Any:
        return await wrap(inner, ctx, arguments)

    for mark in (_PREPARE, _WRAPPED_MARK):
        if hasattr(inner, mark):
            setattr(invoke, mark, getattr(inner, mark))
    around: Any = _WrappedInvoker(invoke, given._on_handled_error, function_tool=changed)
    if hasattr(invoker, _SYNC_MARK):
        setattr(around, _SYNC_MARK, getattr(invoker, _SYNC_MARK))
    changed.on_invoke_tool = around
    return changed


def _around_plain(tool: FunctionTool, wrap: Wrap) -> Inner:
    """For a tool that was put together by hand: the SDK raises what it raises."""

    async def inner(ctx: ToolContext[Any], arguments: str) -> Any:
        narrowed = _private._get_function_tool_invoke_context(tool, ctx)
        return await tool.on_invoke_tool(narrowed, arguments)

    async def invoke(ctx: ToolContext[Any], arguments: str) -> Any:
        result = await wrap(inner, ctx, arguments)
        if isinstance(result, Passing):
            raise result.error
        return result

    vars(invoke)[_WRAPS] = True
    return invoke


def is_wrapped(tool: FunctionTool) -> bool:
    """Whether `wrapped` made a tool, or what it was copied from."""
    return bool(getattr(tool.on_invoke_tool, _WRAPS, False))


def is_agent_tool(tool: FunctionTool) -> bool:
    """Whether a tool was made by `Agent.as_tool`."""
    given: Any = tool
    return bool(given._is_agent_tool)


def agent_of(tool: FunctionTool) -> Agent[Any] | None:
    """The agent that a tool runs, where `Agent.as_tool` made it."""
    given: Any = tool
    agent: object = given._agent_instance if is_agent_tool(tool) else None
    return cast("Agent[Any]", agent) if isinstance(agent, Agent) else None


def with_agent(
    tool: FunctionTool, agent: Agent[Any], cover: Callable[[RunConfig], RunConfig]
) -> FunctionTool:
    """A copy of an agent's tool that runs another agent, by another config where it has one.

    `as_tool` keeps the agent, and all that it was called with, in a closure alone.

    Raises:
        DefinitionError: the tool is not built as `as_tool` of the supported versions builds it.
    """
    invoker: Any = tool.on_invoke_tool
    inner: Any = getattr(invoker, "_invoke_tool_impl", None)
    if not isinstance(inner, FunctionType) or "self" not in inner.__code__.co_freevars:
        raise DefinitionError(
            f"tool {tool.name!r}: the agent that it runs cannot be replaced by a guarded one: "
            f"make the tool from that, guard(agent).as_tool(...)"
        )
    named = zip(inner.__code__.co_freevars, inner.__closure__ or (), strict=True)
    cells = tuple(_changed(name, cell, agent, cover) for name, cell in named)
    run = FunctionType(inner.__code__, inner.__globals__, inner.__name__, inner.__defaults__, cells)
    run.__kwdefaults__ = inner.__kwdefaults__
    run.__annotations__ = inner.__annotations__
    vars(run).update(vars(inner))
    changed: Any = copy.copy(tool)
    changed._agent_instance = agent
    changed.on_invoke_tool = _Invoker(run, invoker._on_handled_error, function_tool=changed)
    return changed


def _changed(
    name: str, cell: CellType, agent: Agent[Any], cover: Callable[[RunConfig], RunConfig]
) -> CellType:
    match name:
        case "self":
            return CellType(agent)
        case "run_config" if isinstance(cell.cell_contents, RunConfig):
            return CellType(cover(cell.cell_contents))
        case _:
            return cell


def is_cancelled(result: RunResultStreaming) -> bool:
    """Whether a streamed run was asked to stop before it came to an answer."""
    given: Any = result
    return given._cancel_mode != "none" and result.final_output is None


def handed_to(handoff: Handoff[Any, Any]) -> Agent[Any] | None:
    """The agent behind a handoff, where it was made by `handoff(agent)`."""
    given: Any = handoff
    reference = given._agent_ref
    agent: object = None if reference is None else reference()
    return cast("Agent[Any]", agent) if isinstance(agent, Agent) else None


def with_target(
    handoff: Handoff[Any, Any],
    invoke: Callable[[Any, str], Awaitable[Agent[Any]]],
    target: Agent[Any] | None,
) -> Handoff[Any, Any]:
    """A copy of a handoff that does `invoke`, and by which `target` is found again on resume."""
    changed: Any = copy.copy(handoff)
    changed.on_invoke_handoff = invoke
    changed._agent_ref = None if target is None else weakref.ref(target)
    return changed


def interrupted(ctx: ToolContext[Any]) -> bool:
    """Whether the agent that a tool has run waits for a person, so that it gave nothing yet."""
    if ctx.tool_call is None:
        return False
    scope = get_agent_tool_state_scope(ctx)
    pending = peek_agent_tool_run_result(ctx.tool_call, scope_id=scope)
    return bool(getattr(pending, "interruptions", None))


def forget_prepared(ctx: ToolContext[Any]) -> None:
    """Let the SDK read the arguments anew: they are not those that approval was asked for."""
    given: Any = ctx
    given._function_tool_arguments = None


def counted_requests(usage: Any, requests: int) -> None:
    """Let the usage of a streamed response stand for several requests."""
    object.__setattr__(usage, _REQUESTS, requests)


def current_agent(state: RunState[Any, Any]) -> Agent[Any] | None:
    """The agent with which an interrupted run goes on."""
    given: Any = state
    return given._current_agent


def items_so_far(state: RunState[Any, Any]) -> Sequence[Any]:
    """The input items of an interrupted run: what was asked, and what came of it since."""
    given: Any = state
    asked = ItemHelpers.input_to_new_input_list(given._original_input)
    since = [
        item.to_input_item()
        for item in given._generated_items
        if not isinstance(item, ToolApprovalItem)
    ]
    return [*asked, *since]
