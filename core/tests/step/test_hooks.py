"""What plugins may decide about a step, and that they see and decide no more than that."""

import asyncio
import itertools
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbook import (
    Budget,
    BudgetExceeded,
    Contract,
    ContractViolation,
    Recover,
    Violation,
    checked,
    clauses,
    contract,
    plugins,
    run,
)
from hornbook.errors import DefinitionError, PluginError
from hornbook.hooks import hookimpl
from hornbook.step import Decision, Step, fold
from hornbook.trace import Event

POSITIVE = Contract("positive", ensures=[clauses.that("positive", lambda value: value > 0)])
BAD = Violation(clause="house rule", path=".", expected="a quiet value", observed="a loud one")


def plugin(**hooks: Callable[..., Any]) -> Any:
    """A plugin with these hooks, written as functions of what they are told."""
    made = {f"hornbook_{name}": hookimpl(staticmethod(fn)) for name, fn in hooks.items()}
    return type("Plugin", (), made)()


class Calls:
    """A step that counts how often it runs."""

    def __init__(self, *given: Any) -> None:
        self.given, self.seen = list(given), list[int]()

    def __call__(self, number: int = 0) -> Any:
        self.seen.append(number)
        given = self.given[min(len(self.seen), len(self.given)) - 1]
        if isinstance(given, Exception):
            raise given
        return given


@pytest.mark.requirement("hooks:step:before")
@pytest.mark.parametrize("action", ["block", "halt"])
def test_before_step_may_refuse_a_step(action: Any) -> None:
    calls, fallback = Calls(1), Calls(2)
    recover = Recover(retry=3, fallback=[fallback], then="waive")
    refuse = plugin(before_step=lambda step: Decision(action=action, reason="not on Sundays"))
    with plugins.registered(refuse), pytest.raises(ContractViolation) as halted:
        contract(POSITIVE, recover=recover, name="step")(calls)()
    assert (calls.seen, fallback.seen) == ([], [])
    assert halted.value.report.attempts == 0
    assert str(halted.value) == (
        "step: contract 'positive' violated\n"
        "  - hornbook_before_step: expected a step that the plugins allow; got step "
        "(not on Sundays)"
    )


@pytest.mark.requirement("hooks:step:before")
def test_before_step_may_substitute_a_value_that_meets_the_contract() -> None:
    calls = Calls(1)
    with plugins.registered(plugin(before_step=lambda: Decision(action="substitute", value=7))):
        outcome = checked(contract(POSITIVE)(calls))()
    assert (outcome.status, outcome.value, outcome.attempts) == ("recovered", 7, 0)
    with (
        plugins.registered(plugin(before_step=lambda: Decision(action="substitute", value=-7))),
        pytest.raises(ContractViolation, match="expected positive; got -7"),
    ):
        contract(POSITIVE)(calls)()
    assert calls.seen == []


@pytest.mark.requirement("hooks:step:before")
def test_before_step_may_change_the_inputs() -> None:
    calls = Calls(-1, 1)
    proceed = Decision(action="proceed", value={"number": 9})
    with plugins.registered(plugin(before_step=lambda: proceed)):
        contract(POSITIVE, recover=Recover(retry=1))(calls)(3)
    assert calls.seen == [9, 9]


NO_INPUTS: dict[str, tuple[Any, type[Exception], str]] = {
    "no mapping": (
        3,
        PluginError,
        "hornbook_before_step: `proceed` takes a mapping of inputs, not int",
    ),
    "unknown": (
        {"nubmer": 3},
        DefinitionError,
        "'nubmer' is no parameter; the parameters are number",
    ),
}


@pytest.mark.requirement("hooks:step:before")
@pytest.mark.parametrize(("value", "kind", "told"), NO_INPUTS.values(), ids=NO_INPUTS)
def test_inputs_that_are_none_are_one_clear_error(value: Any, kind: Any, told: str) -> None:
    calls = Calls(1)
    proceed = Decision(action="proceed", value=value)
    with plugins.registered(plugin(before_step=lambda: proceed)), pytest.raises(kind) as refused:
        contract(POSITIVE)(calls)()
    assert (str(refused.value), calls.seen) == (told, [])


