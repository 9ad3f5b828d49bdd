"""Scenarios of the tool guard: which calls are made, and what the model is told of others."""

from typing import Any

from hornbook.contracts import clauses
from hornbook.kernel.guard import ToolGuard
from hornbook.kernel.registry import ToolRegistry
from hornbook.testing.conformance.scenario import Scenario, Turn, model, said, tool
from hornbook.testing.script import Reply, call

__all__ = ["SCENARIOS"]

_ORDER = {"order_id": "A-1001"}
_REFUND: dict[str, Any] = {"order_id": "A-1001", "amount": 40.0}
_REFUNDED = {"calls": {"refund": 1}, "refunds": [_REFUND]}
_ASKS = "Refund 40 euros for order A-1001, please."
_DONE = "Order A-1001 is refunded."


def _blocked(*violated: str) -> dict[str, Any]:
    return {"status": "blocked", "attempts": 0, "violated": violated, "decisions": ("block",)}


def _told(*shown: str) -> Reply:
    """The right call, once the model was told what was wrong with the last."""
    return Reply(calls=(call("refund", **_REFUND),), shown=shown)


def _corrected(
    name: str, about: str, wrong: dict[str, Any], violated: str, *shown: str
) -> Scenario:
    """A scenario in which the first call is refused and the second is right."""
    return Scenario(
        name=name,
        about=about,
        turns=(
            Turn(
                says=_ASKS,
                replies=[call("refund", **wrong), _told("was not made", *shown), _DONE],
                ends=said(_DONE),
            ),
        ),
        record=(
            model(),
            tool("refund", wrong, **_blocked(violated)),
            model(),
            tool("refund", _REFUND),
            model(),
        ),
        state=_REFUNDED,
    )


