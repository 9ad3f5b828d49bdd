"""What DSPy traces of a call's attempts: optimizers make demonstrations of it."""

from collections.abc import Mapping
from typing import Any

from hornbook_dspy.compat import settings

__all__ = ["Trials"]


class Trials:
    """The trace of the attempt that counts: what was rejected is nothing to learn from."""

    __slots__ = ("_around", "_last")

    def __init__(self) -> None:
        self._around: list[Any] | None = settings.get("trace")
        self._last: list[Any] = []

    def begin(self) -> Mapping[str, Any]:
        """The settings for a further attempt, which puts those before out of account."""
        if self._around is None:
            return {}
        self._last = []
        return {"trace": self._last}

    def end(self) -> None:
        """Let the trace around have what the last attempt left."""
        if self._around is not None:
            self._around.extend(self._last)
