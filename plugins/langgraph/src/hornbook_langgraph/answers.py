"""What a tool gives, as the host passes it on and as a contract sees it."""

import json
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from inspect import iscoroutinefunction
from typing import Any, cast

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.types import Command

from hornbook_langgraph.update import update_of

__all__ = [
    "Answer",
    "Telling",
    "as_message",
    "host_of",
    "is_error",
    "recorded_answer",
    "revealing",
    "value_of",
]

_NOTHING: Any = object()


@dataclass(frozen=True, slots=True)
class Answer:
    """The host's form of a tool's answer, and its value."""

    host: Any
    value: Any


def revealing(tool: BaseTool | None) -> BaseTool | None:
    """A tool whose function also tells its contract what it returned; None when it cannot."""
    if not isinstance(tool, StructuredTool):
        return None
    told = {
        name: _telling(fn)
        for name in ("func", "coroutine")
        if (fn := getattr(tool, name)) is not None
    }
    return tool.model_copy(update=told)


class Telling:
    """The time in which a revealing tool tells what its function returned."""

    __slots__ = ("_token", "_tool", "value")

    def __init__(self, tool: BaseTool | None) -> None:
        self._tool = tool
        self.value: Any = _NOTHING

    def __enter__(self) -> "Telling":
        self._token = _telling_to.set(self)
        return self

    def __exit__(self, *exception: object) -> None:
        _telling_to.reset(self._token)

    def request(self, request: Any) -> Any:
        """The request, made to the tool that tells."""
        return request if self._tool is None else request.override(tool=self._tool)

    def answer(self, host: Any) -> Answer:
        """An answer with its value: what the function returned, or else what the text says."""
        value = host if self.value is _NOTHING else self.value
        return Answer(host, value_of(value))


_telling_to: ContextVar[Telling | None] = ContextVar("hornbook_langgraph_telling", default=None)


def host_of(raw: Any) -> Any:
    """The host's form of what a step gave."""
    return raw.host if type(raw) is Answer else raw


def is_error(host: Any) -> bool:
    """Whether the host's answer is an error message: no output that a contract speaks of."""
    return isinstance(host, ToolMessage) and host.status == "error"


def as_message(value: Any, call: Mapping[str, Any], *, error: bool = False) -> Any:
    """The host's form of a value that a hook or fallback gave in a tool's place."""
    if isinstance(value, ToolMessage | Command | list) and _is_host_form(value):
        return cast("Any", value)
    return ToolMessage(
        content=value if isinstance(value, str) else _as_text(value),
        tool_call_id=call["id"],
        name=call["name"],
        status="error" if error else "success",
    )


def recorded_answer(host: Any) -> Any:
    """What the record holds of an answer: the text that the model is shown."""
    match host:
        case ToolMessage():
            if host.status == "error":
                return {"error": host.content}
            return host.content
        case Command():
            return update_of(host)
        case _:
            return host


def _telling(fn: Callable[..., Any]) -> Callable[..., Any]:
    if iscoroutinefunction(fn):

        @wraps(fn)
        async def atold(*args: Any, **kwargs: Any) -> Any:
            return _tell(await fn(*args, **kwargs))

        return atold

    @wraps(fn)
    def told(*args: Any, **kwargs: Any) -> Any:
        return _tell(fn(*args, **kwargs))

    return told


def _tell(value: Any) -> Any:
    telling = _telling_to.get()
    if telling is not None:
        telling.value = value
    return value


def value_of(host: Any) -> Any:
    """The value in the host's form of an answer; any other value is one itself."""
    match host:
        case ToolMessage():
            if host.artifact is not None:
                return host.artifact
            return _from_text(host.content)
        case Command():
            return update_of(host)
        case _:
            return host


def _from_text(content: Any) -> Any:
    """LangChain writes what is no text as JSON; objects and lists are read back."""
    if isinstance(content, str) and content[:1] in ("{", "["):
        try:
            return json.loads(content)
        except ValueError:
            return content
    return content


def _is_host_form(value: Any) -> bool:
    if not isinstance(value, list):
        return True
    listed = cast("list[Any]", value)
    return bool(listed) and all(isinstance(one, ToolMessage | Command) for one in listed)


def _as_text(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        return str(value)
