"""`run`, `run_sync` and `run_streamed` with what the SDK promises of its runners."""

import asyncio
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import pytest
from agents import (
    Agent,
    GuardrailFunctionOutput,
    InputGuardrailTripwireTriggered,
    MaxTurnsExceeded,
    ModelBehaviorError,
    OutputGuardrailTripwireTriggered,
    Runner,
    UserError,
    function_tool,
    input_guardrail,
    output_guardrail,
)
from agents.testing import ModelStep
from agents.testing import ScriptedModel as SdkScriptedModel
from pydantic import BaseModel

from hornbook import Contract, ContractViolation, Recover, clauses
from hornbook.errors import DefinitionError
from hornbook.testing.script import Script, call
from hornbook.trace import read, verify_trace
from hornbook_openai_agents import guard, run, run_config, run_streamed, run_sync
from hornbook_openai_agents.adapter import is_control_flow
from hornbook_openai_agents.testing import scripted

POLITE = Contract("polite", ensures=[clauses.that("it is polite", lambda text: "please" in text)])
NEVER = Contract("never", ensures=[clauses.that("never", lambda value: False)])

made: list[str] = []


@pytest.fixture(autouse=True)
def nothing_made():
    made.clear()


@function_tool
def refund(order_id: str) -> str:
    """Refund an order."""
    made.append(order_id)
    return "refunded"


def agent(*replies: Any, **options: Any) -> Agent[Any]:
    options.setdefault("tools", [refund])
    return Agent(name="desk", model=scripted(Script.of(*replies)), **options)


def kinds(folder: Path) -> list[list[str]]:
    return [
        [event.name for event in read(record) if event.kind == "step.start"]
        for record in sorted(folder.iterdir())
    ]


@pytest.mark.requirement("openai:run:trace")
def test_each_run_is_recorded_in_the_folder_by_itself(go: Any, tmp_path: Path):
    for _ in range(2):
        go(agent(call("refund", order_id="A17"), "Done."), "Refund A17.", trace=tmp_path)
    assert kinds(tmp_path) == [["model", "refund", "model"]] * 2
    assert all(verify_trace(record).ok for record in tmp_path.iterdir())


@pytest.mark.requirement("openai:run:trace")
def test_inside_a_run_its_record_holds_all(go: Any, tmp_path: Path, recorded: Any):
    go(agent(call("refund", order_id="A17"), "Done."), "Refund A17.", trace=tmp_path)
    assert list(tmp_path.iterdir()) == []
    starts = [event.name for event in recorded.events if event.kind == "step.start"]
    assert starts == ["model", "refund", "model"]


@pytest.mark.requirement("openai:config:trace")
async def test_a_config_keeps_one_record_for_all_its_runs(tmp_path: Path):
    with run_config(trace=tmp_path) as config:
        assert config.run is None
        for _ in range(2):
            desk = guard(agent(call("refund", order_id="A17"), "Done."))
            await Runner.run(desk, "Refund A17.", run_config=config)
        assert config.run is not None
    assert kinds(tmp_path) == [["model", "refund", "model"] * 2]
    assert all(verify_trace(record).ok for record in tmp_path.iterdir())
    run_config().close()


@pytest.mark.requirement("openai:run:options")
def test_what_the_sdk_takes_is_passed_on(go: Any):
    with pytest.raises(MaxTurnsExceeded):
        go(agent(call("refund", order_id="A17"), "Done."), "A17", max_turns=1)
    handlers = {"max_turns": lambda data: {"final_output": "Enough."}}
    desk = agent(call("refund", order_id="A17"), "Done.")
    assert go(desk, "A17", max_turns=1, error_handlers=handlers).final_output == "Enough."


@pytest.mark.requirement("openai:run:twice-attached")
def test_what_a_config_says_is_not_said_twice(go: Any):
    with pytest.raises(DefinitionError, match="run_config= has Hornbook attached already"):
        go(agent("Hi."), "?", run_config=run_config(), contracts={"model": POLITE})


@pytest.mark.requirement("openai:run:refused")
def test_what_is_no_agent_is_refused(go: Any):
    with pytest.raises(DefinitionError, match="guard\\(\\) takes a FunctionTool or an Agent"):
        go("desk", "?")


