"""What Hornbook adds per model call, tool call and node, in each host.

    python bench/hosts.py [--json FOLDER] [--quick] [--only HOST]

Beside it, in the same run, what a hook of the host's own adds that does nothing: a pair of
LangChain middleware wraps, a DSPy callback, the run hooks of the Agents SDK. CPU time of
this process, interleaved; differences to the same agent with neither, paired, medians.
"""

import argparse
import sys
from collections.abc import Callable
from contextvars import copy_context
from itertools import cycle
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from measure import Figure, Work, interleaved, paired_differences, report

import hornbook
from hornbook import Contract, clauses

QUESTION = "Where is order A17?"
TOOL_CALLS = 4
"""In the longer of the two conversations; the shorter has none."""

Agents = dict[str, tuple[Callable[[], object], Callable[[], object]]]
"""By what is attached: ask for a text at once, and ask for one after `TOOL_CALLS` tool calls."""


def look_up(order_id: str) -> str:
    """Look an order up."""
    return f"{order_id}: shipped"


def positive(update: dict[str, Any]) -> bool:
    """Hold for every node here."""
    return update["count"] > 0


def langgraph_agents() -> Agents:
    """An agent of `create_agent`."""
    from endless import Endless
    from langchain.agents import create_agent
    from langchain.agents.middleware import AgentMiddleware
    from langchain_core.tools import tool

    from hornbook_langgraph import HornbookMiddleware

    class NoOp(AgentMiddleware):
        def wrap_model_call(self, request: Any, handler: Any) -> Any:
            return handler(request)

        def wrap_tool_call(self, request: Any, handler: Any) -> Any:
            return handler(request)

    def asking(calls: int, *middleware: Any) -> Callable[[], object]:
        agent = create_agent(Endless(calls=calls), [tool(look_up)], middleware=list(middleware))
        return lambda: agent.invoke({"messages": [{"role": "user", "content": QUESTION}]})

    return {
        "neither": (asking(0), asking(TOOL_CALLS)),
        "no-op hook": (asking(0, NoOp()), asking(TOOL_CALLS, NoOp())),
        "Hornbook": (asking(0, HornbookMiddleware()), asking(TOOL_CALLS, HornbookMiddleware())),
    }


def langgraph_nodes() -> dict[str, Callable[[], object]]:
    """A graph of one node; LangGraph has no hook around nodes, so the peer is a plain wrapper."""
    import functools

    from langgraph.graph import END, START, StateGraph
    from typing_extensions import TypedDict

    from hornbook_langgraph import contract

    class State(TypedDict):
        count: int

    def step(state: State) -> dict[str, int]:
        return {"count": state["count"] + 1}

    @functools.wraps(step)
    def wrapped(state: State) -> dict[str, int]:
        return step(state)

    held = contract(Contract("count", ensures=[clauses.that("positive", positive)]))

    def graph(node: Any) -> Callable[[], object]:
        builder = StateGraph(State)
        builder.add_node("step", node)
        builder.add_edge(START, "step")
        builder.add_edge("step", END)
        built = builder.compile()
        return lambda: built.invoke({"count": 0})

    return {"neither": graph(step), "no-op hook": graph(wrapped), "Hornbook": graph(held(step))}


def dspy_agents() -> Agents:
    """A ReAct module."""
    import dspy
    from dspy.lm15 import Message, Response, Usage
    from dspy.utils.callback import BaseCallback

    from hornbook_dspy import HornbookLM, guard

    class NoOp(BaseCallback):
        def on_lm_start(self, call_id: str, instance: Any, inputs: Any) -> None:
            pass

        def on_lm_end(self, call_id: str, outputs: Any, exception: Any = None) -> None:
            pass

        def on_tool_start(self, call_id: str, instance: Any, inputs: Any) -> None:
            pass

        def on_tool_end(self, call_id: str, outputs: Any, exception: Any = None) -> None:
            pass

    class Engine:
        """Calls the tool so many times, finishes, and answers; then again from the start."""

        def __init__(self, calls: int) -> None:
            call = {"next_tool_name": "look_up", "next_tool_args": '{"order_id": "A17"}'}
            finish = {"next_tool_name": "finish", "next_tool_args": "{}"}
            thought = {"next_thought": "I look."}
            answer = {"reasoning": "It says so.", "answer": "A17 was shipped."}
            self.replies = cycle([*[thought | call] * calls, thought | finish, answer])

        def complete(self, request: Any) -> Any:
            fields = next(self.replies)
            text = "\n".join(f"[[ ## {name} ## ]]\n{value}" for name, value in fields.items())
            message = Message.assistant(f"{text}\n[[ ## completed ## ]]")
            usage = Usage(input_tokens=1, output_tokens=1)
            return Response(
                id=None, model=request.model, message=message, finish_reason="stop", usage=usage
            )

    def asking(calls: int, attach: str) -> Callable[[], object]:
        lm = dspy.LM("scripted", engine=Engine(calls), cache=False)
        agent = dspy.ReAct("question -> answer", tools=[look_up])
        if attach == "Hornbook":
            lm, agent = HornbookLM(lm), guard(agent)
        callbacks = [NoOp()] if attach == "no-op hook" else []

        def ask() -> object:
            with dspy.context(lm=lm, callbacks=callbacks):
                return agent(question=QUESTION)

        return ask

    return {
        attach: (asking(0, attach), asking(TOOL_CALLS, attach))
        for attach in ("neither", "no-op hook", "Hornbook")
    }


