"""What a function is, seen from outside: its colour, and what to call it."""

import inspect
from collections.abc import Callable
from typing import Any

__all__ = ["is_asyncgen", "is_coroutine", "is_generator", "qualified"]


def is_coroutine(fn: Callable[..., Any]) -> bool:
    """Whether calling it gives a coroutine."""
    return _has_colour(fn, inspect.iscoroutinefunction)


def is_generator(fn: Callable[..., Any]) -> bool:
    """Whether calling it gives a generator."""
    return _has_colour(fn, inspect.isgeneratorfunction)


def is_asyncgen(fn: Callable[..., Any]) -> bool:
    """Whether calling it gives an async generator."""
    return _has_colour(fn, inspect.isasyncgenfunction)


def qualified(fn: Any) -> str:
    """Its qualified name, within the function that it was made in."""
    name = str(getattr(fn, "__qualname__", None) or type(fn).__name__)
    return name.rpartition("<locals>.")[2]


def _has_colour(fn: Callable[..., Any], is_it: Callable[[object], bool]) -> bool:
    # An object with __call__ has the colour of that method.
    return is_it(fn) or (not inspect.isroutine(fn) and is_it(getattr(fn, "__call__", None)))  # noqa: B004
