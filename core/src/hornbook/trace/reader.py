"""Reading records again: events, headers, and what runs there are."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast

from hornbook.canon import JSON
from hornbook.errors import TraceError
from hornbook.ids import is_run_id
from hornbook.trace.chain import (
    HEAD,
    KINDS,
    Line,
    header_of,
    last_line,
    lines_of,
    on_disk,
    record_of,
    run_files,
    trace_files,
)
from hornbook.trace.events import Event, Kind
from hornbook.trace.verify import Verification, verify_trace

__all__ = [
    "RunSummary",
    "Verification",
    "list_runs",
    "read",
    "read_header",
    "verify_trace",
]

_STEP = b'"kind":"step.start"'


def read(path: Path | str | None) -> Iterator[Event]:
    """Return the events of a run's folder (file by file, the first process's first) or file.

    A torn last line, as a killed process leaves it, ends its file. The hashes are not checked:
    see `verify_trace`.

    Raises:
        TraceError: there is no trace, or it is of another format or a newer version; and, on
            the way, a line in the middle is broken.
    """
    path = on_disk(path)
    opened = _opened(path)
    if not opened and not path.is_dir():
        raise TraceError(f"{path} is empty: its writer was stopped before the header")
    return _events(opened)


def read_header(path: Path | str | None) -> Mapping[str, JSON]:
    """Return the header of a trace file, or of the first file of a run's folder.

    Raises:
        TraceError: there is no trace, or it is of another format or a newer version.
    """
    opened = _opened(on_disk(path))
    if not opened:
        raise TraceError(f"{path} is empty: its writer was stopped before the header")
    return opened[0][1]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """A run as it looks from outside, without a check of its hashes."""

    run: str
    path: Path
    started: float
    """Seconds since the epoch."""
    status: Literal["complete", "incomplete", "broken"]
    """`complete` when the run has ended and was anchored; `broken` when it cannot be read."""
    steps: int
    """Steps that began, in all files."""
    namespace: str | None = None
    tags: Mapping[str, Any] = field(default_factory=dict[str, Any])
    problem: str = ""
    """Why it cannot be read."""


def list_runs(folder: Path | str) -> tuple[RunSummary, ...]:
    """Return the runs kept in a folder, the oldest first.

    Raises:
        TraceError: there is no such folder, or it is itself the folder of a run.
    """
    folder = Path(folder)
    if not folder.is_dir():
        what = "is not a folder" if folder.exists() else "does not exist"
        raise TraceError(f"{folder} {what}")
    if trace_files(folder):
        raise TraceError(f"{folder} is the folder of one run, not a folder of runs")
    found = [path for path in folder.iterdir() if is_run_id(path.name) and path.is_dir()]
    return tuple(_summary(path) for path in sorted(found))


def _opened(path: Path) -> list[tuple[Path, dict[str, JSON]]]:
    """Return the files that have a header, with it: the root first, then by their start."""
    found: list[tuple[Path, dict[str, JSON]]] = []
    for file in run_files(path):
        line = next(lines_of(file), None)
        if line is not None and not line.torn:
            found.append((file, header_of(file, line)))
    return sorted(found, key=lambda item: (item[1]["role"] != "root", _started(item[1])))


def _started(header: Mapping[str, JSON]) -> float:
    created = header.get("created")
    return created if isinstance(created, float) else 0.0


def _events(opened: list[tuple[Path, dict[str, JSON]]]) -> Iterator[Event]:
    for file, header in opened:
        run = str(header["run"])
        for line in lines_of(file):
            if line.torn:
                break
            if line.number > 1:
                yield _event(file, line, run)


def _event(path: Path, line: Line, run: str) -> Event:
    record = record_of(path, line)
    kind, seq, step, data = (record.get(key) for key in ("kind", "seq", "id", "data"))
    moment, name = record.get("time"), record.get("name")
    if kind not in KINDS or type(seq) is not int or not isinstance(step, str):
        raise TraceError(f"{path}, line {line.number}: not an event")
    return Event(
        kind=cast("Kind", kind),
        seq=seq,
        run=run,
        id=step,
        parent=_text(record.get("parent")),
        time=moment if isinstance(moment, (int, float)) else 0.0,
        name=name if isinstance(name, str) else "",
        contract=_text(record.get("contract")),
        status=_text(record.get("status")),
        data=data if isinstance(data, dict) else {},
    )


def _text(value: JSON) -> str | None:
    return value if isinstance(value, str) else None


def _summary(path: Path) -> RunSummary:
    try:
        opened = _opened(path)
        steps = sum(_count_steps(file) for file, _ in opened)
        complete = bool(opened) and _has_ended(opened[0][0])
    except TraceError as error:
        return RunSummary(
            run=path.name, path=path, started=0.0, status="broken", steps=0, problem=str(error)
        )
    header = opened[0][1] if opened else {}
    tags = header.get("tags")
    return RunSummary(
        run=path.name,
        path=path,
        started=_started(header),
        status="complete" if complete else "incomplete",
        steps=steps,
        namespace=_text(header.get("namespace")),
        tags=tags if isinstance(tags, dict) else {},
    )


def _count_steps(file: Path) -> int:
    return sum(_STEP in line.raw for line in lines_of(file))


def _has_ended(root: Path) -> bool:
    raw = last_line(root)
    ended = raw is not None and record_of(root, Line(0, raw)).get("kind") == "run.end"
    return ended and (root.parent / HEAD).exists()
