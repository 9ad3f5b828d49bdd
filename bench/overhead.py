"""What a contract-checked step costs, against its peers, in one run.

    python bench/overhead.py [--json FOLDER] [--quick]

Everything is CPU time of this process, interleaved, and told as a ratio: to a plain call,
to bare pydantic, to an empty LangGraph node, to a pair of no-op middleware hooks.
"""

import argparse
import asyncio
import os
import resource
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from measure import Figure, Recorded, Work, interleaved, paired_differences, ratio, report
from pydantic import BaseModel, ConfigDict, TypeAdapter, validate_call
from typing_extensions import TypedDict

import hornbook
from hornbook import Contract, clauses, contract


class Order(BaseModel):
    """Three fields; told to check its instances again, so that bare pydantic does as we do."""

    model_config = ConfigDict(revalidate_instances="always")
    id: str
    amount: float
    paid: bool


class Row(TypedDict):
    """The same three fields as a dict."""

    id: str
    amount: float
    paid: bool


def plain(number: int) -> int:
    """The step: as cheap as a function can be."""
    return number


def positive(value: int) -> bool:
    """The predicate, the same for every peer."""
    return value > 0


def calling(fn: Callable[[Any], Any], argument: Any) -> Work:
    """Call `fn` that many times."""

    def work(number: int) -> None:
        for _ in range(number):
            fn(argument)

    return work


def recording(work: Work, folder: str | None = None) -> Work:
    """The same, inside a run of its own."""
    return Recorded(work, lambda: hornbook.run(trace=folder))


def peers() -> dict[str, Callable[[int], int]]:
    """One condition on the output, in each peer's own way."""
    from typing import Annotated

    import beartype
    import deal
    import icontract
    from agent_airlock import Airlock, AirlockConfig
    from beartype.vale import Is

    positives = Annotated[int, Is[positive]]

    def annotated(number: int) -> int:
        return number

    annotated.__annotations__ = {"number": int, "return": positives}

    def typed(number: int) -> int:
        return number

    return {
        "beartype Is": beartype.beartype(annotated),
        "deal.post": deal.post(positive)(plain),
        "pydantic validate_call": validate_call(validate_return=True)(typed),
        "icontract.ensure": icontract.ensure(lambda result: positive(result))(plain),
        "agent-airlock": Airlock(config=AirlockConfig(enable_audit_log=False))(typed),
    }


def step_figures(quick: bool) -> list[Figure]:
    """One predicate on the output of a plain function."""
    checked = contract(Contract("positive", ensures=[clauses.that("positive", positive)]))(plain)
    works = {
        "plain call": calling(plain, 1),
        "hornbook, no run": calling(checked, 1),
        "hornbook, record in memory": recording(calling(checked, 1)),
    }
    works |= {name: calling(fn, 1) for name, fn in peers().items() if name != "agent-airlock"}
    taken = interleaved(works, number=10_000, rounds=5 if quick else 25)
    figures = [
        ratio(taken, name, "plain call", at_most=35 if name.endswith("in memory") else None)
        for name in works
    ]
    slow = interleaved(
        {
            "plain call": works["plain call"],
            "agent-airlock": calling(peers()["agent-airlock"], 1),
            "hornbook, record in a file": recording(calling(checked, 1), tempfile.mkdtemp()),
        },
        number=300,
        rounds=5 if quick else 15,
    )
    figures += [
        ratio(slow, name, "plain call") for name in ("agent-airlock", "hornbook, record in a file")
    ]
    figures.append(ratio(taken, "hornbook, record in memory", "icontract.ensure", at_most=1.0))
    return figures


