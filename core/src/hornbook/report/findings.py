"""The findings: what a reader should know of, where it is, and what is behind it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hornbook.report import table as tables
from hornbook.report.data import FindingRow, Level, Tone, plain
from hornbook.report.document import Asset, Setting
from hornbook.report.markup import Markup, badge, definitions, tag
from hornbook.report.table import Cell, Column, Row

__all__ = ["FindingsPanel"]

_TONES: dict[Level, Tone] = {"error": "error", "warning": "warning", "info": "plain"}
_COLUMNS = (Column("Level", "choice"), Column("Finding"), Column("Place", "where"))


@dataclass(frozen=True, slots=True)
class FindingsPanel:
    """Shows `FindingRow`s."""

    rows: Sequence[FindingRow]
    title: str = "Findings"

    def assets(self) -> Sequence[Asset]:
        """What tables need."""
        return tables.assets()

    def places(self) -> Sequence[str]:
        """It links to places and shows none itself."""
        return ()

    def data(self) -> Any:
        """The rows."""
        return plain(self.rows)

    def render(self, setting: Setting) -> Markup:
        """Make the table, or say that nothing was found."""
        if not self.rows:
            return tag("p", "Nothing was found.", class_="empty")
        return tables.table(self.title, _COLUMNS, [_row(row, setting) for row in self.rows])


def _row(row: FindingRow, setting: Setting) -> Row:
    code = tag("span", row.code, class_="code") if row.code else ""
    cells = (
        Cell(badge(row.level, _TONES[row.level]), list(_TONES).index(row.level)),
        Cell(tag("span", tag("span", row.message, class_="value"), code)),
        Cell(setting.link(row.place)),
    )
    return Row(cells, definitions(row.detail) if row.detail else None, row.level == "error")
