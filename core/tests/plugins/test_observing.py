"""Observers of a run's events: none of them can harm a step or another observer."""

import logging
from collections.abc import Callable
from typing import Any

import pytest

from hornbook.hooks import hookimpl
from hornbook.trace.events import Event

EVENT = Event(kind="note", seq=3, run="R", id="R", name="two\nlines", status="ok")


def sink_plugin(name: str, factory: Callable[..., object]) -> object:
    class Sinks:
        @hookimpl
        def hornbook_register_trace_sinks(self, register: Any) -> None:
            register(name, factory)

    return Sinks()


def show(made: Any, *sinks: str, times: int = 1) -> None:
    for observer in made.plugins.observers(sinks):
        for _ in range(times):
            observer(EVENT)


@pytest.mark.requirement("hooks:step:record")
def test_nobody_observes_when_no_plugin_does(make: Any) -> None:
    assert make().plugins.observers([]) == ()


@pytest.mark.requirement("hooks:step:record")
def test_each_implementation_sees_the_event_and_one_that_raises_is_logged(
    make: Any, caplog: pytest.LogCaptureFixture
) -> None:
    seen: list[object] = []

    class Sees:
        @hookimpl
        def hornbook_record(self, event: Event) -> None:
            seen.append(event)

    class Counts:
        @hookimpl
        def hornbook_record(self) -> None:
            seen.append("one")

    class Raises:
        @hookimpl
        def hornbook_record(self, event: Event) -> None:
            raise ZeroDivisionError

    made = make()
    for plugin in (Sees(), Raises(), Counts()):
        made.plugins.register(plugin)
    with caplog.at_level(logging.ERROR, logger="hornbook.plugins"):
        show(made)
    assert seen == ["one", EVENT]
    assert caplog.messages == ["plugin 'Raises': hornbook_record raised"]


@pytest.mark.requirement("hooks:register:trace-sinks")
def test_a_sink_is_made_once_on_the_first_event_of_a_run_that_names_it(make: Any) -> None:
    made_sinks: list[list[Event]] = []

    def factory() -> Callable[[Event], None]:
        made_sinks.append([])
        return made_sinks[-1].append

    made = make()
    made.plugins.register(sink_plugin("list", factory))
    assert made.plugins.observers(["list", "list"]) != ()
    assert made_sinks == []
    show(made, "list", "list")
    show(made, "list")
    assert made_sinks == [[EVENT, EVENT]]


@pytest.mark.requirement("hooks:register:trace-sinks")
def test_a_sink_that_nobody_registers_is_logged_once(
    make: Any, caplog: pytest.LogCaptureFixture
) -> None:
    made = make()
    with caplog.at_level(logging.WARNING, logger="hornbook.plugins"):
        show(made, "lost", times=3)
        show(made, "lost")
    assert caplog.messages == ["no plugin registers the trace sink 'lost'"]
    seen: list[Event] = []
    made.plugins.register(sink_plugin("lost", lambda: seen.append))
    show(made, "lost")
    assert seen == [EVENT]


@pytest.mark.requirement("hooks:register:trace-sinks")
def test_a_sink_that_cannot_be_made_is_logged_once(
    make: Any, caplog: pytest.LogCaptureFixture
) -> None:
    made = make()
    made.plugins.register(sink_plugin("raises", lambda: 1 // 0), "raises")
    made.plugins.register(sink_plugin("none", lambda: None), "none")
    with caplog.at_level(logging.WARNING, logger="hornbook.plugins"):
        show(made, "raises", "none", times=3)
    assert caplog.messages == [
        "the trace sink 'raises' cannot be made: integer division or modulo by zero",
        "the trace sink 'none' is no function",
    ]


@pytest.mark.requirement("hooks:register:trace-sinks")
def test_what_a_sink_raises_is_logged(make: Any, caplog: pytest.LogCaptureFixture) -> None:
    def receive(event: Event) -> None:
        raise OSError("full")

    made = make()
    made.plugins.register(sink_plugin("full", lambda: receive))
    with caplog.at_level(logging.ERROR, logger="hornbook.plugins"):
        show(made, "full")
    assert caplog.messages == ["the trace sink 'full' raised"]


@pytest.mark.requirement("hooks:register:trace-sinks")
def test_the_sink_logging_writes_one_line_an_event(
    make: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, logger="hornbook.trace"):
        show(make(), "logging")
    assert caplog.messages == [r"note run=R seq=3 id=R name='two\nlines' status=ok"]
