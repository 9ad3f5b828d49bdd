"""Whether the record of a run is whole: every byte, every line, every step, every file."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Literal, TypeGuard, cast

from hornbook.canon import JSON, CanonError, loads, serialise
from hornbook.errors import TraceError
from hornbook.trace.chain import (
    HEAD,
    HEAD_FORMAT,
    KINDS,
    VERSION,
    Line,
    follows,
    header_of,
    is_sealed,
    lines_of,
    on_disk,
    record_of,
    run_files,
    writer_of,
)

__all__ = ["Verification", "verify_trace"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What a check of a run's record found."""

    status: Literal["complete", "incomplete", "broken"]
    """`incomplete`: what is there is sound, but not all of it is (a killed run); `broken`:
    something was changed, or the format was violated."""
    files: int
    events: int
    open_steps: tuple[str, ...]
    """Ids of the steps that began and have no end."""
    problems: tuple[str, ...]
    """A sentence for each thing that is wrong, what is broken first."""

    @property
    def ok(self) -> bool:
        """Whether the record is complete."""
        return self.status == "complete"


def verify_trace(path: Path | str | None) -> Verification:
    """Check a run's folder, or one of its files, against its hashes and its anchored head.

    The chain proves what is there unchanged only together with the anchor that `run.end`
    leaves: an incomplete record can have lost lines at its end, and nobody can tell.

    Raises:
        TraceError: there is no trace, or it is of another format or a newer version.
    """
    path = on_disk(path)
    files = run_files(path)
    check = _Check(path if path.is_dir() else path.parent, alone=not path.is_dir())
    for file in files:
        check.file(file)
    check.whole(files)
    return check.result(len(files))


@dataclass(frozen=True, slots=True)
class _Anchor:
    """Where the head says that a file ended."""

    lines: int
    head: str


