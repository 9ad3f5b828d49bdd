"""Plugins: what is installed under the entry-point group `hornbook`, and your own.

    from hornbook import plugins

    plugins.register(OfficeHours())         # an instance or a module with @hookimpl functions
    for plugin in plugins.report():
        print(plugin.name, plugin.status, plugin.hooks)

Installed plugins are loaded on first use of a hook, never at import. A broken one is
logged and reported, and fatal only under the setting `strict_plugins`. The settings
`load_plugins` selects by name what is imported at all.
"""

from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from hornbook import config
from hornbook.plugins.collection import Registered
from hornbook.plugins.discovery import installed
from hornbook.plugins.registry import PluginInfo, PluginSet
from hornbook.step.hookset import HookSet, slot

if TYPE_CHECKING:
    from hornbook.trace.events import Event

__all__ = [
    "PluginInfo",
    "PluginSet",
    "Registered",
    "clause_kinds",
    "discover",
    "hook_set",
    "models",
    "observers",
    "register",
    "registered",
    "report",
    "trace_sinks",
    "unregister",
]

_plugins = PluginSet(config=config.load, candidates=installed, publish=slot.replace)


def register(plugin: object, name: str | None = None) -> str:
    """Register a plugin: a module or an instance whose functions carry `@hookimpl`.

    Installed plugins are loaded before it. It counts for every step that starts, and its
    `hornbook_record` for every run that is opened, from now on and in all threads.

    Args:
        plugin: what implements hooks, and registers clauses, models or sinks.
        name: what to call it; by default the name of its module or class.

    Returns:
        The name, for `unregister`.

    Raises:
        PluginError: it is a class, implements nothing, misspells a hook or an argument,
            takes a name that is taken, or fails to register its things. It is then not
            registered at all.
    """
    return _plugins.register(plugin, name)


def unregister(plugin: object) -> None:
    """Take a plugin out, given by itself or by its name.

    Raises:
        PluginError: no such plugin is registered.
    """
    _plugins.unregister(plugin)


@contextmanager
def registered(plugin: object, name: str | None = None) -> Generator[str]:
    """Register a plugin for the time of a `with` block, in all threads."""
    name = register(plugin, name)
    try:
        yield name
    finally:
        unregister(name)


def discover() -> None:
    """Load the installed plugins now, instead of on first use.

    Raises:
        PluginError: one is broken and the setting `strict_plugins` is on.
    """
    _plugins.discover()


def hook_set() -> HookSet:
    """Return the hooks of all plugins, after loading those that are installed."""
    return _plugins.hook_set()


def observers(sinks: Iterable[str]) -> tuple[Callable[["Event"], None], ...]:
    """Return what a run that opens now shows its events to, with the trace sinks named.

    None of them raises: what a plugin raises is logged.
    """
    return _plugins.observers(sinks)


def report() -> tuple[PluginInfo, ...]:
    """Return what is known of every plugin, loaded or not; never raises for a broken one."""
    return _plugins.report()


def clause_kinds() -> Mapping[str, Registered]:
    """Return the kinds of clauses that plugins have registered, by name."""
    return _plugins.registered("clauses")


def models() -> Mapping[str, Registered]:
    """Return the models that plugins have registered, by name."""
    return _plugins.registered("models")


def trace_sinks() -> Mapping[str, Registered]:
    """Return the trace sinks that plugins have registered, by name."""
    return _plugins.registered("trace_sinks")
