"""The adapter as a value: what Hornbook asks of every host, answered for LangGraph."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage, ToolMessage
from langgraph.errors import GraphBubbleUp

from hornbook.contracts.report import ContractReport
from hornbook.step.model import Decision
from hornbook_langgraph.answers import as_message
from hornbook_langgraph.compat import execution, running_config
from hornbook_langgraph.halting import closing_of, halt_answer
from hornbook_langgraph.identity import StepIdentity
from hornbook_langgraph.model import Usage, usage_of

__all__ = ["ADAPTER", "Capabilities", "LangGraphAdapter"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What can be done on this host, and what cannot."""

    sync: bool = True
    asynchronous: bool = True
    streaming: bool = True
    """A rejected attempt's tokens stay out of `stream()` and `astream()`."""
    soft_halt: bool = True
    rewrites_arguments: bool = True
    parallel_tools: bool = True
    interrupts: bool = True
    astream_events: bool = False
    """`astream_events()` cannot be intercepted: it shows rejected attempts as well."""


class LangGraphAdapter:
    """How Hornbook and LangGraph understand each other; see `Capabilities` for the limits."""

    name = "langgraph"
    capabilities = Capabilities()

    def is_control_flow(self, error: BaseException) -> bool:
        """Whether an exception is the host's own way to go on: an interrupt, a jump."""
        return isinstance(error, GraphBubbleUp)

    def step_identity(self, tool_call_id: str | None = None) -> Mapping[str, Any]:
        """The host's ids for the step that is running here."""
        config = running_config()
        return StepIdentity(config, execution(config), tool_call_id)

    def usage(self, response: object) -> Usage:
        """Which model answered, and the tokens it counted."""
        return usage_of(response)

    def to_host(self, decision: Decision, call: Mapping[str, Any] | None) -> Any:
        """What the host gets for a decision about a tool call, or (None) about the model."""
        if call is None:
            return AIMessage(_text(decision))
        value = _text(decision) if decision.value is None else decision.value
        return as_message(value, call, error=decision.action in ("block", "halt"))

    def halt(
        self, report: ContractReport, call: Mapping[str, Any] | None
    ) -> ToolMessage | AIMessage:
        """What ends the turn: the answer of a tool call, or (None) the model's last message."""
        return closing_of(report) if call is None else halt_answer(report, call)


ADAPTER = LangGraphAdapter()


def _text(decision: Decision) -> str:
    return decision.reason if decision.value is None else str(decision.value)
