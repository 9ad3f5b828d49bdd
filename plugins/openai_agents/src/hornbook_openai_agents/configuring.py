"""`run_config`: Hornbook attached to every model call and tool call of a run."""

import os
import warnings
from collections.abc import Mapping
from dataclasses import fields
from inspect import isawaitable
from types import TracebackType
from typing import Any, cast

from agents import Agent, FunctionTool, Model, RunConfig
from agents.run_config import CallModelData, ModelInputData, ToolErrorFormatterArgs

from hornbook.errors import DefinitionError
from hornbook.hosting import Contracts
from hornbook.kernel.guard import ToolGuard
from hornbook.kernel.registry import ToolRegistry, ToolSpec
from hornbook.trace.runs import Run
from hornbook_openai_agents.attachment import Attachment, Halt, Tools, asking
from hornbook_openai_agents.calling import ToolCall
from hornbook_openai_agents.conversation import Offer, here
from hornbook_openai_agents.guarding import is_guarded, is_whole
from hornbook_openai_agents.items import read_arguments
from hornbook_openai_agents.model import HornbookModel, HornbookProvider
from hornbook_openai_agents.tools import has_schema, spec_of

__all__ = ["HornbookRunConfig", "run_config"]

_TOLD = "_hornbook_told"


class HornbookRunConfig(RunConfig):
    """A run config with Hornbook attached; `with` it, or close it, where it keeps a record."""

    @property
    def attachment(self) -> Attachment:
        """What is attached."""
        assert isinstance(self.model_provider, HornbookProvider)
        assert self.model_provider.attachment is not None
        return self.model_provider.attachment

    @property
    def run(self) -> Run | None:
        """The run that `trace` opened, once there was a call to record."""
        ambient = self.attachment.ambient
        return None if ambient is None else ambient.run

    def close(self, error: BaseException | None = None) -> None:
        """End the run that `trace` opened; without one there is nothing to do.

        Args:
            error: what it failed with; None where it completed.
        """
        if self.attachment.ambient is not None:
            self.attachment.ambient.close(error)

    def __enter__(self) -> "HornbookRunConfig":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close(error)


def run_config(
    base: RunConfig | Mapping[str, Any] | None = None,
    *,
    contracts: Contracts | None = None,
    tools: Tools = None,
    rules: object = None,
    trace: str | os.PathLike[str] | None = None,
    halt: Halt = "soft",
    namespace: str | None = None,
) -> HornbookRunConfig:
    """A config for `Runner.run`, or `run`, that attaches Hornbook to the whole run.

    It covers models by name, the default model, handoffs and nested agents. Tools, and
    models that an agent has as objects, are covered in agents that `guard` made.

    Args:
        base: the config to start from.
        contracts: by the tool's name, a contract or one with its recovery: `requires` speaks
            of the arguments, `ensures` of what the tool's function returns. Under `"model"`
            stands one for the final answer of the run, of whichever agent gives it: the model
            is asked again, with feedback, as often as its recovery says. A fallback there
            takes the request. Agents that are tools are not held to it.
        tools: the guard of tool calls; by default one for each tool's own schema, False for
            none.
        rules: learned rules for the model: a `RuleLibrary`, the path of one, or an object
            with `retrieve(request)`.
        trace: the folder of records, for calls that no `hornbook.run` is around.
        halt: `soft` ends the turn with a message that says why; `hard` raises
            `ContractViolation`.
        namespace: whose rules plugins are asked for; by default that of `rules` or the run.

    Raises:
        DefinitionError: an argument cannot be used; one sentence says which and why.
    """
    given = _as_config(base)
    if isinstance(given.model_provider, HornbookProvider):
        raise DefinitionError("run_config(): this config has Hornbook attached already")
    attachment = Attachment(
        contracts=contracts, tools=tools, rules=rules, trace=trace, halt=halt, namespace=namespace
    )
    model = given.model
    changed: dict[str, Any] = {
        "model": HornbookModel(model, attachment) if isinstance(model, Model) else model,
        "model_provider": HornbookProvider(given.model_provider, attachment),
        "call_model_input_filter": _telling(given, attachment),
    }
    if attachment.guards:
        changed["tool_not_found_behavior"] = "return_error_to_model"
        changed["tool_error_formatter"] = _guarding(given, attachment)
    return HornbookRunConfig(**{**_held(given), **changed})


