"""What tells one program from another, equal in every process."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any, cast

from hornbook import canon
from hornbook.contracts.predicates import source_digest
from hornbook.contracts.written_types import type_identity
from hornbook.program.binding import Ref
from hornbook.program.definition import Definition
from hornbook.program.node import Program
from hornbook.program.operators import Conditional, Constant, Fallback, Holds, Iterate
from hornbook.program.ordered import as_data
from hornbook.program.primitives import Primitive
from hornbook.step.recover import Recover

__all__ = ["definition_digest", "digest_of", "function_identity", "recover_identity"]

_PLAIN = (str, bytes, int, float, type(None))


def digest_of(program: Program) -> str:
    """`sha256:...` over all that a program says."""
    return canon.digest(_identity(program))


def definition_digest(definition: Definition) -> str:
    """`sha256:...` over all that a primitive says, wherever it stands and however it is bound."""
    return canon.digest(_definition(definition))


def _identity(node: Program) -> dict[str, Any]:
    found: dict[str, Any] = {"kind": type(node).__name__, "name": node.name}
    match node:
        case Primitive():
            made = cast("Primitive[..., Any]", node)
            bound = {name: _bound(value) for name, value in made.bindings.items()}
            return {**found, "definition": definition_digest(made.definition), "bound": bound}
        case Constant():
            return {**found, **as_data(node.value)}
        case Holds():
            return {**found, "contract": node.contract.digest}
        case Conditional():
            found |= {"labels": [canon.encode(label) for label, _ in node.branches]}
            found |= {"simple": node.simple}
        case Iterate():
            found |= {"at_most": node.at_most, "exhausted": node.exhausted}
        case Fallback():
            found |= {"on": [_type_name(kind) for kind in node.on]}
        case _:
            pass
    # In pairs: the order of branches tells one program from another.
    return {**found, "parts": [[name, _identity(part)] for name, part in node.parts.items()]}


def _definition(one: Definition) -> dict[str, Any]:
    found: dict[str, Any] = {
        "name": one.name,
        "version": one.version,
        "contract": one.contract.digest,
        "recover": recover_identity(one.recover),
        "pure": one.pure,
        "blocking": one.blocking,
        "timeout": one.timeout,
        "deterministic": one.deterministic,
        "requires_accuracy": one.requires_accuracy,
    }
    if one.function is not None:
        return {**found, "function": function_identity(one.function)}
    asking = one.asking
    assert asking is not None
    prompt = asking.prompt
    return {
        **found,
        "model": asking.model.identity,
        "prompt": prompt if isinstance(prompt, str) else function_identity(prompt),
        "input": [
            [each.name, type_identity(each.type), each.required]
            for each in one.signature.parameters
        ],
        "output": type_identity(one.signature.output),
        "sampling": asking.sampling,
        "stop": list(asking.stop),
    }


def recover_identity(recover: Recover) -> dict[str, Any]:
    """A recovery as plain data, its functions by what they do."""
    return {
        "retry": recover.retry,
        "then": recover.then,
        "on": [_type_name(kind) for kind in recover.on],
        "modify": None if recover.modify is None else function_identity(recover.modify),
        "fallback": [_fallback(one) for one in recover.fallback],
        "budget": recover.budget,
    }


def function_identity(fn: Callable[..., Any]) -> dict[str, Any]:
    """A function by its source, and by the plain values that it holds."""
    held: list[Any] = [*(getattr(fn, "__defaults__", None) or ())]
    held += (getattr(fn, "__kwdefaults__", None) or {}).values()
    for cell in getattr(fn, "__closure__", None) or ():
        with suppress(ValueError):  # a cell that is empty yet
            held.append(cell.cell_contents)
    return {"source": source_digest(fn), "holds": [_held(value) for value in held]}


def _fallback(one: Callable[..., Any]) -> Any:
    if isinstance(one, Primitive):
        return definition_digest(cast("Primitive[..., Any]", one).definition)
    return function_identity(one)


def _held(value: Any) -> Any:
    # Anything larger would make the digest costly, or change as the program runs.
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, Program) or not callable(value):
        return type(value).__qualname__
    return {"source": source_digest(value)}


def _bound(value: Any) -> Any:
    if isinstance(value, Ref):
        return {"ref": value.name, "outer": value.outer}
    return as_data(value)


def _type_name(kind: type[Any]) -> str:
    return f"{kind.__module__}:{kind.__qualname__}"
