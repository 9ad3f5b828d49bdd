"""One primitive, from its inputs to its value: the life of a step, seen by the engine.

What a step means is said by `Recovery` alone. Here its calls are carried out as effects
that may wait, be answered from the cache, or be asked of a model together with others.
"""

from collections.abc import Callable, Generator, Mapping
from dataclasses import replace
from inspect import isawaitable
from time import perf_counter
from typing import TYPE_CHECKING, Any

from hornbook.budget import Spent
from hornbook.contracts.clause import Raised
from hornbook.contracts.contract import Contract
from hornbook.contracts.report import ContractReport
from hornbook.engine.caching import Hit
from hornbook.engine.effects import Ask, Do, WaitFor, unpassable
from hornbook.engine.keys import Key, key_of
from hornbook.engine.plans import Plan
from hornbook.engine.work import ASK_HERE, Life, Work
from hornbook.step.colour import is_coroutine
from hornbook.step.control_flow import is_control_flow
from hornbook.step.effects import Call, Inspect
from hornbook.step.hookset import slot
from hornbook.step.operation import Outcome
from hornbook.step.recovery import Living, Recovery
from hornbook.step.tried import Tried, raised_status
from hornbook.trace.frame import ENDED, FEEDBACK, OUTCOME, RUN, VALUE, Frame, current

if TYPE_CHECKING:
    from hornbook.engine.scheduler import Scheduler
    from hornbook.models import Request
    from hornbook.trace.runs import Run

__all__ = ["invoke"]


def invoke(work: Work, inputs: Mapping[str, Any], *, place: str) -> Life:
    """Give the life of one primitive at its place, for `yield from`.

    Raises:
        ContractViolation: its contract is violated and the declared recovery is spent.
        StepTimeout: an attempt took longer than the primitive's `timeout`.
        BudgetExceeded: the run has nothing left.
        Exception: what the primitive itself raises, with a note that says where.
    """
    return _Invocation(work, place).live(dict(inputs))


