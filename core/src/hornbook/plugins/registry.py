"""The plugins of a process: registered whole or not at all, published as one `HookSet`."""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Literal

from hornbook import __version__
from hornbook.config import Config
from hornbook.errors import PluginError
from hornbook.log import logger
from hornbook.plugins import builtin
from hornbook.plugins.checks import Implementation, check, new_manager, passed
from hornbook.plugins.collection import KINDS, Collector, Kind, Registered
from hornbook.plugins.discovery import Candidate
from hornbook.plugins.observing import RecordHook, Sink
from hornbook.step.hookset import HookSet, Impl

if TYPE_CHECKING:
    from hornbook.trace.events import Event

__all__ = ["PluginInfo", "PluginSet"]

_STEP_HOOKS = tuple(one.name for one in fields(HookSet) if one.name != "generation")


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginInfo:
    """What is known of one plugin."""

    name: str
    distribution: str | None = None
    """What it was installed with; None when it was registered by the program."""
    version: str | None = None
    hooks: tuple[str, ...] = ()
    status: Literal["loaded", "failed", "blocked", "missing"] = "loaded"
    """`blocked` by `load_plugins`, which does not name it; `missing`: named, not installed."""
    error: str | None = None
    """Why it is not loaded, in one sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plugin:
    info: PluginInfo
    plugin: object
    registered: Mapping[Kind, Mapping[str, Registered]]


class PluginSet:
    """Registers plugins and publishes their hooks; safe to use from many threads.

    Args:
        config: gives the settings, on first use.
        candidates: gives the installed plugins, on first use.
        publish: receives a new `HookSet` after each change.
    """

    def __init__(
        self,
        *,
        config: Callable[[], Config],
        candidates: Callable[[], Iterable[Candidate]],
        publish: Callable[[HookSet], None],
    ) -> None:
        self._config, self._candidates, self._publish = config, candidates, publish
        self._lock = threading.RLock()
        self._manager = new_manager()
        self._plugins: dict[str, _Plugin] = {}
        self._rejected: list[PluginInfo] = []
        self._sinks: dict[str, Sink] = {}
        self._hooks = HookSet(generation=0)
        self._state: Literal["new", "discovering", "ready"] = "new"
        self._fatal: str | None = None
        self._registering: str | None = None

    def discover(self) -> None:
        """Load the installed plugins, once; a broken one is logged and reported.

        Raises:
            PluginError: one is broken and the setting `strict_plugins` is on.
        """
        with self._lock:
            self._discover()
            if self._fatal is not None:
                raise PluginError(self._fatal)

    def register(self, plugin: object, name: str | None = None) -> str:
        """Register a plugin that the program made, and return its name."""
        with self._lock:
            self.discover()
            name = name or _name_of(plugin)
            loaded = self._add(plugin, PluginInfo(name=name))
            if not loaded.info.hooks:
                self._remove(name)
                raise PluginError(f"plugin {name!r} has no function that is marked with @hookimpl")
            self._replace()
            return name

    def unregister(self, plugin: object) -> None:
        """Take a plugin out again, given by itself or by its name."""
        with self._lock:
            self.discover()
            name = plugin if isinstance(plugin, str) else self._manager.get_name(plugin)
            if name is None or name not in self._plugins:
                given = f"named {plugin!r}" if isinstance(plugin, str) else f"{plugin!r}"
                advice = _there(self._plugins, str(name))
                raise PluginError(f"no plugin {given} is registered; {advice}")
            if name == builtin.NAME:
                raise PluginError("the plugin 'hornbook' is the core itself, and stays")
            self._remove(name)
            self._replace()

    def hook_set(self) -> HookSet:
        """Return the current hooks, after loading the installed plugins."""
        with self._lock:
            self.discover()
            return self._hooks

    def registered(self, kind: Kind) -> Mapping[str, Registered]:
        """Return what all plugins have registered of one kind, by name."""
        with self._lock:
            self.discover()
            return MappingProxyType(self._registered(kind))

    def observers(self, sinks: Iterable[str]) -> tuple[Callable[["Event"], None], ...]:
        """Return what is to be shown every event: the hooks, and the sinks of these names."""
        with self._lock:
            self.discover()
            hooks = [RecordHook(impl) for impl in self._hooks.record]
            return (*hooks, *(self._sink(name) for name in dict.fromkeys(sinks)))

    def report(self) -> tuple[PluginInfo, ...]:
        """Return what is known of every plugin, also of those that are broken."""
        with self._lock:
            self._discover()
            return (*(one.info for one in self._plugins.values()), *self._rejected)

    def _discover(self) -> None:
        if self._state != "new":
            return
        config = self._config()
        # A plugin may use a step, or ask for the hooks, while it is imported.
        self._state = "discovering"
        try:
            self._add(builtin, _core())
            self._load_installed(config)
        except BaseException:  # such as KeyboardInterrupt: the next use starts afresh
            self._manager, self._state = new_manager(), "new"
            self._plugins.clear()
            self._rejected.clear()
            raise
        self._state = "ready"
        # What steps may not run without must not be published either.
        if self._fatal is None:
            self._replace()

    def _load_installed(self, config: Config) -> None:
        candidates = list(self._candidates())
        for candidate in candidates:
            self._load(candidate, config.load_plugins)
        names = {candidate.name for candidate in candidates}
        for name in config.load_plugins or ():
            if name not in names:
                error = f"plugin {name!r} is not installed; {_there(names, name)}"
                self._reject(PluginInfo(name=name, status="missing", error=error))
        failures = [info.error for info in self._rejected if info.error is not None]
        if failures and config.strict_plugins:
            self._fatal = "; ".join(failures)

    def _load(self, candidate: Candidate, selected: tuple[str, ...] | None) -> None:
        info = PluginInfo(
            name=candidate.name, distribution=candidate.distribution, version=candidate.version
        )
        if selected is not None and candidate.name not in selected:
            self._rejected.append(replace(info, status="blocked"))
            return
        try:
            self._add(candidate.load(), info)
        except PluginError as error:
            self._reject(replace(info, status="failed", error=str(error)))
        # Importing runs foreign code, and a script without a main guard may even exit.
        except (Exception, SystemExit) as error:  # noqa: BLE001
            text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            text = f"plugin {info.name!r} ({_origin(info)}) cannot be loaded: {text}"
            self._reject(replace(info, status="failed", error=text), error)

    def _reject(self, info: PluginInfo, error: BaseException | None = None) -> None:
        self._rejected.append(info)
        log = logger("plugins")
        log.warning("%s", info.error, exc_info=error if log.isEnabledFor(10) else None)

    def _add(self, plugin: object, info: PluginInfo) -> _Plugin:
        self._check_free(plugin, info)
        found = check(plugin, info.name)
        loaded = _Plugin(
            info=replace(info, hooks=tuple(sorted({one.hook for one in found}))),
            plugin=plugin,
            registered=self._collected(info.name, found),
        )
        try:
            self._manager.register(plugin, info.name)
        except ValueError:  # pluggy tells plugins apart by equality
            raise PluginError(f"plugin {info.name!r} equals one that is registered") from None
        self._plugins[info.name] = loaded
        return loaded

    def _check_free(self, plugin: object, info: PluginInfo) -> None:
        if self._registering is not None:
            raise PluginError(
                f"plugin {info.name!r} cannot be registered while {self._registering!r} is"
            )
        if info.name in self._plugins:
            owner = _origin(self._plugins[info.name].info)
            raise PluginError(f"a plugin {info.name!r} is registered already ({owner})")
        for other in self._plugins.values():
            if other.plugin is plugin:
                raise PluginError(f"plugin {info.name!r} is registered as {other.info.name!r}")

    def _collected(
        self, name: str, found: Iterable[Implementation]
    ) -> Mapping[Kind, Mapping[str, Registered]]:
        collectors: dict[Kind, Collector] = {
            kind: Collector(kind=kind, plugin=name, taken=self._registered(kind)) for kind in KINDS
        }
        self._registering = name
        try:
            for kind, collector in collectors.items():
                for one in found:
                    if one.hook == f"hornbook_register_{kind}":
                        _call(one, collector)
                collector.closed = True
        finally:
            self._registering = None
        return {kind: collector.entries for kind, collector in collectors.items()}

    def _registered(self, kind: Kind) -> dict[str, Registered]:
        return {
            name: entry
            for loaded in self._plugins.values()
            for name, entry in loaded.registered[kind].items()
        }

    def _sink(self, name: str) -> Sink:
        sink = self._sinks.setdefault(name, Sink(name))
        sink.use(self._registered("trace_sinks").get(name))
        return sink

    def _remove(self, name: str) -> None:
        self._manager.unregister(name=name)
        del self._plugins[name]

    def _replace(self) -> None:
        self._hooks = HookSet(
            generation=self._hooks.generation + 1,
            **{name: tuple(self._implementations(name)) for name in _STEP_HOOKS},
        )
        self._publish(self._hooks)

    def _implementations(self, name: str) -> Iterator[Impl]:
        hook = f"hornbook_{name}"
        # pluggy keeps the one it would call first at the end.
        for found in reversed(getattr(self._manager.hook, hook).get_hookimpls()):
            yield Impl(found.plugin_name, found.function, passed(found.function, hook))


def _call(registration: Implementation, collector: Collector) -> None:
    try:
        registration.function(**dict.fromkeys(registration.argnames, collector))
    except PluginError:
        raise
    # Whatever a plugin raises is its failure, not ours.
    except Exception as error:
        raise registration.problem(f"raised {type(error).__name__}: {error}") from error


def _core() -> PluginInfo:
    return PluginInfo(name=builtin.NAME, distribution="hornbook", version=__version__)


def _name_of(plugin: object) -> str:
    if isinstance(plugin, ModuleType):
        return plugin.__name__
    kind = plugin if isinstance(plugin, type) else type(plugin)
    return kind.__qualname__.rpartition("<locals>.")[2]


def _origin(info: PluginInfo) -> str:
    if info.distribution is None:
        return "registered by the program"
    return f"{info.distribution} {info.version or 'of unknown version'}"


def _there(names: Iterable[str], wanted: str = "") -> str:
    names = sorted(names)
    near = get_close_matches(wanted, names, n=1)
    if near:
        return f"did you mean {near[0]!r}?"
    return f"there are {', '.join(names)}" if names else "there are none"
