"""Measuring small costs on a noisy machine: CPU time, interleaved, medians, as ratios."""

import gc
import json
import platform
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

__all__ = ["Figure", "Recorded", "interleaved", "paired_differences", "report", "write"]

Work = Callable[[int], object]
"""Does the thing that many times."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """Work inside a run; opening the run and dropping its record are no part of a step."""

    work: Work
    around: Callable[[], AbstractContextManager[object]]

    def __call__(self, number: int) -> object:
        return self.work(number)


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One row of a table: a measured ratio and, where there is one, the mark to reach."""

    name: str
    microseconds: float
    """CPU time of one, median over the rounds."""
    against: str
    ratio: float
    at_most: float | None = None

    @property
    def reached(self) -> bool | None:
        """Whether the mark is reached; None where there is none."""
        return None if self.at_most is None else self.ratio <= self.at_most


def interleaved(
    works: Mapping[str, Work], *, number: int, rounds: int, warmup: int = 2
) -> dict[str, list[float]]:
    """CPU microseconds of one, for each round; the works take turns within a round."""
    taken: dict[str, list[float]] = {name: [] for name in works}
    for at in range(-warmup, rounds):
        for name, work in works.items():
            around = work.around if isinstance(work, Recorded) else nullcontext
            with around():
                gc.collect()
                started = time.process_time_ns()
                work(number)
                spent = (time.process_time_ns() - started) / number / 1000
            if at >= 0:
                taken[name].append(spent)
    return taken


def paired_differences(
    taken: Mapping[str, Sequence[float]], name: str, without: str
) -> list[float]:
    """What `name` costs more than `without`, round by round."""
    return [a - b for a, b in zip(taken[name], taken[without], strict=True)]


def report(title: str, figures: Sequence[Figure], folder: Path | None) -> None:
    """Print a table; write the same as JSON where a folder is given."""
    print(f"\n{title}")
    width = max(len(figure.name) for figure in figures)
    for figure in figures:
        mark = ""
        if figure.at_most is not None:
            mark = f"  to reach: <= {figure.at_most:g}  {'reached' if figure.reached else 'MISSED'}"
        print(
            f"  {figure.name:<{width}}  {figure.microseconds:10.3f} us  "
            f"{figure.ratio:9.2f} x {figure.against}{mark}"
        )
    data = [{**asdict(figure), "reached": figure.reached} for figure in figures]
    write(title, data, folder)


def write(title: str, figures: Sequence[Mapping[str, Any]], folder: Path | None) -> None:
    """Write a table as JSON where a folder is given."""
    if folder is None:
        return
    folder.mkdir(parents=True, exist_ok=True)
    data = {
        "title": title,
        "python": sys.version.split()[0],
        "machine": platform.machine(),
        "figures": figures,
    }
    name = title.lower().replace(" ", "-").replace(":", "").replace(",", "")
    path = folder / f"{name}.json"
    path.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


def ratio(
    taken: Mapping[str, Sequence[float]],
    name: str,
    against: str,
    *,
    at_most: float | None = None,
) -> Figure:
    """The median of the round-by-round ratios: the machine's drift cancels out."""
    pairs = zip(taken[name], taken[against], strict=True)
    return Figure(
        name=name,
        microseconds=median(taken[name]),
        against=against,
        ratio=median(a / b for a, b in pairs),
        at_most=at_most,
    )
