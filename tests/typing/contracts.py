"""The opening example of the contracts, and what its types must be."""

from typing import Any, assert_type

from pydantic import BaseModel

from hornbook import Checked, Contract, Recover, checked, clauses, contract


class Refund(BaseModel):
    order_id: str
    amount: float


def amount_positive(refund: Refund) -> bool:
    return refund.amount > 0


refund = Contract(
    "refund-request",
    version="1",
    output=Refund,
    requires=[clauses.bound("query")],
    ensures=[
        clauses.grounded("order_id", source="query"),
        clauses.that("amount is positive", amount_positive),
    ],
)
assert_type(refund, Contract[Refund])

union = Contract("union", output=Refund | None)
assert_type(union, Contract[Any])


def from_form(query: str) -> Refund:
    return Refund(order_id=query.split()[-1], amount=1.0)


@contract(refund, recover=Recover(retry=2, fallback=[from_form], then="halt"))
def extract(query: str) -> Refund:
    return Refund(order_id=query, amount=2.0)


@contract(refund)
async def extract_later(query: str) -> Refund:
    return extract(query)


class Desk:
    @contract(refund)
    def extract(self, query: str) -> Refund:
        return Refund(order_id=query, amount=2.0)


assert_type(extract("refund A17"), Refund)
assert_type(checked(extract)("refund A17"), Checked[Refund])
assert_type(Desk().extract("refund A17"), Refund)
extract(17)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
extract(text="refund")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]


async def asynchronous() -> None:
    assert_type(await extract_later("refund A17"), Refund)
    assert_type(await checked(extract_later)("refund A17"), Checked[Refund])
