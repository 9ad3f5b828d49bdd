"""Whole pages for what users ask for: a program, and the verification of one."""

from collections.abc import Mapping, Sequence

from hornbook.report.assurance import AssurancePanel
from hornbook.report.data import AssuranceRow, FindingRow, GraphNode, Lines, ScenarioRow, Verdict
from hornbook.report.document import Panel, page
from hornbook.report.facts import FactsPanel
from hornbook.report.findings import FindingsPanel
from hornbook.report.graph import GraphPanel
from hornbook.report.scenarios import ScenariosPanel
from hornbook.report.verdict import VerdictPanel

__all__ = ["program_page", "verification_page"]


def program_page(
    title: str,
    graph: GraphNode,
    *,
    subtitle: str | None = None,
    takes: str = "",
    gives: str = "",
    facts: Mapping[str, Lines] | None = None,
    findings: Sequence[FindingRow] = (),
) -> str:
    """Make the page of a program.

    Args:
        title: the page's heading, such as the program's name.
        graph: the program's root.
        subtitle: one line below the heading.
        takes: the program's input type, as text.
        gives: its output type.
        facts: what else there is to say of the whole: call bounds, digest.
        findings: what a reader should know of it; no panel where there are none.

    Returns:
        The HTML file's text.
    """
    panels: list[Panel] = [GraphPanel(graph, takes=takes, gives=gives)]
    if facts:
        panels.insert(0, FactsPanel(facts))
    if findings:
        panels.append(FindingsPanel(findings))
    return page(title, panels, subtitle=subtitle)


def verification_page(
    title: str,
    verdict: Verdict,
    *,
    subtitle: str | None = None,
    findings: Sequence[FindingRow] = (),
    assurance: Sequence[AssuranceRow] = (),
    scenarios: Sequence[ScenarioRow] = (),
    graph: GraphNode | None = None,
    takes: str = "",
    gives: str = "",
) -> str:
    """Make the page of a verification: verdict, findings, assurance, scenarios, program.

    Args:
        title: the page's heading.
        verdict: the one answer.
        subtitle: one line below the heading.
        findings: what was found in the program as it is written.
        assurance: the assurance table.
        scenarios: the worked scenarios.
        graph: the program's root; findings and steps link into it.
        takes: the program's input type, as text.
        gives: its output type.

    Returns:
        The HTML file's text.
    """
    panels: list[Panel] = [
        VerdictPanel(verdict),
        FindingsPanel(findings),
        AssurancePanel(assurance),
        ScenariosPanel(scenarios),
    ]
    if graph is not None:
        panels.append(GraphPanel(graph, takes=takes, gives=gives))
    return page(title, panels, subtitle=subtitle)
