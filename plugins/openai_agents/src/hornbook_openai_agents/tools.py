"""The tool wrap: what stands around each call of a function tool."""

import warnings
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from agents import FunctionTool, UserError
from agents.function_schema import function_schema
from agents.tool_context import ToolContext

from hornbook.errors import HornbookError
from hornbook.kernel.guard import ToolGuard
from hornbook.kernel.registry import ToolRegistry, ToolSpec
from hornbook_openai_agents.attachment import PLAIN, Attachment, around, inside
from hornbook_openai_agents.calling import WAITING, ToolCall
from hornbook_openai_agents.compat import Inner, Passing, interrupted, is_agent_tool, wrapped
from hornbook_openai_agents.conversation import Conversation, here, within
from hornbook_openai_agents.model import HornbookModel, HornbookProvider

__all__ = ["attached_to", "guarded_tool", "has_schema", "is_heard", "ours_behind", "spec_of"]

_UNHEARD = "_hornbook_unheard"
"""Set on an agent of which it was said."""


def guarded_tool(tool: FunctionTool, own: Attachment | None = None) -> FunctionTool:
    """A copy of a tool with the step around its calls.

    Args:
        tool: it stays as it is.
        own: contracts and a guard of this tool's own; else those of the run hold.

    Raises:
        DefinitionError: its schema is not JSON Schema for an object.
    """
    guard = ToolGuard(ToolRegistry([spec_of(tool)])) if has_schema(tool) else None
    runs_agent = is_agent_tool(tool)

    async def wrap(inner: Inner, ctx: ToolContext[Any], arguments: str) -> Any:
        run, heard = attached_to(ctx), is_heard(ctx)
        attachment = _chosen(tool.name, own, run)
        conversation = here()
        soft = run is not None and heard
        call = ToolCall.of(tool.name, ctx, arguments, guard, conversation, soft=soft)
        if not heard and attachment.guards and guard is not None:
            _say_unheard(ctx)

        async def invoke(made: ToolCall) -> Any:
            with inside(run), _body(conversation, runs_agent):
                try:
                    value = await inner(ctx, made.written)
                except UserError as error:
                    found = ours_behind(error)
                    raise found from found.__cause__
            return WAITING if runs_agent and interrupted(ctx) else value

        attachment.tools.keep((tool.name,))
        try:
            with attachment.recording():
                value = await attachment.tools.acall(call, invoke)
            return None if value is WAITING else value
        except HornbookError as error:
            return Passing(error)
        except Exception:
            # What the SDK tells of it is no source, whatever it says.
            conversation.refused(call.call_id)
            raise

    return wrapped(tool, wrap)


def attached_to(ctx: ToolContext[Any]) -> Attachment | None:
    """What is attached to the run that calls a tool, or to the run in whose tool that one is."""
    provider = None if ctx.run_config is None else ctx.run_config.model_provider
    own = provider.attachment if isinstance(provider, HornbookProvider) else None
    return own or around()


def is_heard(ctx: ToolContext[Any]) -> bool:
    """Whether the model of the run that calls a tool is wrapped."""
    config, agent = ctx.run_config, ctx.agent
    if config is not None and isinstance(config.model_provider, HornbookProvider):
        return True
    model = None if config is None else config.model
    return isinstance(getattr(agent, "model", None) if model is None else model, HornbookModel)


def _body(conversation: Conversation, runs_agent: bool) -> AbstractContextManager[Any]:
    """Let what a tool runs be part of its run: what it asks, the model may have written."""
    if runs_agent or conversation.known:
        return within(Conversation(around=conversation))
    return nullcontext()


def _say_unheard(ctx: ToolContext[Any]) -> None:
    """Say once an agent that its guard cannot tell where values come from."""
    agent = ctx.agent
    if agent is None or vars(agent).setdefault(_UNHEARD, False):
        return
    vars(agent)[_UNHEARD] = True
    warnings.warn(
        f"agent {agent.name!r}: its tools are guarded, but its model is not wrapped, so that "
        f"invented values are not told from known ones: run it with "
        f"hornbook_openai_agents.run(), or with a config of run_config()",
        stacklevel=2,
    )


def ours_behind(error: Exception) -> Exception:
    """Hornbook's own error, where the SDK has put one of its own around it; else the same."""
    behind: BaseException | None = error
    while isinstance(behind, UserError):
        behind = behind.__cause__
    return behind if isinstance(behind, HornbookError) else error


def has_schema(tool: FunctionTool) -> bool:
    """Whether a tool says what it takes."""
    return bool(tool.params_json_schema)


def spec_of(tool: FunctionTool) -> ToolSpec:
    """A tool with the schema of its function, where it has one.

    The schema that the model is shown calls every argument required, for the provider's
    strict mode; the function itself takes its defaults, and its own validation decides
    what is ill-typed, so that the guard refuses nothing that the tool would take.

    Raises:
        DefinitionError: its schema is not JSON Schema for an object.
    """
    parameters, validate = _of_function(tool) or (tool.params_json_schema, None)
    return ToolSpec(
        name=tool.name, description=tool.description, parameters=parameters, validate=validate
    )


def _of_function(
    tool: FunctionTool,
) -> tuple[dict[str, Any], Callable[[Mapping[str, Any]], object]] | None:
    function: Any = getattr(tool, "__wrapped__", None)
    if function is None:
        return None
    try:
        schema = function_schema(
            function, name_override=tool.name, use_docstring_info=False, strict_json_schema=False
        )
    # Partials and the like, which the SDK unwraps by itself; then its own schema will do.
    except Exception:  # noqa: BLE001
        return None
    model = schema.params_pydantic_model
    return schema.params_json_schema, lambda arguments: model(**arguments)


def _chosen(name: str, own: Attachment | None, run: Attachment | None) -> Attachment:
    if own is not None and (own.own_guard or name in own.tools.contracts):
        return own
    return run or own or PLAIN
