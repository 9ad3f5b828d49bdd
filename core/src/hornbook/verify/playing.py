"""Running a program once, apart from any run around, and what was seen of it."""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import copy_context
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar

import hornbook
from hornbook.contracts.report import ContractViolation
from hornbook.engine import Engine
from hornbook.trace.frame import (
    ARGS,
    ENDED,
    KWARGS,
    META,
    OPERATION,
    OUTCOME,
    PARENT,
    STARTED,
    VALUE,
    Frame,
    current,
)
from hornbook.verify.scenario import RunStatus
from hornbook.verify.values import Played, StepSeen, ViolationSeen

if TYPE_CHECKING:
    from pathlib import Path

    from hornbook.budget import Budget
    from hornbook.program import Program
    from hornbook.step.operation import Outcome
    from hornbook.trace.runs import Run

__all__ = ["aplay", "play"]

T = TypeVar("T")


def play(
    program: "Program",
    value: Any,
    *,
    engine: Engine | None = None,
    budget: "Budget | None" = None,
    trace: "str | Path | None" = None,
    tags: Mapping[str, str] | None = None,
) -> Played:
    """Run it from sync code; whatever the program raises is what the run came to.

    Args:
        program: the program.
        value: its input.
        engine: how it is run.
        budget: what the run may spend.
        trace: the folder to record it in; None for memory.
        tags: what its record is found by.
    """

    def inside() -> Played:
        with _watched(budget, trace, tags) as watch:
            try:
                watch.output = program.run(value, engine=engine)
            except (Exception, SystemExit) as error:  # noqa: BLE001 - what it raises is looked at
                watch.error = error
        return watch.played()

    return _apart(inside)


def aplay(
    program: "Program", value: Any, *, engine: Engine | None = None, budget: "Budget | None" = None
) -> Played:
    """Run it from async code, on the private loop, so that this works inside a running one."""
    from hornbook.contracts.private_loop import waited_for

    async def inside() -> Played:
        current.set(None)
        with _watched(budget) as watch:
            try:
                watch.output = await program.arun(value, engine=engine)
            except (Exception, SystemExit) as error:  # noqa: BLE001 - as above
                watch.error = error
        return watch.played()

    played = waited_for(inside(), None)
    assert isinstance(played, Played)
    return played


def _apart(inside: Callable[[], T]) -> T:
    """Outside any run that is open here: its budget and its record are not ours."""

    def alone() -> T:
        current.set(None)
        return inside()

    return copy_context().run(alone)


class _Watch:
    """What is seen of one run: the frames of its steps, with values as they are."""

    def __init__(self, run: "Run") -> None:
        self.run = run
        self.frames: list[Frame] = []
        self.output: Any = None
        self.error: BaseException | None = None
        self.began = perf_counter()
        start = run.start

        def watched(frame: Frame) -> object:
            self.frames.append(frame)
            return start(frame)

        run.start = watched

    def played(self) -> Played:
        microseconds = round((perf_counter() - self.began) * 1e6)
        placed = [frame for frame in self.frames if _place(frame) is not None]
        return Played(
            status=self._status(placed),
            output=self.output,
            error=self.error,
            steps=tuple(map(_step, placed)),
            violations=tuple(_violations(self.run, placed)),
            calls=self.run.meter.spent.calls,
            microseconds=microseconds,
        )

    def _status(self, placed: Sequence[Frame]) -> RunStatus:
        if self.error is not None:
            return "violated" if isinstance(self.error, ContractViolation) else "error"
        statuses = {_status(frame) for frame in placed}
        if "waived" in statuses:
            return "waived"
        return "satisfied" if statuses <= {"satisfied"} else "recovered"


@contextmanager
def _watched(
    budget: "Budget | None",
    trace: "str | Path | None" = None,
    tags: Mapping[str, str] | None = None,
) -> Generator[_Watch]:
    marked = {"purpose": "verify", **(tags or {})}
    with hornbook.run(trace=trace, budget=budget, tags=marked) as run:
        yield _Watch(run)


def _place(frame: Frame) -> str | None:
    meta: Mapping[str, Any] = frame[META] or {}
    place = meta.get("place")
    return None if place is None else str(place)


def _status(frame: Frame) -> str:
    outcome: Outcome | None = frame[OUTCOME]
    return "satisfied" if outcome is None else outcome.status


def _step(frame: Frame) -> StepSeen:
    outcome: Outcome | None = frame[OUTCOME]
    operation = frame[OPERATION]
    ended = frame[ENDED] or frame[STARTED]
    return StepSeen(
        place=_place(frame) or "",
        name=operation.name,
        status=_status(frame),
        attempts=1 if outcome is None else outcome.attempts,
        output=frame[VALUE],
        inputs=operation.bind(frame[ARGS], frame[KWARGS]),
        microseconds=round((ended - frame[STARTED]) * 1e6),
        depth=_depth(frame),
    )


def _depth(frame: Frame) -> int:
    depth, around = 0, frame[PARENT]
    while around is not None:
        depth += _place(around) is not None
        around = around[PARENT]
    return depth


def _violations(run: "Run", placed: Sequence[Frame]) -> Iterator[ViolationSeen]:
    """All violations of the run, also those that were recovered from, in their order."""
    if all(frame[OUTCOME] is None for frame in placed):
        return
    by_id = {run.log.step_id(frame): frame for frame in placed}
    for event in run.events:
        frame = by_id.get(event.id)
        if frame is None:
            continue
        told: Any = ()
        if event.kind == "attempt":
            told = event.data.get("violations", ())
        elif event.kind == "step.end" and event.data.get("attempts") == 0:
            # What a precondition stopped has no attempt, and tells in its report alone.
            report: Mapping[str, Any] = event.data.get("report") or {}
            told = [f"{one['clause']}: {one['observed']}" for one in report.get("violations", ())]
        for sentence in told:
            yield ViolationSeen(
                place=_place(frame) or "",
                step=frame[OPERATION].name,
                clause=_clause(frame, str(sentence)),
                told=str(sentence),
            )


def _clause(frame: Frame, sentence: str) -> str:
    """The clause that a violation's sentence begins with: the longest name that fits."""
    contract = frame[OPERATION].contract
    clauses = () if contract is None else contract.requires + contract.ensures
    names = [*(one.name for one in clauses), "output", "exception"]
    fitting = [one for one in names if sentence.startswith((f"{one}: ", f"{one} at "))]
    return max(fitting, key=len, default=sentence.partition(":")[0])
