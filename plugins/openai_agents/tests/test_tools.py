"""What stands around a call of a tool: guard, contract, recovery, record."""

import asyncio
import dataclasses
import re
from collections.abc import Callable
from typing import Any

import pytest
from agents import (
    Agent,
    FunctionTool,
    ModelBehaviorError,
    RunConfig,
    Runner,
    ToolGuardrailFunctionOutput,
    ToolInputGuardrailTripwireTriggered,
    UserError,
    function_tool,
    tool_input_guardrail,
)
from agents.tool_context import ToolContext

from hornbook import Budget, BudgetExceeded, Contract, ContractViolation, Recover, clauses, feedback
from hornbook import run as hornbook_run
from hornbook.kernel import ToolGuard, ToolRegistry, ToolSpec
from hornbook.testing.script import Script, call
from hornbook_openai_agents import guard, run_config
from hornbook_openai_agents.testing import scripted

Steps = Callable[[], list[tuple[str, str]]]


def agent(*replies: Any, tools: list[Any], **options: Any) -> Agent[Any]:
    return Agent(name="desk", tools=tools, model=scripted(Script.of(*replies)), **options)


def outputs(result: Any) -> list[Any]:
    return [
        item.to_input_item()["output"]
        for item in result.new_items
        if item.type == "tool_call_output_item"
    ]


@pytest.fixture
def made() -> list[dict[str, Any]]:
    """The refunds that were made."""
    return []


@pytest.fixture
def refund(made: list[dict[str, Any]]) -> FunctionTool:
    def refund(order_id: str, amount: float = 10.0) -> str:
        """Refund an order."""
        made.append({"order_id": order_id, "amount": amount})
        return f"refunded {amount:.2f}"

    return function_tool(refund)


@pytest.mark.requirement("openai:guard:arguments")
@pytest.mark.parametrize(
    ("arguments", "clause"),
    [
        ({}, "arguments-complete"),
        ({"order_id": "A17", "amount": "forty"}, "arguments-typed"),
        ({"order_id": "A17", "colour": "red"}, "arguments-known"),
        ({"order_id": "B99"}, "grounded order_id"),
    ],
)
def test_a_call_that_is_not_sound_is_answered_and_not_made(
    go: Any, refund: Any, made: Any, ends: Any, arguments: dict[str, Any], clause: str
):
    desk = agent(call("refund", **arguments), "I could not.", tools=[refund])
    result = go(desk, "Refund A17.")
    assert result.final_output == "I could not."
    assert made == []
    [told] = outputs(result)
    assert told.startswith("The call of 'refund' was not made. Correct it and call again:\n- ")
    [end] = ends("refund")
    assert (end.status, end.data["attempts"]) == ("blocked", 0)
    assert [one["clause"] for one in end.data["report"]["violations"]] == [clause]


@pytest.mark.requirement("openai:guard:defaults")
def test_what_the_function_takes_is_not_refused_though_strict_mode_requires_all(
    go: Any, refund: Any, made: Any
):
    assert refund.params_json_schema["required"] == ["order_id", "amount"]
    go(agent(call("refund", order_id="A17"), "Done.", tools=[refund]), "Refund A17.")
    go(agent(call("refund", order_id="A17", amount=4), "Done.", tools=[refund]), "Refund A17.")
    assert made == [{"order_id": "A17", "amount": 10.0}, {"order_id": "A17", "amount": 4.0}]


@pytest.mark.requirement("openai:guard:arguments")
def test_arguments_that_are_no_json_are_answered(go: Any, refund: Any, ends: Any):
    from agents.items import ModelResponse
    from agents.testing import ScriptedModel, assistant_message, function_call
    from agents.usage import Usage

    broken = function_call("refund", {}, call_id="c1").model_copy(update={"arguments": "{order"})
    model = ScriptedModel(
        [
            ModelResponse(output=[broken], usage=Usage(), response_id=None),
            [assistant_message("No.")],
        ]
    )
    result = go(Agent(name="desk", tools=[refund], model=model), "Refund A17.")
    assert result.final_output == "No."
    [end] = ends("refund")
    assert end.status == "blocked"


