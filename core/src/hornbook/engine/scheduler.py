"""The cooperative scheduler: which life goes on next, written once for both drivers.

It never waits and starts nothing: it steps lives until none can go on, and hands out the
jobs that they wait for. The drivers carry those out and deliver what they give.
"""

import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from hornbook.engine.claims import Claims
from hornbook.engine.effects import Ask, Do, WaitFor
from hornbook.engine.groups import Group
from hornbook.engine.jobs import AskTogether, Job, step_of
from hornbook.engine.plans import Plan, is_judged
from hornbook.engine.strands import Strand
from hornbook.engine.together import Branch, Together
from hornbook.engine.work import ASK_HERE, Life, Work
from hornbook.errors import BudgetExceeded
from hornbook.step.effects import AskHooks, Inspect

if TYPE_CHECKING:
    from hornbook.engine.engine import Engine
    from hornbook.engine.replaying import Replay
    from hornbook.models import Model
    from hornbook.trace.runs import Run

__all__ = ["Scheduler"]


class Scheduler:
    """All lives of one execution of a program."""

    def __init__(
        self, engine: "Engine", life: Life, run: "Run", replay: "Replay | None", *, awaits: bool
    ) -> None:
        self.engine = engine
        self.substitutes = engine.substitutes
        self.done = False
        self.value: Any = None
        self.error: BaseException | None = None
        self._awaits = awaits
        self._run = run
        self._replay = replay
        left = run.meter.remaining_seconds() if run.meter.limits_time else None
        self._deadline = None if left is None else time.monotonic() + left
        self.timed = left is not None
        """Whether the run has a deadline, so that nothing may be waited for in place."""
        self._root = Strand(life, None, None, "")
        self._live: dict[Strand, None] = {self._root: None}
        self._ready: deque[tuple[Strand, bool, Any]] = deque([(self._root, False, None)])
        self._jobs: deque[Job] = deque()
        self._asks: list[tuple[Strand, Ask]] = []
        self.flying: dict[Job, None] = {}
        """Jobs that were handed out and have not ended."""
        self._limited = 0
        """How many of them have an end to their time."""
        self.left_behind: list[Job] = []
        """Jobs that were cancelled, and may not have ended."""
        self._plans: dict[int, Plan] = {}
        self._numbers: dict[Any, int] = {}
        self.claims = Claims(engine.cache, self._wake)
        self._answers: dict[object, Callable[[Strand, Any], Any]] = {
            Together: self._open,
            Ask: self._queue_ask,
            WaitFor: self._queue_behind,
            Inspect: self._inspect,
            AskHooks: self._ask_hooks,
        }

    # What lives ask for on their way.

    def plan_of(self, work: Work) -> Plan:
        """How a primitive is run here."""
        plan = self._plans.get(id(work))
        if plan is None:
            cached = self.engine.cache is not None
            controls, numbers = self.engine.controls, self._numbers
            plan = Plan(work, controls, timed=self.timed, cached=cached, numbers=numbers)
            self._plans[id(work)] = plan
        return plan

    def model_of(self, work: Work) -> "Model":
        """The model of a neural primitive, or in a replay the record in its place."""
        assert work.model is not None
        return work.model if self._replay is None else self._replay.in_place_of(work.model)

    # What drivers call.

    def advance(self) -> None:
        """Step every life that can go on, until none can."""
        while self._ready:
            strand, failed, value = self._ready.popleft()
            if not strand.dropped:
                self._resume(strand, failed, value)

    @property
    def ready(self) -> bool:
        """Whether some life can go on."""
        return bool(self._ready)

    def take(self) -> list[Job]:
        """The jobs to begin now; they count as flying."""
        if self._asks:
            self._send_asks()
        taken: list[Job] = []
        jobs, flying, most = self._jobs, self.flying, self.engine.max_concurrency
        while jobs and len(flying) < most:
            job = jobs.popleft()
            if job.over:
                continue
            if self.timed or job.timeout is not None:
                if self._refuse_late(job):
                    continue
                job.begin(self._deadline)
                self._limited += 1
            flying[job] = None
            taken.append(job)
        return taken

    def deliver(self, job: Job, failed: bool, value: Any) -> None:
        """What a job gave; one that came too late gives nothing."""
        if job.over:
            return
        self._land(job)
        shares = job.shares(failed, value) if len(job.strands) > 1 else ((failed, value),)
        for strand, answer in zip(job.strands, shares, strict=True):
            strand.job = None
            if not strand.dropped:
                self._ready.append((strand, *answer))

    def patience(self) -> float | None:
        """Seconds until something that is flying has to be given up; None for never."""
        if not self._limited:
            return None
        soonest = min(job.until for job in self.flying if job.until is not None)
        return max(0.0, soonest - time.monotonic())

    def expire(self) -> None:
        """Give up what has flown for too long."""
        now = time.monotonic()
        for job in list(self.flying):
            if job.until is not None and job.until <= now:
                errors = self._too_late(job, now)
                if errors:
                    self._leave_behind(job)
                self._fail(job, errors)

    def interrupt(self, error: BaseException) -> None:
        """Stop everything because of what reached the driver, say a KeyboardInterrupt."""
        for strand in reversed(list(self._live)):
            if strand is not self._root:
                self._drop(strand)
        self._cancel(self._root)
        self._ready.clear()
        if not self.done:
            self._resume(self._root, True, error)
        if not self.done:  # the program's own code caught it, and may not go on
            self._drop(self._root)
            self.done, self.error = True, error

    def result(self) -> Any:
        """What the program gave, once it is done; raises what it raised."""
        if self.error is None:
            return self.value
        error, self.error = self.error, None
        try:
            raise error
        finally:
            del error  # its traceback holds this frame

    # How lives go on.

    def _resume(self, strand: Strand, failed: bool, value: Any) -> None:
        life, step = strand.life, strand.step
        effect: object
        while True:
            try:
                effect = step(life.throw if failed else life.send, value)
            except StopIteration as stop:
                self._finished(strand, stop.value)
                return
            except BaseException as error:  # noqa: BLE001 - it is delivered to who waits for it
                self._failed(strand, error)
                return
            if effect is ASK_HERE:
                failed, value = False, self
                continue
            answer = self._answers.get(type(effect), self._queue)
            told = answer(strand, effect)
            if told is None:
                return
            failed, value = told

    def _finished(self, strand: Strand, value: Any) -> None:
        del self._live[strand]
        group = strand.group
        if group is None:
            self.done, self.value = True, value
            return
        group.results[strand.name] = value
        group.running -= 1
        if group.waiting or not group.running:
            self._go_on(group)

    def _failed(self, strand: Strand, error: BaseException) -> None:
        del self._live[strand]
        group = strand.group
        if group is None:
            self.done, self.error = True, error
            return
        if group.stops(error):
            for other in reversed(list(self._live)):
                if other.within(group):
                    self._drop(other)
            self._ready.append((group.parent, True, error))
            return
        group.failed(strand.name, error)
        self._go_on(group)

    def _open(self, strand: Strand, effect: Together) -> tuple[bool, Any] | None:
        if not effect.branches:
            return False, {}
        group = Group(strand, effect.branches, concurrent=self.engine.concurrency)
        if group.waiting:
            self._go_on(group)
        else:
            group.running = len(effect.branches)
            for branch in effect.branches:
                self._start(group, branch)
        return None

    def _go_on(self, group: Group) -> None:
        """Start the branches whose needs are there, or end the group."""
        if group.waiting:
            for branch in group.startable():
                self._start(group, branch)
        if not group.running:
            self._ready.append((group.parent, *group.parent.step(group.outcome)))

    def _start(self, group: Group, branch: Branch) -> None:
        given: Mapping[str, Any] = group.given(branch) if branch.needs else {}
        child = Strand(None, group.parent.copied(), group, branch.name)
        self._live[child] = None
        try:
            child.life = child.step(branch.start, given)
        except BaseException as error:  # noqa: BLE001 - as if it were raised by the life itself
            child.life = _raising(error)
        self._ready.append((child, False, None))

    def _queue(self, strand: Strand, effect: Any) -> None:
        timeout = effect.work.timeout if type(effect) is Do else None
        job = strand.job = Job(effect, (strand,), timeout)
        self._jobs.append(job)

    def _queue_ask(self, strand: Strand, effect: Ask) -> None:
        self._asks.append((strand, effect))

    def _queue_behind(self, strand: Strand, effect: WaitFor) -> None:
        self.claims.wait(effect.key, strand)

    def _wake(self, strands: Iterable[Strand]) -> None:
        self._ready.extend((strand, False, None) for strand in strands)

    def _inspect(self, strand: Strand, effect: Inspect) -> tuple[bool, Any] | None:
        if is_judged(effect.contract):
            self._queue(strand, effect)
            return None
        return _at_once(strand, effect)

    def _ask_hooks(self, strand: Strand, effect: AskHooks) -> tuple[bool, Any] | None:
        if self._awaits:
            self._queue(strand, effect)
            return None
        return _at_once(strand, effect)

    def _send_asks(self) -> None:
        """Questions that wait together: one batch a model where it takes batches."""
        asks = [(strand, ask) for strand, ask in self._asks if not strand.dropped]
        self._asks = []
        together: dict[Any, list[tuple[Strand, Ask]]] = {}
        for strand, ask in asks:
            batched = self.engine.batching and takes_batches(ask.model)
            own = (id(ask.model), ask.work.timeout) if batched else id(strand)
            together.setdefault(own, []).append((strand, ask))
        for batch in together.values():
            strands = tuple(strand for strand, _ in batch)
            effect: Any = batch[0][1]
            timeout = effect.work.timeout
            if len(batch) > 1:
                contexts = [strand.own_context() for strand in strands]
                effect = AskTogether([ask for _, ask in batch], contexts)
            job = Job(effect, strands, timeout)
            for strand in strands:
                strand.job = job
            self._jobs.append(job)

    def _refuse_late(self, job: Job) -> bool:
        """Whether the run has no time left to begin a job in; then its lives are told so."""
        now = time.monotonic()
        if self._deadline is None or now < self._deadline:
            return False
        errors = self._too_late(job, now)
        job.over = bool(errors)
        self._fail(job, errors)
        return job.over

    def _fail(self, job: Job, errors: list[BaseException]) -> None:
        for strand, error in zip(job.strands, errors, strict=False):
            strand.job = None
            if not strand.dropped:
                self._ready.append((strand, True, error))

    def _too_late(self, job: Job, now: float) -> list[BaseException]:
        """Why a job is given up, for each life; nothing where it may go on after all."""
        if self._deadline is not None and self._deadline <= now:
            spent = [self._spent(step_of(part)) for part in job.parts]
            errors: list[BaseException] = [error for error in spent if error is not None]
            if errors:
                return errors
            # The meter's clock is a little behind: it says how long is left.
            self._deadline = now + (self._run.meter.remaining_seconds() or 0.0)
        if job.timeout is not None and 0 < job.began <= now - job.timeout:
            return job.timed_out()
        job.until = self._deadline
        return []

    def _spent(self, step: str) -> BudgetExceeded | None:
        try:
            self._run.meter.check_time(step)
        except BudgetExceeded as error:
            return error
        return None

    def _drop(self, strand: Strand) -> None:
        """Stop a life for good: its job is cancelled and its steps' records are closed."""
        strand.dropped = True
        self._live.pop(strand, None)
        self._cancel(strand)
        try:
            strand.step(strand.life.close)
        except Exception:  # noqa: BLE001 - what it raises now would hide why it is stopped
            return

    def _cancel(self, strand: Strand) -> None:
        job, strand.job = strand.job, None
        if job is None or job.over:
            return
        if any(other is not strand and not other.dropped for other in job.strands):
            strand.leave_context()  # a batch goes on for the others
            return
        self._leave_behind(job)

    def _leave_behind(self, job: Job) -> None:
        """Cancel a job and wait for it no more; it keeps the contexts that it runs in."""
        self._land(job)
        self.left_behind.append(job)
        job.cancel()
        for strand in job.strands:
            strand.leave_context()

    def _land(self, job: Job) -> None:
        job.over = True
        if self.flying.pop(job, job) is None and job.until is not None:
            self._limited -= 1


def takes_batches(model: "Model") -> bool:
    """Whether several requests are better sent to the model at once."""
    from hornbook.models import BatchModel

    return isinstance(model, BatchModel)


def _at_once(strand: Strand, effect: Inspect | AskHooks) -> tuple[bool, Any]:
    try:
        return False, strand.step(effect.run)
    except BaseException as error:  # noqa: BLE001 - the life decides about it
        return True, error


def _raising(error: BaseException) -> Life:
    raise error
    yield
