"""The wrappers of plain and async functions, and their one fast path.

Every step of a user passes here, so the common case (no plugin takes part, the contract
is decided by tests of the value alone, and they all hold) is written out with as few
operations as it can have. Anything else is handed to `Recovery`, which alone says what a
step means; the fast path only leaves out what would have no effect.

What the wrappers call is bound in their closures: CPython compiles a method call on an
imported name to a slower instruction, which alone costs a fifth of a step here.
"""

from collections.abc import Callable, Coroutine
from time import perf_counter
from typing import Any

from hornbook.contracts.clause import Raised
from hornbook.contracts.contract import Contract
from hornbook.step.effects import adrive, drive
from hornbook.step.hookset import slot
from hornbook.step.operation import Operation, Outcome
from hornbook.step.recovery import Living, Recovery
from hornbook.step.tried import Tried, raised_status
from hornbook.trace.frame import ENDED, OUTCOME, RUN, VALUE, Frame, current
from hornbook.trace.runs import NO_META

__all__ = ["async_wrapper", "sync_wrapper"]


def sync_wrapper(  # noqa: C901 - written out on purpose
    fn: Callable[..., Any], operation: Operation
) -> Callable[..., Any]:
    """Put `operation` around the plain function `fn`."""
    decide = _decision(operation)
    if decide is None:
        return _slow(fn, operation)
    clock, get_frame, set_frame = perf_counter, current.get, current.set

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        parent = get_frame()
        run = None if parent is None else parent[0]
        if not slot.quiet or (run is None and parent is not None):
            return drive(Recovery(operation, fn, args, kwargs).live()).settled()
        if run is None:
            frame: Any = None
            value = fn(*args, **kwargs)
        else:
            start = run.start
            frame = [
                run, None, operation, parent, args, kwargs, clock(), None, NO_META, None, None, None
            ]  # fmt: skip
            start(frame)
            set_frame(frame)
            try:
                value = fn(*args, **kwargs)
            except BaseException as error:
                set_frame(parent)
                _end_raised(frame, error)
                raise
            set_frame(parent)
        try:
            answer = decide(value)
        except Exception as error:  # noqa: BLE001 - the recovery decides about it
            answer = Raised(error)
        except BaseException as error:
            if run is not None:
                _end_raised(frame, error)
            raise
        if answer is True:
            if run is not None:
                frame[VALUE] = value
                frame[ENDED] = clock()
                end = run.end
                if end is not None:
                    end(frame)
            return value
        return drive(_resumed(operation, fn, args, kwargs, frame, value, answer)).settled()

    return wrapper


def async_wrapper(  # noqa: C901 - written out on purpose
    fn: Callable[..., Coroutine[Any, Any, Any]], operation: Operation
) -> Callable[..., Coroutine[Any, Any, Any]]:
    """Put `operation` around the coroutine function `fn`; no task and no thread is made."""
    decide = _decision(operation)
    if decide is None:
        return _async_slow(fn, operation)
    clock, get_frame, set_frame = perf_counter, current.get, current.set

    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        parent = get_frame()
        run = None if parent is None else parent[0]
        if not slot.quiet or (run is None and parent is not None):
            return (await adrive(Recovery(operation, fn, args, kwargs).live())).settled()
        if run is None:
            frame: Any = None
            value = await fn(*args, **kwargs)
        else:
            start = run.start
            frame = [
                run, None, operation, parent, args, kwargs, clock(), None, NO_META, None, None, None
            ]  # fmt: skip
            start(frame)
            set_frame(frame)
            try:
                value = await fn(*args, **kwargs)
            except BaseException as error:
                set_frame(parent)
                _end_raised(frame, error)
                raise
            set_frame(parent)
        try:
            answer = decide(value)
        except Exception as error:  # noqa: BLE001 - the recovery decides about it
            answer = Raised(error)
        except BaseException as error:
            if run is not None:
                _end_raised(frame, error)
            raise
        if answer is True:
            if run is not None:
                frame[VALUE] = value
                frame[ENDED] = clock()
                end = run.end
                if end is not None:
                    end(frame)
            return value
        living = _resumed(operation, fn, args, kwargs, frame, value, answer)
        return (await adrive(living)).settled()

    return wrapper


def _slow(fn: Callable[..., Any], operation: Operation) -> Callable[..., Any]:
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return drive(Recovery(operation, fn, args, kwargs).live()).settled()

    return wrapper


def _async_slow(
    fn: Callable[..., Coroutine[Any, Any, Any]], operation: Operation
) -> Callable[..., Coroutine[Any, Any, Any]]:
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        return (await adrive(Recovery(operation, fn, args, kwargs).live())).settled()

    return wrapper


def _decision(operation: Operation) -> Callable[[Any], object] | None:
    contract, recover = operation.contract, operation.recover
    if contract is None or contract.requires or recover.on or recover.budget is not None:
        return None
    return contract.decide


def _resumed(
    operation: Operation,
    fn: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    frame: Frame | None,
    value: Any,
    answer: object,
) -> Living:
    tried = Tried(raw=value, known=Contract.known(answer))
    return Recovery(operation, fn, args, kwargs).live(frame, tried)


def _end_raised(frame: Frame, error: BaseException) -> None:
    frame[OUTCOME] = Outcome(status=raised_status(error), attempts=1, error=error)
    frame[ENDED] = perf_counter()
    frame[RUN].log.end(frame)
