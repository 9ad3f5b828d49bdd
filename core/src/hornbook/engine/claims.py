"""The cache as one run sees it: what is kept, and identical calls that are under way."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Literal

from hornbook.engine.caching import Cache, Hit
from hornbook.engine.copies import KEPT_OUT, copied
from hornbook.engine.keys import Key, lasting
from hornbook.engine.plans import Plan

if TYPE_CHECKING:
    from hornbook.engine.strands import Strand

__all__ = ["Claims"]


class Claims:
    """Single flight: of identical calls one is made at a time, and the others wait for it."""

    def __init__(
        self,
        cache: "Literal['run'] | Cache | None",
        wake: "Callable[[Iterable[Strand]], Any]",
    ) -> None:
        self._cache = None if cache is None or isinstance(cache, str) else cache
        self._wake = wake
        self._kept: dict[Key, Hit] = {}
        self._claims: dict[Key, list[Strand] | None] = {}
        self._loose: set[Key] = set()

    def look(self, key: Key) -> Hit | None:
        """What is kept under `key`, once it could not be claimed; the value is the caller's."""
        hit = self._kept.get(key)
        return None if hit is None else _own(hit)

    def keeps(self, key: Key) -> bool:
        """Whether it is worth a claim: no output of the same call had to be left out before."""
        return key not in self._loose

    def claim(self, key: Key, plan: Plan) -> bool:
        """Take it on oneself to make the call of `key`.

        False where its output is kept, or another makes the call.
        """
        if key in self._claims or key in self._kept:
            return False
        cache = self._cache
        hit = None if cache is None else cache.get(lasting(key, plan), plan.work.output)
        hit = None if hit is None else _own(hit)
        if hit is not None:
            self._kept[key] = hit
            return False
        self._claims[key] = None
        return True

    def wait(self, key: Key, strand: "Strand") -> None:
        """Have a strand wait until the claim of `key` ends."""
        waiting = self._claims[key]
        if waiting is None:
            waiting = self._claims[key] = []
        waiting.append(strand)

    def settle(self, key: Key, hit: Hit | None, plan: Plan) -> None:
        """End a claim; those who wait look again.

        What is kept is a copy, since its holder may change the output; what has none is not.
        """
        waiting = self._claims.pop(key)
        if waiting is not None:
            self._wake(waiting)
        own = None if hit is None else _own(hit)
        if own is not None:
            self._kept[key] = own
            if self._cache is not None:
                self._cache.put(lasting(key, plan), own, plan.work.output)
        elif hit is not None:
            self._loose.add(key)


def _own(hit: Hit) -> Hit | None:
    """The hit with a copy of its value; the hit itself where the value never changes."""
    value = copied(hit.value)
    if value is hit.value:
        return hit
    return None if value is KEPT_OUT else hit._replace(value=value)