def openai_agents() -> Agents:  # noqa: C901 - it is the host's classes, one after the other
    """An agent of the SDK."""
    import asyncio

    from agents import (
        Agent,
        Model,
        ModelResponse,
        RunConfig,
        RunHooks,
        Runner,
        Usage,
        function_tool,
        set_tracing_disabled,
    )
    from agents.testing import assistant_message, function_call

    from hornbook_openai_agents import guard, run_config

    set_tracing_disabled(True)

    class NoOp(RunHooks):
        async def on_llm_start(self, *args: Any, **kwargs: Any) -> None:
            pass

        async def on_llm_end(self, *args: Any, **kwargs: Any) -> None:
            pass

        async def on_tool_start(self, *args: Any, **kwargs: Any) -> None:
            pass

        async def on_tool_end(self, *args: Any, **kwargs: Any) -> None:
            pass

    class Scripted(Model):
        def __init__(self, calls: int) -> None:
            call = [
                function_call("look_up", {"order_id": "A17"}, call_id=f"c{at}")
                for at in range(calls)
            ]
            self.replies = cycle([*call, assistant_message("A17 was shipped.")])

        async def get_response(self, *args: Any, **kwargs: Any) -> ModelResponse:
            return ModelResponse(output=[next(self.replies)], usage=Usage(), response_id=None)

        def stream_response(self, *args: Any, **kwargs: Any) -> Any:
            raise NotImplementedError

    runner = asyncio.Runner()

    def asking(calls: int, attach: str) -> Callable[[], object]:
        agent = Agent(name="desk", tools=[function_tool(look_up)], model=Scripted(calls))
        config, hooks = RunConfig(), None
        if attach == "Hornbook":
            agent, config = guard(agent), run_config()
        if attach == "no-op hook":
            hooks = NoOp()

        def ask() -> object:
            answer = Runner.run(agent, QUESTION, run_config=config, hooks=hooks)
            return runner.run(answer, context=copy_context())

        return ask

    return {
        attach: (asking(0, attach), asking(TOOL_CALLS, attach))
        for attach in ("neither", "no-op hook", "Hornbook")
    }


def repeating(ask: Callable[[], object], *, recorded: bool) -> Work:
    """Ask that many times, inside one run with its record in memory where it is to be one."""

    def work(number: int) -> None:
        for _ in range(number):
            ask()

    def inside(number: int) -> None:
        with hornbook.run(trace=None):
            work(number)

    return inside if recorded else work


def agent_figures(agents: Agents, quick: bool) -> list[Figure]:
    """Per model call from the short conversation, per tool call from what the long adds."""
    works = {
        f"{attach}, {length}": repeating(ask, recorded=attach == "Hornbook")
        for attach, (short, long) in agents.items()
        for length, ask in (("short", short), ("long", long))
    }
    taken = interleaved(works, number=5, rounds=7 if quick else 41)
    figures: list[Figure] = []
    for attach in ("no-op hook", "Hornbook"):
        short = paired_differences(taken, f"{attach}, short", "neither, short")
        long = paired_differences(taken, f"{attach}, long", "neither, long")
        # The long conversation has TOOL_CALLS more model calls, each with its tool call.
        pair = [(b - a) / TOOL_CALLS for a, b in zip(short, long, strict=True)]
        figures += [
            _added(f"{attach}: first model call", short, taken["neither, short"], "a short run"),
            _added(f"{attach}: model and tool call", pair, taken["neither, long"], "a long run"),
        ]
    return figures


def node_figures(nodes: dict[str, Callable[[], object]], quick: bool) -> list[Figure]:
    """Per node."""
    works = {attach: repeating(ask, recorded=attach == "Hornbook") for attach, ask in nodes.items()}
    taken = interleaved(works, number=50, rounds=7 if quick else 41)
    return [
        _added(
            f"{attach}: node",
            paired_differences(taken, attach, "neither"),
            taken["neither"],
            "a graph of one node",
        )
        for attach in ("no-op hook", "Hornbook")
    ]


def _added(name: str, differences: list[float], whole: list[float], of: str) -> Figure:
    added = median(differences)
    against = f"{of} ({median(whole):.0f} us)"
    return Figure(name=name, microseconds=added, against=against, ratio=added / median(whole))


TABLES: dict[str, Callable[[bool], list[Figure]]] = {
    "LangGraph": lambda quick: [
        *agent_figures(langgraph_agents(), quick),
        *node_figures(langgraph_nodes(), quick),
    ],
    "DSPy": lambda quick: agent_figures(dspy_agents(), quick),
    "OpenAI Agents SDK": lambda quick: agent_figures(openai_agents(), quick),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FOLDER", help="also write the tables as JSON")
    parser.add_argument("--quick", action="store_true", help="fewer rounds, for a sample")
    parser.add_argument("--only", help="one host, by a part of its name")
    arguments = parser.parse_args()
    for host, figures in TABLES.items():
        if arguments.only is None or arguments.only.lower() in host.lower():
            report(f"Added in {host}", figures(arguments.quick), arguments.json)


if __name__ == "__main__":
    main()
