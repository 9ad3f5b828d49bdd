"""The entries of a file of calibrations, and reading them from whatever a file holds."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from hornbook.contracts.judge import Calibration, Rate
from hornbook.errors import DefinitionError, told
from hornbook.judges.errors import CalibrationError

__all__ = ["FORMAT", "VERSION", "Entry", "read_entries"]

FORMAT = "hornbook-calibrations"
VERSION = 1
_TEXTS = ("contract", "clause", "identity", "about")
_RATES = ("false_accept", "false_reject")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One stored calibration.

    Raises:
        DefinitionError: a field is no text that a file can hold.
    """

    contract: str
    """Name of the contract."""
    clause: str
    """Name of the clause."""
    identity: str
    """`sha256:...` of the clause that was measured."""
    about: str
    """Kind, path and judge, for people."""
    calibration: Calibration

    def __post_init__(self) -> None:
        for name in _TEXTS:
            value: object = getattr(self, name)
            if not isinstance(value, str):
                raise DefinitionError(f"{name} is a text, not {_shown(value)}")
            if any("\ud800" <= character <= "\udfff" for character in value):
                raise DefinitionError(f"{name} has half a character in it: {value!a}")

    @property
    def key(self) -> tuple[str, str]:
        """What the entry is found by."""
        return self.contract, self.clause


def read_entries(file: Path, text: str) -> Iterator[Entry]:
    """Read the text of a file.

    Raises:
        CalibrationError: it holds something else; names the file and the entry.
    """
    for number, given in enumerate(_listed(file, text), start=1):
        try:
            yield _entry(given)
        except DefinitionError as error:
            raise CalibrationError(f"{file}, entry {number}: {error}") from None


def _listed(file: Path, text: str) -> list[object]:
    try:
        document: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CalibrationError(f"{file} holds no calibrations: {told(error)}") from None
    fields = cast("dict[str, object]", document) if isinstance(document, dict) else {}
    if fields.get("format") != FORMAT:
        raise CalibrationError(f"{file} holds no calibrations: its format is another")
    if fields.get("version") != VERSION:
        raise CalibrationError(
            f"{file} is of version {fields.get('version')!r}, and version {VERSION} is read here: "
            f"upgrade hornbook"
        )
    listed = fields.get("calibrations")
    if not isinstance(listed, list):
        raise CalibrationError(f"{file} holds no calibrations: it has no list of them")
    return cast("list[object]", listed)


def _entry(given: object) -> Entry:
    fields = _fields(given, "it", (*_TEXTS, "calibration"))
    measured = _fields(
        fields["calibration"], "calibration", ("n", *_RATES, "undetermined"), optional=1
    )
    counts = {
        name: _count(name, measured[name]) for name in ("n", "undetermined") if name in measured
    }
    if counts.get("undetermined", 0) > counts["n"]:
        raise DefinitionError("undetermined is above n")
    rates = {name: _rate(name, measured[name]) for name in _RATES}
    made: dict[str, Any] = {
        **fields,
        "calibration": Calibration(**cast("Any", {**counts, **rates})),
    }
    return Entry(**made)


def _fields(
    given: object, what: str, names: tuple[str, ...], optional: int = 0
) -> Mapping[str, object]:
    """The fields of an object that has those names and no other; the last may be missing."""
    if not isinstance(given, dict):
        raise DefinitionError(f"{what} is an object with {', '.join(names)}, not {_shown(given)}")
    fields = cast("dict[str, object]", given)
    for name in names[: len(names) - optional]:
        if name not in fields:
            raise DefinitionError(f"{what} has no {name}")
    for name in fields:
        if name not in names:
            raise DefinitionError(f"{what} has an unknown key {name!a}")
    return fields


def _count(name: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise DefinitionError(f"{name} is a whole number from 0, not {_shown(value)}")
    return value


def _rate(name: str, given: object) -> Rate:
    fields = _fields(given, name, ("value", "low", "high"))
    for key, value in fields.items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise DefinitionError(f"{name}: {key} is a number, not {_shown(value)}")
    return Rate(**cast("Any", fields))


def _shown(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
