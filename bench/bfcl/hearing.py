"""A detector goes through conversations: what it says where, and what that is worth."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .cases import Case
from .detectors import Complaint, Detector
from .faults import Place
from .material import Task
from .world import Event

__all__ = ["Flag", "answered", "by_task", "counted", "flags", "side_effects"]


@dataclass(frozen=True, slots=True)
class Flag:
    """A complaint and where it came."""

    turn: int
    at: int
    """The call, before it is made; or the number of calls, at the turn's end."""
    call: str
    """The call's text; empty at the turn's end."""
    complaint: Complaint
    executed: int
    """How many calls of the turn were made when it came."""

    @property
    def same(self) -> tuple[int, str, str]:
        """What is equal in two conversations when the flag says the same of both."""
        return (self.turn, self.call, self.complaint.reason)


def answered(events: Sequence[Event]) -> str:
    """Return the answer that ends a turn: the data has none, so it says what the tools said."""
    return "\n".join(event.text for event in events if not event.error) or "Done."


def flags(detector: Detector, task: Task, case: Case, since: Place = (0, 0)) -> list[Flag]:
    """Return all that a detector says of a conversation from a place on.

    It hears everything before the place too; it is not asked.
    """
    session = detector.begin(task)
    found: list[Flag] = []
    for turn, events in enumerate(case.events):
        session.turn(task.turns[turn])
        for at, event in enumerate(events):
            asked = (turn, at) >= since
            before = session.call(event.call) if asked else None
            if before is not None:
                found.append(Flag(turn, at, event.call.text, before, at))
            after = session.result(event)
            if asked and after is not None:
                found.append(Flag(turn, at, event.call.text, after, at + 1))
        if (turn, len(events)) >= since:
            last = session.finish(answered(events))
            if last is not None:
                found.append(Flag(turn, len(events), "", last, len(events)))
    return found


def counted(found: Sequence[Flag], usual: Sequence[Flag]) -> list[Flag]:
    """Return the flags that the gold conversation does not bring too: chance is no detection."""
    known = {flag.same for flag in usual}
    return [flag for flag in found if flag.same not in known]


def side_effects(case: Case, until: Flag | None) -> int:
    """Return how many changing calls a tool took from the fault on until it was flagged."""
    turn, at = case.at
    end = (len(case.events), 0) if until is None else (until.turn, until.executed)
    return sum(
        event.call.mutates and not event.error
        for number, events in enumerate(case.events)
        for place, event in enumerate(events)
        if (turn, at) <= (number, place) < end
    )


def by_task(tasks: Sequence[Task]) -> Mapping[str, Task]:
    """Return tasks by their id."""
    return {task.id: task for task in tasks}
