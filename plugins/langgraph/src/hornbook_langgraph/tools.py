"""The tool wrap: guard, contract, recovery and record around each call of an agent's tools."""

import inspect
from collections.abc import Awaitable, Callable, Hashable, Mapping
from dataclasses import replace
from typing import Any, Literal, TypeAlias, cast

from langchain_core.tools import BaseTool
from langgraph.prebuilt import ToolNode
from langgraph.prebuilt.tool_node import ToolCallRequest

from hornbook.contracts.contract import Contract
from hornbook.contracts.report import ContractReport, ContractViolation
from hornbook.errors import DefinitionError
from hornbook.kernel.feedback import feedback
from hornbook.kernel.guard import ToolGuard
from hornbook.step.hosted import HostedStep
from hornbook.step.operation import Operation, Outcome
from hornbook.step.recover import Recover
from hornbook.trace.frame import RUN, current
from hornbook_langgraph.answers import (
    Answer,
    Seen,
    answer_of,
    as_message,
    is_error,
    recorded_answer,
    revealing,
    unwatched,
    watching,
)
from hornbook_langgraph.attaching import Contracts, with_recovery
from hornbook_langgraph.compat import conversation, resumed, with_tool_wrap
from hornbook_langgraph.conversation import Conversations
from hornbook_langgraph.halting import halt_answer, unforged
from hornbook_langgraph.identity import step_identity
from hornbook_langgraph.toolset import Guards

__all__ = ["Halt", "Tools", "ToolWrap", "guard_tools"]

Halt: TypeAlias = Literal["soft", "hard"]
Tools: TypeAlias = ToolGuard | bool | None

Handler: TypeAlias = Callable[[ToolCallRequest], Any]
AsyncHandler: TypeAlias = Callable[[ToolCallRequest], Awaitable[Any]]
