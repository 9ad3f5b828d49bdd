"""One fault put into a gold trace: the kinds that are counted of real models.

Where the kinds come from: the error classes of 71 models' published answers
(`fault_profiles_bfcl2024.json`) and of recorded runs (calls left out, turns ended early,
writes nobody asked for). Each is drawn from a generator of its own, so that the same task,
kind and seed give the same fault.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .material import Call, Task, Trace
from .values import Leaf, choices, invented, leaves, put, said_so_far, taken
from .world import Event

__all__ = ["KINDS", "Fault", "inject"]

Events = Sequence[Sequence[Event]]
Place = tuple[int, int]
"""A turn, and a position among its calls; the position after the last is the turn's end."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A trace with a fault in it."""

    trace: Trace
    at: Place
    """Where the first call stands that is not as it should be, or would stand."""
    what: str


Maker = Callable[[Task, Events, Place, random.Random], Fault | None]


def _places(task: Task) -> list[Place]:
    places = [(turn, at) for turn, calls in enumerate(task.gold) for at in range(len(calls))]
    return [place for place in places if place not in task.inserted]


def _with(trace: Trace, turn: int, calls: Sequence[Call]) -> Trace:
    return (*trace[:turn], tuple(calls), *trace[turn + 1 :])


def _instead(task: Task, place: Place, *calls: Call, what: str) -> Fault:
    turn, at = place
    own = task.gold[turn]
    return Fault(_with(task.gold, turn, [*own[:at], *calls, *own[at + 1 :]]), place, what)


def drop_call(task: Task, events: Events, place: Place, rng: random.Random) -> Fault | None:
    """Leave one call out."""
    turn, at = place
    return _instead(task, place, what=f"left out {task.gold[turn][at].text}")


def premature_stop(task: Task, events: Events, place: Place, rng: random.Random) -> Fault | None:
    """Do nothing in the last turn that asks for something."""
    turn = max(turn for turn, calls in enumerate(task.gold) if calls)
    return Fault(_with(task.gold, turn, ()), (turn, 0), "nothing done in the last turn")


def early_end(task: Task, events: Events, place: Place, rng: random.Random) -> Fault | None:
    """End a turn after its first calls."""
    turn = place[0]
    if len(task.gold[turn]) < 2:
        return None
    kept = rng.randint(1, len(task.gold[turn]) - 1)
    left = ", ".join(call.tool for call in task.gold[turn][kept:])
    return Fault(
        _with(task.gold, turn, task.gold[turn][:kept]), (turn, kept), f"ended before {left}"
    )


def duplicate_call(task: Task, events: Events, place: Place, rng: random.Random) -> Fault | None:
    """Make a call twice."""
    turn, at = place
    call = task.gold[turn][at]
    fault = _instead(task, place, call, call, what=f"twice {call.text}")
    return replace(fault, at=(turn, at + 1))


def late_repeat(task: Task, events: Events, place: Place, rng: random.Random) -> Fault | None:
    """Make a changing call of an earlier turn once more."""
    turn, at = place
    earlier = [call for calls in task.gold[:turn] for call in calls if call.mutates]
    if not earlier:
        return None
    again = rng.choice(earlier)
    return _instead(task, place, again, task.gold[turn][at], what=f"again {again.text}")


def extra_call(task: Task, events: Events, place: Place, rng: random.Random) -> Fault | None:
    """Make a changing call that nobody asked for, with values of the conversation."""
    turn, at = place
    pattern = task.gold[turn][at]
    if not pattern.mutates:
        return None
    wrong = _wrong(task, events, place, rng, from_talk=True)
    if wrong is None:
        return None
    fault = _instead(task, place, pattern, wrong, what=f"besides {wrong.text}")
    return replace(fault, at=(turn, at + 1))


