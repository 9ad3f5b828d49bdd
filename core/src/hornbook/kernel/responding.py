"""The final answer: written by a model from the trace, and held to it (Forethought 5)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hornbook.contracts import Answer, Clause, Contract, ContractReport, Violation
from hornbook.kernel.context import GuardContext, ToolResult
from hornbook.kernel.guard import ToolGuard
from hornbook.kernel.registry import ToolRegistry
from hornbook.kernel.result import KernelResult
from hornbook.kernel.seen import SeenCall
from hornbook.program import Primitive, neural
from hornbook.step.recover import Recover

if TYPE_CHECKING:
    from hornbook.models import Message, Model, Sampling

__all__ = ["INSTRUCTIONS", "Response", "arespond", "context_of", "respond"]

INSTRUCTIONS = (
    "Answer the user from the trace below. Say what was done and what was found, with the values "
    "of the trace and no others. Say plainly what was not done, and why. Claim nothing that the "
    "trace does not say."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """What the user is told."""

    text: str
    report: ContractReport
    """What `finish` says of the text."""

    @property
    def departures(self) -> tuple[Violation, ...]:
        """Where the answer departs from the trace; empty where it keeps to it."""
        return self.report.violations


def respond(
    result: KernelResult,
    model: "Model",
    *,
    guard: ToolGuard | None = None,
    retry: int = 1,
    instructions: str = INSTRUCTIONS,
    sampling: "Sampling | None" = None,
) -> Response:
    """Let a model answer the user from a result; it is asked again where it departs from it.

    Args:
        result: what the kernel did.
        model: writes the answer.
        guard: the kernel's guard, whose `finish` checks the answer; without it, what the
            tools' own words tell of the request is not looked at.
        retry: how often it is asked again, told where it departed.
        instructions: the system prompt.
        sampling: how it chooses its words.

    Raises:
        TransportError: the model cannot be reached.
        BudgetExceeded: the run has nothing left.
    """
    guard, context = guard or ToolGuard(ToolRegistry()), context_of(result)
    node = _node(model, guard, context, retry, instructions, sampling)
    return _response(node.run(result.render()), guard, context)


async def arespond(
    result: KernelResult,
    model: "Model",
    *,
    guard: ToolGuard | None = None,
    retry: int = 1,
    instructions: str = INSTRUCTIONS,
    sampling: "Sampling | None" = None,
) -> Response:
    """The async twin of `respond`."""
    guard, context = guard or ToolGuard(ToolRegistry()), context_of(result)
    node = _node(model, guard, context, retry, instructions, sampling)
    return _response(await node.arun(result.render()), guard, context)


def context_of(result: KernelResult) -> GuardContext:
    """What an answer to a result may rest on."""
    calls = [one for one in result.calls if one.executed]
    return GuardContext(
        turns=(result.turn,),
        results=tuple(
            ToolResult(
                name=one.tool,
                value=one.value if one.error is None else one.error,
                arguments=one.arguments,
                error=one.error is not None,
            )
            for one in calls
        ),
        state=result.scratchpad.known(),
        calls=tuple(
            SeenCall(
                tool=one.tool, arguments=one.arguments, value=one.value, error=one.error, turn=1
            )
            for one in calls
        ),
    )


def _node(
    model: "Model",
    guard: ToolGuard,
    context: GuardContext,
    retry: int,
    instructions: str,
    sampling: "Sampling | None",
) -> Primitive[..., Any]:
    def test(value: Any, inputs: Mapping[str, Any]) -> Answer:
        found = guard.finish(str(value), context).violations
        if not found:
            return Answer(status="Satisfied")
        return Answer(status="Violated", hint="; ".join(map(_told, found[:4])))

    clause = Clause(kind="kernel", name="keeps to the trace", expected="the trace", test=test)
    return neural(
        "respond",
        model,
        prompt=lambda inputs: _messages(instructions, inputs["trace"]),
        input={"trace": str},
        output=str,
        contract=Contract("respond", output=str, ensures=[clause]),
        recover=Recover(retry=retry, then="waive"),
        sampling=sampling,
    )


def _messages(instructions: str, trace: str) -> "list[Message]":
    from hornbook.models import Message

    return [
        Message(role="system", content=instructions),
        Message(role="user", content=trace),
    ]


def _response(text: Any, guard: ToolGuard, context: GuardContext) -> Response:
    return Response(text=str(text), report=guard.finish(str(text), context))


def _told(one: Violation) -> str:
    return f"{one.clause}: {one.hint or f'expected {one.expected}, got {one.observed}'}"
