"""What the SDK is to Hornbook: its ids, its usage, its control flow, and its form of answers."""

import itertools
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from agents import ModelResponse, Usage, get_current_span, get_current_trace
from openai.types.responses import ResponseOutputMessage, ResponseOutputText

from hornbook import hosting
from hornbook.contracts.report import ContractReport, Violation
from hornbook_openai_agents.compat import CONTROL_FLOW

if TYPE_CHECKING:
    from hornbook.testing.conformance.protocol import Capability

__all__ = [
    "CAPABILITIES",
    "HOST",
    "halt",
    "is_control_flow",
    "step_identity",
    "to_host",
    "usage",
]

HOST = "openai_agents"

CAPABILITIES: Final["frozenset[Capability]"] = frozenset(
    {
        "sync",
        "async",
        "async_tools",
        "turns",
        "parallel_tools",
        "unknown_tool",
        "soft_halt",
        "hard_halt",
        "tool_error_told",
        "model_contract",
        "rules",
        "usage",
        "trace",
    }
)
"""What holds on this host, in the words of `hornbook.testing.conformance`."""

_NONE = "no-op"
"""The id of traces and spans while tracing is off."""

_REASONS = 3

_RAISED = re.compile(r"[^\W\d]\w*")
"""The type of an exception, in what a report observed."""

_numbers = itertools.count(1)


def is_control_flow(error: BaseException) -> bool:
    """Whether an exception is a run's own way to stop: a tripwire, the limit of turns, a cancel."""
    return isinstance(error, CONTROL_FLOW) or not isinstance(error, Exception)


def step_identity(agent: str | None = None, tool_call_id: str | None = None) -> Mapping[str, Any]:
    """The SDK's ids for what is running here; what it does not tell is left out."""
    trace, span = get_current_trace(), get_current_span()
    told = {
        "trace_id": None if trace is None else trace.trace_id,
        "span_id": None if span is None else span.span_id,
        "parent_span_id": None if span is None else span.parent_id,
        "tool_call_id": tool_call_id,
        "agent": agent,
    }
    return {name: value for name, value in told.items() if value not in (None, _NONE)}


def usage(response: ModelResponse, model: str | None = None) -> hosting.Usage:
    """The tokens that a response counts."""
    counted = response.usage
    return hosting.Usage(
        model=model, input_tokens=counted.input_tokens, output_tokens=counted.output_tokens
    )


def to_host(value: Any) -> ModelResponse:
    """The SDK's form of an answer that no model gave: a response with one message."""
    if isinstance(value, ModelResponse):
        return value
    text = value if isinstance(value, str) else str(value)
    message = ResponseOutputMessage(
        id=f"msg_hornbook_{next(_numbers)}",
        content=[ResponseOutputText(annotations=[], text=text, type="output_text")],
        role="assistant",
        status="completed",
        type="message",
    )
    return ModelResponse(output=[message], usage=Usage(), response_id=None)


def halt(reports: Sequence[ContractReport]) -> ModelResponse:
    """The response that ends a halted turn."""
    told = "; ".join(_told(report) for report in reports)
    return to_host(f"I stopped here, because a check failed: {told}")


def _told(report: ContractReport) -> str:
    """One halt in words for the user: what was checked, and what was wrong."""
    wrong = ", ".join(map(_wrong, report.violations[:_REASONS]))
    return f"{report.step} ({wrong or 'refused'})"


def _wrong(violation: Violation) -> str:
    raised = _RAISED.search(violation.observed) if violation.clause == "exception" else None
    if raised is not None:
        # Only its type: what it says was not written for the user.
        return f"it failed with {raised[0]}"
    return f"{violation.clause}: {violation.hint or 'expected ' + violation.expected}"
