"""What each optimisation of the engine saves, and what its scheduler costs.

    python bench/engine.py [--json FOLDER] [--quick] [--only TABLE]

First a program of a dozen neural steps on models that take 50 ms a call, a batch of any size
included: all four optimisations, each of them off, and none, which is the naive way. Whatever
is off, the value is the same. Pruning saves no call: a branch that cannot be taken is not run
without it either, and only a look at the constant test is spared. Then the CPU time of one
level of three steps that do nothing, beyond asyncio's own, beside LangGraph, interleaved.
"""

import argparse
import asyncio
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from desk import LETTER, desk, models
from measure import Figure, Work, interleaved, paired_differences, report, write
from overhead import recording
from typing_extensions import TypedDict

import hornbook
from hornbook import Contract, contract
from hornbook import program as p
from hornbook.engine import Branch, Engine, Together
from hornbook.program import primitive

DELAY = 0.05
"""Seconds of one call, and of one batch."""
ALLOWED = 50.0
"""Microseconds of CPU that the scheduler may take for a level, beyond asyncio's own."""
LEVELS = 50
"""Of the programs whose levels are measured."""


# --- the optimisations --------------------------------------------------------------------

OFF: Mapping[str, Mapping[str, Any]] = {
    "all on": {},
    "concurrency off": {"concurrency": False},
    "caching off": {"cache": None},
    "batching off": {"batching": False},
    "pruning off": {"pruning": False},
    "all off": {"concurrency": False, "cache": None, "batching": False, "pruning": False},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """One row: the program run with some optimisations off; medians of several runs."""

    name: str
    calls: int
    """Questions answered by a model, each a call of the run's budget."""
    sent: int
    """What went out to the models: a batch goes once."""
    tokens: int
    milliseconds: float
    ratio: float = 1.0
    """Of the time to that with all on."""


def executed(name: str, *, awaits: bool, delay: float = DELAY) -> tuple[Execution, Any]:
    """Run the program once, with models and a run of its own: the figures, and the value."""
    used = models(delay)
    program, engine = desk(*used), Engine(**OFF[name])
    with hornbook.run(trace=None) as run:
        started = time.perf_counter()
        if awaits:
            value = asyncio.run(program.arun(LETTER, engine=engine))
        else:
            value = program.run(LETTER, engine=engine)
        taken = (time.perf_counter() - started) * 1000
    spent = run.meter.spent
    assert spent.calls <= program.max_calls().budget
    sent = sum(model.sent for model in used)
    row = Execution(
        name=name, calls=spent.calls, sent=sent, tokens=spent.tokens, milliseconds=taken
    )
    return row, value


def optimisation_rows(*, awaits: bool, rounds: int, delay: float = DELAY) -> list[Execution]:
    """All rows of one driver; the values must be equal in all of them."""
    seen: dict[str, list[Execution]] = {name: [] for name in OFF}
    executed("all on", awaits=awaits, delay=0)  # what is imported at first use is no cost of a run
    values: list[Any] = []
    for _ in range(rounds):
        for name in OFF:
            row, value = executed(name, awaits=awaits, delay=delay)
            seen[name].append(row)
            values.append(value)
    assert all(value == values[0] for value in values), values
    return _compared([_median(rows) for rows in seen.values()])


def _median(rows: Sequence[Execution]) -> Execution:
    def middle(figure: str) -> Any:
        return median(getattr(row, figure) for row in rows)

    return Execution(
        name=rows[0].name,
        calls=int(middle("calls")),
        sent=int(middle("sent")),
        tokens=int(middle("tokens")),
        milliseconds=middle("milliseconds"),
    )


def _compared(rows: Sequence[Execution]) -> list[Execution]:
    whole = rows[0].milliseconds
    return [Execution(**{**asdict(row), "ratio": row.milliseconds / whole}) for row in rows]


def show(title: str, rows: Sequence[Execution], folder: Path | None) -> None:
    """Print the rows as `measure.report` prints its figures."""
    print(f"\n{title}")
    width = max(len(row.name) for row in rows)
    for row in rows:
        print(
            f"  {row.name:<{width}}  {row.milliseconds:7.0f} ms  {row.ratio:5.2f} x all on  "
            f"{row.calls:3} calls in {row.sent:2}  {row.tokens:4} tokens"
        )
    write(title, [asdict(row) for row in rows], folder)


# --- the scheduler ------------------------------------------------------------------------


class Nothing:
    """An effect that waits for a coroutine which does nothing."""

    async def arun(self) -> int:
        return 1

    def run(self) -> int:
        return 1


def bare_levels(effect: Any) -> Callable[[], Any]:
    """A life of levels and nothing else: no contract, no record of a step, no cache."""

    def lived(_: Any) -> Any:
        return 1 if effect is None else (yield effect)

    branches = tuple(Branch(name=name, start=lived) for name in "abc")

    def life() -> Any:
        for _ in range(LEVELS):
            yield Together(branches)

    return life


def bare(*, awaits: bool) -> Work:
    """Only the scheduler, through its public interface."""
    engine = Engine()
    life = bare_levels(Nothing() if awaits else None)
    if awaits:
        return _awaited(lambda: engine.arun(life, name="bare", value=None), LEVELS)
    return _repeated(lambda: engine.run(life, name="bare", value=None), LEVELS)


async def nothing(value: object) -> int:
    return 1


def nothing_plain(value: object) -> int:
    return 1


def parallel(*, awaits: bool) -> Work:
    """A program of levels of three steps, with contract and record; none answered by the cache."""
    step = primitive(nothing if awaits else nothing_plain, pure=False)
    program = p.Sequence(*[p.Parallel(a=step, b=step, c=step)] * LEVELS)
    if awaits:
        return _awaited(lambda: program.arun(1), LEVELS)
    return _repeated(lambda: program.run(1), LEVELS)


def task_group(fn: Callable[[object], Any]) -> Work:
    """Three coroutines in a TaskGroup, and nothing else."""

    async def level() -> list[Any]:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(fn(1)) for _ in range(3)]
        return [task.result() for task in tasks]

    return _awaited(level, 1)


