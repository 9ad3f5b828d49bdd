"""What stands around a call of the model: rules, contract, budget, record; and its names."""

import copy
from collections.abc import Callable
from typing import Any

import pytest
from agents import (
    Agent,
    Model,
    ModelProvider,
    ModelSettings,
    RunConfig,
    Runner,
    function_tool,
)
from agents.retry import ModelRetryAdviceRequest, ModelRetrySettings
from pydantic import BaseModel

from hornbook import Budget, BudgetExceeded, Contract, ContractViolation, Recover, clauses
from hornbook import run as hornbook_run
from hornbook.errors import DefinitionError
from hornbook.rules import LearnedRule, RuleLibrary, Scope, SymbolicForm
from hornbook.step import Decision
from hornbook.testing.script import Reply, Script, call
from hornbook_openai_agents import HornbookModel, guard, run, run_config
from hornbook_openai_agents.testing import ScriptedModel, scripted

Steps = Callable[[], list[tuple[str, str]]]

POLITE = Contract("polite", ensures=[clauses.that("it is polite", lambda text: "please" in text)])


class Provider(ModelProvider):
    """Gives scripted models by name, and keeps the names."""

    def __init__(self, **scripts: Script) -> None:
        self.models = {name: scripted(script) for name, script in scripts.items()}
        self.asked: list[str | None] = []
        self.closed = False

    def get_model(self, model_name: str | None) -> Model:
        self.asked.append(model_name)
        return self.models[model_name or "default"]

    async def aclose(self) -> None:
        self.closed = True


def asked(model: Any) -> list[str]:
    return [one.text for one in model.conversation.asked]


@pytest.fixture
def library() -> RuleLibrary:
    form = SymbolicForm(
        domain="REFUND",
        qualifier=("MONEY_LEAVES",),
        action=("VERIFY_IDENTITY",),
        strength="MANDATORY",
        error="sel",
        scope=Scope(tools=("refund",)),
    )
    text = "If the request asks for a refund, then verify who asks first."
    rule = LearnedRule(id="verify-first", text=text, symbolic=form, status="approved")
    return RuleLibrary([rule], namespace="support")


@pytest.mark.requirement("openai:rules:injected")
def test_rules_stand_after_the_instructions_at_each_call_and_are_recorded(
    go: Any, recorded: Any, library: RuleLibrary
):
    @function_tool
    def refund(order: str) -> str:
        """Refund an order."""
        return "refunded"

    model = scripted(Script.of(call("refund", order="one"), "Done."))
    desk = Agent(name="desk", instructions="Be brief.", tools=[refund], model=model)
    go(desk, "A refund of one, please.", rules=library)
    for text in asked(model):
        assert text.startswith("Be brief.\n\nRules learned from earlier runs.")
        assert "- Must: If the request asks for a refund" in text
    assert [event.name for event in recorded.events if event.kind == "rule"] == [
        "verify-first",
        "verify-first",
    ]


@pytest.mark.requirement("openai:rules:injected")
def test_rules_are_injected_where_an_agent_has_no_instructions(go: Any, library: RuleLibrary):
    @function_tool
    def refund(order: str) -> str:
        """Refund an order."""
        return "refunded"

    model = scripted(Script.of("Done."))
    go(Agent(name="desk", tools=[refund], model=model), "A refund, please.", rules=library)
    assert asked(model)[0].startswith("Rules learned from earlier runs.")


@pytest.mark.requirement("openai:model:contract", "openai:model:usage")
def test_a_final_answer_is_asked_for_again_with_feedback_and_all_of_it_is_counted(
    go: Any, ends: Any, recorded: Any
):
    model = scripted(Script.of("Go away.", "Wait, please."))
    desk = Agent(name="desk", model=model)
    result = go(desk, "Hello?", contracts={"model": (POLITE, Recover(retry=1))})
    assert result.final_output == "Wait, please."
    first, second = asked(model)
    assert "Go away." not in first
    assert "Go away." in second
    assert "The previous answer was rejected. it is polite" in second
    usage = result.context_wrapper.usage
    assert (usage.requests, usage.input_tokens, usage.output_tokens) == (2, 20, 10)
    assert (recorded.meter.spent.calls, recorded.meter.spent.tokens) == (2, 30)
    [end] = ends("model")
    assert (end.status, end.data["attempts"]) == ("recovered", 2)
    assert end.data["output"] == {
        "content": "Wait, please.",
        "model": "scripted-1",
        "usage": {"input": 10, "output": 5},
    }


