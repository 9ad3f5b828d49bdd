"""A library of learned rules in memory, and its JSONL form."""

import os
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from hornbook import canon
from hornbook.errors import RuleError
from hornbook.rules.request import RuleRequest
from hornbook.rules.retrieve import RuleIndex, within_budget
from hornbook.rules.rule import LearnedRule
from hornbook.rules.symbolic import DEFAULT_SCHEMA, RuleSchema
from hornbook.rules.vocabulary import ToolCategories, Vocabulary

__all__ = ["RuleLibrary"]


class RuleLibrary:
    """An immutable set of rules over one vocabulary.

    Args:
        rules: any order; the library keeps them by id.
        schema: the fields of their symbolic form.
        vocabulary: closed; without one, the labels the rules use.
        categories: the fixed table from tool to category.
        namespace: the tenant it belongs to, needed to answer as a plugin.

    Raises:
        RuleError: for a duplicate id, or a label outside the vocabulary.
    """

    __slots__ = ("_by_id", "_index", "categories", "namespace", "schema", "vocabulary")

    _by_id: dict[str, LearnedRule]
    _index: RuleIndex
    schema: RuleSchema
    vocabulary: Vocabulary
    categories: ToolCategories
    namespace: str | None

    def __init__(
        self,
        rules: Iterable[LearnedRule] = (),
        *,
        schema: RuleSchema = DEFAULT_SCHEMA,
        vocabulary: Vocabulary | None = None,
        categories: ToolCategories | None = None,
        namespace: str | None = None,
    ) -> None:
        ordered = sorted(rules, key=lambda rule: rule.id)
        by_id = {rule.id: rule for rule in ordered}
        if len(by_id) != len(ordered):
            raise RuleError(f"rule {_duplicate(ordered)!r} stands twice in the library")
        categories = categories or ToolCategories()
        if vocabulary is None:
            vocabulary = _smallest_vocabulary(ordered, schema, categories)
        for name, value in (
            ("_by_id", by_id),
            ("schema", schema),
            ("vocabulary", vocabulary),
            ("categories", categories),
            ("namespace", namespace),
            ("_index", RuleIndex(ordered, vocabulary, schema, categories)),
        ):
            object.__setattr__(self, name, value)
        self._check()

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a RuleLibrary is immutable; {name!r} cannot be set")

    def _check(self) -> None:
        self.categories.check(self.vocabulary)
        for rule in self:
            try:
                self.vocabulary.check(rule.symbolic, schema=self.schema)
            except RuleError as error:
                raise RuleError(f"rule {rule.id!r}: {error}") from None

    @property
    def rules(self) -> tuple[LearnedRule, ...]:
        """All rules, by id."""
        return tuple(self._by_id.values())

    def __iter__(self) -> Iterator[LearnedRule]:
        return iter(self._by_id.values())

    def __len__(self) -> int:
        return len(self._by_id)

    def __getitem__(self, rule_id: str) -> LearnedRule:
        return self._by_id[rule_id]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RuleLibrary) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"RuleLibrary({len(self)} rules, namespace={self.namespace!r})"

    @property
    def digest(self) -> str:
        """SHA-256 of everything that decides what is retrieved."""
        return canon.digest(self.to_json())

    def to_json(self) -> dict[str, Any]:
        """Return the library as JSON values."""
        return {
            "namespace": self.namespace,
            "schema": self.schema.to_json(),
            "vocabulary": self.vocabulary.to_json(),
            "categories": dict(self.categories.table),
            "rules": [rule.to_json() for rule in self],
        }

    def retrieve(self, request: RuleRequest, k: int = 5) -> tuple[LearnedRule, ...]:
        """Return at most k approved rules for a request, the best match first.

        Decomposition rules are always in question, tool rules only when a tool of the
        request, or its category, is in their scope. `render` of the result stays within the
        request's token budget (estimated at four characters a token). A request of another
        namespace gets nothing.
        """
        if self.namespace is not None and request.namespace not in (None, self.namespace):
            return ()
        return tuple(within_budget(self._index.ranked(request), k, request.token_budget))

    def hook(self, k: int = 5) -> object:
        """Return a plugin that answers `hornbook_retrieve_rules` for this library's namespace.

        Raises:
            RuleError: when the library has no namespace: it would answer every tenant.
        """
        from hornbook.rules.hook import library_hook

        return library_hook(self, k)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the library as JSONL, whole or not at all."""
        from hornbook.rules.jsonl import write

        write(self, Path(path))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "RuleLibrary":
        """Read a library from JSONL.

        Raises:
            RuleError: one line, `file:line: field: what`, for whatever cannot be used.
        """
        from hornbook.rules.jsonl import read_library

        return read_library(Path(path))


def _duplicate(ordered: list[LearnedRule]) -> str:
    ids = [rule.id for rule in ordered]
    return next(one for one, other in pairwise(ids) if one == other)


def _smallest_vocabulary(
    rules: list[LearnedRule], schema: RuleSchema, categories: ToolCategories
) -> Vocabulary:
    used = Vocabulary.of((rule.symbolic for rule in rules), schema=schema)
    known = {*used.labels.get("tool_category", ()), *categories.table.values()}
    if not known:
        return used
    return Vocabulary(labels={**used.labels, "tool_category": tuple(known)})
