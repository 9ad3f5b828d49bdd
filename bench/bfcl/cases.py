"""Faulty conversations with what came of them, by the official checker; kept between runs.

The cache lies outside of the repository, in `HORNBOOK_BENCH_CACHE` or the user's cache folder:
it holds the package's data.
"""

import gzip
import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from .faults import KINDS, Fault, Place, inject
from .material import Call, Task, Trace, release
from .world import Event, World, official, played, same_state

__all__ = ["Case", "Verdict", "cache_folder", "cached", "clean", "grade", "single_faults"]

Verdict = Literal["silent", "loud", "harmless"]
"""Of a fault: the result is wrong and no tool complained; or one did; or the result is right."""
Events = tuple[tuple[Event, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One conversation as it went."""

    task: str
    kind: str
    seed: int
    at: Place
    what: str
    events: Events
    right: bool
    """What the official checker says."""
    complained: bool
    """Whether a tool returned an error that the gold trace does not bring."""
    equivalent: bool
    """The same final state, and no changing call beyond the gold's (the papers' appendix D)."""

    @property
    def consequential(self) -> bool:
        """Whether the official result is wrong."""
        return not self.right

    @property
    def verdict(self) -> Verdict:
        """What kind of fault it turned out to be."""
        if self.right:
            return "harmless"
        return "loud" if self.complained else "silent"

    @property
    def trace(self) -> Trace:
        """The calls alone."""
        return tuple(tuple(event.call for event in turn) for turn in self.events)


def clean(task: Task) -> Case:
    """Return the gold conversation."""
    _, events = played(task, task.gold)
    return Case(
        task=task.id,
        kind="gold",
        seed=0,
        at=(0, 0),
        what="",
        events=events,
        right=official(task, task.gold),
        complained=False,
        equivalent=True,
    )


def grade(task: Task, gold: World, fault: Fault, kind: str, seed: int, errors: int) -> Case:
    """Run a faulty trace and let the official checker grade it.

    Args:
        task: the task it is of.
        gold: the world after the gold trace.
        fault: the trace.
        kind: what kind of fault it has.
        seed: what it was drawn with.
        errors: how many errors the gold trace brings.
    """
    world, events = played(task, fault.trace)
    wrong = sum(event.error for turn in events for event in turn)
    return Case(
        task=task.id,
        kind=kind,
        seed=seed,
        at=fault.at,
        what=fault.what,
        events=events,
        right=official(task, fault.trace),
        complained=wrong > errors,
        equivalent=same_state(gold, world) and not _beyond(events, task),
    )


def _beyond(events: Events, task: Task) -> list[str]:
    """Return the changing calls beyond the gold's that a tool took."""
    left = [call.key for turn in task.gold for call in turn if call.mutates]
    beyond: list[str] = []
    for event in (event for turn in events for event in turn):
        if event.call.mutates and not event.error:
            if event.call.key in left:
                left.remove(event.call.key)
            else:
                beyond.append(event.call.key)
    return beyond


def single_faults(tasks: Sequence[Task], seeds: int) -> Iterator[Case]:
    """Yield each task with one fault of each kind, as often as there are seeds."""
    for task in tasks:
        gold, events = played(task, task.gold)
        errors = sum(event.error for turn in events for event in turn)
        for kind in KINDS:
            for seed in range(seeds):
                fault = inject(task, kind, events, seed)
                if fault is not None:
                    yield grade(task, gold, fault, kind, seed, errors)


def cached(name: str, key: Sequence[Any], make: Iterable[Case]) -> list[Case]:
    """Return the cases kept under a key, else make and keep them.

    The key takes in the package's version and the code that makes cases: neither can be old.
    """
    folder = Path(__file__).parent
    parts = [folder.joinpath(file).read_bytes() for file in _MAKERS]
    digest = hashlib.sha256(repr([release(), *key, *parts]).encode()).hexdigest()[:16]
    path = cache_folder() / f"{name}-{digest}.jsonl.gz"
    if path.exists():
        with gzip.open(path, "rt", encoding="utf-8") as file:
            return [_from_json(json.loads(line)) for line in file]
    cases = list(make)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(f".{os.getpid()}")
    with gzip.open(partial, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(_to_json(case)) + "\n" for case in cases)
    partial.replace(path)
    return cases


_MAKERS = (
    "cases.py",
    "faults.py",
    "lookups.py",
    "material.py",
    "profiles.py",
    "values.py",
    "world.py",
)


def cache_folder() -> Path:
    """Return where what is slow to make is kept."""
    own = os.environ.get("HORNBOOK_BENCH_CACHE")
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(own) if own else Path(base) / "hornbook-bench"


def _to_json(case: Case) -> dict[str, Any]:
    turns = [
        [[e.call.tool, dict(e.call.arguments), e.call.fate, e.text, e.error] for e in turn]
        for turn in case.events
    ]
    names = ("task", "kind", "seed", "at", "what", "right", "complained", "equivalent")
    return {name: getattr(case, name) for name in names} | {"events": turns}


def _from_json(row: Mapping[str, Any]) -> Case:
    events = tuple(
        tuple(
            Event(Call(tool, given, fate), text, error) for tool, given, fate, text, error in turn
        )
        for turn in row["events"]
    )
    return Case(**{**row, "at": tuple(row["at"]), "events": events})
