"""Where an agent's arguments may come from: the messages of its conversation, and its state.

What the user said and what tools returned are read from the history in the graph's state.
A summarising middleware takes old messages out of it; what was seen of a conversation
before is remembered, so that a value from an early turn still has its source.
"""

import threading
from collections import OrderedDict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from itertools import islice
from typing import Any, cast

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from pydantic import BaseModel

from hornbook.kernel.context import GuardContext, Source, ToolResult
from hornbook.kernel.seen import SeenCall
from hornbook_langgraph.compat import conversation

__all__ = ["Conversations", "Sources"]

_CONVERSATIONS = 256
_UNREAD = 64
"""Histories that may wait to be read."""
_REMEMBERED = 512
"""Turns and results of one conversation."""

_NO_SOURCE = ("messages", "jump_to", "remaining_steps")
_SUMMARY = "summarization"
_DEEPEST = 8

Part = str | Source
"""A turn's text, or a result."""

_NO_CALL: Mapping[str, Any] = {}


class Conversations:
    """What was seen of each conversation; shared by threads, and bounded.

    Most calls need no source, so a history is only kept, and read when one does.
    """

    def __init__(self) -> None:
        self._known: OrderedDict[Hashable, _Conversation] = OrderedDict()
        self._unread: dict[Hashable, Sequence[BaseMessage]] = {}
        """The last history of each conversation, where it was not read yet."""
        self._lock = threading.Lock()

    def see(self, runtime: Any, messages: Sequence[BaseMessage]) -> None:
        """Remember a history as it is now."""
        key = conversation(runtime)
        if key is None:
            return
        with self._lock:
            last = self._unread.get(key)
            self._unread[key] = messages
            if last is not None and len(messages) < len(last):  # something is gone from it
                self._of(key).see(last)
            if len(self._unread) > _UNREAD:
                self._read_oldest()

    def context(self, runtime: Any, state: Any) -> GuardContext:
        """The sources: the history, what was seen before, the state, and the run's context."""
        return cast("GuardContext", Sources(self, runtime, state))

    def sources(self, runtime: Any, state: Any) -> Iterator[Source]:
        """The sources of a conversation one by one: most values stand in the first.

        What was said comes before what was returned, and that before the state. Of what was
        said, the history as it is comes first, since it is at hand.
        """
        messages = _messages(state)
        number = 0
        for message in messages:
            if isinstance(message, HumanMessage) and not _is_summary(message):
                number += 1
                content = message.content
                yield Source(f"turn {number}", content if type(content) is str else message.text)
        key = conversation(runtime)
        with self._lock:
            known = _Conversation() if key is None else self._of(key)
            known.see(self._unread.pop(key, ()))
            earlier, results = known.read(messages)
        if not earlier and not known.shortened:
            # A summary is the model's own words; it counts only where nothing is known of
            # what it stands for.
            for message in filter(_is_summary, messages):
                yield Source("summary", _text(message))
        for number, turn in enumerate(earlier, 1):
            yield Source(f"earlier turn {number}", turn)
        yield from results
        settings = _fields(getattr(runtime, "context", None))
        yield from GuardContext(state=_plain(state), trusted=settings).sources()

    def _read_oldest(self) -> None:
        key = next(iter(self._unread))
        messages = self._unread.pop(key)
        # A run without a thread does not come back, so that its history can go.
        if isinstance(key, str):
            self._of(key).see(messages)

    def _of(self, key: Hashable) -> "_Conversation":
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = _Conversation()
            if len(self._known) > _CONVERSATIONS:
                self._known.popitem(last=False)
        else:
            self._known.move_to_end(key)
        return known


class Sources:
    """What the guard asks of a `GuardContext`, read only as far as a search goes."""

    __slots__ = ("_conversations", "_runtime", "_state")

    def __init__(self, conversations: Conversations, runtime: Any, state: Any) -> None:
        self._conversations = conversations
        self._runtime = runtime
        self._state = state

    def __iter__(self) -> Iterator[Source]:
        return self._conversations.sources(self._runtime, self._state)

    calls: tuple[SeenCall, ...] = ()
    """None: a host's history does not tell which calls the guard refused."""
    turns: tuple[str, ...] = ()

    @property
    def state(self) -> dict[str, Any]:
        """The graph's state, without its messages."""
        return _plain(self._state)

    @property
    def results(self) -> tuple[ToolResult, ...]:
        """What tools returned, as far as the history still has it."""
        return tuple(
            ToolResult(name=one.name or "", value=one.content, error=one.status == "error")
            for one in _messages(self._state)
            if isinstance(one, ToolMessage)
        )

    def sources(self) -> "Sources":
        """Return what gives the sources in the order in which they are looked at."""
        return self


