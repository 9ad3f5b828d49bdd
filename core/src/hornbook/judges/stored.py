"""Calibrations kept in a file, so that a clause has its error rates in every process.

The file is read when `calibrated` makes a contract, never when one is checked. Each entry
has the digest of the clause it was measured for (kind, path, parameters, threshold, version,
and who judges); when one of these changes the entry is stale, which is logged, and the
clause is shown as uncalibrated until it is measured again.
"""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from hornbook.contracts.clause import Clause
from hornbook.contracts.contract import Contract
from hornbook.contracts.judge import Calibration, Judge
from hornbook.judges.entries import FORMAT, VERSION, Entry, read_entries
from hornbook.judges.errors import CalibrationError
from hornbook.judges.locked import locked, replaced

__all__ = [
    "Calibrations",
    "Entry",
    "calibrated",
    "calibrations_file",
    "check_store",
    "clause_identity",
    "judge_identity",
    "store_calibration",
]

T = TypeVar("T")

_FILE = "hornbook-calibrations.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibrations:
    """All that a file of calibrations holds."""

    entries: tuple[Entry, ...] = ()

    @staticmethod
    def read(path: str | Path | None = None) -> "Calibrations":
        """Read a file; the default one may be missing, and then there are none.

        Raises:
            CalibrationError: the file cannot be read, or holds something else.
        """
        file = calibrations_file() if path is None else Path(path)
        try:
            text = file.read_text(encoding="utf-8")
        except FileNotFoundError as error:
            if path is None:
                return Calibrations()
            raise CalibrationError(f"{file} cannot be read: {error.strerror}") from None
        except (OSError, UnicodeDecodeError) as error:
            raise CalibrationError(f"{file} cannot be read: {error}") from error
        return Calibrations(entries=tuple(read_entries(file, text)))

    def of(self, contract: Contract[Any], clause: Clause) -> Calibration | None:
        """The calibration of that clause; None where there is none, or only a stale one."""
        entry = self._entry(contract, clause)
        if entry is None or entry.identity != clause_identity(clause):
            return None
        return entry.calibration

    def stale(self, contract: Contract[Any]) -> tuple[str, ...]:
        """A sentence for each measured clause that has changed since it was calibrated."""
        return tuple(
            f"the calibration of clause {clause.name!r} of contract {contract.name!r} is stale: "
            f"the clause or its judge has changed since, so it counts as uncalibrated; run "
            f"hornbook calibrate again"
            for clause in _measured(contract)
            if self._entry(contract, clause) and self.of(contract, clause) is None
        )

    def adding(
        self, contract: Contract[Any], clause: Clause, calibration: Calibration
    ) -> "Calibrations":
        """These and one more, in place of an older one of the same clause."""
        entry = Entry(
            contract=contract.name,
            clause=clause.name,
            identity=clause_identity(clause),
            about=_about(clause),
            calibration=calibration,
        )
        others = [one for one in self.entries if one.key != entry.key]
        return Calibrations(entries=tuple(sorted([*others, entry], key=lambda one: one.key)))

    def write(self, path: str | Path | None = None) -> Path:
        """Write the file whole, or leave the old one as it is; return its path.

        What others have put into the file since these were read is lost: `store_calibration`
        adds to a file.

        Raises:
            CalibrationError: it cannot be written.
        """
        file = calibrations_file() if path is None else Path(path)
        document = {
            "format": FORMAT,
            "version": VERSION,
            "calibrations": [asdict(entry) for entry in self.entries],
        }
        replaced(file, json.dumps(document, indent=2, ensure_ascii=False) + "\n")
        return file

    def _entry(self, contract: Contract[Any], clause: Clause) -> Entry | None:
        key = contract.name, clause.name
        return next((entry for entry in self.entries if entry.key == key), None)


