"""The functions that `contract` and `checked` put in place of a step's own."""

import functools
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from typing import Any, ParamSpec, TypeVar, cast

from hornbook.contracts.contract import Contract
from hornbook.errors import DefinitionError
from hornbook.step.binding import Parameters
from hornbook.step.colour import is_asyncgen, is_coroutine, is_generator, qualified
from hornbook.step.effects import adrive, drive
from hornbook.step.hot import async_wrapper, sync_wrapper
from hornbook.step.model import Checked
from hornbook.step.operation import Operation, Outcome
from hornbook.step.recover import Recover
from hornbook.step.recovery import Recovery
from hornbook.step.tried import Truncated

__all__ = ["Contracted", "checking", "contracted", "decorated"]

P = ParamSpec("P")
R = TypeVar("R")


class Contracted:
    """What stands behind a decorated function: its operation and what to call."""

    __slots__ = ("asynchronous", "function", "generator", "operation", "parameters")

    def __init__(
        self,
        operation: Operation,
        function: Callable[..., Any],
        *,
        asynchronous: bool,
        generator: bool,
    ) -> None:
        self.operation = operation
        self.function = function
        """Gives the value that is checked: for a generator, the list of its items."""
        self.asynchronous = asynchronous
        self.generator = generator


def checking(fn: Callable[P, Any]) -> Callable[P, Any]:
    """The twin of a decorated function that gives a `Checked`."""
    owner = getattr(fn, "__self__", None)
    step = contracted(fn)
    before = () if owner is None else (owner,)
    if step.asynchronous:

        async def acheck(*args: P.args, **kwargs: P.kwargs) -> Checked[Any]:
            recovery = Recovery(step.operation, step.function, (*before, *args), dict(kwargs))
            return _as_checked(await adrive(recovery.live()))

        return functools.wraps(fn)(acheck)

    def check(*args: P.args, **kwargs: P.kwargs) -> Checked[Any]:
        recovery = Recovery(step.operation, step.function, (*before, *args), dict(kwargs))
        return _as_checked(drive(recovery.live()))

    return functools.wraps(fn)(check)


def contracted(fn: Callable[..., Any]) -> Contracted:
    """What stands behind a function that `contract` decorated.

    Raises:
        DefinitionError: `fn` has no contract.
    """
    step = getattr(fn, "__hornbook__", None)
    if not isinstance(step, Contracted):
        named = getattr(fn, "__qualname__", None) or repr(fn)
        raise DefinitionError(f"{named} has no contract: decorate it with @contract(...)")
    return step


def _as_checked(outcome: Outcome) -> Checked[Any]:
    assert outcome.report is not None
    status = outcome.status if outcome.ok else "violated"
    return Checked(
        value=outcome.raw if outcome.ok else None,
        status=cast("Any", status),
        report=outcome.report,
        attempts=outcome.attempts,
    )


def decorated(
    fn: Callable[P, R],
    contract: Contract[Any],
    recover: Recover,
    name: str | None,
    deterministic: bool,
    max_items: int,
) -> Callable[P, R]:
    """`fn` under its contract; see `hornbook.contract`."""
    if isinstance(fn, type) or not callable(fn):
        raise DefinitionError(
            f"contract {contract.name!r}: {fn!r} is no function; of a class decorate its methods, "
            f"of a framework's own classes see its adapter"
        )
    parameters = Parameters(fn)
    step = name or qualified(fn)
    contract.refuse_unknown_inputs(parameters.names, step)
    if deterministic and recover.retry and recover.modify is None:
        raise DefinitionError(
            f"step {step!r} is declared deterministic, so that a retry gives the same again: "
            f"give Recover(modify=...), or no retry"
        )
    _refuse_unfit_fallbacks(fn, step, parameters, recover)
    operation = Operation(
        name=step,
        bind=parameters.bind,
        rebuild=parameters.rebuild,
        contract=contract,
        recover=_collecting_fallbacks(recover, max_items),
    )
    wrapper, behind = _wrapped(fn, operation, max_items)
    wrapper = functools.wraps(fn)(wrapper)
    vars(wrapper)["__hornbook__"] = behind
    return cast("Callable[P, R]", wrapper)


def _wrapped(
    fn: Callable[..., Any], operation: Operation, max_items: int
) -> tuple[Callable[..., Any], Contracted]:
    if is_asyncgen(fn):
        collect = _acollecting(fn, max_items)
        behind = Contracted(operation, collect, asynchronous=True, generator=True)

        async def items(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, None]:
            living = Recovery(operation, collect, args, kwargs).live()
            for item in (await adrive(living)).settled():
                yield item

        return items, behind
    if is_generator(fn):
        gather = _collecting(fn, max_items)
        behind = Contracted(operation, gather, asynchronous=False, generator=True)

        def each(*args: Any, **kwargs: Any) -> Generator[Any, None, None]:
            yield from drive(Recovery(operation, gather, args, kwargs).live()).settled()

        return each, behind
    if is_coroutine(fn):
        behind = Contracted(operation, fn, asynchronous=True, generator=False)
        return async_wrapper(fn, operation), behind
    behind = Contracted(operation, fn, asynchronous=False, generator=False)
    return sync_wrapper(fn, operation), behind


def _collecting(fn: Callable[..., Any], max_items: int) -> Callable[..., list[Any]]:
    def collect(*args: Any, **kwargs: Any) -> list[Any]:
        items: list[Any] = []
        source = fn(*args, **kwargs)
        for item in source:
            if len(items) == max_items:
                source.close()
                return Truncated(items)
            items.append(item)
        return items

    return functools.wraps(fn)(collect)


def _acollecting(fn: Callable[..., Any], max_items: int) -> Callable[..., Awaitable[list[Any]]]:
    async def collect(*args: Any, **kwargs: Any) -> list[Any]:
        items: list[Any] = []
        source = fn(*args, **kwargs)
        async for item in source:
            if len(items) == max_items:
                await source.aclose()
                return Truncated(items)
            items.append(item)
        return items

    return functools.wraps(fn)(collect)


def _collecting_fallbacks(recover: Recover, max_items: int) -> Recover:
    from dataclasses import replace

    def collected(fallback: Callable[..., Any]) -> Callable[..., Any]:
        if is_asyncgen(fallback):
            return _acollecting(fallback, max_items)
        return _collecting(fallback, max_items) if is_generator(fallback) else fallback

    if not recover.fallback:
        return recover
    return replace(recover, fallback=tuple(collected(one) for one in recover.fallback))


def _refuse_unfit_fallbacks(
    fn: Callable[..., Any], step: str, parameters: Parameters, recover: Recover
) -> None:
    asynchronous = is_coroutine(fn) or is_asyncgen(fn)
    for fallback in recover.fallback:
        named = qualified(fallback)
        if not asynchronous and (is_coroutine(fallback) or is_asyncgen(fallback)):
            raise DefinitionError(
                f"step {step!r} is sync and its fallback {named!r} is async: "
                f"make the step async, or the fallback sync"
            )
        theirs = Parameters(fallback)
        if not theirs.same_call_as(parameters):
            raise DefinitionError(
                f"step {step!r} takes {parameters} and its fallback {named!r} takes {theirs}: "
                f"a fallback is called with the same arguments"
            )
