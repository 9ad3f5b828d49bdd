"""The step around each tool call of an agent: guard, contract, recovery and record."""

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Generic, TypeVar

from hornbook.contracts.contract import Contract
from hornbook.contracts.report import ContractReport, ContractViolation
from hornbook.errors import DefinitionError
from hornbook.hosting.fallbacks import refuse_misfit
from hornbook.hosting.held import Contracts, by_name
from hornbook.kernel.feedback import feedback
from hornbook.kernel.registry import ToolRegistry, ToolSpec
from hornbook.step.hosted import HostedStep
from hornbook.step.operation import Operation, Outcome
from hornbook.step.recover import Recover

__all__ = ["ToolHost", "ToolSteps"]

C = TypeVar("C")
A = TypeVar("A")


class ToolHost(Generic[C, A]):
    """How a host's tool calls `C` and the answers `A` to them are read and written.

    What is written out here fits a host that passes plain values; an adapter overrides the
    rest.
    """

    name: str = "python"
    """The host's name, for the record."""

    def tool(self, call: C) -> str:
        """The name of the tool that is called."""
        raise NotImplementedError

    def arguments(self, call: C) -> Mapping[str, Any]:
        """The arguments by name; empty where they are none."""
        raise NotImplementedError

    def changed(self, call: C, arguments: Mapping[str, Any]) -> C:
        """The call with other values for these arguments."""
        raise NotImplementedError

    def check(self, call: C) -> ContractReport | None:
        """What the guard says of the call; None where there is no guard."""
        return None

    def is_answer(self, value: object) -> bool:
        """Whether a value has the host's form; plugins may give a plain one in its place."""
        return True

    def value(self, answer: A) -> Any:
        """What a contract, the hooks and the guard's memory see of an answer."""
        return answer

    def is_error(self, answer: A) -> bool:
        """Whether an answer is an error message, of which no contract speaks."""
        return False

    def recorded(self, answer: A) -> Any:
        """What the record holds of an answer: what the model is shown."""
        return self.value(answer)

    def answer(self, value: Any, call: C) -> A:
        """The host's form of a value; a value that has that form already stays as it is."""
        return value

    def error(self, text: str, call: C) -> A:
        """The host's form of an error that the model can correct."""
        return self.answer(text, call)

    def halt(self, violation: ContractViolation, call: C) -> A:
        """End the turn: by an answer that carries the halt, or by raising the violation."""
        raise violation

    def meta(self, call: C) -> Mapping[str, Any]:
        """The host's own ids for the call."""
        return {}

    def may_retry(self) -> bool:
        """Whether a retry is allowed here and now."""
        return True


