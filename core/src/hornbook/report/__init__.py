"""Reports: one static HTML file made of panels, from plain data.

The file loads nothing, sends nothing and reads without JavaScript. This package draws; it
knows neither programs nor runs. A further panel is a module that satisfies `Panel`.
"""

from typing import TYPE_CHECKING

from hornbook import lazy

if TYPE_CHECKING:
    from hornbook.report.assurance import AssurancePanel
    from hornbook.report.data import (
        AssuranceRow,
        CheckRow,
        Count,
        FindingRow,
        GraphNode,
        ScenarioRow,
        StepRow,
        Verdict,
        ViolationRow,
    )
    from hornbook.report.document import Asset, Panel, Setting, page
    from hornbook.report.findings import FindingsPanel
    from hornbook.report.graph import GraphPanel
    from hornbook.report.markup import Markup, tag
    from hornbook.report.ready import program_page, verification_page
    from hornbook.report.scenarios import ScenariosPanel
    from hornbook.report.verdict import VerdictPanel

__all__ = [
    "Asset",
    "AssurancePanel",
    "AssuranceRow",
    "CheckRow",
    "Count",
    "FindingRow",
    "FindingsPanel",
    "GraphNode",
    "GraphPanel",
    "Markup",
    "Panel",
    "ScenarioRow",
    "ScenariosPanel",
    "Setting",
    "StepRow",
    "Verdict",
    "VerdictPanel",
    "ViolationRow",
    "page",
    "program_page",
    "tag",
    "verification_page",
]

_DATA = "hornbook.report.data"
_DOCUMENT = "hornbook.report.document"

__getattr__, __dir__ = lazy.attach(
    __name__,
    {
        "Asset": _DOCUMENT,
        "AssurancePanel": "hornbook.report.assurance",
        "AssuranceRow": _DATA,
        "CheckRow": _DATA,
        "Count": _DATA,
        "FindingRow": _DATA,
        "FindingsPanel": "hornbook.report.findings",
        "GraphNode": _DATA,
        "GraphPanel": "hornbook.report.graph",
        "Markup": "hornbook.report.markup",
        "Panel": _DOCUMENT,
        "ScenarioRow": _DATA,
        "ScenariosPanel": "hornbook.report.scenarios",
        "Setting": _DOCUMENT,
        "StepRow": _DATA,
        "Verdict": _DATA,
        "VerdictPanel": "hornbook.report.verdict",
        "ViolationRow": _DATA,
        "page": _DOCUMENT,
        "program_page": "hornbook.report.ready",
        "tag": "hornbook.report.markup",
        "verification_page": "hornbook.report.ready",
    },
)
