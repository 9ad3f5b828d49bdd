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
from hornbook.contracts.report import ContractReport
from hornbook.step.effects import adrive, drive
from hornbook.step.hookset import slot
from hornbook.step.operation import Operation, Outcome
from hornbook.step.recovery import Living, Recovery
from hornbook.step.sources import Sourced
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

    __slots__ = ("_counted", "_decide", "_fast", "_tell", "operation")

    def __init__(self, operation: Operation, tell: Tell) -> None:
        self.operation = operation
        self._tell = tell
        self._fast, self._decide = _decision(operation)
        self._counted = operation.kind == "model"

    def call(self, fn: Callable[..., Any], args: Args, kwargs: Kwargs) -> Any:
        """Call `fn` as this step."""
        parent, operation = current.get(), self.operation
        run = None if parent is None else parent[RUN]
        if not self._fast or not slot.quiet or (run is None and parent is not None):
            return self._tell(drive(Recovery(operation, fn, args, kwargs).live()), args)
        frame: Frame | None = None
        if run is not None:
            meta, now = operation.meta(args, kwargs), perf_counter()
            kept = args if operation.kept is None else operation.kept(args)
            frame = [run, None, operation, parent, kept, kwargs, now, None, meta, None, None, None]
            run.start(frame)
            current.set(frame)
        try:
            if self._counted and run is not None:
                run.meter.reserve(operation.name)
            if operation.guard is not None:
                report = operation.guard(args, kwargs)
                if not report.ok:
                    return self._tell(self._refused(frame, report, args, kwargs), args)
                if frame is not None:
                    frame[OUTCOME] = Sourced(None, report)
            raw = fn(*args, **kwargs)
        except BaseException as error:
            self._raised(frame, error)
            raise
        current.set(parent)
        living = self._finish(frame, fn, args, kwargs, raw)
        return raw if living is None else self._tell(drive(living), args)

    async def acall(self, fn: Callable[..., Awaitable[Any]], args: Args, kwargs: Kwargs) -> Any:
        """Call the coroutine function `fn` as this step."""
        parent, operation = current.get(), self.operation
        run = None if parent is None else parent[RUN]
        if not self._fast or not slot.quiet or (run is None and parent is not None):
            return self._tell(await adrive(Recovery(operation, fn, args, kwargs).live()), args)
        frame: Frame | None = None
        if run is not None:
            meta, now = operation.meta(args, kwargs), perf_counter()
            kept = args if operation.kept is None else operation.kept(args)
            frame = [run, None, operation, parent, kept, kwargs, now, None, meta, None, None, None]
            run.start(frame)
            current.set(frame)
        try:
            if self._counted and run is not None:
                run.meter.reserve(operation.name)
            if operation.guard is not None:
                report = operation.guard(args, kwargs)
                if not report.ok:
                    return self._tell(self._refused(frame, report, args, kwargs), args)
                if frame is not None:
                    frame[OUTCOME] = Sourced(None, report)
            raw = await fn(*args, **kwargs)
        except BaseException as error:
            self._raised(frame, error)
            raise
        current.set(parent)
        living = self._finish(frame, fn, args, kwargs, raw)
        return raw if living is None else self._tell(await adrive(living), args)

    def _refused(self, frame: Frame | None, report: Any, args: Args, kwargs: Kwargs) -> Outcome:
        if frame is not None:
            current.set(frame[PARENT])
        return Recovery(self.operation, _never, args, kwargs).refused(frame, report)

    def _raised(self, frame: Frame | None, error: BaseException) -> None:
        if frame is None or frame[ENDED] is not None:
            return
        current.set(frame[PARENT])
        passed = _passed(frame)
        outcome = Outcome(status=raised_status(error), attempts=1, error=error)
        frame[OUTCOME] = outcome if passed is None else Sourced(outcome, passed)
        frame[ENDED] = perf_counter()
        frame[RUN].log.end(frame)

    def _finish(
        self, frame: Frame | None, fn: Callable[..., Any], args: Args, kwargs: Kwargs, raw: Any
    ) -> Living | None:
        """Count what was spent, and end a step that is well, or give what is left to do."""
        operation, decide = self.operation, self._decide
        run = None if frame is None else frame[RUN]
        if run is not None and operation.spent is not None:
            used = operation.spent(raw)
            if used.tokens or used.cost:
                run.meter.settle(operation.name, tokens=used.tokens, cost=used.cost)
        if decide is not None:
            try:
                answer = decide(raw)
            except BaseException as error:
                self._raised(frame, error)
                raise
            if answer is not True:
                tried = Tried(raw=raw, known=Contract.known(answer), passed=_passed(frame))
                return Recovery(operation, fn, args, kwargs).live(frame, tried)
        if frame is not None and run is not None:
            frame[VALUE], frame[ENDED] = raw, perf_counter()
            if run.end is not None:
                run.end(frame)
        return None


def _decision(operation: Operation) -> tuple[bool, Callable[[Any], object] | None]:
    """Whether there is a fast path, and the test of the raw result on it, if any."""
    contract, view, judged = operation.contract, operation.view, operation.judged
    recover = operation.recover
    if recover.on or recover.budget is not None:
        return False, None
    if contract is None:
        return True, None
    test = None if contract.requires else contract.decide
    if test is None:
        return False, None

    def decide(raw: Any) -> object:
        if judged is not None and not judged(raw):
            return True
        try:
            return test(view(raw))
        except Exception as error:  # noqa: BLE001 - the recovery decides about it
            return Raised(error)

    return True, decide


def _passed(frame: Frame | None) -> ContractReport | None:
    """What the guard said of a step that it let run."""
    found = None if frame is None else frame[OUTCOME]
    return found.report if isinstance(found, Sourced) else None


def _never(*args: Any, **kwargs: Any) -> Any:
    raise AssertionError("a refused step does not run")  # pragma: no cover
