"""Models in this process: GGUF files through llama.cpp.

The runtime works on a thread of its own, so that a call can be interrupted, cancelled or
left behind when its time is up. It is one model with one slot: requests follow each other,
and there is no batch to gain from.
"""

import atexit
import os
import re
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NoReturn
from weakref import WeakSet

from hornbook.errors import DefinitionError, told
from hornbook.models import gguf
from hornbook.models.failures import TransportError
from hornbook.models.runtimes import Generated, Runtime, TooLong, found_runtime
from hornbook.models.values import Completion, Request, Usage

__all__ = ["LocalModel"]

_MOST_SEED = 2**32 - 2
"""The next number asks llama.cpp for any seed."""
_MOST_TOKENS = 2**31 - 1
_OF_SCHEMAS = re.compile(r"grammar|JSON schema", re.IGNORECASE)
"""Words by which llama.cpp says that a schema is what it does not take."""


class LocalModel:
    """A model file that runs in this process, answers constrained by JSON schemas.

    It is loaded on first use, by whichever runtime is installed: `xllamacpp`, or else
    `llama-cpp-python`. Any thread may use it; requests are answered one after the other.

    Args:
        path: the `.gguf` file; it has to hold a chat template, as instruct models do.
        threads: what llama.cpp computes with. More than the machine has free is slower by an
            order of magnitude.
        context: tokens of prompt and answer together.
        timeout: seconds of one attempt, waiting for others included; None for no limit.

    Raises:
        MissingExtra: neither runtime is installed.
        DefinitionError: the file is missing or no GGUF, or a number cannot work.
    """

    max_attempts: int | None = 1
    """What fails here would fail again."""

    def __init__(
        self,
        path: str | Path,
        *,
        threads: int = 1,
        context: int = 4096,
        timeout: float | None = None,
    ) -> None:
        self._path = Path(path)
        for name, given, least in (("threads", threads, 1), ("context", context, 64)):
            if type(given) is not int or given < least:
                raise DefinitionError(
                    f"LocalModel({str(path)!r}): {name}={given!r:.60}: expected a whole number of "
                    f"at least {least}"
                )
        gguf.check(self._path)
        self._load = found_runtime()
        self._threads = threads
        self._context = context
        self._timeout = timeout
        self._lock = threading.Lock()
        self._runtime: Runtime | None = None
        self._closed = False
        self._forked = False
        self._running: set[_Generation] = set()

    @property
    def identity(self) -> str:
        """The file's name and the hash of its content, which is read once."""
        return gguf.identity_of(self._path)

    def complete(self, request: Request, /, *, timeout: float | None = None) -> Completion:
        """Make one attempt, on a thread of its own.

        Raises:
            TransportError: the model cannot be loaded, the prompt is too long for the
                context, or the time is up.
            DefinitionError: the model is closed, or the request is none for llama.cpp: a schema
                that it cannot compile, a number that it cannot hold.
        """
        seconds = self._seconds(timeout)
        finished = threading.Event()
        generation = self._started(request, finished.set)
        try:
            finished.wait(seconds)
        finally:
            generation.stopped = True
        return self._completion(generation, seconds)

    async def acomplete(self, request: Request, /, *, timeout: float | None = None) -> Completion:
        """The async twin of `complete`; the loop goes on meanwhile."""
        import asyncio

        loop, seconds = asyncio.get_running_loop(), self._seconds(timeout)
        finished = asyncio.Event()

        def tell() -> None:
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(finished.set)

        generation = self._started(request, tell)
        try:
            with suppress(TimeoutError):
                await asyncio.wait_for(finished.wait(), seconds)
        finally:
            generation.stopped = True
        return self._completion(generation, seconds)

    def close(self) -> None:
        """Stop what runs, and free the memory; the model cannot be used again."""
        with self._lock:
            self._closed = True
            runtime, self._runtime = self._runtime, None
            running = list(self._running)
        for generation in running:
            generation.stopped = generation.closed = True
        for generation in running:
            generation.join()
        if runtime is not None:
            runtime.close()

    def __enter__(self) -> "LocalModel":
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"LocalModel({str(self._path)!r})"

    def after_fork(self) -> None:
        """In the child: the model stays with the parent, where the runtime's threads are.

        Freeing its memory here would wait for them, so it is never freed.
        """
        import ctypes

        self._lock = threading.Lock()
        self._running = set()
        self._forked = True
        if self._runtime is not None:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._runtime))
            self._runtime = None

    def _seconds(self, timeout: float | None) -> float | None:
        limits = [given for given in (self._timeout, timeout) if given is not None]
        return min(limits, default=None)

    def _started(self, request: Request, tell: Callable[[], object]) -> "_Generation":
        for name, most in (("seed", _MOST_SEED), ("max_tokens", _MOST_TOKENS)):
            given: int | None = getattr(request.sampling, name)
            if given is not None and given > most:
                raise DefinitionError(f"{self!r}: {name}: llama.cpp takes {most} at most")
        generation = _Generation(self._loaded, request, self._running, tell)
        with self._lock:
            self._refuse()
            self._running.add(generation)
        generation.start()
        return generation

    def _refuse(self) -> None:
        if self._closed:
            raise DefinitionError(f"{self!r} is closed, and cannot be used again")
        if self._forked:
            raise DefinitionError(
                f"{self!r} was loaded before this process was forked off, and llama.cpp does not "
                f"survive that: use it first after the fork, or start processes by 'spawn'"
            )

    def _loaded(self) -> Runtime:
        with self._lock:
            self._refuse()
            if self._runtime is None:
                try:
                    self._runtime = self._load(self._path, self._threads, self._context)
                except Exception as error:
                    raise TransportError(f"{self!r} cannot be loaded: {told(error)}") from error
                _loaded.add(self)
            return self._runtime

    def _completion(self, generation: "_Generation", seconds: float | None) -> Completion:
        if generation.error is not None:
            self._fail(generation.error, generation.request)
        made = generation.made
        if made is None and generation.closed:
            raise TransportError(f"{self!r} was closed while it answered")
        if made is None:
            raise TransportError(f"{self!r} did not answer within {round(seconds or 0, 3):g} s")
        usage = Usage(input_tokens=made.input_tokens, output_tokens=made.output_tokens)
        return Completion(text=made.text, usage=usage, model=self.identity, finish=made.finish)

    def _fail(self, error: Exception, request: Request) -> NoReturn:
        if isinstance(error, TransportError | DefinitionError):
            raise error
        if isinstance(error, TooLong):
            raise TransportError(
                f"{self!r}: the prompt has {error.tokens} tokens, and the context has "
                f"{self._context}: shorten the prompt, or pass a larger context="
            ) from None
        if request.schema is not None and _OF_SCHEMAS.search(str(error)):
            raise DefinitionError(
                f"{self!r}: llama.cpp cannot hold an answer to the schema {request.schema!r:.120}: "
                f"{told(error)}: write a simpler one"
            ) from None
        if "surrogates not allowed" in str(error):
            raise TransportError(
                f"{self!r}: the request holds a lone surrogate, which UTF-8 cannot say"
            ) from None
        raise TransportError(f"{self!r} cannot answer: {told(error)}") from error


_loaded: "WeakSet[LocalModel]" = WeakSet()


@atexit.register
def _close_all() -> None:
    """A runtime that is at work while the interpreter goes away takes the process with it."""
    for model in list(_loaded):
        model.close()


def _after_fork() -> None:
    for model in list(_loaded):
        model.after_fork()


if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(after_in_child=_after_fork)


class _Generation(threading.Thread):
    """One answer on its way; `stopped` ends it at the next token."""

    def __init__(
        self,
        load: Callable[[], Runtime],
        request: Request,
        running: "set[_Generation]",
        tell: Callable[[], object],
    ) -> None:
        super().__init__(daemon=True, name="hornbook-local-model")
        self._load = load
        self._among = running
        self._tell = tell
        self.request = request
        self.stopped = False
        self.closed = False
        """Stopped because the model was closed."""
        self.made: Generated | None = None
        self.error: Exception | None = None

    def run(self) -> None:
        """Load the model if need be, and generate."""
        try:
            made = self._load().generate(self.request, lambda: self.stopped)
            self.made = None if self.stopped else made
        except Exception as error:  # noqa: BLE001 - it is raised where the answer is awaited
            self.error = error
        finally:
            self._among.discard(self)
            self._tell()
