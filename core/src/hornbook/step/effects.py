"""The effects that a recovery asks for, and the two drivers that carry them out.

A recovery is a generator that yields effects and does no work itself, so that sync and
async hosts share one definition of what happens and leave equal records.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from inspect import isawaitable
from typing import Any, Protocol, TypeVar

from hornbook.budget import Meter
from hornbook.contracts.contract import Contract
from hornbook.contracts.report import ContractReport
from hornbook.errors import PluginError
from hornbook.step.control_flow import is_control_flow
from hornbook.step.hookset import Impl

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
            answers.append(answer)
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
                    raise self._told(impl, error) from error
            answers.append(answer)
        return [answer for answer in answers if answer is not None]

    def _call(self, impl: Impl) -> Any:
        try:
            return impl.function(**{name: self.arguments[name] for name in impl.argnames})
        except Exception as error:
            raise self._told(impl, error) from error

    def _told(self, impl: Impl, error: Exception) -> Exception:
        if is_control_flow(error) or isinstance(error, PluginError):
            return error
        return PluginError(
            f"plugin {impl.plugin!r} raised in {self.hook}: {type(error).__name__}: {error}"
        )


def drive(recovery: Generator[Effect, Any, T]) -> T:
    """Carry out a recovery from sync code."""
    try:
        effect = next(recovery)
        while True:
            try:
                result = effect.run()
            except BaseException as error:  # noqa: BLE001 - the recovery decides about it
                effect = recovery.throw(error)
            else:
                effect = recovery.send(result)
    except StopIteration as stop:
        return stop.value


async def adrive(recovery: Generator[Effect, Any, T]) -> T:
    """Carry out a recovery from async code; no task and no thread is made."""
    try:
        effect = next(recovery)
        while True:
            try:
                result = await effect.arun()
            except BaseException as error:  # noqa: BLE001 - the recovery decides about it
                effect = recovery.throw(error)
            else:
                effect = recovery.send(result)
    except StopIteration as stop:
        return stop.value
