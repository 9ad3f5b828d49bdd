"""Which rules matter to a request (RIMRULE 2.3.2): filter by scope, rank by labels.

The request is classified without a model: a label holds for it when enough of the
label's words stand in the query. That is coarse, costs microseconds, and needs nothing
installed; a rule store ranks with more.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from hornbook.rules.render import MAX_RENDERED, line, overhead
from hornbook.rules.request import RuleRequest
from hornbook.rules.rule import LearnedRule
from hornbook.rules.symbolic import STRENGTHS, RuleSchema
from hornbook.rules.vocabulary import ToolCategories, Vocabulary

__all__ = ["Labels", "RuleIndex", "within_budget"]

Labels = Mapping[str, frozenset[str]]
"""A request in symbolic form: field name to the labels that hold."""

_WORD = re.compile(r"[^\W_]+")
_EMPTY_WORDS = frozenset(
    {"a", "an", "and", "by", "for", "in", "of", "on", "or", "the", "to", "with"}
)
_SUFFIXES = (
    "ization", "ships", "ship", "ments", "ment", "ions", "ion", "ings", "ing", "ives", "ive",
    "ials", "ial", "ates", "ate", "ies", "ied", "als", "al", "ers", "er", "ed", "es", "s", "y", "e",
)  # fmt: skip
_MIN_STEM = 3
_ENOUGH = 0.5
_MAX_QUERY_CHARS = 20_000


class RuleIndex:
    """The approved rules of a library, ordered and cross-referenced once."""

    def __init__(
        self,
        rules: Iterable[LearnedRule],
        vocabulary: Vocabulary,
        schema: RuleSchema,
        categories: ToolCategories,
    ) -> None:
        approved = (rule for rule in rules if rule.status == "approved")
        self._rules = sorted(approved, key=_order)
        self._fields = schema.names
        self._categories = categories
        self._labels_of: dict[str, list[tuple[str, str]]] = defaultdict(list)
        self._words_in: dict[tuple[str, str], int] = {}
        for name, label in ((n, label) for n, all_ in vocabulary.labels.items() for label in all_):
            stems = set(_stems(label))
            self._words_in[name, label] = len(stems)
            for stem in stems:
                self._labels_of[stem].append((name, label))
        self._holders: dict[tuple[str, str], list[int]] = defaultdict(list)
        for position, rule in enumerate(self._rules):
            for name in self._fields:
                for label in rule.symbolic.labels(name):
                    self._holders[name, label].append(position)

    def classify(self, request: RuleRequest) -> Labels:
        """Return the labels that hold; tool categories come from the request's tools alone."""
        met: dict[tuple[str, str], int] = defaultdict(int)
        for stem in set(_stems(request.query[:_MAX_QUERY_CHARS])):
            for place in self._labels_of.get(stem, ()):
                met[place] += 1
        found: dict[str, set[str]] = defaultdict(set)
        for (name, label), words in met.items():
            if words >= _ENOUGH * self._words_in[name, label]:
                found[name].add(label)
        found["tool_category"] = set(self._categories.of(request.tools))
        return {name: frozenset(labels) for name, labels in found.items()}

    def ranked(self, request: RuleRequest) -> Iterator[LearnedRule]:
        """Yield the rules in scope, the best match first.

        Order: label overlap, then strength, specificity of the scope, number of qualifiers,
        recency, and the id, so that it is total.
        """
        tools, categories = frozenset(request.tools), self._categories.of(request.tools)
        for position in self._positions(self.classify(request)):
            rule = self._rules[position]
            if rule.symbolic.error == "dec" or rule.symbolic.scope.covers(tools, categories):
                yield rule

    def _positions(self, labels: Labels) -> Iterator[int]:
        """Yield the rules that share a label by their overlap, then the others in order."""
        overlaps = self._overlaps(labels)
        yield from sorted(overlaps, key=lambda position: (-overlaps[position], position))
        yield from (n for n in range(len(self._rules)) if n not in overlaps)

    def _overlaps(self, labels: Labels) -> dict[int, float]:
        """Return the sum of the fields' Jaccard indices, for the rules where it is not 0."""
        totals: dict[int, float] = defaultdict(float)
        for name in self._fields:
            held = labels.get(name, frozenset[str]())
            common: dict[int, int] = defaultdict(int)
            for label in held:
                for position in self._holders.get((name, label), ()):
                    common[position] += 1
            for position, number in common.items():
                own = len(self._rules[position].symbolic.labels(name))
                totals[position] += number / (len(held) + own - number)
        return {position: round(total, 9) for position, total in totals.items()}


def within_budget(rules: Iterable[LearnedRule], k: int, token_budget: int) -> Iterator[LearnedRule]:
    """Yield at most k rules whose rendering fits the budget, passing over those that do not."""
    # Characters, not tokens: rounding each line up would waste a token a rule.
    left = token_budget * 4 - overhead()
    number = 0
    for rule in rules:
        if number == min(k, MAX_RENDERED):
            return
        size = len(line(rule)) + 1
        if size <= left:
            left -= size
            number += 1
            yield rule


def _order(rule: LearnedRule) -> tuple[object, ...]:
    form = rule.symbolic
    return (
        STRENGTHS.index(form.strength),
        -_specificity(rule),
        -len(form.qualifier),
        -rule.provenance.timestamp,
        -rule.version,
        rule.id,
    )


def _specificity(rule: LearnedRule) -> int:
    scope = rule.symbolic.scope
    if scope.tools:
        return 2
    return 0 if scope.category is None else 1


def _stems(text: str) -> Iterator[str]:
    for word in _WORD.findall(text.casefold()):
        if word not in _EMPTY_WORDS:
            yield _stem(word)


def _stem(word: str) -> str:
    """Strip suffixes until none is left, so that 'familial' meets 'family'."""
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= _MIN_STEM:
            return _stem(word[: -len(suffix)])
    return word[:-1] if len(word) > _MIN_STEM and word[-1] == word[-2] else word
