"""A file that one writer at a time replaces: others wait, and readers see old or new."""

import os
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from hornbook.judges.errors import CalibrationError

__all__ = ["locked", "replaced"]

_PATIENCE = 30.0
"""Seconds; whoever has the lock writes one small file."""
_PAUSE = 0.01


@contextmanager
def locked(file: Path) -> Generator[None]:
    """Be the only one, of all threads and processes, that changes the file.

    The lock is a file beside it, which is removed afterwards. The system lets go of it when
    its process is killed.

    Raises:
        CalibrationError: nothing can be made in the folder, or another has it for long.
    """
    if file.is_dir():
        raise CalibrationError(f"{file} cannot be written: it is a folder")
    beside = file.with_name(f".{file.name}.lock")
    descriptor = _waited_for(beside, file)
    try:
        yield
    finally:
        if os.name != "nt":  # there the system removes it with its last descriptor
            # While it is held: whoever gets it next finds it gone, and makes another.
            beside.unlink(missing_ok=True)
        os.close(descriptor)


def replaced(file: Path, text: str) -> None:
    """Write the file whole, or leave the old one as it is, and nothing beside it.

    Raises:
        CalibrationError: it cannot be written.
    """
    import secrets

    fresh = file.with_name(f".{file.name}.{secrets.token_hex(6)}")
    try:
        with fresh.open("x", encoding="utf-8") as opened:
            opened.write(text)
        fresh.replace(file)
    except OSError as error:
        raise _unwritable(file, error) from None
    finally:
        fresh.unlink(missing_ok=True)


def _unwritable(file: Path, error: OSError) -> CalibrationError:
    return CalibrationError(f"{file} cannot be written: {error.strerror or error}")


def _waited_for(beside: Path, file: Path) -> int:
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            descriptor = _windows(beside) if os.name == "nt" else _posix(beside)
        except OSError as error:
            raise _unwritable(file, error) from None
        if descriptor is not None:
            return descriptor
        if time.monotonic() >= until:
            raise CalibrationError(f"{file} cannot be written: another process has {beside} locked")
        time.sleep(_PAUSE)


def _posix(beside: Path) -> int | None:
    from fcntl import LOCK_EX, LOCK_NB, flock

    descriptor = os.open(beside, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        flock(descriptor, LOCK_EX | LOCK_NB)
        if os.path.samestat(os.fstat(descriptor), beside.stat()):
            return descriptor
    except (BlockingIOError, FileNotFoundError):
        pass  # another has it, or had it and took it away
    except OSError:
        return descriptor  # a file system without locks: then nothing guards against others
    os.close(descriptor)
    return None


def _windows(beside: Path) -> int | None:
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL
    # The system removes such a file when its process ends, however it ends.
    flags |= getattr(os, "O_TEMPORARY", 0) | getattr(os, "O_NOINHERIT", 0)
    try:
        return os.open(beside, flags)
    except (FileExistsError, PermissionError):
        if not os.access(beside.parent, os.W_OK):
            raise
        return None
