"""Writing a run's records: one append-only file a process, one write a record.

A record is on its way to the disk when `append` returns (it outlives the process, not the
machine). Tracing never raises into the host, unless it is told to be strict: what cannot be
written is dropped, counted and said.
"""

import os
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any
from weakref import WeakSet

from hornbook.canon import JSON, serialise
from hornbook.errors import TraceError
from hornbook.ids import is_run_id
from hornbook.log import logger
from hornbook.trace.chain import (
    HEAD,
    HEAD_FORMAT,
    VERSION,
    file_name,
    head_of,
    read_chain,
    seal,
    trace_files,
)
from hornbook.trace.files import (
    claim,
    new_file,
    open_to_append,
    replace_file,
    sentence,
    write_all,
)
from hornbook.trace.records import Role, dropped_record, event_record, header_record
from hornbook.trace.redact import Redactor, default

__all__ = ["TraceFile"]


class TraceFile:
    """The file of one run in this process; safe in threads, and after a fork.

    After a fork, parent and child each have a file of their own; the child's is made when
    something is written there.
    """

    def __init__(
        self, folder: Path, *, run: str, header: Mapping[str, Any], strict: bool, redactor: Redactor
    ) -> None:
        """Prepare a file; use `create` or `reopen`."""
        self.run = run
        self._folder = folder
        self._header = header
        self._strict = strict
        self._redactor = redactor
        self._role: Role = "root"
        self._parent: str | None = None
        self._reset()
        _open_files.add(self)

    def _reset(self) -> None:
        self._lock = threading.RLock()
        self._pid = os.getpid()
        self._busy = self._warned = False
        self._begin()

    def _begin(self) -> None:
        self._token = self._writer = str(self._pid)
        self._fd: int | None = None
        # Number of the next event, hash of the last line, bytes: one attribute, so that an
        # exception between two statements (a signal's, say) cannot leave half a change.
        self._at: tuple[int, bytes, int] = (0, b"", 0)
        self._dirty = self._ended = False
        self._steps = self._unreported = 0
        self._reason = ""
        self.dropped = 0
        """Records that could not be written."""

    def __del__(self) -> None:
        fd = getattr(self, "_fd", None)
        if fd is not None:
            with suppress(OSError):
                os.close(fd)

    # --- making one ---------------------------------------------------------------------

    @classmethod
    def create(
        cls,
        folder: Path | str,
        *,
        run: str,
        header: Mapping[str, Any],
        strict: bool = False,
        redactor: Redactor | None = None,
    ) -> "TraceFile":
        """Make the file of this process below `folder`, in the folder of the run.

        The first process to write there is the root of the run; others join it.

        Args:
            folder: where runs are kept.
            run: the run's id.
            header: what the first line says besides what every header says.
            strict: a record that cannot be written raises.
            redactor: what takes secrets out; the process's own, by default.

        Raises:
            TraceError: `run` is no run id; or the file cannot be made, and `strict`.
        """
        if not is_run_id(run):
            raise TraceError(f"{run!r} is not the id of a run")
        redactor = redactor or default()
        file = cls(
            Path(folder).absolute() / run,
            run=run,
            header=redactor.record(header),
            strict=strict,
            redactor=redactor,
        )
        with file._lock:
            problem = file._attempt(None)
        if problem is not None:
            file._say(problem)
        return file

    @classmethod
    def reopen(
        cls, path: Path, *, strict: bool = False, redactor: Redactor | None = None
    ) -> "TraceFile":
        """Continue a file whose writer is gone; a torn last line is truncated first.

        Raises:
            TraceError: the file is being written, has ended, or is not whole; so it cannot be
                continued.
        """
        fd = None
        try:
            fd = open_to_append(path)
            claim(fd)
            header, at = read_chain(path)
            os.ftruncate(fd, at[2])
        except (OSError, TraceError) as error:
            if fd is not None:
                os.close(fd)
            raise TraceError(f"{path} cannot be continued: {sentence(error)}") from error
        file = cls(
            path.parent,
            run=str(header["run"]),
            header={},
            strict=strict,
            redactor=redactor or default(),
        )
        file._fd, file._at = fd, at
        file._role = "root" if header["role"] == "root" else "child"
        file._token = str(header["writer"])
        # Steps are numbered from 1 again, so what begins their ids must be new.
        file._writer = f"{file._token}r{at[0]}"
        return file

    # --- using it -----------------------------------------------------------------------

    @property
    def path(self) -> Path:
        """The file of this process."""
        return self._folder / file_name(self.writer and self._token)

    @property
    def writer(self) -> str:
        """A token for this process, unique within the run: what begins the ids of its steps."""
        if self._fd is None or self._pid != os.getpid():
            with self._lock:
                if not self._ended:
                    self._attempt(None)
        return self._writer

    @property
    def incomplete(self) -> bool:
        """Whether something could not be written."""
        return self.dropped > 0

    def append(self, fields: Mapping[str, Any]) -> int:
        """Write one event and return its `seq`; -1 when it could not be written.

        Args:
            fields: of an `Event`, but `seq` and `run`; `data` may hold any values.

        Raises:
            TraceError: it could not be written, and the file is strict.
        """
        record = event_record(fields, self._redactor)
        with self._lock:
            problem = self._attempt(record)
            if problem is None:
                return self._at[0] - 1
        self._say(problem)
        return -1

    def end(self, fields: Mapping[str, Any]) -> int:
        """Write `run.end`, with what was counted, and sync; the root also anchors all heads.

        Returns:
            The event's `seq`.

        Raises:
            TraceError: something could not be written, and the file is strict.
        """
        with self._lock:
            if self._pid != os.getpid():
                self._forked()
            if self._fd is None and self._role == "child":
                self._ended = True
                return 0
            seq = self._at[0]
            counts: dict[str, Any] = {"events": self._at[0], "steps": self._steps}
            if self.dropped:
                counts |= {"dropped": self.dropped, "incomplete": True}
            data = {**fields["data"], **counts}
            record = event_record({**fields, "data": data}, self._redactor)
            problem = self._attempt(record) or self._anchor()
            self._close()
        if problem is not None:
            self._say(problem)
        return seq

    def close(self) -> None:
        """Close the file without ending the run."""
        with self._lock:
            self._close()

    # --- under the lock -----------------------------------------------------------------

    def _attempt(self, record: dict[str, JSON] | None) -> Exception | None:
        """Write a record, or just open the file; return what went wrong, and raise nothing."""
        if self._busy:
            return self._lost(record, TraceError("written while another record was being written"))
        self._busy = True
        try:
            fd = self._fd
            if fd is None or self._dirty or self._unreported or self._pid != os.getpid():
                fd = self._ready()
            if record is not None:
                self._put(fd, record)
        except Exception as error:  # noqa: BLE001 - tracing never harms the host
            return self._lost(record, error)
        finally:
            self._busy = False
        return None

    def _lost(self, record: dict[str, JSON] | None, problem: Exception) -> Exception:
        if record is not None:
            self.dropped += 1
            self._unreported += 1
            self._reason = sentence(problem)
        return problem

    def _put(self, fd: int, record: dict[str, JSON]) -> None:
        seq, previous, size = self._at
        record["seq"] = seq
        line, own = seal(previous, serialise(record))
        self._dirty = True
        write_all(fd, line)
        self._at = (seq + 1, own, size + len(line))
        self._dirty = False
        if record["kind"] == "step.start":
            self._steps += 1

    def _ready(self) -> int:
        """Return the descriptor of a file of this process that ends with a whole line."""
        if self._pid != os.getpid():
            self._forked()
        if self._ended:
            self._outlive()
        fd = self._open() if self._fd is None else self._fd
        if self._dirty:
            # The last write failed or was interrupted: part of a line may stand there.
            os.ftruncate(fd, self._at[2])
            self._dirty = False
        if self._unreported:
            self._put(fd, dropped_record(self.run, self._unreported, self._reason))
            self._unreported = 0
        return fd

    def _open(self) -> int:
        self._enter_folder()
        fd, writer = self._new_file()
        try:
            claim(fd)
            first = header_record(
                self._header,
                run=self.run,
                writer=writer,
                role=self._role,
                parent=self._parent,
                redaction=self._redactor.policy,
            )
            line, own = seal(b"", serialise(first))
            write_all(fd, line)
        except OSError:
            os.close(fd)
            os.unlink(self._folder / file_name(writer))
            raise
        self._fd, self._at = fd, (0, own, len(line))
        self._token = self._writer = writer
        return fd

    def _new_file(self) -> tuple[int, str]:
        number = 1
        while True:
            writer = str(self._pid) if number == 1 else f"{self._pid}-{number}"
            try:
                return new_file(self._folder / file_name(writer)), writer
            except FileExistsError:
                number += 1

    def _enter_folder(self) -> None:
        """Make the run's folder; whoever finds it with files in it has joined the run."""
        self._folder.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._folder.mkdir(mode=0o700)
        except FileExistsError:
            if self._folder.is_symlink():
                raise TraceError(f"{self._folder} is a symbolic link") from None
            if self._folder.is_dir() and trace_files(self._folder):
                self._role = "child"

    def _anchor(self) -> Exception | None:
        """Sync, and write down where each file of the run ends; return what went wrong."""
        assert self._fd is not None
        try:
            os.fsync(self._fd)
            if self._role == "root":
                replace_file(self._folder / HEAD, serialise(self._head()) + b"\n")
        except (OSError, TraceError) as error:
            return error
        return None

    def _head(self) -> JSON:
        heads = {path.name: head_of(path) for path in trace_files(self._folder)}
        own: JSON = {"lines": self._at[0] + 1, "head": self._at[1].decode("ascii")}
        heads[file_name(self._token)] = own
        files: JSON = {name: head for name, head in heads.items() if head is not None}
        return {"format": HEAD_FORMAT, "version": VERSION, "run": self.run, "files": files}

    def _close(self) -> None:
        self._ended = True
        if self._fd is not None:
            fd, self._fd = self._fd, None
            os.close(fd)
        _open_files.discard(self)

    def _forked(self) -> None:
        """Leave the file to the parent; this process's own is made when it writes."""
        fd, parent, ended = self._fd, self._writer, self._ended
        self._reset()
        self._role, self._parent, self._ended = "child", parent, ended
        if fd is not None:
            os.close(fd)

    def _outlive(self) -> None:
        """Go on in a file that the end of the run did not anchor: steps may outlive their run."""
        if self._strict:
            raise TraceError(f"the run {self.run} has ended")
        self._role, self._parent = "child", self._writer
        self._begin()
        if not self._warned:
            self._warned = True
            text = "run %s has ended and a step of it goes on; its record is incomplete"
            logger("trace").warning(text, self.run)

    def after_fork(self) -> None:
        """In the child of a fork: leave the file to the parent."""
        self._forked()

    # --- outside the lock ---------------------------------------------------------------

    def _say(self, problem: Exception) -> None:
        """Raise under `strict`; otherwise warn, once."""
        text = f"a record of run {self.run} cannot be written: {sentence(problem)}"
        if self._strict:
            raise TraceError(text) from problem
        if not self._warned:
            self._warned = True
            logger("trace").warning("%s; the run goes on, its record is incomplete", text)


_open_files: "WeakSet[TraceFile]" = WeakSet()


def _leave_to_parent() -> None:
    for file in list(_open_files):
        file.after_fork()


if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(after_in_child=_leave_to_parent)