class _Check:
    """One check of one run; gathers what it finds."""

    def __init__(self, folder: Path, *, alone: bool) -> None:
        self._alone = alone
        self._broken: list[str] = []
        self._incomplete: list[str] = []
        self._events = 0
        self._started: dict[str, str] = {}
        self._ended: set[str] = set()
        self._runs: set[str] = set()
        self._roles: list[str] = []
        self._finished = False
        self._anchors = self._read_head(folder / HEAD)

    def result(self, files: int) -> Verification:
        """Return the findings."""
        status = "broken" if self._broken else "incomplete" if self._incomplete else "complete"
        return Verification(
            status=status,
            files=files,
            events=self._events,
            open_steps=tuple(step for step in self._started if step not in self._ended),
            problems=(*self._broken, *self._incomplete),
        )

    # --- one file -----------------------------------------------------------------------

    def file(self, path: Path) -> None:
        """Check the lines of one file, and that it ends where it was anchored."""
        anchor = None if self._anchors is None else self._anchors.get(path.name)
        previous, count, anchored, header = b"", 0, False, cast("dict[str, JSON]", {})
        for line in lines_of(path):
            if line.torn:
                self._torn(path, line, previous)
                break
            own = follows(previous, line.raw)
            if own is None:
                if anchor is None:
                    _refuse_foreign(path)
                self._broken.append(f"{path.name}, line {line.number}: the chain is broken")
                return
            if count == 0:
                header = self._header(path, line)
            else:
                self._event(path, line, count - 1, root=header.get("role") == "root")
            previous, count = own, count + 1
            anchored = anchored or (
                anchor is not None and (count, own.decode()) == (anchor.lines, anchor.head)
            )
        if anchor is not None and not anchored:
            self._broken.append(f"{path.name} does not end as it was anchored: lines are missing")
        elif count == 0:
            self._headless(path)
        elif anchor is not None and count > anchor.lines:
            self._longer(path, root=header["role"] == "root")

    def _header(self, path: Path, line: Line) -> dict[str, JSON]:
        header = header_of(path, line)
        self._runs.add(str(header["run"]))
        self._roles.append(str(header["role"]))
        if header["writer"] != writer_of(path):
            self._broken.append(f"{path.name} is the file of the writer {header['writer']!r}")
        return header

    def _event(self, path: Path, line: Line, due: int, *, root: bool) -> None:
        self._events += 1
        where = f"{path.name}, line {line.number}"
        try:
            record = record_of(path, line)
        except TraceError as error:
            self._broken.append(str(error))
            return
        if record.get("kind") not in KINDS or not isinstance(record.get("id"), str):
            self._broken.append(f"{where}: not an event")
            return
        if record.get("seq") != due:
            self._broken.append(f"{where}: its seq is {record.get('seq')!r}, not {due}")
        if root and self._finished:
            self._broken.append(f"{where}: stands after the end of the run")
        self._follow(record, where, root=root)

    def _follow(self, record: Mapping[str, JSON], where: str, *, root: bool) -> None:
        """Keep account of steps, of the run's end, and of what was dropped."""
        step = str(record["id"])
        match record["kind"]:
            case "step.start":
                if step in self._started:
                    self._broken.append(f"{where}: step {step} starts again")
                self._started[step] = str(record.get("name", ""))
            case "step.end":
                if step in self._ended:
                    self._broken.append(f"{where}: step {step} ends again")
                self._ended.add(step)
            case "run.end":
                self._finished = self._finished or root
            case "note" if record.get("status") == "incomplete":
                data = record.get("data")
                data = data if isinstance(data, dict) else {}
                self._incomplete.append(
                    f"{where}: {data.get('dropped')} records before it could not be written"
                    f" ({data.get('error')})"
                )
            case _:
                pass

    def _torn(self, path: Path, line: Line, previous: bytes) -> None:
        where = f"{path.name}, line {line.number}"
        if follows(previous, line.raw[:-1] + b"\n") is not None:
            self._broken.append(f"{where}: does not end as a line does")
        elif line.number > 1:
            self._incomplete.append(f"{where}: torn, its writer was stopped in the middle of it")

    def _headless(self, path: Path) -> None:
        self._roles.append("unknown")
        self._incomplete.append(f"{path.name} has no header: its writer was stopped at the start")

    def _longer(self, path: Path, *, root: bool) -> None:
        problem = f"{path.name} goes on after the end that was anchored"
        (self._broken if root else self._incomplete).append(problem)

    # --- all of them --------------------------------------------------------------------

    def whole(self, files: list[Path]) -> None:
        """Check what the files say together."""
        if len(self._runs) > 1:
            self._broken.append(f"the files are of {len(self._runs)} different runs")
        self._check_roots()
        self._check_anchors({file.name for file in files})
        for step, name in self._started.items():
            if step not in self._ended:
                self._incomplete.append(f"step {step} ({name}) has no end")
        self._incomplete += [
            f"step {step} has no start" for step in sorted(self._ended - self._started.keys())
        ]

    def _check_roots(self) -> None:
        roots = self._roles.count("root")
        if roots > 1:
            self._broken.append(f"{roots} files say that they are the run's first")
        if self._broken or (self._alone and not roots):
            return
        if not self._roles:
            self._incomplete.append("no trace file: the run was stopped at the start")
        elif not roots and "unknown" not in self._roles:
            self._broken.append("the run's first file is missing")
        elif not self._finished:
            self._incomplete.append("no run.end: the run was stopped, or is still going on")
        elif self._anchors is None:
            self._incomplete.append(f"no {HEAD}: the end of the run was not anchored")

    def _check_anchors(self, names: set[str]) -> None:
        if self._anchors is None:
            return
        for name in sorted(names - self._anchors.keys()):
            self._incomplete.append(f"{name} was begun after the end of the run was anchored")
        if not self._alone:
            for name in sorted(self._anchors.keys() - names):
                self._broken.append(f"{name} is missing")

    def _read_head(self, path: Path) -> dict[str, _Anchor] | None:
        try:
            raw = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise TraceError(f"{path} cannot be read: {error.strerror}") from error
        try:
            return self._anchors_of(raw)
        except CanonError:
            self._broken.append(f"{HEAD} is not as we write it")
            return None

    def _anchors_of(self, raw: bytes) -> dict[str, _Anchor]:
        head = loads(raw)
        if not _is_object(head) or serialise(head) + b"\n" != raw or not _is_head(head):
            raise CanonError("not a head")
        self._runs.add(str(head["run"]))
        anchors: dict[str, _Anchor] = {}
        for name, entry in cast("dict[str, JSON]", head["files"]).items():
            if not _is_object(entry) or set(entry) != {"lines", "head"}:
                raise CanonError("not a head")
            lines, own = entry["lines"], entry["head"]
            if type(lines) is not int or not isinstance(own, str):
                raise CanonError("not a head")
            anchors[name] = _Anchor(lines, own)
        return anchors


def _refuse_foreign(path: Path) -> None:
    """Raise for a file that is none of ours: not even one line of it has our seal."""
    if not any(is_sealed(line.raw) for line in islice(lines_of(path), 100)):
        header_of(path, next(lines_of(path)))


def _is_object(value: JSON) -> TypeGuard[dict[str, JSON]]:
    return isinstance(value, dict)


def _is_head(head: Mapping[str, JSON]) -> bool:
    return (
        set(head) == {"format", "version", "run", "files"}
        and head["format"] == HEAD_FORMAT
        and head["version"] == VERSION
        and isinstance(head["files"], dict)
    )
