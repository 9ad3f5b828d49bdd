"""The adapter for the OpenAI Agents SDK.

Names load on first use, so that the entry point does not import the host.
"""

from hornbook import lazy

__all__: list[str] = []

__getattr__, __dir__ = lazy.attach(__name__, {})
