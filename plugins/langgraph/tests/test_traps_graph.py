"""What goes wrong around LangGraph, and does not go wrong here: one test a trap."""

import asyncio
import operator
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from langgraph.errors import GraphInterrupt
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command, RetryPolicy, Send, interrupt
from typing_extensions import TypedDict

import hornbook
from hornbook import Budget, BudgetExceeded, Contract, ContractViolation, Recover, clauses
from hornbook.step import Decision
from hornbook_langgraph import attach, contract

FAST = {"initial_interval": 0.001, "max_interval": 0.002, "jitter": False}


class State(TypedDict, total=False):
    score: int
    answer: str
    items: list[int]
    notes: Annotated[list[str], operator.add]


SCORED = Contract("scored", output=State, ensures=[clauses.in_range("score", 0, 10)])


def graph_of(node: Any, saver: Any = None, **options: Any) -> Any:
    builder = StateGraph(State)
    builder.add_node("node", node, **options)
    builder.add_edge(START, "node")
    builder.add_edge("node", END)
    return builder.compile(checkpointer=saver)


def ends(run: Any) -> list[Any]:
    return [event for event in run.events if event.kind == "step.end"]


def starts(run: Any) -> list[Any]:
    return [event for event in run.events if event.kind == "step.start"]


@pytest.mark.requirement("langgraph:trap:colour")
def test_an_async_only_node_stays_async_only():
    @contract(SCORED)
    async def node(state: State) -> State:
        return {"score": 3}

    graph = graph_of(node)
    assert asyncio.run(graph.ainvoke({"score": 0}))["score"] == 3
    with pytest.raises(TypeError, match="No synchronous function provided"):
        graph.invoke({"score": 0})


@pytest.mark.requirement("langgraph:trap:colour")
def test_an_attached_async_only_node_says_what_langgraph_says():
    async def node(state: State) -> State:
        return {"score": 3}

    builder = StateGraph(State)
    builder.add_node("node", node)
    builder.add_edge(START, "node")
    attach(builder, {"node": SCORED})
    graph = builder.compile()
    assert asyncio.run(graph.ainvoke({"score": 0}))["score"] == 3
    with pytest.raises(TypeError, match="No synchronous function provided"):
        graph.invoke({"score": 0})


@pytest.mark.requirement("langgraph:trap:retry-policy")
def test_the_default_retry_policy_does_not_multiply_the_attempts(go: Any):
    ran: list[int] = []

    @contract(SCORED, recover=Recover(retry=1))
    def node(state: State) -> State:
        ran.append(1)
        return {"score": 11}

    graph = graph_of(node, retry_policy=RetryPolicy(max_attempts=3, **FAST))
    with pytest.raises(ContractViolation) as caught:
        go(graph, {"score": 0})
    assert len(ran) == 2
    assert caught.value.report.attempts == 2


@pytest.mark.requirement("langgraph:trap:retry-policy", "langgraph:trap:replay")
def test_a_node_that_langgraph_itself_retries_is_recorded_with_its_attempt(go: Any):
    ran: list[int] = []

    @contract(SCORED)
    def node(state: State) -> State:
        ran.append(1)
        if len(ran) == 1:
            raise ConnectionError("the line is down")
        return {"score": 3}

    with hornbook.run(trace=None) as run:
        go(graph_of(node, retry_policy=RetryPolicy(max_attempts=2, **FAST)), {"score": 0})
    assert [event.status for event in ends(run)] == ["error", "satisfied"]
    first, second = (event.data["meta"] for event in starts(run))
    assert first["task_id"] == second["task_id"]
    assert "node_attempt" not in first
    assert second["node_attempt"] == 2


