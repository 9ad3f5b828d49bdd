"""Steps: a contract around a function, its recovery, and what hooks may decide."""

from hornbook.step.control_flow import register_control_flow
from hornbook.step.decorate import checked, contract
from hornbook.step.feedback import Feedback, feedback
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
