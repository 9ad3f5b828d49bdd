"""A module's inputs by name: the fields of its signature, or the parameters of its `forward`."""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic_core import PydanticUndefined

from hornbook.errors import DefinitionError
from hornbook_dspy.compat import kind_of

__all__ = ["Inputs", "class_inputs", "signature_inputs"]

_VARIADIC = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The inputs that a module takes."""

    names: tuple[str, ...] | None
    """None where they cannot be known: all that is given by name is one then."""
    defaults: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def bind(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Mapping[str, Any]:
        """The inputs of one call; what only steers a module is none."""
        if self.names is None:
            return {**{f"argument_{at}": one for at, one in enumerate(args)}, **kwargs}
        given = {**self.defaults, **dict(zip(self.names, args, strict=False)), **kwargs}
        return {name: given[name] for name in self.names if name in given}

    def rebuild(
        self, args: tuple[Any, ...], kwargs: Mapping[str, Any], changed: Mapping[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments of a call in which some inputs have other values.

        Raises:
            DefinitionError: one is no input of the module.
        """
        if self.names is None:
            return args, {**kwargs, **changed}
        for name in changed:
            if name not in self.names:
                known = ", ".join(self.names) or "none"
                raise DefinitionError(f"{name!r} is no input field; the input fields are {known}")
        positional = dict(zip(self.names, args, strict=False))
        return (), {**positional, **kwargs, **changed}


def signature_inputs(module: Any) -> Inputs:
    """The inputs of a module: what its `forward` names, else the fields of its signature."""
    named = class_inputs(kind_of(module))
    if named.names is not None:
        return named
    signature = getattr(module, "signature", None)
    if signature is None:
        inner = getattr(module, "predict", None)  # ChainOfThought is made of one predictor
        signature = getattr(inner, "signature", None)
    fields: Mapping[str, Any] | None = getattr(signature, "input_fields", None)
    if fields is None:
        return named
    defaults = {
        name: one.default for name, one in fields.items() if one.default is not PydanticUndefined
    }
    return Inputs(names=tuple(fields), defaults=defaults)


def class_inputs(kind: type[Any]) -> Inputs:
    """The inputs of all modules of a class, by the parameters of its `forward`."""
    forward = getattr(kind, "forward", None) or getattr(kind, "aforward", None)
    if forward is None:
        return Inputs(names=None)
    parameters = list(inspect.signature(forward).parameters.values())[1:]
    if any(parameter.kind in _VARIADIC for parameter in parameters):
        return Inputs(names=None)
    empty = inspect.Parameter.empty
    return Inputs(
        names=tuple(parameter.name for parameter in parameters),
        defaults={one.name: one.default for one in parameters if one.default is not empty},
    )
