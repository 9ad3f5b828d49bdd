"""Closed vocabularies, and the fixed table that maps each tool to its category."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from hornbook import canon
from hornbook.errors import RuleError
from hornbook.rules.symbolic import DEFAULT_SCHEMA, RuleSchema, SymbolicForm, text_tuple

__all__ = ["ToolCategories", "Vocabulary"]

_LABEL = re.compile(r"[A-Z0-9][A-Z0-9_]{0,79}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """The labels each field may take: fixed, versioned, identified by a digest."""

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid"}

    version: str = "1"
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """By field name; kept distinct and sorted."""

    def __post_init__(self) -> None:
        labels = {
            name: text_tuple("vocabulary", name, self.labels[name]) for name in sorted(self.labels)
        }
        for name, label in ((n, label) for n, values in labels.items() for label in values):
            if not _LABEL.fullmatch(label):
                raise RuleError(
                    f"vocabulary: {name} label {label!r} is not upper-case letters, digits and _"
                )
        object.__setattr__(self, "labels", labels)

    @classmethod
    def of(
        cls,
        forms: Iterable[SymbolicForm],
        *,
        schema: RuleSchema = DEFAULT_SCHEMA,
        version: str = "1",
    ) -> "Vocabulary":
        """Return the smallest vocabulary that holds every label of the forms."""
        labels: dict[str, set[str]] = {
            item.name: set() for item in schema.fields if not item.labels
        }
        for form in forms:
            for name, known in labels.items():
                known.update(form.labels(name))
            if form.scope.category is not None and "tool_category" in labels:
                labels["tool_category"].add(form.scope.category)
        return cls(version=version, labels={name: tuple(known) for name, known in labels.items()})

    @property
    def digest(self) -> str:
        """SHA-256 of version and labels."""
        return canon.digest(self.to_json())

    def check(self, form: SymbolicForm, *, schema: RuleSchema = DEFAULT_SCHEMA) -> None:
        """Raise RuleError for a label outside, naming label, field and the nearest labels."""
        schema.check(form)
        for item in schema.fields:
            allowed = item.labels or self.labels.get(item.name, ())
            for label in form.labels(item.name):
                _check_label(label, item.name, allowed)
        if form.scope.category is not None:
            _check_label(form.scope.category, "tool_category", self.labels.get("tool_category", ()))

    def to_json(self) -> dict[str, Any]:
        """Return the vocabulary as JSON values."""
        labels = {name: list(values) for name, values in self.labels.items()}
        return {"version": self.version, "labels": labels}


def _check_label(label: str, name: str, allowed: tuple[str, ...]) -> None:
    if label in allowed:
        return
    from difflib import get_close_matches

    nearest = get_close_matches(label, allowed, n=3)
    hint = (
        f"nearest: {', '.join(nearest)}" if nearest else f"it has {len(allowed)} labels, none near"
    )
    raise RuleError(f"symbolic: {name} has no label {label!r} in the vocabulary; {hint}")


@dataclass(frozen=True, slots=True)
class ToolCategories:
    """The fixed table from tool name to category; a tool outside it has none."""

    table: Mapping[str, str] = field(default_factory=dict[str, str])

    def __post_init__(self) -> None:
        object.__setattr__(self, "table", {tool: self.table[tool] for tool in sorted(self.table)})

    def __iter__(self) -> Iterator[str]:
        return iter(self.table)

    def get(self, tool: str) -> str | None:
        """Return the category of one tool, or None."""
        return self.table.get(tool)

    def of(self, tools: Iterable[str]) -> frozenset[str]:
        """Return the categories of the tools that have one."""
        return frozenset(self.table[tool] for tool in tools if tool in self.table)

    def check(self, vocabulary: Vocabulary) -> None:
        """Raise RuleError for a category outside the vocabulary, or a label that is a tool."""
        for category in self.table.values():
            _check_label(category, "tool_category", vocabulary.labels.get("tool_category", ()))
        for name, labels in vocabulary.labels.items():
            for label in labels:
                if label in self.table:
                    raise RuleError(
                        f"vocabulary: {name} label {label!r} is the name of a tool; "
                        f"tool names stand in a scope only"
                    )
