"""The adapter's words for the host: ids, usage, control flow, and the form of answers."""

import asyncio
from typing import Any

import dspy
import pytest

from hornbook import Contract, clauses
from hornbook.hosting import Usage
from hornbook.step import Decision
from hornbook.testing import Script
from hornbook_dspy import HornbookLM, adapter
from hornbook_dspy.scope import Blocked
from hornbook_dspy.testing import scripted

REPORT = Contract("small", requires=[clauses.in_range("n", high=3)]).check_inputs({"n": 9})


@pytest.mark.requirement("dspy:adapter:control-flow")
def test_halts_cancels_and_interrupts_are_control_flow_and_errors_are_not():
    assert adapter.is_control_flow(adapter.halt(REPORT))
    assert adapter.is_control_flow(asyncio.CancelledError())
    assert adapter.is_control_flow(KeyboardInterrupt())
    assert not adapter.is_control_flow(ValueError())


@pytest.mark.requirement("dspy:adapter:usage")
def test_usage_is_read_from_a_response_and_from_a_history():
    lm = HornbookLM(scripted(Script.of("hello")))
    lm("hi")
    counted = Usage(model="scripted-1", input_tokens=10, output_tokens=5)
    assert adapter.usage(lm.history[0]) == counted
    assert adapter.usage(lm.history[0]["response"]) == counted
    assert adapter.usage({"usage": {}, "response_model": None}) == Usage()
    assert adapter.usage({"usage": {"total_tokens": 9}}) == Usage(input_tokens=9)


@pytest.mark.requirement("dspy:adapter:to-host")
def test_a_decision_is_a_value_or_an_observation():
    assert adapter.to_host(Decision(action="substitute", value=3)) == 3
    blocked: Any = adapter.to_host(Decision(action="block", reason="closed"))
    assert isinstance(blocked, Blocked)
    assert blocked == "The call was not made: closed"
    told = adapter.to_host(Decision(action="block"), REPORT)
    assert told.startswith("The call of 'small' was not made.")


@pytest.mark.requirement("dspy:identity:call")
def test_outside_of_any_module_there_is_nothing_to_tell():
    assert adapter.step_identity() == {}
    assert adapter.step_identity(rollout_id=3, other=None) == {"rollout_id": 3}
    with dspy.context(caller_modules=[dspy.Predict("a -> b")]):
        assert adapter.step_identity() == {"module": "Predict"}
