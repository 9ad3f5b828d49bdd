"""What is known of a function that a contract uses: its name, its source, how it is called.

Nothing here runs when a contract is written down: reading source is slow, and waits until a
digest or a description is asked for.
"""

import sys
from collections.abc import Callable
from functools import partial
from inspect import Parameter, isasyncgenfunction, iscoroutinefunction, signature
from types import MethodType
from typing import Any, TypeAlias, cast
from weakref import WeakKeyDictionary

from hornbook.contracts.function_source import digest_of, source_of
from hornbook.errors import DefinitionError

__all__ = [
    "describe",
    "is_async",
    "load",
    "portable",
    "reference",
    "required_positional",
    "source_digest",
]

Function: TypeAlias = Callable[..., Any]

_LONGEST = 120
_POSITIONAL = (
    Parameter.POSITIONAL_ONLY,
    Parameter.POSITIONAL_OR_KEYWORD,
    Parameter.VAR_POSITIONAL,
)

_digests: WeakKeyDictionary[Any, str] = WeakKeyDictionary()


def reference(fn: Function) -> str | None:
    """`module:qualname` of a function that importing gives back, else None."""
    module, name = _module_of(fn), getattr(fn, "__qualname__", None)
    if module is None or module == "__main__" or not isinstance(name, str) or "<" in name:
        return None
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    # A class method is made anew at each look; it is equal, not the same.
    return f"{module}:{name}" if found is fn or _is_class_method(fn, found) else None


def portable(fn: Function) -> bool:
    """Whether another process can find the function by its name."""
    return reference(fn) is not None


def load(name: str) -> Function:
    """The function that `reference` named.

    Raises:
        DefinitionError: it is not there; the message says what is missing.
    """
    module, _, path = name.partition(":")
    if not (module and path) or module.startswith("."):
        raise DefinitionError(f"function {name!r} cannot be loaded: the form is 'module:name'")
    found, owner = _imported(module, name), module
    for part in path.split("."):
        if not hasattr(found, part):
            raise DefinitionError(f"function {name!r} cannot be loaded: {owner!r} has no {part!r}")
        found, owner = getattr(found, part), f"{owner}.{part}"
    if not callable(found):
        kind = type(found).__name__
        raise DefinitionError(f"function {name!r} cannot be loaded: it is no function but {kind}")
    return found


def source_digest(fn: Function) -> str:
    """A digest of what the function does, as far as its source or bytecode tells.

    Formatting, comments, docstrings and the function's own name do not count; the values
    that a closure holds do not either. Without source, the bytecode is digested, which
    differs between versions of Python.
    """
    try:
        known = _digests.get(fn)
    except TypeError:  # it has no weak references, or is not hashable
        return digest_of(fn)
    if known is None:
        known = _digests[fn] = digest_of(fn)
    return known


def describe(fn: Function) -> str:
    """A short text of the condition, for messages: a lambda's source, else a name."""
    if isinstance(fn, partial):
        return describe(cast("partial[Any]", fn).func)
    name = getattr(fn, "__qualname__", None) or type(fn).__qualname__
    if name.endswith("<lambda>"):
        text = " ".join((source_of(fn) or "lambda").split())
        return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}\N{HORIZONTAL ELLIPSIS}"
    return name.rpartition("<locals>.")[2]


def is_async(fn: Function) -> bool:
    """Whether calling it gives something to await or to iterate asynchronously."""
    if isinstance(fn, partial):
        return is_async(cast("partial[Any]", fn).func)
    if iscoroutinefunction(fn) or isasyncgenfunction(fn):
        return True
    call = type(fn).__call__
    return iscoroutinefunction(call) or isasyncgenfunction(call)


def required_positional(fn: Function) -> int:
    """How many arguments it must be given by position; 1 where it does not tell.

    Raises:
        DefinitionError: it takes no argument by position, or needs one by name.
    """
    try:
        parameters = signature(fn).parameters.values()
    except ValueError:  # a builtin without a signature
        return 1
    named = [p.name for p in parameters if p.kind is Parameter.KEYWORD_ONLY and _required(p)]
    if named:
        raise DefinitionError(f"function {describe(fn)!r} must be given {named[0]!r} by name")
    places = [p for p in parameters if p.kind in _POSITIONAL]
    if not places:
        raise DefinitionError(f"function {describe(fn)!r} takes no value")
    return sum(p.kind is not Parameter.VAR_POSITIONAL and _required(p) for p in places)


def _required(parameter: Parameter) -> bool:
    return parameter.default is Parameter.empty


def _imported(module: str, name: str) -> Any:
    from importlib import import_module

    try:
        return import_module(module)
    # Importing runs the module, which may raise anything.
    except Exception as error:
        raise DefinitionError(
            f"function {name!r} cannot be loaded: importing {module!r} failed: "
            f"{type(error).__name__}: {error}"
        ) from error


def _module_of(fn: Function) -> str | None:
    # The methods of built-in types tell their module by their class only.
    owner = getattr(fn, "__objclass__", None)
    module = getattr(fn if owner is None else owner, "__module__", None)
    return module if isinstance(module, str) else None


def _is_class_method(fn: Function, found: object) -> bool:
    return isinstance(fn, MethodType) and isinstance(fn.__self__, type) and found == fn
