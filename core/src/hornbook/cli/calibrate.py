"""`hornbook calibrate`: how often a measured clause is wrong, from labelled examples."""

import importlib
import json
import sys
import time
from argparse import ArgumentParser, Namespace
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, cast

from hornbook.cli.terminal import clean, table, write
from hornbook.errors import DefinitionError, told

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hornbook.contracts.contract import Contract
    from hornbook.contracts.judge import Calibration
    from hornbook.judges.measuring import Measurement, Progress, Threshold

__all__ = ["configure"]

_EVERY = 5.0
"""Seconds between two signs of progress."""


def configure(parser: ArgumentParser) -> None:
    """Add the arguments of `hornbook calibrate`."""
    parser.add_argument(
        "contract", metavar="MODULE:CONTRACT", help="the contract, or a step that has one"
    )
    parser.add_argument(
        "labelled",
        metavar="LABELLED.jsonl",
        type=Path,
        help='lines of {"value": ..., "inputs": {...}, "label": true or false}',
    )
    parser.add_argument(
        "--clause", metavar="NAME", help="its name; may be left out where only one is measured"
    )
    parser.add_argument(
        "--threshold-sweep",
        dest="sweep",
        action="store_true",
        help="also show the error rates at other thresholds",
    )
    parser.add_argument(
        "--calls", metavar="N", type=int, help="stop with an error after so many judge calls"
    )
    parser.add_argument(
        "--store",
        metavar="FILE",
        type=Path,
        help="where to keep the result; by default the setting `calibrations`, or else "
        "hornbook-calibrations.json",
    )
    parser.add_argument("--no-store", action="store_true", help="only show the result")
    parser.add_argument("--json", action="store_true", help="write JSON")
    parser.set_defaults(act=calibrate)


def calibrate(arguments: Namespace, out: TextIO) -> int:
    """Measure one clause, show its error rates, and keep them."""
    from hornbook.budget import Budget
    from hornbook.judges.labelled import read_labelled
    from hornbook.judges.measuring import measure
    from hornbook.judges.stored import check_store, store_calibration

    contract = _contract(arguments.contract)
    # First: that it cannot be kept must not be found out after an hour of judging.
    file = None if arguments.no_store else check_store(arguments.store)
    measured = measure(
        contract,
        read_labelled(arguments.labelled),
        clause=arguments.clause,
        budget=None if arguments.calls is None else Budget(calls=arguments.calls),
        progress=_progress(sys.stderr),
    )
    thresholds = measured.sweep() if arguments.sweep else ()
    show = _write_json if arguments.json else _write_text
    kept: Path | None = None
    try:
        if file is not None:
            kept = store_calibration(contract, measured.clause, measured.calibration, file)
    finally:
        # What was measured is worth something also where it can no longer be kept.
        show(out, contract, measured, thresholds, kept)
    return 0


def _write_text(
    out: TextIO,
    contract: "Contract[Any]",
    measured: "Measurement",
    thresholds: "Sequence[Threshold]",
    kept: Path | None,
) -> None:
    clause, found = measured.clause, measured.calibration
    good = sum(trial.label for trial in measured.trials)
    write(out, f"contract {clean(repr(contract.name))}, clause {clean(repr(clause.name))}")
    write(out, f"n             {found.n}: {good} good, {found.n - good} bad")
    write(out, f"false accept  {found.false_accept}")
    write(out, f"false reject  {found.false_reject}")
    write(out, f"undetermined  {found.undetermined}{_first_reason(measured)}")
    if thresholds:
        write(out)
        table(out, ("THRESHOLD", "FALSE ACCEPT", "FALSE REJECT"), _rows(measured, thresholds))
    if kept is not None:
        write(out)
        write(out, f"kept in {clean(kept)}")


def _rows(
    measured: "Measurement", thresholds: "Sequence[Threshold]"
) -> "list[tuple[str, object, object]]":
    own = measured.clause.threshold
    return [
        (
            f"{_threshold(at.threshold)}{' *' if at.threshold == own else ''}",
            at.calibration.false_accept,
            at.calibration.false_reject,
        )
        for at in thresholds
    ]


def _threshold(at: float) -> str:
    return f"{at:.2f}" if abs(round(at, 2) - at) < 1e-9 else repr(at)


def _first_reason(measured: "Measurement") -> str:
    for trial in measured.trials:
        if measured.status(trial) == "Undetermined":
            return f", the first at {clean(trial.where)}: {clean(trial.reason, 200)}"
    return ""


def _write_json(
    out: TextIO,
    contract: "Contract[Any]",
    measured: "Measurement",
    thresholds: "Sequence[Threshold]",
    kept: Path | None,
) -> None:
    document: dict[str, Any] = {
        "contract": contract.name,
        "clause": measured.clause.name,
        "threshold": measured.clause.threshold,
        **_rates(measured.calibration),
        "kept": None if kept is None else str(kept),
    }
    if thresholds:
        document["sweep"] = [
            {"threshold": at.threshold, **_rates(at.calibration)} for at in thresholds
        ]
    write(out, json.dumps(document, indent=2))


def _rates(calibration: "Calibration") -> dict[str, Any]:
    return asdict(calibration)


def _progress(err: TextIO) -> "Progress":
    """A line now and then, of a calibration that takes long."""
    last = time.monotonic()

    def told_of(done: int, total: int) -> None:
        nonlocal last
        if time.monotonic() - last >= _EVERY and done < total:
            last = time.monotonic()
            write(err, f"hornbook: {done} of {total} examples")

    return told_of


def _contract(target: str) -> "Contract[Any]":
    """The contract that `module:attribute` names, itself or that of a step."""
    from hornbook.contracts.contract import Contract

    name, _, path = target.partition(":")
    if not name or not path:
        raise DefinitionError(f"{target!r} names no contract: write module:attribute")
    found = _imported(name, target)
    for part in path.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            raise DefinitionError(f"{target!r}: module {name!r} has no {path!r}") from None
    for held in (found, getattr(found, "contract", None), _of_step(found)):
        if isinstance(held, Contract):
            return cast("Contract[Any]", held)
    raise DefinitionError(
        f"{target!r} is no contract and no step with one, but of type {type(found).__name__}"
    )


def _of_step(found: object) -> object:
    behind = getattr(found, "__hornbook__", None)
    return getattr(getattr(behind, "operation", None), "contract", None)


def _imported(name: str, target: str) -> Any:
    from hornbook.verify.targets import first_on_path

    try:
        with first_on_path(Path()):
            return importlib.import_module(name)
    # Importing runs the module, which may raise anything, SystemExit as well.
    except (Exception, SystemExit) as error:
        raise DefinitionError(f"{target!r}: importing {name} raised {told(error)}") from error
