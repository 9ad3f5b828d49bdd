"""`guard`: new objects, made once, all the way through handoffs and nested agents."""

import copy
import gc
import weakref
from typing import Any

import pytest
from agents import (
    Agent,
    CodeInterpreterTool,
    FunctionTool,
    RunConfig,
    Runner,
    RunState,
    WebSearchTool,
    function_tool,
    handoff,
)
from agents.agent import AgentBase

from hornbook import Contract, Recover, clauses
from hornbook.errors import DefinitionError
from hornbook.testing.script import Script, call
from hornbook_openai_agents import HornbookModel, guard, run, run_config
from hornbook_openai_agents.guarding import is_guarded
from hornbook_openai_agents.testing import scripted

made: list[str] = []


@pytest.fixture(autouse=True)
def nothing_made():
    made.clear()


@function_tool
def refund(order_id: str) -> str:
    """Refund an order."""
    made.append(order_id)
    return f"refunded {order_id}"


def agent(name: str, *replies: Any, **options: Any) -> Agent[Any]:
    return Agent(name=name, model=scripted(Script.of(*replies)), **options)


@pytest.mark.requirement("openai:guard:new-objects")
def test_a_guarded_agent_is_another_object_and_the_first_stays_as_it_was():
    desk = agent("desk", tools=[refund], instructions="Be brief.")
    before = dict(vars(desk))
    guarded = guard(desk)
    assert guarded is not desk
    assert guarded.tools[0] is not refund
    assert guarded.tools[0].params_json_schema == refund.params_json_schema
    assert isinstance(guarded.model, HornbookModel)
    assert guarded.model_settings is desk.model_settings
    after = {name: value for name, value in vars(desk).items() if name in before}
    assert after == before
    assert not is_guarded(desk)
    assert not is_guarded(refund)
    assert is_guarded(guarded)


@pytest.mark.requirement("openai:guard:memoised")
def test_guarding_again_gives_the_same_object_until_something_is_changed():
    desk = agent("desk", tools=[refund])
    guarded = guard(desk)
    assert guard(desk) is guarded
    assert guard(guarded) is guarded
    assert guard(refund) is guard(refund)
    assert guard(guard(refund)) is guard(refund)
    desk.instructions = "Be brief."
    changed = guard(desk)
    assert changed is not guarded
    assert changed.instructions == "Be brief."
    inner = agent("inner")
    desk.handoffs.append(inner)
    with_inner = guard(desk)
    inner.tools.append(refund)
    assert guard(desk) is not with_inner
    assert is_guarded(guard(desk).handoffs[0].tools[0])


@pytest.mark.requirement("openai:guard:memoised")
async def test_a_copy_is_made_anew_when_a_person_has_to_approve_from_now_on():
    wire = function_tool(lambda order_id: made.append(order_id), name_override="wire")
    desk = agent("desk", "Hi.", call("wire", order_id="A17"), "Done.", tools=[wire])
    await run(desk, "Hello, A17.")
    wire.needs_approval = True
    result = await run(desk, "Wire for A17.")
    assert [one.name for one in result.interruptions] == ["wire"]
    assert made == []


@pytest.mark.requirement("openai:guard:memoised")
async def test_a_copy_is_made_anew_when_a_tool_or_a_handoff_is_switched_off():
    model = scripted(Script.of("Hi.", "Hi."))
    look = function_tool(lambda: "seen", name_override="look")
    other = handoff(agent("other"))
    desk = Agent(name="desk", tools=[look], handoffs=[other], model=model)
    outer = agent("outer", handoffs=[desk])
    guarded = guard(outer)
    await run(desk, "?")
    look.is_enabled = False
    await run(desk, "?")
    assert [one.tools for one in model.conversation.asked] == [("look",), ()]
    assert guard(outer) is not guarded
    guarded = guard(desk)
    other.is_enabled = False
    assert guard(desk) is not guarded
    assert guard(desk).handoffs[0].is_enabled is False
    assert guard(desk) is guard(desk)


@pytest.mark.requirement("openai:guard:memoised")
def test_what_is_put_into_a_guarded_agent_later_is_guarded_too():
    guarded = guard(agent("desk"))
    guarded.tools.append(refund)
    assert not is_guarded(guarded)
    again = guard(guarded)
    assert again is not guarded
    assert is_guarded(again)


@pytest.mark.requirement("openai:guard:memoised")
def test_a_copy_does_not_outlive_its_original():
    desk = agent("desk", tools=[refund])
    desk.handoffs.append(agent("other", handoffs=[desk]))
    guarded = weakref.ref(guard(desk))
    original = weakref.ref(desk)
    del desk
    gc.collect()
    assert original() is None
    assert guarded() is None


