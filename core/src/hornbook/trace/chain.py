"""How a trace file is laid out: names, lines, and the chain of hashes through them.

A line is the canonical JSON of a record with `"h"` put last: the SHA-256 of the hash before it
and the record's bytes. So a line is checked as the bytes it is, framing included, and nothing
is serialised again. Whoever can rewrite a whole file can make a new chain: what the chain
proves, it proves only together with the head that is anchored when the run ends.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from hornbook.canon import JSON, CanonError, loads, sha256
from hornbook.errors import TraceError
from hornbook.ids import is_run_id
from hornbook.trace.events import Kind

__all__ = [
    "FORMAT",
    "HEAD",
    "HEAD_FORMAT",
    "KINDS",
    "VERSION",
    "Line",
    "file_name",
    "follows",
    "head_of",
    "header_of",
    "is_sealed",
    "last_line",
    "lines_of",
    "on_disk",
    "read_chain",
    "record_of",
    "run_files",
    "seal",
    "trace_files",
    "writer_of",
]

FORMAT = "hornbook-trace"
HEAD_FORMAT = "hornbook-head"
VERSION = 1
HEAD = "HEAD"
"""Name of the file, beside the trace files, that anchors where each of them ended."""

KINDS = frozenset(get_args(Kind))
"""The kinds of event, a closed set."""

_FILE_NAME = re.compile(r"trace\.([0-9]+(?:-[0-9]+)?)\.jsonl")
_TAIL = re.compile(rb',"h":"([0-9a-f]{64})"}\n\Z')
_TAIL_SIZE = 73
_LONGEST_LINE = 64 * 2**20


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a file."""

    number: int
    """From 1, as editors count."""
    raw: bytes

    @property
    def torn(self) -> bool:
        """Whether the writer was stopped in the middle of it."""
        return not self.raw.endswith(b"\n")


def seal(previous: bytes, body: bytes) -> tuple[bytes, bytes]:
    """Return the line that holds `body` after the hash `previous`, and its own hash."""
    own: bytes = sha256()(previous + body).hexdigest().encode("ascii")
    return b'%b,"h":"%b"}\n' % (body[:-1], own), own


def follows(previous: bytes, raw: bytes) -> bytes | None:
    """Return the hash of a line; None unless it is whole and stands after `previous`."""
    tail = _TAIL.search(raw, max(0, len(raw) - _TAIL_SIZE))
    if tail is None:
        return None
    body = raw[:-_TAIL_SIZE] + b"}"
    own = tail[1]
    return own if sha256()(previous + body).hexdigest().encode("ascii") == own else None


def is_sealed(raw: bytes) -> bool:
    """Whether a line ends as ours do, be the hash right or wrong."""
    return _TAIL.search(raw, max(0, len(raw) - _TAIL_SIZE)) is not None


def file_name(writer: str) -> str:
    """Return the name of the file of a writer."""
    return f"trace.{writer}.jsonl"


def writer_of(path: Path) -> str | None:
    """Return the token of the writer in a file's name; None when it is no trace file."""
    found = _FILE_NAME.fullmatch(path.name)
    return None if found is None else found[1]


def trace_files(folder: Path) -> list[Path]:
    """Return the trace files in a run's folder, by name."""
    return sorted(path for path in folder.iterdir() if writer_of(path) is not None)


def on_disk(path: Path | str | None) -> Path:
    """Return where a record is, as given by `run.path`.

    Raises:
        TraceError: nowhere, because the run was recorded in memory.
    """
    if path is None:
        raise TraceError("this run was recorded in memory: look at run.events")
    return Path(path)


def run_files(path: Path) -> list[Path]:
    """Return the trace files of a run's folder, or the one file that `path` is.

    A run that was stopped at once can have left an empty folder.

    Raises:
        TraceError: there is nothing, or no trace.
    """
    if not path.exists():
        raise TraceError(f"{path} does not exist")
    if not path.is_dir():
        return [path]
    files = trace_files(path)
    if files or is_run_id(path.name):
        return files
    runs = sorted(item.name for item in path.iterdir() if is_run_id(item.name))
    if runs:
        raise TraceError(f"{path} is a folder of runs: name one, such as {path / runs[-1]}")
    raise TraceError(f"{path} holds no trace of Hornbook")


