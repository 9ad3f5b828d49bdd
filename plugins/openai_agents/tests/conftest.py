"""How the tests of this adapter run agents, and read what was recorded of them."""

import asyncio
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from agents import set_tracing_disabled

import hornbook
from hornbook.trace import Event
from hornbook_openai_agents import run, run_sync

Go = Callable[..., Any]
set_tracing_disabled(True)


@contextmanager
def no_loop_left() -> Iterator[None]:
    """Close the loop that the SDK's own `run_sync` leaves open for the next call."""
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            loop = asyncio.get_event_loop_policy().get_event_loop()
        except RuntimeError:
            return
    loop.close()
    asyncio.set_event_loop(None)


@pytest.fixture(params=["sync", "async"])
def go(request: pytest.FixtureRequest) -> Iterator[Go]:
    """Run an agent to its end, once through `run_sync` and once through `run`."""

    def sync(agent: Any, given: Any, **options: Any) -> Any:
        return run_sync(agent, given, **options)

    def through_async(agent: Any, given: Any, **options: Any) -> Any:
        return asyncio.run(run(agent, given, **options))

    with no_loop_left():
        yield sync if request.param == "sync" else through_async


@pytest.fixture
def left_loops() -> Iterator[None]:
    """For tests that call `run_sync` by themselves."""
    with no_loop_left():
        yield


@pytest.fixture
def recorded() -> Iterator[hornbook.run]:
    """A run around the test, recorded in memory."""
    with hornbook.run(trace=None) as here:
        yield here


@pytest.fixture
def steps(recorded: Any) -> Callable[[], list[tuple[str, str]]]:
    """The steps so far, by name and status, in the order in which they ended."""

    def ended() -> list[tuple[str, str]]:
        ends = [event for event in recorded.events if event.kind == "step.end"]
        return [(event.name, str(event.status)) for event in ends]

    return ended


@pytest.fixture
def ends(recorded: Any) -> Callable[[str], list[Event]]:
    """The ends of the steps of one name."""

    def named(name: str) -> list[Event]:
        return [e for e in recorded.events if e.kind == "step.end" and e.name == name]

    return named