@pytest.mark.requirement("openai:guard:memoised")
def test_copies_and_clones_of_a_guarded_tool_and_agent_stay_guarded(go: Any):
    guarded = guard(agent("desk", call("refund", order_id="B99"), "No.", tools=[refund]))
    clone = guarded.clone(instructions="Be brief.", tools=[copy.copy(guarded.tools[0])])
    go(clone, "Refund A17.")
    assert made == []


@pytest.mark.requirement("openai:guard:handoffs")
async def test_agents_that_are_handed_over_to_are_guarded_in_every_form():
    reached: list[str] = []
    by_hand = agent("by hand", call("refund", order_id="B97"), "3", tools=[refund])

    async def invoke(context: Any, arguments: str) -> AgentBase[Any]:
        reached.append("by hand")
        return by_hand

    from agents import Handoff

    manual = Handoff("to_hand", "", {"type": "object", "properties": {}}, invoke, "by hand")
    wrapped = agent(
        "wrapped",
        call("refund", order_id="B98"),
        call("to_hand"),
        tools=[refund],
        handoffs=[manual],
    )
    noted = handoff(wrapped, on_handoff=lambda context: reached.append("wrapped"))
    plain = agent(
        "plain",
        call("refund", order_id="B99"),
        call("transfer_to_wrapped"),
        tools=[refund],
        handoffs=[noted],
    )
    result = await run(agent("first", call("transfer_to_plain"), handoffs=[plain]), "Refund A17.")
    assert result.final_output == "3"
    assert reached == ["wrapped", "by hand"]
    assert made == []
    assert is_guarded(result.last_agent)


@pytest.mark.requirement("openai:guard:handoffs")
async def test_agents_that_hand_over_to_each_other_are_copied_once():
    first = agent("first", call("transfer_to_second"), "back")
    second = agent("second", call("transfer_to_first"), handoffs=[first])
    first.handoffs = [second]
    guarded = guard(first)
    assert guarded.handoffs[0].handoffs[0] is guarded
    assert (await run(first, "Hello")).final_output == "back"


@pytest.mark.requirement("openai:guard:as-tool")
async def test_an_agent_that_is_a_tool_is_guarded_inside(ends: Any):
    inner = agent("inner", call("refund", order_id="B99"), "inner done", tools=[refund])
    ask = inner.as_tool("ask", "Ask.", max_turns=4)
    outer = agent("outer", call("ask", input="refund B99"), "done", tools=[ask])
    result = await run(outer, "Refund A17.")
    assert result.final_output == "done"
    # The model of the outer agent wrote what the inner one is asked: that is no source.
    assert made == []
    assert [end.status for end in ends("refund")] == ["blocked"]
    assert [end.status for end in ends("ask")] == ["satisfied"]
    assert ask._agent_instance is inner


@pytest.mark.requirement("openai:guard:as-tool")
async def test_what_the_user_said_is_a_source_for_a_nested_agent_too():
    inner = agent("inner", call("refund", order_id="A17"), "inner done", tools=[refund])
    outer = agent("outer", call("ask", input="refund it"), "done", tools=[inner.as_tool("ask", "")])
    await run(outer, "Refund A17.")
    assert made == ["A17"]


@pytest.mark.requirement("openai:guard:as-tool")
async def test_arguments_of_an_agents_tool_are_guarded_and_its_contract_holds(ends: Any):
    inner = agent("inner", "no order", "order A17")
    ask = inner.as_tool("ask", "Ask.")
    outer = agent("outer", call("ask"), call("ask", input="which?"), "done", tools=[ask])
    held = Contract("h", ensures=[clauses.that("an order", lambda text: text.startswith("order"))])
    await run(outer, "?", contracts={"ask": (held, Recover(retry=1))})
    assert [(end.status, end.data["attempts"]) for end in ends("ask")] == [
        ("blocked", 0),
        ("recovered", 2),
    ]


@pytest.mark.requirement("openai:guard:as-tool")
async def test_a_halt_inside_a_nested_agent_ends_that_agents_turn_or_raises():
    from hornbook import ContractViolation

    held = Contract("h", ensures=[clauses.that("never", lambda value: False)])

    def nested() -> Agent[Any]:
        inner = agent("inner", call("refund", order_id="A17"), tools=[refund])
        ask = inner.as_tool("ask", "")
        return agent("outer", call("ask", input="refund"), "done", tools=[ask])

    result = await run(nested(), "Refund A17.", contracts={"refund": held})
    assert result.final_output == "done"
    with pytest.raises(ContractViolation) as caught:
        await run(nested(), "Refund A17.", contracts={"refund": held}, halt="hard")
    assert caught.value.report.step == "refund"


