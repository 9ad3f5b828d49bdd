"""Writing to a terminal: nothing that a trace or a plugin says can control it."""

import re
from collections.abc import Sequence
from typing import TextIO

__all__ = ["clean", "duration", "moment", "table", "write"]

# C0 and C1 controls, line separators, and what reorders text: a record could otherwise
# forge lines, hide them, or drive the terminal.
_CONTROLS = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]"
    r"|[\U000e0000-\U000e007f]"
)


def clean(text: object, limit: int | None = None) -> str:
    """Write a value on one line, with every control character spelt out, cut to `limit`."""
    shown = _CONTROLS.sub(lambda found: _spelt(found[0]), str(text))
    return shown if limit is None or len(shown) <= limit else f"{shown[: limit - 3]}..."


def write(out: TextIO, line: str = "") -> None:
    """Write one line."""
    out.write(f"{line}\n")


def table(out: TextIO, headings: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Write rows in columns; with rich installed and a terminal there, as a table of rich."""
    cells = [[clean(cell) for cell in row] for row in rows]
    if out.isatty() and _rich_table(out, headings, cells):
        return
    lines = [list(headings), *cells]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        padded = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        write(out, "  ".join(padded).rstrip())


def duration(microseconds: object) -> str:
    """Write a time span with the unit that suits it."""
    if isinstance(microseconds, bool) or not isinstance(microseconds, int | float):
        return "?"
    if microseconds < 1_000:
        return f"{microseconds} us"
    if microseconds < 1_000_000:
        return f"{microseconds / 1e3:.1f} ms"
    return f"{microseconds / 1e6:.2f} s"


def moment(seconds: float) -> str:
    """Write a time, given in seconds since the epoch."""
    from datetime import UTC, datetime

    try:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S} UTC"
    except (ValueError, OverflowError, OSError):  # not a time that a calendar has
        return "at an unknown time"


def _spelt(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def _rich_table(out: TextIO, headings: Sequence[str], cells: Sequence[Sequence[str]]) -> bool:
    try:
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text
    except ImportError:  # the plain install is enough
        return False
    made = Table(*headings, box=None, pad_edge=False)
    for row in cells:
        made.add_row(*(Text(cell) for cell in row))
    Console(file=out).print(made)
    return True
