"""What lower parts ask of higher ones, bound late so that imports run one way only.

`hornbook/__init__` puts the functions in; they import what they need when first called.
"""

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

__all__ = ["Late", "clause_kinds", "hook_set", "observers"]

T = TypeVar("T")


class Late(Generic[T]):
    """A value whose maker is provided by a part that may not be imported from here."""

    __slots__ = ("ask",)

    def __init__(self, without: Callable[..., T]) -> None:
        self.ask: Callable[..., T] = without
        """Gives the value; before anything is provided, what there is without plugins."""


hook_set: Late[Any] = Late(lambda: None)
"""The `HookSet` of the plugins, asked once by the slot in `hornbook.step.hookset`."""

clause_kinds: Late[dict[str, Any]] = Late(dict[str, Any])
"""Clause kinds that plugins registered, by name."""


def _nobody(sinks: Sequence[str]) -> tuple[Any, ...]:
    return ()


observers: Late[Any] = Late(_nobody)
"""Who is shown every event of a run: `observers.ask(names of trace sinks)`."""