@pytest.mark.requirement("openai:model:contract")
async def test_where_the_provider_keeps_the_history_only_the_feedback_is_sent_again():
    model = scripted(Script.of("Go away.", "Wait, please."))
    contracts = {"model": (POLITE, Recover(retry=1))}
    await run(Agent(name="d", model=model), "Hello?", contracts=contracts, conversation_id="conv_1")
    second = asked(model)[1]
    assert "The previous answer was rejected." in second
    assert "Hello?" not in second
    assert "output_text" not in second


@pytest.mark.requirement("openai:model:contract")
def test_answers_that_call_tools_are_no_final_answers(go: Any, steps: Steps):
    @function_tool
    def look(what: str) -> str:
        """Look."""
        return "seen"

    model = scripted(Script.of(Reply(text="Hm.", calls=(call("look", what="it"),)), "Yes, please."))
    result = go(Agent(name="d", tools=[look], model=model), "?", contracts={"model": POLITE})
    assert result.final_output == "Yes, please."
    assert steps() == [("model", "satisfied"), ("look", "satisfied"), ("model", "satisfied")]


@pytest.mark.requirement("openai:model:contract")
def test_a_contract_on_answers_can_name_the_request_and_the_results(go: Any):
    @function_tool
    def look(what: str) -> str:
        """Look."""
        return "seen in Bergen"

    def from_results(text: str, inputs: dict[str, Any]) -> bool:
        return inputs["request"] == "Where is it?" and text in inputs["results"]

    held = Contract("h", ensures=[clauses.that("from the results", from_results)])
    model = scripted(Script.of(call("look", what="it"), "seen in Oslo", "seen in Bergen"))
    desk = Agent(name="d", tools=[look], model=model)
    result = go(desk, "Where is it?", contracts={"model": (held, Recover(retry=1))})
    assert result.final_output == "seen in Bergen"


@pytest.mark.requirement("openai:halt:model")
def test_an_answer_that_is_never_accepted_ends_softly_or_raises(go: Any):
    contracts = {"model": (POLITE, Recover(retry=1))}
    desk = Agent(name="d", model=scripted(Script.of("No.", "No!")))
    result = go(desk, "?", contracts=contracts)
    assert result.final_output == (
        "I stopped here, because a check failed: model (it is polite: expected it is polite)"
    )
    assert result.context_wrapper.usage.requests == 2
    desk = Agent(name="d", model=scripted(Script.of("No.", "No!")))
    with pytest.raises(ContractViolation) as caught:
        go(desk, "?", contracts=contracts, halt="hard")
    assert caught.value.report.attempts == 2


@pytest.mark.requirement("openai:model:fallback")
def test_a_fallback_answers_in_the_models_place(go: Any):
    asked_with: list[Any] = []

    def answer(request: Any) -> str:
        asked_with.append(request.agent)
        return "Wait, please."

    desk = Agent(name="d", model=scripted(Script.of("No.")))
    result = go(desk, "?", contracts={"model": (POLITE, Recover(fallback=[answer]))})
    assert result.final_output == "Wait, please."
    assert asked_with == ["d"]


class Price(BaseModel):
    amount: float


@pytest.mark.requirement("openai:model:structured")
def test_of_an_agent_with_a_type_the_contract_sees_the_structure(go: Any):
    low = Contract("low", output=Price, ensures=[clauses.in_range("amount", high=10)])
    contracts = {"model": (low, Recover(retry=2, fallback=[lambda request: Price(amount=1)]))}
    replies = ('{"amount": 90}', "ninety", '{"amount": 9}')
    desk = Agent(name="d", model=scripted(Script.of(*replies)), output_type=Price)
    assert go(desk, "?", contracts=contracts).final_output == Price(amount=9)
    desk = Agent(name="d", model=scripted(Script.of(*['{"amount": 90}'] * 3)), output_type=Price)
    assert go(desk, "?", contracts=contracts).final_output == Price(amount=1)


