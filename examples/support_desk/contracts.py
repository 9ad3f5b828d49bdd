"""What must hold at the support desk, whatever the model decides."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hornbook import Contract, Recover, Violation, clauses
from hornbook.rules import RuleLibrary
from hornbook_langgraph import HornbookMiddleware, contract

from .database import one, rows
from .tools import refundable

__all__ = ["guard", "sound_triage"]


def identity_verified(call: Mapping[str, Any]) -> bool:
    """Whether the customer of the order has been verified."""
    query = "SELECT 1 FROM orders JOIN verifications USING (customer_id) WHERE order_id = ?"
    return one(query, call["order_id"]) is not None


def within_policy(call: Mapping[str, Any]) -> bool:
    """Whether the policy allows to refund as much."""
    return call["amount"] <= refundable(call["order_id"])


def amounts_refunded(call: Mapping[str, Any]) -> bool:
    """Whether each amount that a reply names was refunded to that customer."""
    paid = rows(
        """SELECT amount FROM refunds JOIN orders USING (order_id)
           JOIN customers USING (customer_id) WHERE email = ?""",
        call["to"],
    )
    named = {float(amount) for amount in re.findall(r"(\d+\.\d\d) EUR", call["body"])}
    return named <= {row["amount"] for row in paid}


REFUND = Contract(
    "refund",
    requires=[
        clauses.that(
            "a verified customer; call verify_identity first", identity_verified, name="verified"
        ),
        clauses.that(
            "an amount that check_refund_policy allows", within_policy, name="within policy"
        ),
    ],
)
REPLY = Contract(
    "reply",
    requires=[
        clauses.that("only amounts that were refunded", amounts_refunded, name="true amounts")
    ],
)
TRIAGE = Contract(
    "triage",
    ensures=[
        clauses.one_of("request.intent", ["refund", "pickup", "question"]),
        clauses.grounded("request.order_id", source="email", optional=True),
    ],
)


def tell(inputs: Mapping[str, Any], violation: Violation) -> dict[str, Any]:
    """Tell the next attempt what was wrong with the last one, in the notes it reads anyway."""
    return {"notes": f"Your last answer was rejected. {violation}"}


def by_pattern(state: Mapping[str, Any]) -> dict[str, Any]:
    """Triage without a model: an order number has a form of its own."""
    found = re.search(r"\bBW-\d{5}\b", state["email"])
    intent = "refund" if re.search(r"refund|money", state["email"], re.IGNORECASE) else "question"
    return {"request": {"intent": intent, "order_id": found and found.group()}}


sound_triage = contract(TRIAGE, recover=Recover(retry=1, modify=tell, fallback=[by_pattern]))
"""Triage asks once more, told what was wrong, and then does without the model."""


def guard() -> HornbookMiddleware:
    """Guard the agent's calls; inject the rules that were approved so far."""
    library = Path(os.environ["SUPPORT_DESK_DB"]).with_name("rules.jsonl")
    rules = RuleLibrary.load(library) if library.exists() else RuleLibrary()
    return HornbookMiddleware(contracts={"issue_refund": REFUND, "send_reply": REPLY}, rules=rules)
