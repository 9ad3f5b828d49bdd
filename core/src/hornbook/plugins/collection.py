"""What plugins register by callback: named factories, each with the plugin it came from."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from hornbook.errors import PluginError

__all__ = ["KINDS", "Collector", "Kind", "Registered"]

Kind = Literal["clauses", "models", "trace_sinks"]
KINDS: tuple[Kind, ...] = get_args(Kind)

_WORDS: Mapping[Kind, str] = {
    "clauses": "clause kind",
    "models": "model",
    "trace_sinks": "trace sink",
}
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:/-]{0,127}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Registered:
    """A factory under a name, and the plugin that registered it; calling it makes one."""

    name: str
    factory: Callable[..., Any]
    plugin: str

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the factory."""
        return self.factory(*args, **kwargs)

    @property
    def __wrapped__(self) -> Callable[..., Any]:
        """The factory, whose signature `inspect` then shows."""
        return self.factory


@dataclass(slots=True, kw_only=True)
class Collector:
    """The `register` that one plugin is given for one kind of thing."""

    kind: Kind
    plugin: str
    taken: Mapping[str, Registered]
    """What the plugins before it have registered."""
    entries: dict[str, Registered] = field(default_factory=dict[str, Registered])
    closed: bool = False

    def __call__(self, name: str, factory: Callable[..., Any]) -> None:
        """Register `factory` under `name`; see `hornbook.hooks.Register`."""
        self._check(name, factory)
        self.entries[name] = Registered(name=name, factory=factory, plugin=self.plugin)

    def _check(self, name: object, factory: object) -> None:
        word = _WORDS[self.kind]
        if self.closed:
            raise self._problem(f"registers the {word} {name!r} too late: its hook has returned")
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise self._problem(
                f"registers a {word} under {name!r}; a name is letters, digits and _ . : / -"
            )
        if not callable(factory):
            raise self._problem(f"registers the {word} {name!r} with a factory that is no function")
        if name in self.entries:
            raise self._problem(f"registers the {word} {name!r} twice")
        if name in self.taken:
            owner = self.taken[name].plugin
            raise self._problem(f"registers the {word} {name!r}, which plugin {owner!r} has")

    def _problem(self, text: str) -> PluginError:
        return PluginError(f"plugin {self.plugin!r} {text}")
