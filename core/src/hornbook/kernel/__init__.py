"""The tool-calling kernel (Forethought 4), and its guard, for agents that plan themselves."""

from typing import TYPE_CHECKING

from hornbook import lazy
from hornbook.kernel.context import GuardContext, ToolResult
from hornbook.kernel.feedback import feedback
from hornbook.kernel.guard import Grounding, ToolGuard
from hornbook.kernel.prerequisites import Prerequisite
from hornbook.kernel.registry import ToolRegistry, ToolSpec, UnknownTool
from hornbook.kernel.seen import SeenCall
from hornbook.kernel.thresholds import Thresholds
from hornbook.schema import SchemaProblem

if TYPE_CHECKING:
    from hornbook.kernel.kernel import Kernel
    from hornbook.kernel.neural.primitives import Primitives, Prompted
    from hornbook.kernel.ordering import DependencyGraph
    from hornbook.kernel.responding import Response, arespond, respond
    from hornbook.kernel.result import (
        Blocked,
        Cycle,
        DependencyBlocked,
        InvariantViolation,
        KernelResult,
        MissingFunction,
        MissingParameter,
        PrimitiveFailed,
        Proposed,
        Refused,
        ToolFailed,
    )
    from hornbook.kernel.scratchpad import BOTTOM, Scratchpad
    from hornbook.kernel.shortlist import Shortlist
    from hornbook.kernel.tasks import Binding, Call, Decision, Task

__all__ = [
    "BOTTOM",
    "Binding",
    "Blocked",
    "Call",
    "Cycle",
    "Decision",
    "DependencyBlocked",
    "DependencyGraph",
    "Grounding",
    "GuardContext",
    "InvariantViolation",
    "Kernel",
    "KernelResult",
    "MissingFunction",
    "MissingParameter",
    "Prerequisite",
    "PrimitiveFailed",
    "Primitives",
    "Prompted",
    "Proposed",
    "Refused",
    "Response",
    "SchemaProblem",
    "Scratchpad",
    "SeenCall",
    "Shortlist",
    "Task",
    "Thresholds",
    "ToolFailed",
    "ToolGuard",
    "ToolRegistry",
    "ToolResult",
    "ToolSpec",
    "UnknownTool",
    "arespond",
    "feedback",
    "respond",
]

_LAZY = {
    "BOTTOM": "hornbook.kernel.scratchpad",
    "Binding": "hornbook.kernel.tasks",
    "Blocked": "hornbook.kernel.result",
    "Call": "hornbook.kernel.tasks",
    "Cycle": "hornbook.kernel.result",
    "Decision": "hornbook.kernel.tasks",
    "DependencyBlocked": "hornbook.kernel.result",
    "DependencyGraph": "hornbook.kernel.ordering",
    "InvariantViolation": "hornbook.kernel.result",
    "Kernel": "hornbook.kernel.kernel",
    "KernelResult": "hornbook.kernel.result",
    "MissingFunction": "hornbook.kernel.result",
    "MissingParameter": "hornbook.kernel.result",
    "PrimitiveFailed": "hornbook.kernel.result",
    "Primitives": "hornbook.kernel.neural.primitives",
    "Prompted": "hornbook.kernel.neural.primitives",
    "Proposed": "hornbook.kernel.result",
    "Refused": "hornbook.kernel.result",
    "Response": "hornbook.kernel.responding",
    "Scratchpad": "hornbook.kernel.scratchpad",
    "Shortlist": "hornbook.kernel.shortlist",
    "Task": "hornbook.kernel.tasks",
    "ToolFailed": "hornbook.kernel.result",
    "arespond": "hornbook.kernel.responding",
    "respond": "hornbook.kernel.responding",
}
"""The kernel itself, which an adapter that only guards never loads."""

__getattr__, __dir__ = lazy.attach(__name__, _LAZY)
