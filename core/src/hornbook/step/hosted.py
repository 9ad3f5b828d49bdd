"""A step inside a host: what an adapter's wrap calls, and its one fast path.

As in `hornbook.step.hot`, the common case is written out with few operations: no plugin
takes part, the guard lets the call pass, and the contract, if there is one, is decided by
tests of the value alone. Anything else is handed to `Recovery`, which alone says what a
step means.
"""

from collections.abc import Awaitable, Callable
from time import perf_counter
from typing import Any, TypeAlias

from hornbook.contracts.clause import Raised
from hornbook.contracts.contract import Contract
from hornbook.step.effects import adrive, drive
from hornbook.step.hookset import slot
from hornbook.step.operation import Operation, Outcome
from hornbook.step.recovery import Living, Recovery
from hornbook.step.tried import Tried, raised_status
from hornbook.trace.frame import ENDED, OUTCOME, PARENT, RUN, VALUE, Frame, current

__all__ = ["HostedStep", "Tell"]

Args: TypeAlias = tuple[Any, ...]
Kwargs: TypeAlias = dict[str, Any]

Tell: TypeAlias = Callable[[Outcome, Args], Any]
"""Turns an outcome into what the host gets, or raises it."""


class HostedStep:
    """An operation of a host, called in either colour.

    A call gives the raw result when all is well at once, and else what `tell` makes of the
    outcome.
    """

    __slots__ = ("_decide", "_tell", "operation")

    def __init__(self, operation: Operation, tell: Tell) -> None:
        self.operation = operation
        self._tell = tell
        self._decide = _decision(operation)

    def call(self, fn: Callable[..., Any], args: Args, kwargs: Kwargs) -> Any:
        """Call `fn` as this step."""
        parent = current.get()
        if self._is_slow(parent):
            return self._tell(drive(Recovery(self.operation, fn, args, kwargs).live()), args)
        frame = None if parent is None else self._begin(parent, args, kwargs)
        refused = self._refused(frame, args, kwargs)
        if refused is not None:
            return self._tell(refused, args)
        try:
            raw = fn(*args, **kwargs)
        except BaseException as error:
            self._raised(frame, error)
            raise
        living = self._end(frame, fn, args, kwargs, raw)
        return raw if living is None else self._tell(drive(living), args)

    async def acall(
        self, fn: Callable[..., Awaitable[Any]], args: Args, kwargs: Kwargs
    ) -> Any:
        """Call the coroutine function `fn` as this step."""
        parent = current.get()
        if self._is_slow(parent):
            living = Recovery(self.operation, fn, args, kwargs).live()
            return self._tell(await adrive(living), args)
        frame = None if parent is None else self._begin(parent, args, kwargs)
        refused = self._refused(frame, args, kwargs)
        if refused is not None:
            return self._tell(refused, args)
        try:
            raw = await fn(*args, **kwargs)
        except BaseException as error:
            self._raised(frame, error)
            raise
        after = self._end(frame, fn, args, kwargs, raw)
        return raw if after is None else self._tell(await adrive(after), args)

    def _is_slow(self, parent: Frame | None) -> bool:
        if self._decide is None or not slot.quiet:
            return True
        if parent is None:
            return self.operation.recover.budget is not None
        return parent[RUN] is None

    def _begin(self, parent: Frame, args: Args, kwargs: Kwargs) -> Frame:
        operation, run = self.operation, parent[RUN]
        assert run is not None
        meta = operation.meta(args, kwargs)
        frame: Frame = [
            run, None, operation, parent, args, kwargs, perf_counter(), None, meta, None, None, None
        ]  # fmt: skip
        run.start(frame)
        if operation.kind == "model":
            try:
                run.meter.reserve(operation.name)
            except Exception as error:
                self._raised(frame, error)
                raise
        current.set(frame)
        return frame

    def _refused(self, frame: Frame | None, args: Args, kwargs: Kwargs) -> Outcome | None:
        guard = self.operation.guard
        if guard is None:
            return None
        try:
            report = guard(args, kwargs)
        except BaseException as error:
            self._raised(frame, error)
            raise
        if report.ok:
            return None
        if frame is not None:
            current.set(frame[PARENT])
        return Recovery(self.operation, guard, args, kwargs).refused(frame, report)

    def _raised(self, frame: Frame | None, error: BaseException) -> None:
        if frame is None:
            return
        current.set(frame[PARENT])
        frame[OUTCOME] = Outcome(status=raised_status(error), attempts=1, error=error)
        frame[ENDED] = perf_counter()
        frame[RUN].log.end(frame)

    def _end(
        self,
        frame: Frame | None,
        fn: Callable[..., Any],
        args: Args,
        kwargs: Kwargs,
        raw: Any,
    ) -> Living | None:
        """Record the end of a step that is well, or give what is left to do."""
        operation = self.operation
        run = None if frame is None else frame[RUN]
        if frame is not None:
            current.set(frame[PARENT])
        if run is not None and operation.spent is not None:
            used = operation.spent(raw)
            if used.tokens or used.cost:
                run.meter.settle(operation.name, tokens=used.tokens, cost=used.cost)
        assert self._decide is not None
        answer = self._decide(raw)
        if answer is not True:
            tried = Tried(raw=raw, known=Contract.known(answer))
            return Recovery(operation, fn, args, kwargs).live(frame, tried)
        if frame is not None and run is not None:
            shown = operation.recorded or operation.view
            frame[VALUE] = shown(raw)
            frame[ENDED] = perf_counter()
            if run.end is not None:
                run.end(frame)
        return None


def _decision(operation: Operation) -> Callable[[Any], object] | None:
    """A test of the raw result; None when no test of it alone decides the contract."""
    contract, view, judged = operation.contract, operation.view, operation.judged
    if operation.recover.on:
        return None
    if contract is None:
        return lambda raw: True
    test = None if contract.requires else contract.decide
    if test is None:
        return None

    def decide(raw: Any) -> object:
        if judged is not None and not judged(raw):
            return True
        try:
            return test(view(raw))
        except BaseException as error:  # noqa: BLE001 - the recovery decides about it
            return Raised(error)

    return decide