@pytest.mark.requirement("langgraph:trap:error-handler")
def test_an_error_handler_gets_the_report_and_ends_the_graph_gracefully(go: Any):
    from langgraph.errors import NodeError

    def handle(state: State, error: NodeError) -> Command[Any]:
        assert isinstance(error.error, ContractViolation)
        clause = error.error.report.violations[0].clause
        return Command(update={"answer": f"stopped by {clause}"}, goto=END)

    node = contract(SCORED)(lambda state: {"score": 11})
    state = go(graph_of(node, error_handler=handle), {"score": 0})
    assert state["answer"] == "stopped by in_range score"


def asks(state: State) -> State:
    first = interrupt("your score?")
    second = interrupt("sure?")
    return {"score": first, "answer": second}


@pytest.mark.requirement("langgraph:trap:interrupt")
@pytest.mark.parametrize("on", [(), (ValueError,)])
def test_an_interrupt_under_a_contract_pauses_and_resumes(
    go: Any, saver: Any, thread: Any, on: Any
):
    graph = graph_of(contract(SCORED, recover=Recover(on=on))(asks), saver)
    assert go(graph, {"score": 0}, thread)["__interrupt__"][0].value == "your score?"
    assert go(graph, Command(resume=7), thread)["__interrupt__"][0].value == "sure?"
    state = go(graph, Command(resume="yes"), thread)
    assert (state["score"], state["answer"]) == (7, "yes")


@pytest.mark.requirement("langgraph:trap:interrupt")
def test_no_hook_is_asked_about_an_interrupt(go: Any, saver: Any, thread: Any):
    from hornbook import plugins
    from hornbook.hooks import hookimpl

    seen: list[Any] = []

    class Watching:
        @hookimpl
        def hornbook_on_error(self, step: Any, error: Exception) -> Any:
            seen.append(error)
            return Decision(action="substitute", value={"score": 1})

    with plugins.registered(Watching()):
        paused = go(graph_of(contract(SCORED)(asks), saver), {"score": 0}, thread)
    assert paused["__interrupt__"][0].value == "your score?"
    assert seen == []


@pytest.mark.requirement("langgraph:trap:interrupt-rerun")
def test_a_node_run_again_after_an_interrupt_is_one_task_and_ends_once(
    go: Any, saver: Any, thread: Any
):
    graph = graph_of(contract(SCORED)(asks), saver)
    with hornbook.run(trace=None) as run:
        go(graph, {"score": 0}, thread)
        go(graph, Command(resume=7), thread)
        go(graph, Command(resume="yes"), thread)
    assert [event.status for event in ends(run)] == ["interrupted", "interrupted", "satisfied"]
    assert len({event.data["meta"]["task_id"] for event in starts(run)}) == 1


@pytest.mark.requirement("langgraph:trap:interrupt-retry")
def test_an_attempt_that_used_an_answer_is_not_retried(go: Any, saver: Any, thread: Any):
    asked: list[int] = []

    def node(state: State) -> State:
        asked.append(1)
        return {"score": interrupt("your score?")}

    fallback = {"score": 1}
    recover = Recover(retry=2, fallback=[lambda state: fallback])
    graph = graph_of(contract(SCORED, recover=recover)(node), saver)
    go(graph, {"score": 0}, thread)
    state = go(graph, Command(resume=70), thread)
    assert "__interrupt__" not in state
    assert state["score"] == 1
    assert len(asked) == 2


@pytest.mark.requirement("langgraph:trap:interrupt-retry")
def test_a_subgraph_that_asked_a_human_is_not_run_again_either(go: Any, saver: Any, thread: Any):
    inner = StateGraph(State)
    inner.add_node("ask", lambda state: {"score": interrupt("your score?")})
    inner.add_edge(START, "ask")
    outer = StateGraph(State)
    outer.add_node("graph", inner.compile())
    outer.add_edge(START, "graph")
    attach(outer, {"graph": (SCORED, Recover(retry=2))})
    graph = outer.compile(checkpointer=saver)
    assert go(graph, {"score": 0}, thread)["__interrupt__"][0].value == "your score?"
    with pytest.raises(ContractViolation) as caught:
        go(graph, Command(resume=70), thread)
    assert caught.value.report.attempts == 1


