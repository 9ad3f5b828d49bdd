"""Primitives and their functions by import path."""

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any, cast

from hornbook.contracts.predicates import reference
from hornbook.errors import told
from hornbook.program.errors import ProgramError
from hornbook.program.primitives import Primitive

__all__ = ["load_primitive", "primitive_reference", "reference_or_refuse"]


def primitive_reference(node: Primitive[..., Any]) -> str | None:
    """`module:qualname` of a decorated primitive that importing gives back, else None."""
    function = node.definition.function
    module = getattr(function, "__module__", None)
    name = str(getattr(function, "__qualname__", "<none>"))
    if not isinstance(module, str) or module == "__main__" or "<" in name:
        return None
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    same = isinstance(found, Primitive)
    same = same and cast("Primitive[..., Any]", found).definition is node.definition
    return f"{module}:{name}" if same else None


def reference_or_refuse(fn: Callable[..., Any], place: str, what: str) -> str:
    """`module:qualname` of a function.

    Raises:
        ProgramError: importing does not give it back.
    """
    found = reference(fn)
    if found is None:
        named = getattr(fn, "__qualname__", None) or repr(fn)
        raise ProgramError(
            f"{place} cannot be written as JSON: {what} {named} cannot be imported; define the "
            f"function at the top of a module"
        )
    return found


def load_primitive(name: str, place: str = "") -> Primitive[..., Any]:
    """The primitive that `primitive_reference` named.

    Raises:
        ProgramError: it is not there.
    """
    module, _, path = name.partition(":")
    where = f"{place}: " if place else ""
    try:
        found: Any = import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
    # Importing runs the module, which may raise anything.
    except Exception as error:
        raise ProgramError(f"{where}primitive {name!r} cannot be loaded: {told(error)}") from error
    if not isinstance(found, Primitive):
        kind = type(found).__name__
        raise ProgramError(f"{where}primitive {name!r} cannot be loaded: it is a {kind} now")
    return cast("Primitive[..., Any]", found)
