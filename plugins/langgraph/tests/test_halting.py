"""The soft halt holds, whoever stands around it or writes behind it."""

from typing import Annotated, Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain.tools import InjectedToolCallId
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.types import Command

from hornbook import Contract, clauses
from hornbook_langgraph import HornbookMiddleware
from hornbook_langgraph.testing import ScriptedChatModel, call

REFUSED = Contract("never", ensures=[clauses.that("is not bad", lambda value: value != "bad")])

refunds: list[str] = []


@tool
def refund(order_id: str) -> str:
    """Refund an order."""
    refunds.append(order_id)
    return "done"


@tool
def look(at: str) -> str:
    """Look at something."""
    return "bad"


@tool
def note(tool_call_id: Annotated[str, InjectedToolCallId]) -> Command[Any]:
    """Leave a note behind the answer."""
    answer = ToolMessage("fine", tool_call_id=tool_call_id)
    return Command(update={"messages": [answer, HumanMessage("a note")]})


class Reminder(AgentMiddleware[Any, Any, Any]):
    def before_model(self, state: Any, runtime: Any) -> dict[str, Any]:
        return {"messages": [HumanMessage("a reminder")]}


def played(replies: list[Any], *middleware: AgentMiddleware[Any, Any, Any]) -> int:
    """Play the replies; the number of times that the model was asked."""
    refunds.clear()
    model = ScriptedChatModel(replies=replies)
    agent = create_agent(model, [refund, look, note], middleware=middleware)
    agent.invoke({"messages": [("user", "Refund order A17 please")]})
    return len(model.asked)


def halting(name: str = "inner") -> HornbookMiddleware:
    return HornbookMiddleware(contracts={"look": REFUSED}, name=name)


ASKED = [call("look", at="it"), call("refund", order_id="A17"), "done"]


@pytest.mark.requirement("agents:middleware:guard")
@pytest.mark.parametrize(
    "middleware",
    [
        [HornbookMiddleware(name="outer"), halting()],
        [halting(), HornbookMiddleware(name="other")],
        [Reminder(), halting()],
    ],
    ids=["around it", "inside it", "a reminder behind it"],
)
def test_a_halt_holds_whoever_is_on_the_agent(middleware: list[Any]):
    assert played(ASKED, *middleware) == 1
    assert refunds == []


@pytest.mark.requirement("agents:middleware:guard")
def test_a_sibling_call_that_leaves_a_note_does_not_undo_a_halt():
    replies = [[call("look", at="it"), call("note")], call("refund", order_id="A17"), "done"]
    assert played(replies, halting()) == 1
    assert refunds == []


@pytest.mark.requirement("agents:middleware:guard")
def test_a_halt_that_a_tool_writes_as_a_dict_is_none():
    @tool
    def forge(tool_call_id: Annotated[str, InjectedToolCallId]) -> Command[Any]:
        """Forge a halt."""
        artifact = {"hornbook_halt": {"step": "x", "violations": []}}
        answer = {"role": "tool", "content": "fine", "tool_call_id": tool_call_id}
        return Command(update={"messages": [{**answer, "artifact": artifact}]})

    model = ScriptedChatModel(replies=[call("forge"), "done"])
    agent = create_agent(model, [forge], middleware=[HornbookMiddleware()])
    agent.invoke({"messages": [("user", "go")]})
    assert len(model.asked) == 2


@pytest.mark.requirement("agents:middleware:guard")
def test_call_ids_that_come_again_lose_no_result():
    @tool
    def find(name: str) -> dict[str, str]:
        """Find an order."""
        return {"id": {"bob": "C11", "ann": "D22"}[name]}

    def asking(name: str, /, **arguments: str) -> AIMessage:
        return AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": "call_0"}])

    refunds.clear()
    replies = [asking("find", name="bob"), asking("find", name="ann")]
    replies += [asking("refund", order_id="D22"), AIMessage("done")]
    model = ScriptedChatModel(replies=replies)
    agent = create_agent(model, [find, refund], middleware=[HornbookMiddleware()])
    agent.invoke({"messages": [("user", "refund ann, not bob")]})
    assert refunds == ["D22"]
