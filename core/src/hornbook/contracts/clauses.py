"""The clause kinds: one function each, exported as `hornbook.clauses`.

In `ensures` a path leads into the output; in `requires` it starts at an input's name.
Every function takes `name=`, `version="1"` and `on_undetermined="fail" | "waive"`; those
with a path take `optional=` as well.
"""

from typing import TYPE_CHECKING

from hornbook import lazy

if TYPE_CHECKING:
    from hornbook.contracts.text_clauses import covers, entails, grounded, matches, similar
    from hornbook.contracts.value_clauses import (
        bound,
        forall,
        implies,
        in_range,
        kind,
        monotone,
        one_of,
        refers_to,
        subset_of,
        that,
        unique,
    )

__all__ = [
    "bound",
    "covers",
    "entails",
    "forall",
    "grounded",
    "implies",
    "in_range",
    "kind",
    "matches",
    "monotone",
    "one_of",
    "refers_to",
    "similar",
    "subset_of",
    "that",
    "unique",
]

__getattr__, __dir__ = lazy.attach(
    __name__,
    {
        "bound": "hornbook.contracts.value_clauses",
        "covers": "hornbook.contracts.text_clauses",
        "entails": "hornbook.contracts.text_clauses",
        "forall": "hornbook.contracts.value_clauses",
        "grounded": "hornbook.contracts.text_clauses",
        "implies": "hornbook.contracts.value_clauses",
        "in_range": "hornbook.contracts.value_clauses",
        "kind": "hornbook.contracts.value_clauses",
        "matches": "hornbook.contracts.text_clauses",
        "monotone": "hornbook.contracts.value_clauses",
        "one_of": "hornbook.contracts.value_clauses",
        "refers_to": "hornbook.contracts.value_clauses",
        "similar": "hornbook.contracts.text_clauses",
        "subset_of": "hornbook.contracts.value_clauses",
        "that": "hornbook.contracts.value_clauses",
        "unique": "hornbook.contracts.value_clauses",
    },
)
