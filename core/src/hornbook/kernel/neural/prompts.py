"""The prompts of the neural primitives, after the system prompts of appendix E."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hornbook.models import Message

__all__ = ["INSTRUCTIONS", "messages"]

_ANSWER = "Answer with JSON only, of just this form: "

INSTRUCTIONS: Mapping[str, str] = {
    "turns": (
        "Break the request into atomic unit tasks, each calling exactly one tool of `tools`, in "
        "the order in which they are to be done. `parameters` holds only values that the request, "
        "an earlier turn or `state` states: never guess one; leave out what is not stated. "
        "`depends_on` names the tasks that must be done before. Where no tool is for a part of "
        "the request, make a task of it with tool_name null. Leave no part of the request out. "
        + _ANSWER
        + '{"tasks": [{"id": "t1", "description": "...", "tool_name": "...", "depends_on": [], '
        '"parameters": {}}], "config_keys": {}}'
    ),
    "build_dep_graph": (
        "Say of each task which other tasks must be done before it, because it uses what they "
        "give or what they change. Invent no dependency. "
        + _ANSWER
        + '{"depends_on": {"t2": ["t1"]}}'
    ),
    "order": (
        "The tasks do not depend on each other. Put them into the order that fits the request "
        "best; output exactly the given ids. " + _ANSWER + '{"ordered_task_ids": ["t1", "t2"]}'
    ),
    "task_to_check": (
        "The prerequisite `key` of the task is not known yet. Propose at most one call of one of "
        "`tools` that finds it out or sets it up, with parameters that the request, the task or "
        "`state` states; null where none does. "
        + _ANSWER
        + '{"task": {"tool_name": "...", "parameters": {}}} or {"task": null}'
    ),
    "task_to_meet": (
        "The prerequisite `key` of the task is known and not met. Propose at most one call of one "
        "of `tools` that would meet it, with parameters that the request, the task or `state` "
        "states; null where none would. "
        + _ANSWER
        + '{"task": {"tool_name": "...", "parameters": {}}} or {"task": null}'
    ),
    "match_func": (
        "Choose the one tool of `tools` that does the task; its name must match exactly. Null "
        "where none does. " + _ANSWER + '{"tool_name": "..."} or {"tool_name": null}'
    ),
    "task_to_get": (
        "Propose values for the missing parameters only, grounded in the task, the request or "
        "`state`; read it from `state` rather than inventing it. Where a value has to be looked "
        "up, propose one call of one of `tools` as `task` and leave the value out. "
        + _ANSWER
        + '{"values": {}, "task": null}'
    ),
}
"""By primitive."""


def messages(instructions: str, request: Any) -> "list[Message]":
    """What a model is asked."""
    from hornbook.models import Message

    asked = json.dumps(asdict(request), ensure_ascii=False, default=str)
    return [
        Message(role="system", content=instructions),
        Message(role="user", content=asked),
    ]
