"""Files as the trace needs them: made once, appended to, replaced as a whole."""

import os
from pathlib import Path

from hornbook.errors import TraceError

__all__ = ["claim", "new_file", "open_to_append", "replace_file", "sentence", "write_all"]


def _flags() -> int:
    flags = os.O_WRONLY | os.O_APPEND
    # What Windows lacks (or has instead) is absent here.
    for name in ("O_CLOEXEC", "O_NOFOLLOW", "O_BINARY", "O_NOINHERIT"):
        flags |= getattr(os, name, 0)
    return flags


_FLAGS = _flags()


def new_file(path: Path) -> int:
    """Make a file that was not there, for us alone, and return its descriptor.

    Raises:
        OSError: it cannot be made; FileExistsError when there is one.
    """
    return os.open(path, _FLAGS | os.O_CREAT | os.O_EXCL, 0o600)


def open_to_append(path: Path) -> int:
    """Return the descriptor of a file that is there."""
    return os.open(path, _FLAGS)


def write_all(fd: int, data: bytes) -> None:
    """Write all of `data`: in one write, unless the system takes only part of it."""
    written = os.write(fd, data)
    while written < len(data):
        data = data[written:]
        written = os.write(fd, data)


def claim(fd: int) -> None:
    """Lock the file, where the system can: nobody else continues it while we live."""
    try:
        from fcntl import LOCK_EX, LOCK_NB, flock
    except ImportError:  # Windows
        return
    try:
        flock(fd, LOCK_EX | LOCK_NB)
    except BlockingIOError:
        raise TraceError("another process is writing it") from None
    except OSError:
        # A file system without locks: then nothing guards against two writers.
        return


def replace_file(path: Path, data: bytes) -> None:
    """Write a file so that it is there whole or not at all, even after a power cut."""
    temporary = path.with_name(f"{path.name}.tmp")
    temporary.unlink(missing_ok=True)
    fd = new_file(temporary)
    try:
        write_all(fd, data)
        os.fsync(fd)
    finally:
        os.close(fd)
    os.replace(temporary, path)
    if hasattr(os, "O_DIRECTORY"):  # Windows cannot sync a folder
        fd = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)


def sentence(problem: Exception) -> str:
    """Say what went wrong with a file."""
    if isinstance(problem, OSError) and problem.strerror:
        name = "" if problem.filename is None else f"{problem.filename}: "
        return f"{name}{problem.strerror}"
    return str(problem) or type(problem).__name__
