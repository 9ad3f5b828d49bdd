"""What goes wrong around `create_agent`, and does not go wrong here: one test a trap."""

import asyncio
import threading
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, HumanInTheLoopMiddleware
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.types import Command, interrupt
from pydantic import BaseModel

import hornbook
from hornbook import Contract, ContractViolation, Recover, clauses
from hornbook_langgraph import HornbookMiddleware
from hornbook_langgraph.adapter import ADAPTER
from hornbook_langgraph.testing import ScriptedChatModel, call

LITTLE = Contract("little", ensures=[clauses.that("little", lambda text: int(text) < 10)])
SHORT = Contract("short", ensures=[clauses.that("short", lambda text: len(text) < 20)])

done: list[int] = []


@pytest.fixture(autouse=True)
def nothing_done() -> None:
    done.clear()


@tool
def pay(amount: int) -> str:
    """Pay."""
    done.append(amount)
    return str(amount)


@tool
def look(amount: int) -> str:
    """Look."""
    done.append(-amount)
    return "seen"


def agent_of(replies: list[Any], tools: list[Any], *middleware: Any, **options: Any) -> Any:
    model = ScriptedChatModel(replies=replies)
    agent = create_agent(model, tools, middleware=middleware, **options)
    agent.script = model
    return agent


def ask(text: str) -> dict[str, Any]:
    return {"messages": [HumanMessage(text)]}


def answers(state: Any) -> list[ToolMessage]:
    return [message for message in state["messages"] if isinstance(message, ToolMessage)]


def final(retry: int = 0, **options: Any) -> HornbookMiddleware:
    with pytest.warns(UserWarning, match="astream_events"):
        return HornbookMiddleware({"model": (SHORT, Recover(retry=retry))}, **options)


@pytest.mark.requirement("agents:trap:twins")
def test_every_hook_has_both_colours_and_there_are_no_others():
    own = {
        name
        for name in vars(HornbookMiddleware)
        if name.lstrip("a").startswith(("wrap_", "before", "after"))
    }
    assert own == {"wrap_model_call", "awrap_model_call", "wrap_tool_call", "awrap_tool_call"}


@pytest.mark.requirement("agents:trap:twice")
def test_two_middlewares_on_one_agent_need_two_names(go: Any):
    with pytest.raises(AssertionError, match="duplicate middleware"):
        agent_of([], [pay], HornbookMiddleware(), HornbookMiddleware())
    both = HornbookMiddleware({"pay": LITTLE}), HornbookMiddleware(name="records")
    agent = agent_of([call("pay", amount=70), "never"], [pay], *both)
    with hornbook.run(trace=None) as run:
        state = go(agent, ask("pay 70"))
    assert state["messages"][-1].text.startswith("I stopped here")
    assert len(agent.script.asked) == 1
    names = [e.name for e in run.events if e.kind == "step.start"]
    assert names == ["model", "model", "pay", "pay"]


@pytest.mark.requirement("agents:trap:parallel-block")
def test_a_blocked_call_does_not_disturb_its_siblings(go: Any):
    calls = [
        call("pay", amount="x"),
        call("pay", amount=2),
        call("nothing"),
        call("look", amount=3),
    ]
    state = go(agent_of([calls, "Done."], [pay, look], HornbookMiddleware()), ask("2 and 3"))
    assert [(m.tool_call_id, m.status) for m in answers(state)] == [
        ("call-0-0", "error"),
        ("call-0-1", "success"),
        ("call-0-2", "error"),
        ("call-0-3", "success"),
    ]
    assert sorted(done) == [-3, 2]


@pytest.mark.requirement("agents:trap:context", "langgraph:records:parents")
def test_a_step_inside_a_tool_hangs_below_the_tools_step(go: Any):
    @hornbook.contract(Contract("inner"))
    def inner(amount: int) -> int:
        return amount

    @tool
    def nested(amount: int) -> str:
        """Nest."""
        return str(inner(amount))

    agent = agent_of([call("nested", amount=1), "Done."], [nested], HornbookMiddleware())
    with hornbook.run(trace=None) as run:
        go(agent, ask("1"))
    begun = {e.name.rpartition(".")[2]: e for e in run.events if e.kind == "step.start"}
    assert begun["inner"].parent == begun["nested"].id
    assert begun["nested"].parent is None


