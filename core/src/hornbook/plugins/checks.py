"""What makes an object a plugin: checked before it changes anything."""

import inspect
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import pluggy

from hornbook import hooks
from hornbook.errors import PluginError

__all__ = ["Implementation", "check", "hook_names", "new_manager", "passed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Implementation:
    """One function of a plugin that implements a hook."""

    plugin: str
    hook: str
    function: Callable[..., Any]
    options: pluggy.HookimplOpts

    @property
    def argnames(self) -> tuple[str, ...]:
        """The arguments of the hook that it takes."""
        return passed(self.function, self.hook)

    def problem(self, text: str) -> PluginError:
        """Make the error that says what is wrong with it."""
        return PluginError(f"plugin {self.plugin!r}: {self.hook} {text}")


def new_manager() -> pluggy.PluginManager:
    """Make a pluggy manager that knows our hooks and no plugin."""
    manager = pluggy.PluginManager("hornbook")
    manager.add_hookspecs(hooks)
    return manager


def hook_names() -> tuple[str, ...]:
    """Return the names of all hooks."""
    return tuple(name for name in hooks.__all__ if name.startswith("hornbook_"))


def check(plugin: object, name: str) -> tuple[Implementation, ...]:
    """Return the implementations of hooks in `plugin`.

    Raises:
        PluginError: it is no plugin, in one sentence that names plugin, hook and cause.
    """
    if inspect.isclass(plugin):
        raise PluginError(
            f"plugin {name!r} is the class {plugin.__qualname__}: register an instance of it"
        )
    manager = new_manager()
    try:
        found = tuple(_implementations(manager, plugin, name))
        for implementation in found:
            _check_implementation(implementation)
        # pluggy has the last word, on a manager of its own that a refusal leaves no trace in.
        manager.register(plugin, name)
        manager.check_pending()
    except PluginError:
        raise
    # An attribute may raise when it is looked at, with anything.
    except Exception as error:
        text = " ".join(f"{type(error).__name__}: {error}".split())
        raise PluginError(f"plugin {name!r} cannot be used: {text}") from error
    return found


def passed(function: Callable[..., Any], hook: str) -> tuple[str, ...]:
    """Return which of the hook's arguments an implementation takes."""
    known = _arguments(hook)
    return tuple(name for name in _signature(function).parameters if name in known)


def _implementations(
    manager: pluggy.PluginManager, plugin: object, name: str
) -> Iterator[Implementation]:
    known = hook_names()
    for attribute in dir(plugin):
        options = manager.parse_hookimpl_opts(plugin, attribute)
        if options is not None:
            yield Implementation(
                plugin=name,
                hook=options.get("specname") or attribute,
                function=getattr(plugin, attribute),
                options=options,
            )
        elif attribute in known and getattr(plugin, attribute) is not getattr(hooks, attribute):
            raise PluginError(f"plugin {name!r}: {attribute} is not marked with @hookimpl")


def _check_implementation(found: Implementation) -> None:
    if found.options.get("wrapper") or found.options.get("hookwrapper"):
        raise found.problem("is a wrapper; hooks only decide, so write a plain function")
    if found.hook not in hook_names():
        _check_unknown(found)
        return
    function = found.function
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise found.problem("is a generator; it must return its result")
    if found.hook in hooks.SYNC_HOOKS and inspect.iscoroutinefunction(function):
        raise found.problem("must not be async: it is called where nothing can be awaited")
    _check_arguments(found)


def _check_unknown(found: Implementation) -> None:
    if found.options.get("optionalhook"):
        return
    near = get_close_matches(found.hook, hook_names(), n=1)
    advice = f"; did you mean {near[0]}?" if near else f"; there are {', '.join(hook_names())}"
    raise found.problem(f"is no hook of Hornbook{advice}")


def _check_arguments(found: Implementation) -> None:
    known = _arguments(found.hook)
    for parameter in _signature(found.function).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        if parameter.kind is parameter.POSITIONAL_ONLY:
            raise found.problem(f"takes {parameter.name!r} by position; it is passed by name")
        if parameter.name not in known and parameter.default is parameter.empty:
            raise found.problem(
                f"takes an unknown argument {parameter.name!r}; there is {', '.join(known)}"
            )


def _signature(function: Callable[..., Any]) -> inspect.Signature:
    if sys.version_info < (3, 14):
        return inspect.signature(function)
    # From 3.14 on, a signature evaluates annotations, which may be there for type checkers only.
    from annotationlib import Format

    return inspect.signature(function, annotation_format=Format.FORWARDREF)


def _arguments(hook: str) -> tuple[str, ...]:
    return tuple(_signature(getattr(hooks, hook)).parameters)
