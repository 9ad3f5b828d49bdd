"""The conformance kit on the Agents SDK."""

import asyncio
from typing import Any

import pytest

from hornbook import testing
from hornbook.testing import conformance
from hornbook.testing.script import Script, ScriptError, call
from hornbook_openai_agents import run
from hornbook_openai_agents.adapter import CAPABILITIES
from hornbook_openai_agents.testing import adapter, scripted


@pytest.mark.usefixtures("left_loops")
@pytest.mark.requirement("openai:conformance:kit")
@pytest.mark.parametrize("case", conformance.cases(), ids=str)
def test_the_kit_holds(case: Any):
    case.verify(adapter)


@pytest.mark.requirement("openai:conformance:declared")
def test_what_the_host_cannot_do_is_declared():
    lacking = conformance.CAPABILITIES - CAPABILITIES
    assert lacking == {"tool_error_raised"}
    assert adapter().capabilities == CAPABILITIES
    assert adapter().name == "openai_agents"


@pytest.mark.requirement("openai:testing:scripted")
def test_a_script_plays_on_an_agent_of_the_sdk():
    from agents import Agent, function_tool

    @function_tool
    def double(number: int) -> int:
        """Double a number."""
        return number * 2

    model = scripted(Script.of(call("double", number=4), "It is 8."))
    result = asyncio.run(run(Agent(name="a", tools=[double], model=model), "Double 4."))
    assert result.final_output == "It is 8."
    assert [asked.tools for asked in model.conversation.asked] == [("double",), ("double",)]
    assert "Double 4." in model.conversation.asked[0].text
    model.conversation.finish()
    found = testing.scripted("openai_agents", Script.of("Hi."))
    assert type(found) is type(model)
    with pytest.raises(ScriptError):
        asyncio.run(run(Agent(name="a", model=model), "And again."))