class _Invocation:
    """One occurrence of a primitive."""

    __slots__ = (
        "_attempt",
        "_claimed",
        "_fallbacks",
        "_frame",
        "_here",
        "_hit",
        "_inputs",
        "_place",
        "_plan",
        "_raw",
        "_work",
    )

    _here: "Scheduler"
    _plan: Plan
    _frame: Frame
    _inputs: dict[str, Any]
    """Of the attempt under way."""
    _raw: Any
    """What it gave."""

    def __init__(self, work: Work, place: str) -> None:
        self._work = work
        self._place = place
        self._attempt = 0
        self._fallbacks = 0
        self._claimed: Key | None = None
        """The cache key of the attempt under way, which others may wait for."""
        self._hit: Hit | None = None

    def live(self, inputs: dict[str, Any]) -> Life:
        """Live the step through; the common case as in `step.hot`, all else by the recovery."""
        here: Scheduler = yield ASK_HERE
        self._here = here
        self._plan = plan = here.plan_of(self._work)
        parent = current.get()
        assert parent is not None
        frame = self._opened(parent, inputs)
        try:
            if not plan.quick or not slot.quiet:
                recovery = Recovery(plan.operation, plan.function, (), inputs)
                return (yield from self._through(recovery.live(frame)))
            current.set(frame)
            try:
                effect = self._attempted(inputs)
                while effect is not None:
                    effect = self._received(effect, (yield effect))
            except BaseException as error:
                current.set(parent)
                self._end_raised(error)
                raise
            current.set(parent)
            raw = self._raw
            try:
                answer = True if plan.decide is None else _decided(plan.decide, raw)
            except BaseException as error:
                self._end_raised(error)
                raise
            if answer is True:
                if self._claimed is not None:
                    self._met(raw, None)
                frame[VALUE], frame[ENDED] = raw, perf_counter()
                end = frame[RUN].end
                if end is not None:
                    end(frame)
                return raw
            self._release()
            recovery = Recovery(plan.operation, plan.function, (), inputs)
            tried = Tried(raw=raw, known=Contract.known(answer))
            return (yield from self._through(recovery.live(frame, tried)))
        except Exception as error:
            self._locate(error)
            raise
        finally:
            if self._claimed is not None:
                self._release()

    def _opened(self, parent: Frame, inputs: dict[str, Any]) -> Frame:
        plan = self._plan
        run: Run = parent[RUN]
        meta = {"place": self._place}
        if plan.meta is not None:
            meta |= plan.meta((), inputs)
        self._frame = frame = [
            run, None, plan.operation, parent, (), inputs, perf_counter(), None, meta, None, None,
            None,
        ]  # fmt: skip
        run.start(frame)
        return frame

    def _end_raised(self, error: BaseException) -> None:
        frame = self._frame
        frame[OUTCOME] = Outcome(status=raised_status(error), attempts=1, error=error)
        frame[ENDED] = perf_counter()
        frame[RUN].log.end(frame)

    def _locate(self, error: Exception) -> None:
        note = f"in step {self._work.name!r} at {self._place}"
        if not is_control_flow(error) and note not in getattr(error, "__notes__", ()):
            error.add_note(note)

    def _release(self) -> None:
        """Let go of the key of an attempt that came to nothing that may be kept."""
        if self._claimed is not None:
            key, self._claimed = self._claimed, None
            self._here.claims.settle(key, None, self._plan)

    def _met(self, raw: Any, report: ContractReport | None) -> None:
        """Keep an output that met its contract, and give it to those who wait for it."""
        if self._claimed is not None:
            key, self._claimed = self._claimed, None
            hit = Hit(value=raw, report=report if self._plan.judged else None)
            self._here.claims.settle(key, hit, self._plan)

    # The attempts of the primitive itself: effects to carry out, one after the other.

    def _attempted(self, inputs: dict[str, Any]) -> Any:
        """Begin an attempt: the effect that it takes, or None where `_raw` is there at once."""
        self._attempt += 1
        self._inputs = inputs
        if self._place in self._here.substitutes:
            self._raw = self._here.substitutes[self._place]
            return None
        return self._claiming() if self._plan.cached else self._made(None)

    def _claiming(self) -> Any:
        """Look into the cache before the attempt is made."""
        request, here, plan = self._requested(), self._here, self._plan
        key = key_of(plan, self._inputs, request, self._attempt, self._frame[FEEDBACK])
        if key is not None and not here.claims.keeps(key):
            key = None
        if key is not None and not here.claims.claim(key, plan):
            hit = here.claims.look(key)
            if hit is None:
                return WaitFor(key)
            self._hit, self._raw = hit, hit.value
            run: Run = self._frame[RUN]
            run.log.mark("note", self._frame, "cache hit", data={"attempt": self._attempt})
            return None
        self._claimed = key
        return self._made(request)

    def _requested(self) -> "Request | None":
        request = self._work.request
        return None if request is None else request(self._inputs, self._frame[FEEDBACK])

    def _made(self, request: "Request | None") -> Any:
        """Make the attempt."""
        plan, work = self._plan, self._work
        if work.model is not None:
            asked = request or self._requested()
            assert asked is not None
            return Ask(self._here.model_of(work), asked, work, self._place)
        if plan.at_once:
            return self._called(plan.function, (), self._inputs)
        return Do(plan.function, (), self._inputs, plan.asynchronous, work, self._place)

    def _called(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> Any:
        """Call what does not wait; it may turn out to give something to await after all."""
        try:
            result = function(*args, **kwargs)
        except StopIteration as error:
            raise unpassable(self._work.name, error) from error
        if isawaitable(result):
            return Do(lambda: result, (), {}, True, self._work, self._place)
        self._raw = result
        return None

    def _received(self, effect: Any, given: Any) -> Any:
        """What an effect gave; the next effect, or None where `_raw` is there."""
        if isinstance(effect, WaitFor):
            return self._claiming()
        self._raw = self._plan.read(given) if isinstance(effect, Ask) else given
        return None

    # The recovery, with its calls carried out in our own way.

    def _through(self, living: Living) -> Life:
        go_on: Callable[[Any], Any] = living.send
        given: Any = None
        while True:
            try:
                effect = go_on(given)
            except StopIteration as stop:
                return self._settled(stop.value)
            try:
                if type(effect) is Call:
                    given = yield from self._call(effect)
                elif type(effect) is Inspect and not effect.requires:
                    given = yield from self._inspected(effect)
                else:
                    given = yield effect
                go_on = living.send
            except BaseException as error:  # noqa: BLE001 - the recovery decides about it
                self._release()
                go_on, given = living.throw, error

    def _settled(self, outcome: Outcome) -> Any:
        if outcome.ok and self._plan.contract is None:
            self._met(outcome.raw, None)
        return outcome.settled()

    def _call(self, call: Call) -> Life:
        self._release()
        self._hit = None
        if call.function is self._plan.function:
            inputs = self._plan.operation.bind(call.args, call.kwargs)
            effect = self._attempted(dict(inputs))
        else:
            lives = getattr(call.function, "life", None)
            self._fallbacks += 1
            if lives is not None:
                inputs = self._plan.operation.bind(call.args, call.kwargs)
                place = f"{self._place}.fallback[{self._fallbacks - 1}]"
                life: Life = lives(inputs, place=place)
                return (yield from life)
            effect = self._fallback(call)
        while effect is not None:
            effect = self._received(effect, (yield effect))
        return self._raw

    def _fallback(self, call: Call) -> Any:
        work, asynchronous = self._work, is_coroutine(call.function)
        if asynchronous or work.blocking or work.timeout is not None or self._here.timed:
            return Do(call.function, call.args, call.kwargs, asynchronous, work, self._place)
        return self._called(call.function, call.args, call.kwargs)

    def _inspected(self, effect: Inspect) -> Generator[Any, Any, ContractReport]:
        hit, self._hit = self._hit, None
        if hit is not None and hit.report is not None:
            return replace(hit.report, step=effect.step, cost=Spent())
        report: ContractReport = yield effect
        if self._claimed is not None and report.ok and not report.waived:
            self._met(self._raw, report)
        else:
            self._release()
        return report


def _decided(decide: Callable[[Any], object], raw: Any) -> object:
    try:
        return decide(raw)
    except Exception as error:  # noqa: BLE001 - the recovery decides about it
        return Raised(error)
