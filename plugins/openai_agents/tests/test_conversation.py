"""Where an agent's arguments may come from, though its tools cannot see the conversation."""

import asyncio
import gc
from dataclasses import dataclass
from typing import Any

import pytest
from agents import Agent, Runner, SQLiteSession, function_tool, trace
from agents.items import ModelResponse
from agents.usage import Usage
from openai.types.responses.response_output_item import McpCall

from hornbook.contracts import ContractReport
from hornbook.kernel import ToolGuard, ToolRegistry, ToolSpec
from hornbook.testing.script import Script, call
from hornbook_openai_agents import conversation as conversations
from hornbook_openai_agents import guard, run, run_config
from hornbook_openai_agents.conversation import Conversation
from hornbook_openai_agents.items import items_of, last_request, since_user, text_of
from hornbook_openai_agents.testing import scripted

made: list[str] = []


@pytest.fixture(autouse=True)
def nothing_made():
    made.clear()


@function_tool
def refund(order_id: str) -> str:
    """Refund an order."""
    made.append(order_id)
    return "refunded"


@function_tool
def newest(customer: str) -> dict[str, Any]:
    """Find the newest order."""
    return {"order": "C33", "customer": customer}


def agent(*replies: Any, **options: Any) -> Agent[Any]:
    options.setdefault("tools", [refund, newest])
    return Agent(name="desk", model=scripted(Script.of(*replies)), **options)


@pytest.mark.requirement("openai:context:results")
def test_a_value_that_a_tool_returned_is_a_source_in_later_turns(go: Any):
    first = call("newest", customer="mine")
    go(agent(first, call("refund", order_id="C33"), "Done."), "Refund my newest.")
    assert made == ["C33"]


@pytest.mark.requirement("openai:context:results")
def test_a_value_that_the_model_wrote_is_no_source_though_a_tool_echoes_it(go: Any):
    @function_tool
    def note(text: str) -> str:
        """Keep a note."""
        return f"noted: {text}"

    tools = [refund, note]
    specs = [ToolSpec(name=one.name, parameters=one.params_json_schema) for one in tools]
    lenient = ToolGuard(ToolRegistry(specs), free={"note": ["text"]})
    replies = [call("note", text="B99"), call("refund", order_id="B99"), "No."]
    go(agent(*replies, tools=tools), "Refund my newest.", tools=lenient)
    assert made == []


@pytest.mark.requirement("openai:context:results")
def test_a_refusal_is_no_source_for_the_value_it_refuses(go: Any):
    replies = [call("refund", order_id="#B99"), call("refund", order_id="B99"), "No."]
    go(agent(*replies), "Refund my newest.")
    assert made == []


@pytest.mark.requirement("openai:context:session")
async def test_what_was_said_and_returned_in_earlier_runs_is_a_source():
    session = SQLiteSession("s-1")
    try:
        await run(agent(call("newest", customer="mine"), "C33."), "A17, or?", session=session)
        replies = [[call("refund", order_id="C33"), call("refund", order_id="A17")], "Done."]
        await run(agent(*replies), "Both.", session=session)
        assert sorted(made) == ["A17", "C33"]
        await run(agent(call("refund", order_id="B99"), "No."), "And?", session=session)
        assert sorted(made) == ["A17", "C33"]
    finally:
        session.close()


@dataclass
class Signed:
    customer_id: str
    secret: object = None


@pytest.mark.requirement("openai:context:state")
@pytest.mark.parametrize("context", [Signed("K-77"), {"customer_id": "K-77"}])
def test_the_context_of_the_run_is_a_source(go: Any, context: Any):
    go(agent(call("refund", order_id="K-77"), "Done."), "Refund mine.", context=context)
    assert made == ["K-77"]


@pytest.mark.requirement("openai:context:server")
async def test_where_the_provider_keeps_the_history_nothing_is_refused_for_want_of_a_source(
    ends: Any,
):
    desk = agent(call("refund", order_id="B99"), "Done.")
    await run(desk, "As I said.", previous_response_id="resp_1")
    assert made == ["B99"]
    assert [end.status for end in ends("refund")] == ["satisfied"]


@pytest.mark.requirement("openai:context:server")
async def test_a_run_that_began_its_history_knows_it_though_it_sends_only_what_is_new(ends: Any):
    replies = [call("newest", customer="mine"), call("refund", order_id="C33")]
    desk = agent(*replies, call("refund", order_id="B99"), "Done.")
    await run(desk, "Refund my newest.", auto_previous_response_id=True)
    assert made == ["C33"]


@pytest.mark.requirement("openai:context:required")
async def test_a_guard_that_requires_sources_refuses_where_there_are_none(ends: Any):
    registry = ToolRegistry([ToolSpec(name="refund", parameters=refund.params_json_schema)])
    strict = ToolGuard(registry, grounding="required")
    desk = agent(call("refund", order_id="A17"), "No.")
    await run(desk, "A17", previous_response_id="resp_1", tools=strict)
    assert made == []
    [end] = ends("refund")
    assert end.data["report"]["violations"][0]["observed"] == "none"


