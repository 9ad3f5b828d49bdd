"""The fields that a module of DSPy's own predicts, held against what a contract speaks of."""

from collections.abc import Mapping, Sequence
from typing import Any

from typing_extensions import is_typeddict

from hornbook.contracts.contract import Contract
from hornbook.contracts.paths import parse
from hornbook.errors import DefinitionError
from hornbook_dspy.compat import dspy

__all__ = ["outputs_of", "refuse_unknown_answer", "refuse_unknown_outputs"]

_ADDED = ("history", "reasoning", "termination_reason", "trajectory")
"""Fields that DSPy's modules add to those of their signature."""

_WHOLE = "."


def outputs_of(module: Any) -> tuple[str, ...] | None:
    """The fields of a module's prediction; None where only a call tells, as of a user's module."""
    if type(module) not in (dspy.Predict, dspy.ChainOfThought, dspy.ReAct, dspy.ReActV2):
        return None
    asking = module.predict if isinstance(module, dspy.ChainOfThought) else module
    return tuple(asking.signature.output_fields)


def refuse_unknown_outputs(contract: Contract[Any], module: Any, step: str) -> None:
    """Check that the fields a contract speaks of are fields that the module predicts.

    Raises:
        DefinitionError: one is not; it names those that are.
    """
    fields = outputs_of(module)
    if fields is None:
        return
    known = ", ".join(fields)
    for where, name in _spoken_of(contract):
        if name not in (*fields, *_ADDED):
            raise DefinitionError(
                f"contract {contract.name!r}, {where}: {name!r} is no output field of {step!r}; "
                f"its output fields are {known}"
            )


def refuse_unknown_answer(contract: Contract[Any], module: Any) -> None:
    """Check what a contract on final answers speaks of: the only field, or fields by name.

    Raises:
        DefinitionError: it speaks of a field that is not there, or of the only one by name.
    """
    fields: Mapping[str, Any] = module.signature.output_fields
    only = next(iter(fields)) if len(fields) == 1 else None
    for where, name in _spoken_of(contract):
        if only is not None and name == only:
            raise DefinitionError(
                f"contract {contract.name!r}, {where}: {only!r} is the only output field, so that "
                f"a final answer is its value: write '.' for {only!r}"
            )
        if only is None and name not in fields:
            raise DefinitionError(
                f"contract {contract.name!r}, {where}: {name!r} is no output field of the agent; "
                f"they are {', '.join(fields)}"
            )


def _spoken_of(contract: Contract[Any]) -> Sequence[tuple[str, str]]:
    """Where, and by what name: the first part of each path, and the keys of a TypedDict."""
    named = [
        (f"clause {clause.name!r}", str(parse(clause.path).segments[0]))
        for clause in contract.ensures
        if clause.path != _WHOLE and not clause.optional
    ]
    if is_typeddict(contract.output):
        named += [("output", name) for name in contract.output.__required_keys__]
    return named
