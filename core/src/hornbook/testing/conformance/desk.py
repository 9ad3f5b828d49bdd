"""The tools of the scenarios: a shop's desk, with a state that remembers what was done."""

import inspect
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from hornbook.step.attempts import feedback

__all__ = ["Desk", "OutOfStock"]

_ORDERS: Mapping[str, Mapping[str, Any]] = {
    "A-1001": {"id": "A-1001", "status": "delivered", "amount": 40.0},
    "A-1002": {"id": "A-1002", "status": "shipped", "amount": 15.5},
}


class OutOfStock(Exception):
    """What `ship` raises when there is nothing to ship."""


class Desk:
    """The state of one shop, and its tools as plain functions.

    Args:
        stock: how often `ship` fails before it has something to ship.
        heeds: whether `quote` gives a right price once it is told that the last was wrong.
        asynchronous: whether the tools are coroutine functions.
    """

    def __init__(self, *, stock: int = 0, heeds: bool = False, asynchronous: bool = False) -> None:
        self._missing = stock
        self._heeds = heeds
        self._asynchronous = asynchronous
        self._lock = threading.Lock()
        self.calls: Counter[str] = Counter()
        self.refunds: list[Mapping[str, Any]] = []

    def state(self) -> dict[str, Any]:
        """What was done: how often each tool ran, and what was refunded."""
        refunds = sorted(self.refunds, key=lambda one: str(one["order_id"]))
        return {"calls": dict(sorted(self.calls.items())), "refunds": refunds}

    def tools(self) -> tuple[Callable[..., Any], ...]:
        """The tools, as an agent takes them."""

        def find_order(order_id: str) -> dict[str, Any]:
            """Look an order up by its number."""
            self._count("find_order")
            return dict(_ORDERS.get(order_id, {"id": order_id, "status": "unknown"}))

        def recent_orders() -> list[str]:
            """List the numbers of the customer's recent orders."""
            self._count("recent_orders")
            return ["A-1002"]

        def refund(order_id: str, amount: float) -> str:
            """Pay an amount back for an order."""
            self._count("refund")
            with self._lock:
                self.refunds.append({"order_id": order_id, "amount": amount})
            return f"refunded {amount:.2f} for {order_id}"

        def quote(order_id: str) -> dict[str, Any]:
            """Price the delivery of an order."""
            self._count("quote")
            right = self._heeds and feedback() is not None
            return {"order": order_id, "price": 4.5 if right else -1.0}

        def ship(order_id: str) -> dict[str, Any]:
            """Send an order off."""
            self._count("ship")
            with self._lock:
                self._missing -= 1
                missing = self._missing >= 0
            if missing:
                raise OutOfStock(f"nothing to ship for {order_id}")
            return {"order": order_id, "state": "on its way"}

        tools = (find_order, recent_orders, refund, quote, ship)
        return tuple(map(_asynchronous, tools)) if self._asynchronous else tools

    def _count(self, tool: str) -> None:
        with self._lock:
            self.calls[tool] += 1


def _asynchronous(fn: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(fn)
    async def asynchronous(*args: Any, **kwargs: Any) -> Any:
        import asyncio

        await asyncio.sleep(0)
        return fn(*args, **kwargs)

    made: Any = asynchronous
    del made.__wrapped__  # hosts look through it, and would see a plain function
    made.__signature__ = inspect.signature(fn)
    return made
