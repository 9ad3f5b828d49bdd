"""The thresholds of the check at a turn's end, chosen on half of the tasks.

The best is the one that finds most silent faults, as a mean over kinds, among those that keep
the false alarms on gold within the marks: 1 % of calls and 2 % of turns. One setting at a time,
from the guard's own defaults, until none is better.
"""

import dataclasses
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from hornbook import kernel

from .alarms import alarms
from .cases import Case, cache_folder, clean
from .detectors import Guard, can_finish
from .hearing import by_task
from .material import Task
from .scoring import macro, search

__all__ = ["tuned"]

_SHARES = (0.25, 0.5, 0.65, 0.8, 0.9, 1.0)
_CALLS, _TURNS = 0.01, 0.02


def tuned(tasks: Sequence[Task], cases: Sequence[Case]) -> Mapping[str, Any]:
    """Return the thresholds, by name, that are best on these tasks and differ from the defaults."""
    grid = dict(_grid())
    if not can_finish() or not tasks or not grid:
        return {}
    # Only what a guard finds of silent faults counts: the others need not be looked at.
    silent = [case for case in cases if case.verdict == "silent"]
    kept = cache_folder() / f"thresholds-{_digest(tasks, silent)}.json"
    if kept.exists():
        return json.loads(kept.read_text(encoding="utf-8"))
    best = _climb(grid, tasks, silent)
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(json.dumps(best), encoding="utf-8")
    return best


def _digest(tasks: Sequence[Task], cases: Sequence[Case]) -> str:
    """Return what stands for the guard's code and for what it is tuned on."""
    folders = Path(str(kernel.__file__)).parent, Path(__file__).parent
    code = [path.read_bytes() for folder in folders for path in sorted(folder.rglob("*.py"))]
    keys = [(case.task, case.kind, case.seed) for case in cases]
    return hashlib.sha256(repr([code, [task.id for task in tasks], keys]).encode()).hexdigest()[:16]


def _climb(
    grid: Mapping[str, Sequence[Any]], tasks: Sequence[Task], cases: Sequence[Case]
) -> dict[str, Any]:
    best: dict[str, Any] = {}
    score, better = _score(best, tasks, cases), True
    known = {"[]": score}
    while better:
        better = False
        for name, values in grid.items():
            for value in values:
                tried = {**best, name: value}
                key = repr(sorted(tried.items()))
                if key not in known:
                    known[key] = _score(tried, tasks, cases)
                if known[key] > score:
                    best, score, better = tried, known[key], True
    return best


def settings(thresholds: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the guard takes for thresholds."""
    kind: Any = getattr(kernel, "Thresholds", None)
    return {"thresholds": kind(**thresholds)} if kind is not None and thresholds else {}


def _grid() -> Iterator[tuple[str, Sequence[Any]]]:
    """Yield what is tried of each of the guard's thresholds: shares, or near numbers."""
    kind: Any = getattr(kernel, "Thresholds", None)
    for field in dataclasses.fields(kind) if kind is not None else ():
        match field.default:
            case bool():
                yield field.name, (False, True)
            case int() as usual:
                yield field.name, sorted({max(1, usual - 2), max(1, usual - 1), usual, usual * 2})
            case float() as usual if 0 <= usual <= 1:
                yield field.name, _SHARES
            case _:
                pass


def _score(
    thresholds: Mapping[str, Any], tasks: Sequence[Task], cases: Sequence[Case]
) -> tuple[float, float]:
    """Return how good thresholds are: first how far beyond the marks, then the mean recall."""
    guard = Guard(finish=True, settings=settings(thresholds))
    found, usual = alarms(guard, tasks, list(map(clean, tasks)), "tuning")
    calls, turns = found.calls.value or 0.0, found.turns.value or 0.0
    beyond = max(0.0, calls - _CALLS) + max(0.0, turns - _TURNS)
    recall = macro(search(guard, by_task(tasks), cases, usual), "silent", rounds=0)[0]
    return -round(beyond, 6), recall or 0.0
