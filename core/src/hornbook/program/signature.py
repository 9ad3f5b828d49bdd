"""What a primitive asks and gives, read from its function's annotations."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, get_args, get_origin

from typing_extensions import get_type_hints

from hornbook.contracts.members import substituted
from hornbook.errors import DefinitionError, told
from hornbook.program.ports import near
from hornbook.program.types import Solved
from hornbook.step.colour import is_asyncgen, is_generator, qualified

__all__ = ["Parameter", "Signature", "read_signature"]

_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One input of a primitive."""

    name: str
    type: Any
    required: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """A primitive's inputs by name, and its output."""

    step: str
    parameters: tuple[Parameter, ...]
    output: Any
    record: Any = None
    """The record type whose fields the parameters are, of a neural primitive that has one."""

    def parameter(self, name: str) -> Parameter:
        """The parameter of that name.

        Raises:
            DefinitionError: there is none; the message names those there are.
        """
        for one in self.parameters:
            if one.name == name:
                return one
        known = [one.name for one in self.parameters]
        found = near(name, known)
        hint = f"; the nearest is {found!r}" if found else ""
        raise DefinitionError(
            f"{self.step!r} has no parameter {name!r}; its parameters: "
            f"{', '.join(known) or 'none'}{hint}"
        )

    def output_for(self, solved: Solved) -> Any:
        """The output's type, with type variables as the inputs solve them."""
        return _filled(self.output, solved)


def read_signature(fn: Callable[..., Any], step: str, *, untyped: bool = False) -> Signature:
    """Read a function's annotations; with `untyped`, what is not annotated is Any.

    Raises:
        DefinitionError: an annotation is missing or cannot be resolved, or the function is
            of a kind that no primitive can be.
    """
    _refuse_kind(fn, step)
    parameters = list(inspect.signature(fn).parameters.values())
    hints = _hints(fn, step)
    missing = [one.name for one in parameters if one.name not in hints]
    if "return" not in hints:
        missing.append("return")
    if missing and not untyped:
        raise DefinitionError(
            f"primitive {step!r} has no annotation for {', '.join(map(repr, missing))}: its types "
            f"are checked when it is composed, so annotate all parameters and the result"
        )
    return Signature(
        step=step,
        parameters=tuple(
            Parameter(
                name=one.name,
                type=hints.get(one.name, Any),
                required=one.default is inspect.Parameter.empty,
            )
            for one in parameters
        ),
        output=hints.get("return", Any),
    )


def _refuse_kind(fn: Callable[..., Any], step: str) -> None:
    if isinstance(fn, type) or not callable(fn):
        raise DefinitionError(f"primitive({fn!r}): a function is asked")
    if inspect.ismethod(fn) or _takes_self(fn):
        raise DefinitionError(
            f"primitive {step!r} is a method: a primitive is pure, so write a function and pass "
            f"what it needs of the object as arguments"
        )
    if is_generator(fn) or is_asyncgen(fn):
        raise DefinitionError(f"primitive {step!r} is a generator: let it return a list")
    try:
        parameters = inspect.signature(fn).parameters.values()
    except (TypeError, ValueError):
        raise DefinitionError(
            f"primitive {step!r} does not tell its parameters: wrap it in a function that does"
        ) from None
    for one in parameters:
        if one.kind not in _BY_NAME:
            raise DefinitionError(
                f"primitive {step!r} has the parameter {str(one)!r}: the inputs of a primitive are "
                f"given by name, so name each of them"
            )


def _takes_self(fn: Callable[..., Any]) -> bool:
    scope = qualified(fn).rpartition(".")[0]
    if not scope:
        return False
    try:
        first = next(iter(inspect.signature(fn).parameters), "")
    except (TypeError, ValueError):
        return False
    return first in ("self", "cls")


def _hints(fn: Callable[..., Any], step: str) -> dict[str, Any]:
    target: Any = fn.func if isinstance(fn, partial) else fn
    if not inspect.isroutine(target) and not hasattr(target, "__annotations__"):
        target = type(target).__call__
    try:
        return get_type_hints(inspect.unwrap(target), include_extras=True)
    # Resolving runs the text of annotations, which may raise anything.
    except Exception as error:  # noqa: BLE001
        raise DefinitionError(
            f"primitive {step!r} has an annotation that cannot be resolved: {told(error)}"
        ) from None


def _filled(tp: Any, solved: Solved) -> Any:
    """`tp` with its type variables replaced; one that nothing solves is Any."""
    variables = getattr(tp, "__parameters__", ())
    if type(tp).__name__ == "TypeVar":
        return solved.get(tp, Any)
    if not variables or (isinstance(tp, type) and get_origin(tp) is None):
        return tp
    assert get_args(tp)
    return substituted(tp, {one: solved.get(one, Any) for one in variables})
