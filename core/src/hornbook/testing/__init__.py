"""For tests: scripts for models, a host in memory, and the conformance kit of the adapters."""

from typing import TYPE_CHECKING

from hornbook import lazy

if TYPE_CHECKING:
    from hornbook.testing import conformance
    from hornbook.testing.models import scripted
    from hornbook.testing.script import (
        Asked,
        Conversation,
        Reply,
        Script,
        ScriptError,
        ToolCall,
        call,
    )

__all__ = [
    "Asked",
    "Conversation",
    "Reply",
    "Script",
    "ScriptError",
    "ToolCall",
    "call",
    "conformance",
    "scripted",
]

__getattr__, __dir__ = lazy.attach(
    __name__,
    {
        "Asked": "hornbook.testing.script",
        "Conversation": "hornbook.testing.script",
        "Reply": "hornbook.testing.script",
        "Script": "hornbook.testing.script",
        "ScriptError": "hornbook.testing.script",
        "ToolCall": "hornbook.testing.script",
        "call": "hornbook.testing.script",
        "conformance": "hornbook.testing.conformance",
        "scripted": "hornbook.testing.models",
    },
)
