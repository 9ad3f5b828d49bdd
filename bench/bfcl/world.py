"""Running traces: on the simulators for what tools return, by the checker for what is right."""

import copy
import itertools
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from .material import Call, Task, Trace, simulator

__all__ = ["Event", "World", "official", "played", "same_state"]

_ORACLE = "bfcl_eval.eval_checker.multi_turn_eval."
_numbers = itertools.count()


@dataclass(frozen=True, slots=True)
class Event:
    """A call and what came of it."""

    call: Call
    text: str
    error: bool


class World:
    """The simulators of one task, as the task begins."""

    def __init__(self, task: Task) -> None:
        self.instances: dict[str, Any] = {}
        self._methods: dict[str, Any] = {}
        config = import_module("bfcl_eval.constants.executable_backend_config")
        for name in task.entry["involved_classes"]:
            instance = simulator(name)()
            if name not in config.STATELESS_CLASSES:
                initial = copy.deepcopy(task.entry["initial_config"].get(name, {}))
                instance._load_scenario(initial, long_context=False)
            self.instances[name] = instance
            for tool in (tool for tool in dir(instance) if not tool.startswith("_")):
                self._methods[tool] = getattr(instance, tool)

    def call(self, call: Call) -> Event:
        """Make a call; what comes back is text, as a model sees it."""
        if call.fate == "timeout":
            return Event(call, '{"error": "the tool timed out; nothing was done"}', error=True)
        if call.fate == "unparsed":
            return Event(call, '{"error": "the call cannot be read"}', error=True)
        # The simulators keep and change the lists that they are given.
        given = copy.deepcopy(dict(call.arguments))
        try:
            text = _as_text(self._methods[call.tool](**given))
        except Exception as error:  # noqa: BLE001 - the official runner takes any as a result
            return Event(call, f"Error during execution: {error}", error=True)
        return Event(call, text, error=_is_error(text))


def _as_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value) if isinstance(value, dict) else str(value)
    except (TypeError, ValueError):
        return str(value)


def _is_error(text: str) -> bool:
    if not text.startswith("{"):
        return text.startswith("Error")
    try:
        read = json.loads(text)
    except ValueError:
        return False
    return isinstance(read, Mapping) and "error" in read


def played(task: Task, trace: Trace) -> tuple[World, tuple[tuple[Event, ...], ...]]:
    """Run a trace; return the world after it, and what came of each call."""
    world = World(task)
    return world, tuple(tuple(world.call(call) for call in turn) for turn in trace)


def same_state(one: World, other: World) -> bool:
    """Whether two worlds are the same to the official state check."""
    utilities = import_module(f"{_ORACLE}multi_turn_checker")
    return all(
        utilities._compare_instances(instance, other.instances[name])[0]
        for name, instance in one.instances.items()
    )


def official(task: Task, trace: Trace) -> bool:
    """Whether the official checker takes a trace for right.

    Its runner keeps instances among the globals of its module, by the name of the model:
    each replay has a name of its own, and they are taken away again.
    """
    checker = import_module(f"{_ORACLE}multi_turn_checker")
    runner = import_module(f"{_ORACLE}multi_turn_utils")
    name = f"hornbook_{os.getpid()}_{next(_numbers)}_x"
    made = [[[call.text] for call in turn if call.fate == "run"] for turn in trace]
    gold = [[call.text for call in turn] for turn in task.reference]
    try:
        answer = checker.multi_turn_checker(made, gold, dict(task.entry), "multi_turn_base", name)
    finally:
        for key in [key for key in vars(runner) if key.startswith(name)]:
            del vars(runner)[key]
    return bool(answer["valid"])
