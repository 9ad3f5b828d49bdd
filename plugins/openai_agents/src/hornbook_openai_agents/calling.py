"""The SDK's tool calls, as the step around them reads and writes them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from agents.tool_context import ToolContext

from hornbook.contracts.report import ContractReport, ContractViolation
from hornbook.errors import DefinitionError
from hornbook.hosting import ToolHost
from hornbook.kernel.guard import ToolGuard
from hornbook_openai_agents.adapter import HOST, step_identity
from hornbook_openai_agents.compat import forget_prepared
from hornbook_openai_agents.conversation import Conversation
from hornbook_openai_agents.halts import written
from hornbook_openai_agents.items import read_arguments

__all__ = ["WAITING", "AgentsToolHost", "ToolCall"]


class _Waiting:
    def __repr__(self) -> str:
        return "waiting for approval"


WAITING = _Waiting()
"""What the tool of an agent gives while that agent waits for a person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One call of a tool."""

    tool: str
    call_id: str
    written: str
    """The arguments as the model wrote them, or as they were changed since."""
    arguments: Mapping[str, Any] | None
    """Those arguments; None where the text is no JSON object."""
    guard: ToolGuard | None
    """The guard for tools that none is given for; None where a tool has no schema."""
    conversation: Conversation
    context: ToolContext[Any] | None = None
    """What the SDK passes to tools; None for one that does not exist."""
    agent: str | None = None
    soft: bool = True
    """Whether the model of this run is wrapped, so that a halt can end the turn."""

    @classmethod
    def of(
        cls,
        tool: str,
        context: ToolContext[Any],
        written: str,
        guard: ToolGuard | None,
        conversation: Conversation,
        *,
        soft: bool,
    ) -> "ToolCall":
        """The call that the SDK is about to make."""
        return cls(
            tool=tool,
            call_id=context.tool_call_id,
            written=written,
            arguments=read_arguments(written),
            guard=guard,
            conversation=conversation,
            context=context,
            agent=None if context.agent is None else context.agent.name,
            soft=soft,
        )


class AgentsToolHost(ToolHost[ToolCall, Any]):
    """How the SDK's calls of a tool look.

    Args:
        guard: one for all tools; None for each tool's own, False for none.
        soft: whether a halt ends the turn with a message, and does not raise.
    """

    name = HOST

    def __init__(self, guard: ToolGuard | bool | None, *, soft: bool) -> None:
        self._guard = _checked(guard)
        self._soft = soft

    @property
    def guards(self) -> bool:
        """Whether calls are guarded at all."""
        return self._guard is not False

    def tool(self, call: ToolCall) -> str:
        """The tool's name."""
        return call.tool

    def arguments(self, call: ToolCall) -> Mapping[str, Any]:
        """The arguments by name."""
        return call.arguments or {}

    def changed(self, call: ToolCall, arguments: Mapping[str, Any]) -> ToolCall:
        """The call with other values for these arguments."""
        own = {**self.arguments(call), **arguments}
        if call.context is not None:
            forget_prepared(call.context)
        return replace(call, arguments=own, written=json.dumps(own, default=str))

    def check(self, call: ToolCall) -> ContractReport | None:
        """What the guard says of the call."""
        if self._guard is False:
            return None
        # A tool that does not exist is judged by those that do.
        own = isinstance(self._guard, bool) or call.context is None
        guard = call.guard if own else self._guard
        if not isinstance(guard, ToolGuard):
            return None
        arguments: object = call.written if call.arguments is None else call.arguments
        state = None if call.context is None else call.context.context
        return guard.check(call.tool, arguments, call.conversation.context(state))

    def is_error(self, answer: Any) -> bool:
        """Whether a tool gave nothing, since its agent waits for a person."""
        return answer is WAITING

    def recorded(self, answer: Any) -> Any:
        """What the tool gave."""
        return repr(answer) if answer is WAITING else answer

    def error(self, text: str, call: ToolCall) -> Any:
        """The text, which the SDK gives to the model in place of a result."""
        call.conversation.refused(call.call_id)
        return text

    def halt(self, violation: ContractViolation, call: ToolCall) -> Any:
        """End the turn: the model wrap finds the halt by the call's id."""
        if not (self._soft and call.soft):
            raise violation
        call.conversation.halted(call.call_id, violation.report)
        return written(violation.report)

    def meta(self, call: ToolCall) -> Mapping[str, Any]:
        """The trace, the span, the call and the agent's name."""
        return step_identity(call.agent, call.call_id)


def _checked(guard: object) -> ToolGuard | bool:
    match guard:
        case None | True:
            return True
        case False:
            return False
        case ToolGuard():
            return guard
        case _:
            raise DefinitionError(f"tools={guard!r:.80}: give a ToolGuard, or False for no guard")
