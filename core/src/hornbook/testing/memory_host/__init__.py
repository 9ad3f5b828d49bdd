"""A host in memory with its adapter: the conformance kit's own test, and the shortest example.

`agent` is the host and knows nothing of Hornbook, `adapter` attaches Hornbook to it, and
`testing` has its scripted model and its side of the kit.
"""

from hornbook.testing.memory_host.adapter import HornbookMiddleware
from hornbook.testing.memory_host.agent import Agent, Call, Message, Request
from hornbook.testing.memory_host.testing import MemoryAdapter, scripted

__all__ = [
    "Agent",
    "Call",
    "HornbookMiddleware",
    "MemoryAdapter",
    "Message",
    "Request",
    "scripted",
]