SCENARIOS = (
    Scenario(
        name="right-call",
        about="Calls that are right are made, and the model sees their results.",
        turns=(
            Turn(
                says=_ASKS,
                replies=[
                    call("find_order", **_ORDER),
                    Reply(calls=(call("refund", **_REFUND),), shown=("delivered",)),
                    Reply(text=_DONE, shown=("refunded 40.00 for A-1001",)),
                ],
                ends=said(_DONE),
            ),
        ),
        record=(
            model(),
            tool("find_order", _ORDER),
            model(),
            tool("refund", _REFUND),
            model(),
        ),
        state={"calls": {"find_order": 1, "refund": 1}, "refunds": [_REFUND]},
    ),
    _corrected(
        "missing-argument",
        "A call without a required argument is not made, and the model can correct it.",
        dict(_ORDER),
        "arguments-complete at amount",
        "amount: missing",
    ),
    _corrected(
        "unknown-argument",
        "A call with an argument that the tool does not have is not made.",
        {**_REFUND, "currency": "EUR"},
        "arguments-known at currency",
        "currency: there is no such argument",
    ),
    _corrected(
        "ill-typed-argument",
        "A call with an argument of the wrong type is not made.",
        {**_ORDER, "amount": "all of it"},
        "arguments-typed at amount",
        "amount: expected",
        "got all of it",
    ),
    _corrected(
        "ungrounded-argument",
        "A call with an order number that nobody gave is not made.",
        {"order_id": "A-7777", "amount": 40.0},
        "grounded order_id at order_id",
        "order_id: expected a value that the user gave or a tool returned",
        "it stands in none of",
    ),
    Scenario(
        name="other-conversation-is-no-source",
        about="What one conversation heard is no source in another.",
        before=Scenario(
            name="other-conversation",
            about="The conversation in which the order's number is named.",
            turns=(
                Turn(
                    says="Where is order A-1001?",
                    replies=[call("find_order", **_ORDER), "It is delivered."],
                    ends=said("It is delivered."),
                ),
            ),
            record=(model(), tool("find_order", _ORDER), model()),
            state={"calls": {"find_order": 1}},
        ),
        turns=(
            Turn(
                says="Refund 40 euros for my order, please.",
                replies=[call("refund", **_REFUND), "Which order do you mean?"],
                ends=said("Which order do you mean?"),
            ),
        ),
        record=(
            model(),
            tool("refund", _REFUND, **_blocked("grounded order_id at order_id")),
            model(),
        ),
    ),
    Scenario(
        name="error-is-no-source",
        about="An invented value stays invented, however often the model was told of it.",
        turns=(
            Turn(
                says="Where is my order?",
                replies=[
                    call("find_order", order_id="A-7777"),
                    Reply(calls=(call("find_order", order_id="A-7777"),), shown=("A-7777",)),
                    "Which order do you mean?",
                ],
                ends=said("Which order do you mean?"),
            ),
        ),
        record=(
            model(),
            tool("find_order", {"order_id": "A-7777"}, **_blocked("grounded order_id at order_id")),
            model(),
            tool("find_order", {"order_id": "A-7777"}, **_blocked("grounded order_id at order_id")),
            model(),
        ),
    ),
    Scenario(
        name="grounded-in-a-result",
        about="What a tool returned is a source for later calls.",
        turns=(
            Turn(
                says="Where is my last order?",
                replies=[
                    call("recent_orders"),
                    Reply(calls=(call("find_order", order_id="A-1002"),), shown=("A-1002",)),
                    Reply(text="It is shipped.", shown=("shipped",)),
                ],
                ends=said("It is shipped."),
            ),
        ),
        record=(
            model(),
            tool("recent_orders"),
            model(),
            tool("find_order", {"order_id": "A-1002"}),
            model(),
        ),
        state={"calls": {"find_order": 1, "recent_orders": 1}},
    ),
    Scenario(
        name="grounded-in-an-earlier-turn",
        about="What the user said in an earlier turn is a source too.",
        needs=frozenset({"turns"}),
        turns=(
            Turn(
                says="It is about order A-1001.",
                replies=["What about it?"],
                ends=said("What about it?"),
            ),
            Turn(
                says="Refund 40 euros, please.",
                replies=[call("refund", **_REFUND), _DONE],
                ends=said(_DONE),
            ),
        ),
        record=(model(), model(), tool("refund", _REFUND), model()),
        state=_REFUNDED,
    ),
    Scenario(
        name="declared-grounding",
        about="An amount that the guard is told to ground must have been named.",
        guard=lambda tools: ToolGuard(ToolRegistry.of(*tools), grounded={"refund": ["amount"]}),
        turns=(
            Turn(
                says=_ASKS,
                replies=[
                    call("refund", order_id="A-1001", amount=55.0),
                    _told("amount: expected a value that the user gave"),
                    _DONE,
                ],
                ends=said(_DONE),
            ),
        ),
        record=(
            model(),
            tool(
                "refund",
                {"order_id": "A-1001", "amount": 55.0},
                **_blocked("grounded amount at amount"),
            ),
            model(),
            tool("refund", _REFUND),
            model(),
        ),
        state=_REFUNDED,
    ),
    Scenario(
        name="guarded-precondition",
        about="A guard's own requirement on the arguments blocks a call that does not meet it.",
        guard=lambda tools: ToolGuard(
            ToolRegistry.of(*tools), requires={"refund": [clauses.in_range("amount", high=100.0)]}
        ),
        turns=(
            Turn(
                says="Refund 400 euros for order A-1001, or 40 if that is too much.",
                replies=[
                    call("refund", order_id="A-1001", amount=400.0),
                    _told("amount: expected at most 100"),
                    _DONE,
                ],
                ends=said(_DONE),
            ),
        ),
        record=(
            model(),
            tool(
                "refund",
                {"order_id": "A-1001", "amount": 400.0},
                **_blocked("in_range amount at amount"),
            ),
            model(),
            tool("refund", _REFUND),
            model(),
        ),
        state=_REFUNDED,
    ),
    Scenario(
        name="unknown-tool",
        about="A call of a tool that there is not is refused, naming those that are near.",
        needs=frozenset({"unknown_tool"}),
        turns=(
            Turn(
                says=_ASKS,
                replies=[call("refnd", **_REFUND), _told("refnd", "nearest: refund"), _DONE],
                ends=said(_DONE),
            ),
        ),
        record=(
            model(),
            tool("refnd", _REFUND, **_blocked("known-tool")),
            model(),
            tool("refund", _REFUND),
            model(),
        ),
        state=_REFUNDED,
    ),
    Scenario(
        name="parallel-calls",
        about="Of two calls at once the wrong one is blocked, and the other is made.",
        needs=frozenset({"parallel_tools"}),
        turns=(
            Turn(
                says="Where are A-1001 and the other one?",
                replies=[
                    [call("find_order", **_ORDER), call("find_order", order_id="A-7777")],
                    Reply(text="A-1001 is delivered.", shown=("delivered", "it stands in none of")),
                ],
                ends=said("A-1001 is delivered."),
            ),
        ),
        record=(
            model(),
            tool("find_order", _ORDER),
            tool("find_order", {"order_id": "A-7777"}, **_blocked("grounded order_id at order_id")),
            model(),
        ),
        state={"calls": {"find_order": 1}},
    ),
)
