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
        name="config",
        summary="show the settings, and where each comes from",
        module="hornbook.cli.config",
    ),
    Command(
        name="plugins",
        summary="list the plugins, and why one is not loaded",
        module="hornbook.cli.plugins",
    ),
    Command(
        name="trace",
        summary="list, show and verify the records of runs",
        module="hornbook.cli.trace",
    ),
)
