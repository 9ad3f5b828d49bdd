"""A run of the adapter's own, for calls that no run of the user's is around."""

import threading
import weakref
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import Context
from pathlib import Path

from hornbook.trace.frame import Frame, current, current_run
from hornbook.trace.runs import Run

__all__ = ["AmbientRun"]


class AmbientRun:
    """One run in a folder, opened when first needed, closed at the latest when Python ends."""

    def __init__(self, folder: str | Path, namespace: str | None = None) -> None:
        self._folder = folder
        self._namespace = namespace
        self._lock = threading.Lock()
        self._frame: Frame | None = None
        self._close: weakref.finalize[..., AmbientRun] | None = None
        self._run: Run | None = None

    @property
    def run(self) -> Run | None:
        """The run, once it is open."""
        return self._run

    @contextmanager
    def around(self) -> Generator[None]:
        """Let the steps inside join the run, unless they are in one already."""
        if current_run() is not None:
            yield
            return
        token = current.set(self._frame or self._open())
        try:
            yield
        finally:
            current.reset(token)

    def close(self, error: BaseException | None = None) -> None:
        """End the run; a call that comes later opens another.

        Args:
            error: what the run failed with; None where it completed.
        """
        with self._lock:
            close, self._close, self._frame = self._close, None, None
        # Detached, it is this call's alone, whoever else ends the run now.
        held = None if close is None else close.detach()
        if held is not None:
            _, enter, (leave, *_), _ = held
            enter(leave, None if error is None else type(error), error, None)

    def _open(self) -> Frame | None:
        with self._lock:
            if self._frame is None:
                # A run is opened and closed in one context; here that is one of its own.
                context = Context()
                run = Run(trace=self._folder, namespace=self._namespace)
                context.run(run.__enter__)
                self._run = run
                self._frame = context[current]
                self._close = weakref.finalize(self, context.run, run.__exit__, None, None, None)
            return self._frame