class _Conversation:
    """The turns and results of one conversation, by the ids that checkpoints keep."""

    __slots__ = ("_calls", "_count", "_last", "_present", "_seen")

    def __init__(self) -> None:
        self._seen: dict[str, Part] = {}
        self._calls: dict[str, Mapping[str, Any]] = {}
        self._present: dict[str, None] = {}
        """The ids in the history as it is now."""
        self._count = 0
        self._last: BaseMessage | None = None

    @property
    def shortened(self) -> bool:
        """Whether the history was summarised since.

        Time travel takes the end of a history away, which then never happened; summarising
        takes the beginning.
        """
        first = next(iter(self._seen), None)
        return first is not None and first not in self._present

    def read(self, messages: Sequence[BaseMessage]) -> tuple[list[str], list[Source]]:
        """The turns that left the history, and all results, each in the order they came."""
        self.see(messages)
        gone = [found for found in self._seen if found not in self._present]
        earlier = [self._seen[found] for found in gone] if self.shortened else []
        present = [self._seen[found] for found in self._present if found in self._seen]
        turns = [part for part in earlier if isinstance(part, str)]
        return turns, [part for part in (*earlier, *present) if isinstance(part, Source)]

    def see(self, messages: Sequence[BaseMessage]) -> None:
        """Take in what is new in a history, which mostly is longer by a few messages."""
        if not messages:
            return
        begin = self._count
        if not begin or len(messages) < begin or messages[begin - 1] is not self._last:
            begin = 0
            self._present.clear()
        for message in islice(messages, begin, None):
            self._take(message)
        self._count = len(messages)
        self._last = messages[-1]
        while len(self._seen) > _REMEMBERED:
            self._seen.pop(next(iter(self._seen)))

    def _take(self, message: BaseMessage) -> None:
        if _is_turn(message):
            self._add(message.id or f"turn {len(self._present)}", _text(message))
        elif isinstance(message, AIMessage):
            for call in message.tool_calls:
                self._calls[call["id"] or ""] = cast("Any", call)
        elif isinstance(message, ToolMessage):
            call = self._calls.pop(message.tool_call_id, _NO_CALL)
            if message.status != "error":  # an error repeats what was invented
                self._add(*_result(message, call))

    def _add(self, found: str, part: Part) -> None:
        self._seen.setdefault(found, part)
        self._present[found] = None


def _result(message: ToolMessage, call: Mapping[str, Any]) -> tuple[str, Source]:
    name = message.name or call.get("name") or "a tool"
    # Some servers number their calls anew in each response, so that call ids come again.
    found = f"result {message.id or message.tool_call_id}"
    return found, Source(f"result of {name}", _text(message), call.get("args"))


def _messages(state: Any) -> Sequence[BaseMessage]:
    if isinstance(state, dict):
        return cast("dict[str, Any]", state).get("messages") or ()
    if isinstance(state, list):
        return cast("list[BaseMessage]", state)
    return getattr(state, "messages", None) or ()


def _is_turn(message: BaseMessage) -> bool:
    return isinstance(message, HumanMessage) and not _is_summary(message)


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
        if name not in _NO_SOURCE and value is not None and _is_json(value, _DEEPEST)
    }


def _fields(context: Any) -> dict[str, Any]:
    """What a graph was called with as its context: the signed-in user, say, and settings."""
    if isinstance(context, BaseModel):
        context = dict(context)
    elif is_dataclass(context) and not isinstance(context, type):
        context = {field.name: getattr(context, field.name, None) for field in fields(context)}
    return _plain(context)


def _is_json(value: Any, depth: int) -> bool:
    if value is None or isinstance(value, bool | int | float | str):
        return True
    if depth == 0:
        return False
    if isinstance(value, dict):
        entries = cast("dict[Any, Any]", value).items()
        return all(isinstance(name, str) and _is_json(held, depth - 1) for name, held in entries)
    if isinstance(value, list):
        return all(_is_json(held, depth - 1) for held in cast("list[Any]", value))
    return False
