"""A contract made fit for a module: its output is a prediction, seen as a dict of its fields."""

from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import Annotated, Any, NotRequired, cast

from pydantic import BaseModel
from typing_extensions import TypedDict, get_type_hints, is_typeddict

from hornbook.contracts.contract import Contract

__all__ = ["fitted"]


class FieldsContract(Contract[Any]):
    """The clauses of a contract, with its output's type read as that of fields by name."""

    __slots__ = ("_original",)

    def __init__(self, original: Contract[Any], output: Any) -> None:
        super().__init__(
            original.name,
            version=original.version,
            output=output,
            requires=original.requires,
            ensures=original.ensures,
            strict=original.strict,
            revalidate=original.revalidate,
            deadline=original.deadline,
        )
        self._set("_original", original)

    @property
    def digest(self) -> str:
        """The contract's own, so that a record names what the user wrote down."""
        return cast("Contract[Any]", self._original).digest


def fitted(contract: Contract[Any]) -> Contract[Any]:
    """The contract as a module's prediction meets it.

    An `output=` with named fields (a TypedDict, a model, a dataclass) is checked field by
    field: a prediction is an instance of none of them, and may have more fields.
    """
    output = contract.output
    if is_typeddict(output):
        hints = get_type_hints(output, include_extras=True)
        return _of_fields(contract, {name: (hints[name], _wanted(output, name)) for name in hints})
    if isinstance(output, type) and issubclass(output, BaseModel):
        return _of_fields(contract, _model_fields(output))
    if isinstance(output, type) and is_dataclass(output):
        hints = get_type_hints(output, include_extras=True)
        wanted = {
            one.name: one.default is MISSING and one.default_factory is MISSING
            for one in fields(output)
        }
        return _of_fields(contract, {name: (hints[name], wanted[name]) for name in wanted})
    return contract


def _of_fields(contract: Contract[Any], declared: Mapping[str, tuple[Any, bool]]) -> FieldsContract:
    keys = {
        name: hint if wanted else NotRequired[hint] for name, (hint, wanted) in declared.items()
    }
    name = getattr(contract.output, "__name__", "Fields")
    make: Any = TypedDict
    return FieldsContract(contract, make(name, keys))


def _wanted(output: Any, name: str) -> bool:
    # A qualifier in the hint itself stays there and says the same.
    return name in output.__required_keys__


def _model_fields(model: type[BaseModel]) -> Mapping[str, tuple[Any, bool]]:
    return {
        name: (
            Annotated[info.annotation, *info.metadata] if info.metadata else info.annotation,
            info.is_required(),
        )
        for name, info in model.model_fields.items()
    }
