"""The step around a module's call: inputs by name, contract, recovery, and where halts end."""

import inspect
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, cast

from hornbook.contracts.contract import Contract
from hornbook.contracts.report import ContractViolation
from hornbook.errors import BudgetExceeded, DefinitionError
from hornbook.step.attempts import feedback
from hornbook.step.hosted import HostedStep
from hornbook.step.operation import Operation, Outcome
from hornbook.step.recover import Recover
from hornbook_dspy import pickling as pickling
from hornbook_dspy.agent import Agent
from hornbook_dspy.carried import (
    Again,
    Carried,
    at_step,
    carried,
    carrying,
    joined,
    refuse_no_model,
)
from hornbook_dspy.compat import dspy, settings
from hornbook_dspy.fitted import fitted
from hornbook_dspy.halting import Halt
from hornbook_dspy.identity import step_identity
from hornbook_dspy.inputs import Inputs, signature_inputs
from hornbook_dspy.lm import HornbookLM, with_hornbook
from hornbook_dspy.scope import Scope
from hornbook_dspy.structure import copied

__all__ = ["ModuleStep", "fields_of", "inputs_of"]

Invoke = Callable[..., Any]
"""Calls a module with its arguments: `invoke(module, *args, **kwargs)`."""

_UNRECORDED = ("trajectory", "history")
"""Fields that tell what the steps inside tell already."""


