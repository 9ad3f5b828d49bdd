"""The step around each model call of an agent: rules, feedback, contract, budget and record."""

from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from hornbook.budget import Spent
from hornbook.contracts.contract import Contract
from hornbook.contracts.report import ContractViolation
from hornbook.hosting.fallbacks import refuse_unfit
from hornbook.hosting.rules import Rules
from hornbook.step.attempts import feedback
from hornbook.step.effects import Call, Effect, adrive, drive
from hornbook.step.hosted import HostedStep
from hornbook.step.operation import Operation, Outcome
from hornbook.step.recover import Recover

__all__ = ["INPUTS", "MODEL", "ModelHost", "ModelSteps", "Usage"]

MODEL = "model"
"""The name of model steps, and the key of the contract on the agent's final answers."""

INPUTS = ("request", "results", "messages", "system", "tools", "state")
"""What a contract on final answers can name, where the host has it."""

Q = TypeVar("Q")
R = TypeVar("R")


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What a response says of itself."""

    model: str | None = None
    input_tokens: int = 0
    output_tokens: int = 0


class ModelHost(Generic[Q, R]):
    """How a host's requests `Q` to a model and its responses `R` are read and written."""

    name: str = "python"
    """The host's name, for the record."""

    def inputs(self, request: Q) -> Mapping[str, Any]:
        """`request` (the user's last text) and `results` (this turn's); more of `INPUTS`."""
        raise NotImplementedError

    def tools(self, request: Q) -> Sequence[str]:
        """The names of the tools that the model is offered."""
        raise NotImplementedError

    def agent(self, request: Q) -> str | None:
        """The name of the agent that asks, where it has one."""
        return None

    def with_rules(self, request: Q, text: str) -> Q:
        """The request with the rules after its instructions."""
        raise NotImplementedError

    def with_feedback(self, request: Q, told: str, rejected: R | None) -> Q:
        """The request with the rejected answer and what was wrong with it."""
        raise NotImplementedError

    def held_back(self, request: Q) -> Q:
        """The request so made that nothing of the answer is streamed before it is accepted."""
        return request

    def changed(self, request: Q, inputs: Mapping[str, Any]) -> Q:
        """The request with other values for these inputs.

        Raises:
            DefinitionError: naming what can be changed.
        """
        raise NotImplementedError

    def is_response(self, value: object) -> bool:
        """Whether a value is a response of the host; plugins may give a text in its place."""
        return not isinstance(value, str)

    def is_final(self, response: R) -> bool:
        """Whether the model answers the user, and does not call tools."""
        raise NotImplementedError

    def value(self, response: R) -> Any:
        """What the contract sees of a final answer: its text, or its structure."""
        raise NotImplementedError

    def usage(self, response: R) -> Usage:
        """Which model answered, and the tokens it counted; zero where it does not say."""
        return Usage()

    def recorded(self, response: R) -> Any:
        """What the record holds of a response."""
        return self.value(response)

    def answer(self, value: Any, request: Q) -> R:
        """The host's form of an answer; one that has that form already stays as it is."""
        raise NotImplementedError

    def halted(self, request: Q) -> R | None:
        """The closing answer of a turn that a tool has halted; None where none has."""
        return None

    def halt(self, violation: ContractViolation, request: Q) -> R:
        """End the turn: by a closing answer, or by raising the violation."""
        raise violation

    def meta(self, request: Q) -> Mapping[str, Any]:
        """The host's own ids for the call."""
        return {}

    def may_retry(self) -> bool:
        """Whether a retry is allowed here and now."""
        return True


