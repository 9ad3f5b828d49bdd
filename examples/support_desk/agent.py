"""The support desk as an ordinary LangGraph graph: triage an e-mail, then let an agent act."""

from typing import Any, Literal, NotRequired

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.graph.state import CompiledStateGraph
from typing_extensions import TypedDict

from .contracts import guard, sound_triage
from .tools import TOOLS

__all__ = ["Desk", "Request", "build"]

TRIAGE = "Say what this e-mail asks for. Use only what stands in it; leave out what does not."
DESK = """You answer the e-mails of Brightwell, a shop for the home. Use the tools: act on what
the customer asks for, then send one reply. Look up what you need; never guess. When the
reply is sent, end with one sentence that says what you did."""


class Request(TypedDict):
    """What an e-mail asks for."""

    intent: Literal["refund", "pickup", "question"]
    order_id: str | None


class Desk(MessagesState):
    """The state of one e-mail's way through the desk."""

    email: str
    notes: NotRequired[str]
    """What the staff has to say about it."""
    request: Request


def build(model: BaseChatModel) -> CompiledStateGraph[Any, Any, Any, Any]:
    """Build the desk around a chat model."""

    @sound_triage
    def triage(state: Desk) -> dict[str, Any]:
        text = f"{state['email']}\n{state.get('notes', '')}"
        prompt = [("system", TRIAGE), ("human", text)]
        return {"request": model.with_structured_output(Request).invoke(prompt)}

    def brief(state: Desk) -> dict[str, Any]:
        return {"messages": [HumanMessage(f"{state['email']}\nTriage: {state['request']}")]}

    agent = create_agent(
        model,
        TOOLS,
        system_prompt=DESK,
        middleware=[guard()],
    )

    graph = StateGraph(Desk)
    graph.add_node("triage", triage)
    graph.add_node("brief", brief)
    graph.add_node("agent", agent)
    graph.add_edge(START, "triage")
    graph.add_edge("triage", "brief")
    graph.add_edge("brief", "agent")
    graph.add_edge("agent", END)
    return graph.compile()
