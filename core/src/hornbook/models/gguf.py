"""Model files: whether one is a GGUF at all, and which one it is."""

import functools
import hashlib
from pathlib import Path

from hornbook.errors import DefinitionError

__all__ = ["check", "identity_of"]

_MAGIC = b"GGUF"
_VERSIONS = range(1, 16)
_BLOCK = 1024 * 1024


def check(path: Path) -> None:
    """Refuse what is no GGUF file.

    Raises:
        DefinitionError: saying what it is instead.
    """
    if not path.exists():
        raise DefinitionError(f"LocalModel({str(path)!r}): there is no such file")
    if path.is_dir():
        raise DefinitionError(f"LocalModel({str(path)!r}): a folder; name the .gguf file in it")
    try:
        with path.open("rb") as file:
            head = file.read(8)
    except OSError as error:
        raise DefinitionError(f"LocalModel({str(path)!r}): cannot be read: {error}") from error
    if len(head) < 8 or head[:4] != _MAGIC:
        raise DefinitionError(
            f"LocalModel({str(path)!r}): not a GGUF file: it begins with {head[:4]!r}, and not "
            f"with {_MAGIC!r}; convert the model, or name another file"
        )
    version = int.from_bytes(head[4:], "little")
    if version not in _VERSIONS:
        raise DefinitionError(
            f"LocalModel({str(path)!r}): a GGUF file of the unknown version {version}"
        )


def identity_of(path: Path) -> str:
    """The file's name and the hash of its content: names alone are taken again.

    The whole file is read once a process, about a second for a gigabyte.
    """
    found = path.stat()
    return _identity_of(path.resolve(), found.st_size, found.st_mtime_ns)


@functools.lru_cache(maxsize=64)
def _identity_of(path: Path, size: int, modified: int) -> str:
    hashed = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            hashed.update(block)
    return f"{path.stem}@sha256:{hashed.hexdigest()[:16]}"