@pytest.mark.requirement("openai:guard:as-tool")
async def test_a_nested_agent_that_streams_is_guarded_too():
    seen: list[str] = []
    inner = agent("inner", call("refund", order_id="B99"), "inner done", tools=[refund])
    ask = inner.as_tool("ask", "", on_stream=lambda event: seen.append(event["event"].type))
    await run(agent("outer", call("ask", input="x"), "done", tools=[ask]), "Refund A17.")
    assert made == []
    assert "raw_response_event" in seen


@pytest.mark.requirement("openai:guard:hosted")
def test_tools_that_others_run_are_left_alone_and_said_once():
    search = WebSearchTool()
    interpreter = CodeInterpreterTool({"type": "code_interpreter", "container": {"type": "auto"}})
    desk = agent("desk", tools=[search, refund, interpreter])
    with pytest.warns(UserWarning, match="not guarded") as said:
        guarded = guard(desk)
    assert [str(one.message) for one in said] == [
        "agent 'desk': tool 'web_search' is run by the provider or the SDK itself, and is not "
        "guarded",
        "agent 'desk': tool 'code_interpreter' is run by the provider or the SDK itself, and is "
        "not guarded",
    ]
    assert guarded.tools[0] is search
    assert guarded.tools[2] is interpreter
    assert guard(desk) is guarded


@pytest.mark.requirement("openai:guard:no-schema")
def test_a_tool_without_a_schema_is_left_unchecked_and_said_once(go: Any):
    async def invoke(context: Any, arguments: str) -> str:
        made.append(arguments)
        return "done"

    loose = FunctionTool("loose", "", {}, invoke, strict_json_schema=False)
    desk = agent("desk", call("loose", whatever="B99"), "Done.", tools=[loose])
    with pytest.warns(UserWarning, match="tool 'loose' has no schema: its arguments are not"):
        guard(desk)
    assert go(desk, "?").final_output == "Done."
    assert made == ['{"whatever": "B99"}']


@pytest.mark.requirement("openai:guard:no-schema")
def test_a_schema_that_is_none_is_refused_when_the_tool_is_guarded():
    async def invoke(context: Any, arguments: str) -> str:
        return "done"

    odd = FunctionTool("odd", "", {"type": "string"}, invoke, strict_json_schema=False)
    with pytest.raises(DefinitionError, match="tool 'odd': parameters must be of type object"):
        guard(odd)


@pytest.mark.requirement("openai:guard:mcp")
def test_the_tools_of_mcp_servers_are_said_not_to_be_guarded():
    class Server:
        name = "files"

    desk = agent("desk", mcp_servers=[Server()])  # type: ignore[list-item]
    with pytest.warns(UserWarning, match="the tools of its MCP servers are not guarded"):
        guard(desk)


@pytest.mark.requirement("openai:guard:refused")
def test_what_is_no_tool_and_no_agent_is_refused():
    with pytest.raises(DefinitionError) as caught:
        guard(refund.on_invoke_tool)  # type: ignore[call-overload]
    assert str(caught.value).startswith("guard() takes a FunctionTool or an Agent, not ")


@pytest.mark.requirement("openai:guard:own-contracts")
async def test_contracts_given_to_guard_hold_whatever_the_run_says(ends: Any):
    held = Contract("h", ensures=[clauses.that("never", lambda value: False)])
    given = {"refund": (held, Recover(fallback=[lambda order_id: order_id], then="waive"))}
    desk = guard(
        agent("desk", call("refund", order_id="A17"), "Done.", tools=[refund]), contracts=given
    )
    await Runner.run(desk, "Refund A17.", run_config=run_config(RunConfig()))
    assert [end.status for end in ends("refund")] == ["waived"]
    off = guard(agent("desk", call("refund", order_id="B99"), "Done.", tools=[refund]), tools=False)
    await run(off, "Refund A17.")
    assert made == ["A17", "B99"]


