"""`hornbook sft export`: training examples for a neural primitive, out of recorded runs."""

import json
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TextIO

from hornbook.cli.terminal import clean, write

__all__ = ["configure"]


def configure(parser: ArgumentParser) -> None:
    """Add the commands of `hornbook sft`."""
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    exporting = commands.add_parser(
        "export",
        help="write chat-format training examples from recorded runs",
        description="Only attempts whose contract was satisfied teach, or such as are corrected.",
    )
    exporting.add_argument(
        "traces", metavar="TRACES", nargs="+", type=Path, help="runs, or folders of runs"
    )
    exporting.add_argument("--primitive", metavar="NAME", required=True, help="whose attempts")
    exporting.add_argument(
        "--out", metavar="DIR", type=Path, required=True, help="where the examples are written"
    )
    exporting.add_argument(
        "--gold", metavar="FILE", type=Path, help="corrections: the lines of `hornbook evaluate`"
    )
    exporting.add_argument(
        "--system", metavar="TEXT", help="the system message of examples that have none"
    )
    exporting.add_argument(
        "--validation", metavar="SHARE", type=float, default=0.1, help="0.1 when left out"
    )
    exporting.add_argument("--seed", metavar="TEXT", default="", help="for another split")
    exporting.add_argument("--overwrite", action="store_true", help="replace an earlier export")
    exporting.add_argument("--json", action="store_true", help="write the manifest as JSON")
    exporting.set_defaults(act=export)


def export(arguments: Namespace, out: TextIO) -> int:
    """Export, and say how much of it."""
    from hornbook.evaluation import export_sft

    manifest = export_sft(
        arguments.traces,
        arguments.primitive,
        arguments.out,
        gold=() if arguments.gold is None else arguments.gold,
        system=arguments.system,
        validation=arguments.validation,
        seed=arguments.seed,
        overwrite=arguments.overwrite,
    )
    if arguments.json:
        write(out, json.dumps(manifest.as_dict(), indent=2))
        return 0
    write(out, clean(str(manifest)))
    for problem in manifest.unreadable:
        write(out, f"left out: {clean(problem)}")
    return 0
