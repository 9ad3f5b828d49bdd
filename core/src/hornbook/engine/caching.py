"""What was computed before with identical inputs (Forethought appendix B)."""

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from hornbook.contracts.report import ContractReport

__all__ = ["Cache", "Hit", "MemoryCache"]


class Hit(NamedTuple):
    """An output that met its contract, and what the contract said of it."""

    value: Any
    report: "ContractReport | None" = None
    """None where there is no contract."""


class Cache(Protocol):
    """Where outputs are kept by key; used from several threads, so it locks for itself."""

    def get(self, key: str, output: Any) -> Hit | None:
        """What is kept under `key`, of the type `output`; None where nothing is."""
        ...

    def put(self, key: str, hit: Hit, output: Any) -> None:
        """Keep an output of the type `output`; a cache may decline."""
        ...


class MemoryCache:
    """The newest `max_entries` outputs, by reference: the engine copies what can change."""

    def __init__(self, max_entries: int = 10_000) -> None:
        self._max_entries = max_entries
        self._hits: OrderedDict[str, Hit] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: str, output: Any) -> Hit | None:
        """What is kept under `key`."""
        with self._lock:
            hit = self._hits.get(key)
            if hit is not None:
                self._hits.move_to_end(key)
            return hit

    def put(self, key: str, hit: Hit, output: Any) -> None:
        """Keep it, and let go of what was not asked for the longest."""
        with self._lock:
            self._hits[key] = hit
            self._hits.move_to_end(key)
            while len(self._hits) > self._max_entries:
                self._hits.popitem(last=False)

    def __len__(self) -> int:
        return len(self._hits)
