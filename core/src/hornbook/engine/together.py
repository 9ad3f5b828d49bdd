"""Branches that run together, each as soon as what it needs is there.

Named tuples and no frozen dataclasses, because making one costs a quarter, and a level of a
program makes one a branch.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from hornbook.engine.work import Life

__all__ = ["Branch", "Together"]


class Branch(NamedTuple):
    """One of several lives that run together."""

    name: str
    start: Callable[[Mapping[str, Any]], Life]
    """Begins the life, given the results of `needs` by name."""
    needs: tuple[str, ...] = ()
    """Names of the branches whose results it starts from."""


class Together(NamedTuple):
    """The effect that runs branches; it gives their results by name, in declared order.

    Branches whose needs failed are not started, all others finish; then the first failure in
    declared order is raised, with the rest in its notes. What stops a program (a
    KeyboardInterrupt, a cancellation) stops the other branches at once.
    """

    branches: tuple[Branch, ...]
