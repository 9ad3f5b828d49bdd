"""A first LangGraph agent: one model, one tool, one prompt. The lines marked `# hornbook` guard it.

`python examples/langgraph_first.py` asks a scripted model that gets the flight number wrong,
as models do; with OPENAI_API_KEY or ANTHROPIC_API_KEY set it asks a live one. The record is
in `runs`: read it with `hornbook trace list`.
"""

import os
from typing import Any

from langchain.agents import create_agent
from langchain.chat_models import init_chat_model
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from hornbook_langgraph import HornbookMiddleware  # hornbook

QUESTION = "My sister lands in Bergen with DY620 today. When should I be there?"
ARRIVALS = {"DY620": "16:40, on time", "SK620": "11:05, landed"}
LIVE = {"OPENAI_API_KEY": "openai:gpt-5-mini", "ANTHROPIC_API_KEY": "anthropic:claude-haiku-4-5"}


def get_arrival(flight: str) -> str:
    """Get the arrival of a flight today, by its number."""
    return f"{flight}: {ARRIVALS.get(flight, 'not known')}"


class ScriptedModel(BaseChatModel):
    """Asks for SK620; told that nobody said so, asks for DY620; answers with what it hears."""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        last = messages[-1]
        blocked = getattr(last, "status", "") == "error" and "SK620" in last.text
        if last.type == "human" or blocked:
            arguments = {"flight": "DY620" if blocked else "SK620"}
            call = {"name": "get_arrival", "args": arguments, "id": f"call-{len(messages)}"}
            message = AIMessage(content="", tool_calls=[call])
        else:
            message = AIMessage(content=f"The airport says {last.text}.")
        return ChatResult(generations=[ChatGeneration(message=message)])


live = next((name for key, name in LIVE.items() if os.environ.get(key)), None)
agent = create_agent(
    model=init_chat_model(live) if live else ScriptedModel(),
    tools=[get_arrival],
    system_prompt="You are a helpful assistant",
    middleware=[HornbookMiddleware(trace="runs")],  # hornbook
)

if __name__ == "__main__":
    result = agent.invoke({"messages": [{"role": "user", "content": QUESTION}]})
    for message in result["messages"]:
        message.pretty_print()