@pytest.mark.requirement("openai:approval:works")
async def test_approval_is_asked_for_and_the_approved_call_is_guarded():
    @function_tool(needs_approval=True)
    def wire(order_id: str) -> str:
        """Wire money."""
        made.append(order_id)
        return f"wired {order_id}"

    def desk() -> Agent[Any]:
        calls = [call("wire", order_id="A17"), call("wire", order_id="B99")]
        return agent("desk", calls, "Done.", tools=[wire])

    first = await run(desk(), "Wire for A17.")
    assert made == []
    assert [one.name for one in first.interruptions] == ["wire", "wire"]
    state = first.to_state()
    for one in first.interruptions:
        state.approve(one)
    second = await run(first.last_agent, state)
    assert second.final_output == "Done."
    assert made == ["A17"]


@pytest.mark.requirement("openai:approval:works")
async def test_a_rejected_call_is_not_made():
    @function_tool(needs_approval=True)
    def wire(order_id: str) -> str:
        """Wire money."""
        made.append(order_id)
        return "wired"

    desk = agent("desk", call("wire", order_id="A17"), "As you wish.", tools=[wire])
    first = await run(desk, "Wire for A17.")
    state = first.to_state()
    state.reject(first.interruptions[0])
    assert (await run(desk, state)).final_output == "As you wish."
    assert made == []


@pytest.mark.requirement("openai:approval:works")
async def test_a_policy_that_looks_at_the_arguments_is_asked_as_before():
    asked: list[dict[str, Any]] = []

    async def policy(context: Any, arguments: dict[str, Any], call_id: str) -> bool:
        asked.append(arguments)
        return arguments["order_id"] != "A17"

    @function_tool(needs_approval=policy)
    def wire(order_id: str) -> str:
        """Wire money."""
        made.append(order_id)
        return "wired"

    desk = agent("desk", call("wire", order_id="A17"), "Done.", tools=[wire])
    result = await run(desk, "Wire for A17.")
    assert result.final_output == "Done."
    assert asked == [{"order_id": "A17"}]
    assert made == ["A17"]


@pytest.mark.requirement("openai:approval:resumed")
async def test_a_run_resumed_from_text_knows_its_conversation():
    @function_tool
    def newest() -> str:
        """Find the newest order."""
        return "C33"

    @function_tool(needs_approval=True)
    def wire(order_id: str) -> str:
        """Wire money."""
        made.append(order_id)
        return "wired"

    calls = [call("wire", order_id="C33"), call("wire", order_id="B99")]
    desk = agent("desk", call("newest"), calls, "Done.", tools=[newest, wire])
    first = await run(desk, "Wire for the newest order.")
    text = first.to_state().to_string()
    state = await RunState.from_string(guard(desk), text)
    for one in state.get_interruptions():
        state.approve(one)
    result = await run(desk, state)
    assert result.final_output == "Done."
    assert made == ["C33"]


@pytest.mark.requirement("openai:approval:resumed")
async def test_a_state_of_an_unguarded_agent_is_refused():
    desk = agent("desk", "Done.", tools=[refund])
    first = await Runner.run(desk, "Hello")
    with pytest.raises(DefinitionError) as caught:
        await run(desk, first.to_state())
    assert str(caught.value) == (
        "this RunState goes on with agent 'desk', which is not guarded: make it from the guarded "
        "one, RunState.from_string(guard(agent), ...)"
    )


@pytest.mark.requirement("openai:approval:nested")
async def test_an_agents_tool_that_waits_for_a_person_has_no_value_to_judge(ends: Any):
    @function_tool(needs_approval=True)
    def wire(order_id: str) -> str:
        """Wire money."""
        made.append(order_id)
        return "wired"

    inner = agent("inner", call("wire", order_id="A17"), "order A17 is wired", tools=[wire])
    outer = agent("outer", call("ask", input="A17"), "Done.", tools=[inner.as_tool("ask", "")])
    held = Contract("h", ensures=[clauses.that("an order", lambda text: text.startswith("order"))])
    contracts = {"ask": held}
    first = await run(outer, "Wire for A17.", contracts=contracts)
    assert [one.name for one in first.interruptions] == ["wire"]
    state = first.to_state()
    state.approve(first.interruptions[0])
    second = await run(outer, state, contracts=contracts)
    assert second.final_output == "Done."
    assert made == ["A17"]
    assert [(end.status, end.data["output"]) for end in ends("ask")] == [
        ("satisfied", "waiting for approval"),
        ("satisfied", "order A17 is wired"),
    ]


@pytest.mark.requirement("openai:guard:memoised")
def test_copies_do_not_pile_up_when_an_original_changes_again_and_again():
    desk = agent("desk", tools=[refund])
    for number in range(3):
        desk.instructions = f"{number}"
        guarded = guard(desk)
    assert "_hornbook_copy" not in vars(guarded)
    assert "_hornbook_copy" not in vars(guarded.tools[0])
