"""Recovery: how often a step is called, with what, and what is left at the end."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbook import (
    Budget,
    BudgetExceeded,
    Contract,
    ContractReport,
    ContractViolation,
    Recover,
    Violation,
    checked,
    clauses,
    contract,
    run,
)
from hornbook.errors import DefinitionError
from hornbook.trace import Event

POSITIVE = Contract("positive", ensures=[clauses.that("positive", lambda value: value > 0)])


class Script:
    """A step that gives, or raises, one thing after another, and remembers its calls."""

    def __init__(self, *given: Any) -> None:
        self.given = list(given)
        self.calls: list[Any] = []

    def __call__(self, number: int = 0, plus: int = 0) -> Any:
        self.calls.append((number, plus))
        given = self.given[min(len(self.calls), len(self.given)) - 1]
        if isinstance(given, BaseException):
            raise given
        return given

    async def later(self, number: int = 0, plus: int = 0) -> Any:
        await asyncio.sleep(0)
        return self(number, plus)

    @property
    def count(self) -> int:
        return len(self.calls)


class Torn(Exception):
    pass


class Lost(Exception):
    pass


@pytest.mark.requirement("recover:then:halt", "recover:retry:bounded")
def test_the_default_is_one_call_and_a_halt() -> None:
    script = Script(-1)
    with pytest.raises(ContractViolation) as halted:
        contract(POSITIVE, name="step")(script)()
    assert script.count == 1
    assert halted.value.report.attempts == 1
    assert str(halted.value) == (
        "step: contract 'positive' violated\n  - positive: expected positive; got -1"
    )


@pytest.mark.requirement("recover:retry:bounded")
@pytest.mark.parametrize("retry", [0, 1, 4])
def test_there_are_at_most_one_and_k_calls(retry: int) -> None:
    script = Script(-1)
    step = contract(POSITIVE, recover=Recover(retry=retry), name="step")(script)
    with pytest.raises(ContractViolation) as halted:
        step()
    assert script.count == halted.value.report.attempts == 1 + retry
    assert halted.value.report.cost.calls == retry


@pytest.mark.requirement("recover:retry:bounded", "checked:status:four")
def test_a_retry_that_succeeds_is_the_last_one() -> None:
    script = Script(-1, -2, 3, 4)
    outcome = checked(contract(POSITIVE, recover=Recover(retry=5))(script))()
    assert (outcome.status, outcome.value, outcome.attempts) == ("recovered", 3, 3)
    assert str(outcome.report) == "Script: contract 'positive' satisfied after 3 attempts"


@pytest.mark.requirement("recover:retry:modify")
def test_modify_changes_the_inputs_of_the_next_attempt() -> None:
    seen: list[Any] = []

    def more(inputs: Mapping[str, Any], violation: Violation) -> Mapping[str, Any]:
        seen.append((dict(inputs), violation.observed))
        return {"plus": inputs["plus"] + 1}

    script = Script(-1, -2, -3, 4)
    step = contract(POSITIVE, recover=Recover(retry=3, modify=more), deterministic=True)(script)
    assert step(7) == 4
    assert script.calls == [(7, 0), (7, 1), (7, 2), (7, 3)]
    assert seen == [
        ({"number": 7, "plus": 0}, "-1"),
        ({"number": 7, "plus": 1}, "-2"),
        ({"number": 7, "plus": 2}, "-3"),
    ]


@pytest.mark.requirement("recover:retry:modify")
@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"minus": 1}, "'minus' is no parameter; the parameters are number, plus"),
        (None, "step 'step': modify gave NoneType, not a mapping of the inputs that change"),
        (3, "step 'step': modify gave int, not a mapping of the inputs that change"),
    ],
)
def test_a_modify_that_gives_no_inputs_is_one_clear_error(changed: Any, told: str) -> None:
    recover = Recover(retry=1, modify=lambda inputs, violation: changed)
    script = Script(-1)
    with pytest.raises(DefinitionError) as refused:
        contract(POSITIVE, recover=recover, name="step")(script)()
    assert (str(refused.value), script.count) == (told, 1)


@pytest.mark.requirement("recover:retry:modify")
def test_what_modify_raises_propagates() -> None:
    def breaks(inputs: Any, violation: Any) -> Any:
        raise Lost

    with pytest.raises(Lost):
        contract(POSITIVE, recover=Recover(retry=1, modify=breaks))(Script(-1))()


@pytest.mark.requirement("recover:fallback:order", "recover:fallback:contract")
def test_each_fallback_runs_once_in_order_with_the_original_arguments() -> None:
    first, second, third = Script(-2), Script(3), Script(4)
    recover = Recover(
        retry=2,
        modify=lambda inputs, violation: {"number": 99},
        fallback=[first, second, third],
    )
    script = Script(-1)
    outcome = checked(contract(POSITIVE, recover=recover)(script))(7, plus=1)
    assert (outcome.status, outcome.value, outcome.attempts) == ("recovered", 3, 5)
    assert script.calls == [(7, 1), (99, 1), (99, 1)]
    assert (first.calls, second.calls, third.calls) == ([(7, 1)], [(7, 1)], [])


@pytest.mark.requirement("recover:fallback:colour")
async def test_sync_and_async_fallbacks_serve_an_async_step() -> None:
    for fallback in (Script(3), Script(3).later):
        step = contract(POSITIVE, recover=Recover(fallback=[fallback]))(Script(-1).later)
        assert await step(1) == 3


@pytest.mark.requirement("recover:on:violation")
def test_a_declared_exception_becomes_the_violation_exception() -> None:
    error = Torn("no connection")
    script = Script(error)
    with pytest.raises(ContractViolation) as halted:
        contract(POSITIVE, recover=Recover(retry=1, on=[Torn]), name="step")(script)()
    assert halted.value.__cause__ is error
    assert script.count == 2
    assert str(halted.value) == (
        "step: contract 'positive' violated after 2 attempts\n"
        "  - exception: expected a value; got 'Torn: no connection'"
    )


@pytest.mark.requirement("recover:on:violation")
def test_a_declared_exception_is_retried_and_falls_back() -> None:
    script = Script(Torn(), 3)
    assert contract(POSITIVE, recover=Recover(retry=1, on=[Torn]))(script)() == 3
    fallen = contract(POSITIVE, recover=Recover(on=[LookupError], fallback=[Script(4)]))
    assert fallen(Script(KeyError("k")))() == 4
    both = Recover(on=[Torn], fallback=[Script(Torn()), Script(5)])
    assert contract(POSITIVE, recover=both)(Script(Torn()))() == 5


@pytest.mark.requirement("recover:on:propagates")
@pytest.mark.parametrize("recover", [Recover(), Recover(retry=3, fallback=[Script(1)], on=[Torn])])
def test_any_other_exception_propagates_and_starts_no_recovery(recover: Recover) -> None:
    error = Lost("gone")
    script = Script(error)
    with pytest.raises(Lost) as raised:
        contract(POSITIVE, recover=recover)(script)()
    assert raised.value is error
    assert script.count == 1
    with pytest.raises(Lost):
        checked(contract(POSITIVE, recover=recover)(Script(Lost())))()


@pytest.mark.requirement("recover:on:propagates")
def test_an_exception_of_a_fallback_propagates_too() -> None:
    fallback = Script(Lost())
    with pytest.raises(Lost):
        contract(POSITIVE, recover=Recover(fallback=[fallback, Script(1)]))(Script(-1))()
    assert fallback.count == 1


@pytest.mark.requirement("recover:on:propagates")
@pytest.mark.parametrize("needs_inputs", [False, True], ids=["fast path", "slow path"])
@pytest.mark.parametrize("error", [StopIteration(3), GeneratorExit(), SystemExit(2)], ids=repr)
def test_even_exceptions_that_mean_something_to_python_pass_unchanged(
    error: BaseException, needs_inputs: bool
) -> None:
    requires = [clauses.bound("number")] if needs_inputs else []
    step = contract(Contract("c", requires=requires))(Script(error))
    with run() as opened, pytest.raises(type(error)) as raised:
        step(1)
    assert raised.value is error
    assert [event.kind for event in opened.events].count("step.end") == 1


@pytest.mark.requirement("recover:on:refuses")
@pytest.mark.parametrize("kind", [Exception, BaseException])
def test_on_refuses_what_would_hide_everything(kind: Any) -> None:
    with pytest.raises(DefinitionError) as refused:
        Recover(on=[Torn, kind])
    assert str(refused.value) == (
        f"Recover(on=...): {kind.__name__} would hide programming errors and the host's own "
        "control flow; name the exceptions that the step is known to raise"
    )


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "negative": ({"retry": -1}, "Recover(retry=-1): a whole number of at least 0"),
    "half": ({"retry": 0.5}, "Recover(retry=0.5): a whole number of at least 0"),
    "true": ({"retry": True}, "Recover(retry=True): a whole number of at least 0"),
    "then": ({"then": "ignore"}, "Recover(then='ignore'): 'halt' or 'waive'"),
    "modify": ({"modify": 3}, "Recover(modify=3): a function or None"),
    "one fallback": ({"fallback": "f"}, "Recover(fallback='f'): a list of functions"),
    "no function": ({"fallback": [3]}, "Recover(fallback=...): 3 is no function"),
    "one type": (
        {"on": ValueError},
        "Recover(on=<class 'ValueError'>): a list of exception types",
    ),
    "no type": ({"on": ["ValueError"]}, "Recover(on=...): 'ValueError' is no exception type"),
    "exit": (
        {"on": [KeyboardInterrupt]},
        "Recover(on=...): <class 'KeyboardInterrupt'> is no exception type",
    ),
}


@pytest.mark.requirement("recover:definition:refused")
@pytest.mark.parametrize(("arguments", "told"), WRONG.values(), ids=WRONG)
def test_a_recovery_that_cannot_work_is_refused(arguments: dict[str, Any], told: str) -> None:
    with pytest.raises(DefinitionError) as refused:
        Recover(**arguments)
    assert str(refused.value) == told


@pytest.mark.requirement("recover:then:waive", "checked:status:four")
def test_waiving_gives_the_last_value_and_marks_it() -> None:
    script = Script(-1, -2)
    step = contract(POSITIVE, recover=Recover(retry=1, then="waive"))(script)
    assert step() == -2
    outcome = checked(contract(POSITIVE, recover=Recover(then="waive"))(Script(-3)))()
    assert (outcome.status, outcome.value) == ("waived", -3)
    assert not outcome.report.ok


@pytest.mark.requirement("recover:on:no-value", "recover:then:waive")
def test_with_an_exception_there_is_no_value_to_waive() -> None:
    error = Torn()
    step = contract(POSITIVE, recover=Recover(on=[Torn], then="waive"))(Script(error))
    with pytest.raises(ContractViolation) as halted:
        step()
    assert halted.value.__cause__ is error


@pytest.mark.requirement("check:inputs:requires")
@pytest.mark.parametrize("then", ["halt", "waive"])
def test_a_violated_precondition_halts_at_once(then: Any) -> None:
    script, fallback = Script(1), Script(2)
    wanting = Contract("wanting", requires=[clauses.in_range("number", low=1)])
    recover = Recover(retry=3, fallback=[fallback], then=then)
    with pytest.raises(ContractViolation) as halted:
        contract(wanting, recover=recover, name="step")(script)(0)
    assert (script.count, fallback.count) == (0, 0)
    assert halted.value.report.attempts == 0
    assert str(halted.value) == (
        "step: contract 'wanting' violated\n"
        "  - in_range number at number: expected at least 1; got 0"
    )
    assert contract(wanting)(script)(1) == 1


@pytest.mark.requirement("check:clauses:all", "recover:retry:bounded")
@pytest.mark.parametrize("typed", [False, True])
def test_each_predicate_is_called_once_an_attempt(typed: bool) -> None:
    asked: list[tuple[str, int]] = []

    def noted(name: str, answer: Callable[[int], object]) -> Any:
        def test(value: int) -> object:
            asked.append((name, value))
            return answer(value)

        return clauses.that(name, test)

    ensures = [
        noted("a", lambda value: True),
        noted("b", lambda value: value > 1),
        noted("c", lambda value: value > 2),
    ]
    typing = {"output": int} if typed else {}
    held = Contract("c", ensures=ensures, **typing)  # type: ignore[arg-type]
    assert contract(held, recover=Recover(retry=3))(Script(1, 2, 3))() == 3
    assert asked == [(name, value) for value in (1, 2, 3) for name in "abc"]


@pytest.mark.requirement("budget:meter:calls", "recover:retry:bounded")
def test_attempts_after_the_first_are_calls_of_the_budget() -> None:
    script = Script(-1)
    step = contract(POSITIVE, recover=Recover(retry=5), name="step")(script)
    with run(budget=Budget(calls=2)) as opened:
        with pytest.raises(BudgetExceeded) as spent:
            step()
        assert opened.meter.spent.calls == 2
    assert script.count == 3
    assert str(spent.value) == (
        "the budget of 2 calls is spent (by step: step 2): step 'step' asked for more"
    )


@pytest.mark.requirement("budget:outside:per-call")
def test_a_recovery_has_its_own_budget_outside_of_a_run() -> None:
    script = Script(-1)
    recover = Recover(retry=5, budget=Budget(calls=1))
    step = contract(POSITIVE, recover=recover, name="step")(script)
    for _ in range(2):
        script.calls.clear()
        with pytest.raises(BudgetExceeded):
            step()
        assert script.count == 2
    late = contract(POSITIVE, recover=Recover(budget=Budget(seconds=0)), name="step")(Script(1))
    with pytest.raises(BudgetExceeded) as spent:
        late()
    assert spent.value.limit == "seconds"
    with run():
        assert late() == 1


@pytest.mark.requirement("budget:exceeded:error")
@pytest.mark.parametrize("on", [[], [RuntimeError]], ids=["default", "RuntimeError"])
def test_a_spent_budget_is_no_violation_and_starts_no_recovery(on: Any) -> None:
    error = BudgetExceeded("spent", limit="calls", spent={})
    script = Script(error)
    recover = Recover(retry=3, fallback=[Script(1)], on=on, then="waive")
    for call in (contract(POSITIVE, recover=recover), lambda fn: checked(contract(POSITIVE)(fn))):
        script.calls.clear()
        with pytest.raises(BudgetExceeded) as raised:
            call(script)()
        assert (raised.value, script.count) == (error, 1)


GIVEN = st.one_of(st.integers(-3, 3), st.just("text"), st.sampled_from([Torn("t"), Lost("l")]))
RECOVERIES = st.builds(
    dict,
    retry=st.integers(0, 3),
    fallbacks=st.lists(GIVEN, max_size=3),
    on=st.sampled_from([[], [Torn], [Torn, Lost]]),
    then=st.sampled_from(["halt", "waive"]),
    modify=st.booleans(),
)
ANSWERS: dict[str, Callable[..., Any]] = {
    "positive": lambda value: value > 0,
    "not a bool": lambda value: value,
    "even": lambda value: value % 2 == 0,
    "with inputs": lambda value, inputs: value != inputs["number"],
}
CONTRACTS = st.builds(
    dict,
    ensures=st.lists(st.sampled_from(sorted(ANSWERS)), unique=True),
    waived=st.booleans(),
    typed=st.booleans(),
    requires=st.booleans(),
)


def built(of: dict[str, Any]) -> Contract[Any]:
    waived = "waive" if of["waived"] else "fail"
    return Contract(
        "c",
        **({"output": int} if of["typed"] else {}),
        requires=[clauses.in_range("number", low=0)] if of["requires"] else [],
        ensures=[
            clauses.that(name, ANSWERS[name], on_undetermined=waived) for name in of["ensures"]
        ],
    )


def came_out(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except ContractViolation as error:
        return error.report, type(error.__cause__)
    except (Torn, Lost) as error:
        return type(error)


def essence(event: Event) -> Any:
    data = {name: value for name, value in event.data.items() if name != "microseconds"}
    if event.kind == "run.end":
        data = {}
    told = (event.kind, event.id, event.parent, event.name, event.contract, event.status, data)
    return tuple(part for part in told if part != event.run)


def live(
    held: Contract[Any], given: list[Any], how: dict[str, Any], number: int, later: bool
) -> tuple[Any, list[Any], list[int]]:
    script = Script(*given)
    fallbacks = [Script(one) for one in how["fallbacks"]]
    recover = Recover(
        retry=how["retry"],
        fallback=[one.later if later else one for one in fallbacks],
        on=how["on"],
        then=how["then"],
        modify=(lambda inputs, violation: {"plus": inputs["plus"] + 1}) if how["modify"] else None,
    )
    step = contract(held, recover=recover, name="step")(script.later if later else script)
    with run() as opened:
        call = (lambda: asyncio.run(step(number))) if later else (lambda: step(number))
        outcome = came_out(call)
    calls = [script.count, *(one.count for one in fallbacks)]
    return outcome, [essence(event) for event in opened.events], calls


LAW = st.tuples(CONTRACTS, st.lists(GIVEN, min_size=1, max_size=4), RECOVERIES, st.integers(-1, 1))


@pytest.mark.requirement("recover:retry:bounded", "recover:fallback:order")
@given(LAW)
def test_law_no_more_calls_than_declared(drawn: Any) -> None:
    of, given, how, number = drawn
    _, _, calls = live(built(of), given, how, number, later=False)
    assert calls[0] <= 1 + how["retry"]
    assert all(count <= 1 for count in calls[1:])
    assert calls[1:] == sorted(calls[1:], reverse=True)


@pytest.mark.requirement("trace:events:same", "check:inputs:requires", "trace:events:pairs")
@given(LAW)
def test_law_sync_and_async_give_equal_reports_and_equal_records(drawn: Any) -> None:
    of, given, how, number = drawn
    held = built(of)
    outcome, events, calls = live(held, given, how, number, later=False)
    aoutcome, aevents, acalls = live(held, given, how, number, later=True)
    assert (outcome, calls) == (aoutcome, acalls)
    assert [str(event).replace(".later", "") for event in aevents] == [str(e) for e in events]
    kinds = [event[0] for event in events]
    assert (kinds.count("step.start"), kinds.count("step.end")) == (1, 1)


@pytest.mark.requirement("checked:status:four", "checked:value:violated")
@given(LAW)
def test_law_checked_says_what_a_call_does(drawn: Any) -> None:
    of, given, how, number = drawn
    held, how = built(of), {**how, "modify": False}
    outcome, _, _ = live(held, given, how, number, later=False)
    recover = Recover(
        retry=how["retry"],
        fallback=[Script(one) for one in how["fallbacks"]],
        on=how["on"],
        then=how["then"],
    )
    step = checked(contract(held, recover=recover, name="step")(Script(*given)))
    result = came_out(lambda: step(number))
    if isinstance(result, type):
        assert result is outcome
        return
    assert result.report.attempts == result.attempts
    if result.status == "violated":
        assert isinstance(outcome[0], ContractReport)
        assert (result.value, result.report) == (None, outcome[0])
    else:
        assert result.value == outcome
        assert result.report.ok or result.status == "waived"
