"""What DSPy is to Hornbook: its ids, its usage, its control flow, and its form of answers."""

from typing import TYPE_CHECKING, Any, Final

from hornbook.contracts.report import ContractReport, ContractViolation
from hornbook.hosting import Usage
from hornbook.kernel.feedback import feedback
from hornbook.step.control_flow import is_registered
from hornbook.step.model import Decision
from hornbook_dspy.compat import dspy
from hornbook_dspy.halting import Halt
from hornbook_dspy.identity import step_identity
from hornbook_dspy.model import Answer, usage_of
from hornbook_dspy.scope import Blocked

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

HOST = "dspy"

CAPABILITIES: Final["frozenset[Capability]"] = frozenset(
    {
        "sync",
        "async",
        "async_tools",
        "turns",
        "parallel_tools",
        "unknown_tool",
        "hard_halt",
        "tool_error_told",
        "model_contract",
        "rules",
        "usage",
        "trace",
    }
)
"""What holds on this host, in the words of `hornbook.testing.conformance`.

A halt is hard: DSPy's programs read typed fields, and no closing message fits in these. Turns
and parallel calls are those of `ReActV2`. Streams are not held back: with `dspy.streamify` a
rejected attempt's tokens are shown as well.
"""


def is_control_flow(error: BaseException) -> bool:
    """Whether an exception is on its way through: our own halt, a cancel, an interrupt."""
    return isinstance(error, Halt) or is_registered(error) or not isinstance(error, Exception)


def usage(response: Any) -> Usage:
    """Which model answered, and the tokens it counted: of a response, or an entry of a history.

    What came from DSPy's cache counts none.
    """
    if isinstance(response, Answer):
        return response.usage
    if isinstance(response, dspy.lm15.Response):
        counted = response.usage
        tokens = {"prompt_tokens": counted.input_tokens, "completion_tokens": counted.output_tokens}
        return usage_of(tokens, response.model)
    return usage_of(response.get("usage") or {}, response.get("response_model"))


def to_host(decision: Decision, report: ContractReport | None = None) -> Any:
    """What DSPy gets for a decision about a tool's call: a value, or an observation."""
    if decision.action == "substitute" or decision.value is not None:
        return decision.value
    if report is not None and not report.ok:
        return Blocked(feedback(report))
    return Blocked(f"The call was not made: {decision.reason or 'it is not allowed'}")


def halt(report: ContractReport) -> Halt:
    """What to raise to end an agent's turn; the outermost module of ours gives the violation."""
    return Halt(ContractViolation(report))