def swap_adjacent(task: Task, events: Events, place: Place, rng: random.Random) -> Fault | None:
    """Make two calls of a turn the other way round."""
    turn, at = place
    own = task.gold[turn]
    if at + 1 >= len(own) or own[at].key == own[at + 1].key:
        return None
    calls = [*own[:at], own[at + 1], own[at], *own[at + 2 :]]
    return Fault(_with(task.gold, turn, calls), place, f"{own[at + 1].tool} before {own[at].tool}")


def missing_required(task: Task, events: Events, place: Place, rng: random.Random) -> Fault | None:
    """Leave a required argument out."""
    return _without(task, place, rng, required=True)


def missing_optional(task: Task, events: Events, place: Place, rng: random.Random) -> Fault | None:
    """Leave an argument out that the request states a value for."""
    return _without(task, place, rng, required=False)


def _without(task: Task, place: Place, rng: random.Random, *, required: bool) -> Fault | None:
    call = task.gold[place[0]][place[1]]
    needed = _doc(task, call.tool)["parameters"].get("required", ())
    names = [name for name in call.arguments if (name in needed) == required]
    if not names:
        return None
    out = rng.choice(names)
    left = {name: value for name, value in call.arguments.items() if name != out}
    return _instead(task, place, replace(call, arguments=left), what=f"{call.tool} without {out}")


def invented_name(task: Task, events: Events, place: Place, rng: random.Random) -> Fault | None:
    """Give an argument a name that the tool does not know."""
    call = task.gold[place[0]][place[1]]
    if not call.arguments:
        return None
    out = rng.choice(list(call.arguments))
    name = rng.choice([f"{out}_name", f"new_{out}", f"{out}_value"])
    given = {name if key == out else key: value for key, value in call.arguments.items()}
    return _instead(task, place, replace(call, arguments=given), what=f"{out} as {name}")


def wrong_value_taken(task: Task, events: Events, place: Place, rng: random.Random) -> Fault | None:
    """Give a value that the conversation has, in the wrong place."""
    call = _wrong(task, events, place, rng, from_talk=True)
    return None if call is None else _instead(task, place, call, what=f"wrong: {call.text}")


def wrong_value_invented(
    task: Task, events: Events, place: Place, rng: random.Random
) -> Fault | None:
    """Give a value that nobody gave."""
    call = _wrong(task, events, place, rng, from_talk=False)
    return None if call is None else _instead(task, place, call, what=f"wrong: {call.text}")


def wrong_choice(task: Task, events: Events, place: Place, rng: random.Random) -> Fault | None:
    """Give another of the values that the tool's description lists."""
    call = task.gold[place[0]][place[1]]
    declared = _doc(task, call.tool)["parameters"]["properties"]
    parts = list(leaves(call.arguments))
    rng.shuffle(parts)
    for leaf in parts:
        others = choices(declared[leaf.path[0]].get("description", ""), leaf.value)
        if others:
            wrong = put(call, leaf, rng.choice(others))
            return _instead(task, place, wrong, what=f"wrong: {wrong.text}")
    return None


def _wrong(
    task: Task, events: Events, place: Place, rng: random.Random, *, from_talk: bool
) -> Call | None:
    call = task.gold[place[0]][place[1]]
    parts = list(leaves(call.arguments))
    rng.shuffle(parts)
    said = said_so_far(task, place[0], events) if from_talk else []
    calls = [other for turn in task.gold[: place[0] + 1] for other in turn]
    for leaf in parts:
        value = taken(leaf, calls, said, rng) if from_talk else invented(leaf.value, rng)
        if value is not None and value != leaf.value:
            return put(call, leaf, value)
    return None


def wrong_type(task: Task, events: Events, place: Place, rng: random.Random) -> Fault | None:
    """Give the right value in the wrong form."""
    call = task.gold[place[0]][place[1]]
    if not call.arguments:
        return None
    name = rng.choice(list(call.arguments))
    value = _mistyped(call.arguments[name])
    wrong = put(call, Leaf((name,), None), value)
    return _instead(task, place, wrong, what=f"{call.tool}: {name}={value!r}")


