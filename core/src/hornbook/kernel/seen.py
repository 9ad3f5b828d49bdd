"""What was done in a turn: the calls an agent made, and what came of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["SeenCall"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenCall:
    """A call that was made; one that the guard refused is none."""

    tool: str
    arguments: Mapping[str, Any]
    value: Any = None
    """What came back."""
    error: Any = None
    """What the tool complained of; None when it did not."""
    turn: int = 0
    """In which turn of the conversation it was made, from 1."""
