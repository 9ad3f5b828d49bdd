"""Clauses held against what they stand on: the output's type, and a step's parameters."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import Any, cast

from hornbook.contracts.clause import Clause
from hornbook.contracts.paths import check_path, leaf_type, parse
from hornbook.errors import DefinitionError

__all__ = ["clauses_of", "on_type", "refuse_equal_names", "refuse_unknown_inputs"]

_OF_THE_WHOLE = ("that", "bound", "implies")
"""Kinds that have no path: their `.` is never an absent part, be it None."""


def clauses_of(contract: str, where: str, given: object) -> tuple[Clause, ...]:
    """The clauses of `requires` or `ensures`.

    Raises:
        DefinitionError: something else stands there.
    """
    listed = cast("Iterable[object]", given) if isinstance(given, Iterable) else (given,)
    if isinstance(given, Clause | str):
        raise DefinitionError(f"contract {contract!r}: {where} is a list of clauses, not {given!r}")
    clauses: list[Clause] = []
    for clause in listed:
        if not isinstance(clause, Clause):
            raise DefinitionError(
                f"contract {contract!r}: {where} holds {clause!r}, which is no clause; "
                f"make one with hornbook.clauses"
            )
        clauses.append(clause)
    return tuple(clauses)


def refuse_equal_names(contract: str, clauses: Iterable[Clause], *, typed: bool) -> None:
    """Check that reports can tell the clauses apart; `output` is the type's own clause.

    Raises:
        DefinitionError: two have one name.
    """
    seen = {"output"} if typed else set[str]()
    for clause in clauses:
        if clause.name in seen:
            raise DefinitionError(
                f"contract {contract!r} has two clauses named {clause.name!r}; "
                f"give one of them another name="
            )
        seen.add(clause.name)


def on_type(contract: str, clause: Clause, tp: Any) -> Clause:
    """The clause with what the type `tp` declares optional marked so, in its parts too.

    Raises:
        DefinitionError: no value of the type has what a path of it leads to.
    """
    try:
        return _on_type(clause, tp)
    except DefinitionError as error:
        raise DefinitionError(f"contract {contract!r}, clause {clause.name!r}: {error}") from None


def refuse_unknown_inputs(
    contract: str,
    requires: Iterable[Clause],
    ensures: Iterable[Clause],
    parameters: Collection[str],
    step: str,
) -> None:
    """Check the inputs that clauses name against a step's parameters.

    Raises:
        DefinitionError: a clause names an input that the step does not take.
    """
    named = [(clause, path) for clause in requires for path in _inputs_of_precondition(clause)]
    named += [(clause, path) for clause in ensures for path in clause.needs]
    for clause, path in named:
        root = str(next(iter(parse(path).segments), "."))
        if root not in parameters:
            known = ", ".join(parameters) or "none"
            raise DefinitionError(
                f"contract {contract!r}, clause {clause.name!r}: {root!r} is no parameter "
                f"of {step!r}; its parameters are {known}"
            )


def _on_type(clause: Clause, tp: Any) -> Clause:
    kind = check_path(clause.path, tp)
    below = leaf_type(clause.path, tp) if clause.parts else None
    parts = tuple(_on_type(part, below) for part in clause.parts)
    optional = kind == "optional" and clause.kind not in _OF_THE_WHOLE
    if not optional and not parts:
        return clause
    return replace(clause, optional=clause.optional or optional, parts=parts)


def _inputs_of_precondition(clause: Clause) -> Iterator[str]:
    """In `requires` a path starts at an input's name, as those of `needs` do anywhere."""
    yield from clause.needs
    if clause.kind == "implies":
        for part in clause.parts:
            yield from _inputs_of_precondition(part)
    elif clause.path != ".":
        yield clause.path
