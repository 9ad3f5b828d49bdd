"""The effects of a step that may wait: a call, a question to a model, a result under way."""

from collections.abc import Awaitable, Callable, Mapping
from inspect import isawaitable
from typing import TYPE_CHECKING, Any

from hornbook.engine.keys import Key

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop, Task

    from hornbook.engine.work import Work
    from hornbook.models import Completion, Model, Request

__all__ = ["Ask", "Do", "WaitFor", "unpassable"]


class Do:
    """Call a function that waits, or that has to be left behind when its time is up."""

    __slots__ = (
        "_awaited",
        "_cancelled",
        "args",
        "asynchronous",
        "function",
        "kwargs",
        "place",
        "work",
    )

    def __init__(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        asynchronous: bool,
        work: "Work",
        place: str,
    ) -> None:
        self.function = function
        self.args = args
        self.kwargs = kwargs
        self.asynchronous = asynchronous
        self.work = work
        self.place = place
        self._awaited: _Awaited | None = None
        self._cancelled = False

    def run(self) -> Any:
        """Call it; what it gives to await runs on the private loop."""
        try:
            result = self.function(*self.args, **self.kwargs)
        except StopIteration as error:
            raise unpassable(self.work.name, error) from error
        if not isawaitable(result):
            return result
        self._awaited = _Awaited(result)
        if self._cancelled:  # before there was anything to cancel
            self._awaited.cancel()
        return self._awaited.wait()

    async def arun(self) -> Any:
        """Call it, and await what it gives."""
        result = self.function(*self.args, **self.kwargs)
        return await result if isawaitable(result) else result

    def cancel(self) -> None:
        """Cancel what runs on the private loop; a plain function cannot be stopped."""
        self._cancelled = True
        if self._awaited is not None:
            self._awaited.cancel()


def unpassable(step: str, error: StopIteration) -> RuntimeError:
    """What is raised in place of a StopIteration, which no generator lets out."""
    return RuntimeError(f"step {step!r} raised {error!r}: no step may raise that")


class Ask:
    """Ask a model; questions to one model that wait together are sent as one batch."""

    __slots__ = ("model", "place", "request", "work")

    def __init__(self, model: "Model", request: "Request", work: "Work", place: str) -> None:
        self.model = model
        self.request = request
        self.work = work
        self.place = place

    @property
    def at_most(self) -> float | None:
        """Seconds for the client, so that what is left behind ends by itself.

        A little more than the step has, so that the step's own timeout is what is told.
        """
        timeout = self.work.timeout
        return None if timeout is None else timeout * 1.1

    def run(self) -> "Completion":
        """Ask, from sync code."""
        from hornbook.models import ask

        return ask(self.model, self.request, step=self.work.name, timeout=self.at_most)

    async def arun(self) -> "Completion":
        """Ask, from async code."""
        from hornbook.models import aask

        return await aask(self.model, self.request, step=self.work.name, timeout=self.at_most)


class WaitFor:
    """Wait until an identical call that is under way has ended."""

    __slots__ = ("key",)

    def __init__(self, key: Key) -> None:
        self.key = key


class _Awaited:
    """An awaitable on the private loop, which can be cancelled from any thread."""

    def __init__(self, awaitable: Awaitable[Any]) -> None:
        self._awaitable = awaitable
        self._loop: AbstractEventLoop | None = None
        self._task: Task[Any] | None = None
        self._cancelled = False

    def wait(self) -> Any:
        from hornbook.contracts.private_loop import waited_for

        try:
            return waited_for(self._run(), None)
        except BaseException:
            # A KeyboardInterrupt reaches only this thread, and not the loop.
            self.cancel()
            raise

    def cancel(self) -> None:
        self._cancelled = True
        loop, task = self._loop, self._task
        if loop is not None and task is not None and not loop.is_closed():
            loop.call_soon_threadsafe(task.cancel)

    async def _run(self) -> Any:
        import asyncio

        self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
        if self._cancelled and self._task is not None:
            self._task.cancel()
        return await self._awaitable
