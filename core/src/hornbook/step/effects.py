"""The effects that a recovery asks for, and the two drivers that carry them out.

A recovery is a generator that yields effects and does no work itself, so that sync and
async hosts share one definition of what happens and leave equal records.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from inspect import isawaitable
from typing import Any, Protocol, TypeVar, cast

from hornbook.budget import Meter
from hornbook.contracts.contract import Contract
from hornbook.contracts.report import ContractReport, Violation
from hornbook.errors import BudgetExceeded, PluginError, told
from hornbook.step.control_flow import is_control_flow
from hornbook.step.hookset import Impl
from hornbook.step.model import Decision

__all__ = ["AskHooks", "Call", "Effect", "Inspect", "adrive", "drive"]

T = TypeVar("T")


class Effect(Protocol):
    """One thing to do, in either colour."""

    def run(self) -> Any:
        """Do it, from sync code."""
        ...

    async def arun(self) -> Any:
        """Do it, from async code."""
        ...


@dataclass(frozen=True, slots=True)
class Call:
    """Call the step's function, or a fallback."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]

    def run(self) -> Any:
        """Call it."""
        return self.function(*self.args, **self.kwargs)

    async def arun(self) -> Any:
        """Call it, and await what it gives: a sync fallback may serve an async step."""
        result = self.function(*self.args, **self.kwargs)
        return await result if isawaitable(result) else result


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspect:
    """Check a value, or the inputs, against a contract."""

    contract: Contract[Any]
    value: Any
    inputs: Mapping[str, Any]
    step: str
    meter: Meter | None
    requires: bool = False
    known: Sequence[object] = ()

    def run(self) -> ContractReport:
        """Check, with judges asked from a thread."""
        return self.contract.examine(
            self.value,
            self.inputs,
            step=self.step,
            meter=self.meter,
            requires=self.requires,
            known=self.known,
        )

    async def arun(self) -> ContractReport:
        """Check, with judges awaited."""
        return await self.contract.aexamine(
            self.value,
            self.inputs,
            step=self.step,
            meter=self.meter,
            requires=self.requires,
            known=self.known,
        )


@dataclass(frozen=True, slots=True)
class AskHooks:
    """Call every implementation of one hook; gives what they return, None left out."""

    hook: str
    impls: tuple[Impl, ...]
    arguments: Mapping[str, Any]

    def run(self) -> list[Any]:
        """Call them; one that is async cannot serve a sync step."""
        answers: list[Any] = []
        for impl in self.impls:
            answer = self._call(impl)
            if isawaitable(answer):
                close = getattr(answer, "close", None)
                if callable(close):
                    close()
                raise PluginError(
                    f"plugin {impl.plugin!r} implements {self.hook} as async, and the step is "
                    f"sync: implement it as a plain function, or run the step async"
                )
            answers.append(self._fit(impl, answer))
        return [answer for answer in answers if answer is not None]

    async def arun(self) -> list[Any]:
        """Call them in order, awaiting those that are async."""
        answers: list[Any] = []
        for impl in self.impls:
            answer = self._call(impl)
            if isawaitable(answer):
                try:
                    answer = await answer
                except Exception as error:
                    self._blame(impl, error)
                    raise
            answers.append(self._fit(impl, answer))
        return [answer for answer in answers if answer is not None]

    def _call(self, impl: Impl) -> Any:
        try:
            return impl.function(**{name: self.arguments[name] for name in impl.argnames})
        except Exception as error:
            self._blame(impl, error)
            raise

    def _blame(self, impl: Impl, error: Exception) -> None:
        """Name the plugin, unless what it raised is to pass as it is."""
        if not is_control_flow(error) and not isinstance(error, PluginError | BudgetExceeded):
            raise PluginError(
                f"plugin {impl.plugin!r} raised in {self.hook}: {told(error)}"
            ) from error

    def _fit(self, impl: Impl, answer: object) -> object:
        wanted, fits = _ANSWERS.get(self.hook, _DECISION)
        if answer is None or fits(answer):
            return answer
        raise PluginError(
            f"plugin {impl.plugin!r} gave {type(answer).__name__} from {self.hook}, "
            f"not {wanted} or None"
        )


def _are_violations(answer: object) -> bool:
    return _are(answer, Violation)


def _are_rules(answer: object) -> bool:
    from hornbook.rules import LearnedRule

    return _are(answer, LearnedRule)


def _are(answer: object, kind: type[object]) -> bool:
    if not isinstance(answer, Sequence) or isinstance(answer, str):
        return False
    found = cast("Sequence[object]", answer)
    return all(isinstance(one, kind) for one in found)


_DECISION: tuple[str, Callable[[object], bool]] = (
    "a Decision",
    lambda answer: isinstance(answer, Decision),
)
_ANSWERS: Mapping[str, tuple[str, Callable[[object], bool]]] = {
    "hornbook_check_output": ("a list of Violations", _are_violations),
    "hornbook_retrieve_rules": ("a list of LearnedRules", _are_rules),
    "hornbook_render_rules": ("a text", lambda answer: isinstance(answer, str)),
}
"""What a hook must give; any hook that is not named here gives a Decision."""


def drive(recovery: Generator[Effect, Any, T]) -> T:
    """Carry out a recovery from sync code."""
    go_on: Callable[[Any], Effect] = recovery.send
    given: Any = None
    while True:
        try:
            effect = go_on(given)
        except StopIteration as stop:
            return stop.value
        except RuntimeError as error:
            _as_it_was_raised(error, given)
            raise
        try:
            go_on, given = recovery.send, effect.run()
        except BaseException as error:  # noqa: BLE001 - the recovery decides about it
            go_on, given = recovery.throw, error


async def adrive(recovery: Generator[Effect, Any, T]) -> T:
    """Carry out a recovery from async code; no task and no thread is made."""
    go_on: Callable[[Any], Effect] = recovery.send
    given: Any = None
    while True:
        try:
            effect = go_on(given)
        except StopIteration as stop:
            return stop.value
        try:
            go_on, given = recovery.send, await effect.arun()
        except BaseException as error:  # noqa: BLE001 - the recovery decides about it
            go_on, given = recovery.throw, error


def _as_it_was_raised(error: RuntimeError, thrown: object) -> None:
    # No generator lets a StopIteration out, and a step may well raise one.
    if isinstance(thrown, StopIteration) and error.__cause__ is thrown:
        raise thrown from None
