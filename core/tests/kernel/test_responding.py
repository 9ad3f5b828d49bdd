"""The final answer, from the trace."""

import pytest

import hornbook
from hornbook.kernel.responding import arespond, respond
from hornbook.models import ScriptedModel

from .kernels import kernel, planning, task


def balance(account: str) -> dict:
    """Tell the balance of an account."""
    return {"balance": 4125}


def done():
    made = kernel([balance], planning(task("t1", "balance", account="AC-7781")))
    return made, made.run("What is the balance of account AC-7781?")


@pytest.mark.requirement("kernel:respond:departures")
def test_an_answer_is_written_from_the_trace():
    made, result = done()
    model = ScriptedModel(["Account AC-7781 has a balance of 4125."])
    response = respond(result, model, guard=made.guard)
    assert response.text == "Account AC-7781 has a balance of 4125."
    assert response.departures == ()
    assert 'balance(account="AC-7781") -> {"balance": 4125}' in (
        model.requests[0].messages[1].content
    )


@pytest.mark.requirement("kernel:respond:departures")
async def test_an_answer_that_states_what_no_result_says_is_asked_again_then_told():
    made, result = done()
    wrong = "Account AC-7781 has a balance of 99000."
    model = ScriptedModel([wrong, "Account AC-7781 has a balance of 4125."])
    assert (await arespond(result, model, guard=made.guard)).departures == ()
    assert model.calls == 2
    stubborn = ScriptedModel([wrong, wrong])
    with hornbook.run():
        response = respond(result, stubborn, guard=made.guard)
    assert response.text == wrong
    (departure,) = response.departures
    assert "99000" in f"{departure.observed} {departure.evidence} {departure.path}"
    assert not respond(result, ScriptedModel([wrong, wrong])).report.ok
