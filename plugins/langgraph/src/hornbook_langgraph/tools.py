"""The tool wrap: guard, contract, recovery and record around each call of an agent's tools."""

import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, cast

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool
from langgraph.prebuilt import ToolNode
from langgraph.prebuilt.tool_node import ToolCallRequest

from hornbook.contracts.contract import Contract
from hornbook.contracts.report import ContractReport, ContractViolation
from hornbook.errors import DefinitionError
from hornbook.hosting.fallbacks import refuse_misfit
from hornbook.hosting.held import Contracts, with_recovery
from hornbook.kernel.feedback import feedback
from hornbook.kernel.guard import ToolGuard
from hornbook.step.hosted import HostedStep
from hornbook.step.operation import Operation, Outcome
from hornbook.step.recover import Recover
from hornbook_langgraph.answers import (
    Answer,
    Telling,
    as_message,
    host_of,
    is_error,
    recorded_answer,
    revealing,
    value_of,
)
from hornbook_langgraph.compat import (
    resumed,
    running_config,
    with_tool_wrap,
)
from hornbook_langgraph.conversation import Conversations, Sources
from hornbook_langgraph.halting import halt_answer, unforged
from hornbook_langgraph.identity import ToolIdentity
from hornbook_langgraph.toolset import Guards, spec_of

__all__ = ["Halt", "ToolWrap", "Tools", "guard_tools"]

Halt: TypeAlias = Literal["soft", "hard"]
Tools: TypeAlias = ToolGuard | bool | None

Handler: TypeAlias = Callable[[ToolCallRequest], Any]
AsyncHandler: TypeAlias = Callable[[ToolCallRequest], Awaitable[Any]]


_NO_KWARGS: dict[str, Any] = {}


@dataclass(frozen=True, slots=True)
class Told:
    """What the host gets in place of a tool's own answer."""

    host: Any


