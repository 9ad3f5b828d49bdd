"""A contract made fit for a node: its output is an update, of which no key has to be there."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from hornbook import canon
from hornbook.contracts.clause import Answer, Clause
from hornbook.contracts.contract import Contract
from hornbook.errors import DefinitionError
from hornbook_langgraph.state import input_names, is_record, update_type

__all__ = ["fitted"]


class UpdateContract(Contract[Any]):
    """The clauses of a contract, with its output checked key by key."""

    __slots__ = ("_original", "_writes")

    def __init__(self, original: Contract[Any], writes: Sequence[str]) -> None:
        output: dict[str, Any] = {}
        if original.output is not None:
            record = is_record(original.output)
            output["output"] = update_type(original.output) if record else original.output
        super().__init__(
            original.name,
            version=original.version,
            requires=original.requires,
            ensures=(*([_writes(writes)] if writes else []), *original.ensures),
            strict=original.strict,
            revalidate=original.revalidate,
            deadline=original.deadline,
            **output,
        )
        self._set("_original", original)
        self._set("_writes", tuple(writes))

    @property
    def digest(self) -> str:
        """The contract's own, so that a record names what the user wrote down."""
        original, writes = cast("Contract[Any]", self._original), self._writes
        return canon.digest([original.digest, list(writes)]) if writes else original.digest


def fitted(contract: Contract[Any], writes: Sequence[str] = ()) -> Contract[Any]:
    """The contract as a node's update meets it.

    Raises:
        DefinitionError: `writes` names a key that the output's type does not have.
    """
    if isinstance(cast("object", writes), str):
        raise DefinitionError(f"writes={writes!r}: give a list of keys, as [{writes!r}]")
    known = input_names(contract.output)
    unknown = [key for key in writes if known is not None and key not in known]
    if unknown:
        raise DefinitionError(
            f"contract {contract.name!r}: writes names {unknown[0]!r}, which the output does not "
            f"have; its keys are {', '.join(known or ())}"
        )
    if not writes and not is_record(contract.output):
        return contract
    return UpdateContract(contract, writes)


def _writes(keys: Sequence[str]) -> Clause:
    """The update holds these keys."""

    def test(value: Any, inputs: Mapping[str, Any]) -> Answer | bool:
        written: Any = cast("Any", value) if isinstance(value, Mapping) else {}
        missing = [key for key in keys if key not in written]
        return not missing or Answer(
            status="Violated",
            reason=f"{', '.join(missing)} is not written",
            evidence={"missing": missing},
        )

    def holds(value: Any) -> bool:
        return test(value, {}) is True

    return Clause(
        kind="writes",
        name=f"writes {', '.join(keys)}",
        params={"keys": tuple(keys)},
        expected=f"an update with {', '.join(keys)}",
        test=test,
        predicate=holds,
    )
