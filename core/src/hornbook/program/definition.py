"""What a primitive says of itself, apart from where it stands in a program."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from hornbook.contracts.contract import Contract
from hornbook.errors import DefinitionError
from hornbook.program.finite import finite_clause
from hornbook.program.ports import type_name
from hornbook.program.signature import Signature
from hornbook.program.types import mismatch
from hornbook.step.binding import Parameters
from hornbook.step.colour import is_asyncgen, is_coroutine, is_generator, qualified
from hornbook.step.recover import Recover

if TYPE_CHECKING:
    from hornbook.contracts.clause import Clause
    from hornbook.program.asking import Asking

__all__ = ["Definition", "enforced", "refuse_settings"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Definition:
    """A primitive before it is bound: shared by all the places where it stands."""

    name: str
    version: str
    signature: Signature
    parameters: Parameters
    contract: Contract[Any]
    """What its output is held to."""
    given: Contract[Any] | None
    """The contract that the user wrote, if one was."""
    recover: Recover
    function: Callable[..., Any] | None = None
    asking: "Asking | None" = None
    """How a neural primitive asks its model."""
    pure: bool = True
    blocking: bool = False
    timeout: float | None = None
    deterministic: bool = False
    requires_accuracy: float | None = None
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What was given besides the function, as it was given."""


def enforced(
    given: Contract[Any] | None,
    *,
    step: str,
    version: str,
    output: Any,
    names: tuple[str, ...],
    before: "tuple[Clause, ...]" = (),
) -> Contract[Any]:
    """The contract that a primitive is held to: the given one, with the output's type.

    Without one it is derived: the type, and that numbers are finite.

    Raises:
        DefinitionError: the contract does not fit the primitive.
    """
    for what, text in (("name", step), ("version", version)):
        if not isinstance(cast("object", text), str) or not text.strip():
            raise DefinitionError(f"primitive {step!r}: its {what} is a text that is not empty")
    if given is None:
        # A value of these types is no NaN and holds none.
        finite = [] if any(output is one for one in (int, str, bool)) else [finite_clause]
        return Contract[Any](step, version=version, output=output, ensures=[*before, *finite])
    if not isinstance(cast("object", given), Contract):
        raise DefinitionError(f"primitive {step!r}: contract={given!r} is no Contract")
    given.refuse_unknown_inputs(names, step)
    if given.output is not None:
        why = mismatch(given.output, output)
        if why is not None:
            raise DefinitionError(
                f"primitive {step!r} gives {type_name(output)}, and its contract "
                f"{given.name!r} is about {type_name(given.output)}: {why}"
            )
        if not before:
            return given
    return Contract[Any](
        given.name,
        version=given.version,
        output=output if given.output is None else given.output,
        requires=given.requires,
        ensures=[*before, *given.ensures],
        strict=given.strict,
        revalidate=given.revalidate,
        deadline=given.deadline,
    )


def refuse_settings(definition: Definition) -> None:
    """Refuse settings that cannot work together.

    Raises:
        DefinitionError: which, and what to do.
    """
    step, recover = definition.name, definition.recover
    if not isinstance(cast("object", recover), Recover):
        raise DefinitionError(f"primitive {step!r}: recover={recover!r} is no Recover")
    if definition.deterministic and recover.retry and recover.modify is None:
        raise DefinitionError(
            f"primitive {step!r} is declared deterministic, so that a retry gives the same again: "
            f"give Recover(modify=...), or no retry"
        )
    _refuse_number(step, "timeout", definition.timeout, None)
    _refuse_number(step, "requires_accuracy", definition.requires_accuracy, 1.0)
    for fallback in recover.fallback:
        _refuse_fallback(definition, fallback)


def _refuse_number(step: str, what: str, value: object, most: float | None) -> None:
    if value is None:
        return
    number = value if isinstance(value, int | float) and not isinstance(value, bool) else 0
    if not number > 0 or (most is not None and number > most):
        upto = "" if most is None else f" and at most {most:g}"
        raise DefinitionError(f"primitive {step!r}: {what}={value!r} is no number above 0{upto}")


def _refuse_fallback(definition: Definition, fallback: Callable[..., Any]) -> None:
    from hornbook.program.primitives import Primitive

    step, named = definition.name, qualified(fallback)
    if isinstance(fallback, Primitive):
        made = cast("Primitive[..., Any]", fallback)
        named = made.name
        if made.bindings:
            raise DefinitionError(
                f"primitive {step!r}: its fallback {named!r} has bound parameters; a fallback is "
                f"called with the step's own inputs"
            )
    elif is_generator(fallback) or is_asyncgen(fallback):
        raise DefinitionError(f"primitive {step!r}: its fallback {named!r} is a generator")
    elif is_coroutine(fallback) and not _may_await(definition):
        raise DefinitionError(
            f"primitive {step!r} is sync and its fallback {named!r} is async: make the primitive "
            f"async, or the fallback sync"
        )
    _refuse_other_call(definition, cast("Callable[..., Any]", fallback), named)


def _may_await(definition: Definition) -> bool:
    return definition.function is None or is_coroutine(definition.function)


def _refuse_other_call(definition: Definition, fallback: Callable[..., Any], named: str) -> None:
    theirs = Parameters(fallback)
    own = definition.parameters
    if set(own.names) - set(theirs.names) or not theirs.same_call_as(own):
        raise DefinitionError(
            f"primitive {definition.name!r} takes {own} and its fallback {named!r} takes "
            f"{theirs}: a fallback is called with the same arguments"
        )