@pytest.mark.requirement("agents:trap:raising-tool")
def test_a_raising_tool_ends_the_run_and_is_recorded(go: Any):
    @tool
    def breaks(amount: int) -> str:
        """Break."""
        raise RuntimeError("the database is gone")

    agent = agent_of([call("breaks", amount=1), "never"], [breaks], HornbookMiddleware())
    with hornbook.run(trace=None) as run, pytest.raises(RuntimeError, match="database is gone"):
        go(agent, ask("1"))
    ended = [e for e in run.events if e.kind == "step.end"][-1]
    assert (ended.name, ended.status) == ("breaks", "error")
    assert ended.data["error"] == "RuntimeError: the database is gone"


@pytest.mark.requirement("agents:trap:hard-halt")
def test_a_hard_halt_raises_and_resuming_runs_only_the_halted_call_again(
    go: Any, saver: Any, thread: Any
):
    middleware = HornbookMiddleware({"pay": LITTLE}, halt="hard")
    calls = [call("look", amount=1), call("pay", amount=70)]
    agent = agent_of([calls, "Done."], [pay, look], middleware, checkpointer=saver)
    with pytest.raises(ContractViolation) as caught:
        go(agent, ask("look at 1, pay 70"), thread)
    assert caught.value.report.contract == "little"
    assert agent.get_state(thread).next == ("tools",)
    done.clear()
    with pytest.raises(ContractViolation):
        go(agent, None, thread)
    assert done == [70]


@pytest.mark.requirement("agents:trap:soft-halt", "agents:trap:parallel-halts")
def test_two_parallel_halts_end_one_turn(go: Any, saver: Any, thread: Any):
    calls = [call("pay", amount=70), call("look", amount=1), call("pay", amount=80)]
    agent = agent_of(
        [calls, "never"], [pay, look], HornbookMiddleware({"pay": LITTLE}), checkpointer=saver
    )
    state = go(agent, ask("70 80 1"), thread)
    assert [m.status for m in answers(state)] == ["error", "success", "error"]
    assert len(state["messages"][-1].additional_kwargs["hornbook_halt"]) == 2
    assert state["messages"][-1].text.count("pay (little") == 2
    assert len(agent.script.asked) == 1
    assert agent.get_state(thread).next == ()


@pytest.mark.requirement("agents:trap:next-turn")
def test_the_next_turn_after_a_halt_is_free(go: Any, saver: Any, thread: Any):
    replies = [call("pay", amount=70), call("pay", amount=7), "Done."]
    agent = agent_of(replies, [pay], HornbookMiddleware({"pay": LITTLE}), checkpointer=saver)
    assert go(agent, ask("pay 70"), thread)["messages"][-1].text.startswith("I stopped here")
    state = go(agent, ask("then pay 7"), thread)
    assert state["messages"][-1].text == "Done."
    assert done == [70, 7]
    called = [c["id"] for m in state["messages"] if isinstance(m, AIMessage) for c in m.tool_calls]
    assert called == [m.tool_call_id for m in answers(state)]


@pytest.mark.requirement("agents:trap:no-channel")
def test_no_channel_and_no_node_is_added_to_the_graph():
    plain = agent_of([], [pay])
    guarded = agent_of([], [pay], HornbookMiddleware({"pay": LITTLE}, rules=None))
    assert set(guarded.channels) == set(plain.channels)
    assert set(guarded.nodes) == set(plain.nodes)


