"""Copies of a module that share what is not DSPy's: a tool's database is not copied with it."""

from collections.abc import Callable, Iterator
from typing import Any, cast

from hornbook_dspy.compat import dspy, kind_of

__all__ = ["copied", "tools_in"]

_HISTORIES = ("callbacks", "history")


def copied(module: Any, replaced: Callable[[Any], Any], *, kind: type[Any] | None = None) -> Any:
    """A copy of a module and of the modules in it; all else is what `replaced` gives for it.

    Args:
        module: the module.
        replaced: gives the value to hold in place of one that is no module and no container.
        kind: the class of the copy, in place of the module's own.
    """
    return _Copying(replaced).of(module, kind)


def tools_in(module: Any) -> Iterator[Any]:
    """The tools that a module itself holds, not those of the modules in it."""
    seen: set[int] = set()
    state: dict[str, Any] = module.__dict__
    for value in state.values():
        yield from _tools(value, seen)


class _Copying:
    """One pass over a module: what stands in it twice is copied once."""

    def __init__(self, replaced: Callable[[Any], Any]) -> None:
        self._replaced = replaced
        self._made: dict[int, Any] = {}

    def of(self, module: Any, kind: type[Any] | None = None) -> Any:
        """A copy of a module."""
        made: Any = object.__new__(kind or kind_of(module))
        self._made[id(module)] = made
        state: dict[str, Any] = dict(module.__dict__)
        for name in _HISTORIES:
            if name in state:
                state[name] = list(state[name]) if name == "callbacks" else []
        made.__dict__.update({name: self._value(value) for name, value in state.items()})
        return made

    def _value(self, value: Any) -> Any:
        if id(value) in self._made:
            return self._made[id(value)]
        if isinstance(value, dspy.Module):
            return self.of(value)
        made = self._container(value)
        # The value is kept beside what was made of it, so that no other gets its id.
        self._made[id(value)] = made
        return made

    def _container(self, value: Any) -> Any:
        if type(value) is list:
            return [self._value(one) for one in cast("list[Any]", value)]
        if type(value) is tuple:
            return tuple(self._value(one) for one in cast("tuple[Any, ...]", value))
        if type(value) is dict:
            held = cast("dict[Any, Any]", value)
            return {name: self._value(one) for name, one in held.items()}
        return self._replaced(value)


def _tools(value: Any, seen: set[int]) -> Iterator[Any]:
    if isinstance(value, dspy.Tool):
        if id(value) not in seen:
            seen.add(id(value))
            yield value
    elif type(value) is list or type(value) is tuple:
        for one in cast("list[Any]", value):
            yield from _tools(one, seen)
    elif type(value) is dict:
        for one in cast("dict[Any, Any]", value).values():
            yield from _tools(one, seen)
