"""What each kind of record in a file holds."""

import time
from collections.abc import Mapping
from typing import Any, Literal

from hornbook.canon import JSON, encode
from hornbook.trace.chain import FORMAT, VERSION
from hornbook.trace.redact import Redactor

__all__ = ["Role", "dropped_record", "event_record", "header_record"]

Role = Literal["root", "child"]


def header_record(
    given: Mapping[str, JSON],
    *,
    run: str,
    writer: str,
    role: Role,
    parent: str | None,
    redaction: str,
) -> dict[str, JSON]:
    """Return the first record of a file: what was given, and what every header says."""
    return {
        # "h" is the seal's, in every line.
        **{key: value for key, value in given.items() if key != "h"},
        "format": FORMAT,
        "version": VERSION,
        "run": run,
        "writer": writer,
        "role": role,
        "parent": parent,
        "created": time.time(),
        "redaction": redaction,
    }


def event_record(fields: Mapping[str, Any], redactor: Redactor) -> dict[str, JSON]:
    """Return the record of an event, its secrets taken out; what says nothing is left out."""
    clock, name, data = fields["time"], fields["name"], fields["data"]
    record: dict[str, JSON] = {"kind": fields["kind"], "id": fields["id"]}
    record["time"] = clock if type(clock) is float and 1 < clock < 1e16 else encode(clock)
    if (parent := fields["parent"]) is not None:
        record["parent"] = parent
    if (contract := fields["contract"]) is not None:
        record["contract"] = contract
    if (status := fields["status"]) is not None:
        record["status"] = status
    if name:
        record["name"] = redactor.clean(name)
    if data:
        record["data"] = redactor.record(data)
    return record


def dropped_record(run: str, count: int, why: str) -> dict[str, JSON]:
    """Return the note that so many records before it could not be written."""
    data: JSON = {"dropped": count, "error": why}
    return {
        "kind": "note",
        "id": run,
        "time": time.time(),
        "name": "records dropped",
        "status": "incomplete",
        "data": data,
    }