def in_a_row(fn: Callable[[object], Any]) -> Work:
    """Three plain calls."""
    return _repeated(lambda: (fn(1), fn(1), fn(1)), 1)


def langgraph_levels(*, awaits: bool, levels: int = 10) -> Work:
    """The peer: a graph of levels of three nodes that do nothing, each after the level before."""
    from langgraph.graph import END, START, StateGraph

    class State(TypedDict):
        a: int
        b: int
        c: int

    def node(name: str) -> Any:
        async def astep(state: State) -> dict[str, int]:
            return {name: 1}

        def step(state: State) -> dict[str, int]:
            return {name: 1}

        return astep if awaits else step

    builder = StateGraph(State)
    before: Any = START
    for at in range(levels):
        for name in "abc":
            builder.add_node(f"{name}{at}", node(name))
            builder.add_edge(before, f"{name}{at}")
        before = [f"{name}{at}" for name in "abc"]
    builder.add_edge(before, END)
    graph, start = builder.compile(), {"a": 0, "b": 0, "c": 0}
    if awaits:
        return _awaited(lambda: graph.ainvoke(start), levels)
    return _repeated(lambda: graph.invoke(start), levels)


def _awaited(start: Callable[[], Any], levels: int) -> Work:
    async def many(number: int) -> None:
        for _ in range(number // levels):
            await start()

    return lambda number: asyncio.run(many(number))


def _repeated(start: Callable[[], Any], levels: int) -> Work:
    def many(number: int) -> None:
        for _ in range(number // levels):
            start()

    return many


HELD = contract(Contract("nothing", output=int))

ASYNC_LEVEL: Mapping[str, Callable[[], Work]] = {
    "asyncio.TaskGroup": lambda: task_group(nothing),
    "the scheduler": lambda: recording(bare(awaits=True)),
    "TaskGroup of contracted steps": lambda: recording(task_group(HELD(nothing))),
    "Parallel of contracted steps": lambda: recording(parallel(awaits=True)),
    "LangGraph nodes": lambda: langgraph_levels(awaits=True),
}
SYNC_LEVEL: Mapping[str, Callable[[], Work]] = {
    "three calls": lambda: in_a_row(nothing_plain),
    "the scheduler": lambda: recording(bare(awaits=False)),
    "calls of contracted steps": lambda: recording(in_a_row(HELD(nothing_plain))),
    "Parallel of contracted steps": lambda: recording(parallel(awaits=False)),
    "LangGraph nodes": lambda: langgraph_levels(awaits=False),
}


def level_figures(
    makers: Mapping[str, Callable[[], Work]], quick: bool, at_most: float | None = None
) -> list[Figure]:
    """What each adds to the first, which is what Python itself takes; the last is the peer."""
    works = {name: make() for name, make in makers.items()}
    taken = interleaved(works, number=LEVELS * (2 if quick else 6), rounds=5 if quick else 15)
    base, *others = makers
    added = {name: median(paired_differences(taken, name, base)) for name in others}
    whole, peer = median(taken[base]), others[-1]
    figures = [Figure(name=base, microseconds=whole, against="itself", ratio=1.0)]
    for name in others:
        against, of, mark = f"what {peer} add", added[peer], None
        if name == "the scheduler" and at_most is not None:
            against, of, mark = f"the {at_most:g} us it may add", at_most, 1.0
        figures.append(
            Figure(
                name=f"{name}, added",
                microseconds=added[name],
                against=against,
                ratio=added[name] / of,
                at_most=mark,
            )
        )
    return figures


# --- the tables ---------------------------------------------------------------------------


def _optimisations(*, awaits: bool) -> Callable[[str, bool, Path | None], None]:
    def table(title: str, quick: bool, folder: Path | None) -> None:
        show(title, optimisation_rows(awaits=awaits, rounds=1 if quick else 7), folder)

    return table


def _levels(
    makers: Mapping[str, Callable[[], Work]], at_most: float | None
) -> Callable[[str, bool, Path | None], None]:
    def table(title: str, quick: bool, folder: Path | None) -> None:
        report(title, level_figures(makers, quick, at_most), folder)

    return table


TABLES = {
    "Optimisations, async driver": _optimisations(awaits=True),
    "Optimisations, sync driver": _optimisations(awaits=False),
    "A level of three async steps": _levels(ASYNC_LEVEL, ALLOWED),
    "A level of three plain steps": _levels(SYNC_LEVEL, None),
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--json", type=Path, metavar="FOLDER", help="also write the tables as JSON")
    parser.add_argument("--quick", action="store_true", help="fewer rounds, for a sample")
    parser.add_argument("--only", help="one table, by a part of its title")
    arguments = parser.parse_args()
    os.environ["HORNBOOK_LOAD_PLUGINS"] = ""  # third-party plugins would be measured too
    for title, table in TABLES.items():
        if arguments.only is None or arguments.only.lower() in title.lower():
            table(title, arguments.quick, arguments.json)


if __name__ == "__main__":
    main()
