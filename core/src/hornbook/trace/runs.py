"""Runs: what one is, how it is opened, and how it reaches threads and other processes."""

import functools
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from contextvars import Token
from enum import Enum
from inspect import iscoroutinefunction
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Literal, ParamSpec, TypeVar, cast

from hornbook import late
from hornbook.budget import Budget, Meter
from hornbook.errors import DefinitionError, RunError, told
from hornbook.ids import is_run_id, new_run_id
from hornbook.trace.events import Event
from hornbook.trace.frame import OPERATION, RUN, Frame, current, current_run
from hornbook.trace.log import FileLog, Log, MemoryLog, Observer

__all__ = ["NO_META", "Run", "Trace", "record", "run"]

P = ParamSpec("P")
R = TypeVar("R")


class _Unset(Enum):
    UNSET = 0


UNSET: Final = _Unset.UNSET
Trace = str | Path | None | Literal[_Unset.UNSET]

NO_META: Final[Mapping[str, Any]] = {}


class Run:
    """One execution: its record, its budget, and what the steps in it have in common.

    Opened by `hornbook.run(...)`, with `with` or `async with`, once. Runs opened inside
    it join it: they write to its record and their budgets draw on its budget.
    """

    def __init__(
        self,
        *,
        trace: Trace = UNSET,
        budget: Budget | None = None,
        namespace: str | None = None,
        tags: Mapping[str, str] | None = None,
        handle: str | None = None,
        strict: bool | None = None,
    ) -> None:
        self._trace = _folder_or_none(trace)
        self._budget = _budget_or_none(budget)
        self._handle = _parse_handle(handle) if handle is not None else None
        self._strict = strict
        self._token: Token[Frame | None] | None = None
        self._opened = False
        self._frame: Frame | None = None
        self._log: Log | None = None
        self._outer: Run | None = None
        self.namespace = namespace
        """Whose learned rules apply; inherited from the run around."""
        self.tags: Mapping[str, str] = dict(tags or {})
        self.meter = Meter(budget)
        """What was spent, against the budget."""
        # What a step calls on its way, bound once: see hornbook.step.hot.
        self.start: Callable[[Frame], object]
        self.end: Callable[[Frame], object] | None
        self.joined_at: str | None = None
        """The step of another process that this part of the run hangs under."""

    @property
    def id(self) -> str:
        """The run's id: a ULID, the same for all that joined it."""
        return self.log.run

    @property
    def path(self) -> Path | None:
        """The folder of the record; None when it is in memory."""
        return self.log.path

    @property
    def events(self) -> tuple[Event, ...]:
        """All that was recorded so far, in every process, read anew each time."""
        return self.log.events

    @property
    def log(self) -> Log:
        """Where the run is recorded.

        Raises:
            RunError: the run was not opened.
        """
        if self._log is None:
            raise RunError("this run is not open: use it as `with hornbook.run(...) as run:`")
        return self._log

    def note(self, name: str, data: Mapping[str, Any] | None = None) -> None:
        """Record a remark that belongs to the step under way, or to the run."""
        self.log.mark("note", self._here(), name, data=data)

    def wrap(self, fn: Callable[P, R]) -> Callable[P, R]:
        """Carry this run into a thread or an executor: `pool.submit(run.wrap(fn), ...)`.

        Tasks inherit the run by themselves; threads do not.
        """
        here = self._here()
        if iscoroutinefunction(fn):

            async def inside(*args: P.args, **kwargs: P.kwargs) -> Any:
                token = current.set(here)
                try:
                    return await cast("Callable[P, Awaitable[Any]]", fn)(*args, **kwargs)
                finally:
                    current.reset(token)

            return cast("Callable[P, R]", functools.wraps(fn)(inside))

        @functools.wraps(fn)
        def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
            token = current.set(here)
            try:
                return fn(*args, **kwargs)
            finally:
                current.reset(token)

        return wrapped

    def handle(self) -> str:
        """A string with which another process joins: `hornbook.run(handle=text)`.

        Raises:
            RunError: the record is in memory, where no other process can reach it.
        """
        path = self.path
        if path is None:
            raise RunError(
                "a run in memory cannot be joined from another process: open it with trace=FOLDER"
            )
        import json

        step = self.log.step_id(self._here())
        return json.dumps(
            {
                "folder": str(path.parent.resolve()),
                "run": self.id,
                "step": None if step == self.id else step,
                "namespace": self.namespace,
            }
        )

    def __enter__(self) -> "Run":
        if self._opened:
            raise RunError("a run is opened once: call hornbook.run(...) again for another")
        self._opened = True
        self._outer = current_run()
        if self._outer is not None:
            self._join(self._outer)
        else:
            self._open()
        self.start, self.end = self.log.hot()
        if self.meter.limits_time:
            self.start = self._timed_start
        frame: Frame = [self, 0, None, current.get(), (), {}, 0.0, None, NO_META, None, None, None]
        self._frame = frame
        self._token = current.set(frame)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        assert self._token is not None
        with suppress(ValueError):  # it is left in another context than it was entered in
            current.reset(self._token)
        if self._outer is None:
            self._close(error)

    async def __aenter__(self) -> "Run":
        return self.__enter__()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.__exit__(kind, error, traceback)

    def _timed_start(self, frame: Frame) -> None:
        self.meter.check_time(frame[OPERATION].name)
        self.log.start(frame)

    def _here(self) -> Frame:
        frame = current.get()
        if frame is not None:
            run: Run | None = frame[RUN]
            if run is not None and run._log is self._log:
                return frame
        if self._frame is None:
            raise RunError("this run is not open: use it as `with hornbook.run(...) as run:`")
        return self._frame

    def _join(self, outer: "Run") -> None:
        path, trace = outer.path, self._trace
        here = path is not None and isinstance(trace, str | Path) and _same(trace, path.parent)
        if (trace not in (UNSET, None) and not here) or self._handle is not None:
            raise RunError(
                f"a run inside another joins it, and its record is in {path or 'memory'}: "
                f"leave out trace= and handle="
            )
        self._log = outer.log
        self.meter = Meter(self._budget, outer=outer.meter)
        self.joined_at = outer.joined_at
        if self.namespace is None:
            self.namespace = outer.namespace
        self.tags = {**outer.tags, **self.tags}

    def _open(self) -> None:
        from hornbook.config import load

        config = load()
        if self.namespace is None:
            self.namespace = config.namespace
        folder = config.trace if self._trace is UNSET else self._trace
        watching: Sequence[Observer] = late.observers.ask(config.trace_sinks)
        if self._handle is not None:
            folder = self._handle["folder"]
            self.joined_at = self._handle["step"]
            self.namespace = self.namespace or self._handle["namespace"]
        run_id = self._handle["run"] if self._handle is not None else new_run_id()
        assert run_id is not None
        self.meter = Meter(self._budget)
        if folder is None:
            self._log = MemoryLog(run_id, watching)
        else:
            strict = config.strict_trace if self._strict is None else self._strict
            self._log = self._file_log(run_id, Path(folder), strict, watching)
        self._log.write(self._fields("run.start", None, self._start_data()))

    def _file_log(
        self, run_id: str, folder: Path, strict: bool, watching: Sequence[Observer]
    ) -> FileLog:
        from hornbook.trace.writer import TraceFile

        header = {"namespace": self.namespace, "tags": self.tags}
        file = TraceFile.create(folder, run=run_id, header=header, strict=strict)
        return FileLog(run_id, file, folder / run_id, watching)

    def _close(self, error: BaseException | None) -> None:
        spent = self.meter.spent
        data: dict[str, Any] = {
            "calls": spent.calls,
            "tokens": spent.tokens,
            "microseconds": round(spent.seconds * 1e6),
            "cost": spent.cost,
        }
        if error is not None:
            data["error"] = told(error)
        self.log.close(self._fields("run.end", "failed" if error else "completed", data))

    def _start_data(self) -> Mapping[str, Any]:
        budget = self._budget
        limits = (
            {}
            if budget is None
            else {name: getattr(budget, name) for name in ("calls", "tokens", "seconds", "cost")}
        )
        return {
            "namespace": self.namespace,
            "tags": self.tags,
            "budget": {name: limit for name, limit in limits.items() if limit is not None},
        }

    def _fields(self, kind: Any, status: str | None, data: Mapping[str, Any]) -> Any:
        return {
            "kind": kind,
            "id": self.id,
            "parent": self.joined_at,
            "time": time.time(),
            "name": self.namespace or "run",
            "contract": None,
            "status": status,
            "data": data,
        }