@pytest.mark.requirement("hooks:step:before")
@pytest.mark.parametrize("action", ["proceed", "retry"])
def test_a_decision_that_changes_nothing_changes_nothing(action: Any) -> None:
    with plugins.registered(plugin(before_step=lambda: Decision(action=action))):
        outcome = checked(contract(POSITIVE)(Calls(1)))()
    assert (outcome.status, outcome.attempts) == ("satisfied", 1)


@pytest.mark.requirement("hooks:step:before", "check:inputs:requires")
def test_before_step_comes_before_the_preconditions() -> None:
    wanting = Contract("wanting", requires=[clauses.in_range("number", low=1)])
    proceed = Decision(action="proceed", value={"number": 9})
    with plugins.registered(plugin(before_step=lambda: proceed)):
        assert contract(wanting)(Calls(1))(0) == 1


@pytest.mark.requirement("hooks:step:before")
def test_a_hook_is_shown_the_step() -> None:
    seen: list[Step] = []
    step = contract(POSITIVE, recover=Recover(retry=1), name="step")(Calls(-1, 1))
    watch = plugin(
        before_step=lambda step: seen.append(step),
        check_output=lambda step: seen.append(step),
    )
    with plugins.registered(watch), run() as opened:
        step(3)
    before, first, second = seen
    assert (before.kind, before.name, before.inputs) == ("node", "step", {"number": 3})
    assert (before.host, before.agent, before.meta) == ("python", None, {})
    assert [one.attempt for one in seen] == [1, 1, 2]
    (start,) = [event for event in opened.events if event.kind == "step.start"]
    assert {one.step_id for one in seen} == {start.id}
    assert (first.parent_id, second.parent_id) == (None, None)


@pytest.mark.requirement("hooks:step:before", "run:records:none")
def test_steps_have_ids_of_their_own_outside_of_a_run() -> None:
    seen: list[str] = []
    step = contract(POSITIVE)(Calls(1))
    with plugins.registered(plugin(before_step=lambda step: seen.append(step.step_id))):
        step()
        step()
    assert len(set(seen)) == 2
    assert all(seen)


@pytest.mark.requirement("hooks:step:check-output")
def test_check_output_adds_violations_after_each_attempt() -> None:
    seen: list[Any] = []

    def check(step: Step, output: Any) -> list[Violation]:
        seen.append(output)
        return [] if output == 3 else [BAD]

    with plugins.registered(plugin(check_output=check)):
        outcome = checked(contract(POSITIVE, recover=Recover(retry=3))(Calls(-1, 2, 3)))()
    assert (seen, outcome.status, outcome.attempts) == ([-1, 2, 3], "recovered", 3)


@pytest.mark.requirement("hooks:step:check-output")
def test_what_check_output_finds_stands_in_the_report_after_the_contracts_own() -> None:
    with (
        plugins.registered(plugin(check_output=lambda: [BAD])),
        pytest.raises(ContractViolation) as halted,
    ):
        contract(POSITIVE, name="step")(Calls(-1))()
    report = halted.value.report
    assert [violation.clause for violation in report.violations] == ["positive", "house rule"]
    assert [(v.clause, v.status) for v in report.verdicts] == [
        ("positive", "Violated"),
        ("house rule", "Violated"),
    ]
    assert report.verdict("house rule").reason == "found by a plugin"


@pytest.mark.requirement("hooks:step:on-violation")
@pytest.mark.parametrize("action", ["block", "halt"])
def test_on_violation_may_end_the_recovery(action: Any) -> None:
    seen: list[Any] = []
    calls, fallback = Calls(-1), Calls(1)

    def decide(step: Step, output: Any, violations: Any) -> Decision:
        seen.append((step.attempt, output, [violation.clause for violation in violations]))
        return Decision(action=action)

    recover = Recover(retry=3, fallback=[fallback], then="waive")
    with plugins.registered(plugin(on_violation=decide)), pytest.raises(ContractViolation):
        contract(POSITIVE, recover=recover)(calls)()
    assert (calls.seen, fallback.seen) == ([0], [])
    assert seen == [(1, -1, ["positive"])]


