"""What `verify` gives: findings, scenarios, mutants and the assurance table, and its forms."""

from dataclasses import dataclass
from typing import Any

from hornbook.report import GraphNode
from hornbook.verify.values import Finding, MutantResult, ScenarioResult, StepAssurance

__all__ = ["Verification"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """The outcome of design-time verification of one program (Forethought 3.4).

    `str` gives the assurance table with the findings and the scenarios that failed, for a
    terminal of 100 columns.
    """

    program: str
    """Its name."""
    digest: str
    takes: str
    """Its input type, as text."""
    gives: str
    calls: str
    """The static bound of its calls, as text."""
    findings: tuple[Finding, ...]
    scenarios: tuple[ScenarioResult, ...]
    mutants: tuple[MutantResult, ...]
    table: tuple[StepAssurance, ...]
    """The assurance table, step by step."""
    strict: bool = False
    """Whether warnings fail it too."""
    graph: GraphNode | None = None
    """The program as a picture."""

    def fails(self, finding: Finding) -> bool:
        """Whether a finding fails the verification."""
        return finding.level == "error" or (self.strict and finding.level == "warning")

    @property
    def ok(self) -> bool:
        """Whether every scenario holds and no finding is an error."""
        return not any(map(self.fails, self.findings)) and all(one.ok for one in self.scenarios)

    @property
    def exit_code(self) -> int:
        """What a command gives: 0 when it is ok, else 1."""
        return 0 if self.ok else 1

    def __str__(self) -> str:
        from hornbook.verify.texts import text

        return text(self)

    def as_dict(self) -> dict[str, Any]:
        """Plain data: what `to_json` writes."""
        from hornbook.verify.documents import document

        return document(self)

    def to_json(self) -> str:
        """As JSON text."""
        import json

        return json.dumps(self.as_dict(), indent=2, ensure_ascii=False)

    def to_junit(self) -> str:
        """As JUnit XML: one suite of checks, one of scenarios."""
        from hornbook.verify.junit import junit_of

        return junit_of(self)

    def to_html(self) -> str:
        """As one static HTML file."""
        from hornbook.verify.html import html

        return html(self)