@pytest.mark.requirement("langgraph:trap:interrupt-retry")
def test_a_node_that_no_human_answered_is_retried_in_a_resumed_run(
    go: Any, saver: Any, thread: Any
):
    tries: list[int] = []

    def second(state: State) -> State:
        tries.append(1)
        return {"score": 12 - len(tries)}

    builder = StateGraph(State)
    builder.add_node("ask", lambda state: {"answer": interrupt("go on?")})
    builder.add_node("second", contract(SCORED, recover=Recover(retry=2))(second))
    builder.add_edge(START, "ask")
    builder.add_edge("ask", "second")
    graph = builder.compile(checkpointer=saver)
    go(graph, {"score": 0}, thread)
    assert go(graph, Command(resume="yes"), thread)["score"] == 10


@pytest.mark.requirement("langgraph:trap:replay")
def test_a_replay_from_history_says_so_and_from_where(go: Any, saver: Any, thread: Any):
    graph = graph_of(contract(SCORED)(lambda state: {"score": 3}), saver)
    with hornbook.run(trace=None) as run:
        go(graph, {"score": 0}, thread)
        old = next(s for s in graph.get_state_history(thread) if s.next == ("node",))
        go(graph, None, old.config)
    first, again = (event.data["meta"] for event in starts(run))
    assert "replay" not in first
    assert again["replay"] is True
    assert again["replay_of"] == old.config["configurable"]["checkpoint_id"]
    assert first["thread_id"] == again["thread_id"] == "t-1"
    assert first["task_id"] != again["task_id"]
    assert {"checkpoint_id", "checkpoint_ns", "langgraph_node", "langgraph_step"} <= set(first)


@pytest.mark.requirement("langgraph:trap:subgraph", "langgraph:records:parents")
def test_the_steps_of_a_subgraph_hang_below_the_step_around_them(go: Any, saver: Any, thread: Any):
    inner = StateGraph(State)
    inner.add_node("deep", contract(SCORED, name="deep")(lambda state: {"score": 3}))
    inner.add_edge(START, "deep")
    outer = StateGraph(State)
    outer.add_node("graph", inner.compile())
    outer.add_edge(START, "graph")
    attach(outer, {"graph": SCORED})
    with hornbook.run(trace=None) as run:
        go(outer.compile(checkpointer=saver), {"score": 0}, thread)
    around, below = starts(run)
    assert (around.name, around.parent, below.name, below.parent) == (
        "graph",
        None,
        "deep",
        around.id,
    )
    assert below.data["meta"]["parent_task_id"] == around.data["meta"]["task_id"]


@pytest.mark.requirement("langgraph:trap:send")
def test_parallel_branches_record_under_their_own_step():
    both = threading.Barrier(2, timeout=20)

    @hornbook.contract(Contract("inner", ensures=[clauses.that("positive", lambda n: n > 0)]))
    def work(number: int) -> int:
        return number

    @contract(SCORED, name="worker")
    def worker(state: Any) -> State:
        both.wait()
        return {"notes": [str(work(state["number"]))]}

    @contract(SCORED, name="worker")
    async def aworker(state: Any) -> State:
        await asyncio.sleep(0.01)
        return {"notes": [str(work(state["number"]))]}

    def graph(node: Callable[..., Any]) -> Any:
        builder = StateGraph(State)
        builder.add_node("worker", node)
        builder.add_conditional_edges(
            START, lambda state: [Send("worker", {"number": n}) for n in state["items"]], ["worker"]
        )
        return builder.compile()

    for node in (worker, aworker):
        with hornbook.run(trace=None) as run:
            if node is worker:
                state = graph(node).invoke({"items": [1, 2]})
            else:
                state = asyncio.run(graph(node).ainvoke({"items": [1, 2]}))
        assert sorted(state["notes"]) == ["1", "2"]
        begun = starts(run)
        workers = {e.id: e.data["inputs"]["number"] for e in begun if e.name == "worker"}
        inner = {e.parent: e.data["inputs"]["number"] for e in begun if e.name != "worker"}
        assert inner == workers
        assert len({e.data["meta"]["task_id"] for e in begun if "meta" in e.data}) == 2


