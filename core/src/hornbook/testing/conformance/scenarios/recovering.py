"""Scenarios of contracts on tools: retries, fallbacks, preconditions, tools that raise."""

from collections.abc import Mapping
from typing import Any

from hornbook.contracts import Contract, clauses
from hornbook.step.recover import Recover
from hornbook.testing.conformance.desk import Desk, OutOfStock
from hornbook.testing.conformance.scenario import Did, Scenario, Turn, model, raised, said, tool
from hornbook.testing.script import Reply, call

__all__ = ["DELIVERY", "PRICED", "SCENARIOS", "list_price"]

_ORDER = {"order_id": "A-1001"}
_QUOTE = call("quote", **_ORDER)
_SHIP = call("ship", **_ORDER)

PRICED = Contract("delivery-price", ensures=[clauses.in_range("price", low=0.0)])
DELIVERY = Contract("delivery", ensures=[clauses.that("says something", bool)])
_LIMIT = Contract("refund-limit", requires=[clauses.in_range("amount", high=100.0)])


def list_price(order_id: str) -> dict[str, Any]:
    """What delivery costs according to the list."""
    return {"order": order_id, "price": 9.9}


def backorder(order_id: str) -> dict[str, Any]:
    """What is done when nothing is there to ship."""
    return {"order": order_id, "state": "on back order"}


def _recovered(*decisions: str, violated: str) -> Mapping[str, Any]:
    return {
        "status": "recovered",
        "attempts": 2,
        "violated": (violated,),
        "decisions": decisions,
    }


def _one_call(called: Did) -> tuple[Did, ...]:
    return (model(), called, model())


def _raising(
    name: str, about: str, *, stock: int, recover: Recover, decision: str, shown: str
) -> Scenario:
    """A scenario in which the exception of a tool counts as a violation, and is recovered."""
    return Scenario(
        name=name,
        about=about,
        contracts={"ship": (DELIVERY, recover)},
        desk=lambda: Desk(stock=stock),
        turns=(
            Turn(
                says="Ship A-1001.",
                replies=[_SHIP, Reply(text="Done.", shown=(shown,), hidden=("nothing to ship",))],
                ends=said("Done."),
            ),
        ),
        record=_one_call(tool("ship", _ORDER, **_recovered(decision, violated="exception"))),
        state={"calls": {"ship": 2 if decision == "retry" else 1}},
    )