@pytest.mark.requirement("openai:run-sync:in-a-loop")
async def test_the_sync_runner_works_inside_a_running_loop(recorded: Any):
    inside: ContextVar[str] = ContextVar("inside")
    inside.set("carried")
    seen: list[str] = []

    @function_tool
    def look(what: str) -> str:
        """Look."""
        seen.append(inside.get())
        return "seen"

    with pytest.raises(RuntimeError, match="event loop is already running"):
        Runner.run_sync(agent("Hi."), "?")
    result = run_sync(agent(call("look", what="it"), "Done.", tools=[look]), "Look.")
    assert result.final_output == "Done."
    assert seen == ["carried"]
    starts = [event.name for event in recorded.events if event.kind == "step.start"]
    assert starts == ["model", "look", "model"]
    with pytest.raises(ContractViolation):
        run_sync(agent("No."), "?", contracts={"model": POLITE}, halt="hard")


@pytest.mark.requirement("openai:run-sync:in-a-loop")
async def test_a_tool_may_run_an_agent_sync_while_its_own_agent_runs():
    @function_tool
    async def ask(what: str) -> str:
        """Ask another agent."""
        return str(run_sync(agent("From inside."), what).final_output)

    result = await run(agent(call("ask", what="?"), "Done.", tools=[ask]), "Ask.")
    assert result.final_output == "Done."


@pytest.mark.requirement("openai:control-flow:passes")
def test_tripwires_pass_as_themselves(go: Any):
    @input_guardrail
    def stop(context: Any, agent: Any, given: Any) -> GuardrailFunctionOutput:
        return GuardrailFunctionOutput(output_info=None, tripwire_triggered=True)

    @output_guardrail
    def never(context: Any, agent: Any, output: Any) -> GuardrailFunctionOutput:
        return GuardrailFunctionOutput(output_info=None, tripwire_triggered=True)

    with pytest.raises(InputGuardrailTripwireTriggered):
        go(agent("Hi.", input_guardrails=[stop]), "?")
    with pytest.raises(OutputGuardrailTripwireTriggered):
        go(agent("Hi.", output_guardrails=[never]), "?")


@pytest.mark.requirement("openai:control-flow:known")
def test_which_exceptions_are_control_flow():
    assert is_control_flow(MaxTurnsExceeded("x"))
    assert is_control_flow(asyncio.CancelledError())
    assert not is_control_flow(UserError("x"))
    assert not is_control_flow(ModelBehaviorError("x"))


@pytest.mark.requirement("openai:control-flow:passes")
async def test_the_limit_of_a_nested_agent_is_no_failure_of_the_tool(ends: Any):
    from agents import Agent as Plain

    inner = Plain(
        name="inner", tools=[refund], model=scripted(Script.of(call("refund", order_id="A17")))
    )
    ask = inner.as_tool("ask", "", max_turns=1)
    result = await run(agent(call("ask", input="A17"), "Done.", tools=[ask]), "A17")
    assert result.final_output == "Done."
    assert [end.status for end in ends("ask")] == ["interrupted"]


async def texts(result: Any) -> list[str]:
    return [
        event.data.delta
        async for event in result.stream_events()
        if event.type == "raw_response_event" and event.data.type == "response.output_text.delta"
    ]


@pytest.mark.requirement("openai:streamed:runs")
async def test_a_streamed_run_is_guarded_recorded_and_streams(tmp_path: Path):
    desk = agent(call("refund", order_id="B99"), call("refund", order_id="A17"), "All done.")
    result = run_streamed(desk, "Refund A17.", trace=tmp_path)
    assert await texts(result) == ["All done."]
    assert result.final_output == "All done."
    assert made == ["A17"]
    assert kinds(tmp_path) == [["model", "refund", "model", "refund", "model"]]
    assert all(verify_trace(record).ok for record in tmp_path.iterdir())


@pytest.mark.requirement("openai:streamed:live")
async def test_without_a_contract_events_come_as_they_come():
    gate = asyncio.Event()
    first = asyncio.Event()

    async def events(given: Any) -> Any:
        from hornbook_openai_agents.adapter import to_host
        from hornbook_openai_agents.streaming import events_of

        for event in events_of(to_host("All done.")):
            yield event
            if event.type == "response.output_text.delta":
                first.set()
                await gate.wait()

    model = SdkScriptedModel([ModelStep.stream(events)])
    result = run_streamed(Agent(name="d", model=model), "?")
    seen: list[str] = []

    async def consume() -> None:
        nonlocal seen
        async for event in result.stream_events():
            if event.type == "raw_response_event":
                seen += [event.data.type]

    task = asyncio.create_task(consume())
    await first.wait()
    while not seen:
        await asyncio.sleep(0)
    assert seen == ["response.output_text.delta"]
    gate.set()
    await task
    assert seen[-1] == "response.completed"
    assert result.final_output == "All done."


