"""False alarms: what a detector says of conversations in which nothing is wrong."""

import tomllib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .cases import Case
from .detectors import Detector
from .hearing import Flag, by_task, flags
from .material import Task
from .shares import Share

__all__ = ["LOOK_UP", "Alarm", "Alarms", "alarms", "stale", "with_look_ups"]

LOOK_UP = "look-up left out"
_UNEXPLAINED = "unexplained"


@dataclass(frozen=True, slots=True, kw_only=True)
class Alarm:
    """One false alarm and its reason."""

    task: str
    turn: int
    call: str
    """Empty for an alarm at the turn's end."""
    reason: str
    detail: str
    kind: str
    """The class of its cause."""
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Alarms:
    """All of one detector on one set of conversations."""

    detector: str
    on: str
    calls: Share
    """Calls refused before they are made."""
    turns: Share
    """Turns in which any call, or the end, is flagged."""
    found: tuple[Alarm, ...]

    @property
    def data(self) -> dict[str, Any]:
        """As JSON."""
        return {**asdict(self), "calls": self.calls.data, "turns": self.turns.data}


def alarms(
    detector: Detector, tasks: Sequence[Task], gold: Sequence[Case], on: str
) -> tuple[Alarms, dict[str, list[Flag]]]:
    """Return the false alarms on gold conversations, and the flags by task."""
    known = by_task(tasks)
    raised = {case.task: flags(detector, known[case.task], case) for case in gold}
    calls = sum(len(turn) for case in gold for turn in case.events)
    turns = sum(len(case.events) for case in gold)
    refused = {(task, f.turn, f.at) for task, found in raised.items() for f in found if f.call}
    ended = {(task, f.turn) for task, found in raised.items() for f in found}
    return Alarms(
        detector=detector.name,
        on=on,
        calls=Share(len(refused), calls),
        turns=Share(len(ended), turns),
        found=tuple(_alarm(task, flag) for task, found in raised.items() for flag in found),
    ), raised


def _alarm(task: str, flag: Flag) -> Alarm:
    kind, why = _why(task, flag)
    return Alarm(
        task=task,
        turn=flag.turn,
        call=flag.call,
        reason=flag.complaint.reason,
        detail=flag.complaint.detail,
        kind=kind,
        why=why,
    )


def _why(task: str, flag: Flag) -> tuple[str, str]:
    """Return the committed explanation of an alarm.

    One is found for a task, a turn and the call's tool; "finish" stands for the turn's end.
    """
    tool = flag.call.partition("(")[0] or "finish"
    for row in _explanations():
        if (row["task"], row["turn"], row["call"]) == (task, flag.turn, tool):
            return row["kind"], row["why"]
    return _UNEXPLAINED, ""


def stale(found: Alarms) -> list[str]:
    """Return the explanations of alarms that are raised no more."""
    raised = {(one.task, one.turn, one.call.partition("(")[0] or "finish") for one in found.found}
    rows = [(row["task"], row["turn"], row["call"]) for row in _explanations()]
    return [
        f"{task} turn {turn} {call}"
        for task, turn, call in rows
        if (task, turn, call) not in raised
    ]


def _explanations() -> list[dict[str, Any]]:
    path = Path(__file__).with_name("explained.toml")
    return tomllib.loads(path.read_text(encoding="utf-8"))["alarm"]


def with_look_ups(raw: Alarms, looked: Alarms) -> Alarms:
    """Return alarms on the gold as it is, those explained that a look-up takes away."""
    left = {(alarm.task, alarm.turn, alarm.call) for alarm in looked.found}
    found = [
        alarm
        if (alarm.task, alarm.turn, alarm.call) in left or alarm.kind != _UNEXPLAINED
        else Alarm(
            **{**asdict(alarm), "kind": LOOK_UP, "why": "gone once the gold looks the value up"}
        )
        for alarm in raw.found
    ]
    return Alarms(
        detector=raw.detector, on=raw.on, calls=raw.calls, turns=raw.turns, found=tuple(found)
    )
