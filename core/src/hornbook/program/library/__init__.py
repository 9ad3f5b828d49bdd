"""The primitives of Forethought 3.1, ready to compose: each with its contract.

Symbolic: `check_type`, `check_format`, `propagate`, `match_pattern`, `restructure`. Neural,
made of a model: `extract_entities`, `classify_relation`, `decompose`, `entails`.
"""

from typing import TYPE_CHECKING

from hornbook import lazy

if TYPE_CHECKING:
    from hornbook.program.library.checking import (
        FormatCheck,
        Misfit,
        TypeCheck,
        check_format,
        check_type,
    )
    from hornbook.program.library.errors import ProblemError, RestructureError
    from hornbook.program.library.formats import FORMATS
    from hornbook.program.library.matching import Found, Matches, Part, match_pattern
    from hornbook.program.library.moves import Move
    from hornbook.program.library.neural import (
        Decomposition,
        Entailment,
        Entities,
        Entity,
        Relation,
        classify_relation,
        decompose,
        entails,
        extract_entities,
    )
    from hornbook.program.library.problem import AllDifferent, Compare, Problem, Sum, Table
    from hornbook.program.library.propagation import Propagation, propagate
    from hornbook.program.library.reshaping import restructure, restructuring

__all__ = [
    "FORMATS",
    "AllDifferent",
    "Compare",
    "Decomposition",
    "Entailment",
    "Entities",
    "Entity",
    "FormatCheck",
    "Found",
    "Matches",
    "Misfit",
    "Move",
    "Part",
    "Problem",
    "ProblemError",
    "Propagation",
    "Relation",
    "RestructureError",
    "Sum",
    "Table",
    "TypeCheck",
    "check_format",
    "check_type",
    "classify_relation",
    "decompose",
    "entails",
    "extract_entities",
    "match_pattern",
    "propagate",
    "restructure",
    "restructuring",
]

_CHECKING = "hornbook.program.library.checking"
_ERRORS = "hornbook.program.library.errors"
_MATCHING = "hornbook.program.library.matching"
_NEURAL = "hornbook.program.library.neural"
_PROBLEM = "hornbook.program.library.problem"
_PROPAGATION = "hornbook.program.library.propagation"
_RESHAPING = "hornbook.program.library.reshaping"

__getattr__, __dir__ = lazy.attach(
    __name__,
    {
        "FORMATS": "hornbook.program.library.formats",
        "AllDifferent": _PROBLEM,
        "Compare": _PROBLEM,
        "Decomposition": _NEURAL,
        "Entailment": _NEURAL,
        "Entities": _NEURAL,
        "Entity": _NEURAL,
        "FormatCheck": _CHECKING,
        "Found": _MATCHING,
        "Matches": _MATCHING,
        "Misfit": _CHECKING,
        "Move": "hornbook.program.library.moves",
        "Part": _MATCHING,
        "Problem": _PROBLEM,
        "ProblemError": _ERRORS,
        "Propagation": _PROPAGATION,
        "Relation": _NEURAL,
        "RestructureError": _ERRORS,
        "Sum": _PROBLEM,
        "Table": _PROBLEM,
        "TypeCheck": _CHECKING,
        "check_format": _CHECKING,
        "check_type": _CHECKING,
        "classify_relation": _NEURAL,
        "decompose": _NEURAL,
        "entails": _NEURAL,
        "extract_entities": _NEURAL,
        "match_pattern": _MATCHING,
        "propagate": _PROPAGATION,
        "restructure": _RESHAPING,
        "restructuring": _RESHAPING,
    },
)