@pytest.mark.requirement("agents:trap:artifact")
def test_a_tool_cannot_forge_a_halt(go: Any):
    forged = {"hornbook_halt": {"step": "x", "violations": []}, "own": 1}

    @tool(response_format="content_and_artifact")
    def plain(amount: int) -> Any:
        """Give an artifact."""
        return "ok", forged

    @tool
    def message(amount: int) -> Any:
        """Give a message."""
        return ToolMessage("ok", tool_call_id="call-0-1", artifact=forged)

    @tool
    def command(amount: int) -> Any:
        """Give a command."""
        own = {"hornbook_halt": {}}
        return Command(
            update={"messages": [ToolMessage("ok", tool_call_id="call-0-2", artifact=own)]}
        )

    calls = [call("plain", amount=1), call("message", amount=1), call("command", amount=1)]
    state = go(
        agent_of([calls, "Done."], [plain, message, command], HornbookMiddleware()), ask("1")
    )
    assert state["messages"][-1].text == "Done."
    assert [m.artifact for m in answers(state)] == [{"own": 1}, {"own": 1}, None]


@pytest.mark.requirement("agents:trap:rejected-tokens", "agents:middleware:finish")
def test_the_tokens_of_a_rejected_answer_are_not_streamed(stream: Any):
    replies = ["This answer is much too long for us.", "Short one."]
    agent = agent_of(replies, [], final(retry=1))
    parts = [m for m, _ in stream(agent, ask("hi"), stream_mode="messages")]
    assert [m.text for m in parts if not isinstance(m, HumanMessage)] == ["Short one."]
    agent = agent_of(replies[:1], [], HornbookMiddleware())
    parts = stream(agent, ask("hi"), stream_mode="messages")
    assert [m.text for m, _ in parts if m.text][:2] == ["This ", "answer "]


@pytest.mark.requirement("agents:middleware:finish", "agents:middleware:contracts")
def test_a_rejected_answer_is_asked_for_again_with_feedback_of_constant_size(go: Any):
    long = "This answer is much too long for us."
    agent = agent_of([long, f"{long}!", "Short one."], [], final(retry=2))
    with hornbook.run(trace=None) as run:
        state = go(agent, ask("hi"))
    assert [m.text for m in state["messages"]] == ["hi", "Short one."]
    assert [[m.type for m in asked] for asked in agent.script.asked] == [
        ["human"],
        ["human", "ai", "human"],
        ["human", "ai", "human"],
    ]
    assert agent.script.asked[2][1].text == f"{long}!"
    assert agent.script.asked[2][2].text.startswith("The previous answer was rejected. short:")
    assert run.meter.spent.calls == 3
    assert run.meter.spent.tokens == 45
    assert [e.status for e in run.events if e.kind == "step.end"] == ["recovered"]


@pytest.mark.requirement("agents:middleware:finish", "agents:trap:soft-halt")
def test_after_the_last_attempt_a_fallback_answers_or_the_turn_ends(go: Any):
    long = "This answer is much too long for us."
    recover = Recover(retry=1, fallback=[lambda request: f"{len(request.messages)} message"])
    with pytest.warns(UserWarning, match="astream_events"):
        answering = HornbookMiddleware({"model": (SHORT, recover)})
    assert go(agent_of([long, long], [], answering), ask("hi"))["messages"][-1].text == "1 message"
    state = go(agent_of([long, long], [], final(retry=1)), ask("hi"))
    assert state["messages"][-1].text == (
        "I stopped here, because a check failed: model (short: expected short)"
    )


@pytest.mark.requirement("agents:middleware:finish")
def test_a_response_that_calls_tools_is_no_final_answer(go: Any):
    talks = AIMessage(
        "I will now look at this very carefully.",
        tool_calls=[{"name": "look", "args": {"amount": 1}, "id": "1", "type": "tool_call"}],
    )
    agent = agent_of([talks, "Seen."], [look], final())
    assert go(agent, ask("1"))["messages"][-1].text == "Seen."


@pytest.mark.requirement("agents:middleware:finish")
def test_an_answer_can_be_held_to_the_request_and_the_results_of_the_turn(go: Any):
    held = Contract(
        "grounded",
        ensures=[
            clauses.that("seen", lambda text, inputs: inputs["results"][0] in text),
            clauses.that("asked", lambda text, inputs: inputs["request"] == "look at 1"),
        ],
    )
    with pytest.warns(UserWarning, match="astream_events"):
        middleware = HornbookMiddleware({"model": (held, Recover(retry=1))})
    agent = agent_of([call("look", amount=1), "Nothing.", "It is seen."], [look], middleware)
    assert go(agent, ask("look at 1"))["messages"][-1].text == "It is seen."


