"""The commands of `hornbook`: one line here, and one module, for each.

A module is imported only when its command is given. It has `configure(parser)`, which adds
the arguments and says with `parser.set_defaults(act=...)` what to do: a function of the
parsed arguments and of the stream to write to, which returns the exit code.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO, TypeAlias

if TYPE_CHECKING:
    from argparse import Namespace

__all__ = ["COMMANDS", "Act", "Command"]

Act: TypeAlias = "Callable[[Namespace, TextIO], int]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One command, or one group of commands."""

    name: str
    summary: str
    module: str


COMMANDS = (
    Command(
        name="calibrate",
        summary="measure how often a measured clause is wrong",
        module="hornbook.cli.calibrate",
    ),
    Command(
        name="config",
        summary="show the settings, and where each comes from",
        module="hornbook.cli.config",
    ),
    Command(
        name="evaluate",
        summary="measure how often a primitive is right",
        module="hornbook.cli.evaluate",
    ),
    Command(
        name="plugins",
        summary="list the plugins, and why one is not loaded",
        module="hornbook.cli.plugins",
    ),
    Command(
        name="sft",
        summary="export training examples from recorded runs",
        module="hornbook.cli.sft",
    ),
    Command(
        name="trace",
        summary="list, show, verify and count over the records of runs",
        module="hornbook.cli.trace",
    ),
    Command(
        name="verify",
        summary="check programs before they are deployed, and run their scenarios",
        module="hornbook.cli.verify",
    ),
)
