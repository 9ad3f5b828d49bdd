"""`guard`: a tool or an agent, and every agent it can reach, with guarded tools."""

import copy
import threading
import warnings
from collections.abc import Callable, Iterator
from typing import Any, TypeVar, cast, overload

from agents import Agent, FunctionTool, Handoff, Model, Tool

from hornbook.errors import DefinitionError
from hornbook.hosting import MODEL, Contracts
from hornbook.kernel.registry import ToolRegistry
from hornbook_openai_agents.attachment import Attachment, Halt, Tools
from hornbook_openai_agents.compat import (
    agent_of,
    handed_to,
    is_wrapped,
    with_agent,
    with_target,
)
from hornbook_openai_agents.model import HornbookModel, covered
from hornbook_openai_agents.tools import guarded_tool, has_schema, spec_of

__all__ = ["guard", "is_guarded", "is_whole", "reached", "tools_of"]

T = TypeVar("T")

_OURS = "_hornbook_"
_COPY = "_hornbook_copy"
_MADE = "_hornbook_made"
"""Where an original keeps its copy, and by what a copy is known."""

_WRAPPED = (FunctionTool, Handoff)
_lock = threading.RLock()


@overload
def guard(
    target: FunctionTool,
    *,
    contracts: Contracts | None = None,
    tools: Tools = None,
    halt: Halt = "hard",
) -> FunctionTool: ...


@overload
def guard(
    target: Agent[T],
    *,
    contracts: Contracts | None = None,
    tools: Tools = None,
    halt: Halt = "hard",
) -> Agent[T]: ...


def guard(
    target: FunctionTool | Agent[T],
    *,
    contracts: Contracts | None = None,
    tools: Tools = None,
    halt: Halt = "hard",
) -> FunctionTool | Agent[T]:
    """A copy of a tool or an agent whose tool calls are guarded.

    Of an agent, the agents that it can hand over to and those that are its tools are copied
    with it. A copy is made once for each state of the original: guarding it again gives the
    same object until a field of it, or of an agent, a tool or a handoff that it reaches, is
    changed. A copy that is at hand does not follow: guard again, or let `run` do it.

    Where values come from, a guard learns from the model wrap: run the agent with `run`, or
    with a config of `run_config`. `run` guards its agent by itself.

    Args:
        target: the tool or agent as it is; it stays as it is.
        contracts: by the tool's name, a contract or one with its recovery. It holds for
            these tools whatever the run's own config says.
        tools: the guard; by default one for each tool's own schema, False for none.
        halt: `hard` raises `ContractViolation`. `soft` ends the turn with a message, in runs
            whose model is wrapped.

    Raises:
        DefinitionError: a contract names no tool or does not fit it, or a tool's schema is no
            JSON Schema.
    """
    own = None
    if contracts is not None or tools is not None:
        own = Attachment(contracts=contracts, tools=tools, halt=halt)
        if MODEL in (contracts or ()):
            raise DefinitionError(
                "guard(): the contract 'model' speaks of a run's final answer: give it to "
                "run_config() or run()"
            )
    match target:
        case FunctionTool() if own is None:
            return _once(target, lambda: _guarded_tool(target, None))
        case FunctionTool():
            if own is not None and has_schema(target):
                own.refuse_misfits(ToolRegistry([spec_of(target)]))
            return _guarded_tool(target, own)
        case Agent():
            if own is None:
                return _once(target, lambda: cast("Agent[T]", _Walk(None).guarded(target)))
            own.refuse_misfits(tools_of(target))
            return cast("Agent[T]", _Walk(own).guarded(target))
        case _:
            raise DefinitionError(f"guard() takes a FunctionTool or an Agent, not {target!r:.80}")


def is_guarded(target: object) -> bool:
    """Whether this is a copy that `guard` made, and nothing unguarded was put into it since."""
    if isinstance(target, Agent):
        return all(map(is_whole, reached(cast("Agent[Any]", target))))
    return is_wrapped(target) if isinstance(target, FunctionTool) else _MADE in vars(target)


def tools_of(agent: Agent[Any]) -> ToolRegistry:
    """The function tools of an agent and of those that it reaches."""
    found: dict[str, Any] = {}
    for one in reached(agent):
        for tool in one.tools:
            if isinstance(tool, FunctionTool) and has_schema(tool):
                found.setdefault(tool.name, spec_of(tool))
    return ToolRegistry(found.values())


