"""Modules in modules and agents in tools: whose words are whose, and whose halt is whose."""

import asyncio
import time
from typing import Any

import dspy
import pytest

from hornbook import Contract, ContractViolation, Recover, clauses
from hornbook.testing import Script, call
from hornbook_dspy import Contracted, context, guard
from hornbook_dspy.testing import scripted


class Payments:
    """A tool that pays, and remembers what."""

    def __init__(self) -> None:
        self.paid: list[str] = []

    def pay(self, order_id: str) -> str:
        """Pay an order."""
        self.paid.append(order_id)
        return "paid"


def delegating(payments: Payments) -> Any:
    """An agent under guard whose tool asks another agent under guard."""
    inner = guard(dspy.ReAct("task -> result", tools=[payments.pay]))

    def delegate(task: str) -> str:
        """Delegate a task to the payments agent."""
        return inner(task=task).result

    async def adelegate(task: str) -> str:
        """Delegate a task to the payments agent."""
        return (await inner.acall(task=task)).result

    return lambda sync: guard(
        dspy.ReAct("question -> answer", tools=[delegate if sync else dspy.Tool(adelegate)])
    )


@pytest.mark.requirement("dspy:guard:nested")
@pytest.mark.parametrize("sync", [True, False])
async def test_what_the_model_passes_to_an_agent_in_a_tool_is_no_word_of_the_user(sync: bool):
    payments = Payments()
    name = "delegate" if sync else "adelegate"
    script = Script.of(
        call(name, task="Pay order B99"), call("pay", order_id="B99"), "not paid", "It is not paid."
    )
    agent = delegating(payments)(sync)
    with dspy.context(lm=scripted(script)):
        question = "Please pay my order."
        _ = agent(question=question) if sync else await agent.acall(question=question)
    assert payments.paid == []


@pytest.mark.requirement("dspy:guard:nested")
def test_what_the_user_said_is_known_to_an_agent_in_a_tool():
    payments = Payments()
    script = Script.of(
        call("delegate", task="Pay it"), call("pay", order_id="A17"), "paid", "It is paid."
    )
    with dspy.context(lm=scripted(script)):
        delegating(payments)(True)(question="Please pay order A17.")
    assert payments.paid == ["A17"]


@pytest.mark.requirement("dspy:guard:nested")
def test_a_turn_that_a_module_passes_on_was_said_once(go: Any, plays: Any):
    plays(call("pay", order_id="Z99"), "Which order?")
    agent = Contracted(guard(dspy.ReAct("question -> answer", tools=[Payments().pay])), ANY)
    observation = go(agent, question="Pay.").trajectory["observation_0"]
    assert "it stands in none of: turn 1;" in observation


ANY = Contract("any")


class Desk(dspy.Module):
    """A module of a user's own, whose predictor takes other fields than the module does."""

    def __init__(self, payments: Payments) -> None:
        super().__init__()
        self.predict = dspy.Predict("context, question -> order_id")
        self.tools = [dspy.Tool(payments.pay)]

    def forward(self, query: str) -> Any:
        found = self.predict(context="the shop", question=query).order_id
        return dspy.Prediction(order_id=found, answer=self.tools[0](order_id=found))


@pytest.mark.requirement("dspy:module:inputs")
def test_the_inputs_of_a_users_module_are_those_of_its_forward(plays: Any):
    plays("A17", "A17", "A17")
    payments = Payments()
    assert guard(Desk(payments))(query="Pay order A17").answer == "paid"
    assert guard(Desk(payments))("Pay order A17").answer == "paid"
    grounded = Contract("stands there", ensures=[clauses.grounded("order_id", source="query")])
    assert Contracted(Desk(payments), grounded)(query="Pay order A17").order_id == "A17"


@pytest.mark.requirement("dspy:guard:errors")
@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_tool_that_raises_shows_the_model_its_own_line(plays: Any, asynchronous: bool):
    def cancel(order_id: str) -> str:
        """Cancel an order."""
        return str(int("four"))

    async def acancel(order_id: str) -> str:
        """Cancel an order."""
        return str(int("four"))

    plays(call("acancel" if asynchronous else "cancel", order_id="A17"), "It is not cancelled.")
    agent = guard(dspy.ReAct("question -> answer", tools=[acancel if asynchronous else cancel]))
    question = "Cancel A17"
    if asynchronous:
        given = asyncio.run(agent.acall(question=question))
    else:
        given = agent(question=question)
    assert 'int("four")' in given.trajectory["observation_0"]
    assert "hosted.py" not in given.trajectory["observation_0"]


@pytest.mark.requirement("dspy:halt:declared")
def test_a_halt_that_one_branch_recovers_is_nothing_to_its_sibling():
    def quote(order_id: str) -> str:
        """Quote an order."""
        return "bad" if order_id == "A1" else "good"

    class Branch(dspy.Module):
        def __init__(self) -> None:
            super().__init__()
            self.tools = [dspy.Tool(quote)]

        def forward(self, order_id: str) -> Any:
            try:
                if order_id == "A2":
                    time.sleep(0.05)
                return dspy.Prediction(answer=self.tools[0](order_id=order_id))
            finally:
                # What the failing branch has to close, while its sibling goes on.
                if order_id == "A1":
                    time.sleep(0.2)

    good = Contract("good", ensures=[clauses.one_of(".", ["good"])])
    recover = Recover(fallback=[lambda order_id: {"answer": order_id}], on=[ContractViolation])
    branch = Contracted(guard(Branch(), contracts={"quote": good}), ANY, recover=recover)

    class Both(dspy.Module):
        def forward(self, question: str) -> Any:
            items = [(branch, {"order_id": one}) for one in ("A1", "A2")]
            parallel = dspy.Parallel(num_threads=2, disable_progress_bar=True)
            return dspy.Prediction(answer=[one.answer for one in parallel(items)])

    with context():
        assert Contracted(Both(), ANY)(question="both").answer == ["A1", "good"]
