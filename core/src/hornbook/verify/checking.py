"""What a program says of itself, without running: the static part of verification."""

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Protocol, cast

from hornbook.contracts.judge import Rate
from hornbook.contracts.members import type_name
from hornbook.contracts.portable import obstacle
from hornbook.contracts.predicates import reference
from hornbook.program import (
    Conditional,
    Constant,
    Fallback,
    Iterate,
    Parallel,
    Placed,
    Primitive,
    Program,
)
from hornbook.program.operators import Holds, Passing
from hornbook.program.references import primitive_reference
from hornbook.verify.values import Code, Finding, Level

if TYPE_CHECKING:
    from hornbook.contracts.contract import Contract

__all__ = ["Evaluated", "findings_of", "primitive_at"]


class Evaluated(Protocol):
    """How often a primitive was measured to be right."""

    @property
    def exact(self) -> Rate:
        """The share of outputs that were exactly right."""
        ...


def findings_of(program: Program, evaluations: Mapping[str, Evaluated]) -> Iterator[Finding]:
    """All that can be said of a program as it is written.

    Args:
        program: the program.
        evaluations: by the name of a primitive, how often it was measured to be right.
    """
    placed = list(program.walk())
    yield _types(program)
    yield from _bounds(program, placed)
    parallels = [one.place for one in placed if isinstance(one.node, Parallel)]
    checked = {one.place for one in placed if _has_clauses(primitive_at(one))}
    for one in placed:
        yield from _of_node(one)
        primitive = primitive_at(one)
        if primitive is not None:
            yield from _of_primitive(one.place, primitive, parallels, checked)
            yield from _accuracy(one.place, primitive, evaluations)


def primitive_at(placed: Placed) -> Primitive[..., Any] | None:
    """The primitive at a place; None where another node stands."""
    node = placed.node
    return cast("Primitive[..., Any]", node) if isinstance(node, Primitive) else None


def _finding(level: Level, code: Code, place: str, message: str) -> Finding:
    return Finding(level=level, code=code, place=place, message=message)


def _types(program: Program) -> Finding:
    takes, gives = type_name(program.input), type_name(program.output)
    message = f"types fit at every seam, by construction: it takes {takes} and gives {gives}"
    return _finding("info", "types", program.name, message)


def _bounds(program: Program, placed: list[Placed]) -> Iterator[Finding]:
    iterates = [one.node for one in placed if isinstance(one.node, Iterate)]
    rounds = max((one.at_most for one in iterates), default=0)
    how = f"its loops run at most {rounds} rounds" if rounds else "it has no loop"
    yield _finding("info", "bounds", program.name, f"every run ends, by construction: {how}")
    calls = program.max_calls()
    if math.isinf(calls.total):
        yield _finding(
            "warning",
            "calls",
            program.name,
            "its calls are not bounded: a host's model does not say how often it tries; wrap it "
            "with max_attempts",
        )


def _of_node(one: Placed) -> Iterator[Finding]:
    match one.node:
        case Conditional():
            yield from _conditional(one.place, one.node)
        case Fallback():
            yield from _fallback(one.place, one.node)
        case Holds():
            yield from _portable(one.place, one.node.contract)
        case _:
            pass


def _conditional(place: str, node: Conditional) -> Iterator[Finding]:
    never = list(node.unreachable())
    if isinstance(node.test, Constant):
        taken = node.branch(node.test.value)
        never += [
            suffix
            for suffix, part in node.parts.items()
            if part is not taken and suffix != ".test" and not isinstance(part, Passing)
        ]
    for suffix in dict.fromkeys(never):
        message = "no value of the test leads to this branch: remove it, or widen the test"
        yield _finding("warning", "unreachable", f"{place}{suffix}", message)
    if node.missing_labels:
        labels = ", ".join(map(repr, node.missing_labels))
        message = (
            f"the test can give {labels}, and no branch is for that: the run would end with "
            f"BranchError; add the branch, or otherwise="
        )
        yield _finding("error", "non-exhaustive", place, message)


