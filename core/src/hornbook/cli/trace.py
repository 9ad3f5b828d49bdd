"""`hornbook trace list | show | verify | stats`: the records of runs, for reading and checking."""

import json
from argparse import ArgumentParser, Namespace
from dataclasses import asdict
from pathlib import Path
from typing import TextIO

from hornbook.cli.outline import outline
from hornbook.cli.terminal import clean, moment, table, write
from hornbook.cli.trace_stats import write_stats
from hornbook.config import load
from hornbook.errors import TraceError
from hornbook.ids import is_run_id
from hornbook.trace.reader import RunSummary, list_runs, read, verify_trace

__all__ = ["configure"]

_EXIT_CODES = {"complete": 0, "broken": 1, "incomplete": 2}
_RUN = "id of a run or how it begins, its folder, or one of its files"
_WHERE = "folder of the runs; by default the setting `trace`, or else `runs`"


def configure(parser: ArgumentParser) -> None:
    """Add the commands of `hornbook trace`."""
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    listing = commands.add_parser("list", help="list the runs recorded in a folder")
    listing.add_argument("folder", metavar="FOLDER", nargs="?", type=Path, help=_WHERE)
    listing.set_defaults(act=list_)
    showing = commands.add_parser("show", help="show the steps of a run as an outline")
    showing.add_argument("--values", action="store_true", help="show inputs and outputs too")
    showing.set_defaults(act=show)
    verifying = commands.add_parser(
        "verify",
        help="check that a record is whole",
        description="Exit code 0: complete; 2: incomplete, as a killed run is; 1: broken.",
    )
    verifying.set_defaults(act=verify)
    for command in (showing, verifying):
        command.add_argument("run", metavar="RUN", help=_RUN)
        command.add_argument("--in", dest="folder", metavar="FOLDER", type=Path, help=_WHERE)
    counting = commands.add_parser(
        "stats",
        help="count violations, retries and fallbacks by step, the least reliable first",
        description="Rates are shares of calls, with 95 % Wilson intervals.",
    )
    counting.add_argument("run", metavar="WHERE", nargs="?", help=f"{_RUN}; or a {_WHERE}")
    counting.add_argument("--in", dest="folder", metavar="FOLDER", type=Path, help=_WHERE)
    counting.set_defaults(act=stats)
    for command in (listing, showing, verifying, counting):
        command.add_argument("--json", action="store_true", help="write JSON")


def list_(arguments: Namespace, out: TextIO) -> int:
    """List the runs of a folder, the oldest first."""
    runs = list_runs(_folder(arguments))
    if arguments.json:
        _write_json(out, [asdict(run) for run in runs])
        return 0
    rows = [
        (run.run, moment(run.started), run.status, run.steps, run.namespace or "-", _tags(run))
        for run in runs
    ]
    table(out, ("RUN", "STARTED", "STATUS", "STEPS", "NAMESPACE", "TAGS"), rows)
    for run in runs:
        if run.problem:
            write(out, f"{run.status}: {clean(run.problem)}")
    return 0


def show(arguments: Namespace, out: TextIO) -> int:
    """Show one run: as an outline, or as the list of its events."""
    events = read(_record(arguments))
    if arguments.json:
        _write_json(out, [asdict(event) for event in events])
        return 0
    for line in outline(events, values=arguments.values):
        write(out, line)
    found = verify_trace(_record(arguments))
    if found.status == "broken":
        write(out, f"WARNING: this record is broken: {clean(found.problems[0])}")
    return 0


def verify(arguments: Namespace, out: TextIO) -> int:
    """Check one run and say what is wrong with it; the exit code is the verdict."""
    found = verify_trace(_record(arguments))
    if arguments.json:
        _write_json(out, asdict(found))
    else:
        write(
            out, f"{found.status}: {_count(found.events, 'event')} in {_count(found.files, 'file')}"
        )
        for problem in found.problems:
            write(out, f"  - {clean(problem)}")
    return _EXIT_CODES[found.status]


def stats(arguments: Namespace, out: TextIO) -> int:
    """Count over one run, or over all runs of a folder."""
    where = _folder(arguments) if arguments.run is None else _record(arguments)
    return write_stats(where, out, as_json=arguments.json)


def _record(arguments: Namespace) -> Path:
    """The record that is meant: a path that exists, or else a run of the folder."""
    given = Path(arguments.run)
    if given.exists():
        return given
    folder = _folder(arguments)
    found = _runs_named(folder, arguments.run.upper()) if given.name == arguments.run else []
    if len(found) == 1:
        return found[0]
    if found:
        raise TraceError(f"{arguments.run!r} begins the ids of {len(found)} runs in {folder}")
    raise TraceError(
        f"there is no record {str(given)!r}: no such file or folder, and no run whose id begins "
        f"so in {folder}"
    )


def _runs_named(folder: Path, start: str) -> list[Path]:
    below = sorted(folder.iterdir()) if start and folder.is_dir() else []
    return [run for run in below if run.name.startswith(start) and is_run_id(run.name)]


def _folder(arguments: Namespace) -> Path:
    return arguments.folder or load().trace or Path("runs")


def _tags(run: RunSummary) -> str:
    return ", ".join(f"{key}={value}" for key, value in run.tags.items()) or "-"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _write_json(out: TextIO, document: object) -> None:
    write(out, json.dumps(document, indent=2, default=str))