def lines_of(path: Path) -> Iterator[Line]:
    """Yield the lines of a file; only the last can be torn.

    Raises:
        TraceError: the file cannot be read, or has a line longer than any we write.
    """
    try:
        with path.open("rb") as file:
            number = 0
            while raw := file.readline(_LONGEST_LINE + 1):
                number += 1
                if len(raw) > _LONGEST_LINE:
                    raise TraceError(f"{path}, line {number}: longer than {_LONGEST_LINE} bytes")
                yield Line(number, raw)
    except OSError as error:
        raise TraceError(f"{path} cannot be read: {error.strerror}") from error


def last_line(path: Path) -> bytes | None:
    """Return the last whole line of a file, without reading all of it; None when it has none."""
    with path.open("rb") as file:
        end = file.seek(0, os.SEEK_END)
        block, data = 4096, b""
        while len(data) < end and data.count(b"\n") < 2:
            block = min(end, block * 4)
            file.seek(end - block)
            data = file.read(block)
    whole = data[: data.rfind(b"\n") + 1]
    return whole[whole.rfind(b"\n", 0, -1) + 1 :] or None


def record_of(path: Path, line: Line) -> dict[str, JSON]:
    """Return the record in a whole line.

    Raises:
        TraceError: the line is no JSON object.
    """
    try:
        record = loads(line.raw)
    except CanonError as error:
        raise TraceError(f"{path}, line {line.number}: {error}") from None
    if not isinstance(record, dict):
        raise TraceError(f"{path}, line {line.number}: not a record but {str(record)[:40]!r}")
    return record


def header_of(path: Path, line: Line) -> dict[str, JSON]:
    """Return the header in the first line of a file.

    Raises:
        TraceError: the file is no Hornbook trace, or of a newer version.
    """
    try:
        header = record_of(path, line)
    except TraceError:
        raise TraceError(f"{path} is not a Hornbook trace: its first line is no header") from None
    form, version = header.get("format"), header.get("version")
    if form != FORMAT:
        found = "names no format" if form is None else f"names the format {str(form)[:40]!r}"
        raise TraceError(f"{path} is not a Hornbook trace: its first line {found}")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise TraceError(f"{path} is not a Hornbook trace: its version is {str(version)[:40]!r}")
    if version > VERSION:
        raise TraceError(
            f"{path} was written by a newer Hornbook (trace version {version}; this one reads up"
            f" to {VERSION}): upgrade hornbook"
        )
    for key in ("run", "writer", "role"):
        if not isinstance(header.get(key), str):
            raise TraceError(f"{path} is not a Hornbook trace: its header has no {key!r}")
    return header


def head_of(path: Path) -> dict[str, JSON] | None:
    """Return where a file ends now, as it is anchored; None when it has no whole line."""
    raw = last_line(path)
    if raw is None:
        return None
    record = record_of(path, Line(0, raw))
    seq, own = record.get("seq", -1), record.get("h")
    return {"lines": seq + 2, "head": own} if isinstance(seq, int) else None


def read_chain(path: Path) -> tuple[dict[str, JSON], tuple[int, bytes, int]]:
    """Return the header of a file to go on with, and where its whole lines end.

    That is the number of the next event, the hash of the last line and the bytes up to it.

    Raises:
        TraceError: the file is no trace, its chain is broken, or its run has ended.
    """
    header: dict[str, JSON] = {}
    own, size, count, last = b"", 0, 0, b""
    for line in lines_of(path):
        if line.torn:
            break
        following = follows(own, line.raw)
        if following is None:
            raise TraceError(f"{path}, line {line.number}: the chain is broken")
        header = header or header_of(path, line)
        own, size, count, last = following, size + len(line.raw), count + 1, line.raw
    if count == 0:
        raise TraceError(f"{path} is empty: its writer was stopped before the header")
    if record_of(path, Line(count, last)).get("kind") == "run.end":
        raise TraceError("its run has ended")
    return header, (count - 1, own, size)
