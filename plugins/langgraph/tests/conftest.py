"""The scripts, tools and runs that the tests of this adapter share."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

Go = Callable[..., Any]


@pytest.fixture(params=["sync", "async"])
def go(request: pytest.FixtureRequest) -> Go:
    """Run a graph to its end, once through `invoke` and once through `ainvoke`."""

    def run(graph: Any, given: Any, config: Any = None, **options: Any) -> Any:
        if request.param == "sync":
            return graph.invoke(given, config, **options)
        return asyncio.run(graph.ainvoke(given, config, **options))

    return run


@pytest.fixture(params=["sync", "async"])
def stream(request: pytest.FixtureRequest) -> Go:
    """All that a graph streams, through `stream` and through `astream`."""

    def run(graph: Any, given: Any, config: Any = None, **options: Any) -> list[Any]:
        if request.param == "sync":
            return list(graph.stream(given, config, **options))

        async def collect() -> list[Any]:
            return [part async for part in graph.astream(given, config, **options)]

        return asyncio.run(collect())

    return run


@pytest.fixture
def thread() -> dict[str, Any]:
    """The config of one conversation."""
    return {"configurable": {"thread_id": "t-1"}}


@pytest.fixture
def saver() -> InMemorySaver:
    """A checkpointer in memory."""
    return InMemorySaver()
