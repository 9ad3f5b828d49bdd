"""The worked scenarios: how each went, and for one that failed what was expected and seen."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hornbook.report import table as tables
from hornbook.report.data import (
    CheckRow,
    ScenarioRow,
    Status,
    StepRow,
    Tone,
    ViolationRow,
    finite,
    plain,
)
from hornbook.report.document import Asset, Setting, asset
from hornbook.report.markup import Markup, badge, definitions, tag
from hornbook.report.table import Cell, Column, Row, number

__all__ = ["ScenariosPanel"]

_TONES: dict[Status, Tone] = {
    "failed": "error",
    "error": "error",
    "skipped": "warning",
    "passed": "ok",
}
_DEEPEST = 8
_COLUMNS = (
    Column("Status", "choice"),
    Column("Scenario"),
    Column("Result"),
    Column("Time", "number"),
)


@dataclass(frozen=True, slots=True)
class ScenariosPanel:
    """Shows `ScenarioRow`s."""

    rows: Sequence[ScenarioRow]
    title: str = "Scenarios"

    def assets(self) -> Sequence[Asset]:
        """What tables need, and the style of what unfolds."""
        return (*tables.assets(), asset("scenarios.css"))

    def places(self) -> Sequence[str]:
        """It links to places and shows none itself."""
        return ()

    def data(self) -> Any:
        """The rows; a time that is not finite is null."""
        return plain(self.rows)

    def render(self, setting: Setting) -> Markup:
        """Make the table, or say that none was run."""
        if not self.rows:
            return tag("p", "No scenario was run.", class_="empty")
        return tables.table(self.title, _COLUMNS, [_row(row, setting) for row in self.rows])


def _time(seconds: float | None) -> str:
    if seconds is None:
        return ""
    return f"{seconds:.2f} s" if seconds >= 1 else f"{1000 * seconds:.1f} ms"


def _row(row: ScenarioRow, setting: Setting) -> Row:
    seconds = finite(row.seconds)
    cells = (
        Cell(badge(row.status, _TONES[row.status]), list(_TONES).index(row.status)),
        Cell(row.name),
        Cell(tag("span", row.message, class_="value")),
        number(seconds, _time(seconds)),
    )
    failed = row.status in {"failed", "error"}
    return Row(cells, _more(row, setting), failed)


def _more(row: ScenarioRow, setting: Setting) -> Markup | None:
    parts = [
        _titled("Expected and seen", [_check(check) for check in row.checks]),
        _titled("Violations", [_violations(row.violations, setting)] if row.violations else []),
        _titled("Steps", [_steps(row.steps, setting)] if row.steps else []),
        definitions(row.detail),
    ]
    return tag("div", *parts, class_="scenario") if any(part.text for part in parts) else None


def _titled(title: str, parts: Sequence[Markup]) -> Markup:
    return tag("div", tag("h3", title), *parts) if parts else Markup("")


def _check(check: CheckRow) -> Markup:
    head = tag(
        "p", badge("holds", "ok") if check.ok else badge("differs", "error"), " ", check.what
    )
    if check.ok and check.expected == check.seen:
        return tag("div", head, _text("Expected and seen", check.seen), class_="check")
    start, end = (0, 0) if check.ok else _difference(check.expected, check.seen)
    return tag(
        "div",
        head,
        _text("Expected", check.expected, start, end),
        _text("Seen", check.seen, start, end),
        class_="check",
    )


def _difference(one: str, other: str) -> tuple[int, int]:
    """Tell how many characters the two texts share at their start and at their end."""
    start = _shared(one, other)
    return start, _shared(one[start:][::-1], other[start:][::-1])


def _shared(one: str, other: str) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def _text(name: str, text: str, start: int = 0, end: int = 0) -> Markup:
    """Show a text with what the other one does not share marked, if they share anything."""
    middle = text[start : len(text) - end]
    marked = tag("mark", middle) if middle and (start or end) else middle
    block = tag("pre", text[:start], marked, text[len(text) - end :], tabindex=0)
    return tag("figure", tag("figcaption", name), block)


def _violations(rows: Sequence[ViolationRow], setting: Setting) -> Markup:
    return tag("ul", *(_violation(row, setting) for row in rows))


def _violation(row: ViolationRow, setting: Setting) -> Markup:
    path = tag("span", " at ", tag("code", row.path)) if row.path else ""
    clause = tag("strong", row.clause)
    return tag("li", setting.link(row.step), " ", clause, path, ": ", tag("span", row.message))


def _steps(rows: Sequence[StepRow], setting: Setting) -> Markup:
    return tag("ul", *(_step(row, setting) for row in rows), class_="steps")


def _step(row: StepRow, setting: Setting) -> Markup:
    told = [f"{row.attempts} attempts" if row.attempts != 1 else "", row.note]
    seconds = _time(finite(row.seconds))
    rest = ", ".join(filter(None, [*told, seconds]))
    # Indented by class, since a style attribute would need a weaker policy.
    depth = f"depth-{min(max(row.depth, 0), _DEEPEST)}"
    parts = (setting.link(row.place), " ", badge(row.status, row.tone), " ")
    return tag("li", *parts, tag("span", rest, class_="rest"), class_=depth)
