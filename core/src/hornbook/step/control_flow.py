"""Exceptions that are a host's control flow and no failure: interrupts, tripwires.

They pass through every step untouched. An adapter registers its host's types here when
the host is used.
"""

__all__ = ["is_control_flow", "is_registered", "register_control_flow"]

_types: tuple[type[BaseException], ...] = ()


def register_control_flow(*types: type[BaseException]) -> None:
    """Let these exception types, and what derives from them, always pass through."""
    global _types
    _types = tuple(dict.fromkeys((*_types, *types)))


def is_control_flow(error: BaseException) -> bool:
    """Whether `error` is a host's control flow, or no ordinary Exception at all."""
    return not isinstance(error, Exception) or isinstance(error, _types)


def is_registered(error: BaseException) -> bool:
    """Whether an adapter registered the type of `error`."""
    return isinstance(error, _types)