@pytest.mark.requirement("hooks:step:on-violation")
def test_on_violation_may_substitute_a_value_that_meets_the_contract() -> None:
    for value, status in ((5, "recovered"), (-5, "violated")):
        decide = Decision(action="substitute", value=value)
        with plugins.registered(plugin(on_violation=lambda decide=decide: decide)):
            outcome = checked(contract(POSITIVE, recover=Recover(retry=3))(Calls(-1)))()
        assert (outcome.status, outcome.attempts) == (status, 1)


@pytest.mark.requirement("hooks:step:on-violation", "recover:retry:bounded")
def test_a_retry_draws_on_the_retries_that_the_step_declares() -> None:
    calls = Calls(-1)
    with (
        plugins.registered(plugin(on_violation=lambda: Decision(action="retry"))),
        pytest.raises(ContractViolation),
    ):
        contract(POSITIVE, recover=Recover(retry=2))(calls)()
    assert len(calls.seen) == 3


@pytest.mark.requirement("hooks:step:on-error")
def test_on_error_may_substitute_and_the_value_meets_the_contract() -> None:
    seen: list[Any] = []
    error = OSError("no connection")

    def decide(step: Step, error: Exception) -> Decision:
        seen.append(error)
        return Decision(action="substitute", value=7)

    with plugins.registered(plugin(on_error=decide)):
        outcome = checked(contract(POSITIVE)(Calls(error)))()
    assert (seen, outcome.status, outcome.value) == ([error], "recovered", 7)
    with (
        plugins.registered(plugin(on_error=lambda: Decision(action="substitute", value=-7))),
        pytest.raises(ContractViolation, match="got -7"),
    ):
        contract(POSITIVE)(Calls(error))()


@pytest.mark.requirement("hooks:step:on-error")
@pytest.mark.parametrize("action", ["block", "halt"])
def test_on_error_may_end_the_step(action: Any) -> None:
    calls, error = Calls(OSError("no connection")), OSError
    with (
        plugins.registered(plugin(on_error=lambda: Decision(action=action, reason="enough"))),
        pytest.raises(ContractViolation) as halted,
    ):
        contract(POSITIVE, recover=Recover(retry=3, then="waive"))(calls)()
    assert isinstance(halted.value.__cause__, error)
    assert len(calls.seen) == 1


@pytest.mark.requirement("hooks:step:on-error", "recover:on:propagates")
def test_on_error_with_no_opinion_lets_the_error_through() -> None:
    for opinion in (None, Decision(action="proceed")):
        with (
            plugins.registered(plugin(on_error=lambda opinion=opinion: opinion)),
            pytest.raises(OSError, match="no connection"),
        ):
            contract(POSITIVE)(Calls(OSError("no connection")))()


@pytest.mark.requirement("hooks:step:on-error", "recover:on:violation")
def test_on_error_is_not_asked_about_what_the_recovery_turns_into_a_violation() -> None:
    seen: list[Any] = []
    with plugins.registered(plugin(on_error=lambda error: seen.append(error))):
        step = contract(POSITIVE, recover=Recover(retry=1, on=[OSError]))(Calls(OSError(), 1))
        assert step() == 1
    assert seen == []


@pytest.mark.requirement("hooks:step:on-error", "budget:exceeded:error")
def test_no_hook_turns_a_spent_budget_into_something_else() -> None:
    spent = BudgetExceeded("spent", limit="calls", spent={})
    substitute = plugin(on_error=lambda: Decision(action="substitute", value=1))
    with plugins.registered(substitute), pytest.raises(BudgetExceeded):
        contract(POSITIVE)(Calls(spent))()


ACTIONS = ["halt", "block", "substitute", "retry", "proceed"]


@pytest.mark.requirement("hooks:decisions:fold")
@given(st.lists(st.sampled_from(ACTIONS)))
def test_the_strictest_decision_wins_and_of_equals_the_first(actions: list[Any]) -> None:
    decisions = [Decision(action=action, reason=str(at)) for at, action in enumerate(actions)]
    expected = min(decisions, key=lambda one: ACTIONS.index(one.action), default=None)
    assert fold(decisions) is expected


