"""How well a detector finds faults, by kind, and what a fault can do until it is found."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from .cases import Case
from .detectors import Detector, ToolErrors
from .faults import Place
from .hearing import Flag, counted, flags, side_effects
from .material import Call, Task, Trace
from .shares import Share, bootstrap
from .world import official

__all__ = ["CHANCES", "Found", "Kind", "Oracle", "by_kind", "macro", "precision", "search"]

CHANCES = (0.3, 0.6, 0.9)
"""How likely a retry is right that has been told what was wrong: a sweep, never one number."""
TRIES = 2
_FEWEST = 5
"""A kind with fewer silent faults says nothing in a mean over kinds."""


@dataclass(frozen=True, slots=True)
class Found:
    """One faulty conversation and the first thing a detector said of the fault, if anything."""

    case: Case
    flag: Flag | None
    effects: int
    """Changes made from the fault on until the flag, or to the end."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One row: a kind of fault as one detector sees it."""

    name: str
    found: tuple[Found, ...]

    def detected(self, *verdicts: str) -> Share:
        """How many of the faults with these verdicts are flagged."""
        own = [one for one in self.found if one.case.verdict in verdicts]
        return Share(sum(one.flag is not None for one in own), len(own))

    @property
    def effects(self) -> float | None:
        """The mean number of changes before the flag, of the wrong results that are flagged."""
        own = [one.effects for one in self.found if one.flag and one.case.consequential]
        return fmean(own) if own else None

    @property
    def before_any(self) -> Share:
        """How many of the wrong results that are flagged are flagged before any change."""
        own = [one.effects for one in self.found if one.flag and one.case.consequential]
        return Share(own.count(0), len(own))

    @property
    def data(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "kind": self.name,
            "n": len(self.found),
            "equivalent": sum(one.case.equivalent for one in self.found),
            "consequential": self.detected("silent", "loud").data,
            "silent": self.detected("silent").data,
            "loud": self.detected("loud").data,
            "harmless": self.detected("harmless").data,
            "effects": self.effects,
            "before_any": self.before_any.data,
        }


def search(
    detector: Detector,
    tasks: Mapping[str, Task],
    cases: Sequence[Case],
    usual: Mapping[str, Sequence[Flag]],
) -> list[Found]:
    """Return for each faulty conversation the first flag that the gold does not bring too."""
    found: list[Found] = []
    for case in cases:
        said = counted(flags(detector, tasks[case.task], case, case.at), usual[case.task])
        first = said[0] if said else None
        found.append(Found(case, first, side_effects(case, first)))
    return found


def by_kind(found: Sequence[Found]) -> list[Kind]:
    """Return the rows, in the order in which kinds first come."""
    rows: dict[str, list[Found]] = defaultdict(list)
    for one in found:
        rows[one.case.kind].append(one)
    return [Kind(name, tuple(own)) for name, own in rows.items()]


def macro(
    found: Sequence[Found], *verdicts: str, rounds: int = 400
) -> tuple[float | None, tuple[float, float] | None]:
    """Return the mean recall over kinds, with an interval by drawing tasks."""
    kinds = {kind.name for kind in by_kind(found) if kind.detected(*verdicts).n >= _FEWEST}
    units: dict[str, list[Found]] = defaultdict(list)
    for one in found:
        if one.case.kind in kinds and one.case.verdict in verdicts:
            units[one.case.task].append(one)

    def mean(drawn: Sequence[Sequence[Found]]) -> float | None:
        rows = by_kind([one for unit in drawn for one in unit])
        shares = [row.detected(*verdicts).value for row in rows]
        own = [share for share in shares if share is not None]
        return fmean(own) if own else None

    return mean(list(units.values())), bootstrap(list(units.values()), mean, rounds=rounds)


def precision(found: Sequence[Found]) -> Share:
    """Return how many of the flagged faults have a consequence."""
    flagged = [one for one in found if one.flag is not None]
    return Share(sum(one.case.consequential for one in flagged), len(flagged))


class Oracle:
    """What the official checker says of conversations set right from some place on."""

    def __init__(self, tasks: Mapping[str, Task]) -> None:
        self._tasks = tasks
        self._known: dict[tuple[str, str], bool] = {}

    def recovers(self, case: Case, place: Place) -> bool:
        """Whether doing from a place on what is still to be done gives the right result."""
        task = self._tasks[case.task]
        trace = _set_right(task, case, place)
        key = (case.task, "|".join(";".join(call.text for call in turn) for turn in trace))
        if key not in self._known:
            self._known[key] = official(task, trace)
        return self._known[key]


def _set_right(task: Task, case: Case, place: Place) -> Trace:
    """Return what was done up to a place, then the gold calls of that turn not made, then gold."""
    turn, executed = place
    done = [list(calls) for calls in case.trace[:turn]]
    here = list(case.trace[turn][:executed])
    made = [
        event.call.key
        for events in (*case.events[:turn], case.events[turn][:executed])
        for event in events
        if event.call.fate == "run" and not event.error
    ]
    left: list[Call] = []
    for number, calls in enumerate(task.gold[: turn + 1]):
        for call in calls:
            if call.key in made:
                made.remove(call.key)
            elif number == turn or (number, 0) >= (case.at[0], 0):
                left.append(call)
    return (*map(tuple, done), (*here, *left), *task.gold[turn + 1 :])


def recovery(
    found: Sequence[Found], heard: Sequence[Found], oracle: Oracle
) -> Iterator[tuple[float, float]]:
    """Yield for each chance of a right retry the share of wrong results set right.

    An agent hears what its tools return whatever guards it, so the first of the detector's
    flag and a tool's error starts the retries. The share is exact, not drawn: a retry that is
    not right leaves things as they are, and there are two.
    """
    pairs = [(a, b) for a, b in zip(found, heard, strict=True) if a.case.consequential]
    saved = []
    for one, error in pairs:
        places = [(f.flag.turn, f.flag.executed) for f in (one, error) if f.flag is not None]
        saved.append(bool(places) and oracle.recovers(one.case, min(places)))
    for chance in CHANCES:
        sure = 1 - (1 - chance) ** TRIES
        yield chance, sure * sum(saved) / len(saved) if saved else 0.0


def tool_errors(
    tasks: Mapping[str, Task], cases: Sequence[Case], usual: Mapping[str, Sequence[Flag]]
) -> list[Found]:
    """Return where the tools themselves complain first."""
    return search(ToolErrors(), tasks, cases, usual)