@pytest.mark.requirement("openai:guard:unknown-tool")
def test_a_tool_that_does_not_exist_is_answered_with_near_names_and_recorded(
    go: Any, refund: Any, ends: Any
):
    desk = agent(
        [call("refunds", order_id="A17"), call("refund", order_id="A17")], "Done.", tools=[refund]
    )
    result = go(desk, "Refund A17.")
    assert "refunded 10.00" in outputs(result)
    [told] = [text for text in outputs(result) if text != "refunded 10.00"]
    assert told.startswith("The call of 'refunds' was not made.")
    assert "'refunds'" in told
    assert "refund" in told.replace("'refunds'", "")
    [end] = ends("refunds")
    assert (end.status, end.data["report"]["violations"][0]["clause"]) == ("blocked", "known-tool")


@pytest.mark.requirement("openai:guard:unknown-tool")
def test_without_a_guard_the_host_says_what_an_unknown_tool_means(go: Any, refund: Any):
    desk = agent(call("refunds", order_id="A17"), tools=[refund])
    with pytest.raises(ModelBehaviorError, match="Tool refunds not found"):
        go(desk, "Refund A17.", tools=False)


@pytest.mark.requirement("openai:guard:unknown-tool")
def test_a_formatter_of_the_users_own_still_speaks(go: Any, refund: Any, ends: Any):
    kinds: list[str] = []

    def formatter(args: Any) -> str | None:
        kinds.append(args.kind)
        return "No such thing." if args.kind == "tool_not_found" else None

    desk = agent(call("refunds", order_id="A17"), "Done.", tools=[refund])
    result = go(desk, "Refund A17.", run_config=RunConfig(tool_error_formatter=formatter))
    assert outputs(result) == ["No such thing."]
    assert kinds == ["tool_not_found"]
    assert [end.status for end in ends("refunds")] == ["blocked"]


@pytest.mark.requirement("openai:guard:parallel")
def test_of_two_calls_at_once_the_blocked_one_leaves_the_other_alone(
    go: Any, refund: Any, made: Any, steps: Steps
):
    calls = [call("refund", order_id="B99"), call("refund", order_id="A17")]
    result = go(agent(calls, "One.", tools=[refund]), "Refund A17.")
    assert made == [{"order_id": "A17", "amount": 10.0}]
    assert outputs(result)[1] == "refunded 10.00"
    assert sorted(steps()) == [
        ("model", "satisfied"),
        ("model", "satisfied"),
        ("refund", "blocked"),
        ("refund", "satisfied"),
    ]


@pytest.mark.requirement("openai:guard:own")
def test_a_guard_of_the_users_own_decides(go: Any, made: Any):
    @function_tool
    def refund(order_id: str, amount: float) -> str:
        """Refund an order."""
        made.append(order_id)
        return "done"

    registry = ToolRegistry([ToolSpec(name="refund", parameters=refund.params_json_schema)])
    strict = ToolGuard(registry, grounded={"refund": ["amount"]})
    desk = agent(call("refund", order_id="A17", amount=99), "No.", tools=[refund])
    go(desk, "Refund 40 for A17.", tools=strict)
    assert made == []
    desk = agent(call("refund", order_id="A17", amount=40), "Yes.", tools=[refund])
    go(desk, "Refund 40 for A17.", tools=strict)
    assert made == ["A17"]


PAID = Contract("paid", ensures=[clauses.that("it is paid", lambda value: "paid" in value)])


@pytest.mark.requirement("openai:contract:retry")
def test_a_tool_is_retried_with_feedback_inside_one_step(go: Any, ends: Any):
    told: list[str] = []

    @function_tool
    async def pay(order: str) -> str:
        """Pay an order."""
        newest = feedback()
        told.append("" if newest is None else newest.violation.clause)
        return "paid" if newest else "pending"

    desk = agent(call("pay", order="the first"), "Done.", tools=[pay])
    result = go(desk, "Pay.", contracts={"pay": (PAID, Recover(retry=1))})
    assert outputs(result) == ["paid"]
    assert told == ["", "it is paid"]
    [end] = ends("pay")
    assert (end.status, end.data["attempts"]) == ("recovered", 2)


@pytest.mark.requirement("openai:contract:value")
def test_a_contract_sees_what_the_function_returned_and_not_its_text(go: Any):
    @function_tool
    def quote(item: str) -> dict[str, float]:
        """Quote a price."""
        return {"price": 900.0}

    low = Contract("low", output=dict[str, float], ensures=[clauses.in_range("price", high=100)])
    fallback = {"quote": (low, Recover(fallback=[lambda item: {"price": 50.0}]))}
    result = go(agent(call("quote", item="tea"), "Done.", tools=[quote]), "?", contracts=fallback)
    assert outputs(result) == ["{'price': 50.0}"]