VALUES: dict[str, Any] = {"substitute": 2, "proceed": {"number": 9}}


@pytest.mark.requirement("hooks:decisions:fold")
@pytest.mark.parametrize(("stricter", "other"), list(itertools.combinations(ACTIONS, 2)))
def test_a_step_follows_the_stricter_of_two_plugins(stricter: Any, other: Any) -> None:
    def outcome(*actions: Any) -> tuple[Any, list[int]]:
        calls = Calls(1)
        with ExitStack() as registered:
            for at, action in enumerate(actions):
                decide = plugin(
                    before_step=lambda action=action: Decision(
                        action=action, value=VALUES.get(action)
                    )
                )
                registered.enter_context(plugins.registered(decide, f"plugin {at}"))
            try:
                return contract(POSITIVE)(calls)(), calls.seen
            except ContractViolation as halted:
                return halted.report.violations[0].clause, calls.seen

    assert outcome(stricter, other) == outcome(other, stricter) == outcome(stricter)


@pytest.mark.requirement("hooks:decisions:fold")
def test_an_unknown_action_is_refused() -> None:
    with pytest.raises(DefinitionError) as refused:
        Decision(action="stop")  # type: ignore[arg-type]
    assert str(refused.value) == (
        "Decision(action='stop'): one of proceed, retry, substitute, block, halt"
    )


@pytest.mark.requirement("hooks:calls:async")
async def test_async_hooks_decide_about_async_steps_as_sync_ones_do() -> None:
    asked: list[str] = []

    async def before(step: Step) -> None:
        await asyncio.sleep(0)
        asked.append("before")

    async def check(output: Any) -> list[Violation]:
        await asyncio.sleep(0)
        return [BAD] if output < 3 else []

    async def decide(violations: Any) -> Decision | None:
        await asyncio.sleep(0)
        return Decision(action="substitute", value=3)

    @contract(POSITIVE)
    async def step() -> int:
        return 1

    with plugins.registered(plugin(before_step=before, check_output=check, on_violation=decide)):
        outcome = await checked(step)()
    assert (asked, outcome.value, outcome.status) == (["before"], 3, "recovered")


NOTHING_TOLD: dict[str, Callable[[], Any]] = {
    "before_step": lambda: None,
    "check_output": lambda: None,
    "on_violation": lambda: None,
}


@pytest.mark.requirement("hooks:calls:async")
@pytest.mark.parametrize("name", NOTHING_TOLD)
def test_an_implementation_names_the_arguments_it_wants(name: str) -> None:
    with plugins.registered(plugin(**{name: NOTHING_TOLD[name]})), pytest.raises(ContractViolation):
        contract(POSITIVE)(Calls(-1))()


GARBAGE: dict[str, tuple[str, Any, str]] = {
    "true": ("before_step", True, "bool from hornbook_before_step, not a Decision"),
    "text": ("before_step", "halt", "str from hornbook_before_step, not a Decision"),
    "one violation": (
        "check_output", BAD, "Violation from hornbook_check_output, not a list of Violations"
    ),
    "texts": (
        "check_output", ["bad"], "list from hornbook_check_output, not a list of Violations"
    ),
    "decision": ("on_violation", 3, "int from hornbook_on_violation, not a Decision"),
}  # fmt: skip


@pytest.mark.requirement("hooks:step:check-output", "hooks:step:before", "trace:events:pairs")
@pytest.mark.parametrize(("name", "given", "told"), GARBAGE.values(), ids=GARBAGE)
def test_garbage_from_a_plugin_names_the_plugin_and_loses_no_step(
    name: str, given: Any, told: str
) -> None:
    with (
        plugins.registered(plugin(**{name: lambda: given}), "odd"),
        run() as opened,
        pytest.raises(PluginError) as refused,
    ):
        contract(POSITIVE)(Calls(-1))()
    assert str(refused.value) == f"plugin 'odd' gave {told} or None"
    (end,) = [event for event in opened.events if event.kind == "step.end"]
    assert (end.status, end.data["error"]) == ("error", f"PluginError: {refused.value}")


