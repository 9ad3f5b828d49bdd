"""Which rules matter to a request (RIMRULE 2.3.2): filter by scope, rank by labels.

The request is classified without a model: a label holds for it when enough of the
label's words stand in the query. That is coarse, costs microseconds, and needs nothing
installed; a rule store ranks with more.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from hornbook.rules.render import MAX_RENDERED, line, overhead
from hornbook.rules.request import RuleRequest
from hornbook.rules.rule import LearnedRule
from hornbook.rules.symbolic import STRENGTHS, RuleSchema
from hornbook.rules.vocabulary import ToolCategories, Vocabulary

__all__ = ["Labels", "classify", "rank", "within_budget"]

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


def classify(
    request: RuleRequest, vocabulary: Vocabulary, schema: RuleSchema, categories: ToolCategories
) -> Labels:
    """Return the labels that hold for a request; tool categories come from its tools alone."""
    words = frozenset(_stems(request.query[:_MAX_QUERY_CHARS]))
    found: dict[str, frozenset[str]] = {}
    for item in schema.fields:
        labels = vocabulary.labels.get(item.name, ())
        found[item.name] = frozenset(label for label in labels if _holds(label, words))
    found["tool_category"] = categories.of(request.tools)
    return found


def rank(
    rules: Iterable[LearnedRule],
    request: RuleRequest,
    labels: Labels,
    schema: RuleSchema,
    categories: ToolCategories,
) -> list[LearnedRule]:
    """Return the approved rules in scope, the best match first.

    Order: label overlap, then strength, specificity of the scope, number of qualifiers,
    recency, and the id, so that it is total and does not depend on the order of `rules`.
    """
    tools, of_tools = frozenset(request.tools), categories.of(request.tools)
    eligible = [
        rule
        for rule in rules
        if rule.status == "approved"
        and (rule.symbolic.error == "dec" or rule.symbolic.scope.covers(tools, of_tools))
    ]
    return sorted(eligible, key=lambda rule: _sort_key(rule, labels, schema))


def within_budget(rules: Sequence[LearnedRule], k: int, token_budget: int) -> Iterator[LearnedRule]:
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


def _sort_key(rule: LearnedRule, labels: Labels, schema: RuleSchema) -> tuple[object, ...]:
    form = rule.symbolic
    return (
        -_overlap(rule, labels, schema),
        STRENGTHS.index(form.strength),
        -_specificity(rule),
        -len(form.qualifier),
        -rule.provenance.timestamp,
        -rule.version,
        rule.id,
    )


def _overlap(rule: LearnedRule, labels: Labels, schema: RuleSchema) -> float:
    """Sum the Jaccard indices of the fields the vocabulary labels."""
    total = 0.0
    for item in schema.fields:
        held = labels.get(item.name, frozenset())
        if not held:
            continue
        own = rule.symbolic.labels(item.name)
        common = len(held.intersection(own))
        total += common / (len(held) + len(own) - common)
    return round(total, 9)


def _specificity(rule: LearnedRule) -> int:
    scope = rule.symbolic.scope
    if scope.tools:
        return 2
    return 0 if scope.category is None else 1


def _holds(label: str, words: frozenset[str]) -> bool:
    stems = _label_stems(label)
    return bool(stems) and len(stems & words) >= _ENOUGH * len(stems)


@lru_cache(maxsize=4096)
def _label_stems(label: str) -> frozenset[str]:
    return frozenset(_stems(label))


def _stems(text: str) -> Iterator[str]:
    for word in _WORD.findall(text.casefold().replace("_", " ")):
        if word not in _EMPTY_WORDS:
            yield _stem(word)


def _stem(word: str) -> str:
    """Strip suffixes until none is left, so that 'familial' meets 'family'."""
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= _MIN_STEM:
            return _stem(word[: -len(suffix)])
    return word[:-1] if len(word) > _MIN_STEM and word[-1] == word[-2] else word
