"""Side effects that were made already, and calls that vary one just made."""

import pytest

from hornbook.kernel import GuardContext, SeenCall, ToolGuard, ToolRegistry


def pay(receiver: str, amount: float) -> str:
    """Pay an amount to a receiver."""
    return f"{receiver} {amount}"


REGISTRY = ToolRegistry.from_json_schema(
    [
        {
            "name": name,
            "description": description,
            "read_only": name.startswith("get"),
            "parameters": {
                "type": "object",
                "properties": {"receiver": {"type": "string"}, "text": {"type": "string"}},
            },
        }
        for name, description in [
            ("send_message", "Send a message."),
            ("get_messages", "Get messages."),
        ]
    ]
)
GUARD = ToolGuard(REGISTRY, grounding="off")
HELLO = {"receiver": "Ann", "text": "Hello"}


def seen(tool="send_message", turn=1, error=None, arguments=HELLO):
    return SeenCall(tool=tool, arguments=arguments, value="sent", error=error, turn=turn)


def check(request, *calls, tool="send_message", before=(), arguments=HELLO):
    context = GuardContext(turns=(*before, request), calls=calls)
    return GUARD.check(tool, dict(arguments), context)


@pytest.mark.requirement("guard:repeat:same-turn")
def test_an_identical_side_effect_is_refused_within_a_turn():
    report = check("Send 'Hello' to Ann.", seen())
    (found,) = report.violations
    assert (found.clause, found.evidence) == (
        "not-repeated",
        {"tool": "send_message", "turn": 1},
    )
    assert found.hint == "the same call was made in this turn and took effect; go on without it"
    assert "send_message" in GUARD.feedback(report)


@pytest.mark.requirement("guard:repeat:later-turn")
def test_one_of_an_earlier_turn_is_refused_where_the_request_does_not_ask_for_it():
    assert not check("What did I write?", seen(), before=("Send 'Hello' to Ann.",)).ok
    again = check("Send the message 'Hello' to Ann.", seen(), before=("Send 'Hello' to Ann.",))
    assert again.ok


@pytest.mark.requirement("guard:repeat:allowed")
@pytest.mark.parametrize("request_", ["Send it again.", "Send it twice.", "One more, please."])
def test_a_repeat_that_is_asked_for_is_let_pass(request_):
    assert check(request_, seen()).ok


@pytest.mark.requirement("guard:repeat:moved-on")
def test_a_call_is_no_repeat_once_the_tool_was_called_otherwise():
    other = seen(arguments={"receiver": "Bob", "text": "Hello"})
    assert check("Send 'Hello' to Ann, Bob.", seen(), other).ok


@pytest.mark.requirement("guard:repeat:harmless")
def test_reading_twice_and_trying_again_after_an_error_are_no_repeats():
    assert check("Show it.", seen("get_messages"), tool="get_messages").ok
    assert check("Send 'Hello' to Ann.", seen(error="timed out")).ok


@pytest.mark.requirement("guard:varied:weaker")
def test_a_call_that_varies_the_one_asked_for_is_refused():
    report = check("Send 'Hello' to Ann.", seen(), arguments={"receiver": "Ann", "text": "Send"})
    assert [(v.clause, v.path, v.observed) for v in report.violations] == [
        ("not-varied", "text", "'Send'")
    ]
    both = check(
        "Send 'Hello' and 'Bye' to Ann.", seen(), arguments={"receiver": "Ann", "text": "Bye"}
    )
    assert both.ok


@pytest.mark.requirement("guard:repeat:quick")
def test_without_calls_seen_nothing_is_asked():
    guard = ToolGuard(ToolRegistry.of(pay), grounding="off")
    arguments = {"receiver": "Ann", "amount": 5.0}
    alone = guard.check("pay", arguments, GuardContext(turns=("Pay Ann 5.",)))
    assert alone.ok
    assert not any(v.clause == "not-repeated" for v in alone.verdicts)
    made = SeenCall(tool="pay", arguments=arguments, value="paid", turn=1)
    for _ in range(2):  # the second is answered by the quick test first
        after = guard.check("pay", arguments, GuardContext(turns=("Pay Ann 5.",), calls=(made,)))
        assert [v.clause for v in after.violations] == ["not-repeated"]


@pytest.mark.requirement("guard:repeat:async")
async def test_the_async_check_says_the_same():
    context = GuardContext(turns=("Send 'Hello' to Ann.",), calls=(seen(),))
    report = await GUARD.acheck("send_message", HELLO, context)
    assert [v.clause for v in report.violations] == ["not-repeated"]
