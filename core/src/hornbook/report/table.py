"""Tables that read as they stand; the script adds sorting and a filter.

Each row is a table body of its own, so that what unfolds below a row moves and hides with it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from hornbook.report.document import Asset, asset
from hornbook.report.markup import Markup, tag

__all__ = ["Cell", "Column", "Row", "assets", "number", "table"]


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its heading, and whether it holds text, places, numbers or a few words."""

    title: str
    kind: Literal["text", "where", "number", "choice"] = "text"


@dataclass(frozen=True, slots=True)
class Cell:
    """What a cell shows, and the number it sorts by where its text does not sort well."""

    content: str | Markup
    key: float | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """The cells of a row, and what unfolds below it."""

    cells: tuple[Cell, ...]
    more: Markup | None = None
    unfolded: bool = False
    summary: str = "Details"


def assets() -> Sequence[Asset]:
    """What every table needs."""
    return (asset("table.css"), asset("table.js"))


def number(value: float | None, text: str | None = None) -> Cell:
    """Make the cell of a number, or of none."""
    if value is None:
        return Cell(tag("span", "\N{EN DASH}", class_="none"))
    return Cell(str(value) if text is None else text, value)


def table(name: str, columns: Sequence[Column], rows: Sequence[Row]) -> Markup:
    """Make a table in a region of its own, which scrolls where the screen is too narrow."""
    head = tag("thead", tag("tr", *(_heading(column) for column in columns)))
    bodies = (_body(columns, row) for row in rows)
    whole = tag("table", tag("caption", name, class_="unseen"), head, *bodies)
    return tag("div", whole, class_="table", role="region", aria_label=name, tabindex=0)


def _heading(column: Column) -> Markup:
    return tag("th", column.title, scope="col", class_=column.kind)


def _body(columns: Sequence[Column], row: Row) -> Markup:
    cells = (_cell(*pair) for pair in zip(columns, row.cells, strict=True))
    first = tag("tr", *cells)
    if row.more is None:
        return tag("tbody", first)
    unfolding = tag("details", tag("summary", row.summary), row.more, open=row.unfolded)
    below = tag("tr", tag("td", unfolding, colspan=len(columns)), class_="more")
    return tag("tbody", first, below)


def _cell(column: Column, cell: Cell) -> Markup:
    return tag("td", cell.content, class_=column.kind, data_key=cell.key, data_name=column.title)