def _mistyped(value: Any) -> Any:
    match value:
        case bool():
            return str(value).lower()
        case int() | float():
            return str(value)
        case str():
            return [value]
        case list() | tuple():
            return ", ".join(map(str, value))
        case _:
            return str(value)


def wrong_tool(task: Task, events: Events, place: Place, rng: random.Random) -> Fault | None:
    """Call another tool with the arguments meant for this one."""
    call = task.gold[place[0]][place[1]]
    others = [name for name in task.tools if name != call.tool]
    other = rng.choice(others)
    return _instead(task, place, replace(call, tool=other), what=f"{other} for {call.tool}")


def wrong_tool_fitted(task: Task, events: Events, place: Place, rng: random.Random) -> Fault | None:
    """Call another tool that takes as many arguments of the same types, by its own names."""
    call = task.gold[place[0]][place[1]]
    wanted = [_kind(value) for value in call.arguments.values()]
    fitting: list[Call] = []
    for doc in task.docs:
        declared = doc["parameters"]["properties"]
        names = [name for name in doc["parameters"].get("required", ()) if name in declared]
        kinds = [_DECLARED.get(declared[name]["type"], "") for name in names]
        if doc["name"] != call.tool and kinds == wanted:
            given = dict(zip(names, call.arguments.values(), strict=True))
            fitting.append(Call(doc["name"], given))
    if not fitting:
        return None
    other = rng.choice(fitting)
    return _instead(task, place, other, what=f"{other.text} for {call.tool}")


_DECLARED = {
    "string": "text",
    "integer": "number",
    "float": "number",
    "boolean": "truth",
    "array": "list",
    "dict": "object",
}


def _kind(value: Any) -> str:
    match value:
        case bool():
            return "truth"
        case int() | float():
            return "number"
        case str():
            return "text"
        case list() | tuple():
            return "list"
        case _:
            return "object"


def invented_tool(task: Task, events: Events, place: Place, rng: random.Random) -> Fault | None:
    """Call a tool that does not exist."""
    call = task.gold[place[0]][place[1]]
    name = f"{call.tool}_{rng.choice(['by_name', 'v2', 'all', 'now'])}"
    return _instead(task, place, replace(call, tool=name), what=f"no tool {name}")


def ignored_timeout(task: Task, events: Events, place: Place, rng: random.Random) -> Fault | None:
    """A tool times out, does nothing, and the agent goes on as if it had."""
    call = task.gold[place[0]][place[1]]
    return _instead(task, place, replace(call, fate="timeout"), what=f"no answer to {call.text}")


def unparsed(task: Task, events: Events, place: Place, rng: random.Random) -> Fault | None:
    """A call that is no JSON; in profiles only, as every host refuses it."""
    call = task.gold[place[0]][place[1]]
    return _instead(task, place, replace(call, fate="unparsed"), what=f"unreadable {call.tool}")


KINDS: dict[str, Maker] = {
    maker.__name__: maker
    for maker in (
        drop_call,
        premature_stop,
        early_end,
        duplicate_call,
        late_repeat,
        extra_call,
        swap_adjacent,
        missing_required,
        missing_optional,
        invented_name,
        wrong_value_taken,
        wrong_value_invented,
        wrong_choice,
        wrong_type,
        wrong_tool,
        wrong_tool_fitted,
        invented_tool,
        ignored_timeout,
    )
}


def inject(task: Task, kind: str, events: Events, seed: int) -> Fault | None:
    """Return the task's gold trace with one fault of a kind; None where it has no place for one."""
    rng = random.Random(f"{task.id} {kind} {seed}")
    places = _places(task)
    rng.shuffle(places)
    for place in places:
        fault = KINDS[kind](task, events, place, rng)
        if fault is not None and fault.trace != task.gold:
            return fault
    return None


def _doc(task: Task, tool: str) -> Any:
    return next(doc for doc in task.docs if doc["name"] == tool)