@pytest.mark.requirement("openai:model:structured")
def test_where_an_answer_has_to_have_a_form_no_message_can_stand_for_it(go: Any):
    low = Contract("low", output=Price, ensures=[clauses.in_range("amount", high=10)])
    desk = Agent(name="d", model=scripted(Script.of('{"amount": 90}')), output_type=Price)
    with pytest.raises(ContractViolation):
        go(desk, "?", contracts={"model": low}, halt="soft")


@pytest.mark.requirement("openai:provider:names")
async def test_models_by_name_by_default_of_handoffs_and_nested_agents_are_covered(steps: Steps):
    provider = Provider(
        default=Script.of(call("transfer_to_second")),
        named=Script.of(call("ask", input="what?"), "second done"),
        inner=Script.of("inner done"),
    )
    inner = Agent(name="third", model="inner")
    second = Agent(name="second", model="named", tools=[inner.as_tool("ask", "ask")])
    first = Agent(name="first", handoffs=[second])
    config = run_config(RunConfig(model_provider=provider))
    with pytest.warns(UserWarning, match="agent 'second' .* its tools 'ask' are not guarded"):
        result = await Runner.run(first, "Hello", run_config=config)
    assert result.final_output == "second done"
    assert provider.asked == [None, "named", "inner", "named"]
    assert steps() == [("model", "satisfied")] * 4


@pytest.mark.requirement("openai:provider:names", "openai:record:identity")
async def test_each_model_step_names_its_agent_and_nested_ones_stand_below_the_tool(recorded: Any):
    provider = Provider(
        named=Script.of(call("ask", input="what?"), "done"), inner=Script.of("inner done")
    )
    inner = Agent(name="inner agent", model="inner")
    outer = Agent(name="outer agent", model="named", tools=[inner.as_tool("ask", "ask")])
    await run(outer, "Hello", run_config=RunConfig(model_provider=provider))
    starts = [event for event in recorded.events if event.kind == "step.start"]
    assert [(event.name, event.data["meta"]["agent"]) for event in starts] == [
        ("model", "outer agent"),
        ("ask", "outer agent"),
        ("model", "inner agent"),
        ("model", "outer agent"),
    ]
    assert [event.parent for event in starts] == [None, None, starts[1].id, None]


@pytest.mark.requirement("openai:provider:base")
async def test_what_the_base_config_says_stays():
    provider = Provider(default=Script.of("Hi."), other=Script.of("Hey."))
    seen: list[Any] = []

    def keep(data: Any) -> Any:
        seen.append(data.agent.name)
        data.model_data.instructions = "Changed."
        return data.model_data

    base = RunConfig(
        model_provider=provider, model="other", call_model_input_filter=keep, group_id="g"
    )
    config = run_config(base)
    assert (config.group_id, config.model) == ("g", "other")
    result = await run(Agent(name="d", instructions="First."), "?", run_config=config)
    assert result.final_output == "Hey."
    assert seen == ["d"]
    assert asked(provider.models["other"])[0].startswith("Changed.")
    assert base.model_provider is provider
    assert (
        await run(Agent(name="d"), "?", run_config={"model_provider": provider})
    ).final_output == "Hi."


@pytest.mark.requirement("openai:provider:base")
async def test_a_model_object_in_the_base_config_is_covered(steps: Steps):
    base = RunConfig(model=scripted(Script.of("Hi.")))
    await Runner.run(Agent(name="d"), "?", run_config=run_config(base))
    assert steps() == [("model", "satisfied")]


@pytest.mark.requirement("openai:provider:once")
def test_a_config_is_attached_to_once():
    with pytest.raises(DefinitionError) as caught:
        run_config(run_config())
    assert str(caught.value) == "run_config(): this config has Hornbook attached already"


