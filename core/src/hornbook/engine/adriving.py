"""The async driver: tasks for what runs at the same time, none for what is alone."""

import asyncio
import threading
from collections.abc import Generator
from contextlib import suppress
from contextvars import Context
from typing import Any

from hornbook.engine.jobs import Job, outcome_of
from hornbook.engine.scheduler import Scheduler

__all__ = ["adrive"]

_GRACE = 0.1
"""Seconds that cancelled tasks may take to clean up before they are left behind."""

_left_behind: set[asyncio.Task[Any]] = set()
"""Held until they end, since a loop holds its tasks weakly."""


async def adrive(scheduler: Scheduler) -> Any:
    """Run a program to its end, from async code.

    Raises:
        BaseException: what the program raises.
    """
    driver = _Driver(scheduler)
    try:
        await driver.drive()
    except BaseException as error:  # noqa: BLE001 - a cancellation; it is raised below
        scheduler.interrupt(error)
    if scheduler.left_behind:
        await _clean_up(scheduler.left_behind)
    return scheduler.result()


async def _clean_up(jobs: list[Job]) -> None:
    """Let cancelled tasks end; what ignores its cancellation is left behind."""
    tasks = [job.task for job in jobs if job.task is not None and not job.task.done()]
    _left_behind.update(tasks)
    for task in tasks:
        task.add_done_callback(_left_behind.discard)
    if tasks:
        await asyncio.wait(tasks, timeout=_GRACE)


class _Driver:
    """What flies, and where it arrives."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._loop = asyncio.get_running_loop()
        self._arrived: list[tuple[Job, bool, Any]] = []
        self._wake: asyncio.Future[None] | None = None
        self._me = asyncio.current_task()
        self._cancelling = 0 if self._me is None else self._me.cancelling()

    async def drive(self) -> None:
        """Let all go on that can, then wait for one thing at least, until it is done."""
        scheduler = self._scheduler
        while True:
            scheduler.advance()
            if scheduler.done:
                return
            jobs = scheduler.take()
            if len(jobs) == 1 and len(scheduler.flying) == 1 and _may_wait_here(jobs[0]):
                await self._in_place(jobs[0])
                continue
            for job in jobs:
                self._start(job)
            if not self._arrived and not scheduler.ready:
                await self._sleep()
            if not self._arrived:
                scheduler.expire()
            arrived, self._arrived = self._arrived, []
            for job, failed, value in arrived:
                scheduler.deliver(job, failed, value)

    async def _in_place(self, job: Job) -> None:
        context, outcome = job.strands[0].context, _outcome_of(job)
        failed, value = await (outcome if context is None else _Within(context, outcome))
        self._scheduler.deliver(job, failed, value)
        if not failed and self._me is not None and self._me.cancelling() > self._cancelling:
            raise asyncio.CancelledError("a step went on after it was cancelled")

    def _start(self, job: Job) -> None:
        context = job.context()
        if job.threaded:
            arguments = (job, context)
            threading.Thread(
                target=self._fly, args=arguments, daemon=True, name="hornbook-step"
            ).start()
        else:
            job.task = self._loop.create_task(self._carry_out(job), context=context)

    async def _carry_out(self, job: Job) -> None:
        # It tells of its end by itself: a callback of the task costs as much as the task.
        try:
            failed, value = False, await job.effect.arun()
        except BaseException as error:  # noqa: BLE001 - it is delivered to who waits for it
            failed, value = True, error
        self._arrived.append((job, failed, value))
        wake = self._wake
        if wake is not None and not wake.done():
            wake.set_result(None)

    def _fly(self, job: Job, context: Context) -> None:
        # The context is left before it is told, or its strand could not enter it.
        failed, value = context.run(outcome_of, job)
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            self._loop.call_soon_threadsafe(self._arrive, job, failed, value)

    def _arrive(self, job: Job, failed: bool, value: Any) -> None:
        self._arrived.append((job, failed, value))
        self._awake()

    def _awake(self) -> None:
        if self._wake is not None and not self._wake.done():
            self._wake.set_result(None)

    async def _sleep(self) -> None:
        self._wake = self._loop.create_future()
        patience = self._scheduler.patience()
        timer = None if patience is None else self._loop.call_later(patience, self._awake)
        try:
            await self._wake
        finally:
            self._wake = None
            if timer is not None:
                timer.cancel()


def _may_wait_here(job: Job) -> bool:
    """Whether it can be awaited by the task that drives; never what has to be left behind."""
    return job.until is None and not job.threaded and len(job.strands) == 1


async def _outcome_of(job: Job) -> tuple[bool, Any]:
    try:
        return False, await job.effect.arun()
    except BaseException as error:  # noqa: BLE001 - it is delivered to who waits for it
        return True, error


class _Within:
    """Await a coroutine in a context other than the task's, without another task."""

    __slots__ = ("_context", "_coroutine")

    def __init__(self, context: Context, coroutine: Any) -> None:
        self._context = context
        self._coroutine = coroutine

    def __await__(self) -> Generator[Any, Any, Any]:
        step, coroutine = self._context.run, self._coroutine
        go_on, given = coroutine.send, None
        while True:
            try:
                waiting = step(go_on, given)
            except StopIteration as stop:
                return stop.value
            try:
                go_on, given = coroutine.send, (yield waiting)
            except BaseException as error:  # noqa: BLE001 - the coroutine decides about it
                go_on, given = coroutine.throw, error
