"""Recorded answers held to a primitive's contract again, as it is now."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

from hornbook import canon
from hornbook.contracts.contract import Contract
from hornbook.evaluation.attempts import Recorded
from hornbook.models import Completion
from hornbook.models.reading import read
from hornbook.schema import compile_schema

if TYPE_CHECKING:
    from hornbook.program import Primitive

__all__ = ["holding"]


def holding(primitive: "Primitive[..., Any]") -> Callable[[Recorded], bool] | None:
    """Whether what a model answered, as recorded, meets a neural primitive's contract.

    Only clauses of code are asked: a judge would cost calls. A clause that does not come to an
    answer, as with inputs that the record holds as a description, is not held against it.
    None for a symbolic primitive, which has no such answers.
    """
    asking = primitive.definition.asking
    if asking is None:
        return None
    given = primitive.contract
    told = [one for one in given.ensures if one.assurance == "guaranteed"]
    schema = None if asking.schema is None else compile_schema(asking.schema)
    contract = Contract[Any](given.name, output=primitive.definition.signature.output, ensures=told)

    def meets(attempt: Recorded) -> bool:
        value = asking.read(read(Completion(text=attempt.text), schema))
        report = contract.check(value, _inputs(attempt))
        return not any(one.status == "Violated" for one in report.verdicts)

    return meets


def _inputs(attempt: Recorded) -> Mapping[str, Any]:
    found = canon.decode(attempt.inputs)
    return cast("Mapping[str, Any]", found) if isinstance(found, Mapping) else {}