@pytest.mark.requirement("openai:provider:base")
@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"base": 4}, "run_config() takes a RunConfig or a dict, not 4"),
        ({"halt": "maybe"}, "halt='maybe': 'soft' or 'hard'"),
        ({"tools": "all"}, "tools='all': give a ToolGuard, or False for no guard"),
        ({"contracts": [1]}, "contracts=[1]: give a mapping, by the tool's name or 'model'"),
    ],
)
def test_what_cannot_be_attached_is_refused_in_one_sentence(given: dict[str, Any], says: str):
    with pytest.raises(DefinitionError) as caught:
        run_config(**given)
    assert str(caught.value) == says


@pytest.mark.requirement("openai:config:out-of-reach")
async def test_an_agent_with_a_model_object_needs_a_guard_and_is_told_so():
    desk = Agent(name="desk", model=scripted(Script.of("Hi.")))
    with pytest.raises(DefinitionError, match="agent 'desk' has a model object of its own"):
        await Runner.run(desk, "?", run_config=run_config())
    result = await Runner.run(guard(desk), "?", run_config=run_config())
    assert result.final_output == "Hi."


@pytest.mark.requirement("openai:config:out-of-reach")
async def test_a_contract_on_a_tool_that_is_not_guarded_is_refused():
    @function_tool
    def look(what: str) -> str:
        """Look."""
        return "seen"

    provider = Provider(default=Script.of("Hi.", "Hi."))
    desk = Agent(name="desk", tools=[look])
    held = run_config(RunConfig(model_provider=provider), contracts={"look": POLITE})
    with pytest.raises(DefinitionError, match="a contract on its tool 'look'"):
        await Runner.run(desk, "?", run_config=held)
    config = run_config(RunConfig(model_provider=provider))
    with pytest.warns(UserWarning, match="are not guarded") as said:
        await Runner.run(desk, "?", run_config=config)
    await Runner.run(desk, "?", run_config=config)
    assert [str(one.message) for one in said] == [
        "agent 'desk' runs with a config of run_config(), and its tools 'look' are not guarded: "
        "run it with hornbook_openai_agents.run(), or guard() it first"
    ]


@pytest.mark.requirement("openai:config:out-of-reach")
async def test_a_tool_that_a_guarded_agent_got_later_is_said_to_be_unguarded():
    @function_tool
    def look(what: str) -> str:
        """Look."""
        return "seen"

    provider = Provider(default=Script.of("Hi.", "Hi.", "Hi."))
    desk = guard(Agent(name="desk", tools=[look]))
    config = run_config(RunConfig(model_provider=provider))
    await Runner.run(desk, "?", run_config=config)
    late = function_tool(lambda: "late", name_override="late")
    desk.tools.append(late)
    with pytest.warns(UserWarning, match="its tools 'late' are not guarded"):
        await Runner.run(desk, "?", run_config=config)
    await Runner.run(guard(desk), "?", run_config=config)


@pytest.mark.requirement("openai:guard:model-not-wrapped")
async def test_a_guard_whose_model_is_not_wrapped_says_once_that_it_knows_no_sources():
    made: list[str] = []

    @function_tool
    def refund(order_id: str) -> str:
        """Refund."""
        made.append(order_id)
        return "refunded"

    calls = [[call("refund", order_id="B98"), call("refund", order_id="B99")], "Done."]
    provider = Provider(default=Script.of(*calls))
    desk = guard(Agent(name="desk", tools=[refund]))
    with pytest.warns(UserWarning, match="its model is not wrapped") as said:
        await Runner.run(desk, "A17", run_config=RunConfig(model_provider=provider))
    assert [str(one.message) for one in said] == [
        "agent 'desk': its tools are guarded, but its model is not wrapped, so that invented "
        "values are not told from known ones: run it with hornbook_openai_agents.run(), or with "
        "a config of run_config()"
    ]
    assert sorted(made) == ["B98", "B99"]
    # Both lines are there, or the model is an object: nothing to say.
    provider = Provider(default=Script.of(*calls))
    config = run_config(RunConfig(model_provider=provider))
    await Runner.run(guard(Agent(name="desk", tools=[refund])), "A17", run_config=config)
    model = scripted(Script.of(*calls))
    await Runner.run(guard(Agent(name="desk", tools=[refund], model=model)), "A17")
    assert len(made) == 2


