"""Asking judges: one batch a judge, within a deadline, in either colour.

Whatever goes wrong (an exception, a deadline, an answer that is no judgement) is a reply
with no score, which makes the clause Undetermined: a judge can never let a value pass by
failing. Only a spent budget is no reply: it stops the step.
"""

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from inspect import isawaitable, iscoroutinefunction
from typing import TYPE_CHECKING, cast

from hornbook.budget import Meter
from hornbook.contracts.judge import Judge, Question
from hornbook.contracts.replies import Reply, late, replies_of

if TYPE_CHECKING:
    from asyncio import Future

__all__ = ["aask", "ask", "due"]

Batch = list[tuple[int, Question]]


def due(deadline: float | None, meter: Meter | None) -> float | None:
    """When judges have to be done, on the monotonic clock; None for never."""
    left = meter.remaining_seconds() if meter is not None else None
    limits = [seconds for seconds in (deadline, left) if seconds is not None]
    return time.monotonic() + min(limits) if limits else None


def ask(
    questions: Sequence[Question], *, until: float | None, meter: Meter | None, step: str
) -> list[Reply]:
    """Ask each judge its questions, from code that is not async.

    Each judge is asked on a thread of its own, so that one past its deadline can be left
    behind; what it gives to await runs on one private loop thread, so this works inside a
    running loop and in notebooks.

    Raises:
        BudgetExceeded: there is no call left for a judge.
    """
    batches = _by_judge(questions, meter, step)
    waiting = [_Call([question for _, question in batch], until) for batch in batches]
    return _in_order(batches, [call.wait() for call in waiting])


async def aask(
    questions: Sequence[Question], *, until: float | None, meter: Meter | None, step: str
) -> list[Reply]:
    """The async twin of `ask`: async judges run on the caller's loop, together."""
    from asyncio import gather

    batches = _by_judge(questions, meter, step)
    asked = [_aask_one([question for _, question in batch], until) for batch in batches]
    return _in_order(batches, await gather(*asked))


def _by_judge(questions: Sequence[Question], meter: Meter | None, step: str) -> list[Batch]:
    batches: dict[int, Batch] = {}
    for at, question in enumerate(questions):
        batches.setdefault(id(question.judge), []).append((at, question))
    if meter is not None:
        meter.reserve(step, calls=len(batches))
    return list(batches.values())


def _in_order(batches: list[Batch], answered: Sequence[list[Reply]]) -> list[Reply]:
    replies: dict[int, Reply] = {}
    for batch, answers in zip(batches, answered, strict=True):
        replies.update(zip((at for at, _ in batch), answers, strict=True))
    return [replies[at] for at in range(len(replies))]


def _left(until: float | None) -> float | None:
    return None if until is None else max(0.0, until - time.monotonic())


class _Call:
    """One batch on its way to one judge, on a daemon thread."""

    def __init__(
        self,
        questions: list[Question],
        until: float | None,
        done: Callable[[object], object] | None = None,
    ) -> None:
        from contextvars import copy_context

        self._questions = questions
        self._until = until
        self._done = done
        self._answer: object = None
        self._thread = threading.Thread(
            target=copy_context().run, args=(self._run,), daemon=True, name="hornbook-judge"
        )
        self._thread.start()

    def _run(self) -> None:
        try:
            answer = self._questions[0].judge.judge(self._questions)
            if isawaitable(answer):
                from hornbook.contracts.private_loop import waited_for

                answer = waited_for(answer, _left(self._until))
        except BaseException as error:  # noqa: BLE001 - nobody else can hear it on this thread
            answer = error
        self._answer = answer
        if self._done is not None:
            self._done(answer)

    def wait(self) -> list[Reply]:
        self._thread.join(_left(self._until))
        if self._thread.is_alive():
            return late(self._questions)
        return replies_of(self._questions, self._answer)


async def _aask_one(questions: list[Question], until: float | None) -> list[Reply]:
    """Ask one judge; one that does not stop when it is cancelled is left behind."""
    from asyncio import CancelledError, ensure_future, wait

    judge = questions[0].judge
    if _is_async(judge):
        running: Future[object] = ensure_future(_asked(judge, questions))
    else:
        running = _on_thread(questions, until)
    try:
        done, _ = await wait((running,), timeout=_left(until))
    except CancelledError:
        running.cancel()
        raise
    if not done:
        running.cancel()
        return late(questions)
    return replies_of(questions, running.result())


async def _asked(judge: Judge, questions: list[Question]) -> object:
    from asyncio import CancelledError

    try:
        answer = judge.judge(questions)
        return await answer if isawaitable(answer) else answer
    except (Exception, CancelledError, SystemExit) as error:  # noqa: BLE001 - it becomes a reply
        return error


def _on_thread(questions: list[Question], until: float | None) -> "Future[object]":
    """A future of what a sync judge gives; its thread does not keep the loop from closing."""
    from asyncio import get_running_loop

    loop = get_running_loop()
    future: Future[object] = loop.create_future()

    def settle(answer: object) -> None:
        if not future.done():
            future.set_result(answer)

    def done(answer: object) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(settle, answer)

    _Call(questions, until, done)
    return future


def _is_async(judge: Judge) -> bool:
    return iscoroutinefunction(cast("object", judge.judge))
