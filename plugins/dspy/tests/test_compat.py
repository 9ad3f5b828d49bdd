"""What the adapter relies on and DSPy does not quite promise, held against what is installed."""

import importlib
import inspect
from typing import Any, Literal

import dspy
import pytest

from hornbook_dspy import compat
from hornbook_dspy.react import reading_any_name

deprecation: Any = importlib.import_module("dspy.clients._deprecation")


def tool(name: str) -> str:
    """A tool."""
    return name


@pytest.mark.requirement("dspy:compat:private")
def test_the_installed_version_is_one_that_is_supported():
    assert compat.supported(dspy.__version__)


@pytest.mark.requirement("dspy:compat:private")
def test_an_adapters_call_of_a_model_is_told_by_model_and_messages():
    origin, messages, lm, changed = object(), [{}], object(), [{}, {}]
    with compat.relayed(origin, messages, lm, changed):
        assert deprecation._adapter_call.get() is None
    with (
        deprecation.adapter_message_call(origin, messages),
        compat.relayed(origin, messages, lm, changed),
    ):
        assert deprecation._adapter_call.get() == (lm, changed)


@pytest.mark.requirement("dspy:compat:private")
def test_react_asks_for_its_tool_by_a_literal_and_a_dict():
    agent = dspy.ReAct("question -> answer", tools=[tool])
    fields = agent.react.signature.output_fields
    assert fields["next_tool_name"].annotation == Literal["tool", "finish"]
    assert list(fields) == ["next_thought", "next_tool_name", "next_tool_args"]
    assert isinstance(agent.extract.predict, dspy.Predict)
    other = dspy.Predict("question -> answer")
    assert reading_any_name(other) is other.signature


@pytest.mark.requirement("dspy:compat:private")
def test_reactv2_calls_tools_by_a_field_of_tool_calls():
    agent = dspy.ReActV2("question -> answer", tools=[tool])
    assert agent.react.signature.output_fields["tool_calls"].annotation is dspy.ToolCalls
    assert list(agent.tools) == ["tool", "submit"]


@pytest.mark.requirement("dspy:compat:private")
def test_adapters_read_a_text_by_the_output_fields_alone():
    signature = dspy.Signature("question -> answer: int, note")
    for adapter, text in (
        (dspy.ChatAdapter(), "[[ ## answer ## ]]\n4\n\n[[ ## note ## ]]\nx"),
        (dspy.JSONAdapter(), '{"answer": 4, "note": "x"}'),
        (dspy.XMLAdapter(), "<answer>4</answer><note>x</note>"),
    ):
        assert compat.parsed(adapter, signature, text) == {"answer": 4, "note": "x"}
        assert compat.parsed(adapter, signature, "nothing") is None
    assert compat.annotation_name(Literal["a", "b"]) == "Literal['a', 'b']"


@pytest.mark.requirement("dspy:compat:private")
def test_dspy_keeps_what_it_records_of_a_call_in_each_calling_modules_history():
    source = inspect.getsource(importlib.import_module("dspy.clients.base_lm").record_history)
    assert "settings.caller_modules" in source
    assert "owner.history.append(entry)" in source
