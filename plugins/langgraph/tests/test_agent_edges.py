"""Corners of the middleware: context of the run, nested steps, what a retry shows the model."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from pydantic import BaseModel

import hornbook
from hornbook import Contract, Recover, clauses
from hornbook.errors import DefinitionError
from hornbook_langgraph import HornbookMiddleware
from hornbook_langgraph.testing import ScriptedChatModel, call


def agent_of(replies: list[Any], tools: list[Any], *middleware: Any, **options: Any) -> Any:
    model = ScriptedChatModel(replies=replies)
    agent = create_agent(model, tools, middleware=middleware, **options)
    agent.script = model
    return agent


def ask(text: str) -> dict[str, Any]:
    return {"messages": [HumanMessage(text)]}


def orders(customer: str) -> str:
    """List the orders of a customer."""
    return f"none for {customer}"


@dataclass
class Signed:
    customer: str


class SignedModel(BaseModel):
    customer: str


@pytest.mark.requirement("agents:middleware:guard")
@pytest.mark.parametrize("context", [Signed("C-201"), SignedModel(customer="C-201")])
def test_what_the_run_was_called_with_is_a_source(go: Any, context: Any):
    replies = [call("orders", customer="C-201"), call("orders", customer="C-202"), "Done."]
    agent = agent_of(replies, [orders], HornbookMiddleware(), context_schema=type(context))
    state = go(agent, ask("my orders?"), context=context)
    answered = [m.status for m in state["messages"] if isinstance(m, ToolMessage)]
    assert answered == ["success", "error"]


@pytest.mark.requirement("agents:middleware:records")
def test_a_step_outside_of_any_run_does_not_hide_the_middlewares_own(go: Any, tmp_path: Path):
    with HornbookMiddleware(trace=tmp_path) as middleware:
        agent = agent_of(["Hi.", "Hi."], [], middleware)

        @hornbook.contract(Contract("c", requires=[clauses.bound("text")]))
        def step(text: str) -> str:
            return go(agent, ask(text))["messages"][-1].text

        assert step("hello") == "Hi."
        assert middleware.run is not None
        ended = [e.name for e in middleware.run.events if e.kind == "step.end"]
    assert ended == ["model"]


@pytest.mark.requirement("agents:middleware:records")
def test_a_run_that_fails_ends_as_failed(go: Any, tmp_path: Path):
    with pytest.raises(RuntimeError), HornbookMiddleware(trace=tmp_path) as middleware:  # noqa: PT012
        go(agent_of(["Hi."], [], middleware), ask("hello"))
        kept = middleware.run
        raise RuntimeError("the page was left")
    end = kept.events[-1]
    assert (end.kind, end.status, end.data["error"]) == (
        "run.end",
        "failed",
        "RuntimeError: the page was left",
    )


@pytest.mark.requirement("agents:middleware:guard")
def test_a_fallback_that_cannot_take_the_arguments_is_refused_at_once(go: Any):
    held = Contract("c", ensures=[clauses.one_of(".", ["none for C-1"])])
    recover = Recover(fallback=[lambda client: "none"])
    middleware = HornbookMiddleware({"orders": (held, recover)})
    agent = agent_of([call("orders", customer="C-1")], [orders], middleware)
    with pytest.raises(DefinitionError) as refused:
        go(agent, ask("orders of C-1?"))
    assert str(refused.value).endswith(
        "of tool 'orders' cannot take its arguments (customer) by name: missing a required "
        "argument: 'client'"
    )


class Score(BaseModel):
    score: int


@pytest.mark.requirement("agents:middleware:finish", "agents:trap:structured-output")
def test_a_retry_leaves_no_call_of_the_rejected_answer_open(go: Any):
    held = Contract("scored", output=Score, ensures=[clauses.in_range("score", 0, 10)])
    with pytest.warns(UserWarning, match="astream_events"):
        middleware = HornbookMiddleware({"model": (held, Recover(retry=1))})
    replies = [call("Score", score=11), call("Score", score=7)]
    agent = agent_of(replies, [orders], middleware, response_format=Score)
    assert go(agent, ask("score?"))["structured_response"] == Score(score=7)
    shown = agent.script.asked[1]
    called = [c["id"] for m in shown if isinstance(m, AIMessage) for c in m.tool_calls]
    assert called == [m.tool_call_id for m in shown if isinstance(m, ToolMessage)]
    assert shown[-1].text.startswith("The previous answer was rejected.")


@pytest.mark.requirement("agents:middleware:finish")
def test_modify_changes_what_the_model_is_asked_the_next_time(go: Any):
    def shorter(inputs: Any, violation: Any) -> dict[str, Any]:
        return {"system": "Be short.", "request": f"{inputs['request']}!"}

    held = Contract("short", ensures=[clauses.that("short", lambda text: len(text) < 5)])
    with pytest.warns(UserWarning, match="astream_events"):
        middleware = HornbookMiddleware({"model": (held, Recover(retry=1, modify=shorter))})
    agent = agent_of(["much too long", "Hi."], [], middleware, system_prompt="Talk.")
    assert go(agent, ask("hello"))["messages"][-1].text == "Hi."
    first, second = agent.script.asked
    assert [m.text for m in first] == ["Talk.", "hello"]
    assert [m.text for m in second[:2]] == ["Be short.", "hello!"]


@pytest.mark.requirement("agents:middleware:finish")
def test_only_the_prompt_and_the_request_of_a_model_call_can_be_changed(go: Any):
    from hornbook.errors import DefinitionError

    held = Contract("short", ensures=[clauses.that("short", lambda text: len(text) < 5)])
    modify = Recover(retry=1, modify=lambda inputs, violation: {"tools": []})
    with pytest.warns(UserWarning, match="astream_events"):
        middleware = HornbookMiddleware({"model": (held, modify)})
    with pytest.raises(DefinitionError) as caught:
        go(agent_of(["much too long"], [], middleware), ask("hello"))
    assert str(caught.value) == (
        "'tools' of a model call cannot be changed; 'system' and 'request' can"
    )


@pytest.mark.requirement("agents:middleware:guard", "agents:trap:partial-call")
def test_a_tool_that_another_middleware_puts_in_is_guarded_by_its_own_schema(go: Any):
    from langchain_core.tools import tool

    @tool
    def late(amount: int) -> str:
        """Come late."""
        return f"late {amount}"

    class Dynamic(AgentMiddleware[Any, Any, Any]):
        def wrap_model_call(self, request: Any, handler: Any) -> Any:
            return handler(request.override(tools=[*request.tools, late]))

        def wrap_tool_call(self, request: Any, handler: Any) -> Any:
            return handler(request.override(tool=late))

        async def awrap_model_call(self, request: Any, handler: Any) -> Any:
            return await handler(request.override(tools=[*request.tools, late]))

        async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
            return await handler(request.override(tool=late))

    replies = [call("late", amount="much"), call("late", amount=1), "Done."]
    state = go(agent_of(replies, [orders], Dynamic(), HornbookMiddleware()), ask("1"))
    answered = [(m.status, m.text) for m in state["messages"] if isinstance(m, ToolMessage)]
    assert answered[0][0] == "error"
    assert answered[1] == ("success", "late 1")


@pytest.mark.requirement("agents:middleware:contracts")
def test_a_tool_that_gives_a_command_is_held_to_what_it_writes(go: Any):
    from langchain.tools import ToolRuntime
    from langchain_core.tools import tool
    from langgraph.types import Command

    @tool
    def note(text: str, runtime: ToolRuntime) -> Command[Any]:
        """Take a note."""
        answer = ToolMessage("noted", tool_call_id=runtime.tool_call_id)
        return Command(update={"messages": [answer], "note": text})

    held = Contract("noted", ensures=[clauses.one_of("note", ["yes"])])
    for text, last in (("yes", "Done."), ("no", "I stopped here")):
        agent = agent_of(
            [call("note", text=text), "Done."], [note], HornbookMiddleware({"note": held})
        )
        assert go(agent, ask("yes or no"))["messages"][-1].text.startswith(last)
