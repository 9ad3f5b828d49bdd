"""The agent that every LangGraph tutorial opens with; the lines marked `# hornbook` guard it.

Run `python examples/langgraph_first.py`. It asks a scripted model that guesses the city, as
models do; set OPENAI_API_KEY or ANTHROPIC_API_KEY to ask a live one.
"""

import os
from typing import Any

from langchain.agents import create_agent
from langchain.chat_models import init_chat_model
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from hornbook_langgraph import HornbookMiddleware  # hornbook

QUESTION = "My sister has moved to Bergen. Does she need an umbrella there today?"
LIVE = {"OPENAI_API_KEY": "openai:gpt-5-mini", "ANTHROPIC_API_KEY": "anthropic:claude-haiku-4-5"}


def get_weather(city: str) -> str:
    """Get the weather of a city."""
    return {"Bergen": "rain", "Oslo": "sunshine"}.get(city, "no report") + f" in {city}"


class ScriptedModel(BaseChatModel):
    """Asks for Oslo; told that nobody said Oslo, it asks for Bergen; then it answers."""

    _llm_type = "scripted"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        last = messages[-1]
        blocked = getattr(last, "status", "") == "error" and "Oslo" in last.text
        if last.type == "human" or blocked:
            city = "Bergen" if blocked else "Oslo"
            call = {"name": "get_weather", "args": {"city": city}, "id": f"{len(messages)}"}
            message = AIMessage(content="", tool_calls=[call])
        else:
            message = AIMessage(content=f"The report says: {last.text}.")
        return ChatResult(generations=[ChatGeneration(message=message)])


live = next((name for key, name in LIVE.items() if os.environ.get(key)), None)
agent = create_agent(
    model=init_chat_model(live) if live else ScriptedModel(),
    tools=[get_weather],
    system_prompt="You are a helpful assistant",
    middleware=[HornbookMiddleware(trace="runs")],  # hornbook
)

if __name__ == "__main__":
    result = agent.invoke({"messages": [{"role": "user", "content": QUESTION}]})
    for message in result["messages"]:
        message.pretty_print()
