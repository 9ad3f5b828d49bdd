"""Steps: a contract around a function, its recovery, and what hooks may decide."""

from typing import TYPE_CHECKING

from hornbook import lazy

if TYPE_CHECKING:
    from hornbook.step.attempts import Feedback, feedback
    from hornbook.step.control_flow import register_control_flow
    from hornbook.step.decorate import checked, contract
    from hornbook.step.model import Checked, Decision, Step, fold
    from hornbook.step.recover import Recover

__all__ = [
    "Checked",
    "Decision",
    "Feedback",
    "Recover",
    "Step",
    "checked",
    "contract",
    "feedback",
    "fold",
    "register_control_flow",
]

__getattr__, __dir__ = lazy.attach(
    __name__,
    {
        "Checked": "hornbook.step.model",
        "Decision": "hornbook.step.model",
        "Feedback": "hornbook.step.attempts",
        "Recover": "hornbook.step.recover",
        "Step": "hornbook.step.model",
        "checked": "hornbook.step.decorate",
        "contract": "hornbook.step.decorate",
        "feedback": "hornbook.step.attempts",
        "fold": "hornbook.step.model",
        "register_control_flow": "hornbook.step.control_flow",
    },
)
