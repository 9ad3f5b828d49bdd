"""`checked`: what a step gives, together with what its contract says of it."""

import inspect
from typing import Any

import pytest

from hornbook import (
    Checked,
    Contract,
    ContractReport,
    ContractViolation,
    Recover,
    checked,
    clauses,
    contract,
    run,
)
from hornbook.errors import DefinitionError

POSITIVE = Contract("positive", ensures=[clauses.that("positive", lambda value: value > 0)])
UNSURE = Contract(
    "unsure", ensures=[clauses.that("crashes", lambda value: 1 / 0, on_undetermined="waive")]
)


def negated(number: int) -> int:
    return -number


def of(held: Contract[Any], **recover: Any) -> Any:
    @contract(held, recover=Recover(**recover), name="step")
    def step(number: int) -> int:
        return number

    return checked(step)


STATUSES: dict[str, tuple[Any, int, str, Any]] = {
    "satisfied": (of(POSITIVE), 3, "satisfied", 3),
    "recovered": (of(POSITIVE, fallback=[negated]), -3, "recovered", 3),
    "waived": (of(POSITIVE, then="waive"), -3, "waived", -3),
    "clause waived": (of(UNSURE), 3, "waived", 3),
    "violated": (of(POSITIVE), -3, "violated", None),
}


@pytest.mark.requirement("checked:status:four", "checked:value:violated")
@pytest.mark.parametrize(("step", "given", "status", "value"), STATUSES.values(), ids=STATUSES)
def test_the_status_tells_how_the_value_came_about(
    step: Any, given: int, status: str, value: Any
) -> None:
    outcome = step(given)
    assert isinstance(outcome, Checked)
    assert isinstance(outcome.report, ContractReport)
    assert (outcome.status, outcome.value) == (status, value)
    assert outcome.attempts == outcome.report.attempts == (2 if status == "recovered" else 1)


@pytest.mark.requirement("checked:value:violated")
def test_the_rejected_value_is_in_the_report() -> None:
    outcome = of(POSITIVE)(-3)
    assert outcome.value is None
    assert [violation.observed for violation in outcome.report.violations] == ["-3"]


@pytest.mark.requirement("checked:status:four", "check:inputs:requires")
def test_a_violated_precondition_is_violated_after_no_attempt() -> None:
    outcome = of(Contract("c", requires=[clauses.in_range("number", low=1)]))(0)
    assert (outcome.status, outcome.value, outcome.attempts) == ("violated", None, 0)


@pytest.mark.requirement("checked:async:awaitable")
async def test_checked_of_an_async_step_is_awaitable() -> None:
    @contract(POSITIVE, recover=Recover(fallback=[negated]))
    async def step(number: int) -> int:
        return number

    twin = checked(step)
    assert inspect.iscoroutinefunction(twin)
    assert (await twin(3)).status == "satisfied"
    assert (await twin(-3)).value == 3


@pytest.mark.requirement("checked:status:four")
def test_a_step_that_is_checked_is_the_same_step() -> None:
    @contract(POSITIVE, name="step")
    def step(number: int) -> int:
        """Say it."""
        return number

    twin = checked(step)
    assert (twin.__name__, twin.__doc__) == ("step", "Say it.")
    with run() as opened:
        twin(3)
        with pytest.raises(ContractViolation):
            step(-3)
        twin(-3)
    ends = [event for event in opened.events if event.kind == "step.end"]
    assert [(event.name, event.status) for event in ends] == [
        ("step", "satisfied"),
        ("step", "violated"),
        ("step", "violated"),
    ]


@pytest.mark.requirement("checked:status:four")
def test_a_fast_step_and_its_checked_twin_report_the_same() -> None:
    @contract(POSITIVE)
    def step(number: int) -> int:
        return number

    with pytest.raises(ContractViolation) as halted:
        step(-3)
    assert checked(step)(-3).report == halted.value.report


@pytest.mark.requirement("recover:on:propagates")
def test_an_exception_passes_through_checked() -> None:
    @contract(POSITIVE)
    def step() -> int:
        raise KeyError("k")

    with pytest.raises(KeyError):
        checked(step)()


@pytest.mark.requirement("checked:status:four")
@pytest.mark.parametrize(("given", "name"), [(negated, "negated"), (3, "3"), (None, "None")])
def test_what_has_no_contract_cannot_be_checked(given: Any, name: str) -> None:
    with pytest.raises(DefinitionError) as refused:
        checked(given)
    assert str(refused.value) == f"{name} has no contract: decorate it with @contract(...)"


@pytest.mark.requirement("checked:status:four")
def test_what_checked_gives_is_a_value() -> None:
    outcome = of(POSITIVE)(3)
    with pytest.raises(AttributeError):
        outcome.value = 4
    assert outcome == of(POSITIVE)(3)
