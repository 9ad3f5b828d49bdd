"""How the tests of this adapter run DSPy, and read what was recorded."""

import asyncio
import importlib
from collections.abc import Callable, Iterator
from typing import Any

import dspy
import pytest

import hornbook
from hornbook.rules import LearnedRule, RuleLibrary, SymbolicForm
from hornbook.testing import Script
from hornbook.trace import Event
from hornbook_dspy.testing import scripted

Go = Callable[..., Any]

# The package has an object of the module's name.
dspy_settings: Any = importlib.import_module("dspy.dsp.utils.settings")


@pytest.fixture(autouse=True)
def fresh_host() -> Iterator[None]:
    """DSPy as after its import: no cache on disk, no settings of another test."""
    dspy.configure_cache(enable_disk_cache=False)
    before = dict(dspy_settings.main_thread_config)
    owners = ("config_owner_thread_id", "config_owner_async_task")
    yield
    dspy_settings.main_thread_config.clear()
    dspy_settings.main_thread_config.update(before)
    for owner in owners:
        setattr(dspy_settings, owner, None)


@pytest.fixture(params=["sync", "async"])
def go(request: pytest.FixtureRequest) -> Go:
    """Call a module, a tool or a model, once in each colour."""

    def call(target: Any, *args: Any, **kwargs: Any) -> Any:
        if request.param == "sync":
            return target(*args, **kwargs)
        return asyncio.run(target.acall(*args, **kwargs))

    return call


@pytest.fixture
def plays() -> Iterator[Callable[..., Any]]:
    """Configure a language model that plays these replies; gives its conversation."""

    def play(*replies: Any) -> Any:
        playing = Script.of(*replies).open()
        stack.append(dspy.context(lm=scripted(playing)))
        stack[-1].__enter__()
        return playing

    stack: list[Any] = []
    yield play
    for one in reversed(stack):
        one.__exit__(None, None, None)


@pytest.fixture
def rules() -> RuleLibrary:
    """One learned rule."""
    form = SymbolicForm(domain="ANSWERS", error="dec", action=("BE_BRIEF",))
    text = "If a question is short, then answer in one word."
    return RuleLibrary([LearnedRule(id="short", text=text, status="approved", symbolic=form)])


@pytest.fixture
def recorded() -> Iterator[Any]:
    """A run around the test, recorded in memory."""
    with hornbook.run(trace=None) as here:
        yield here


@pytest.fixture
def ended(recorded: Any) -> Callable[[], list[tuple[str, str]]]:
    """The steps so far by name and status, in the order in which they ended."""

    def steps() -> list[tuple[str, str]]:
        ends = [event for event in recorded.events if event.kind == "step.end"]
        return [(event.name, str(event.status)) for event in ends]

    return steps


@pytest.fixture
def events(recorded: Any) -> Callable[[str, str], list[Event]]:
    """The events of one kind and name."""

    def of(kind: str, name: str) -> list[Event]:
        return [event for event in recorded.events if (event.kind, event.name) == (kind, name)]

    return of