def _fallback(place: str, node: Fallback) -> Iterator[Finding]:
    sure = [at for at, part in enumerate(node.alternatives) if isinstance(part, Constant | Passing)]
    if not sure:
        return
    for at in range(sure[0] + 1, len(node.alternatives)):
        message = f"alternative {sure[0]} cannot fail, so that this one is never tried: remove it"
        yield _finding("warning", "unreachable", f"{place}[{at}]", message)


def _has_clauses(primitive: Primitive[..., Any] | None) -> bool:
    """Whether somebody wrote down what must hold of its output."""
    given = None if primitive is None else primitive.given_contract
    return given is not None and bool(given.ensures)


def _of_primitive(
    place: str, primitive: Primitive[..., Any], parallels: list[str], checked: set[str]
) -> Iterator[Finding]:
    given = primitive.given_contract
    # What a fallback gives must meet the contract of the step that it stands in for.
    instead_of = place.rpartition(".fallback[")[0]
    if primitive.neural and not {place, instead_of} & checked:
        message = (
            f"nothing is checked of what the model of {primitive.name!r} gives but its type: give "
            f"it a contract= with clauses on the output"
        )
        yield _finding("warning", "unchecked-output", place, message)
    around = [one for one in parallels if _inside(place, one)]
    if not primitive.pure and around:
        message = (
            f"{primitive.name!r} has effects and runs beside others in {around[-1]}: their order "
            f"is not fixed; move it out of the Parallel"
        )
        yield _finding("warning", "effects-in-parallel", place, message)
    if given is not None:
        yield from _portable(place, given)
    yield from _predicate(place, primitive)


def _inside(place: str, parallel: str) -> bool:
    return place.startswith((f"{parallel}.", f"{parallel}["))


def _predicate(place: str, primitive: Primitive[..., Any]) -> Iterator[Finding]:
    """The test of a Conditional or Iterate that is a function which importing does not give."""
    function = primitive.definition.function
    if function is None or not place.endswith((".test", ".until")):
        return
    if primitive_reference(primitive) is None and reference(function) is None:
        message = (
            f"not portable: the test {primitive.name!r} cannot be imported; define the function "
            f"at the top of a module"
        )
        yield _finding("info", "not-portable", place, message)


def _portable(place: str, given: "Contract[Any]") -> Iterator[Finding]:
    found = obstacle(given)
    if found is not None:
        yield _finding("info", "not-portable", place, f"not portable: {found}")


def stale(primitive: Primitive[..., Any], evaluation: Evaluated) -> str:
    """What was measured, where that is not what runs; empty where it is, or is not told."""
    version = getattr(evaluation, "version", None)
    if version is not None and version != primitive.version:
        return f"what was measured is version {version}, not {primitive.version}"
    model = getattr(evaluation, "model", None)
    runs = getattr(primitive.model, "identity", None)
    if model is not None and model != runs:
        return f"what was measured is the model {model!r}, not {runs!r}"
    return ""


def _accuracy(
    place: str, primitive: Primitive[..., Any], evaluations: Mapping[str, Evaluated]
) -> Iterator[Finding]:
    required = primitive.requires_accuracy
    if required is None:
        return
    evaluation = evaluations.get(primitive.name)
    if evaluation is None:
        message = (
            f"{primitive.name!r} requires an accuracy of {required:g}, and it was not measured: "
            f"give evaluations={{{primitive.name!r}: evaluate_primitive(...)}}"
        )
        yield _finding("error", "accuracy", place, message)
    elif stale(primitive, evaluation):
        message = (
            f"{primitive.name!r} requires an accuracy of {required:g}, and "
            f"{stale(primitive, evaluation)}: measure it again"
        )
        yield _finding("error", "accuracy", place, message)
    elif evaluation.exact.low < required:
        message = (
            f"{primitive.name!r} requires an accuracy of {required:g}, and was measured at "
            f"{evaluation.exact}: the lower bound does not reach it"
        )
        yield _finding("error", "accuracy", place, message)
