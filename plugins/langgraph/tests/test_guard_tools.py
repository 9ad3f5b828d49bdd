"""`guard_tools`: the same guard around a tool node of a graph written by hand."""

import asyncio
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Command, interrupt

import hornbook
from hornbook import Contract, ContractViolation, clauses
from hornbook.errors import DefinitionError
from hornbook_langgraph import guard_tools
from hornbook_langgraph.halting import halts

LITTLE = Contract("little", ensures=[clauses.that("little", lambda text: int(text) < 10)])


@tool
def pay(amount: int) -> str:
    """Pay."""
    return str(amount)


@tool
async def later(amount: int) -> str:
    """Pay later."""
    return f"later {amount}"


@tool
def confirm(amount: int) -> str:
    """Ask a human."""
    return str(interrupt(f"pay {amount}?"))


def graph_of(node: Any, saver: Any = None) -> Any:
    builder = StateGraph(MessagesState)
    builder.add_node("tools", node)
    builder.add_edge(START, "tools")
    return builder.compile(checkpointer=saver)


def calling(*calls: tuple[str, dict[str, Any]], text: str = "pay") -> dict[str, Any]:
    made = [
        {"name": name, "args": args, "id": str(n), "type": "tool_call"}
        for n, (name, args) in enumerate(calls)
    ]
    return {"messages": [HumanMessage(text), AIMessage("", tool_calls=made)]}


def answers(state: Any) -> list[tuple[str, str]]:
    return [(m.status, m.text) for m in state["messages"] if isinstance(m, ToolMessage)]


@pytest.mark.requirement("langgraph:tools:guarded", "langgraph:trap:tool-node-sync")
def test_calls_of_a_tool_node_are_guarded_and_recorded(go: Any):
    node = ToolNode([pay])
    graph = graph_of(guard_tools(node))
    given = calling(("pay", {"amount": 7}), ("pay", {}), ("buy", {}))
    with hornbook.run(trace=None) as run:
        state = go(graph, given)
    statuses = [status for status, _ in answers(state)]
    assert statuses == ["success", "error", "error"]
    assert answers(state)[1][1].startswith("The call of 'pay' was not made.")
    ended = [(e.name, e.status) for e in run.events if e.kind == "step.end"]
    assert sorted(ended) == [("buy", "blocked"), ("pay", "blocked"), ("pay", "satisfied")]
    assert answers(go(graph_of(node), calling(("pay", {"amount": 7})))) == [("success", "7")]


@pytest.mark.requirement("langgraph:tools:guarded")
def test_async_tools_are_guarded_in_async_runs():
    graph = graph_of(guard_tools(ToolNode([later, pay])))
    state = asyncio.run(graph.ainvoke(calling(("later", {"amount": 7}), ("later", {"n": 7}))))
    assert [status for status, _ in answers(state)] == ["success", "error"]


@pytest.mark.requirement("langgraph:tools:guarded")
@pytest.mark.parametrize("handling", [None, True, ValueError, (KeyError, ValueError), "broken"])
def test_a_hard_halt_gets_out_whatever_handle_tool_errors_says(go: Any, handling: Any):
    options = {} if handling is None else {"handle_tool_errors": handling}
    graph = graph_of(guard_tools(ToolNode([pay], **options), contracts={"pay": LITTLE}))
    with pytest.raises(ContractViolation) as caught:
        go(graph, calling(("pay", {"amount": 70}), text="pay 70"))
    assert caught.value.report.contract == "little"


@pytest.mark.requirement("langgraph:tools:guarded")
def test_errors_of_the_tools_are_handled_as_before(go: Any):
    @tool
    def breaks(kind: str) -> str:
        """Break."""
        raise {"key": KeyError, "value": ValueError}[kind]("broken")

    def explain(error: ValueError) -> str:
        return f"explained: {error}"

    calls = calling(("breaks", {"kind": "value"}))
    for handling in (True, ValueError, explain, "sorry"):
        node = ToolNode([breaks], handle_tool_errors=handling)
        assert answers(go(graph_of(guard_tools(node)), calls)) == answers(go(graph_of(node), calls))
    for handling in (explain, ValueError, False):
        node = guard_tools(ToolNode([breaks], handle_tool_errors=handling))
        with pytest.raises(KeyError):
            go(graph_of(node), calling(("breaks", {"kind": "key"})))


@pytest.mark.requirement("langgraph:tools:guarded")
def test_a_soft_halt_answers_the_call_and_says_so_in_the_artifact(go: Any):
    node = guard_tools(ToolNode([pay]), contracts={"pay": LITTLE}, halt="soft")
    state = go(graph_of(node), calling(("pay", {"amount": 70}), text="pay 70"))
    assert [halt["contract"] for halt in halts(state["messages"])] == ["little"]


@pytest.mark.requirement("langgraph:trap:tool-node-interrupt")
@pytest.mark.parametrize("handling", [None, True])
def test_an_interrupt_in_a_tool_passes_the_guard(go: Any, saver: Any, thread: Any, handling: Any):
    options = {} if handling is None else {"handle_tool_errors": handling}
    graph = graph_of(guard_tools(ToolNode([confirm], **options)), saver)
    paused = go(graph, calling(("confirm", {"amount": 7})), thread)
    assert paused["__interrupt__"][0].value == "pay 7?"
    assert answers(go(graph, Command(resume="yes"), thread)) == [("success", "yes")]


@pytest.mark.requirement("langgraph:tools:guarded", "langgraph:trap:tool-node-sync")
def test_a_wrap_that_the_node_already_has_stays_around_ours(go: Any):
    seen: list[str] = []

    def wrap(request: Any, execute: Any) -> Any:
        seen.append("sync")
        changed = {**request.tool_call, "args": {"amount": 8}}
        return execute(request.override(tool_call=changed))

    async def awrap(request: Any, execute: Any) -> Any:
        seen.append("async")
        changed = {**request.tool_call, "args": {"amount": 8}}
        return await execute(request.override(tool_call=changed))

    calls = calling(("pay", {}))
    both = guard_tools(ToolNode([pay], wrap_tool_call=wrap, awrap_tool_call=awrap))
    assert answers(go(graph_of(both), calls)) == [("success", "8")]
    alone = guard_tools(ToolNode([pay], wrap_tool_call=wrap))
    assert answers(go(graph_of(alone), calls)) == [("success", "8")]
    assert seen in (["sync", "sync"], ["async", "sync"])


@pytest.mark.requirement("langgraph:tools:guarded")
def test_what_cannot_be_guarded_is_refused_at_once():
    cases: list[tuple[Any, dict[str, Any], str]] = [
        ([pay], {}, "guard_tools() takes a ToolNode, not list"),
        (
            ToolNode([pay]),
            {"contracts": {"buy": LITTLE}},
            "contracts: there is no tool 'buy'; the agent's tools are 'pay'",
        ),
        (ToolNode([pay]), {"tools": 1}, "tools=1: give a ToolGuard, or False for no guard"),
        (ToolNode([pay]), {"halt": "no"}, "halt='no': 'soft' or 'hard'"),
    ]
    for node, options, message in cases:
        with pytest.raises(DefinitionError) as caught:
            guard_tools(node, **options)
        assert str(caught.value) == message


@pytest.mark.requirement("langgraph:tools:guarded")
def test_the_name_and_the_key_of_the_messages_are_kept():
    node = guard_tools(ToolNode([pay], name="bank", messages_key="history", tags=["t"]))
    assert (node.name, node.tags) == ("bank", ["t"])
    assert node._messages_key == "history"
    assert list(node.tools_by_name) == ["pay"]
