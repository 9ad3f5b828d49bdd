"""A chat model that answers from a recording of decisions, by what it is really shown."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import BaseModel

__all__ = ["Decision", "NotRecorded", "RecordedModel"]


class NotRecorded(LookupError):
    """The model is shown something that the recording holds no decision for."""


class Decision(BaseModel):
    """One line of the recording: in this situation, the model said this."""

    email: str
    """Stands in the first human message."""
    seen: str
    """The e-mail, or the calls just made, and how each of them ended."""
    told: tuple[str, ...] = ()
    """All stand in the messages since the model last spoke."""
    prompt: str = ""
    """Stands in the system prompt."""
    calls: tuple[tuple[str, dict[str, Any]], ...] = ()
    text: str = ""

    def fits(self, shown: "Shown") -> bool:
        """Whether this decision was taken in the situation shown."""
        return (
            self.email in shown.email
            and self.seen == shown.seen
            and all(words in shown.told for words in self.told)
            and self.prompt in shown.prompt
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What one request to the model shows it."""

    email: str
    seen: str
    told: str
    prompt: str

    @classmethod
    def of(cls, messages: Sequence[BaseMessage], tools: Sequence[dict[str, Any]]) -> "Shown":
        """Read a request: its prompt, its first human message, and what came last."""
        since = [*takewhile(lambda m: not isinstance(m, AIMessage), reversed(messages))][::-1]
        results = [message for message in since if isinstance(message, ToolMessage)]
        calls = {c["id"]: c for m in messages if isinstance(m, AIMessage) for c in m.tool_calls}
        names = [tool["function"]["name"] for tool in tools]
        return cls(
            email=next((m.text for m in messages if isinstance(m, HumanMessage)), ""),
            seen=" + ".join(_ended(calls[r.tool_call_id], r) for r in results)
            or ("e-mail, to triage" if names == ["Request"] else "e-mail"),
            told="\n".join(message.text for message in since),
            prompt="\n".join(m.text for m in messages if m.type == "system"),
        )


def _ended(call: Any, result: ToolMessage) -> str:
    values = ", ".join(str(value)[:24] for value in call["args"].values())
    return f"{call['name']}({values}) {'failed' if result.status == 'error' else 'ok'}"


class RecordedModel(BaseChatModel):
    """Answers with the first recorded decision that fits the request; raises when none does."""

    decisions: tuple[Decision, ...]

    @classmethod
    def load(cls, path: Path) -> "RecordedModel":
        """Read a recording, one JSON object a line."""
        lines = path.read_text(encoding="utf-8").splitlines()
        return cls(decisions=tuple(Decision(**json.loads(line)) for line in lines))

    @property
    def _llm_type(self) -> str:
        return "recorded"

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Offer tools, as every chat model does; the decision depends on which."""
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools])

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        shown = Shown.of(messages, kwargs.get("tools", []))
        decision = next((each for each in self.decisions if each.fits(shown)), None)
        if decision is None:
            raise NotRecorded(f"no recorded decision after {shown.seen!r}, told {shown.told!r}")
        calls = [
            {"name": name, "args": args, "id": f"call-{len(messages)}-{n}", "type": "tool_call"}
            for n, (name, args) in enumerate(decision.calls)
        ]
        message = AIMessage(content=decision.text, tool_calls=calls)
        return ChatResult(generations=[ChatGeneration(message=message)])
