"""How the items of a conversation are read: the SDK passes them as the Responses API has them."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast

from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage
from pydantic import BaseModel

__all__ = [
    "Item",
    "answers_at_end",
    "calls_tools",
    "function_calls",
    "is_user",
    "items_of",
    "last_request",
    "made_of",
    "read_arguments",
    "since_answer",
    "since_user",
    "text_of",
    "written_text",
]

Item = Mapping[str, Any]

_HOSTED = {
    "mcp_call": "output",
    "file_search_call": "results",
    "code_interpreter_call": "outputs",
}
"""Calls that the provider made by itself, and where their item holds what came of them."""

_TO_BE_RUN = frozenset(
    {
        "apply_patch_call",
        "computer_call",
        "custom_tool_call",
        "function_call",
        "local_shell_call",
        "mcp_approval_request",
        "shell_call",
    }
)
"""What the model asks the SDK to do; with one of these in it a response is no answer yet."""


def items_of(given: str | Sequence[Any]) -> list[Item]:
    """The items of a model's input, whatever form it has."""
    if isinstance(given, str):
        return [{"role": "user", "content": given}]
    return [_item(one) for one in given]


def is_user(item: Item) -> bool:
    """Whether the user says it."""
    return item.get("role") == "user"


def text_of(item: Item) -> str:
    """The text of a message, or of what a tool returned."""
    held: Any = item.get("content")
    if held is None:
        held = item.get("output")
    if isinstance(held, str):
        return held
    if not isinstance(held, list | tuple):
        return "" if held is None else json.dumps(held, default=str)
    parts = (_item(part).get("text") for part in cast("Sequence[Any]", held))
    return "\n".join(part for part in parts if isinstance(part, str))


def last_request(items: Sequence[Item]) -> str:
    """What the user said last."""
    return next((text_of(item) for item in reversed(items) if is_user(item)), "")


def since_user(items: Sequence[Item]) -> Sequence[Item]:
    """The items since the user spoke last."""
    return _after(items, is_user)


def since_answer(items: Sequence[Item]) -> Sequence[Item]:
    """The items since the model said or called anything."""
    return _after(items, _is_the_models)


def made_of(item: Item) -> Any:
    """What a tool returned, by this item; None where it is no such item."""
    kind = str(item.get("type") or "")
    if kind in _HOSTED:
        return item.get(_HOSTED[kind])
    return text_of(item) if kind.endswith("_output") else None


def answers_at_end(items: Sequence[Item]) -> Iterator[str]:
    """The ids of the calls that the items at the end answer, the last first."""
    for item in reversed(items):
        if not str(item.get("type") or "").endswith("_output"):
            return
        yield str(item.get("call_id") or "")


def read_arguments(text: object) -> dict[str, Any] | None:
    """The arguments that a model wrote as JSON; None where they are none."""
    if not isinstance(text, str):
        return None
    try:
        read: object = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", read) if isinstance(read, dict) else None


def written_text(output: Sequence[Any]) -> str:
    """The text that a model's output says to the user."""
    texts = [
        text
        for item in output
        if isinstance(item, ResponseOutputMessage)
        for part in item.content
        if isinstance(text := getattr(part, "text", None), str)
    ]
    return "".join(texts)


def function_calls(output: Sequence[Any]) -> list[ResponseFunctionToolCall]:
    """The calls of tools, and the handoffs, in a model's output."""
    return [item for item in output if isinstance(item, ResponseFunctionToolCall)]


def calls_tools(output: Sequence[Any]) -> bool:
    """Whether the SDK has anything to run before the model can answer."""
    return any(getattr(item, "type", None) in _TO_BE_RUN for item in output)


def _is_the_models(item: Item) -> bool:
    return item.get("role") == "assistant" or item.get("type") in _TO_BE_RUN


def _after(items: Sequence[Item], ends: Callable[[Item], bool]) -> Sequence[Item]:
    for at in range(len(items) - 1, -1, -1):
        if ends(items[at]):
            return items[at + 1 :]
    return items


def _item(one: Any) -> Item:
    if isinstance(one, Mapping):
        return cast("Item", one)
    if isinstance(one, BaseModel):
        return one.model_dump(exclude_unset=True)
    return {}
