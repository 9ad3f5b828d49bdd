"""What a conversation has heard so far, where the host does not show its tools the history."""

import threading
from collections.abc import Mapping
from typing import Any

from hornbook.kernel.context import GuardContext, ToolResult

__all__ = ["Heard"]

_REMEMBERED = 512
"""Turns, and results, of one conversation."""


class Heard:
    """The user's turns and the tools' results, as sources for a guard; bounded, thread-safe."""

    def __init__(self, *, trusted: Mapping[str, Any] | None = None) -> None:
        self._turns: dict[str, None] = {}
        self._results: list[ToolResult] = []
        self._trusted = dict(trusted or {})
        self._lock = threading.Lock()

    def said(self, *texts: str) -> bool:
        """Take in what the user said, and tell whether any is new; what is not counts once."""
        with self._lock:
            new = any(text not in self._turns for text in texts)
            self._turns |= dict.fromkeys(texts)
            while len(self._turns) > _REMEMBERED:
                self._turns.pop(next(iter(self._turns)))
        return new

    def returned(self, tool: str, arguments: Mapping[str, Any], value: Any) -> None:
        """Take in what a tool returned; an error is none of it, as it repeats what was invented."""
        with self._lock:
            self._results.append(ToolResult(name=tool, value=value, arguments=arguments))
            del self._results[:-_REMEMBERED]

    def context(self, state: Mapping[str, Any] | None = None) -> GuardContext:
        """The sources as they are now."""
        with self._lock:
            return GuardContext(
                turns=tuple(self._turns),
                results=tuple(self._results),
                state=state or {},
                trusted=self._trusted,
            )
