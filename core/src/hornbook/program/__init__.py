"""Reasoning programs: typed primitives and the five ways to compose them (Forethought 3.1, 3.2).

A program is checked when it is composed (types, references, bounds) and can be read before
it runs: `walk`, `max_calls`, `to_text`. It runs on `hornbook.engine`, which it calls down to.
"""

from typing import TYPE_CHECKING

from hornbook import lazy

if TYPE_CHECKING:
    from hornbook.program import library
    from hornbook.program.binding import Ref, ref
    from hornbook.program.bounds import Calls
    from hornbook.program.errors import (
        BranchError,
        ProgramError,
        ProgramInputError,
        RoundsExhausted,
    )
    from hornbook.program.neurals import neural
    from hornbook.program.node import Placed, Program
    from hornbook.program.operators import (
        Conditional,
        Constant,
        Fallback,
        Iterate,
        Parallel,
        Sequence,
        constant,
    )
    from hornbook.program.primitives import Primitive, primitive
    from hornbook.program.types import assignable, mismatch

__all__ = [
    "BranchError",
    "Calls",
    "Conditional",
    "Constant",
    "Fallback",
    "Iterate",
    "Parallel",
    "Placed",
    "Primitive",
    "Program",
    "ProgramError",
    "ProgramInputError",
    "Ref",
    "RoundsExhausted",
    "Sequence",
    "assignable",
    "constant",
    "library",
    "mismatch",
    "neural",
    "primitive",
    "ref",
]

__getattr__, __dir__ = lazy.attach(
    __name__,
    {
        "BranchError": "hornbook.program.errors",
        "Calls": "hornbook.program.bounds",
        "Conditional": "hornbook.program.operators",
        "Constant": "hornbook.program.operators",
        "Fallback": "hornbook.program.operators",
        "Iterate": "hornbook.program.operators",
        "Parallel": "hornbook.program.operators",
        "Placed": "hornbook.program.node",
        "Primitive": "hornbook.program.primitives",
        "Program": "hornbook.program.node",
        "ProgramError": "hornbook.program.errors",
        "ProgramInputError": "hornbook.program.errors",
        "Ref": "hornbook.program.binding",
        "RoundsExhausted": "hornbook.program.errors",
        "Sequence": "hornbook.program.operators",
        "assignable": "hornbook.program.types",
        "constant": "hornbook.program.operators",
        "library": "hornbook.program.library",
        "mismatch": "hornbook.program.types",
        "neural": "hornbook.program.neurals",
        "primitive": "hornbook.program.primitives",
        "ref": "hornbook.program.binding",
    },
)