@pytest.mark.requirement("openai:contract:fallback")
def test_a_fallback_may_be_async_and_takes_the_arguments(go: Any):
    async def other(order: str) -> str:
        await asyncio.sleep(0)
        return f"paid {order}"

    @function_tool
    def pay(order: str) -> str:
        """Pay an order."""
        return "pending"

    desk = agent(call("pay", order="one"), "Done.", tools=[pay])
    result = go(desk, "Pay.", contracts={"pay": (PAID, Recover(fallback=[other]))})
    assert outputs(result) == ["paid one"]


class Broke(Exception):
    pass


@pytest.mark.requirement("openai:errors:seen")
def test_a_contract_sees_the_exception_that_the_sdk_turns_into_text(go: Any, ends: Any):
    calls: list[int] = []

    @function_tool
    def pay(order: str) -> str:
        """Pay an order."""
        calls.append(1)
        if len(calls) == 1:
            raise Broke("no funds")
        return "paid"

    desk = agent(call("pay", order="one"), "Done.", tools=[pay])
    contracts = {"pay": (PAID, Recover(retry=1, on=[Broke]))}
    result = go(desk, "Pay.", contracts=contracts)
    assert outputs(result) == ["paid"]
    assert ends("pay")[0].status == "recovered"


@pytest.mark.requirement("openai:errors:told")
def test_an_exception_that_nothing_is_said_of_is_told_as_the_tool_says(go: Any, ends: Any):
    def broken(order: str) -> str:
        """Pay an order."""
        raise Broke("no funds")

    def tell(context: Any, error: Exception) -> str:
        return f"it broke: {error}"

    said = function_tool(broken, failure_error_function=tell)
    result = go(agent(call("broken", order="one"), "Sorry.", tools=[said]), "Pay.")
    assert outputs(result) == ["it broke: no funds"]
    plain = function_tool(broken)
    result = go(agent(call("broken", order="one"), "Sorry.", tools=[plain]), "Pay.")
    assert outputs(result) == ["An error occurred while running the tool. Please try again."]
    raising = function_tool(broken, failure_error_function=None)
    with pytest.raises(UserError) as caught:
        go(agent(call("broken", order="one"), tools=[raising]), "Pay.")
    assert isinstance(caught.value.__cause__, Broke)
    assert [end.status for end in ends("broken")] == ["error"] * 3


@pytest.mark.requirement("openai:errors:told")
def test_a_formatter_of_tool_errors_still_speaks(go: Any):
    @function_tool
    def broken(order: str) -> str:
        """Pay an order."""
        raise Broke("no funds")

    config = RunConfig(tool_error_formatter=lambda args: f"{args.kind}: {args.error}")
    desk = agent(call("broken", order="one"), "Sorry.", tools=[broken])
    result = go(desk, "Pay.", run_config=config)
    assert outputs(result) == ["tool_exception: no funds"]


@pytest.mark.requirement("openai:halt:soft")
def test_a_soft_halt_ends_the_run_with_a_message_and_no_more_calls_of_the_model(
    go: Any, steps: Steps
):
    @function_tool
    def pay(order: str) -> str:
        """Pay an order."""
        return "pending"

    desk = agent(call("pay", order="one"), "Never said.", tools=[pay])
    result = go(desk, "Pay.", contracts={"pay": PAID})
    assert result.final_output == (
        "I stopped here, because a check failed: pay (it is paid: expected it is paid)"
    )
    assert outputs(result)[0].startswith("Halted: pay: contract 'paid' violated")
    assert steps() == [("model", "satisfied"), ("pay", "violated")]
    assert result.context_wrapper.usage.requests == 1


@pytest.mark.requirement("openai:halt:soft")
def test_a_soft_halt_lets_the_calls_beside_it_be_made(go: Any, refund: Any, made: Any):
    @function_tool
    def pay(order: str) -> str:
        """Pay an order."""
        return "pending"

    desk = agent([call("pay", order="one"), call("refund", order_id="A17")], tools=[pay, refund])
    result = go(desk, "Pay, and refund A17.", contracts={"pay": PAID})
    assert result.final_output.startswith("I stopped here")
    assert made == [{"order_id": "A17", "amount": 10.0}]


