"""How a run ended is what its record says, also where the run is streamed or left."""

import asyncio
import contextlib
from pathlib import Path
from typing import Any

import pytest
from agents import (
    Agent,
    GuardrailFunctionOutput,
    InputGuardrailTripwireTriggered,
    Runner,
    function_tool,
    input_guardrail,
)

from hornbook.errors import DefinitionError
from hornbook.testing.script import Script, call
from hornbook.trace import Event, read, verify_trace
from hornbook_openai_agents import guard, run_config, run_streamed
from hornbook_openai_agents.testing import scripted

made: list[str] = []


@pytest.fixture(autouse=True)
def nothing_made():
    made.clear()


@function_tool
async def pay(order_id: str) -> str:
    """Pay."""
    await asyncio.sleep(0.01)
    made.append(order_id)
    return "paid"


def agent(*replies: Any, **options: Any) -> Agent[Any]:
    return Agent(name="desk", tools=[pay], model=scripted(Script.of(*replies)), **options)


PAY = call("pay", order_id="A17")


def ended(folder: Path) -> Event:
    [record] = folder.iterdir()
    *_, last = read(record)
    assert last.kind == "run.end"
    assert verify_trace(record).ok
    return last


async def all_of(result: Any) -> None:
    async for _ in result.stream_events():
        pass


async def until_done(result: Any) -> None:
    with contextlib.suppress(asyncio.CancelledError):
        await result.run_loop_task
    await asyncio.sleep(0)


@pytest.mark.requirement("openai:streamed:record")
@pytest.mark.parametrize("first", ["agent_updated_stream_event", "run_item_stream_event"])
async def test_the_record_of_a_stream_that_is_left_ends_when_the_run_does(
    tmp_path: Path, first: str
):
    result = run_streamed(agent(PAY, PAY, "Done."), "Pay A17.", trace=tmp_path)
    async for event in result.stream_events():
        if event.type == first:
            break
    await until_done(result)
    # As with the SDK alone: a reader that leaves does not stop the run.
    assert made == ["A17", "A17"]
    assert result.final_output == "Done."
    for _ in range(20):
        await asyncio.sleep(0)
    assert ended(tmp_path).status == "completed"


@pytest.mark.requirement("openai:streamed:record")
async def test_a_stream_that_nobody_reads_is_recorded(tmp_path: Path):
    result = run_streamed(agent(PAY, "Done."), "Pay A17.", trace=tmp_path)
    await until_done(result)
    assert ended(tmp_path).status == "completed"


@pytest.mark.requirement("openai:streamed:record")
@pytest.mark.parametrize("mode", ["immediate", "after_turn"])
async def test_a_stream_that_is_cancelled_did_not_complete(tmp_path: Path, mode: Any):
    result = run_streamed(agent(PAY, "Done."), "Pay A17.", trace=tmp_path)
    async for event in result.stream_events():
        if event.type == "run_item_stream_event":
            result.cancel(mode)
    await until_done(result)
    end = ended(tmp_path)
    assert (end.status, end.data["error"]) == ("failed", "CancelledError: the run was cancelled")


@pytest.mark.requirement("openai:streamed:record")
async def test_a_reader_that_is_cancelled_cancels_the_run(tmp_path: Path):
    result = run_streamed(agent(PAY, PAY, "Done."), "Pay A17.", trace=tmp_path)
    reader = asyncio.create_task(all_of(result))
    while not made:
        await asyncio.sleep(0)
    reader.cancel()
    await asyncio.gather(reader, return_exceptions=True)
    await until_done(result)
    assert ended(tmp_path).status == "failed"


@pytest.mark.requirement("openai:streamed:record")
async def test_a_stream_that_fails_is_recorded_as_failed(tmp_path: Path):
    result = run_streamed(agent(ConnectionError("down")), "?", trace=tmp_path)
    with pytest.raises(ConnectionError):
        await all_of(result)
    end = ended(tmp_path)
    assert (end.status, end.data["error"]) == ("failed", "ConnectionError: down")


@pytest.mark.requirement("openai:streamed:record")
async def test_a_stream_that_a_tripwire_stops_is_recorded_as_failed(tmp_path: Path):
    @input_guardrail
    async def stop(context: Any, agent: Any, given: Any) -> GuardrailFunctionOutput:
        return GuardrailFunctionOutput(output_info=None, tripwire_triggered=True)

    desk = agent("Hi.", input_guardrails=[stop])
    with pytest.raises(InputGuardrailTripwireTriggered):
        await all_of(run_streamed(desk, "?", trace=tmp_path))
    assert ended(tmp_path).status == "failed"


@pytest.mark.requirement("openai:streamed:record")
async def test_a_stream_that_cannot_begin_leaves_no_open_record(tmp_path: Path):
    with pytest.raises(TypeError):
        run_streamed(agent("Hi."), "?", trace=tmp_path, no_such_option=1)
    assert [verify_trace(record).status for record in tmp_path.iterdir()] in ([], ["complete"])


@pytest.mark.requirement("openai:config:failed")
async def test_the_record_of_a_config_says_that_its_block_failed(tmp_path: Path):
    with pytest.raises(ConnectionError), run_config(trace=tmp_path) as config:
        await Runner.run(guard(agent(ConnectionError("down"))), "?", run_config=config)
    end = ended(tmp_path)
    assert (end.status, end.data["error"]) == ("failed", "ConnectionError: down")


@pytest.mark.requirement("openai:testing:scripted")
def test_what_is_no_script_is_refused():
    with pytest.raises(DefinitionError, match=r"not 'Paris': give Script.of\(...\)"):
        scripted("Paris")  # type: ignore[arg-type]
