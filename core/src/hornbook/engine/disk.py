"""Outputs in one SQLite file, for the runs of any number of processes.

A cache may never fail a run: what goes wrong with the file is logged once and is a miss.
"""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from hornbook.engine.caching import Hit
from hornbook.engine.errors import CacheError
from hornbook.engine.identity import identity
from hornbook.engine.kept_reports import read_report, written_report
from hornbook.log import logger

if TYPE_CHECKING:
    from pydantic import TypeAdapter

__all__ = ["DiskCache"]

T = TypeVar("T")

_FORMAT = 1
_PATIENCE = 10.0
"""Seconds to wait for another process that writes."""
_TABLE = """
    CREATE TABLE IF NOT EXISTS outputs (
        key TEXT PRIMARY KEY, value TEXT NOT NULL, report TEXT
    ) WITHOUT ROWID
"""
_GET = "SELECT value, report FROM outputs WHERE key = ?"
_PUT = "INSERT OR REPLACE INTO outputs (key, value, report) VALUES (?, ?, ?)"


class DiskCache:
    """Keeps outputs as JSON in the file at `path`, which is made if it is not there.

    An output is written and read by its primitive's output type. One that would not come back
    equal (a tuple under `Any`, say, or a model with private attributes) is not kept.

    Raises:
        CacheError: the file cannot be used: it is no database, or one of another format.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._adapters: dict[Any, TypeAdapter[Any]] = {}
        self._warned = False
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with closing(self._connected()) as connection:
                self._prepare(connection)
        except (sqlite3.Error, OSError) as error:
            raise CacheError(f"{self.path} cannot be used as a cache: {error}") from error

    def get(self, key: str, output: Any) -> Hit | None:
        """What is kept under `key`; None also where it does not fit the type any more."""
        adapter = self._adapter(output)
        row = self._tried(lambda connection: connection.execute(_GET, (key,)).fetchone())
        if row is None or adapter is None:
            return None
        try:
            report = None if row[1] is None else read_report(row[1])
            return Hit(value=adapter.validate_json(row[0]), report=report)
        except ValueError:
            return None

    def put(self, key: str, hit: Hit, output: Any) -> None:
        """Keep an output, unless it would not come back as it is."""
        written = self._written(hit.value, output)
        if written is None:
            return
        report = None if hit.report is None else written_report(hit.report)
        self._tried(lambda connection: connection.execute(_PUT, (key, written, report)))

    def __len__(self) -> int:
        count = "SELECT count(*) FROM outputs"
        return self._tried(lambda connection: connection.execute(count).fetchone()[0]) or 0

    def _written(self, value: Any, output: Any) -> str | None:
        adapter = self._adapter(output)
        if adapter is None:
            return None
        try:
            written = adapter.dump_json(value, warnings="error")
            again = adapter.validate_json(written)
        except (ValueError, TypeError, RecursionError):
            return None
        held = identity(value, read_back=True)
        same = held is not None and held == identity(again, read_back=True)
        return written.decode() if same and type(again) is type(value) else None

    def _adapter(self, output: Any) -> "TypeAdapter[Any] | None":
        """What writes and reads values of a type; None where pydantic has no schema for it."""
        from pydantic import PydanticUserError, TypeAdapter

        try:
            if output not in self._adapters:
                self._adapters[output] = TypeAdapter(output)
            return self._adapters[output]
        except (PydanticUserError, TypeError):  # TypeError: it cannot be hashed
            return None

    def _connected(self) -> sqlite3.Connection:
        # One for each use: it may be another thread, or a forked child.
        return sqlite3.connect(self.path, timeout=_PATIENCE, isolation_level=None)

    def _prepare(self, connection: sqlite3.Connection) -> None:
        # Readers and one writer do not wait for each other, and a lost cache is no loss.
        connection.execute("PRAGMA journal_mode = WAL")
        found: int = connection.execute("PRAGMA user_version").fetchone()[0]
        if found not in (0, _FORMAT):
            raise CacheError(
                f"{self.path} is a cache of format {found}, and format {_FORMAT} is read here: "
                f"delete it, or upgrade hornbook"
            )
        connection.execute(_TABLE)
        connection.execute(f"PRAGMA user_version = {_FORMAT}")

    def _tried(self, use: Callable[[sqlite3.Connection], T]) -> T | None:
        try:
            with closing(self._connected()) as connection:
                connection.execute("PRAGMA synchronous = NORMAL")
                return use(connection)
        except sqlite3.Error as error:
            if not self._warned:
                self._warned = True
                logger("engine").warning("the cache %s is left out: %s", self.path, error)
            return None