@pytest.mark.requirement("openai:halt:hard")
def test_a_hard_halt_raises_the_violation_itself(go: Any):
    @function_tool
    def pay(order: str) -> str:
        """Pay an order."""
        raise Broke("no funds")

    contracts = {"pay": (PAID, Recover(on=[Broke]))}
    with pytest.raises(ContractViolation) as caught:
        go(agent(call("pay", order="one"), tools=[pay]), "Pay.", contracts=contracts, halt="hard")
    assert caught.value.report.step == "pay"
    assert isinstance(caught.value.__cause__, Broke)


@pytest.mark.requirement("openai:halt:guard-alone")
async def test_where_only_the_tool_is_guarded_a_halt_raises():
    @function_tool
    def pay(order: str) -> str:
        """Pay an order."""
        return "pending"

    desk = guard(agent(call("pay", order="one"), tools=[pay]), contracts={"pay": PAID}, halt="soft")
    with pytest.raises(UserError) as caught:
        await Runner.run(desk, "Pay.")
    assert isinstance(caught.value.__cause__, ContractViolation)


@pytest.mark.requirement("openai:contract:requires")
def test_arguments_that_break_a_precondition_are_told_to_the_model(go: Any, refund: Any, ends: Any):
    small = Contract("small", requires=[clauses.in_range("amount", high=50)])
    desk = agent(call("refund", order_id="A17", amount=90), "Too much.", tools=[refund])
    result = go(desk, "Refund A17.", contracts={"refund": small})
    assert result.final_output == "Too much."
    [end] = ends("refund")
    assert (end.status, end.data["attempts"]) == ("violated", 0)


@pytest.mark.requirement("openai:contract:misfit")
def test_a_contract_on_no_tool_or_no_argument_is_refused(go: Any, refund: Any):
    from hornbook.errors import DefinitionError

    with pytest.raises(DefinitionError) as caught:
        go(agent(tools=[refund]), "?", contracts={"refnd": PAID})
    assert str(caught.value) == (
        "contracts: there is no tool 'refnd'; the agent's tools are 'refund'"
    )
    with pytest.raises(DefinitionError, match="colour"):
        guard(
            agent(tools=[refund]),
            contracts={"refund": Contract("c", requires=[clauses.bound("colour")])},
        )


@pytest.mark.requirement("openai:control-flow:passes")
def test_a_tripwire_of_the_sdk_passes_and_is_no_failure(go: Any, refund: Any):
    @tool_input_guardrail
    def never(data: Any) -> ToolGuardrailFunctionOutput:
        return ToolGuardrailFunctionOutput.raise_exception("no")

    tool = dataclasses.replace(refund, tool_input_guardrails=[never])
    with pytest.raises(ToolInputGuardrailTripwireTriggered):
        go(agent(call("refund", order_id="A17"), tools=[tool]), "Refund A17.")


@pytest.mark.requirement("openai:control-flow:passes")
def test_a_cancelled_tool_is_recorded_as_cancelled(ends: Any):
    from hornbook_openai_agents import run

    started = asyncio.Event()

    @function_tool
    async def wait(order: str) -> str:
        """Wait."""
        started.set()
        await asyncio.sleep(60)
        return "late"

    async def main() -> None:
        task = asyncio.create_task(run(agent(call("wait", order="one"), tools=[wait]), "Wait."))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert [end.status for end in ends("wait")] == ["cancelled"]


@pytest.mark.requirement("openai:control-flow:timeout")
def test_the_time_limit_of_a_tool_holds(go: Any, ends: Any):
    @function_tool(timeout=0.05)
    async def wait(order: str) -> str:
        """Wait."""
        await asyncio.sleep(60)
        return "late"

    result = go(agent(call("wait", order="one"), "Late.", tools=[wait]), "Wait.")
    assert outputs(result) == ["Tool 'wait' timed out after 0.05 seconds."]
    assert [end.status for end in ends("wait")] == ["cancelled"]


