"""The assurance table: per step, which properties are guaranteed, measured or unchecked.

Forethought, section 3.4: a design-time report must say how far each guarantee goes.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hornbook.report import table as tables
from hornbook.report.data import Assurance, AssuranceRow, Tone, finite, plain
from hornbook.report.document import Asset, Setting
from hornbook.report.markup import Markup, badge, tag
from hornbook.report.table import Cell, Column, Row, number

__all__ = ["AssurancePanel"]

_TONES: dict[Assurance, Tone] = {"guaranteed": "ok", "measured": "plain", "unchecked": "warning"}
_COLUMNS = (
    Column("Step", "where"),
    Column("Property"),
    Column("Assurance", "choice"),
    Column("Error rate", "number"),
    Column("Mutants caught", "number"),
    Column("Mutants passed", "number"),
    Column("Note"),
)


@dataclass(frozen=True, slots=True)
class AssurancePanel:
    """Shows `AssuranceRow`s."""

    rows: Sequence[AssuranceRow]
    title: str = "Assurance"

    def assets(self) -> Sequence[Asset]:
        """What tables need."""
        return tables.assets()

    def places(self) -> Sequence[str]:
        """It links to places and shows none itself."""
        return ()

    def data(self) -> Any:
        """The rows; an error rate that is not finite is null."""
        return plain(self.rows)

    def render(self, setting: Setting) -> Markup:
        """Make a line that sums up, and the table."""
        if not self.rows:
            return tag("p", "No step has a property to assure.", class_="empty")
        rows = [Row(_cells(row, setting)) for row in self.rows]
        return tag("div", _summary(self.rows), tables.table(self.title, _COLUMNS, rows))


def _summary(rows: Sequence[AssuranceRow]) -> Markup:
    counts = Counter(row.assurance for row in rows)
    told = ", ".join(f"{counts[kind]} {kind}" for kind in _TONES)
    return tag("p", f"Of {len(rows)} properties: {told}.", class_="lead")


def _cells(row: AssuranceRow, setting: Setting) -> tuple[Cell, ...]:
    return (
        Cell(setting.link(row.step)),
        Cell(row.property),
        Cell(badge(row.assurance, _TONES[row.assurance]), list(_TONES).index(row.assurance)),
        number(finite(row.error), _rate(row)),
        number(row.caught),
        number(row.passed),
        Cell(row.note),
    )


def _limits(row: AssuranceRow) -> tuple[float, float] | None:
    if row.interval is None or not all(map(math.isfinite, row.interval)):
        return None
    return row.interval


def _rate(row: AssuranceRow) -> str:
    rate = f"{100 * (finite(row.error) or 0.0):.1f} %"
    limits = _limits(row)
    return rate if limits is None else f"{rate} ({100 * limits[0]:.1f} to {100 * limits[1]:.1f})"