@pytest.mark.requirement("openai:streamed:held-back")
async def test_a_rejected_answer_is_never_streamed_and_all_of_it_is_counted(recorded: Any):
    result = run_streamed(
        agent("Go away.", "Wait, please."), "?", contracts={"model": (POLITE, Recover(retry=1))}
    )
    assert await texts(result) == ["Wait, please."]
    assert result.final_output == "Wait, please."
    usage = result.context_wrapper.usage
    assert (usage.requests, usage.total_tokens) == (2, 30)
    assert recorded.meter.spent.tokens == 30


@pytest.mark.requirement("openai:streamed:halts")
async def test_a_streamed_run_halts_softly_and_hard(recorded: Any):
    result = run_streamed(agent("No."), "?", contracts={"model": POLITE})
    assert await texts(result) == [
        "I stopped here, because a check failed: model (it is polite: expected it is polite)"
    ]
    result = run_streamed(agent(call("refund", order_id="A17")), "A17", contracts={"refund": NEVER})
    assert "I stopped here" in (await texts(result))[0]
    result = run_streamed(agent("No."), "?", contracts={"model": POLITE}, halt="hard")
    with pytest.raises(ContractViolation):
        await texts(result)
    held = {"refund": NEVER}
    result = run_streamed(agent(call("refund", order_id="A17")), "A17", contracts=held, halt="hard")
    with pytest.raises(ContractViolation):
        await texts(result)


@pytest.mark.requirement("openai:streamed:errors")
async def test_what_breaks_off_a_stream_comes_out_as_the_sdk_has_it(ends: Any):
    async def nothing(given: Any) -> Any:
        return
        yield

    for contracts in (None, {"model": POLITE}):
        model = SdkScriptedModel([ModelStep.stream(nothing)])
        result = run_streamed(Agent(name="d", model=model), "?", contracts=contracts)
        with pytest.raises(ModelBehaviorError, match="did not produce a final response"):
            await texts(result)
    result = run_streamed(agent(ConnectionError("down")), "?")
    with pytest.raises(ConnectionError):
        await texts(result)
    assert [end.status for end in ends("model")] == ["error"] * 3


@pytest.mark.requirement("openai:streamed:errors")
async def test_a_stream_that_is_cancelled_leaves_nothing_running(ends: Any):
    async def slow(given: Any) -> Any:
        from hornbook_openai_agents.adapter import to_host
        from hornbook_openai_agents.streaming import events_of

        yield next(iter(events_of(to_host("All done."))))
        await asyncio.sleep(60)

    model = SdkScriptedModel([ModelStep.stream(slow)])
    result = run_streamed(Agent(name="d", model=model), "?")
    async for event in result.stream_events():
        if event.type == "raw_response_event":
            result.cancel()
    await asyncio.sleep(0.05)
    assert [end.status for end in ends("model")] == ["cancelled"]
    others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    assert others == []


class Price(BaseModel):
    amount: float


@pytest.mark.requirement("openai:streamed:structured")
async def test_a_fallbacks_structure_is_streamed():
    low = Contract("low", output=Price, ensures=[clauses.in_range("amount", high=10)])
    desk = agent('{"amount": 90}', output_type=Price)
    recover = Recover(fallback=[lambda request: Price(amount=1)])
    result = run_streamed(desk, "?", contracts={"model": (low, recover)})
    assert await texts(result) == ['{"amount":1.0}']
    assert result.final_output == Price(amount=1)


@pytest.mark.requirement("openai:model:structured")
async def test_a_structure_that_is_no_object_is_wrapped_as_the_sdk_wants_it():
    one = Contract("one", output=list[int], ensures=[clauses.that("one", lambda v: len(v) == 1)])
    desk = agent('{"response": [1, 2]}', output_type=list[int])
    recover = Recover(fallback=[lambda request: [7]])
    result = await run(desk, "?", contracts={"model": (one, recover)})
    assert result.final_output == [7]
