"""The step around a model call, beyond what the conformance kit plays."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from hornbook import Budget, Contract, ContractViolation, Recover, clauses, plugins, run
from hornbook.errors import BudgetExceeded, DefinitionError
from hornbook.hooks import hookimpl
from hornbook.hosting import ModelHost, ModelSteps, Usage
from hornbook.step import Decision, Step
from hornbook.testing.conformance import Did, normalised


@dataclass(frozen=True)
class Answer:
    text: str
    tokens: int = 5


class Toy(ModelHost[str, Answer]):
    """A request is a text, and so is what the model answers."""

    name = "toy"
    over: Answer | None = None

    def inputs(self, request: str) -> Mapping[str, Any]:
        return {"request": request, "results": []}

    def tools(self, request: str) -> list[str]:
        return []

    def with_rules(self, request: str, text: str) -> str:
        return f"{text}\n{request}"

    def with_feedback(self, request: str, told: str, rejected: Answer | None) -> str:
        return f"{request} | {rejected and rejected.text} | {told}"

    def changed(self, request: str, inputs: Mapping[str, Any]) -> str:
        return str(inputs["request"])

    def is_final(self, response: Answer) -> bool:
        return not response.text.startswith("call ")

    def value(self, response: Answer) -> str:
        return response.text

    def usage(self, response: Answer) -> Usage:
        return Usage(output_tokens=response.tokens)

    def answer(self, value: Any, request: str) -> Answer:
        return value if isinstance(value, Answer) else Answer(str(value), 0)

    def halted(self, request: str) -> Answer | None:
        return self.over


SHORT = Contract("short", ensures=[clauses.that("short", lambda text: len(text) < 6)])


def echo(request: str) -> Answer:
    return Answer(request)


async def aecho(request: str) -> Answer:
    return echo(request)


class Deciding:
    def __init__(self, decision: Decision) -> None:
        self._decision = decision

    @hookimpl
    def hornbook_before_step(self, step: Step) -> Decision:
        return self._decision


@pytest.mark.requirement("hosting:models:outcomes")
async def test_a_call_gives_the_response_in_either_colour() -> None:
    steps = ModelSteps(Toy())
    assert steps.call("hello", echo) == Answer("hello")
    assert await steps.acall("hello", aecho) == Answer("hello")


@pytest.mark.requirement("hosting:models:feedback")
async def test_each_attempt_is_told_the_newest_violation_and_the_rejected_answer() -> None:
    asked: list[str] = []

    def improving(request: str) -> Answer:
        asked.append(request)
        return Answer(("too long", "longer still", "short")[len(asked) - 1])

    steps = ModelSteps(Toy(), final=(SHORT, Recover(retry=2)))
    assert steps.call("go", improving) == Answer("short")
    told = "The previous answer was rejected. short: expected short; got '{}'"
    assert asked == [
        "go",
        f"go | too long | {told.format('too long')}",
        f"go | longer still | {told.format('longer still')}",
    ]


@pytest.mark.requirement("hosting:models:final")
def test_only_final_answers_are_judged() -> None:
    steps = ModelSteps(Toy(), final=(SHORT, Recover()))
    assert steps.call("call find_order", echo) == Answer("call find_order")
    with pytest.raises(ContractViolation):
        steps.call("find_order", echo)


@pytest.mark.requirement("hosting:models:final")
def test_a_fallback_takes_the_request() -> None:
    def reverse(request: str) -> str:
        return request[:4:-1]

    steps = ModelSteps(Toy(), final=(SHORT, Recover(fallback=[reverse])))
    assert steps.call("too long", echo) == Answer("gno", 0)


@pytest.mark.requirement("hosting:models:final")
def test_a_fallback_that_cannot_take_the_request_is_refused() -> None:
    async def later(request: str) -> str:
        return request

    with pytest.raises(DefinitionError) as caught:
        ModelSteps(Toy(), final=(SHORT, Recover(fallback=[lambda *, request: "go"])))
    assert str(caught.value) == (
        "fallback '<lambda>' of 'model' cannot be called with the request that the model was "
        "asked with, its one argument: too many positional arguments"
    )
    with pytest.raises(DefinitionError, match="'later' of 'model' is async: give a plain function"):
        ModelSteps(Toy(), final=(SHORT, Recover(fallback=[later])))


@pytest.mark.requirement("hosting:models:final")
def test_a_contract_that_names_an_unknown_input_is_refused() -> None:
    wrong = Contract("wrong", ensures=[clauses.grounded(".", source="query")])
    with pytest.raises(DefinitionError, match="query"):
        ModelSteps(Toy(), final=(wrong, Recover()))


@pytest.mark.requirement("hosting:models:outcomes")
async def test_a_halted_turn_is_closed_without_a_step() -> None:
    host = Toy()
    steps = ModelSteps(host)
    host.over = Answer("stopped")
    with run(trace=None) as recorded:
        assert steps.call("go", echo) == Answer("stopped")
        assert await steps.acall("go", aecho) == Answer("stopped")
    assert normalised(recorded.events) == ()


@pytest.mark.requirement("hosting:models:outcomes")
def test_a_plugin_may_block_with_an_answer_or_without() -> None:
    steps = ModelSteps(Toy())
    with plugins.registered(Deciding(Decision(action="block", value="not now"))):
        assert steps.call("go", echo) == Answer("not now", 0)
    with (
        plugins.registered(Deciding(Decision(action="block", reason="closed"))),
        pytest.raises(ContractViolation, match="closed"),
    ):
        steps.call("go", echo)


@pytest.mark.requirement("hosting:models:outcomes")
def test_a_plugin_may_change_the_request() -> None:
    steps = ModelSteps(Toy())
    with plugins.registered(Deciding(Decision(action="proceed", value={"request": "stay"}))):
        assert steps.call("go", echo) == Answer("stay")


@pytest.mark.requirement("hosting:models:usage")
def test_calls_and_tokens_are_counted_against_the_run() -> None:
    steps = ModelSteps(Toy(), final=(SHORT, Recover(retry=1)))
    with run(trace=None, budget=Budget(calls=2)) as counted:
        with pytest.raises(ContractViolation):
            steps.call("too long", echo)
        with pytest.raises(BudgetExceeded):
            steps.call("go", echo)
    assert (counted.meter.spent.calls, counted.meter.spent.tokens) == (2, 10)
    assert normalised(counted.events)[1] == Did(kind="model", name="model", status="error")
