"""Scenarios of halts: by a contract on a tool, by the turn after, by two tools at once."""

from dataclasses import replace
from typing import Literal

from hornbook.testing.conformance.scenario import Did, Scenario, Turn, halted, model, said, tool
from hornbook.testing.conformance.scenarios.recovering import PRICED
from hornbook.testing.script import Reply, call

__all__ = ["SCENARIOS", "soft_and_hard"]

_ORDER = {"order_id": "A-1001"}
_VIOLATED = {
    "status": "violated",
    "violated": ("in_range price at price",),
    "decisions": ("halt",),
}
_HALTED = tool("quote", _ORDER, **_VIOLATED)


def soft_and_hard(scenario: Scenario) -> tuple[Scenario, Scenario]:
    """A scenario of a halting turn, for either way in which a host may halt.

    Its endings name no exception; the hard one then ends in `ContractViolation`.
    """
    return _halting(scenario, "soft"), _halting(scenario, "hard")


def _halting(scenario: Scenario, halt: Literal["soft", "hard"]) -> Scenario:
    turns = tuple(
        replace(turn, ends=halted(halt, *turn.ends.mentions)) if turn.ends.text is None else turn
        for turn in scenario.turns
    )
    return replace(
        scenario,
        name=f"{scenario.name}-{halt}",
        about=f"{scenario.about} ({halt} halt)",
        needs=scenario.needs | {"soft_halt" if halt == "soft" else "hard_halt"},
        halt=halt,
        turns=turns,
    )


def _quoted(*more: Turn) -> tuple[Turn, ...]:
    first = Turn(
        says="What does the delivery of A-1001 cost?",
        replies=[call("quote", **_ORDER)],
        ends=halted("soft", "quote", "in_range price"),
    )
    return (first, *more)


_NEXT = Turn(
    says="Then refund 40 euros.",
    replies=[
        Reply(calls=(call("refund", order_id="A-1001", amount=40.0),), hidden=("4.5",)),
        "Refunded.",
    ],
    ends=said("Refunded."),
)
_AFTER: tuple[Did, ...] = (model(), tool("refund", {"order_id": "A-1001", "amount": 40.0}), model())

SCENARIOS = (
    *soft_and_hard(
        Scenario(
            name="contract-halts",
            about="A tool's output that stays refused ends the turn; the model is not asked again.",
            contracts={"quote": PRICED},
            turns=_quoted(),
            record=(model(), _HALTED),
            state={"calls": {"quote": 1}},
        )
    ),
    *soft_and_hard(
        Scenario(
            name="turn-after-a-halt",
            about="The turn after a halt is free, and nothing of the halted one is done again.",
            needs=frozenset({"turns"}),
            contracts={"quote": PRICED},
            turns=_quoted(_NEXT),
            record=(model(), _HALTED, *_AFTER),
            state={
                "calls": {"quote": 1, "refund": 1},
                "refunds": [{"order_id": "A-1001", "amount": 40.0}],
            },
        )
    ),
    Scenario(
        name="parallel-halts",
        about="Of three calls at once two halt the turn, and the third is made.",
        needs=frozenset({"parallel_tools"}),
        halt="soft",
        contracts={"quote": PRICED},
        turns=(
            Turn(
                says="Quote A-1001 and A-1002, and find A-1001.",
                replies=[
                    [
                        call("quote", **_ORDER),
                        call("find_order", **_ORDER),
                        call("quote", order_id="A-1002"),
                    ]
                ],
                ends=halted("soft", "quote", "in_range price"),
            ),
        ),
        record=(
            model(),
            tool("find_order", _ORDER),
            _HALTED,
            tool("quote", {"order_id": "A-1002"}, **_VIOLATED),
        ),
        state={"calls": {"find_order": 1, "quote": 2}},
    ),
)
