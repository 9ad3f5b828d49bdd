"""The sync driver: daemon threads for what runs at the same time, none for what is alone."""

import threading
from contextvars import Context
from queue import Empty, SimpleQueue
from typing import Any

from hornbook.engine.effects import Do
from hornbook.engine.jobs import Job, outcome_of
from hornbook.engine.scheduler import Scheduler

__all__ = ["drive"]


def drive(scheduler: Scheduler) -> Any:
    """Run a program to its end, from sync code, also inside a running loop.

    Raises:
        BaseException: what the program raises.
    """
    driver = _Driver(scheduler)
    try:
        while not scheduler.done:
            driver.turn()
    except BaseException as error:  # noqa: BLE001 - a KeyboardInterrupt; it is raised below
        scheduler.interrupt(error)
    return scheduler.result()


class _Driver:
    """What flies, and where it arrives."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._arrived: SimpleQueue[tuple[Job, bool, Any]] = SimpleQueue()

    def turn(self) -> None:
        """Let all go on that can, then wait for one thing at least."""
        scheduler = self._scheduler
        scheduler.advance()
        if scheduler.done:
            return
        jobs = scheduler.take()
        if len(scheduler.flying) == len(jobs) == 1 and _may_wait_here(jobs[0]):
            job = jobs[0]
            scheduler.deliver(job, *job.strands[0].step(outcome_of, job))
            return
        for job in jobs:
            self._start(job)
        if not scheduler.ready:
            self._wait()

    def _start(self, job: Job) -> None:
        # The context is left before it is told, or its strand could not enter it.
        arguments = (job, job.context())
        threading.Thread(
            target=self._fly, args=arguments, daemon=True, name="hornbook-step"
        ).start()

    def _fly(self, job: Job, context: Context) -> None:
        failed, value = context.run(outcome_of, job)
        self._arrived.put((job, failed, value))

    def _wait(self) -> None:
        try:
            arrived = self._arrived.get(timeout=self._scheduler.patience())
        except Empty:
            self._scheduler.expire()
            return
        self._scheduler.deliver(*arrived)
        while not self._arrived.empty():
            self._scheduler.deliver(*self._arrived.get_nowait())


def _may_wait_here(job: Job) -> bool:
    """Whether this thread can carry the job out itself; never what has to be left behind."""
    if job.until is not None or len(job.strands) > 1:
        return False
    # The private loop may be the very loop that runs in this thread.
    return not (type(job.effect) is Do and job.effect.asynchronous and _in_a_loop())


def _in_a_loop() -> bool:
    from asyncio import get_running_loop

    try:
        get_running_loop()
    except RuntimeError:
        return False
    return True