@pytest.mark.requirement("openai:budget:tools")
def test_a_spent_budget_comes_out_of_a_tool_as_itself(go: Any):
    @function_tool
    def pay(order: str) -> str:
        """Pay an order."""
        return "pending"

    desk = agent(call("pay", order="one"), tools=[pay])
    with hornbook_run(trace=None, budget=Budget(calls=1)), pytest.raises(BudgetExceeded):
        go(desk, "Pay.", contracts={"pay": (PAID, Recover(retry=3))})


@pytest.mark.requirement("openai:record:identity")
def test_a_step_is_recorded_with_the_ids_of_the_host(go: Any, refund: Any, recorded: Any):
    from agents import set_trace_processors, set_tracing_disabled

    set_trace_processors([])
    set_tracing_disabled(False)
    try:
        go(agent(call("refund", order_id="A17"), "Done.", tools=[refund]), "Refund A17.")
    finally:
        set_tracing_disabled(True)
    starts = [event for event in recorded.events if event.kind == "step.start"]
    assert [event.data["step"] for event in starts] == ["model", "tool", "model"]
    assert {event.data["host"] for event in starts} == {"openai_agents"}
    for event in starts:
        assert event.data["meta"]["trace_id"].startswith("trace_")
        assert event.data["meta"]["span_id"].startswith("span_")
        assert event.data["meta"]["agent"] == "desk"
    assert re.fullmatch(r"call-\d+-1-0", starts[1].data["meta"]["tool_call_id"])
    assert starts[1].data["inputs"] == {"order_id": "A17"}


@pytest.mark.requirement("openai:contract:modify")
def test_changed_arguments_reach_the_function(go: Any, refund: Any, made: Any):
    twice = Contract(
        "twice", ensures=[clauses.that("twice", lambda value: value == "refunded 20.00")]
    )
    recover = Recover(retry=1, modify=lambda inputs, violation: {"amount": 20.0})
    desk = agent(call("refund", order_id="A17"), "Done.", tools=[refund])
    go(desk, "Refund A17.", contracts={"refund": (twice, recover)})
    assert [one["amount"] for one in made] == [10.0, 20.0]


@pytest.mark.requirement("openai:guard:tool")
async def test_a_guarded_tool_works_by_itself_and_its_function_is_still_found(
    refund: Any, made: Any
):
    guarded = guard(refund)
    assert guarded.__wrapped__ is refund.__wrapped__
    context = ToolContext(None, tool_name="refund", tool_call_id="c1", tool_arguments="{}")
    told = await guarded.on_invoke_tool(context, "{}")
    assert told.startswith("The call of 'refund' was not made.")
    assert await guarded.on_invoke_tool(context, '{"order_id": "A17"}') == "refunded 10.00"
    assert made == [{"order_id": "A17", "amount": 10.0}]


@pytest.mark.requirement("openai:guard:plain-tool")
def test_a_tool_that_was_put_together_by_hand_is_guarded(go: Any):
    got: list[str] = []

    async def invoke(context: Any, arguments: str) -> str:
        got.append(arguments)
        raise Broke("by hand")

    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    tool = FunctionTool(
        name="raw", description="", params_json_schema=schema, on_invoke_tool=invoke
    )
    go(agent(call("raw", n="x"), "No.", tools=[tool]), "?")
    assert got == []
    with pytest.raises(UserError) as caught:
        go(agent(call("raw", n=1), tools=[tool]), "?")
    assert isinstance(caught.value.__cause__, Broke)
    fallback = Recover(on=[Broke], fallback=[lambda n: f"instead of {n}"])
    anything = Contract("anything", output=str)
    desk = agent(call("raw", n=1), "Done.", tools=[tool])
    assert outputs(go(desk, "?", contracts={"raw": (anything, fallback)})) == ["instead of 1"]


@pytest.mark.requirement("openai:config:raw-runner")
async def test_with_a_config_and_a_guarded_agent_the_sdks_own_runner_does_the_same(
    refund: Any, made: Any, steps: Steps
):
    desk = guard(
        agent(
            call("refund", order_id="B99"), call("refund", order_id="A17"), "Done.", tools=[refund]
        )
    )
    result = await Runner.run(desk, "Refund A17.", run_config=run_config())
    assert result.final_output == "Done."
    assert made == [{"order_id": "A17", "amount": 10.0}]
    assert [step for step in steps() if step[0] == "refund"] == [
        ("refund", "blocked"),
        ("refund", "satisfied"),
    ]