@pytest.mark.requirement("openai:context:apart")
async def test_a_hundred_runs_at_once_hear_nothing_of_each_other():
    async def one(number: int) -> None:
        own, other = f"A-{number}", f"A-{(number + 1) % 50}"
        replies = [[call("refund", order_id=other)], [call("refund", order_id=own)], "Done."]
        await run(agent(*replies), f"Refund {own}.")

    async def raw(number: int) -> None:
        own, other = f"B-{number}", f"B-{(number + 1) % 50}"
        replies = [[call("refund", order_id=other)], [call("refund", order_id=own)], "Done."]
        await Runner.run(guard(agent(*replies)), f"Refund {own}.", run_config=config)

    config = run_config()
    await asyncio.gather(*map(one, range(50)), *map(raw, range(50)))
    assert sorted(made) == sorted(f"{kind}-{number}" for kind in "AB" for number in range(50))


@pytest.mark.requirement("openai:context:apart")
async def test_the_sdks_own_runner_is_told_apart_by_its_trace_and_nothing_is_kept():
    config = run_config()
    await Runner.run(
        guard(agent(call("refund", order_id="A17"), "Done.")), "A17", run_config=config
    )
    await Runner.run(guard(agent(call("refund", order_id="A17"), "No.")), "Mine", run_config=config)
    assert made == ["A17"]
    gc.collect()
    assert len(conversations._by_trace) == 0


@pytest.mark.requirement("openai:context:apart")
async def test_runs_in_one_trace_of_the_users_own_share_what_they_heard():
    from agents import set_trace_processors, set_tracing_disabled

    set_trace_processors([])
    set_tracing_disabled(False)
    try:
        with trace("workflow"):
            await Runner.run(guard(agent("Yes.")), "It is A17.", run_config=run_config())
            desk = guard(agent(call("refund", order_id="A17"), "Done."))
            await Runner.run(desk, "Refund it.", run_config=run_config())
    finally:
        set_tracing_disabled(True)
    assert made == ["A17"]


@pytest.mark.requirement("openai:context:alone")
async def test_a_guarded_tool_without_a_wrapped_model_says_that_it_knows_no_sources(ends: Any):
    from agents import Agent as Plain
    from agents.testing import ScriptedModel, assistant_message, function_call

    steps = [[function_call("refund", {"order_id": "B99"}, call_id="c1")], [assistant_message("D")]]
    desk = Plain(name="desk", tools=[guard(refund)], model=ScriptedModel(steps))
    with pytest.warns(UserWarning, match="agent 'desk': its tools are guarded, but its model"):
        await Runner.run(desk, "Refund A17.")
    assert made == ["B99"]


@pytest.mark.requirement("openai:context:items")
def test_items_are_read_in_every_form_that_the_sdk_passes():
    parts = [{"type": "input_text", "text": "Refund"}, {"type": "input_image"}, {"text": "A17"}]
    items = items_of(
        [
            {"role": "user", "content": "Hello"},
            {"role": "assistant", "content": [{"type": "output_text", "text": "Hi"}]},
            {"role": "user", "content": parts, "type": "message"},
            {"type": "function_call_output", "call_id": "c", "output": [{"text": "one"}]},
        ]
    )
    assert items_of("Hello") == [{"role": "user", "content": "Hello"}]
    assert last_request(items) == "Refund\nA17"
    assert [text_of(item) for item in since_user(items)] == ["one"]
    assert text_of({"output": {"a": 1}}) == '{"a": 1}'
    assert text_of({}) == ""
    assert items_of([4]) == [{}]


@pytest.mark.requirement("openai:context:items")
def test_what_a_hosted_tool_returned_is_a_source_and_what_it_was_asked_is_none():
    heard = Conversation()
    item = McpCall(
        id="m1",
        type="mcp_call",
        name="find",
        server_label="s",
        arguments='{"q": "B99"}',
        output="C33",
    )
    heard.listen(items_of([{"role": "user", "content": "?"}, item]))
    heard.listen(items_of([item]))
    context = heard.context()
    assert context is not None
    [result] = context.results
    assert (result.name, result.value, result.arguments) == ("find", "C33", {"q": "B99"})


@pytest.mark.requirement("openai:context:bounded")
def test_what_is_remembered_of_a_conversation_is_bounded():
    from openai.types.responses import ResponseFunctionToolCall

    heard = Conversation()
    for number in range(2000):
        made_call = ResponseFunctionToolCall(
            type="function_call", call_id=f"c{number}", name="refund", arguments="{}"
        )
        heard.offered([made_call], ["refund"], None)
    assert heard.offer("c0") is None
    assert heard.offer("c1999") is not None
    assert len(heard._offers) == 512


@pytest.mark.requirement("openai:context:ids")
def test_an_id_that_is_used_again_is_another_call():
    from openai.types.responses import ResponseFunctionToolCall

    report = ContractReport(contract="c", digest="", step="refund", ok=False, verdicts=())
    output = [
        ResponseFunctionToolCall(type="function_call", call_id="c1", name="a", arguments="{}")
    ]
    answer = {"type": "function_call_output", "call_id": "c1", "output": "Halted"}
    heard = Conversation(shared=True)
    heard.offered(output, ["a"], None)
    heard.halted("c1", report)
    assert heard.halts([answer]) == [report]
    turn = [answer, {"role": "user", "content": "And now?"}]
    heard.listen(turn)
    assert heard.halts(turn) == []
    heard.offered(output, ["a"], None)
    assert heard.halts([answer]) == []


@pytest.mark.requirement("openai:model:usage")
def test_a_response_without_usage_counts_nothing():
    from hornbook_openai_agents.adapter import usage

    counted = usage(ModelResponse(output=[], usage=Usage(), response_id=None), "m")
    assert (counted.model, counted.input_tokens, counted.output_tokens) == ("m", 0, 0)
