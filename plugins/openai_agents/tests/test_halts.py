"""A soft halt ends its turn, whatever became of it on the way to the model."""

import asyncio
from typing import Any

import pytest
from agents import (
    Agent,
    RunConfig,
    Runner,
    RunState,
    function_tool,
    handoff,
    set_trace_processors,
    set_tracing_disabled,
    trace,
)
from agents.extensions import handoff_filters
from agents.run import ModelInputData

from hornbook import Contract, Recover, clauses
from hornbook.contracts import ContractReport
from hornbook.testing.script import Script, call
from hornbook_openai_agents import guard, run, run_config, run_sync
from hornbook_openai_agents.halts import halted_by, written
from hornbook_openai_agents.testing import scripted

NEVER = {"quote": Contract("q", ensures=[clauses.that("never", lambda value: False)])}
TOLD = "I stopped here, because a check failed: quote (never: expected never)"

paid: list[str] = []


@pytest.fixture(autouse=True)
def nothing_paid():
    paid.clear()


@function_tool
def quote(order_id: str) -> str:
    """Quote."""
    return "bad"


@function_tool
def pay(order_id: str) -> str:
    """Pay."""
    paid.append(order_id)
    return "paid"


@function_tool(needs_approval=True)
def ship(order_id: str) -> str:
    """Ship."""
    return "shipped"


QUOTE, PAY = call("quote", order_id="A17"), call("pay", order_id="A17")


def agent(*replies: Any, **options: Any) -> Agent[Any]:
    options.setdefault("tools", [quote, pay, ship])
    options.setdefault("name", "desk")
    return Agent(model=scripted(Script.of(*replies)), **options)


def trimmed(data: Any) -> ModelInputData:
    held = data.model_data
    return ModelInputData(input=held.input[:1], instructions=held.instructions)


@pytest.mark.requirement("openai:halt:filtered")
@pytest.mark.parametrize("kept", [None, handoff_filters.remove_all_tools])
def test_it_ends_the_turn_of_the_agent_that_was_handed_over_to(go: Any, kept: Any):
    other = agent(PAY, "Paid.", name="other")
    first = agent([QUOTE, call("transfer_to_other")], handoffs=[handoff(other, input_filter=kept)])
    assert go(first, "Order A17", contracts=NEVER).final_output == TOLD
    assert paid == []


@pytest.mark.requirement("openai:halt:filtered")
def test_it_ends_the_turn_where_a_filter_trims_what_the_model_sees(go: Any):
    desk = agent(QUOTE, PAY, "Paid.")
    config = RunConfig(call_model_input_filter=trimmed)
    assert go(desk, "Order A17", contracts=NEVER, run_config=config).final_output == TOLD
    assert paid == []


@pytest.mark.requirement("openai:halt:filtered")
async def test_it_does_so_under_the_sdks_own_runner():
    config = run_config(RunConfig(call_model_input_filter=trimmed), contracts=NEVER)
    desk = guard(agent(QUOTE, PAY, "Paid."))
    assert (await Runner.run(desk, "Order A17", run_config=config)).final_output == TOLD
    assert paid == []


@pytest.mark.requirement("openai:halt:filtered")
async def test_other_runs_in_one_trace_go_on():
    halted = asyncio.Event()

    @function_tool
    async def wait(order_id: str) -> str:
        """Wait for the other run to halt."""
        await halted.wait()
        return "waited"

    @function_tool(name_override="quote")
    async def bad(order_id: str) -> str:
        """Quote."""
        halted.set()
        return "bad"

    set_trace_processors([])
    set_tracing_disabled(False)
    config = run_config(contracts=NEVER)
    slow = guard(agent(call("wait", order_id="B18"), "Waited.", tools=[wait]))
    bad_one = guard(agent(QUOTE, "No.", tools=[bad]))
    try:
        with trace("workflow"):
            both = await asyncio.gather(
                Runner.run(bad_one, "Order A17", run_config=config),
                Runner.run(slow, "Order B18", run_config=config),
            )
            stops = agent(QUOTE, tools=[quote], tool_use_behavior="stop_on_first_tool")
            await Runner.run(guard(stops), "And A17?", run_config=config)
            after = await Runner.run(guard(agent("Yes.")), "Is it A17?", run_config=config)
    finally:
        set_tracing_disabled(True)
    assert [one.final_output for one in (*both, after)] == [TOLD, "Waited.", "Yes."]


@pytest.mark.requirement("openai:halt:filtered", "openai:halt:resumed")
@pytest.mark.parametrize("as_text", [True, False])
@pytest.mark.parametrize("options", [{}, {"call_model_input_filter": trimmed}])
async def test_it_holds_after_an_approval_in_the_same_turn(as_text: bool, options: Any):
    desk = agent([QUOTE, call("ship", order_id="A17")], PAY, "Paid.")
    first = await run(desk, "Order A17", contracts=NEVER)
    state = first.to_state()
    if as_text:
        state = await RunState.from_string(guard(desk), state.to_string())
    for one in state.get_interruptions():
        state.approve(one)
    config = RunConfig(**options)
    second = await run(desk, state, contracts=NEVER, run_config=config)
    assert second.final_output == TOLD
    assert paid == []


@pytest.mark.requirement("openai:halt:resumed")
def test_a_halt_is_read_from_what_was_written_and_from_nothing_else():
    from hornbook.contracts import Violation

    odd = Violation(clause="at most: 3", path="a[0].b", expected="x; y", observed="it's got 4")
    plain = Violation(clause="never", path=".", expected="never", observed="bad")
    report = ContractReport(
        contract="q'q",
        digest="sha",
        step="quote",
        ok=False,
        verdicts=(),
        violations=(odd, plain),
        attempts=3,
    )
    found = halted_by(written(report), "quote")
    assert found is not None
    assert (found.contract, found.step, found.ok) == ("q'q", "quote", False)
    assert [one.clause for one in found.violations] == ["at most: 3", "never"]
    assert [one.path for one in found.violations] == ["a[0].b", "."]
    assert found.violations[1] == plain
    assert halted_by(written(report), "pay") is None
    assert halted_by("Halted: the engine", "quote") is None
    unclear = halted_by("Halted: quote: contract 'q' violated\n  - something else", "quote")
    assert unclear is not None
    assert unclear.violations[0].clause == "something else"


@pytest.mark.requirement("openai:halt:exception")
def test_the_closing_message_names_the_type_of_an_exception(left_loops: Any):
    @function_tool
    def wire(order_id: str) -> str:
        """Wire."""
        raise ConnectionError("password: swordfish")

    desk = agent(call("wire", order_id="A17"), "Done.", tools=[wire])
    held = {"wire": (Contract("c"), Recover(on=[ConnectionError]))}
    assert run_sync(desk, "Wire A17", contracts=held).final_output == (
        "I stopped here, because a check failed: wire (it failed with ConnectionError)"
    )
