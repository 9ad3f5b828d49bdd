"""One private event loop on its own thread, for what async judges give to sync code."""

import asyncio
import os
import threading
from collections.abc import Awaitable
from contextvars import ContextVar

__all__ = ["waited_for"]

_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None
_owner = 0
_inside: ContextVar[bool] = ContextVar("hornbook_inside_private_loop", default=False)


def waited_for(awaitable: Awaitable[object], seconds: float | None) -> object:
    """What `awaitable` gives, waited for on a thread that runs no loop.

    Raises:
        TimeoutError: it takes longer than `seconds`.
    """
    if _inside.get():
        # Somewhere up the stack the private loop waits for this very thread.
        given, error = asyncio.run(_within(awaitable, seconds))
    else:
        waiting = asyncio.run_coroutine_threadsafe(_within(awaitable, seconds), _running())
        given, error = waiting.result()
    if error is not None:
        raise error
    return given


async def _within(
    awaitable: Awaitable[object], seconds: float | None
) -> tuple[object, BaseException | None]:
    _inside.set(True)
    try:
        async with asyncio.timeout(seconds):
            return await awaitable, None
    except BaseException as error:  # noqa: BLE001 - a SystemExit would end the loop for all
        return None, error


def _running() -> asyncio.AbstractEventLoop:
    """The loop, started on first use; a forked child inherits it without its thread."""
    global _loop, _owner
    with _lock:
        if _loop is None or _owner != os.getpid():
            _loop, _owner = asyncio.new_event_loop(), os.getpid()
            run = _loop.run_forever
            threading.Thread(target=run, daemon=True, name="hornbook-judges").start()
        return _loop
