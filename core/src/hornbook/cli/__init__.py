"""The command `hornbook`. It writes to streams, and says every error in one sentence."""

import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from importlib import import_module
from io import TextIOWrapper
from typing import NoReturn

from hornbook import __version__
from hornbook.cli.commands import COMMANDS, Act, Command
from hornbook.cli.terminal import clean
from hornbook.errors import HornbookError

__all__ = ["main"]

FAILED = 1
INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code; 1 for every error."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        code = _run(sys.argv[1:] if arguments is None else arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        _forget_output()
        return FAILED
    except KeyboardInterrupt:
        return _fail("interrupted", INTERRUPTED)
    except SystemExit as error:  # our own parser raises none that gets here
        return _fail(f"the code that was run called exit({error.code!r})")
    except (HornbookError, OSError) as error:
        return _fail(str(error))
    return code


class _UsageError(HornbookError):
    """The command line is not understood."""


class _Parser(ArgumentParser):
    def error(self, message: str) -> NoReturn:
        # Not argparse's exit code 2, which `trace verify` gives another meaning.
        raise _UsageError(f"{message}; see {self.prog} --help")


def _run(arguments: Sequence[str]) -> int:
    named = [command for command in COMMANDS if arguments and command.name == arguments[0]]
    parser = _Parser(
        prog="hornbook", description="Contracts, records and learned rules for agents."
    )
    parser.add_argument("--version", action="version", version=f"hornbook {__version__}")
    groups = parser.add_subparsers(metavar="COMMAND", required=True)
    for command in COMMANDS:
        group = groups.add_parser(
            command.name, help=command.summary, description=_sentence(command)
        )
        if command in named:
            import_module(command.module).configure(group)
    try:
        parsed = parser.parse_args(arguments)
    except SystemExit:  # after --help or --version
        return 0
    act: Act = parsed.act
    return act(parsed, sys.stdout)


def _sentence(command: Command) -> str:
    return f"{command.summary[0].upper()}{command.summary[1:]}."


def _fail(sentence: str, code: int = FAILED) -> int:
    sys.stderr.write(f"hornbook: {clean(sentence)}\n")
    return code


def _forget_output() -> None:
    """Point the closed output elsewhere, or Python complains about it while it exits."""
    import os

    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):  # the stream has no file
        return
