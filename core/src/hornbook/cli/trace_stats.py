"""`hornbook trace stats`: how reliable each step was, over one run or all runs of a folder."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from hornbook.cli.terminal import clean, duration, table, write
from hornbook.errors import TraceError
from hornbook.ids import is_run_id
from hornbook.judges import wilson
from hornbook.trace.events import Event
from hornbook.trace.reader import list_runs, read
from hornbook.trace.stats import COUNTED, Stats, StepStats, stats

__all__ = ["write_stats"]

_HEADINGS = (
    "STEP",
    "KIND",
    "CALLS",
    "VIOLATED",
    "RETRIED",
    "FALLBACK",
    "WAIVED",
    "ERROR",
    "MEAN TIME",
    "TOKENS",
)


def write_stats(where: Path, out: TextIO, *, as_json: bool) -> int:
    """Count and write; records that cannot be read are named and left out.

    Raises:
        TraceError: there is no such folder, or the one record that was asked for is broken.
    """
    records = _Records(where)
    counted = stats(records.events())
    if as_json:
        write(out, json.dumps(_document(counted, records.broken), indent=2))
        return 0
    if counted.steps:
        table(out, _HEADINGS, [_row(one) for one in counted.steps])
    write(out, _summary(counted))
    for problem in records.broken:
        write(out, f"left out: {clean(problem)}")
    return 0


@dataclass(slots=True)
class _Records:
    where: Path
    broken: list[str] = field(default_factory=list[str])

    def events(self) -> Iterator[Event]:
        """The events of every run."""
        one = self.where.is_file() or is_run_id(self.where.name) or any(self.where.glob("*.jsonl"))
        if one:
            yield from read(self.where)
            return
        for run in list_runs(self.where):
            try:
                # As a whole or not at all: half of a broken run would count as a run.
                events = list(read(run.path))
            except TraceError as error:
                self.broken.append(str(error))
                continue
            yield from events


def _row(one: StepStats) -> tuple[object, ...]:
    mean = one.mean_seconds
    return (
        clean(one.name, 60),
        one.kind,
        one.calls,
        *(_share(getattr(one, what), one.calls) for what in COUNTED),
        "-" if mean is None else duration(round(mean * 1e6)),
        one.tokens or "-",
    )


def _share(count: int, calls: int) -> str:
    """As `2 (20 %, 6-51)`; nothing where nothing was counted."""
    if not count:
        return "-"
    rate = wilson(count, calls)
    return f"{count} ({rate.value:.0%}, {rate.low:.0%}-{rate.high:.0%})"


def _summary(counted: Stats) -> str:
    runs = f"{counted.runs} run{'s' * (counted.runs != 1)}"
    cut = f", {counted.incomplete} of them incomplete" if counted.incomplete else ""
    open_ = sum(one.unfinished for one in counted.steps)
    steps = f"; {open_} calls without an end" if open_ else ""
    return f"{runs}{cut}{steps}; the least reliable step first" if counted.steps else f"{runs}{cut}"


def _document(counted: Stats, broken: list[str]) -> dict[str, object]:
    steps = [
        {**written, "rates": {what: _rate(getattr(one, what), one.calls) for what in COUNTED}}
        for one, written in zip(counted.steps, counted.as_dict()["steps"], strict=True)
    ]
    return {**counted.as_dict(), "steps": steps, "broken": broken}


def _rate(count: int, calls: int) -> dict[str, float]:
    rate = wilson(count, calls)
    return {"value": rate.value, "low": rate.low, "high": rate.high}