@pytest.mark.requirement("openai:contract:fallback-misfit")
def test_a_fallback_that_cannot_take_what_it_will_be_given_is_refused_at_once():
    async def later(request: Any) -> str:
        return "please"

    said = "fallback '<lambda>' of 'model' cannot be called with the request that the model was "
    with pytest.raises(DefinitionError) as caught:
        run_config(contracts={"model": (POLITE, Recover(fallback=[lambda: "please"]))})
    assert str(caught.value) == f"{said}asked with, its one argument: too many positional arguments"
    with pytest.raises(DefinitionError, match="'later' of 'model' is async: give a plain function"):
        run_config(contracts={"model": (POLITE, Recover(fallback=[later]))})


@pytest.mark.requirement("openai:contract:fallback-misfit")
async def test_a_fallback_of_a_tool_is_refused_before_the_tool_is_called():
    @function_tool
    def look(what: str, much: int = 1) -> str:
        """Look."""
        raise AssertionError  # pragma: no cover

    def desk() -> Agent[Any]:
        return Agent(name="desk", tools=[look], model=scripted(Script.of("Hi.")))

    wrong = {"look": (POLITE, Recover(fallback=[lambda where: "please"]))}
    match = r"fallback '<lambda>' of tool 'look' cannot take its arguments \(what, much\) by name"
    with pytest.raises(DefinitionError, match=match):
        guard(desk(), contracts=wrong)
    with pytest.raises(DefinitionError, match=match):
        guard(look, contracts=wrong)
    with pytest.raises(DefinitionError, match=match):
        await run(desk(), "?", contracts=wrong)
    with pytest.raises(DefinitionError, match=match):
        await Runner.run(guard(desk()), "?", run_config=run_config(contracts=wrong))
    needs = {"look": (POLITE, Recover(fallback=[lambda what, much: "please"]))}
    with pytest.raises(DefinitionError, match="'much', which the model may leave out"):
        await run(desk(), "?", contracts=needs)
    fits = {"look": (POLITE, Recover(fallback=[lambda what, much=1: "please", dict]))}
    config = run_config(contracts=fits)
    for _ in range(2):
        guarded = guard(desk())
        assert (await Runner.run(guarded, "?", run_config=config)).final_output == "Hi."


@pytest.mark.requirement("openai:guard:own-contracts")
def test_a_contract_on_final_answers_is_not_the_guards():
    with pytest.raises(DefinitionError) as caught:
        guard(Agent(name="desk"), contracts={"model": POLITE})
    assert str(caught.value) == (
        "guard(): the contract 'model' speaks of a run's final answer: give it to run_config() "
        "or run()"
    )


@pytest.mark.requirement("openai:budget:model")
def test_a_spent_budget_stops_the_model(go: Any):
    desk = Agent(name="d", model=scripted(Script.of("One.", "Two.")))
    with hornbook_run(trace=None, budget=Budget(tokens=15)):
        assert go(desk, "?").final_output == "One."
        with pytest.raises(BudgetExceeded, match="budget of 15 tokens is spent"):
            go(desk, "?")


@pytest.mark.requirement("openai:model:retry-policy")
def test_the_sdk_never_retries_what_hornbook_stops(go: Any):
    always = ModelSettings(retry=ModelRetrySettings(max_retries=3, policy=lambda context: True))
    model = scripted(Script.of("No.", "No.", "No."))
    desk = Agent(name="d", model=model, model_settings=always)
    with pytest.raises(ContractViolation):
        go(desk, "?", contracts={"model": POLITE}, halt="hard")
    assert len(asked(model)) == 1