@pytest.mark.requirement("agents:trap:astream-events")
def test_that_astream_events_shows_rejected_attempts_is_declared_and_warned_of():
    assert ADAPTER.capabilities.astream_events is False
    assert ADAPTER.capabilities.streaming is True
    with pytest.warns(UserWarning, match="astream_events") as warned:
        HornbookMiddleware({"model": SHORT})
    assert str(warned[0].message) == (
        "astream_events() shows what the model says before its contract is checked; the stream "
        "modes of stream() and astream() do not"
    )
    assert warned[0].filename == __file__

    async def texts() -> list[str]:
        agent = agent_of(["This answer is much too long for us.", "Short one."], [], final(retry=1))
        events = agent.astream_events(ask("hi"), version="v2")
        return [e["data"]["output"].text async for e in events if e["event"] == "on_chat_model_end"]

    assert asyncio.run(texts()) == ["This answer is much too long for us.", "Short one."]


@pytest.mark.requirement("agents:trap:human-edit")
def test_a_humans_edit_is_checked_and_a_rejected_call_never_runs(go: Any, saver: Any, thread: Any):
    asking = HumanInTheLoopMiddleware(interrupt_on={"pay": True})
    agent = agent_of(
        [call("pay", amount=1), "Edited.", call("pay", amount=2), "Rejected."],
        [pay],
        asking,
        HornbookMiddleware(),
        checkpointer=saver,
    )
    go(agent, ask("pay 1"), thread)
    edited = {"name": "pay", "args": {"amount": "much"}}
    decision = {"decisions": [{"type": "edit", "edited_action": edited}]}
    state = go(agent, Command(resume=decision), thread)
    assert answers(state)[0].status == "error"
    assert "amount: expected a valid integer" in answers(state)[0].text
    go(agent, ask("pay 2"), thread)
    state = go(agent, Command(resume={"decisions": [{"type": "reject", "message": "no"}]}), thread)
    assert state["messages"][-1].text == "Rejected."
    assert done == []


@pytest.mark.requirement("agents:trap:interrupt-tool")
def test_an_interrupt_in_a_tool_runs_neither_sibling_nor_model_twice(
    go: Any, saver: Any, thread: Any
):
    @tool
    def confirm(amount: int) -> str:
        """Confirm."""
        return str(interrupt(f"pay {amount}?"))

    held = Contract("yes", ensures=[clauses.that("yes", lambda text: text == "yes")])
    middleware = HornbookMiddleware({"confirm": (held, Recover(retry=3, then="waive"))})
    calls = [call("look", amount=1), call("confirm", amount=2)]
    agent = agent_of([calls, "Done."], [look, confirm], middleware, checkpointer=saver)
    with hornbook.run(trace=None) as run:
        paused = go(agent, ask("look at 1, confirm 2"), thread)
        assert paused["__interrupt__"][0].value == "pay 2?"
        state = go(agent, Command(resume="no"), thread)
    assert "__interrupt__" not in state
    assert done == [-1]
    assert len(agent.script.asked) == 2
    ended = [(e.name, e.status) for e in run.events if e.kind == "step.end"]
    assert sorted(ended) == [
        ("confirm", "interrupted"),
        ("confirm", "waived"),
        ("look", "satisfied"),
        ("model", "satisfied"),
        ("model", "satisfied"),
    ]


@pytest.mark.requirement("agents:trap:blocked-recorded")
def test_a_blocked_call_calls_nobody_back_and_is_recorded(go: Any):
    heard: list[str] = []

    class Listening(BaseCallbackHandler):
        def on_tool_start(self, *args: Any, **kwargs: Any) -> None:
            heard.append("tool")

    agent = agent_of([call("pay", amount="x"), "Done."], [pay], HornbookMiddleware())
    with hornbook.run(trace=None) as run:
        go(agent, ask("pay"), {"callbacks": [Listening()]})
    assert heard == []
    blocked = [e for e in run.events if e.kind == "step.end" and e.name == "pay"]
    assert [e.status for e in blocked] == ["blocked"]
    assert blocked[0].data["report"]["violations"][0]["path"] == "amount"


