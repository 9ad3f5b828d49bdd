"""The engine: what is switched on, and how a program's life is run (Forethought 3.3)."""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal, cast

from hornbook.budget import Budget
from hornbook.engine.adriving import adrive
from hornbook.engine.caching import Cache
from hornbook.engine.controls import Controls
from hornbook.engine.driving import drive
from hornbook.engine.replaying import Replay
from hornbook.engine.scheduler import Scheduler
from hornbook.engine.work import Life
from hornbook.errors import DefinitionError
from hornbook.step.operation import Operation, Outcome
from hornbook.step.tried import raised_status
from hornbook.trace.frame import ENDED, OUTCOME, RUN, VALUE, Frame, current, current_run
from hornbook.trace.runs import NO_META, Run
from hornbook.trace.runs import run as open_run

if TYPE_CHECKING:
    from hornbook.trace.events import Event

__all__ = ["Engine"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """How programs are run; immutable, and shared between runs and threads.

    No setting but `controls`, `substitutes` and `replay` changes a result: the others are the
    optimisations of Forethought's appendix B.

    Raises:
        DefinitionError: a setting that cannot work; it is named.
    """

    concurrency: bool = True
    """Branches whose needs are there run at the same time."""
    cache: "Literal['run'] | Cache | None" = "run"
    """Where outputs of pure primitives are kept: for one run, in a cache of yours, or nowhere.

    Calls are identical when no primitive could tell their inputs apart: in class, order and
    content. Calls with inputs that may hold more than can be seen (objects of unknown classes,
    of classes made in a function, or with private attributes, iterators, functions) are always
    made, and outputs that cannot be copied are not kept. Who is given a kept output has a copy.
    A primitive that changes its inputs in place is not pure, and has to say so; neither is one
    whose model has to answer anew each time.
    """
    batching: bool = True
    """Questions that wait for one model at the same time are sent as one batch."""
    pruning: bool = True
    """Branches that cannot be taken are left out; a program asks by `settings()`."""
    controls: Controls = field(default_factory=Controls)
    """Which parts of the control layer are on, for ablation."""
    max_concurrency: int = 16
    """Calls under way at the same time."""
    substitutes: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """By place: the value that the primitive there gives on every attempt, whatever it would do."""
    replay: "str | Path | Run | Sequence[Event] | None" = None
    """A record, or the run that was recorded: its completions stand in place of the models.

    No model is called.

    Symbolic primitives run again; a step that differs from the record is a `ReplayError`. What
    a cache of yours answered when it was recorded has to be in the cache of the replay.
    """

    def __post_init__(self) -> None:
        most = cast("object", self.max_concurrency)
        if isinstance(most, bool) or not isinstance(most, int) or most < 1:
            raise DefinitionError(f"Engine(max_concurrency={most!r}): a whole number of at least 1")
        if isinstance(self.cache, str) and self.cache != "run":
            raise DefinitionError(
                f"Engine(cache={self.cache!r}): 'run', a cache such as MemoryCache(), or None"
            )

    def run(
        self,
        life_of: Callable[[], Life],
        *,
        name: str,
        value: Any,
        budget: Budget | None = None,
    ) -> Any:
        """Run a program from sync code, as one step of the run around, or in a run of its own.

        Args:
            life_of: begins the program's life.
            name: what the record calls the program.
            value: its input, for the record.
            budget: what it may spend, within what the run around may.

        Raises:
            BudgetExceeded: the budget is spent.
            BaseException: what the program raises.
        """
        with _run_around(budget) as run:
            return drive(self._scheduler(life_of, name, value, run, awaits=False))

    async def arun(
        self,
        life_of: Callable[[], Life],
        *,
        name: str,
        value: Any,
        budget: Budget | None = None,
    ) -> Any:
        """The async twin of `run`."""
        with _run_around(budget) as run:
            return await adrive(self._scheduler(life_of, name, value, run, awaits=True))

    def _scheduler(
        self, life_of: Callable[[], Life], name: str, value: Any, run: Run, *, awaits: bool
    ) -> Scheduler:
        replay = None if self.replay is None else Replay(self.replay)
        life = _program(life_of, name, value, replay)
        return Scheduler(self, life, run, replay, awaits=awaits)


def _run_around(budget: Budget | None) -> AbstractContextManager[Run]:
    run = current_run()
    return nullcontext(run) if run is not None and budget is None else open_run(budget=budget)


def _program(
    life_of: Callable[[], Life], name: str, value: Any, replay: Replay | None
) -> Generator[Any, Any, Any]:
    """A program's whole life, as one step of the record."""
    from hornbook.models.asking import stand_in

    parent = current.get()
    assert parent is not None
    run: Run = parent[RUN]
    operation = Operation(name=name, bind=_input, rebuild=_unchanged)
    clock = perf_counter()
    frame: Frame = [
        run, None, operation, parent, (value,), {}, clock, None, NO_META, None, None, None
    ]  # fmt: skip
    run.start(frame)
    current.set(frame)
    around = stand_in.get()
    if replay is not None:
        stand_in.set(replay.in_place_of)
    try:
        result = yield from life_of()
        if replay is not None:
            replay.check(frame)
    except BaseException as error:
        frame[OUTCOME] = Outcome(status=raised_status(error), attempts=1, error=error)
        raise
    else:
        frame[VALUE] = result
        return result
    finally:
        current.set(parent)
        stand_in.set(around)
        frame[ENDED] = perf_counter()
        run.log.end(frame)


def _input(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"value": args[0]}


def _unchanged(
    args: tuple[Any, ...], kwargs: Mapping[str, Any], changed: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return args, dict(kwargs)  # pragma: no cover - no hook is asked about a program's step