@pytest.mark.requirement("openai:model:retry-policy")
def test_the_retries_of_the_sdk_still_work_and_each_is_a_step(go: Any, steps: Steps):
    policy = ModelRetrySettings(max_retries=2, policy=lambda context: True)
    model = scripted(Script.of(ConnectionError("down"), "Up."))
    desk = Agent(name="d", model=model, model_settings=ModelSettings(retry=policy))
    assert go(desk, "?").final_output == "Up."
    assert steps() == [("model", "error"), ("model", "satisfied")]


@pytest.mark.requirement("openai:model:delegates")
async def test_the_wrap_is_seen_through():
    class Known(ScriptedModel):
        cleaned: object = None
        closed = False

        async def close(self) -> None:
            self.closed = True

        async def _cleanup_on_run_end(self, owner: object) -> None:
            self.cleaned = owner

        def get_retry_advice(self, request: Any) -> Any:
            return request.error

    inner: Any = Known(Script.of("Hi.").open())
    model = HornbookModel(inner)
    assert model.model == "scripted-1"
    await run(Agent(name="d", model=model), "?")
    assert inner.cleaned is not None
    await model.close()
    assert inner.closed
    error = ValueError("x")
    request = ModelRetryAdviceRequest(error=error, attempt=1, stream=False)
    assert model.get_retry_advice(request) is error
    assert copy.copy(model).inner is inner
    with pytest.raises(AttributeError):
        model.no_such_name  # noqa: B018
    with pytest.raises(DefinitionError, match="takes a Model, not 'gpt-5'"):
        HornbookModel("gpt-5")  # type: ignore[arg-type]


@pytest.mark.requirement("openai:provider:closed")
def test_a_provider_is_closed_by_whoever_made_it(go: Any):
    provider = Provider(default=Script.of("Hi."))
    go(Agent(name="d"), "?", run_config=RunConfig(model_provider=provider))
    assert not provider.closed


@pytest.mark.requirement("openai:hooks:decide")
def test_plugins_decide_about_model_and_tool_steps(go: Any):
    from hornbook import plugins
    from hornbook.hooks import hookimpl

    class House:
        @hookimpl
        def hornbook_before_step(self, step: Any) -> Decision | None:
            if step.kind == "tool":
                return Decision(action="block", reason="not today")
            if step.inputs["request"] == "secret":
                return Decision(action="substitute", value="I cannot say.")
            return None

    @function_tool
    def look(what: str) -> str:
        """Look."""
        return "seen"

    with plugins.registered(House(), "house"):
        model = scripted(Script.of(call("look", what="it"), "Done."))
        result = go(Agent(name="d", tools=[look], model=model), "Look.")
        assert "The call of 'look' was not made: not today" in asked(model)[1]
        assert result.final_output == "Done."
        assert go(Agent(name="d", model=model), "secret").final_output == "I cannot say."


@pytest.mark.requirement("openai:hooks:decide")
def test_a_plugin_changes_what_the_model_is_asked(go: Any):
    from hornbook import plugins
    from hornbook.hooks import hookimpl

    class House:
        def __init__(self) -> None:
            self.changes: dict[str, Any] = {}

        @hookimpl
        def hornbook_before_step(self, step: Any) -> Decision | None:
            return Decision(action="proceed", value=self.changes) if step.kind == "model" else None

    house = House()
    with plugins.registered(house, "house"):
        model = scripted(Script.of("Hi.", "Hi."))
        house.changes = {"system": "Be kind.", "request": "Changed."}
        go(Agent(name="d", instructions="Be brief.", model=model), "Asked.")
        assert "Be kind." in asked(model)[0]
        assert "Changed." in asked(model)[0]
        assert "Asked." not in asked(model)[0]
        house.changes = {"tools": []}
        with pytest.raises(DefinitionError, match="'tools' of a model call cannot be changed"):
            go(Agent(name="d", model=model), "Asked.")


@pytest.mark.requirement("openai:errors:model")
def test_an_exception_of_the_model_comes_out_as_it_is(go: Any, steps: Steps):
    desk = Agent(name="d", model=scripted(Script.of(ConnectionError("down"))))
    with pytest.raises(ConnectionError, match="down"):
        go(desk, "?")
    assert steps() == [("model", "error")]