class Answer(BaseModel):
    score: int


@pytest.mark.requirement("agents:trap:structured-output")
def test_a_contract_stands_on_top_of_a_response_format(go: Any):
    held = Contract("scored", output=Answer, ensures=[clauses.in_range("score", 0, 10)])
    with pytest.warns(UserWarning, match="astream_events"):
        middleware = HornbookMiddleware({"model": (held, Recover(retry=1))})
    replies = [
        call("Answer", score="none"),
        call("Answer", score=11),
        call("Answer", score=7),
    ]
    agent = agent_of(replies, [pay], middleware, response_format=Answer)
    state = go(agent, ask("score?"))
    assert state["structured_response"] == Answer(score=7)
    assert len(agent.script.asked) == 3


@pytest.mark.requirement("langgraph:trap:retry-policy")
def test_a_retrying_agent_node_does_not_run_a_halted_agent_again(go: Any):
    from langgraph.graph import START, MessagesState, StateGraph
    from langgraph.types import RetryPolicy

    agent = agent_of(
        [call("pay", amount=70), "never"], [pay], HornbookMiddleware({"pay": LITTLE}, halt="hard")
    )
    builder = StateGraph(MessagesState)
    builder.add_node(
        "agent", agent, retry_policy=RetryPolicy(max_attempts=3, initial_interval=0.001)
    )
    builder.add_edge(START, "agent")
    with pytest.raises(ContractViolation):
        go(builder.compile(), ask("pay 70"))
    assert len(agent.script.asked) == 1


@pytest.mark.requirement("agents:middleware:records")
def test_an_agent_that_is_a_node_records_below_it(go: Any):
    from langgraph.graph import START, MessagesState, StateGraph

    from hornbook_langgraph import attach

    builder = StateGraph(MessagesState)
    agent = agent_of([call("pay", amount=7), "Done."], [pay], HornbookMiddleware())
    builder.add_node("agent", agent)
    builder.add_edge(START, "agent")
    attach(builder, {"agent": Contract("any")})
    with hornbook.run(trace=None) as run:
        go(builder.compile(), ask("pay 7"))
    node, *below = [e for e in run.events if e.kind == "step.start"]
    assert [(e.name, e.parent) for e in below] == [
        ("model", node.id),
        ("pay", node.id),
        ("model", node.id),
    ]
    assert {e.data["meta"]["parent_task_id"] for e in below} == {node.data["meta"]["task_id"]}


@pytest.mark.requirement("agents:middleware:guard", "agents:trap:parallel-block")
def test_one_middleware_serves_many_threads_without_cross_talk():
    middleware = HornbookMiddleware({"pay": LITTLE})
    wrong: list[Any] = []

    def turn(number: int) -> None:
        replies = [call("pay", amount=number), call("look", amount=f"N-{number}"), "Done."]
        agent = agent_of(replies, [pay, look], middleware)
        state = agent.invoke(ask(f"pay {number}"))
        stopped = state["messages"][-1].text.startswith("I stopped here")
        if stopped != (number >= 10):
            wrong.append((number, state))

    threads = [threading.Thread(target=turn, args=(n,)) for n in range(5, 15)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.requirement("agents:trap:twins")
def test_another_middleware_may_stand_inside_or_outside(go: Any):
    class Doubling(AgentMiddleware):
        def wrap_tool_call(self, request: Any, handler: Any) -> Any:
            return handler(request)

        async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
            return await handler(request)

        def wrap_model_call(self, request: Any, handler: Any) -> Any:
            return handler(request)

        async def awrap_model_call(self, request: Any, handler: Any) -> Any:
            return await handler(request)

    for middleware in ([Doubling(), HornbookMiddleware()], [HornbookMiddleware(), Doubling()]):
        done.clear()
        go(agent_of([call("pay", amount=7), "Done."], [pay], *middleware), ask("7"))
        assert done == [7]
