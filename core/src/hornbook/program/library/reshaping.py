"""`restructure`: a value in another shape, by moves that are declared and checked.

Symbolic (Forethought 3.1, "structural transformations"): rename, pick, nest, fill in, flatten.
`restructure` takes its moves as data; `restructuring` makes a typed primitive of fixed moves,
whose paths and types are checked before anything runs.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar, overload

from hornbook.contracts.clauses import that
from hornbook.contracts.contract import Contract
from hornbook.contracts.fields import field_types
from hornbook.contracts.members import class_of, type_name
from hornbook.contracts.output_type import OutputType
from hornbook.contracts.paths import check_path, leaf_type, parse
from hornbook.errors import DefinitionError
from hornbook.program.library.moves import NO_DEFAULT, Move, moved, put_places
from hornbook.program.primitives import Primitive, primitive
from hornbook.program.types import mismatch

__all__ = ["RESTRUCTURED", "restructure", "restructuring"]

T = TypeVar("T")


def _fits(made: Any, inputs: Mapping[str, Any]) -> bool:
    output = inputs.get("output")
    return output is None or not OutputType(output).problems(made)


def _as_declared(made: Any, inputs: Mapping[str, Any]) -> bool:
    right = _restructured(inputs["value"], inputs["moves"], inputs.get("output"))
    return type(made) is type(right) and made == right


RESTRUCTURED: Contract[Any] = Contract(
    "restructure",
    ensures=[
        that("the result is of the output type", _fits),
        that("the result is what the moves make", _as_declared),
    ],
)
"""What `restructure` promises of its result."""


@primitive(contract=RESTRUCTURED)
def restructure(value: Any, moves: tuple[Move, ...], output: Any = None) -> Any:
    """Give a value another shape.

    Args:
        value: mappings, sequences, models, dataclasses.
        moves: what to take from where, and where to put it.
        output: the type of the result; left out, the result is made of dicts and lists. A
            result that is not of the type violates the contract.

    Raises:
        RestructureError: nothing stands where a move takes something.
        DefinitionError: a move that cannot work.
    """
    return _restructured(value, moves, output)


def _restructured(value: Any, moves: Sequence[Move], output: Any) -> Any:
    made = moved(value, moves)
    return made if output is None else _read_as(made, output)


def _read_as(made: Any, output: Any) -> Any:
    """The made value as one of the type; as it is where it is none, for the contract to refuse."""
    if not OutputType(output).problems(made):
        return made
    from pydantic import TypeAdapter, ValidationError
    from pydantic_core import PydanticSerializationError, to_json

    from hornbook.contracts.typed_dicts import modernised

    try:
        # By way of JSON: strict, and yet a mapping can become a model or a dataclass.
        adapter: TypeAdapter[Any] = TypeAdapter(modernised(output))
        return adapter.validate_json(to_json(made), strict=True)
    except (PydanticSerializationError, ValidationError):
        return made


@overload
def restructuring(
    *moves: Move, input: Any = ..., output: type[T], name: str = ...
) -> Primitive[..., T]: ...
@overload
def restructuring(
    *moves: Move, input: Any = ..., output: Any = ..., name: str = ...
) -> Primitive[..., Any]: ...
def restructuring(
    *moves: Move,
    input: Any = Any,  # noqa: A002 - it is what the argument is
    output: Any = Any,
    name: str = "restructure",
) -> Primitive[..., Any]:
    """Make a typed primitive of fixed moves, checked now.

    Args:
        *moves: what to take from where, and where to put it.
        input: the type of what comes; every path that is taken must be in it.
        output: the type of what is made; every path that is put must be in it, with a type
            that fits, and every field of it that is required must be put.
        name: what records call it.

    Raises:
        DefinitionError: all that does not fit, each with its move.
    """
    faults = [*_type_faults(moves, input, output), *_unput(put_places(moves), output)]
    if faults:
        raise DefinitionError(f"{name}: {'; '.join(faults)}")
    wanted = None if output is Any else output

    def given(made: Any, inputs: Mapping[str, Any]) -> bool:
        right = _restructured(inputs["value"], moves, wanted)
        return type(made) is type(right) and made == right

    def restructured(value: Any) -> Any:
        return _restructured(value, moves, wanted)

    restructured.__annotations__ = {"value": input, "return": output}
    ensures = [that("the result is what the moves make", given)]
    contract: Contract[Any] = Contract(name, output=output, ensures=ensures)
    return primitive(restructured, name=name, contract=contract)


def _type_faults(moves: Sequence[Move], source: Any, target: Any) -> list[str]:
    faults: list[str] = []
    for move in moves:
        try:
            fault = _move_fault(move, source, target)
        except DefinitionError as error:
            fault = str(error)
        if fault:
            faults.append(f"Move(to={move.to!r}): {fault}")
    return faults


def _move_fault(move: Move, source: Any, target: Any) -> str | None:
    check_path(move.to, target)
    wanted = leaf_type(move.to, target)
    if move.take is None:
        return None
    place = check_path(move.take, source)
    if place == "optional" and move.default is NO_DEFAULT and not move.optional:
        return (
            f"{move.take} may be missing in {type_name(source)}: give it a default=, or say "
            f"optional=True"
        )
    if move.each or move.flatten:
        return None
    taken = leaf_type(move.take, source)
    if not parse(move.take).single:
        taken = list[taken]
    return mismatch(taken, wanted)


def _unput(places: Mapping[tuple[str, ...], Move], target: Any) -> list[str]:
    """The required fields of a record type that no move puts."""
    if () in places or class_of(target) is None:
        return []
    put = {names[0] for names in places}
    return [
        f"no move puts {name!r}, which {type_name(target)} requires"
        for name, field in _fields(target).items()
        if name not in put and not field
    ]


def _fields(target: Any) -> Mapping[str, bool]:
    """The fields of a record type, and whether each may be left out."""
    import dataclasses

    from pydantic import BaseModel

    kind: Any = class_of(target)
    if issubclass(kind, BaseModel):
        return {name: not info.is_required() for name, info in kind.model_fields.items()}
    if dataclasses.is_dataclass(kind):
        missing = dataclasses.MISSING
        return {
            one.name: one.default is not missing or one.default_factory is not missing
            for one in dataclasses.fields(kind)
        }
    try:
        return {name: one.optional for name, one in field_types(target).items()}
    except DefinitionError:
        return {}
