"""Replay of steps that plugins changed, refused or stood in for, and of budgets that were spent."""

from collections.abc import Callable
from typing import Any

import pytest

from hornbook import Budget, plugins, run
from hornbook.contracts import ContractViolation, Violation
from hornbook.errors import BudgetExceeded
from hornbook.hooks import hookimpl
from hornbook.models import (
    Completion,
    ReplayError,
    ScriptedModel,
    TransportError,
    ask,
    recorded,
)
from hornbook.step import Decision

SCHEMA = {"type": "object", "required": ["x"]}


class Plugin:
    """Decides about model steps before they run, when they are refused, and when they raise."""

    def __init__(self, **decisions: Callable[[Any], Decision | None] | Decision) -> None:
        self.decisions = decisions

    def decided(self, when: str, step: Any) -> Decision | None:
        decision = self.decisions.get(when)
        return decision(step) if callable(decision) else decision

    @hookimpl
    def hornbook_before_step(self, step: Any) -> Decision | None:
        return self.decided("before", step)

    @hookimpl
    def hornbook_check_output(self, output: Any) -> list[Violation]:
        bad = "BAD" in str(output)
        return [Violation(clause="c", path=".", expected="e", observed="o", hint="h")] * bad

    @hookimpl
    def hornbook_on_violation(self, step: Any) -> Decision | None:
        return self.decided("violated", step)

    @hookimpl
    def hornbook_on_error(self, step: Any) -> Decision | None:
        return self.decided("raised", step)


def outcome(model: Any, request: Any, plugin: Plugin | None, **more: Any) -> Any:
    """What asking gives or raises, as text, and the record."""
    given: Any
    with run(None, **more) as opened:
        try:
            if plugin is None:
                given = ask(model, request).text
            else:
                with plugins.registered(plugin):
                    given = ask(model, request).text
        except (ContractViolation, TransportError, ReplayError, BudgetExceeded) as error:
            given = f"{type(error).__name__}: {error}"
    return given, opened.events


def told(events: Any) -> list[Any]:
    """The events of a record, without times."""
    left = [event for event in events if event.kind not in ("run.start", "run.end")]
    timed = ("microseconds",)
    return [
        (e.kind, e.name, e.status, {k: v for k, v in e.data.items() if k not in timed})
        for e in left
    ]


REWRITTEN = {"messages": [{"role": "user", "content": "other"}]}


@pytest.mark.requirement("models:replay:plugins")
@pytest.mark.parametrize(
    ("answers", "plugin", "asked"),
    [
        (["fine"], Plugin(before=Decision(action="proceed", value=REWRITTEN)), 1),
        (["BAD"], Plugin(), 1),
        (["BAD"], Plugin(violated=Decision(action="block", reason="no")), 1),
        (["BAD"], Plugin(violated=Decision(action="halt", reason="no")), 1),
        (["BAD"], Plugin(violated=Decision(action="substitute", value="safe")), 1),
        (["fine"], Plugin(before=Decision(action="substitute", value="safe")), 0),
        (["fine"], Plugin(before=Decision(action="block", reason="no")), 0),
        (
            [TransportError("gone")],
            Plugin(raised=Decision(action="substitute", value=Completion(text="safe"))),
            1,
        ),
        ([TransportError("gone")], Plugin(raised=Decision(action="block", reason="no")), 1),
    ],
)
def test_what_plugins_decided_is_replayed_with_them(said, answers, plugin, asked) -> None:
    model = ScriptedModel(answers, identity="m")
    first, events = outcome(model, said(), plugin)
    assert model.calls == asked
    again = recorded(events, like="m")
    assert again.left == asked
    replayed, record = outcome(again, said(), plugin)
    assert replayed == first
    assert told(record) == told(events)
    assert again.left == 0


@pytest.mark.requirement("models:replay:plugins")
def test_without_the_plugin_a_changed_request_is_drift(said) -> None:
    plugin = Plugin(before=Decision(action="proceed", value=REWRITTEN))
    _, events = outcome(ScriptedModel(["fine"]), said(), plugin)
    assert outcome(recorded(events), said(), None)[0] == (
        "ReplayError: step 'model' is not as recorded: nearest is step 'model', where messages[0] "
        "is 'other', not 'Hello'"
    )
    plugin = Plugin(before=Decision(action="substitute", value="safe"))
    _, events = outcome(ScriptedModel(["fine"]), said(), plugin)
    assert outcome(recorded(events), said(), None)[0] == (
        "ReplayError: step 'model' is not as recorded: a plugin or the budget ended that step "
        "there, before the model was asked"
    )


@pytest.mark.requirement("models:hooks:change")
def test_a_schema_that_a_plugin_changes_is_the_one_that_counts(said) -> None:
    changed = Plugin(before=Decision(action="proceed", value={"schema": {"type": "integer"}}))
    with plugins.registered(changed):
        made = ask(ScriptedModel(["{}"]), said(schema=SCHEMA))
    assert made.problem == "does not fit the schema at .: expected integer, not {}"
    stood_in = Plugin(before=Decision(action="substitute", value=Completion(text="prose")))
    with plugins.registered(stood_in):
        made = ask(ScriptedModel(["{}"]), said(schema=SCHEMA))
    assert (made.value, made.model) == (None, "scripted")
    assert str(made.problem).startswith("not JSON: ")


@pytest.mark.requirement("models:replay:subclasses")
def test_an_error_of_a_hosts_own_class_is_replayed_as_a_transport_error(said) -> None:
    class Mine(TransportError): ...

    model = ScriptedModel([Mine("boom: it broke"), "later"], identity="m")
    with run(None) as opened:
        with pytest.raises(Mine):
            ask(model, said())
        ask(model, said())
    again = recorded(opened.events)
    with pytest.raises(TransportError) as caught:
        ask(again, said())
    assert str(caught.value) == "boom: it broke"
    assert ask(again, said()).text == "later"
    assert again.left == 0


@pytest.mark.requirement("models:replay:budget")
@pytest.mark.parametrize("budget", [Budget(calls=2), Budget(calls=9), None])
def test_a_budget_that_was_spent_is_spent_in_the_replay(said, waits, budget) -> None:
    busy = TransportError("busy", retryable=True)
    model = ScriptedModel([busy] * 5, identity="m", max_attempts=5)
    first, events = outcome(model, said(), None, budget=Budget(calls=2))
    assert first == (
        "BudgetExceeded: the budget of 2 calls is spent (by step: model 2): step 'model' asked for "
        "more"
    )
    again = recorded(events)
    replayed, record = outcome(again, said(), None, budget=budget)
    assert replayed == first
    assert told(record) == told(events)
    assert again.left == 0
