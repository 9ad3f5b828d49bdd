"""The loop of sync calls: one for the process, on a thread of its own, started on first use.

A sync HTTP client gives each single read the whole time-out, so that a server that sends a
byte now and then keeps it for ever. On a loop the attempt as a whole can be ended.
"""

import asyncio
import os
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

__all__ = ["waited_for"]

_T = TypeVar("_T")

_GRACE = 5.0
"""Seconds after which an attempt that does not end by itself is left behind."""

_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None
_inherited: list[asyncio.AbstractEventLoop | None] = []
"""Loops of parent processes: freeing one would close what the parent still uses."""


def waited_for(coroutine: Coroutine[Any, Any, _T], seconds: float) -> _T:
    """What `coroutine` gives, which ends by itself within `seconds`.

    Raises:
        TimeoutError: it did not.
    """
    waiting = asyncio.run_coroutine_threadsafe(coroutine, _running())
    try:
        return waiting.result(seconds + _GRACE)
    except BaseException:
        waiting.cancel()
        raise


def _running() -> asyncio.AbstractEventLoop:
    global _loop
    with _lock:
        if _loop is None:
            _loop = asyncio.new_event_loop()
            run = _loop.run_forever
            threading.Thread(target=run, daemon=True, name="hornbook-openai").start()
        return _loop


def _after_fork() -> None:
    """The child inherits the loop without its thread."""
    global _lock, _loop
    _inherited.append(_loop)
    _lock, _loop = threading.Lock(), None


if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(after_in_child=_after_fork)