def _as_config(base: object) -> RunConfig:
    match base:
        case None:
            return RunConfig()
        case RunConfig():
            return base
        case Mapping():
            return RunConfig(**cast("Mapping[str, Any]", base))
        case _:
            raise DefinitionError(f"run_config() takes a RunConfig or a dict, not {base!r:.80}")


def _held(config: RunConfig) -> dict[str, Any]:
    return {one.name: getattr(config, one.name) for one in fields(RunConfig)}


def _telling(config: RunConfig, attachment: Attachment) -> Any:
    """A filter of the model's input that changes nothing, and tells the model wrap who asks."""
    inner = config.call_model_input_filter

    async def tell(data: CallModelData[Any]) -> ModelInputData:
        _refuse_out_of_reach(data.agent, config, attachment)
        changed = data.model_data if inner is None else inner(data)
        changed = await changed if isawaitable(changed) else changed
        # Last, since what the filter awaits may have asked a model itself.
        asking(attachment, data.agent.name)
        return changed

    return tell


def _refuse_out_of_reach(agent: Agent[Any], config: RunConfig, attachment: Attachment) -> None:
    """Refuse an agent of which this config would leave out what it is asked to cover."""
    if attachment.tools.contracts:
        own = (tool for tool in agent.tools if isinstance(tool, FunctionTool))
        attachment.refuse_misfits_of(agent, (spec_of(tool) for tool in own if has_schema(tool)))
    if is_whole(agent):
        return
    own_model = config.model is None and isinstance(agent.model, Model)
    held = [tool.name for tool in agent.tools if tool.name in attachment.tools.contracts]
    if held or (own_model and not isinstance(agent.model, HornbookModel)):
        what = f"a contract on its tool {held[0]!r}" if held else "a model object of its own"
        raise DefinitionError(
            f"agent {agent.name!r} has {what}, which run_config() alone cannot reach: run it with "
            f"hornbook_openai_agents.run(), or guard() it first"
        )
    if attachment.guards:
        _say_unguarded(agent)


def _say_unguarded(agent: Agent[Any]) -> None:
    """Say once which tools of an agent are not guarded."""
    told: set[str] = vars(agent).setdefault(_TOLD, set())
    tools = [one for one in agent.tools if isinstance(one, FunctionTool) and not is_guarded(one)]
    names = [tool.name for tool in tools if tool.name not in told]
    if not names:
        return
    told.update(names)
    warnings.warn(
        f"agent {agent.name!r} runs with a config of run_config(), and its tools "
        f"{', '.join(map(repr, names))} are not guarded: run it with "
        f"hornbook_openai_agents.run(), or guard() it first",
        stacklevel=2,
    )


def _guarding(config: RunConfig, attachment: Attachment) -> Any:
    """A formatter of tool errors that guards and records calls of tools that do not exist."""
    inner = config.tool_error_formatter

    async def formatted(args: ToolErrorFormatterArgs[Any]) -> str | None:
        refused = None
        if args.kind == "tool_not_found":
            refused = await _refused(args, attachment)
        told = None if inner is None else inner(args)
        told = await told if isawaitable(told) else told
        return refused if told is None else told

    return formatted


async def _refused(args: ToolErrorFormatterArgs[Any], attachment: Attachment) -> str:
    conversation = here()
    offer = conversation.offer(args.call_id) or Offer()
    known = ToolRegistry(ToolSpec(name=name) for name in dict.fromkeys(offer.tools))
    call = ToolCall(
        tool=args.tool_name,
        call_id=args.call_id,
        written=offer.arguments,
        arguments=read_arguments(offer.arguments),
        guard=ToolGuard(known),
        conversation=conversation,
        agent=offer.agent,
    )
    with attachment.recording():
        return await attachment.refuse(call)
