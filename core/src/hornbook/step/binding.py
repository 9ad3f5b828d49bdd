"""Arguments by name, and back: what a step's parameters are called."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from hornbook.errors import DefinitionError

__all__ = ["Parameters"]

Arguments = tuple[tuple[Any, ...], dict[str, Any]]

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class Parameters:
    """The parameters of a function, its receiver (`self`, `cls`) left aside."""

    __slots__ = ("_defaults", "_named", "_plain", "_signature", "names", "receiver")

    def __init__(self, fn: Callable[..., Any]) -> None:
        try:
            self._signature = inspect.signature(fn)
        except (ValueError, TypeError):
            raise DefinitionError(
                f"{fn!r} does not tell its parameters: wrap it in a function that does"
            ) from None
        parameters = list(self._signature.parameters.values())
        self.receiver = bool(parameters) and _is_receiver(fn, parameters[0].name)
        shown = parameters[1:] if self.receiver else parameters
        self.names = tuple(parameter.name for parameter in shown)
        # Anything with *args or **kwargs is left to inspect, which is exact and slow.
        self._plain = all(
            p.kind in (*_POSITIONAL, inspect.Parameter.KEYWORD_ONLY) for p in parameters
        )
        self._named = tuple(p.name for p in parameters if p.kind in _POSITIONAL)
        self._defaults = {
            p.name: p.default for p in parameters if p.default is not inspect.Parameter.empty
        }

    def bind(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Mapping[str, Any]:
        """The arguments by name, defaults filled in; what was not given is absent.

        Arguments that do not fit the signature are kept as far as they do: the call itself
        will raise Python's own TypeError.
        """
        if self._plain and len(args) <= len(self._named):
            bound = {**self._defaults, **dict(zip(self._named, args, strict=False)), **kwargs}
        else:
            bound = self._bind_exactly(args, kwargs)
        if self.receiver:
            bound.pop(next(iter(self._signature.parameters)), None)
        return bound

    def rebuild(
        self, args: tuple[Any, ...], kwargs: Mapping[str, Any], changed: Mapping[str, Any]
    ) -> Arguments:
        """The arguments of a call in which the inputs in `changed` have other values.

        Raises:
            DefinitionError: a changed name is no parameter.
        """
        for name in changed:
            if name not in self.names:
                known = ", ".join(self.names) or "none"
                raise DefinitionError(f"{name!r} is no parameter; the parameters are {known}")
        bound = self._signature.bind_partial(*args, **kwargs)
        bound.arguments.update(changed)
        order = list(self._signature.parameters)
        ordered = sorted(bound.arguments.items(), key=lambda item: order.index(item[0]))
        bound.arguments = dict(ordered)
        return bound.args, bound.kwargs

    def same_call_as(self, other: "Parameters") -> bool:
        """Whether every call that fits `other` fits these parameters too, by name and kind."""
        kinds = {p.kind for p in self._signature.parameters.values()}
        if {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD} <= kinds:
            return True
        return self._shape() == other._shape() and other._defaults.keys() <= self._defaults.keys()

    def __str__(self) -> str:
        """As in a signature, without types."""
        shown = (f"{name}=..." if name in self._defaults else name for name in self.names)
        return f"({', '.join(shown)})"

    def _shape(self) -> list[tuple[str, Any]]:
        return [(p.name, p.kind) for p in self._signature.parameters.values()]

    def _bind_exactly(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        try:
            bound = self._signature.bind_partial(*args, **kwargs)
        except TypeError:
            return {**dict(zip(self._named, args, strict=False)), **kwargs}
        bound.apply_defaults()
        return dict(bound.arguments)


def _is_receiver(fn: Callable[..., Any], first: str) -> bool:
    scope = str(getattr(fn, "__qualname__", "")).rpartition(".")[0]
    return first in ("self", "cls") and bool(scope) and not scope.endswith("<locals>")
