"""The hook implementations that steps call: one immutable value, replaced whole.

The slot is owned here and filled from the left: `hornbook.plugins` builds a `HookSet` and
replaces it, so that a step neither imports plugins nor sees a half-made change.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hornbook import late

__all__ = ["HookSet", "HookSlot", "Impl", "slot"]


@dataclass(frozen=True, slots=True)
class Impl:
    """One implementation of a hook."""

    plugin: str
    function: Callable[..., Any]
    argnames: tuple[str, ...]
    """The arguments it takes, to be passed by keyword: a subset of the hook's."""


@dataclass(frozen=True, slots=True)
class HookSet:
    """The implementations of every step hook, each tuple in the order of calling."""

    generation: int
    """Grows with every change of the plugins; equal generations hold equal sets."""
    before_step: tuple[Impl, ...] = ()
    check_output: tuple[Impl, ...] = ()
    on_violation: tuple[Impl, ...] = ()
    on_error: tuple[Impl, ...] = ()
    retrieve_rules: tuple[Impl, ...] = ()
    render_rules: tuple[Impl, ...] = ()
    record: tuple[Impl, ...] = ()

    @property
    def quiet(self) -> bool:
        """Whether no implementation takes part in the running of a step."""
        return not (self.before_step or self.check_output or self.on_violation or self.on_error)


def _of_plugins() -> HookSet:
    return late.hook_set.ask() or _no_plugins()


def _no_plugins() -> HookSet:
    return HookSet(generation=0)


# Two locks, because loading may register plugins, which replaces the set from inside.
_loading = threading.RLock()
_replacing = threading.Lock()


class HookSlot:
    """Where the current `HookSet` stands. Steps read it with no lock."""

    __slots__ = ("_busy", "hooks", "loader", "quiet")

    def __init__(self) -> None:
        self.hooks: HookSet | None = None
        self.quiet = False
        """Whether steps may go without hooks: the one thing that the hot path asks."""
        self.loader: Callable[[], HookSet] = _of_plugins
        self._busy = False

    def get(self) -> HookSet:
        """Return the current set, loading it once on first use."""
        hooks = self.hooks
        return self._load() if hooks is None else hooks

    def replace(self, hooks: HookSet) -> None:
        """Put `hooks` in place of the current set, for every step that starts from now on."""
        with _replacing:
            self._put(hooks)

    def _load(self) -> HookSet:
        with _loading:
            if self.hooks is not None:
                return self.hooks
            # A plugin that runs a step while it is imported comes back here.
            if self._busy:
                return _no_plugins()
            self._busy = True
            try:
                loaded = self.loader()
            finally:
                self._busy = False
            with _replacing:
                # A plugin registered meanwhile has already put a newer set here.
                return self.hooks or self._put(loaded)

    def _put(self, hooks: HookSet) -> HookSet:
        self.hooks = hooks
        self.quiet = hooks.quiet
        return hooks


slot = HookSlot()
