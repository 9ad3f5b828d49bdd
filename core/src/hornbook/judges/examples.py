"""Labelled examples made ready for a clause: read as its contract's type, inputs all there."""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from pydantic import PydanticUserError, TypeAdapter, ValidationError

from hornbook.contracts.clause import Clause
from hornbook.contracts.contract import Contract
from hornbook.contracts.output_type import OutputType, TypeProblem
from hornbook.contracts.paths import parse
from hornbook.judges.errors import CalibrationError
from hornbook.judges.labelled import Labelled

__all__ = ["Prepared", "prepared"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """An example that can be checked."""

    value: Any
    inputs: Mapping[str, Any]
    label: bool
    where: str


def prepared(
    contract: Contract[Any], clause: Clause, examples: Iterable[Labelled]
) -> tuple[Prepared, ...]:
    """Read all values as the contract's output type, before any judge is asked.

    Raises:
        CalibrationError: a value does not fit, an input is missing, or a label never occurs.
    """
    reads = _Reader(contract, clause)
    names = sorted(_inputs_of(clause))
    ready = tuple(_prepare(example, at, clause, reads, names) for at, example in _told(examples))
    labels = {example.label for example in ready}
    for label in (True, False):
        if label not in labels:
            raise CalibrationError(
                f"{_file(ready)}no example has the label {str(label).lower()}: a calibration "
                f"needs good values and bad ones"
            )
    return ready


def _told(examples: Iterable[Labelled]) -> Iterator[tuple[str, Labelled]]:
    for at, example in enumerate(examples, start=1):
        yield example.where or f"example {at}", example


def _prepare(
    example: Labelled, where: str, clause: Clause, reads: "_Reader", names: Iterable[str]
) -> Prepared:
    for name in names:
        if name not in example.inputs:
            raise CalibrationError(
                f"{where}: inputs lack {name!r}, which clause {clause.name!r} reads"
            )
    try:
        value = reads(example.value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise _misfit(where, ".".join(map(str, first["loc"])), first["msg"]) from None
    for problem in reads.problems(value):
        raise _misfit(where, problem.path, f"expected {problem.expected}")
    return Prepared(value=value, inputs=example.inputs, label=example.label, where=where)


def _misfit(where: str, place: str, why: str) -> CalibrationError:
    at = f" at {place}" if place not in ("", ".") else ""
    return CalibrationError(f"{where}: value does not fit the contract's output{at}: {why}")


class _Reader:
    """Makes what a step returns out of what a file holds."""

    def __init__(self, contract: Contract[Any], clause: Clause) -> None:
        self._strict = contract.strict
        self._type: OutputType | None = None
        self._adapter: TypeAdapter[Any] | None = None
        if contract.output is None or clause.name in {one.name for one in contract.requires}:
            return
        self._type = OutputType(
            contract.output, strict=contract.strict, revalidate=contract.revalidate
        )
        # Of a class that pydantic does not know, no JSON can be read.
        with suppress(PydanticUserError, TypeError):
            self._adapter = TypeAdapter(contract.output)

    def __call__(self, value: Any) -> Any:
        if self._adapter is None or not _plain(value):  # made by a program, not read from a file
            return value
        return self._adapter.validate_json(json.dumps(value), strict=self._strict)

    def problems(self, value: Any) -> tuple[TypeProblem, ...]:
        """Where the value is not of the output's type: no clause would then be asked."""
        return () if self._type is None else self._type.problems(value)


def _plain(value: Any) -> bool:
    try:
        json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def _inputs_of(clause: Clause) -> set[str]:
    """The names of the inputs that a clause and its parts read."""
    names = {str(next(iter(parse(path).segments))) for path in clause.needs}
    return names.union(*(_inputs_of(part) for part in clause.parts))


def _file(ready: Iterable[Prepared]) -> str:
    """The file that the examples came from, for an error about all of them."""
    for example in ready:
        name, line, _ = example.where.rpartition(", line ")
        return f"{name}: " if line else ""
    return ""