class ToolSteps(Generic[C, A]):
    """What stands around every tool call of one agent.

    Args:
        host: how the calls look.
        contracts: by the tool's name, a contract or one with its recovery: `requires` speaks
            of the arguments, `ensures` of what the tool returns. A fallback takes the tool's
            arguments and gives its value.
        sync: whether the agent may be run sync, so that no fallback can be async.

    Raises:
        DefinitionError: something in `contracts` is no contract, or a fallback is async.
    """

    def __init__(
        self, host: ToolHost[C, A], contracts: Contracts | None = None, *, sync: bool = True
    ) -> None:
        self._host = host
        self._sync = sync
        self.contracts = by_name(contracts)
        self._steps = {name: self._step(name, *held) for name, held in self.contracts.items()}

    def call(self, call: C, run: Callable[[C], A]) -> A:
        """Call a tool, from sync code."""
        return self._of(call).call(run, (call,), {})

    async def acall(self, call: C, run: Callable[[C], Awaitable[A]]) -> A:
        """Call a tool, from async code."""
        return await self._of(call).acall(run, (call,), {})

    def refuse_misfits(self, tools: ToolRegistry) -> None:
        """Refuse contracts on tools that are not there, or on arguments they do not take.

        Raises:
            DefinitionError: naming the tool, and the tools or arguments that there are; or the
                fallback that cannot take the tool's arguments.
        """
        for name in self.contracts:
            if name not in tools:
                known = ", ".join(map(repr, tools)) or "none"
                raise DefinitionError(
                    f"contracts: there is no tool {name!r}; the agent's tools are {known}"
                )
            self.refuse_misfit(tools[name])

    def refuse_misfit(self, tool: ToolSpec) -> None:
        """Refuse the contract on one tool, where it does not fit; without one all is well.

        Raises:
            DefinitionError: naming the arguments that there are, or the fallback that cannot
                take them.
        """
        held = self.contracts.get(tool.name)
        if held is None:
            return
        contract, recover = held
        if not tool.shape.open:
            contract.refuse_unknown_inputs(tuple(tool.shape.properties), tool.name)
        for fallback in recover.fallback:
            refuse_misfit(fallback, tool)

    def _of(self, call: C) -> HostedStep:
        name = self._host.tool(call)
        # A name that the model made up is not kept.
        return self._steps.get(name) or self._step(name, None, Recover())

    def keep(self, names: Sequence[str]) -> None:
        """Make the steps of these tools once and for all."""
        for name in names:
            if name not in self._steps:
                self._steps[name] = self._step(name, None, Recover())

    def _step(self, name: str, contract: Contract[Any] | None, recover: Recover) -> HostedStep:
        host = self._host
        unguarded = ContractReport(contract="", digest="", step=name, ok=True, verdicts=())

        def check(args: tuple[C], kwargs: Mapping[str, Any]) -> ContractReport:
            return host.check(args[0]) or unguarded

        operation = Operation(
            name=name,
            kind="tool",
            host=host.name,
            contract=contract,
            recover=self._for_calls(recover, name),
            bind=lambda args, kwargs: host.arguments(args[0]),
            rebuild=lambda args, kwargs, changed: ((host.changed(args[0], changed),), {}),
            view=lambda raw: host.value(raw) if host.is_answer(raw) else raw,
            meta=lambda args, kwargs: host.meta(args[0]),
            guard=check,
            judged=lambda raw: not (host.is_answer(raw) and host.is_error(raw)),
            recorded=lambda raw: host.recorded(raw) if host.is_answer(raw) else raw,
            may_retry=host.may_retry,
        )
        return HostedStep(operation, self._tell)

    def _tell(self, outcome: Outcome, args: tuple[Any, ...]) -> Any:
        """What the host gets for an outcome: a value, a correctable error, or a halt."""
        host, call = self._host, args[0]
        if outcome.ok:
            return host.answer(outcome.raw, call)
        report, decision = outcome.report, outcome.decision
        assert report is not None
        if outcome.status == "blocked" and decision is not None:
            given = decision.value
            text = _refusal(report) if given is None else given
            return host.error(text if isinstance(text, str) else str(text), call)
        if self._is_precondition(report):
            return host.error(feedback(report), call)
        violation = ContractViolation(report)
        violation.__cause__ = outcome.error
        return host.halt(violation, call)

    def _is_precondition(self, report: ContractReport) -> bool:
        """Whether the arguments are at fault, which the model can correct."""
        held = self.contracts.get(report.step)
        if held is None or report.attempts:
            return False
        own = {clause.name for clause in held[0].requires}
        return all(violation.clause in own for violation in report.violations)

    def _for_calls(self, recover: Recover, tool: str) -> Recover:
        if not recover.fallback:
            return recover
        fallbacks = tuple(self._for_call(one, tool) for one in recover.fallback)
        return replace(recover, fallback=fallbacks)

    def _for_call(self, fallback: Callable[..., Any], tool: str) -> Callable[[C], Any]:
        host, named = self._host, getattr(fallback, "__qualname__", type(fallback).__name__)
        if inspect.iscoroutinefunction(fallback):
            if self._sync:
                raise DefinitionError(
                    f"fallback {named!r} of tool {tool!r} is async, and the agent may be run "
                    f"sync: give a plain function"
                )

            async def acalled(call: C) -> A:
                return host.answer(await fallback(**host.arguments(call)), call)

            acalled.__qualname__ = named
            return acalled

        def called(call: C) -> A:
            return host.answer(fallback(**host.arguments(call)), call)

        called.__qualname__ = named
        return called


def _refusal(report: ContractReport) -> str:
    """The error text for the model; a hook's reason is not for it to correct."""
    first = report.violations[0]
    if first.clause.startswith("hornbook_"):
        return f"The call of {report.step!r} was not made: {first.hint or 'it is not allowed'}"
    return feedback(report)