class ToolWrap:
    """What stands around every tool call of one agent, or of one tool node."""

    def __init__(self, *, contracts: Contracts, tools: Tools, halt: Halt) -> None:
        if halt not in ("soft", "hard"):
            raise DefinitionError(f"halt={halt!r}: 'soft' or 'hard'")
        self._halt = halt
        self.guards = _guards(tools)
        self.conversations = Conversations()
        self._contracts = {name: with_recovery(name, given) for name, given in contracts.items()}
        self._unfit = bool(contracts)
        """Whether the contracts have yet to be compared with the agent's tools."""
        self._steps = {
            name: self._step(name, contract, recover)
            for name, (contract, recover) in self._contracts.items()
        }
        self._revealing: dict[str, tuple[BaseTool, BaseTool | None]] = {}

    def wrap(self, request: ToolCallRequest, handler: Handler) -> Any:
        """Around one call, from sync code."""
        step = self._steps.get(request.tool_call["name"])
        if step is None or self._unfit:
            step = self._ready(request)
        if step.operation.contract is None:
            return own_answer(step.call(handler, (request,), _NO_KWARGS))

        def attempt(asked: ToolCallRequest) -> Answer:
            with Telling(self._revealed(asked)) as telling:
                return telling.answer(handler(telling.request(asked)))

        return own_answer(step.call(attempt, (request,), _NO_KWARGS))

    async def awrap(self, request: ToolCallRequest, handler: AsyncHandler) -> Any:
        """Around one call, from async code."""
        step = self._steps.get(request.tool_call["name"])
        if step is None or self._unfit:
            step = self._ready(request)
        if step.operation.contract is None:
            return own_answer(await step.acall(handler, (request,), _NO_KWARGS))

        async def attempt(asked: ToolCallRequest) -> Answer:
            with Telling(self._revealed(asked)) as telling:
                return telling.answer(await handler(telling.request(asked)))

        return own_answer(await step.acall(attempt, (request,), _NO_KWARGS))

    def refuse_misfits(self, tools: Mapping[str, BaseTool]) -> None:
        """Refuse contracts on tools that are not there, or on arguments they do not take.

        Raises:
            DefinitionError: naming the tool, and the tools or arguments that there are; or a
                fallback that cannot take them.
        """
        for name, (contract, recover) in self._contracts.items():
            if name not in tools:
                known = ", ".join(map(repr, tools)) or "none"
                raise DefinitionError(
                    f"contracts: there is no tool {name!r}; the agent's tools are {known}"
                )
            spec = spec_of(tools[name])
            if not spec.shape.open:
                contract.refuse_unknown_inputs(tuple(spec.shape.properties), name)
                for fallback in recover.fallback:
                    refuse_misfit(fallback, spec)

    def _ready(self, request: ToolCallRequest) -> HostedStep:
        """The step of a tool that was not called before."""
        if self._unfit:
            self.refuse_misfits(_by_name(request))
            self._unfit = False
        name = request.tool_call["name"]
        step = self._steps.get(name)
        if step is None:
            step = self._step(name, None, Recover())
            if request.tool is not None:  # a name that the model made up is not kept
                self._steps[name] = step
        return step

    def _revealed(self, request: ToolCallRequest) -> BaseTool | None:
        """The tool that tells what its function returned, if it can."""
        tool = request.tool
        if tool is None:
            return None
        known = self._revealing.get(tool.name)
        if known is None or known[0] is not tool:
            known = self._revealing[tool.name] = (tool, revealing(tool))
        return known[1]

    def _step(self, name: str, contract: Contract[Any] | None, recover: Recover) -> HostedStep:
        operation = Operation(
            name=name,
            kind="tool",
            host="langgraph",
            contract=contract,
            recover=_for_tool(recover, name),
            bind=_bind,
            rebuild=_rebuild,
            kept=_kept,
            view=_value,
            meta=ToolIdentity,
            guard=None if self.guards is None else self._guard,
            judged=lambda raw: not is_error(host_of(raw)),
            recorded=lambda raw: recorded_answer(host_of(raw)),
            may_retry=lambda: not resumed(running_config()),
        )
        return HostedStep(operation, self._tell)

    def _guard(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> ContractReport:
        request: Any = args[0]
        call, tool, runtime = request.tool_call, request.tool, request.runtime
        guards: Any = self.guards
        last = guards.last
        if last.tools != runtime.tools:
            last = guards.of(runtime.tools)
        if tool is not None and id(tool) not in last.ids:
            last = guards.of([*runtime.tools, tool])
        sources: Any = Sources(self.conversations, runtime, request.state)
        return last.guard.check(call["name"], call["args"], sources)

    def _tell(self, outcome: Outcome, args: tuple[Any, ...]) -> Any:
        """What an outcome gives: a value, a correctable error, or a halt."""
        call = args[0].tool_call
        if outcome.ok:
            raw = outcome.raw
            return raw if type(raw) is Answer else as_message(raw, call)
        report, decision = outcome.report, outcome.decision
        assert report is not None
        if outcome.status == "blocked" and decision is not None:
            given = decision.value
            return Told(as_message(_refusal(report) if given is None else given, call, error=True))
        if outcome.status == "violated" and outcome.attempts == 0:
            return Told(as_message(feedback(report), call, error=True))
        if self._halt == "hard":
            raise ContractViolation(report) from outcome.error
        return Told(halt_answer(report, call))


def own_answer(raw: Any) -> Any:
    """The host's form of what a step gave: a tool's own answer, or what is told of it."""
    if type(raw) is ToolMessage and raw.artifact is None:
        return raw
    return raw.host if type(raw) is Told else unforged(host_of(raw))


def guard_tools(
    node: ToolNode,
    *,
    contracts: Contracts | None = None,
    tools: Tools = None,
    halt: Halt = "hard",
) -> ToolNode:
    """A copy of a tool node that guards its calls, for graphs that are written by hand.

    Args:
        node: the node as it is; it stays as it is.
        contracts: by the tool's name, a contract or one with its recovery. `requires` speaks
            of the arguments, `ensures` of what the tool returns.
        tools: the guard; by default one for the node's own tools, False for none.
        halt: `hard` raises `ContractViolation`. `soft` answers the call with a halt in the
            message's `artifact`, for a graph that looks there.

    Raises:
        DefinitionError: a contract names no tool of the node, or a tool cannot be guarded.
    """
    if not isinstance(cast("object", node), ToolNode):
        raise DefinitionError(f"guard_tools() takes a ToolNode, not {type(node).__name__}")
    wrap = ToolWrap(contracts=contracts or {}, tools=tools, halt=halt)
    wrap.refuse_misfits(node.tools_by_name)
    if wrap.guards is not None:
        wrap.guards.of(list(node.tools_by_name.values()))
    return with_tool_wrap(node, wrap.wrap, wrap.awrap)


def _guards(tools: object) -> Guards | None:
    match tools:
        case None | True:
            return Guards()
        case False:
            return None
        case ToolGuard():
            return Guards(tools)
        case _:
            raise DefinitionError(f"tools={tools!r:.80}: give a ToolGuard, or False for no guard")


def _by_name(request: Any) -> dict[str, BaseTool]:
    tools = [*request.runtime.tools, *([request.tool] if request.tool else [])]
    return {tool.name: tool for tool in tools}


def _bind(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Mapping[str, Any]:
    call: Any = getattr(args[0], "tool_call", args[0])
    return call["args"]


def _kept(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The call, and nothing of the graph around it."""
    return (args[0].tool_call,)


def _rebuild(
    args: tuple[Any, ...], kwargs: Mapping[str, Any], changed: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    request: ToolCallRequest = args[0]
    call: Any = {**request.tool_call, "args": {**request.tool_call["args"], **changed}}
    return (request.override(tool_call=call),), dict(kwargs)


def _value(raw: Any) -> Any:
    return raw.value if type(raw) is Answer else value_of(raw)


def _refusal(report: ContractReport) -> str:
    """The error text for the model; a hook's reason is not for it to correct."""
    first = report.violations[0]
    if first.clause.startswith("hornbook_"):
        return f"The call of {report.step!r} was not made: {first.hint or 'it is not allowed'}"
    return feedback(report)


def _for_tool(recover: Recover, tool: str) -> Recover:
    """The recovery with fallbacks that take the tool's arguments and give its value."""
    if not recover.fallback:
        return recover
    return replace(recover, fallback=tuple(_for_call(one, tool) for one in recover.fallback))


def _for_call(fallback: Callable[..., Any], tool: str) -> Callable[[ToolCallRequest], Answer]:
    named = getattr(fallback, "__qualname__", None) or type(fallback).__name__
    if inspect.iscoroutinefunction(fallback):
        raise DefinitionError(
            f"fallback {named!r} of tool {tool!r} is async, and the agent may be run sync: "
            f"give a plain function"
        )

    def called(request: ToolCallRequest) -> Answer:
        value = fallback(**request.tool_call["args"])
        return Answer(as_message(value, request.tool_call), value)

    called.__qualname__ = named
    return called
