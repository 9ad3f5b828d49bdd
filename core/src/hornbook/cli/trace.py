"""`hornbook trace list | show | verify`: the records of runs, for reading and checking."""

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TextIO

from hornbook.cli.outline import outline
from hornbook.cli.terminal import clean, table, write
from hornbook.errors import TraceError
from hornbook.trace import list_runs, read, verify_trace

__all__ = ["configure"]

_EXIT_CODES = {"complete": 0, "broken": 1, "incomplete": 2}
_RUN = "id of a run, its folder, or one of its files"
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
    for command in (listing, showing, verifying):
        command.add_argument("--json", action="store_true", help="write JSON")
