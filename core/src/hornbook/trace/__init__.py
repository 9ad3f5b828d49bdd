"""Records: runs, the events they leave, and reading and checking them again."""

from typing import TYPE_CHECKING

from hornbook import lazy

if TYPE_CHECKING:
    from hornbook.trace.events import Event, Kind
    from hornbook.trace.frame import current_run
    from hornbook.trace.reader import list_runs, read, read_header
    from hornbook.trace.runs import Run, record, run
    from hornbook.trace.verify import Verification, verify_trace

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

__getattr__, __dir__ = lazy.attach(
    __name__,
    {
        "Event": "hornbook.trace.events",
        "Kind": "hornbook.trace.events",
        "Run": "hornbook.trace.runs",
        "Verification": "hornbook.trace.verify",
        "current_run": "hornbook.trace.frame",
        "list_runs": "hornbook.trace.reader",
        "read": "hornbook.trace.reader",
        "read_header": "hornbook.trace.reader",
        "record": "hornbook.trace.runs",
        "run": "hornbook.trace.runs",
        "verify_trace": "hornbook.trace.verify",
    },
)
