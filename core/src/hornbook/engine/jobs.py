"""What waits: one effect on its way, for one life or, as a batch, for several."""

import time
from collections.abc import Sequence
from contextvars import Context
from typing import TYPE_CHECKING, Any

from hornbook.engine.effects import Ask, Do
from hornbook.engine.errors import StepTimeout
from hornbook.step.effects import Inspect

if TYPE_CHECKING:
    from asyncio import Task

    from hornbook.engine.strands import Strand

__all__ = ["AskTogether", "Job", "outcome_of", "step_of"]


class AskTogether:
    """Several questions to one model, as one batch."""

    __slots__ = ("asks", "contexts")

    def __init__(self, asks: Sequence[Ask], contexts: Sequence[Context]) -> None:
        self.asks = asks
        """Questions to one model, with one timeout."""
        self.contexts = contexts
        """Where each question is recorded."""

    def run(self) -> Any:
        """Ask, from sync code."""
        from hornbook.models import ask_many

        return ask_many(self.asks[0].model, self._requests(), **self._options())

    async def arun(self) -> Any:
        """Ask, from async code."""
        from hornbook.models import aask_many

        return await aask_many(self.asks[0].model, self._requests(), **self._options())

    def _requests(self) -> list[Any]:
        return [ask.request for ask in self.asks]

    def _options(self) -> dict[str, Any]:
        steps = [ask.work.name for ask in self.asks]
        return {"steps": steps, "contexts": self.contexts, "timeout": self.asks[0].at_most}


class Job:
    """One effect that is carried out by a driver."""

    __slots__ = ("began", "effect", "over", "strands", "task", "threaded", "timeout", "until")

    def __init__(self, effect: Any, strands: "tuple[Strand, ...]", timeout: float | None) -> None:
        self.effect = effect
        self.threaded = type(effect) is Do and not effect.asynchronous
        """Whether it holds up the thread that it runs on."""
        self.strands = strands
        self.timeout = timeout
        """The seconds that its step may take."""
        self.began = 0.0
        self.over = False
        """Whether it was delivered, or is not waited for any more."""
        self.until: float | None = None
        """When it is given up, on the monotonic clock."""
        self.task: Task[None] | None = None
        """What runs it, in the async driver."""

    @property
    def parts(self) -> Sequence[Any]:
        """What each life waits for."""
        return self.effect.asks if type(self.effect) is AskTogether else (self.effect,)

    def context(self) -> Context:
        """Where it runs: in its strand's own context, which nobody enters meanwhile."""
        first = self.strands[0]
        return first.copied() if len(self.strands) > 1 else first.own_context()

    def begin(self, deadline: float | None) -> None:
        """Count its time from now."""
        timeout = self.timeout
        if timeout is None:
            self.until = deadline
        else:
            self.began = time.monotonic()
            until = self.began + timeout
            self.until = until if deadline is None else min(until, deadline)

    def timed_out(self) -> list[BaseException]:
        """The errors of a job whose own time is up, one for each life."""
        return [
            StepTimeout(part.work.name, part.place, part.work.timeout or 0.0) for part in self.parts
        ]

    def shares(self, failed: bool, value: Any) -> list[tuple[bool, Any]]:
        """What each life gets: whether it failed, and the value or error."""
        if failed or type(self.effect) is not AskTogether:
            return [(failed, value)] * len(self.strands)
        return [(isinstance(answer, Exception), answer) for answer in value]

    def cancel(self) -> None:
        """Stop what can be stopped; what cannot is left behind."""
        if self.task is not None:
            self.task.cancel()
        if isinstance(self.effect, Do):
            self.effect.cancel()


def step_of(part: Any) -> str:
    """The step that waits for an effect, for messages."""
    if isinstance(part, Ask | Do):
        return part.work.name
    return part.step if isinstance(part, Inspect) else type(part).__name__


def outcome_of(job: Job) -> tuple[bool, Any]:
    """Carry a job out from sync code: whether it failed, and its value or error."""
    try:
        return False, job.effect.run()
    except BaseException as error:  # noqa: BLE001 - it is delivered to who waits for it
        return True, error
