"""Those who are shown every event of a run: the hook `hornbook_record`, and trace sinks.

They are foreign code on a step's time: what they raise is logged and goes no further.
"""

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from hornbook.log import logger
from hornbook.plugins.collection import Registered
from hornbook.step.hookset import Impl

if TYPE_CHECKING:
    from hornbook.trace.events import Event

__all__ = ["RecordHook", "Sink"]


class RecordHook:
    """An implementation of `hornbook_record`, called with an event."""

    __slots__ = ("_impl",)

    def __init__(self, impl: Impl) -> None:
        self._impl = impl

    def __call__(self, event: "Event") -> None:
        """Show the event to the plugin."""
        try:
            self._impl.function(**({"event": event} if self._impl.argnames else {}))
        except Exception:  # noqa: BLE001 - a plugin must not harm the step it observes
            logger("plugins").exception("plugin %r: hornbook_record raised", self._impl.plugin)


class Sink:
    """A trace sink by its name, made when the first event comes.

    One that no plugin registers, or that cannot be made, is logged once and loses its
    events.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._lock = threading.Lock()
        self._registered: Registered | None = None
        self._receive: Callable[[Event], None] | None = None

    def use(self, registered: Registered | None) -> None:
        """Take the sink from `registered`, from the next event on."""
        with self._lock:
            if registered is not self._registered:
                self._registered, self._receive = registered, None

    def __call__(self, event: "Event") -> None:
        """Give the event to the sink."""
        try:
            (self._receive or self._made())(event)
        except Exception:  # noqa: BLE001 - a sink must not harm the step it observes
            logger("plugins").exception("the trace sink %r raised", self.name)

    def _made(self) -> "Callable[[Event], None]":
        with self._lock:
            if self._receive is None:
                self._receive = self._make()
            return self._receive

    def _make(self) -> "Callable[[Event], None]":
        if self._registered is None:
            logger("plugins").warning("no plugin registers the trace sink %r", self.name)
            return _lose
        try:
            receive: object = self._registered()
        except Exception as error:  # noqa: BLE001 - as when it is called
            logger("plugins").warning("the trace sink %r cannot be made: %s", self.name, error)
            return _lose
        if not callable(receive):
            logger("plugins").warning("the trace sink %r is no function", self.name)
            return _lose
        return cast("Callable[[Event], None]", receive)


def _lose(event: "Event") -> None:
    del event