@pytest.mark.requirement("hooks:step:before", "hooks:step:on-error")
@pytest.mark.parametrize("name", ["before_step", "check_output", "on_violation", "on_error"])
def test_a_hook_that_raises_names_the_plugin(name: str) -> None:
    def breaks() -> Any:
        raise KeyError("k")

    given = OSError() if name == "on_error" else -1
    with (
        plugins.registered(plugin(**{name: breaks}), "odd"),
        pytest.raises(PluginError) as refused,
    ):
        contract(POSITIVE, recover=Recover(retry=3))(Calls(given))()
    assert str(refused.value) == f"plugin 'odd' raised in hornbook_{name}: KeyError: 'k'"
    assert isinstance(refused.value.__cause__, KeyError)


@pytest.mark.requirement("hooks:step:record")
def test_record_sees_each_event_of_the_runs_opened_from_then_on() -> None:
    seen: list[Event] = []
    step = contract(POSITIVE, recover=Recover(retry=1))(Calls(-1, 1))
    with run() as before, plugins.registered(plugin(record=lambda event: seen.append(event))):
        step(1)
        assert seen == []
        assert before.events
    with plugins.registered(plugin(record=lambda event: seen.append(event))), run() as opened:
        step(2)
    assert seen == list(opened.events)
    assert [event.seq for event in seen] == list(range(len(seen)))


@pytest.mark.requirement("hooks:step:record")
def test_what_record_raises_goes_no_further(caplog: pytest.LogCaptureFixture) -> None:
    def breaks(event: Event) -> None:
        raise ZeroDivisionError

    with plugins.registered(plugin(record=breaks), "odd"), run() as opened:
        assert contract(POSITIVE)(Calls(1))() == 1
    assert [event.kind for event in opened.events] == [
        "run.start", "step.start", "step.end", "run.end"
    ]  # fmt: skip
    assert "plugin 'odd': hornbook_record raised" in caplog.text


@pytest.mark.requirement("hooks:step:record", "trace:events:same")
def test_being_watched_changes_no_event() -> None:
    def essence(event: Event) -> Any:
        data = {k: v for k, v in event.data.items() if k not in ("microseconds", "seconds")}
        return event.kind, event.seq, event.name, event.status, data

    def live() -> list[Any]:
        inner = contract(POSITIVE, name="inner")(Calls(1))
        outer = contract(POSITIVE, recover=Recover(retry=1), name="outer")(
            lambda: inner() * 2 - 3 * (len(taken.append(1) or taken) == 1)
        )
        taken: list[int] = []
        with run() as opened:
            outer()
        return [essence(event) for event in opened.events]

    unwatched = live()
    with plugins.registered(plugin(record=lambda event: None)):
        assert live() == unwatched


@pytest.mark.requirement("decorate:hooks:none")
def test_hooks_count_for_steps_that_start_after_they_were_registered() -> None:
    seen: list[str] = []
    step = contract(POSITIVE, name="step")(Calls(1))
    step()
    with plugins.registered(plugin(before_step=lambda step: seen.append(step.name))):
        step()
    step()
    assert seen == ["step"]


@pytest.mark.requirement("budget:meter:calls", "hooks:step:on-violation")
def test_retries_that_a_hook_asks_for_are_counted() -> None:
    calls = Calls(-1)
    with (
        plugins.registered(plugin(on_violation=lambda: Decision(action="retry"))),
        run(budget=Budget(calls=1)),
        pytest.raises(BudgetExceeded),
    ):
        contract(POSITIVE, recover=Recover(retry=9))(calls)()
    assert len(calls.seen) == 2


@pytest.mark.requirement("hooks:step:before")
def test_inputs_shown_to_a_hook_are_a_mapping_by_name() -> None:
    seen: list[Mapping[str, Any]] = []

    @contract(POSITIVE)
    def step(a: int, *rest: int, b: int = 2) -> int:
        return 1

    with plugins.registered(plugin(before_step=lambda step: seen.append(step.inputs))):
        step(1, 5, b=3)
    assert seen == [{"a": 1, "rest": (5,), "b": 3}]