def type_figures(quick: bool) -> list[Figure]:
    """A pydantic output contract, against bare `TypeAdapter.validate_python`."""
    order, row = Order(id="A17", amount=40.0, paid=True), Row(id="A17", amount=40.0, paid=True)
    dict_adapter, model_adapter = TypeAdapter(Row), TypeAdapter(Order)

    @contract(Contract("row", output=Row))
    def give_row(value: Row) -> Row:
        return value

    @contract(Contract("order", output=Order))
    def give_order(value: Order) -> Order:
        return value

    works: dict[str, Work] = {
        "validate_python, dict": calling(dict_adapter.validate_python, row),
        "hornbook, dict": recording(calling(give_row, row)),
        "validate_python, model": calling(model_adapter.validate_python, order),
        "hornbook, model": recording(calling(give_order, order)),
    }
    taken = interleaved(works, number=10_000, rounds=5 if quick else 25)
    return [
        ratio(taken, "hornbook, dict", "validate_python, dict", at_most=2.5),
        ratio(taken, "hornbook, model", "validate_python, model", at_most=2.5),
    ]


def async_figures(quick: bool) -> list[Figure]:
    """An async step, with neither a task nor a thread."""

    async def aplain(number: int) -> int:
        return number

    checked = contract(Contract("positive", ensures=[clauses.that("positive", positive)]))(aplain)

    def awaiting(fn: Callable[[int], Any]) -> Work:
        async def many(number: int) -> None:
            tasks, threads = len(asyncio.all_tasks()), threading.active_count()
            for _ in range(number):
                await fn(1)
            assert (len(asyncio.all_tasks()), threading.active_count()) == (tasks, threads)

        return lambda number: asyncio.run(many(number))

    import icontract

    works = {
        "plain await": awaiting(aplain),
        "hornbook, record in memory": recording(awaiting(checked)),
        "icontract.ensure": awaiting(icontract.ensure(lambda result: positive(result))(aplain)),
    }
    taken = interleaved(works, number=5_000, rounds=5 if quick else 25)
    return [ratio(taken, name, "plain await") for name in works] + [
        ratio(taken, "hornbook, record in memory", "icontract.ensure", at_most=1.0)
    ]


