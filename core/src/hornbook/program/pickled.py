"""Primitives through pickle: by import path, or made again from what they were made of."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

from hornbook.contracts.contract import Contract
from hornbook.program.references import load_primitive, primitive_reference

if TYPE_CHECKING:
    from hornbook.program.primitives import Primitive

__all__ = ["reduced"]


def reduced(node: "Primitive[..., Any]") -> tuple[Any, ...]:
    """What pickle calls to make the primitive again."""
    definition = node.definition
    found = primitive_reference(node)
    if found is not None:
        return _imported, (found, node.name, dict(node.bindings))
    if definition.asking is None:
        made = _again, (definition.function, _packed(definition.settings))
    else:
        asking = definition.asking
        settings = {
            "prompt": asking.prompt,
            "input": asking.input,
            "output": definition.signature.output,
            "contract": definition.given,
            "recover": definition.recover,
            "version": definition.version,
            "sampling": asking.sampling,
            "stop": asking.stop,
            "timeout": definition.timeout,
            "requires_accuracy": definition.requires_accuracy,
        }
        made = _asked_again, (definition.name, asking.model, _packed(settings))
    return _rebound, (*made, node.name, dict(node.bindings))


def _packed(settings: Mapping[str, Any]) -> dict[str, Any]:
    contract = settings.get("contract")
    if not isinstance(contract, Contract):
        return dict(settings)
    return {**settings, "contract": cast("Contract[Any]", contract).to_json()}


def _unpacked(settings: Mapping[str, Any]) -> dict[str, Any]:
    contract = settings.get("contract")
    if not isinstance(contract, str):
        return dict(settings)
    return {**settings, "contract": Contract.from_json(contract)}


def _again(fn: Callable[..., Any], settings: Mapping[str, Any]) -> "Primitive[..., Any]":
    from hornbook.program.primitives import lifted, primitive

    given = _unpacked(settings)
    if given.pop("untyped", False):
        return cast("Primitive[..., Any]", lifted(fn, "pickle", untyped=True))
    return primitive(fn, **given)


def _asked_again(name: str, model: Any, settings: Mapping[str, Any]) -> "Primitive[..., Any]":
    from hornbook.program.neurals import neural

    return neural(name, model, **_unpacked(settings))


def _imported(path: str, name: str, bindings: Mapping[str, Any]) -> "Primitive[..., Any]":
    return _rebound(load_primitive, (path,), name, bindings)


def _rebound(
    make: Callable[..., Any], args: tuple[Any, ...], name: str, bindings: Mapping[str, Any]
) -> "Primitive[..., Any]":
    from hornbook.program.primitives import Primitive

    made: Primitive[..., Any] = make(*args)
    if bindings:
        made = made.bind(**bindings)
    return made if made.name == name else cast("Primitive[..., Any]", made.named(name))
