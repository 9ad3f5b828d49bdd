"""Scenarios of plugins that decide about a step."""

from collections.abc import Mapping
from typing import Any, cast

from hornbook.contracts import Violation
from hornbook.hooks import hookimpl
from hornbook.step.model import Decision, Step
from hornbook.step.recover import Recover
from hornbook.testing.conformance.desk import Desk
from hornbook.testing.conformance.scenario import Scenario, Turn, halted, model, said, tool
from hornbook.testing.conformance.scenarios.halting import soft_and_hard
from hornbook.testing.conformance.scenarios.recovering import DELIVERY
from hornbook.testing.script import Reply, call

__all__ = ["SCENARIOS"]

_ORDER = {"order_id": "A-1001"}
_REFUND: dict[str, Any] = {"order_id": "A-1001", "amount": 40.0}
_ASKS = "Refund 40 euros for order A-1001, please."


class Before:
    """Decides about the steps of one name before they run."""

    def __init__(self, name: str, action: Any, value: Any = None) -> None:
        self._name = name
        self._decision = Decision(action=action, value=value, reason="the house is closed")

    @hookimpl
    def hornbook_before_step(self, step: Step) -> Decision | None:
        """Decide, whatever the step is given."""
        return self._decision if step.name == self._name else None


class Objecting:
    """Finds the first output of `quote` wrong, whatever it is."""

    @hookimpl
    def hornbook_check_output(self, step: Step, output: object) -> list[Violation] | None:
        """Look at the value that the tool's function returned."""
        if step.name != "quote" or step.attempt > 1:
            return None
        if not isinstance(output, Mapping):
            raise TypeError("a plugin sees the value that the function returned, not its text")
        price = cast("Mapping[str, Any]", output)["price"]
        return [
            Violation(
                clause="second opinion", path="price", expected="another", observed=str(price)
            )
        ]


class Consoling:
    """Answers for a tool that raised."""

    @hookimpl
    def hornbook_on_error(self, step: Step, error: Exception) -> Decision | None:
        """Take the place of the output."""
        if step.name != "ship":
            return None
        return Decision(action="substitute", value={"state": "delayed", "why": str(error)})


_HOOK = ("hornbook_before_step",)

SCENARIOS = (
    *soft_and_hard(
        Scenario(
            name="hook-halts-a-tool",
            about="A plugin can end the run before a tool is called.",
            plugins=(lambda: Before("refund", "halt"),),
            turns=(
                Turn(
                    says=_ASKS,
                    replies=[call("refund", **_REFUND)],
                    ends=halted("soft", "refund", "the house is closed"),
                ),
            ),
            record=(
                model(),
                tool(
                    "refund",
                    _REFUND,
                    status="halted",
                    attempts=0,
                    violated=_HOOK,
                    decisions=("halt",),
                ),
            ),
        )
    ),
    *soft_and_hard(
        Scenario(
            name="hook-halts-the-model",
            about="A plugin can end the run before the model is called.",
            plugins=(lambda: Before("model", "halt"),),
            turns=(Turn(says=_ASKS, replies=[], ends=halted("soft", "the house is closed")),),
            record=(model(status="halted", attempts=0, violated=_HOOK, decisions=("halt",)),),
        )
    ),
    Scenario(
        name="hook-blocks",
        about="A plugin can refuse a call; the model is told its reason and goes on.",
        plugins=(lambda: Before("refund", "block"),),
        turns=(
            Turn(
                says=_ASKS,
                replies=[
                    call("refund", **_REFUND),
                    Reply(text="We are closed.", shown=("the house is closed",)),
                ],
                ends=said("We are closed."),
            ),
        ),
        record=(
            model(),
            tool(
                "refund",
                _REFUND,
                status="blocked",
                attempts=0,
                violated=_HOOK,
                decisions=("block",),
            ),
            model(),
        ),
    ),
    Scenario(
        name="hook-substitutes",
        about="A plugin can answer in a tool's place.",
        plugins=(lambda: Before("find_order", "substitute", {"status": "in the cellar"}),),
        turns=(
            Turn(
                says="Where is A-1001?",
                replies=[
                    call("find_order", **_ORDER),
                    Reply(text="In the cellar.", shown=("in the cellar",)),
                ],
                ends=said("In the cellar."),
            ),
        ),
        record=(
            model(),
            tool("find_order", _ORDER, status="recovered", attempts=0, decisions=("substitute",)),
            model(),
        ),
    ),
    Scenario(
        name="hook-substitutes-an-answer",
        about="A plugin can answer in the model's place.",
        plugins=(lambda: Before("model", "substitute", "Come back tomorrow."),),
        turns=(Turn(says=_ASKS, replies=[], ends=said("Come back tomorrow.")),),
        record=(model(status="recovered", attempts=0, decisions=("substitute",)),),
    ),
    Scenario(
        name="hook-changes-inputs",
        about="A plugin can change the arguments of a call before it is made.",
        plugins=(lambda: Before("refund", "proceed", {"amount": 12.0}),),
        turns=(
            Turn(
                says=_ASKS,
                replies=[
                    call("refund", **_REFUND),
                    Reply(text="12 euros it is.", shown=("refunded 12.00 for A-1001",)),
                ],
                ends=said("12 euros it is."),
            ),
        ),
        record=(model(), tool("refund", _REFUND, decisions=("proceed",)), model()),
        state={
            "calls": {"refund": 1},
            "refunds": [{"order_id": "A-1001", "amount": 12.0}],
        },
    ),
    Scenario(
        name="hook-finds-a-violation",
        about="A plugin sees what a tool's function returned, and its violation is recovered.",
        plugins=(Objecting,),
        contracts={"quote": (DELIVERY, Recover(retry=1))},
        turns=(
            Turn(
                says="What does the delivery of A-1001 cost?",
                replies=[call("quote", **_ORDER), "Nothing."],
                ends=said("Nothing."),
            ),
        ),
        record=(
            model(),
            tool(
                "quote",
                _ORDER,
                status="recovered",
                attempts=2,
                violated=("second opinion at price",),
                decisions=("retry",),
            ),
            model(),
        ),
        state={"calls": {"quote": 2}},
    ),
    Scenario(
        name="hook-answers-for-an-error",
        about="A plugin can answer for a tool that raised.",
        plugins=(Consoling,),
        contracts={"ship": DELIVERY},
        desk=lambda: Desk(stock=9),
        turns=(
            Turn(
                says="Ship A-1001.",
                replies=[
                    call("ship", **_ORDER),
                    Reply(text="It is delayed.", shown=("delayed",)),
                ],
                ends=said("It is delayed."),
            ),
        ),
        record=(
            model(),
            tool("ship", _ORDER, status="recovered", decisions=("substitute",)),
            model(),
        ),
        state={"calls": {"ship": 1}},
    ),
)
