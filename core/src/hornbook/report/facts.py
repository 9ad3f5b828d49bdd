"""A list of terms and what they are: the facts about a whole."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hornbook.report.data import Lines, plain
from hornbook.report.document import Asset, Setting
from hornbook.report.markup import Markup, definitions, tag

__all__ = ["FactsPanel"]


@dataclass(frozen=True, slots=True)
class FactsPanel:
    """Shows terms and what they are, in the order given."""

    facts: Mapping[str, Lines]
    title: str = "At a glance"

    def assets(self) -> Sequence[Asset]:
        """It needs nothing of its own."""
        return ()

    def places(self) -> Sequence[str]:
        """It shows no places."""
        return ()

    def data(self) -> Any:
        """The facts."""
        return plain(self.facts)

    def render(self, setting: Setting) -> Markup:
        """Make the list."""
        return tag("div", definitions(self.facts), class_="facts")
