"""The core as a plugin of itself: the clause kinds, the text of rules, a trace sink."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from hornbook.hooks import Register, hookimpl

if TYPE_CHECKING:
    from hornbook.rules import LearnedRule
    from hornbook.trace.events import Event

__all__ = ["NAME", "logging_sink"]

NAME = "hornbook"


@hookimpl(trylast=True)
def hornbook_render_rules(rules: "Sequence[LearnedRule]") -> str:
    """Write the rules with the default template, in canonical order."""
    from hornbook.rules import render

    return render(rules)


@hookimpl
def hornbook_register_clauses(register: Register) -> None:
    """Register the kinds of `hornbook.clauses`, so that no plugin takes their names."""
    from hornbook.contracts import clauses

    for name in clauses.__all__:
        if name != "kind":
            register(name, getattr(clauses, name))


@hookimpl
def hornbook_register_trace_sinks(register: Register) -> None:
    """Register the sink `logging`."""
    register("logging", logging_sink)


def logging_sink() -> "Callable[[Event], None]":
    """Make a sink that logs each event as one line to `hornbook.trace`, at level INFO."""
    from hornbook.log import logger

    log = logger("trace")

    def receive(event: "Event") -> None:
        log.info(
            "%s run=%s seq=%d id=%s name=%r status=%s",
            *(event.kind, event.run, event.seq, event.id, event.name, event.status),
            extra={"hornbook_event": event},
        )

    return receive
