"""The look-ups that the gold leaves out.

The gold is short: it sends to `USR003` where the user said Catherine, and copies `report1.txt`
where the user said "all the text files". Whoever wrote it could see the simulator's state; a
model must look, and the checker lets it. A guard that refuses an id out of the air is right, so
its false alarms are counted on both: the gold as it is, and with those look-ups made.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from .material import Call, Task
from .values import leaves
from .world import World

__all__ = ["completed"]

_IDENTIFIER = re.compile(r"\S*[\d._]\S*")
_NAME = re.compile(r"\b[A-Z][a-z]+\b")


@cache
def _cached(tasks: tuple[Task, ...]) -> tuple[Task, ...]:
    return tuple(map(_completed, tasks))


def completed(tasks: Sequence[Task]) -> list[Task]:
    """Return the tasks with a look-up before each value that else comes from nowhere."""
    return list(_cached(tuple(tasks)))


def _completed(task: Task) -> Task:
    world, heard = World(task), ""
    trace: list[tuple[Call, ...]] = []
    inserted: set[tuple[int, int]] = set()
    for turn, calls in enumerate(task.reference):
        heard += task.turns[turn] + "\n"
        made: list[Call] = []
        for call in calls:
            for value in _from_nowhere(call, heard):
                found = _look_up(task, world, task.turns[: turn + 1], value)
                if found is not None:
                    inserted.add((turn, len(made)))
                    made.append(found[0])
                    heard += found[1] + "\n"
            made.append(call)
            # What the agent made itself it need not look up.
            heard += f"{world.call(call).text}\n{call.text}\n"
        trace.append(tuple(made))
    return replace(task, gold=tuple(trace), inserted=frozenset(inserted))


def _from_nowhere(call: Call, heard: str) -> list[str]:
    known = heard.casefold()
    return [
        leaf.value
        for leaf in leaves(call.arguments)
        if isinstance(leaf.value, str)
        and _IDENTIFIER.fullmatch(leaf.value)
        and leaf.value.casefold() not in known
    ]


def _look_up(task: Task, world: World, turns: Sequence[str], value: str) -> tuple[Call, str] | None:
    whole = re.compile(rf"(?<![\w.]){re.escape(value)}(?!\w)")
    for call in _candidates(task, turns):
        event = world.call(call)
        if not event.error and whole.search(event.text):
            return call, event.text
    return None


def _candidates(task: Task, turns: Sequence[str]) -> Iterator[Call]:
    """Yield what a careful model could ask: the named user first, then all that takes nothing."""
    tools: dict[str, Any] = {doc["name"]: doc["parameters"] for doc in task.docs}
    if "get_user_id" in tools:
        for name in dict.fromkeys(_NAME.findall(" ".join(reversed(turns)))):
            yield Call("get_user_id", {"user": name})
    for name, parameters in tools.items():
        call = Call(name, {"a": True} if name == "ls" else {})
        if not parameters.get("required") and not call.mutates:
            yield call