SCENARIOS = (
    Scenario(
        name="contract-retried",
        about="A tool whose output is refused is called again, and told what was wrong.",
        contracts={"quote": (PRICED, Recover(retry=1))},
        desk=lambda: Desk(heeds=True),
        turns=(
            Turn(
                says="What does the delivery of A-1001 cost?",
                replies=[_QUOTE, Reply(text="4.50 euros.", shown=("4.5",), hidden=("-1.0",))],
                ends=said("4.50 euros."),
            ),
        ),
        record=_one_call(
            tool("quote", _ORDER, **_recovered("retry", violated="in_range price at price"))
        ),
        state={"calls": {"quote": 2}},
    ),
    Scenario(
        name="contract-fallback",
        about="A fallback answers for a tool whose output is refused.",
        contracts={"quote": (PRICED, Recover(fallback=[list_price]))},
        turns=(
            Turn(
                says="What does the delivery of A-1001 cost?",
                replies=[_QUOTE, Reply(text="9.90 euros.", shown=("9.9",), hidden=("-1.0",))],
                ends=said("9.90 euros."),
            ),
        ),
        record=_one_call(
            tool("quote", _ORDER, **_recovered("fallback", violated="in_range price at price"))
        ),
        state={"calls": {"quote": 1}},
    ),
    Scenario(
        name="contract-waived",
        about="What is refused is given all the same where the recovery says so, and marked.",
        contracts={"quote": (PRICED, Recover(then="waive"))},
        turns=(
            Turn(
                says="What does the delivery of A-1001 cost?",
                replies=[_QUOTE, Reply(text="I am not sure.", shown=("-1.0",))],
                ends=said("I am not sure."),
            ),
        ),
        record=_one_call(
            tool(
                "quote",
                _ORDER,
                status="waived",
                violated=("in_range price at price",),
                decisions=("waive",),
            )
        ),
        state={"calls": {"quote": 1}},
    ),
    Scenario(
        name="tool-precondition",
        about="A tool whose precondition is not met does not run, and the model is told why.",
        contracts={"refund": _LIMIT},
        turns=(
            Turn(
                says="Refund 400 euros for order A-1001, or 40 if that is too much.",
                replies=[
                    call("refund", order_id="A-1001", amount=400.0),
                    Reply(
                        calls=(call("refund", order_id="A-1001", amount=40.0),),
                        shown=("was not made", "amount: expected at most 100"),
                    ),
                    "40 euros are on their way.",
                ],
                ends=said("40 euros are on their way."),
            ),
        ),
        record=(
            model(),
            tool(
                "refund",
                {"order_id": "A-1001", "amount": 400.0},
                status="violated",
                attempts=0,
                violated=("in_range amount at amount",),
            ),
            model(),
            tool("refund", {"order_id": "A-1001", "amount": 40.0}),
            model(),
        ),
        state={"calls": {"refund": 1}, "refunds": [{"order_id": "A-1001", "amount": 40.0}]},
    ),
    _raising(
        "raising-tool-retried",
        "An exception that the recovery names is a violation, and the tool is called again.",
        stock=1,
        recover=Recover(retry=1, on=(OutOfStock,)),
        decision="retry",
        shown="on its way",
    ),
    _raising(
        "raising-tool-fallback",
        "A fallback answers for a tool that raises what the recovery names.",
        stock=9,
        recover=Recover(fallback=[backorder], on=(OutOfStock,)),
        decision="fallback",
        shown="on back order",
    ),
    Scenario(
        name="raising-tool-told",
        about="Where the host tells the model of a tool's exception, it still does.",
        needs=frozenset({"tool_error_told"}),
        tool_errors="told",
        desk=lambda: Desk(stock=9),
        turns=(
            Turn(
                says="Ship A-1001.",
                replies=[_SHIP, Reply(text="Nothing is there.", shown=("nothing to ship",))],
                ends=said("Nothing is there."),
            ),
        ),
        record=_one_call(tool("ship", _ORDER, status="error")),
        state={"calls": {"ship": 1}},
    ),
    Scenario(
        name="raising-tool-raises",
        about="Where the host lets a tool's exception out, it still does.",
        needs=frozenset({"tool_error_raised"}),
        tool_errors="raised",
        desk=lambda: Desk(stock=9),
        turns=(
            Turn(
                says="Ship A-1001.",
                replies=[_SHIP],
                ends=raised("OutOfStock", "nothing to ship for A-1001"),
            ),
        ),
        record=(model(), tool("ship", _ORDER, status="error")),
        state={"calls": {"ship": 1}},
    ),
    Scenario(
        name="async-tools",
        about="Tools that are coroutine functions are guarded and recovered like others.",
        needs=frozenset({"async_tools"}),
        modes=("async",),
        contracts={
            "quote": (PRICED, Recover(retry=1)),
            "ship": (DELIVERY, Recover(fallback=[backorder], on=(OutOfStock,))),
        },
        desk=lambda: Desk(stock=9, heeds=True, asynchronous=True),
        turns=(
            Turn(
                says="Quote and ship A-1001.",
                replies=[
                    call("find_order", order_id="A-7777"),
                    Reply(calls=(_QUOTE,), shown=("it stands in none of",)),
                    Reply(calls=(_SHIP,), shown=("4.5",)),
                    Reply(text="On back order.", shown=("on back order",)),
                ],
                ends=said("On back order."),
            ),
        ),
        record=(
            model(),
            tool(
                "find_order",
                {"order_id": "A-7777"},
                status="blocked",
                attempts=0,
                violated=("grounded order_id at order_id",),
                decisions=("block",),
            ),
            model(),
            tool("quote", _ORDER, **_recovered("retry", violated="in_range price at price")),
            model(),
            tool("ship", _ORDER, **_recovered("fallback", violated="exception")),
            model(),
        ),
        state={"calls": {"quote": 2, "ship": 1}},
    ),
)