def calibrated(contract: Contract[T], path: str | Path | None = None) -> Contract[T]:
    """The contract with the stored calibrations of its measured clauses.

    ```python
    refund = calibrated(Contract("refund", ensures=[...]))
    ```

    What a clause was given as `calibration=` stays. The contract's digest does not change.

    Args:
        contract: whose clauses were calibrated by `hornbook calibrate`.
        path: the file; by default the setting `calibrations`, or `hornbook-calibrations.json`
            in the working directory, which may be missing.

    Raises:
        CalibrationError: the file cannot be read.
    """
    stored = Calibrations.read(path)
    for sentence in stored.stale(contract):
        from hornbook.log import logger

        logger("judges").warning("%s", sentence)
    sides = {
        side: [_with(stored, contract, clause) for clause in getattr(contract, side)]
        for side in ("requires", "ensures")
    }
    fields: dict[str, Any] = {} if contract.output is None else {"output": contract.output}
    made: Contract[Any] = Contract(
        contract.name,
        version=contract.version,
        strict=contract.strict,
        revalidate=contract.revalidate,
        deadline=contract.deadline,
        **sides,
        **fields,
    )
    return made


def store_calibration(
    contract: Contract[Any],
    clause: Clause,
    calibration: Calibration,
    path: str | Path | None = None,
) -> Path:
    """Put one calibration into a file, which is made when it is missing; return its path.

    What others store there at the same time is kept.

    Raises:
        CalibrationError: the file is there and holds something else, or cannot be written.
    """
    file = calibrations_file() if path is None else Path(path)
    with locked(file):
        return _there(file).adding(contract, clause, calibration).write(file)


def check_store(path: str | Path | None = None) -> Path:
    """Find out whether calibrations can be kept in a file, before measuring; return its path.

    Raises:
        CalibrationError: the file is there and holds something else, or cannot be written.
    """
    file = calibrations_file() if path is None else Path(path)
    if not file.parent.is_dir():
        raise CalibrationError(f"{file} cannot be written: there is no folder {file.parent}")
    with locked(file):
        _there(file)
    return file


def _there(file: Path) -> Calibrations:
    return Calibrations.read(file) if file.exists() else Calibrations()


def calibrations_file() -> Path:
    """Where calibrations are kept: the setting `calibrations`, or the default file."""
    from hornbook.config import load

    return load().calibrations or Path(_FILE)


def clause_identity(clause: Clause) -> str:
    """`sha256:...` of what a clause measures and who judges; its name does not count."""
    from hornbook import canon

    alone: Contract[Any] = Contract("clause", requires=[replace(clause, name="clause")])
    judges = [judge_identity(judge) for judge in _judges(clause)]
    return canon.digest({"clause": alone.digest, "judges": judges})


def judge_identity(judge: Judge) -> str:
    """A judge's `identity`; without one, its type and `version`."""
    given = getattr(judge, "identity", None)
    if isinstance(given, str) and given:
        return given
    kind = type(judge)
    version = getattr(judge, "version", "")
    return f"{kind.__module__}:{kind.__qualname__}" + (f" {version}" if version else "")


def _with(stored: Calibrations, contract: Contract[Any], clause: Clause) -> Clause:
    if clause.calibration is not None or clause.assurance != "measured":
        return clause
    found = stored.of(contract, clause)
    return clause if found is None else replace(clause, calibration=found)


def _measured(contract: Contract[Any]) -> Iterator[Clause]:
    for clause in contract.requires + contract.ensures:
        if clause.assurance == "measured":
            yield clause


def _judges(clause: Clause) -> Iterator[Judge]:
    if clause.judge is not None:
        yield clause.judge
    for part in clause.parts:
        yield from _judges(part)


def _about(clause: Clause) -> str:
    threshold = "" if clause.judge is None else f" at {clause.threshold:g}"
    judges = ", ".join(dict.fromkeys(judge_identity(judge) for judge in _judges(clause)))
    return f"{clause.kind} {clause.path}{threshold}, judged by {judges}"