def run(
    trace: Trace = UNSET,
    *,
    budget: Budget | None = None,
    namespace: str | None = None,
    tags: Mapping[str, str] | None = None,
    handle: str | None = None,
    strict: bool | None = None,
) -> Run:
    """Open a run, for `with` or `async with`.

    Args:
        trace: the folder to record in; None keeps the record in memory. Left out, it is
            the configured folder, or memory where none is configured.
        budget: what the run may spend. A run inside another draws on the outer budget too.
        namespace: whose learned rules apply.
        tags: what to find the run by.
        handle: joins the run of another process, see `Run.handle`.
        strict: raise `TraceError` where a record cannot be written, before the side effect;
            otherwise the run goes on and its record says that it is incomplete.

    Raises:
        RunError: `trace` is no folder, or a run inside another names another one.
        DefinitionError: `budget` is no `Budget`.
    """
    return Run(
        trace=trace, budget=budget, namespace=namespace, tags=tags, handle=handle, strict=strict
    )


def record(
    folder: str | Path,
    *,
    durability: Literal["process"] = "process",
    budget: Budget | None = None,
    namespace: str | None = None,
    tags: Mapping[str, str] | None = None,
) -> Run:
    """Open a run recorded in `folder`; the same as `hornbook.run(trace=folder)`.

    `process` durability writes each event before the step goes on: what was acknowledged
    outlives a kill of the process, though not a loss of power.
    """
    if durability != "process":
        raise RunError(f"durability {durability!r} is not known; there is 'process'")
    return run(folder, budget=budget, namespace=namespace, tags=tags)


def _folder_or_none(trace: object) -> Trace:
    if trace is None or trace is UNSET or isinstance(trace, str | Path):
        return trace
    raise RunError(
        f"trace={trace!r:.80}: give the folder to record in, or None to keep the record in memory"
    )


def _budget_or_none(budget: object) -> Budget | None:
    if budget is None or isinstance(budget, Budget):
        return budget
    raise DefinitionError(
        f"budget={budget!r:.80} is no Budget: write what is limited, such as Budget(calls=3)"
    )


def _parse_handle(text: str) -> dict[str, str | None]:
    import json

    try:
        parsed: object = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        parsed = None
    held = cast("dict[str, object]", parsed) if isinstance(parsed, dict) else {}
    whole = {"folder", "run", "step", "namespace"} <= held.keys()
    texts = all(isinstance(value, str | None) for value in held.values())
    if not (whole and texts and held["folder"] and is_run_id(str(held["run"]))):
        shown = f"{text!r:.80}"
        raise RunError(f"{shown} is no handle of a run: pass what `run.handle()` gave")
    return cast("dict[str, str | None]", held)


def _same(folder: str | Path, other: Path) -> bool:
    return Path(folder).resolve() == other.resolve()
