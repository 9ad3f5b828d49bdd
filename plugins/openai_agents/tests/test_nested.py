"""Runs inside of tools: agents that are tools, and agents that a tool's own code runs."""

from typing import Any

import pytest
from agents import Agent, Model, ModelProvider, RunConfig, Runner, function_tool
from pydantic import BaseModel

from hornbook import Contract, ContractViolation, Recover, clauses
from hornbook.rules import LearnedRule, RuleLibrary, SymbolicForm
from hornbook.testing.script import Script, call
from hornbook_openai_agents import guard, run, run_config
from hornbook_openai_agents.testing import ScriptedModel, scripted

paid: list[str] = []


@pytest.fixture(autouse=True)
def nothing_paid():
    paid.clear()


@function_tool
def pay(order_id: str) -> str:
    """Pay."""
    paid.append(order_id)
    return "paid"


def agent(name: str, *replies: Any, **options: Any) -> Agent[Any]:
    return Agent(name=name, model=scripted(Script.of(*replies)), **options)


class Provider(ModelProvider):
    def __init__(self, model: Model) -> None:
        self.model = model

    def get_model(self, model_name: str | None) -> Model:
        return self.model


NEVER = Contract("never", requires=[clauses.that("never", lambda value: False)])


@pytest.mark.requirement("openai:guard:as-tool-config")
@pytest.mark.parametrize("kind", ["object", "name", "override"])
async def test_a_run_reaches_an_agents_tool_with_a_config_of_its_own(kind: str):
    form = SymbolicForm(domain="D", error="dec", action=("BE_BRIEF",))
    rule = LearnedRule(
        id="one", text="If X, then answer in one word.", status="approved", symbolic=form
    )
    replies = [call("pay", order_id="A17"), call("pay", order_id="B99"), "No."]
    model: ScriptedModel = scripted(Script.of(*replies))
    config = RunConfig(
        tracing_disabled=True,
        model=model if kind == "override" else None,
        model_provider=Provider(model),
    )
    inner = Agent(name="inner", tools=[pay], model=model if kind == "object" else "some-model")
    ask = inner.as_tool("ask", "Ask.", run_config=config)
    outer = agent("outer", call("ask", input="pay A17"), "Done.", tools=[ask])
    result = await run(outer, "Pay A17.", contracts={"pay": NEVER}, rules=RuleLibrary([rule]))
    assert result.final_output == "Done."
    assert paid == []
    assert "answer in one word" in model.conversation.asked[0].text
    assert config.model_provider.__class__ is Provider
    # The same agents without Hornbook around are what they were.
    again = agent("outer", call("ask", input="pay A17"), "Done.", tools=[ask])
    model.conversation = Script.of(call("pay", order_id="A17"), "Paid.").open()
    await Runner.run(again, "Pay A17.")
    assert paid == ["A17"]


@pytest.mark.requirement("openai:guard:in-a-tool")
@pytest.mark.parametrize("kind", ["runner", "config", "run"])
async def test_what_a_tool_asks_an_agent_does_not_become_the_users_words(kind: str):
    inner = agent("inner", call("pay", order_id="B99"), "nothing found", tools=[pay])

    @function_tool
    async def research(topic: str) -> str:
        """Research a topic."""
        match kind:
            case "run":
                result = await run(inner, topic)
            case "config":
                result = await Runner.run(guard(inner), topic, run_config=run_config())
            case _:
                result = await Runner.run(guard(inner), topic)
        return str(result.final_output)

    replies = [call("research", topic="order B99"), call("pay", order_id="B99"), "No."]
    await run(agent("outer", *replies, tools=[pay, research]), "Please pay my order.")
    assert paid == []


@pytest.mark.requirement("openai:guard:in-a-tool")
async def test_what_the_user_said_and_what_stands_in_its_context_is_a_source_there():
    inner = agent(
        "inner", [call("pay", order_id="A17"), call("pay", order_id="C33")], "ok", tools=[pay]
    )

    @function_tool
    async def settle() -> str:
        """Settle."""
        result = await run(inner, "Pay A17 and C33.", context={"found": ["C33"]})
        return str(result.final_output)

    await run(agent("outer", call("settle"), "Done.", tools=[settle]), "Pay A17.")
    assert sorted(paid) == ["A17", "C33"]


class City(BaseModel):
    name: str


PARIS = Contract("city", output=City, ensures=[clauses.one_of("name", ["Paris"])])


@pytest.mark.requirement("openai:model:nested")
@pytest.mark.parametrize("halt", ["soft", "hard"])
async def test_an_agent_that_is_a_tool_is_not_held_to_the_contract_on_final_answers(halt: Any):
    helper = agent("helper", "The capital is Paris.")
    replies = [call("ask", input="capital?"), '{"name": "Paris"}']
    outer = agent("outer", *replies, tools=[helper.as_tool("ask", "Ask.")], output_type=City)
    result = await run(outer, "What is the capital?", contracts={"model": PARIS}, halt=halt)
    assert result.final_output == City(name="Paris")


@pytest.mark.requirement("openai:model:nested")
async def test_an_agent_that_is_handed_over_to_is_held_to_it():
    other = agent("other", '{"name": "Lyon"}', '{"name": "Paris"}', output_type=City)
    first = agent("first", call("transfer_to_other"), handoffs=[other])
    held = {"model": (PARIS, Recover(retry=1))}
    assert (await run(first, "?", contracts=held)).final_output == City(name="Paris")


@pytest.mark.requirement("openai:model:nested")
async def test_a_tools_agent_is_held_to_the_contract_in_its_own_config():
    short = Contract("short", ensures=[clauses.that("short", lambda text: len(text) < 6)])
    own = run_config(contracts={"model": (short, Recover(retry=1))})
    helper = guard(agent("helper", "The capital is Paris.", "Paris"))
    ask = helper.as_tool("ask", "Ask.", run_config=own)
    outer = agent("outer", call("ask", input="?"), "It is Paris.", tools=[ask])
    result = await run(outer, "What is the capital?")
    [output] = [item.output for item in result.new_items if item.type == "tool_call_output_item"]
    assert (output, result.final_output) == ("Paris", "It is Paris.")


@pytest.mark.requirement("openai:guard:as-tool-config", "openai:halt:soft")
@pytest.mark.parametrize("wrapped", [True, False])
async def test_a_halt_in_a_run_inside_of_a_tool_ends_that_run_or_raises(wrapped: bool):
    never = Contract("never", ensures=[clauses.that("never", lambda value: False)])
    model = scripted(Script.of(call("pay", order_id="A17"), "Paid."))
    inner = guard(Agent(name="inner", tools=[pay], model=model if wrapped else "some-model"))
    config = RunConfig(model_provider=Provider(model))
    told: list[str] = []

    @function_tool(failure_error_function=None)
    async def settle() -> str:
        """Settle."""
        told.append(str((await Runner.run(inner, "A17", run_config=config)).final_output))
        return "settled"

    outer = agent("outer", call("settle"), "Done.", tools=[settle, pay])
    if wrapped:
        await run(outer, "Pay A17.", contracts={"pay": never})
        assert told == ["I stopped here, because a check failed: pay (never: expected never)"]
        return
    with (
        pytest.warns(UserWarning, match="its model is not wrapped"),
        pytest.raises(ContractViolation),
    ):
        await run(outer, "Pay A17.", contracts={"pay": never})
    assert told == []
