"""The conformance kit on DSPy: on ReActV2, and on ReAct as far as its one call at a time goes."""

from typing import Any

import dspy
import pytest

import hornbook
from hornbook import plugins
from hornbook.hooks import hookimpl
from hornbook.step import Decision
from hornbook.testing import Script, call, conformance
from hornbook.testing import scripted as scripted_of
from hornbook.testing.conformance import normalised
from hornbook_dspy import context, guard
from hornbook_dspy.adapter import CAPABILITIES
from hornbook_dspy.testing import ConformanceAdapter, ReActAdapter, adapter, scripted

TWICE = "hook-substitutes-an-answer"
"""What ReAct does in both calls that it makes for its last word, where the kit knows one."""


@pytest.mark.requirement("dspy:conformance:kit", "dspy:conformance:async")
@pytest.mark.parametrize("case", conformance.cases(), ids=str)
def test_the_kit_holds_on_reactv2(case: Any):
    case.verify(adapter)


@pytest.mark.requirement("dspy:conformance:react")
@pytest.mark.parametrize(
    "case", [one for one in conformance.cases() if one.scenario.name != TWICE], ids=str
)
def test_the_kit_holds_on_react(case: Any):
    case.verify(ReActAdapter)


@pytest.mark.requirement("dspy:conformance:declared")
def test_what_the_host_cannot_do_is_declared():
    undeclared = conformance.CAPABILITIES - CAPABILITIES
    assert undeclared == {"soft_halt", "tool_error_raised"}
    assert ConformanceAdapter().capabilities == CAPABILITIES
    assert CAPABILITIES - ReActAdapter().capabilities == {"parallel_tools"}
    assert adapter().name == "dspy"


def double(number: int) -> int:
    """Double a number."""
    return number * 2


@pytest.mark.requirement("dspy:conformance:react")
def test_what_a_plugin_answers_in_the_models_place_ends_react_as_well(go: Any):
    class Closed:
        @hookimpl
        def hornbook_before_step(self, step: Any) -> Any:
            if step.kind == "model":
                return Decision(action="substitute", value="Come back tomorrow.")
            return None

    agent = guard(dspy.ReAct("question -> answer", tools=[double]))
    with plugins.registered(Closed(), "closed"), context(lm=scripted(Script.of())):
        assert go(agent, question="Open?").answer == "Come back tomorrow."


@pytest.mark.requirement("dspy:testing:scripted")
@pytest.mark.parametrize("kind", [dspy.ReAct, dspy.ReActV2])
@pytest.mark.parametrize("native", [False, True])
def test_a_script_plays_on_either_agent_whatever_form_its_calls_have(
    go: Any, kind: Any, native: bool
):
    playing = Script.of(call("double", number=4), "It is 8.").open()
    lm = scripted_of("dspy", playing)
    lm.engine.supports_function_calling = native
    agent = guard(kind("question -> answer", tools=[double]))
    chat = dspy.ChatAdapter(use_native_function_calling=native)
    with hornbook.run(trace=None) as run, context(lm=lm, adapter=chat):
        assert go(agent, question="Double 4.").answer == "It is 8."
    playing.finish()
    assert [one.name for one in normalised(run.events) if one.kind == "tool"] == ["double"]
    assert run.meter.spent.tokens == playing.tokens
    if native and kind is dspy.ReActV2:
        assert playing.asked[0].tools == ("double", "submit")


@pytest.mark.requirement("dspy:testing:scripted")
def test_a_script_plays_on_a_plain_predictor_with_one_field_or_several(go: Any):
    script = Script.of("Paris", '{"city": "Paris", "country": "France"}', "bare")
    lm = scripted(script)
    with dspy.context(lm=lm):
        assert go(dspy.Predict("question -> answer"), question="?").answer == "Paris"
        place = go(dspy.ChainOfThought("question -> city, country"), question="?")
        assert (place.city, place.country, place.reasoning) == ("Paris", "France", "")
    assert go(lm, "anything") == ["bare"]
