"""The record of a streamed run: it ends when the run does, whoever reads it."""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from agents import RunResultStreaming

from hornbook.hosting import AmbientRun
from hornbook_openai_agents.compat import is_cancelled

__all__ = ["StreamRecord"]


class StreamRecord:
    """Ends the record of a streamed run with how the run ended.

    While somebody reads, what the reader gets is how it ended; else it is what came of the
    task in which the SDK runs it.
    """

    def __init__(self, result: RunResultStreaming, ambient: AmbientRun) -> None:
        self._result = result
        self._ambient = ambient
        self._readers = 0
        task = result.run_loop_task
        assert task is not None
        task.add_done_callback(self._done)

    @contextmanager
    def reading(self) -> Generator[None]:
        """Around the reading of the events."""
        self._readers += 1
        try:
            yield
        except Exception as error:
            self._ambient.close(error)
            raise
        finally:
            self._readers -= 1
            task = self._result.run_loop_task
            if task is None or task.done():
                self._ended()

    def _done(self, task: "asyncio.Task[Any]") -> None:
        if not self._readers:
            self._ended()

    def _ended(self) -> None:
        task = self._result.run_loop_task
        error: BaseException | None = None
        if (task is not None and task.cancelled()) or is_cancelled(self._result):
            error = asyncio.CancelledError("the run was cancelled")
        self._ambient.close(error or self._result.run_loop_exception)
