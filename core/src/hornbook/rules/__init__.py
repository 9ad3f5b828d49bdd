"""Learned rules as data (RIMRULE): their form, a library of them, retrieval and rendering.

A rule is guidance in one sentence with a symbolic form beside it. Nothing here learns,
scores or persists more than a JSONL file; nothing here lets a rule grant anything.
"""

from hornbook.rules.library import RuleLibrary
from hornbook.rules.render import estimate_tokens, render
from hornbook.rules.request import RuleRequest
from hornbook.rules.rule import LearnedRule, Mode, Provenance, Status
from hornbook.rules.symbolic import (
    DEFAULT_SCHEMA,
    ErrorType,
    Field,
    RuleSchema,
    Scope,
    Strength,
    SymbolicForm,
)
from hornbook.rules.vocabulary import ToolCategories, Vocabulary

__all__ = [
    "DEFAULT_SCHEMA",
    "ErrorType",
    "Field",
    "LearnedRule",
    "Mode",
    "Provenance",
    "RuleLibrary",
    "RuleRequest",
    "RuleSchema",
    "Scope",
    "Status",
    "Strength",
    "SymbolicForm",
    "ToolCategories",
    "Vocabulary",
    "estimate_tokens",
    "render",
]
