"""The conformance kit on `create_agent` with `HornbookMiddleware`."""

from typing import Any

import pytest
from langchain.agents import create_agent

from hornbook.testing import Script, call, conformance, scripted
from hornbook_langgraph.conforming import ConformanceAdapter


@pytest.mark.requirement("langgraph:conformance:kit")
@pytest.mark.parametrize("case", conformance.cases(), ids=str)
def test_the_kit_holds(case: Any):
    case.verify(ConformanceAdapter)


@pytest.mark.requirement("langgraph:conformance:declared")
def test_what_the_host_cannot_do_is_declared():
    lacking = conformance.CAPABILITIES - ConformanceAdapter().capabilities
    assert lacking == {"tool_error_told"}


@pytest.mark.requirement("langgraph:testing:scripted")
def test_a_script_plays_on_an_agent():
    def double(number: int) -> int:
        """Double a number."""
        return number * 2

    model = scripted("langgraph", Script.of(call("double", number=4), "It is 8."))
    said = {"messages": [{"role": "user", "content": "Double 4."}]}
    answer = create_agent(model, [double]).invoke(said)["messages"][-1]
    assert answer.text == "It is 8."
    model.playing.finish()
