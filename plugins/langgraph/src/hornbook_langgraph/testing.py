"""A scripted chat model: real enough for `create_agent`, and the same at every run."""

import re
import threading
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from pydantic import Field, PrivateAttr

if TYPE_CHECKING:
    from hornbook_langgraph.conforming import ConformanceAdapter, scripted

__all__ = ["ConformanceAdapter", "Reply", "ScriptedChatModel", "call", "scripted"]

Reply: TypeAlias = Any
"""A text; a call made by `call`, or a list of them; an `AIMessage`; an exception to raise; or
a function of the messages that gives one of these."""

_INPUT_TOKENS = 10
_OUTPUT_TOKENS = 5


def call(name: str, /, **arguments: Any) -> dict[str, Any]:
    """A tool call for a script."""
    return {"name": name, "args": arguments}


class ScriptedChatModel(BaseChatModel):
    """Gives the replies of its script in order, and keeps what it was asked.

    It streams its texts word by word, and counts ten tokens in and five out at each call.
    """

    replies: Any = ()
    """A sequence of replies, or an iterator that makes them as they are asked for."""
    asked: list[list[BaseMessage]] = Field(default_factory=list[Any])
    """The messages of each call so far; a copy of the model shares it."""
    offered: list[list[str]] = Field(default_factory=list[Any])
    """The names of the tools at each time that tools were bound."""

    _turn: threading.Lock = PrivateAttr(default_factory=threading.Lock)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Offer tools; the script does not depend on them."""
        self.offered.append([str(getattr(tool, "name", tool)) for tool in tools])
        return self.bind(**kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self._next(messages))])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        message = self._next(messages)
        words = re.findall(r"\S+\s*", message.text) or [""]
        for number, word in enumerate(words, 1):
            last = number == len(words)
            chunk = AIMessageChunk(
                content=word,
                tool_calls=message.tool_calls if last else [],
                usage_metadata=message.usage_metadata if last else None,
                response_metadata=message.response_metadata if last else {},
                chunk_position="last" if last else None,
            )
            generated = ChatGenerationChunk(message=chunk)
            if run_manager is not None:
                run_manager.on_llm_new_token(word, chunk=generated)
            yield generated

    def _next(self, messages: list[BaseMessage]) -> AIMessage:
        with self._turn:
            number = len(self.asked)
            self.asked.append(list(messages))
            reply = self._reply(number)
        if callable(reply) and not isinstance(reply, type):
            reply = reply(messages)
        if isinstance(reply, BaseException):
            raise reply
        return _as_message(reply, number)

    def _reply(self, number: int) -> Reply:
        replies = self.replies
        if hasattr(replies, "__next__"):
            return next(replies)
        if number >= len(replies):
            raise AssertionError(f"the script has {len(replies)} replies and no more")
        return replies[number]


def _as_message(reply: Any, number: int) -> AIMessage:
    if isinstance(reply, AIMessage):
        return reply
    told: dict[str, Any] = {
        "usage_metadata": {
            "input_tokens": _INPUT_TOKENS,
            "output_tokens": _OUTPUT_TOKENS,
            "total_tokens": _INPUT_TOKENS + _OUTPUT_TOKENS,
        },
        "response_metadata": {"model_name": "scripted-1"},
    }
    if isinstance(reply, str):
        return AIMessage(reply, **told)
    calls = cast("list[dict[str, Any]]", [reply] if isinstance(reply, dict) else reply)
    numbered = [
        {"type": "tool_call", "id": f"call-{number}-{at}", **one} for at, one in enumerate(calls)
    ]
    return AIMessage("", tool_calls=cast("Any", numbered), **told)


def __getattr__(name: str) -> Any:
    # These need `langchain`, the extra [agents]; a scripted chat model does not.
    if name in ("ConformanceAdapter", "scripted"):
        return getattr(import_module("hornbook_langgraph.conforming"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
