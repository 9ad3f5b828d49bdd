"""A chat model that repeats its script without end and keeps nothing of what it was asked."""

from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import PrivateAttr

__all__ = ["Endless"]


class Endless(BaseChatModel):
    """Calls the tool `look_up` so many times, then answers; then again from the start."""

    calls: int
    _asked: int = PrivateAttr(default=0)

    @property
    def _llm_type(self) -> str:
        return "endless"

    def bind_tools(self, tools: Any, **kwargs: Any) -> "Endless":
        return self

    def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> ChatResult:
        at = self._asked % (self.calls + 1)
        self._asked += 1
        reply = AIMessage("A17 was shipped.")
        if at < self.calls:
            call = {"name": "look_up", "args": {"order_id": "A17"}, "id": f"c{at}"}
            reply = AIMessage("", tool_calls=[call])
        return ChatResult(generations=[ChatGeneration(message=reply)])
