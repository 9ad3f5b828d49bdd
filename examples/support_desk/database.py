"""The shop's database: one SQLite file, filled from the CSV and JSON files in `data/`."""

import csv
import json
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

__all__ = ["DATA", "connect", "create", "one", "rows"]

DATA = Path(__file__).parent / "data"

SCHEMA = """
CREATE TABLE customers (customer_id TEXT PRIMARY KEY, name TEXT, email TEXT, city TEXT, code TEXT);
CREATE TABLE orders (order_id TEXT PRIMARY KEY, customer_id TEXT REFERENCES customers,
                     placed_on TEXT, status TEXT, delivered_on TEXT);
CREATE TABLE items (order_id TEXT REFERENCES orders, sku TEXT, name TEXT, category TEXT,
                    quantity INTEGER, price REAL);
CREATE TABLE policies (category TEXT PRIMARY KEY, days INTEGER, fee_percent INTEGER,
                       pickup INTEGER);
CREATE TABLE verifications (customer_id TEXT PRIMARY KEY REFERENCES customers);
CREATE TABLE refunds (refund_id INTEGER PRIMARY KEY, order_id TEXT REFERENCES orders,
                      amount REAL, reason TEXT, payout TEXT, verified INTEGER);
CREATE TABLE pickups (order_id TEXT PRIMARY KEY REFERENCES orders, pickup_date TEXT);
CREATE TABLE outbox (reply_id INTEGER PRIMARY KEY, recipient TEXT, body TEXT);
"""


@contextmanager
def connect() -> Iterator[sqlite3.Connection]:
    """Open the database that `SUPPORT_DESK_DB` names; commit unless the block raises."""
    with closing(sqlite3.connect(os.environ["SUPPORT_DESK_DB"])) as db, db:
        db.row_factory = sqlite3.Row
        db.execute("PRAGMA foreign_keys = ON")
        yield db


def rows(query: str, *values: Any) -> list[dict[str, Any]]:
    """Answer a query as plain dicts."""
    with connect() as db:
        return [dict(row) for row in db.execute(query, values)]


def one(query: str, *values: Any) -> dict[str, Any] | None:
    """Answer a query with its first row, or None."""
    return next(iter(rows(query, *values)), None)


def create(folder: Path) -> None:
    """Make a database in a new folder, fill it, and let `connect` use it from now on."""
    folder.mkdir(parents=True)
    os.environ["SUPPORT_DESK_DB"] = str(folder / "desk.db")
    with connect() as db:
        db.executescript(SCHEMA)
        for table in ("customers", "orders", "items"):
            with (DATA / f"{table}.csv").open(encoding="utf-8", newline="") as file:
                _fill(db, table, list(csv.DictReader(file)))
        _fill(db, "policies", json.loads((DATA / "policies.json").read_text(encoding="utf-8")))


def _fill(db: sqlite3.Connection, table: str, records: Sequence[dict[str, Any]]) -> None:
    marks = ", ".join("?" for _ in records[0])
    values = [tuple(record.values()) for record in records]
    db.executemany(f"INSERT INTO {table} VALUES ({marks})", values)
