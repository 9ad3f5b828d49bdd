"""Records: runs, the events they leave, and reading and checking them again."""

from typing import TYPE_CHECKING, Any

from hornbook.trace.events import Event, Kind
from hornbook.trace.frame import current_run
from hornbook.trace.runs import Run, record, run

if TYPE_CHECKING:
    from hornbook.trace.reader import Verification, list_runs, read, read_header, verify_trace

__all__ = [
    "Event",
    "Kind",
    "Run",
    "Verification",
    "current_run",
    "list_runs",
    "read",
    "read_header",
    "record",
    "run",
    "verify_trace",
]


def __getattr__(name: str) -> Any:
    # Reading is not needed to record, and every import of the package would pay for it.
    if name in __all__:
        from hornbook.trace import reader

        return getattr(reader, name)
    raise AttributeError(f"module 'hornbook.trace' has no attribute {name!r}")