class ModuleStep:
    """What stands around the calls of one module. Immutable: copies of the module share it.

    Args:
        name: what reports and records call it.
        inputs: what it takes.
        contract: on its inputs, and on its prediction as a dict of its fields.
        recover: a fallback takes the inputs by name and gives a prediction or a mapping; it may
            be a module.
        agent: what was attached to the agent that it is.

    Raises:
        DefinitionError: the contract names what is no input, or a fallback cannot work.
    """

    def __init__(
        self,
        name: str,
        inputs: Inputs,
        *,
        contract: Contract[Any] | None = None,
        recover: Recover | None = None,
        agent: Agent | None = None,
    ) -> None:
        if contract is not None and inputs.names is not None:
            contract.refuse_unknown_inputs(inputs.names, name)
        self._given = (name, inputs, contract, recover, agent)
        self.inputs = inputs
        self._agent = agent
        held = None if contract is None else fitted(contract)
        recovering = recover or Recover()
        for one in recovering.fallback:
            _refuse_unfit(one, name, inputs.names)
        # A halt inside may be what the recovery is for; a spent budget never is.
        self._on = tuple(kind for kind in recovering.on if not issubclass(kind, BudgetExceeded))
        self._sync = self._hosted(name, held, recovering, _sync_fallback)
        self._async = self._hosted(name, held, recovering, _async_fallback)

    def call(self, module: Any, invoke: Invoke, args: tuple[Any, ...], kwargs: Any) -> Any:
        """Call the module, from sync code."""

        def attempt(*args: Any, **kwargs: Any) -> Any:
            with self._attempt(args, kwargs) as (scope, again):
                return scope.gave(invoke(_retried(module, again), *args, **kwargs))

        with self._around(module):
            return self._sync.call(attempt, args, kwargs)

    async def acall(
        self,
        module: Any,
        invoke: Callable[..., Awaitable[Any]],
        args: tuple[Any, ...],
        kwargs: Any,
    ) -> Any:
        """Call the module, from async code."""

        async def attempt(*args: Any, **kwargs: Any) -> Any:
            with self._attempt(args, kwargs) as (scope, again):
                return scope.gave(await invoke(_retried(module, again), *args, **kwargs))

        with self._around(module):
            return await self._async.acall(attempt, args, kwargs)

    def __deepcopy__(self, memo: object) -> "ModuleStep":
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, self._given

    @contextmanager
    def _around(self, module: Any) -> Generator[None]:
        """One call: what is called inside sees its scope, and a model with Hornbook."""
        held, more = carried(), dict[str, Any]()
        lm = settings.get("lm")
        if lm is not None:
            refuse_no_model(lm)
            more["lm"] = with_hornbook(lm)
        if held.scope is not None:
            held.scope.refuse_halted()
        scope = Scope(
            held.scope,
            self.inputs.names,
            module=module,
            agent=self._agent,
            in_tool=held.in_tool,
            recovers=self._on,
        )
        here = replace(at_step(held), scope=scope, in_tool=False)
        with _ending(held), joined(held), carrying(here, **more):
            try:
                yield
            finally:
                scope.trials.end()

    @contextmanager
    def _attempt(
        self, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> Generator[tuple[Scope, Again | None]]:
        """One attempt, which is told what was wrong with the one before."""
        held = carried()
        scope = cast("Scope", held.scope)
        # ReActV2 takes a history that is no field of its signature.
        earlier = {"history": kwargs["history"]} if "history" in kwargs else {}
        scope.hear({**earlier, **self.inputs.bind(args, kwargs)})
        told = feedback()
        again = held.again if told is None else _further(held.again, told.attempt, str(told))
        try:
            with carrying(replace(at_step(held), again=again), **scope.trials.begin()):
                yield scope, again
        except Halt as halt:
            if not isinstance(halt.error, self._on):
                raise
            scope.go_on(halt.error)
            raise halt.error from halt.error.__cause__

    def _hosted(
        self,
        name: str,
        contract: Contract[Any] | None,
        recover: Recover,
        fallback: Callable[[Any], Any],
    ) -> HostedStep:
        operation = Operation(
            name=name,
            kind="node",
            host="dspy",
            contract=contract,
            recover=replace(recover, fallback=tuple(map(fallback, recover.fallback))),
            bind=self.inputs.bind,
            rebuild=self.inputs.rebuild,
            view=fields_of,
            recorded=_recorded,
            meta=lambda args, kwargs: step_identity(),
        )
        return HostedStep(operation, _told)


def inputs_of(module: Any) -> Inputs:
    """The inputs of a module; those of `Contracted` are those of the module in it."""
    step = getattr(module, "_step", None)
    return step.inputs if isinstance(step, ModuleStep) else signature_inputs(module)


def fields_of(raw: Any) -> Any:
    """A prediction as a dict of its fields; anything else as it is."""
    return dict(raw.items()) if isinstance(raw, dspy.Example) else raw


def _recorded(raw: Any) -> Any:
    fields = fields_of(raw)
    if not isinstance(fields, dict):
        return fields
    shown = cast("dict[str, Any]", fields).items()
    return {name: value for name, value in shown if name not in _UNRECORDED}


def _told(outcome: Outcome, args: tuple[Any, ...]) -> Any:
    """What the caller gets: a prediction, or a halt on its way to the outermost call."""
    scope = cast("Scope", carried().scope)
    if outcome.ok:
        return outcome.raw if scope.has_given(outcome.raw) else _as_prediction(outcome.raw)
    report, decision = outcome.report, outcome.decision
    assert report is not None
    if outcome.status == "blocked" and decision is not None and decision.value is not None:
        return _as_prediction(decision.value)
    violation = ContractViolation(report)
    violation.__cause__ = outcome.error
    raise violation if scope.outer is None else scope.outer.halt(violation)


def _as_prediction(raw: Any) -> Any:
    return dspy.Prediction(**cast("dict[str, Any]", raw)) if isinstance(raw, dict) else raw


@contextmanager
def _ending(held: Carried) -> Generator[None]:
    """Where nothing of ours is around, a halt becomes the error that it carries."""
    try:
        yield
    except Halt as halt:
        if held.scope is not None:
            raise
        raise halt.error from halt.error.__cause__


def _further(around: Again | None, attempt: int, told: str) -> Again:
    if around is None:
        return Again(attempt=attempt, told=told)
    return Again(attempt=around.attempt * 100 + attempt, told=f"{around.told}\n\n{told}")


def _retried(module: Any, again: Again | None) -> Any:
    """The module, or for a further attempt one whose own models can be told of it."""
    if again is None or all(_is_told(one.lm) for one in module.predictors()):
        return module
    return copied(module, with_hornbook)


def _is_told(lm: Any) -> bool:
    return lm is None or isinstance(lm, HornbookLM)


def _refuse_unfit(fallback: Any, step: str, names: Sequence[str] | None) -> None:
    if isinstance(fallback, dspy.Module):
        return
    named = _named(fallback)
    if inspect.iscoroutinefunction(fallback):
        raise DefinitionError(
            f"fallback {named!r} of module {step!r} is async, and the module may be called sync: "
            f"give a plain function or a module"
        )
    if names is None:
        return
    try:
        inspect.signature(fallback).bind(**dict.fromkeys(names))
    except TypeError as error:
        raise DefinitionError(
            f"fallback {named!r} of module {step!r} cannot take its input fields "
            f"({', '.join(names)}) by name: {error}"
        ) from None


def _sync_fallback(fallback: Any) -> Any:
    def called(*args: Any, **kwargs: Any) -> Any:
        with _instead():
            return fallback(*args, **kwargs)

    called.__qualname__ = _named(fallback)
    return called


def _async_fallback(fallback: Any) -> Any:
    if not isinstance(fallback, dspy.Module):
        return _sync_fallback(fallback)

    async def called(*args: Any, **kwargs: Any) -> Any:
        with _instead():
            return await fallback.acall(*args, **kwargs)

    called.__qualname__ = _named(fallback)
    return called


@contextmanager
def _instead() -> Generator[None]:
    """What a fallback does is all that counts from now on."""
    held = carried()
    with carrying(at_step(held), **cast("Scope", held.scope).trials.begin()):
        yield


def _named(fallback: Any) -> str:
    return str(getattr(fallback, "__qualname__", None) or type(fallback).__name__)


def _rebuilt(name: str, inputs: Inputs, contract: Any, recover: Any, agent: Any) -> ModuleStep:
    return ModuleStep(name, inputs, contract=contract, recover=recover, agent=agent)
