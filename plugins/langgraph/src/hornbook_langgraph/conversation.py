"""Where an agent's arguments may come from: the messages of its conversation, and its state.

What the user said and what tools returned are read from the history in the graph's state.
A summarising middleware takes old messages out of it; what was seen of a conversation
before is remembered, so that a value from an early turn still has its source.
"""

import threading
from collections import OrderedDict
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, cast

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from hornbook.kernel.context import GuardContext, ToolResult

__all__ = ["Conversations"]

_CONVERSATIONS = 256
_REMEMBERED = 512
"""Turns and results of one conversation."""

_NO_SOURCE = ("messages", "jump_to", "remaining_steps")
_SUMMARY = "summarization"

Part = str | ToolResult


class Conversations:
    """What was seen of each conversation, and the sources it makes; shared by threads."""

    def __init__(self) -> None:
        self._seen: OrderedDict[Hashable, OrderedDict[str, Part]] = OrderedDict()
        self._lock = threading.Lock()
        self._last: tuple[object, GuardContext] | None = None

    def see(self, key: Hashable | None, state: Any) -> None:
        """Remember what stands in the history now."""
        if key is not None:
            self._remember(key, _parts(_messages(state)))

    def context(self, key: Hashable | None, state: Any) -> GuardContext:
        """The sources of a conversation: its history, what was seen before, and its state."""
        messages = _messages(state)
        last = self._last
        # Parallel calls of one message look at one history.
        if last is not None and last[0] is messages:
            return last[1]
        parts = _parts(messages)
        earlier = {} if key is None else self._remember(key, parts)
        context = _context(earlier, parts, state)
        self._last = (messages, context)
        return context

    def _remember(self, key: Hashable, parts: Mapping[str, Part]) -> Mapping[str, Part]:
        """Add what is new; give what was seen and has left the history since."""
        with self._lock:
            seen = self._seen.setdefault(key, OrderedDict())
            self._seen.move_to_end(key)
            if len(self._seen) > _CONVERSATIONS:
                self._seen.popitem(last=False)
            first = next(iter(seen), None)
            # Time travel takes the end of a history away, which then never happened;
            # summarising takes the beginning.
            shortened = first is not None and first not in parts
            gone = {k: v for k, v in seen.items() if k not in parts} if shortened else {}
            for part in parts:
                if part not in seen:
                    seen[part] = parts[part]
            while len(seen) > _REMEMBERED:
                seen.popitem(last=False)
        return gone


def _messages(state: Any) -> Sequence[BaseMessage]:
    if isinstance(state, list):
        return cast("list[BaseMessage]", state)
    if isinstance(state, Mapping):
        return cast("Mapping[str, Any]", state).get("messages") or ()
    return getattr(state, "messages", None) or ()


def _parts(messages: Sequence[BaseMessage]) -> dict[str, Part]:
    """The turns and results of a history, by the ids that they keep in every checkpoint."""
    parts: dict[str, Part] = {}
    calls: dict[str, Mapping[str, Any]] = {}
    for number, message in enumerate(messages):
        match message:
            case HumanMessage():
                if not _is_summary(message):
                    parts[message.id or f"turn {number}"] = _text(message)
            case AIMessage():
                calls |= {call["id"] or "": cast("Any", call) for call in message.tool_calls}
            case ToolMessage() if message.status != "error":
                call = calls.get(message.tool_call_id, {})
                name = message.name or call.get("name") or "a tool"
                parts[f"result {message.tool_call_id}"] = ToolResult(
                    name=name, value=_text(message), arguments=call.get("args")
                )
            case _:
                pass
    return parts


def _context(earlier: Mapping[str, Part], parts: Mapping[str, Part], state: Any) -> GuardContext:
    every = [*earlier.values(), *parts.values()]
    # A summary is the model's own words; it counts only where what it stands for is not known.
    summaries = [] if earlier else [_text(m) for m in _messages(state) if _is_summary(m)]
    return GuardContext(
        turns=summaries + [part for part in every if isinstance(part, str)],
        results=[part for part in every if isinstance(part, ToolResult)],
        state=_plain(state),
    )


def _is_summary(message: BaseMessage) -> bool:
    return isinstance(message, HumanMessage) and (
        message.additional_kwargs.get("lc_source") == _SUMMARY
    )


def _text(message: BaseMessage) -> str:
    return message.content if isinstance(message.content, str) else message.text


def _plain(state: Any) -> dict[str, Any]:
    """The values of a state, beside its messages, that are JSON."""
    if not isinstance(state, Mapping):
        return {}
    return {
        name: value
        for name, value in cast("Mapping[str, Any]", state).items()
        if name not in _NO_SOURCE and _is_json(value)
    }


def _is_json(value: Any, depth: int = 8) -> bool:
    if value is None or isinstance(value, bool | int | float | str):
        return value is not None
    if depth == 0:
        return False
    if isinstance(value, dict):
        entries = cast("dict[Any, Any]", value).items()
        return all(isinstance(k, str) and (v is None or _is_json(v, depth - 1)) for k, v in entries)
    if isinstance(value, list):
        return all(v is None or _is_json(v, depth - 1) for v in cast("list[Any]", value))
    return False