class ModelSteps(Generic[Q, R]):
    """What stands around every model call of one agent.

    Args:
        host: how the calls look.
        final: the contract on final answers, with its recovery; a fallback takes the request,
            as the host has it, and gives the answer.
        rules: where learned rules come from.

    Raises:
        DefinitionError: the contract names an input that there is not, or a fallback cannot
            be called with the request alone.
    """

    def __init__(
        self,
        host: ModelHost[Q, R],
        *,
        final: tuple[Contract[Any], Recover] | None = None,
        rules: Rules | None = None,
    ) -> None:
        self.host = host
        self.rules = rules or Rules()
        contract, recover = final or (None, Recover())
        self.holds_back = contract is not None
        if contract is not None:
            contract.refuse_unknown_inputs(INPUTS, MODEL)
        operation = Operation(
            name=MODEL,
            kind="model",
            host=host.name,
            contract=contract,
            recover=self._for_requests(recover),
            bind=lambda args, kwargs: host.inputs(args[0]),
            rebuild=lambda args, kwargs, changed: ((host.changed(args[0], changed),), {}),
            view=lambda raw: host.value(raw) if host.is_response(raw) else raw,
            meta=lambda args, kwargs: host.meta(args[0]),
            judged=lambda raw: not host.is_response(raw) or host.is_final(raw),
            recorded=lambda raw: host.recorded(raw) if host.is_response(raw) else raw,
            spent=self._spent,
            may_retry=host.may_retry,
        )
        self._step = HostedStep(operation, self._tell)

    def call(self, request: Q, run: Callable[[Q], R]) -> R:
        """Call the model, from sync code."""
        halted = self.host.halted(request)
        if halted is not None:
            return halted
        if not self.holds_back and not self.rules.may_apply():
            return self._step.call(run, (request,), {})
        return self._step.call(_Asking(self, run).ask, (request,), {})

    async def acall(self, request: Q, run: Callable[[Q], Awaitable[R]]) -> R:
        """Call the model, from async code."""
        halted = self.host.halted(request)
        if halted is not None:
            return halted
        if not self.holds_back and not self.rules.may_apply():
            return await self._step.acall(run, (request,), {})
        return await self._step.acall(_Asking(self, run).aask, (request,), {})

    def _tell(self, outcome: Outcome, args: tuple[Any, ...]) -> Any:
        host, request = self.host, args[0]
        if outcome.ok:
            return host.answer(outcome.raw, request)
        report, decision = outcome.report, outcome.decision
        assert report is not None
        if outcome.status == "blocked" and decision is not None and decision.value is not None:
            return host.answer(decision.value, request)
        violation = ContractViolation(report)
        violation.__cause__ = outcome.error
        return host.halt(violation, request)

    def _spent(self, response: Any) -> Spent:
        usage = self.host.usage(response)
        return Spent(tokens=usage.input_tokens + usage.output_tokens)

    def _for_requests(self, recover: Recover) -> Recover:
        if not recover.fallback:
            return recover
        return replace(recover, fallback=tuple(map(self._answering, recover.fallback)))

    def _answering(self, fallback: Callable[..., Any]) -> Callable[[Q], Any]:
        refuse_unfit(fallback)

        def answer(request: Q) -> R:
            return self.host.answer(fallback(request), request)

        answer.__qualname__ = getattr(fallback, "__qualname__", "fallback")
        return answer


class _Asking(Generic[Q, R]):
    """One model call with its attempts: rules are found once, feedback is the newest."""

    __slots__ = ("_rejected", "_run", "_steps", "_text")

    def __init__(self, steps: ModelSteps[Q, R], run: Callable[[Q], Any]) -> None:
        self._steps = steps
        self._run = run
        self._text: str | None = None
        self._rejected: R | None = None

    def ask(self, request: Q) -> R:
        """One attempt, from sync code."""
        return drive(self._attempt(request))

    async def aask(self, request: Q) -> R:
        """One attempt, from async code."""
        return await adrive(self._attempt(request))

    def _attempt(self, request: Q) -> Generator[Effect, Any, R]:
        steps, host = self._steps, self._steps.host
        if self._text is None:
            query = str(host.inputs(request).get("request", ""))
            tools, agent = host.tools(request), host.agent(request)
            self._text = yield from steps.rules.text(query, tools, agent)
        changed = host.held_back(request) if steps.holds_back else request
        if self._text:
            changed = host.with_rules(changed, self._text)
        told = feedback()
        if told is not None:
            changed = host.with_feedback(changed, str(told), self._rejected)
        response: R = yield Call(self._run, (changed,), {})
        self._rejected = response
        return response