class _Walk:
    """One pass over the agents that can reach each other; each is copied once."""

    def __init__(self, own: Attachment | None) -> None:
        self._own = own
        self._copies: dict[int, Agent[Any]] = {}

    def guarded(self, agent: Agent[Any]) -> Agent[Any]:
        """The copy of an agent."""
        if id(agent) in self._copies:
            return self._copies[id(agent)]
        if is_guarded(agent):
            return agent
        model = agent.model
        if isinstance(model, Model) and not isinstance(model, HornbookModel):
            model = HornbookModel(model)
        # `clone` would choose other settings for another model, and this is the same one.
        made = self._copies[id(agent)] = copy.copy(agent)
        for name in [name for name in vars(made) if name.startswith(_OURS)]:
            del vars(made)[name]
        vars(made)[_MADE] = True
        made.model = model
        made.tools = [self._tool(tool, agent) for tool in agent.tools]
        made.handoffs = [self._handoff(one) for one in agent.handoffs]
        if agent.mcp_servers:
            _say(f"agent {agent.name!r}: the tools of its MCP servers are not guarded")
        return made

    def _tool(self, tool: Tool, agent: Agent[Any]) -> Tool:
        if not isinstance(tool, FunctionTool):
            _say(
                f"agent {agent.name!r}: tool {tool.name!r} is run by the provider or the SDK "
                f"itself, and is not guarded"
            )
            return tool
        inner = agent_of(tool)
        if inner is not None and not (is_guarded(inner) and is_guarded(tool)):
            tool = with_agent(tool, self.guarded(inner), covered)
        return tool if is_guarded(tool) else _guarded_tool(tool, self._own)

    def _handoff(self, given: Agent[Any] | Handoff[Any, Any]) -> Agent[Any] | Handoff[Any, Any]:
        if isinstance(given, Agent):
            return self.guarded(given)
        target = handed_to(given)
        known = None if target is None else self.guarded(target)

        async def invoke(context: Any, arguments: str) -> Any:
            # What a handoff made by hand gives is known only now.
            next_agent: Any = await given.on_invoke_handoff(context, arguments)
            if next_agent is target:
                return known
            return _guarded_next(next_agent)

        made = with_target(given, invoke, known)
        vars(made)[_MADE] = True
        return made


def _guarded_next(agent: Any) -> Any:
    return guard(cast("Agent[Any]", agent)) if isinstance(agent, Agent) else agent


def _guarded_tool(tool: FunctionTool, own: Attachment | None) -> FunctionTool:
    if not has_schema(tool):
        _say(f"tool {tool.name!r} has no schema: its arguments are not checked")
    made = guarded_tool(tool, own)
    # It was copied with all its attributes, and it is not the original.
    vars(made).pop(_COPY, None)
    return made


def is_whole(agent: Agent[Any]) -> bool:
    """Whether an agent itself is such a copy, whatever it hands over to."""
    if isinstance(agent.model, Model) and not isinstance(agent.model, HornbookModel):
        return False
    parts = [part for part in (*agent.tools, *agent.handoffs) if isinstance(part, _WRAPPED)]
    return _MADE in vars(agent) and all(map(is_guarded, parts))


def reached(agent: Agent[Any]) -> Iterator[Agent[Any]]:
    """An agent, and all that it can hand over to or call, each once."""
    seen: dict[int, Agent[Any]] = {}
    todo = [agent]
    while todo:
        one = todo.pop()
        if id(one) in seen:
            continue
        seen[id(one)] = one
        yield one
        called = (agent_of(tool) for tool in one.tools if isinstance(tool, FunctionTool))
        handed = (given if isinstance(given, Agent) else handed_to(given) for given in one.handoffs)
        todo += [found for found in (*called, *handed) if found is not None]


def _once(original: T, make: Callable[[], T]) -> T:
    """The copy of an original as it is now; it is kept beside the original, and goes with it."""
    if is_guarded(original):
        return original
    with _lock:
        state = _state(original)
        known = vars(original).get(_COPY)
        if known is not None and _same(known[0], state):
            return known[1]
        made = make()
        vars(original)[_COPY] = (state, made)
        return made


def _state(original: object) -> list[Any]:
    """All that a copy is made from, to be compared by identity."""
    if not isinstance(original, Agent):
        return _held(original)
    state: list[Any] = []
    for agent in reached(cast("Agent[Any]", original)):
        state += _held(agent)
        for part in (*agent.tools, *agent.handoffs):
            # These are copied too: whether a person has to approve stands in the original.
            if isinstance(part, _WRAPPED):
                state += _held(part)
    return state


def _held(one: object) -> list[Any]:
    state: list[Any] = []
    for name, value in vars(one).items():
        if not name.startswith(_OURS):
            state += cast("list[Any]", value) if isinstance(value, list) else [value]
            state.append(name)
    return state


def _same(before: list[Any], now: list[Any]) -> bool:
    return len(before) == len(now) and all(a is b for a, b in zip(before, now, strict=True))


def _say(text: str) -> None:
    warnings.warn(text, stacklevel=2)
