"""The nine tools of the support desk; each reads or changes the shop's database."""

from datetime import date, timedelta
from typing import Any, Literal

from langchain_core.tools import BaseTool, ToolException, tool

from .database import connect, one, rows

__all__ = ["TODAY", "TOOLS", "refundable"]

TODAY = date(2026, 3, 16)
"""The day the e-mails came in, so that the policy says the same whenever this is run."""


def refundable(order_id: str) -> float:
    """What the policy still allows to refund for an order."""
    items = rows(
        """SELECT quantity * price * (100 - fee_percent) / 100 AS value FROM items
           JOIN policies USING (category) JOIN orders USING (order_id)
           WHERE order_id = ? AND delivered_on > '' AND date(delivered_on, days || ' days') >= ?""",
        order_id,
        TODAY.isoformat(),
    )
    return round(sum(item["value"] for item in items) - _refunded(order_id), 2)


@tool
def find_customer(email: str) -> dict[str, Any]:
    """Find the customer who has this e-mail address."""
    query = "SELECT customer_id, name, email, city FROM customers WHERE email = ?"
    return _found(one(query, email), f"no customer has the address {email}")


@tool
def list_orders(customer_id: str) -> list[dict[str, Any]]:
    """List a customer's orders, newest first, with what was ordered."""
    return rows(
        """SELECT order_id, placed_on, status, group_concat(name, '; ') AS items FROM orders
           JOIN items USING (order_id) WHERE customer_id = ? GROUP BY order_id
           ORDER BY placed_on DESC""",
        customer_id,
    )


@tool
def get_order(order_id: str) -> dict[str, Any]:
    """Look an order up: customer, dates, status, items and total."""
    order = _order(order_id)
    items = rows("SELECT name, quantity, price FROM items WHERE order_id = ?", order_id)
    return order | {"items": items, "total": _total(order_id)}


@tool
def check_refund_policy(order_id: str) -> dict[str, Any]:
    """Say how much of an order may be refunded today, and the fees that were taken off."""
    _order(order_id)
    fees = rows(
        """SELECT DISTINCT category, days, fee_percent FROM items JOIN policies USING (category)
           WHERE order_id = ?""",
        order_id,
    )
    return {"order_id": order_id, "refundable": refundable(order_id), "rules": fees}


@tool
def verify_identity(customer_id: str, code: str) -> str:
    """Verify that the sender is the customer, by the customer code they gave."""
    customer = one("SELECT code FROM customers WHERE customer_id = ?", customer_id)
    if _found(customer, f"there is no customer {customer_id}")["code"] != code:
        raise ToolException(f"the code does not match: {customer_id} is not verified")
    with connect() as db:
        db.execute("INSERT OR IGNORE INTO verifications VALUES (?)", (customer_id,))
    return f"{customer_id} is verified"


@tool
def issue_refund(
    order_id: str,
    amount: float,
    reason: str,
    payout: Literal["original_payment", "voucher"] = "original_payment",
) -> str:
    """Pay money back for an order. This cannot be undone."""
    customer = _order(order_id)["customer_id"]
    if not 0 < amount <= _total(order_id) - _refunded(order_id):
        raise ToolException(f"{amount} is more than was paid for {order_id}, or not positive")
    verified = one("SELECT 1 FROM verifications WHERE customer_id = ?", customer) is not None
    with connect() as db:
        db.execute(
            "INSERT INTO refunds (order_id, amount, reason, payout, verified) VALUES (?,?,?,?,?)",
            (order_id, amount, reason, payout, verified),
        )
    return f"refunded {amount:.2f} EUR for {order_id} ({payout})"


@tool
def pickup_slots(order_id: str) -> list[str]:
    """List the days on which the courier can collect an order: the next working days."""
    _order(order_id)
    days = (TODAY + timedelta(days=ahead) for ahead in range(1, 8))
    return [f"{day:%A} {day.isoformat()}" for day in days if day.weekday() < 5]


@tool
def schedule_pickup(order_id: str, pickup_date: date) -> str:
    """Book the courier to collect an order on a day (YYYY-MM-DD)."""
    _order(order_id)
    if pickup_date <= TODAY or pickup_date.weekday() > 4:
        raise ToolException(f"the courier does not drive on {pickup_date.isoformat()}")
    with connect() as db:
        db.execute("REPLACE INTO pickups VALUES (?, ?)", (order_id, pickup_date.isoformat()))
    return f"the courier collects {order_id} on {pickup_date.isoformat()}"


@tool
def send_reply(to: str, body: str) -> str:
    """Send an e-mail to the customer."""
    with connect() as db:
        db.execute("INSERT INTO outbox (recipient, body) VALUES (?, ?)", (to, body))
    return f"sent to {to}"


TOOLS: list[BaseTool] = [
    find_customer,
    list_orders,
    get_order,
    check_refund_policy,
    verify_identity,
    issue_refund,
    pickup_slots,
    schedule_pickup,
    send_reply,
]
for each in TOOLS:
    each.handle_tool_error = True  # the model sees a ToolException's text, the run goes on


def _order(order_id: str) -> dict[str, Any]:
    order = one("SELECT * FROM orders WHERE order_id = ?", order_id)
    return _found(order, f"there is no order {order_id}")


def _found(row: dict[str, Any] | None, otherwise: str) -> dict[str, Any]:
    if row is None:
        raise ToolException(otherwise)
    return row


def _total(order_id: str) -> float:
    return rows("SELECT sum(quantity * price) AS x FROM items WHERE order_id = ?", order_id)[0]["x"]


def _refunded(order_id: str) -> float:
    paid = rows("SELECT sum(amount) AS paid FROM refunds WHERE order_id = ?", order_id)
    return paid[0]["paid"] or 0.0
