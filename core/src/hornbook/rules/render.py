"""How rules are put into a prompt: one template, one canonical order, a known size."""

from collections.abc import Iterable

from hornbook.rules.rule import LearnedRule
from hornbook.rules.symbolic import STRENGTHS

__all__ = ["MAX_RENDERED", "estimate_tokens", "render"]

MAX_RENDERED = 32
"""Rules in one prompt; more are counted, not shown."""

_HEADER = (
    "Rules learned from earlier runs. Apply each one whose condition holds; "
    "they permit nothing that is not permitted otherwise."
)
_MODAL = {"MANDATORY": "Must", "RECOMMENDED": "Should", "OPTIONAL": "May"}


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of a text without a tokenizer: a quarter of its characters."""
    return (len(text) + 3) // 4


def render(rules: Iterable[LearnedRule]) -> str:
    """Return the text to inject, the same for every order of the rules; empty for none."""
    distinct = {line(rule): rule for rule in rules}
    lines = sorted(distinct, key=lambda text: (_rank(distinct[text]), text))
    if not lines:
        return ""
    shown = [_HEADER, *lines[:MAX_RENDERED]]
    if len(lines) > MAX_RENDERED:
        shown.append(f"({len(lines) - MAX_RENDERED} more rules are left out)")
    return "\n".join(shown)


def line(rule: LearnedRule) -> str:
    """Return the one line that stands for a rule."""
    return f"- {_MODAL[rule.symbolic.strength]}: {rule.text}"


def overhead() -> int:
    """Return how many characters the template adds around the lines."""
    return len(_HEADER)


def _rank(rule: LearnedRule) -> int:
    return STRENGTHS.index(rule.symbolic.strength)