def node_figures(quick: bool) -> list[Figure]:
    """A contract on each node of a LangGraph graph, against the same nodes without."""
    from langgraph.graph import END, START, StateGraph

    from hornbook_langgraph import contract as on_node

    class State(TypedDict):
        count: int

    def step(state: State) -> dict[str, int]:
        return {"count": state["count"] + 1}

    held = on_node(Contract("count", ensures=[clauses.that("counts", lambda u: u["count"] > 0)]))
    nodes = 20

    def graph(wrap: Callable[[Any], Any]) -> Any:
        builder = StateGraph(State)
        for at in range(nodes):
            builder.add_node(f"n{at}", wrap(step))
            builder.add_edge(f"n{at - 1}" if at else START, f"n{at}")
        builder.add_edge(f"n{nodes - 1}", END)
        return builder.compile()

    bare, contracted = graph(lambda fn: fn), graph(held)

    def invoking(built: Any) -> Work:
        def work(number: int) -> None:
            for _ in range(number // nodes):
                built.invoke({"count": 0})

        return work

    works = {
        "empty node": invoking(bare),
        "record in memory": recording(invoking(contracted)),
        "record in a file": recording(invoking(contracted), tempfile.mkdtemp()),
    }
    taken = interleaved(works, number=nodes * 10, rounds=9 if quick else 41)
    return [
        _added(taken, "record in memory", "empty node", at_most=0.05),
        _added(taken, "record in a file", "empty node"),
    ]


def _added(
    taken: dict[str, list[float]], name: str, without: str, *, at_most: float | None = None
) -> Figure:
    difference = median(paired_differences(taken, name, without))
    return Figure(
        name=f"added by a contract, {name}",
        microseconds=difference,
        against=f"{without} ({median(taken[without]):.0f} us)",
        ratio=difference / median(taken[without]),
        at_most=at_most,
    )


def middleware_figures(quick: bool) -> list[Figure]:
    """HornbookMiddleware in `create_agent`, against a pair of hooks that do nothing."""
    from endless import Endless
    from langchain.agents import create_agent
    from langchain.agents.middleware import AgentMiddleware
    from langchain_core.tools import tool

    from hornbook_langgraph import HornbookMiddleware

    @tool
    def look_up(order_id: str) -> str:
        """Look an order up."""
        return f"{order_id}: shipped"

    class NoOp(AgentMiddleware):
        def wrap_model_call(self, request: Any, handler: Any) -> Any:
            return handler(request)

        def wrap_tool_call(self, request: Any, handler: Any) -> Any:
            return handler(request)

    def agent(*middleware: Any) -> Work:
        built = create_agent(Endless(calls=1), [look_up], middleware=list(middleware))
        ask = {"messages": [{"role": "user", "content": "Where is order A17?"}]}

        def work(number: int) -> None:
            for _ in range(number):
                built.invoke(ask)

        return work

    works = {
        "no middleware": agent(),
        "no-op pair": agent(NoOp()),
        "HornbookMiddleware": agent(HornbookMiddleware()),
        "HornbookMiddleware, record in memory": recording(agent(HornbookMiddleware())),
    }
    taken = interleaved(works, number=10, rounds=9 if quick else 61)
    pair = paired_differences(taken, "no-op pair", "no middleware")
    figures = [
        Figure(
            name="no-op pair, added to no middleware",
            microseconds=median(pair),
            against=f"an agent run ({median(taken['no middleware']):.0f} us)",
            ratio=median(pair) / median(taken["no middleware"]),
        )
    ]
    marks = {"HornbookMiddleware": 1.5, "HornbookMiddleware, record in memory": None}
    for name, mark in marks.items():
        added = median(paired_differences(taken, name, "no middleware"))
        figures.append(
            Figure(
                name=f"{name}, added to no middleware",
                microseconds=added,
                against="what the no-op pair adds",
                ratio=added / median(pair),
                at_most=mark,
            )
        )
    return figures


IMPORTS = {
    "pydantic": "from pydantic import BaseModel, TypeAdapter",
    "hornbook": "from hornbook import Contract, contract, clauses",
}


def import_figures(quick: bool) -> list[Figure]:
    """Importing the decorator, against importing pydantic; whole processes."""
    taken: dict[str, list[float]] = {"bare": [], **{name: [] for name in IMPORTS}}
    for _ in range(5 if quick else 15):
        for name in taken:
            taken[name].append(_process_cpu(IMPORTS.get(name, "pass")))
    net = {name: paired_differences(taken, name, "bare") for name in IMPORTS}
    return [
        Figure(
            name=IMPORTS["hornbook"],
            microseconds=median(net["hornbook"]),
            against="from pydantic import BaseModel, TypeAdapter",
            ratio=median(a / b for a, b in zip(net["hornbook"], net["pydantic"], strict=True)),
            at_most=1.15,
        )
    ]


def _process_cpu(code: str) -> float:
    before = _children()
    subprocess.run([sys.executable, "-c", code], check=True)
    return (_children() - before) * 1e6


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@contextmanager
def _no_plugins() -> Iterator[None]:
    """Third-party plugins would be measured too."""
    os.environ["HORNBOOK_LOAD_PLUGINS"] = ""
    yield


TABLES = {
    "A plain step": step_figures,
    "A pydantic output contract": type_figures,
    "An async step": async_figures,
    "A LangGraph node": node_figures,
    "A LangChain agent run": middleware_figures,
    "Import": import_figures,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--json", type=Path, metavar="FOLDER", help="also write the tables as JSON")
    parser.add_argument("--quick", action="store_true", help="fewer rounds, for a sample")
    parser.add_argument("--only", help="one table, by a part of its title")
    arguments = parser.parse_args()
    with _no_plugins():
        for title, figures in TABLES.items():
            if arguments.only is None or arguments.only.lower() in title.lower():
                report(title, figures(arguments.quick), arguments.json)


if __name__ == "__main__":
    main()
