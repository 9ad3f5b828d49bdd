"""What the adapter relies on and the hosts do not promise, held against what is installed."""

import asyncio
from typing import Any

import pytest
from langchain_core.runnables import RunnableLambda
from langgraph._internal import _constants
from langgraph.errors import GraphBubbleUp, GraphInterrupt
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tool_node
from langgraph.types import Command, interrupt

from hornbook.step import Decision
from hornbook.step.control_flow import is_control_flow
from hornbook_langgraph import compat
from hornbook_langgraph.adapter import ADAPTER
from hornbook_langgraph.testing import ScriptedChatModel, call

pytestmark = pytest.mark.requirement("langgraph:host:private")


def test_the_names_of_what_is_configurable_are_still_those():
    assert compat.REPLAY == _constants.CONFIG_KEY_REPLAY_STATE
    assert compat._RUNTIME == _constants.CONFIG_KEY_RUNTIME
    assert compat._RESUMING == _constants.CONFIG_KEY_RESUMING
    assert compat._SCRATCHPAD == _constants.CONFIG_KEY_SCRATCHPAD


def test_a_running_node_can_be_told_by_its_config(saver: Any, thread: Any):
    seen: list[Any] = []

    def node(state: MessagesState) -> dict[str, Any]:
        config = compat.running_config()
        execution = compat.execution(config)
        assert execution is not None
        seen.append((execution.task_id in execution.checkpoint_ns, compat.resumed(config)))
        interrupt("go on?")
        seen.append(compat.resumed(config))
        assert compat.conversation(compat.runtime_of(config)) == "t-1"
        return {}

    builder = StateGraph(MessagesState)
    builder.add_node("node", node)
    builder.add_edge(START, "node")
    graph = builder.compile(checkpointer=saver)
    graph.invoke({"messages": []}, thread)
    graph.invoke(Command(resume="yes"), thread)
    assert seen == [(True, False), (True, False), True]


def test_outside_of_a_graph_nothing_is_known():
    config = compat.running_config()
    assert dict(config) == {}
    assert compat.execution(config) is None
    assert not compat.resumed(config)
    assert compat.conversation(None) is None
    assert dict(ADAPTER.step_identity()) == {}


def test_one_run_of_a_graph_without_a_thread_is_one_conversation():
    keys: list[Any] = []

    def node(state: MessagesState) -> dict[str, Any]:
        keys.append(compat.conversation(compat.runtime_of(compat.running_config())))
        return {}

    builder = StateGraph(MessagesState)
    builder.add_node("a", node)
    builder.add_node("b", node)
    builder.add_edge(START, "a")
    builder.add_edge("a", "b")
    graph = builder.compile()
    graph.invoke({"messages": []})
    graph.invoke({"messages": []})
    assert keys[0] is keys[1]
    assert keys[2] is keys[3]
    assert keys[0] is not keys[2]


def test_a_node_tells_what_it_was_made_from():
    async def later(state: MessagesState) -> dict[str, Any]:
        return {}

    def now(state: MessagesState) -> dict[str, Any]:
        return {}

    builder = StateGraph(MessagesState)
    builder.add_node("now", now)
    builder.add_node("later", later)
    builder.add_node("lambda", RunnableLambda(now))
    builder.add_edge(START, "now")
    made = {name: spec.runnable for name, spec in builder.nodes.items()}
    assert now in compat.functions_of(made["now"])
    assert compat.functions_of(made["later"]) == (later,)
    assert compat.functions_of(made["lambda"]) == (now,)
    assert compat.functions_of(object()) == ()
    assert [compat.is_async_only(one) for one in made.values()] == [False, True, False]
    assert compat.is_subgraph(builder.compile())


def test_a_tool_node_still_has_the_parts_that_a_copy_needs():
    node = ToolNode([], handle_tool_errors=True)
    for name in ("_handle_tool_errors", "_messages_key", "_wrap_tool_call", "_awrap_tool_call"):
        assert hasattr(node, name)
    for name in ("_default_handle_tool_errors", "_handle_tool_error", "_infer_handled_types"):
        assert callable(getattr(tool_node, name))


def test_the_hosts_control_flow_is_registered():
    assert is_control_flow(GraphInterrupt(()))
    assert ADAPTER.is_control_flow(GraphBubbleUp())
    assert not ADAPTER.is_control_flow(RuntimeError())


def test_the_adapter_puts_decisions_into_the_hosts_forms():
    made = {"name": "pay", "args": {}, "id": "1"}
    blocked = ADAPTER.to_host(Decision(action="block", reason="no"), made)
    assert (blocked.status, blocked.content, blocked.tool_call_id) == ("error", "no", "1")
    instead = ADAPTER.to_host(Decision(action="substitute", value={"a": 1}), made)
    assert (instead.status, instead.content) == ("success", '{"a": 1}')
    assert ADAPTER.to_host(Decision(action="block", reason="no"), None).content == "no"
    response = ScriptedChatModel(replies=["hi"]).invoke("hello")
    usage = ADAPTER.usage(response)
    assert (usage.model, usage.input_tokens, usage.output_tokens) == ("scripted-1", 10, 5)
    assert ADAPTER.usage(None).model is None


def test_a_script_that_is_over_says_so_and_an_error_in_it_is_raised():
    model = ScriptedChatModel(replies=[ValueError("down"), lambda messages: messages[-1].text])
    with pytest.raises(ValueError, match="down"):
        model.invoke("a")
    assert model.invoke("b").text == "b"
    with pytest.raises(AssertionError, match="the script has 2 replies and no more"):
        asyncio.run(model.ainvoke("c"))
    streamed = ScriptedChatModel(replies=[[call("f", x=1), call("g")]]).stream("d")
    whole = None
    for chunk in streamed:
        whole = chunk if whole is None else whole + chunk
    assert [(c["name"], c["args"]) for c in whole.tool_calls] == [("f", {"x": 1}), ("g", {})]