@pytest.mark.requirement("langgraph:trap:stream-writer")
def test_what_a_node_streams_itself_passes_unchanged(stream: Any):
    @contract(SCORED)
    def node(state: State, runtime: Runtime[Any]) -> State:
        runtime.stream_writer({"progress": 1})
        return {"score": 3}

    assert stream(graph_of(node), {"score": 0}, stream_mode="custom") == [{"progress": 1}]


@pytest.mark.requirement("langgraph:trap:state-json")
def test_a_strict_checkpoint_takes_all_that_the_adapter_puts_into_the_state():
    script = """
import warnings; warnings.simplefilter("error")
from langchain.agents import create_agent
from langgraph.checkpoint.memory import InMemorySaver
from hornbook import Contract, clauses
from hornbook_langgraph import HornbookMiddleware
from hornbook_langgraph.testing import ScriptedChatModel, call
def pay(amount: int) -> int:
    "Pay."
    return amount
held = Contract("paid", ensures=[clauses.that("little", lambda value: value < 10)])
agent = create_agent(
    ScriptedChatModel(replies=[call("pay", amount=70), "never"]), [pay],
    middleware=[HornbookMiddleware({"pay": held})], checkpointer=InMemorySaver(),
)
config = {"configurable": {"thread_id": "t"}}
agent.invoke({"messages": [("user", "pay 70")]}, config)
messages = agent.get_state(config).values["messages"]
print([m.type for m in messages], messages[-2].artifact["hornbook_halt"]["contract"])
"""
    done = subprocess.run(
        [sys.executable, "-c", script],
        text=True,
        capture_output=True,
        check=False,
        env={"LANGGRAPH_STRICT_MSGPACK": "true", "PATH": ""},
    )
    assert done.stderr == ""
    assert done.stdout == "['human', 'ai', 'tool', 'ai'] paid\n"


@pytest.mark.requirement("hooks:step:before", "langgraph:node:decorate")
def test_a_hook_that_blocks_a_node_lets_the_graph_go_on(go: Any):
    from hornbook import plugins
    from hornbook.hooks import hookimpl

    class Blocking:
        @hookimpl
        def hornbook_before_step(self, step: Any) -> Any:
            if step.kind == "node":
                assert step.host == "langgraph"
                return Decision(action="block", value={"answer": "blocked"}, reason="not today")
            return None

    node = contract(SCORED)(lambda state: {"score": 11})
    with plugins.registered(Blocking()), hornbook.run(trace=None) as run:
        assert go(graph_of(node), {"score": 0})["answer"] == "blocked"
    assert [event.status for event in ends(run)] == ["blocked"]


@pytest.mark.requirement("budget:meter:calls", "langgraph:trap:retry-policy")
def test_a_spent_budget_is_no_violation_and_is_not_retried(go: Any):
    @contract(SCORED, recover=Recover(retry=5))
    def node(state: State) -> State:
        return {"score": 11}

    graph = graph_of(node, retry_policy=RetryPolicy(max_attempts=3, **FAST))
    with hornbook.run(trace=None, budget=Budget(calls=2)), pytest.raises(BudgetExceeded):
        go(graph, {"score": 0})


@pytest.mark.requirement("langgraph:trap:interrupt")
def test_langgraphs_own_exceptions_pass_a_plain_contract_too():
    import hornbook_langgraph.compat  # noqa: F401 - registers them

    @hornbook.contract(Contract("c"), recover=Recover(on=[RuntimeError]))
    def step() -> None:
        raise GraphInterrupt(())

    with hornbook.run(trace=None) as run, pytest.raises(GraphInterrupt):
        step()
    assert [event.status for event in ends(run)] == ["interrupted"]
