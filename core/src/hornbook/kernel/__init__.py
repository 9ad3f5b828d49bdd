"""The tool-calling kernel (Forethought 4); so far its guard, for agents that plan themselves."""

from hornbook.kernel.context import GuardContext, ToolResult
from hornbook.kernel.feedback import feedback
from hornbook.kernel.guard import Grounding, ToolGuard
from hornbook.kernel.registry import ToolRegistry, ToolSpec, UnknownTool
from hornbook.schema import SchemaProblem

__all__ = [
    "Grounding",
    "GuardContext",
    "SchemaProblem",
    "ToolGuard",
    "ToolRegistry",
    "ToolResult",
    "ToolSpec",
    "UnknownTool",
    "feedback",
]
