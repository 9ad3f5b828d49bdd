"""The banner: one answer, the counts behind it, and what it is about."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hornbook.report.data import Count, Verdict, plain
from hornbook.report.document import Asset, Setting, asset
from hornbook.report.markup import Markup, definitions, tag

__all__ = ["VerdictPanel"]

# A tick and a cross, drawn: no font has to have them.
_TICK = "M5 13 L10 18 L19 7"
_CROSS = "M6 6 L18 18 M18 6 L6 18"


@dataclass(frozen=True, slots=True)
class VerdictPanel:
    """Shows a `Verdict`."""

    verdict: Verdict
    title: str = "Verdict"

    def assets(self) -> Sequence[Asset]:
        """The banner's style sheet."""
        return (asset("verdict.css"),)

    def places(self) -> Sequence[str]:
        """It shows no places."""
        return ()

    def data(self) -> Any:
        """The verdict."""
        return plain(self.verdict)

    def render(self, setting: Setting) -> Markup:
        """Make the banner."""
        verdict = self.verdict
        counts = tag("dl", *map(_count, verdict.counts), class_="counts") if verdict.counts else ""
        facts = tag("div", definitions(verdict.facts), class_="facts") if verdict.facts else ""
        return tag("div", _headline(verdict), counts, facts, class_="verdict")


def _headline(verdict: Verdict) -> Markup:
    tone, word, path = ("ok", "Passed", _TICK) if verdict.ok else ("error", "Failed", _CROSS)
    mark = tag("svg", tag("path", d=path), viewBox="0 0 24 24", aria_hidden="true")
    answer = tag("span", mark, word, class_=f"answer {tone}")
    return tag("p", answer, tag("span", verdict.headline), class_="headline")


def _count(count: Count) -> Markup:
    value = tag("dd", str(count.value), class_=count.tone)
    return tag("div", tag("dt", count.label), value)
