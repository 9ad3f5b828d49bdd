"""A program as plain data: what `to_json` writes."""

from collections.abc import Mapping
from enum import Enum
from typing import Any, cast

from hornbook import canon
from hornbook.contracts.contract import Contract
from hornbook.contracts.written_types import written_type
from hornbook.errors import DefinitionError
from hornbook.program.binding import Ref
from hornbook.program.definition import Definition
from hornbook.program.errors import ProgramError
from hornbook.program.identity import definition_digest
from hornbook.program.node import Program
from hornbook.program.operators import Conditional, Constant, Fallback, Holds, Iterate, Parallel
from hornbook.program.ordered import as_data
from hornbook.program.primitives import Primitive
from hornbook.program.references import primitive_reference, reference_or_refuse
from hornbook.step.recover import Recover

__all__ = ["written"]

Data = dict[str, Any]


def written(node: Program, place: str) -> Data:
    """A node as plain data.

    Raises:
        ProgramError: a part that importing does not give back; it is named.
    """
    data: Data = {"kind": type(node).__name__, "name": node.name}
    parts = {name: written(part, f"{place}{name}") for name, part in node.parts.items()}
    match node:
        case Primitive():
            return data | _primitive(cast("Primitive[..., Any]", node), place)
        case Constant():
            return data | {"value": _value(node.value, place)}
        case Holds():
            return data | {"contract": _contract(node.contract, place)}
        case Conditional():
            labels = [
                {"label": _value(label, place), "program": parts[node.suffix(label)]}
                for label, _ in node.branches
            ]
            other = parts.get(".otherwise")
            data |= {"test": parts[".test"], "branches": labels, "otherwise": other}
            return data | {"simple": node.simple}
        case Iterate():
            data |= {"body": parts["#1"], "until": parts.get("#1.until")}
            return data | {"at_most": node.at_most, "exhausted": node.exhausted}
        case Parallel():
            return data | {"branches": [[name, parts[f".{name}"]] for name in node.branches]}
        case Fallback():
            on = [reference_or_refuse(kind, place, "exception type") for kind in node.on]
            return data | {"parts": list(parts.values()), "on": on}
        case _:
            return data | {"parts": list(parts.values())}


def _primitive(node: Primitive[..., Any], place: str) -> Data:
    definition = node.definition
    data: Data = {
        "bound": {name: _bound(value, place) for name, value in node.bindings.items()},
        "digest": definition_digest(definition),
    }
    if definition.asking is not None:
        return data | {"neural": _neural(definition, place)}
    found = primitive_reference(node)
    if found is not None:
        return data | {"primitive": found}
    assert definition.function is not None
    function = reference_or_refuse(definition.function, place, f"primitive {node.name!r} is")
    return data | {"function": function, "settings": _settings(definition.settings, place)}


def _settings(given: Mapping[str, Any], place: str) -> Data:
    data = dict(given)
    if data.get("contract") is not None:
        data["contract"] = _contract(data["contract"], place)
    if data.get("recover") is not None:
        data["recover"] = _recover(data["recover"], place)
    return data


def _neural(definition: Definition, place: str) -> Data:
    asking = definition.asking
    assert asking is not None
    prompt: Data | str
    if isinstance(asking.prompt, str):
        prompt = asking.prompt
    else:
        prompt = {"function": reference_or_refuse(asking.prompt, place, "its prompt")}
    given = asking.input
    if isinstance(given, Mapping):
        named = cast("Mapping[str, Any]", given)
        asked: Data = {"ports": [[name, _type(tp, place)] for name, tp in named.items()]}
    else:
        asked = {"type": _type(given, place)}
    sampling = asking.sampling
    return {
        "name": definition.name,
        "model": asking.model.identity,
        "prompt": prompt,
        "input": asked,
        "output": _type(definition.signature.output, place),
        "contract": None if definition.given is None else _contract(definition.given, place),
        "recover": _recover(definition.recover, place),
        "version": definition.version,
        "sampling": {
            name: getattr(sampling, name) for name in ("temperature", "top_p", "max_tokens", "seed")
        },
        "stop": list(asking.stop),
        "timeout": definition.timeout,
        "requires_accuracy": definition.requires_accuracy,
    }


def _recover(recover: Recover, place: str) -> Data:
    modify, budget = recover.modify, recover.budget
    return {
        "retry": recover.retry,
        "then": recover.then,
        "on": [reference_or_refuse(kind, place, "exception type") for kind in recover.on],
        "modify": None if modify is None else reference_or_refuse(modify, place, "modify"),
        "fallback": [
            written(cast("Program", one), f"{place}.fallback[{at}]")
            if isinstance(one, Primitive)
            else {"function": reference_or_refuse(one, place, "its fallback")}
            for at, one in enumerate(recover.fallback)
        ],
        "budget": None
        if budget is None
        else {name: getattr(budget, name) for name in ("calls", "tokens", "seconds", "cost")},
    }


def _contract(contract: Contract[Any], place: str) -> Any:
    try:
        return canon.loads(contract.to_json())
    except DefinitionError as error:
        raise ProgramError(f"{place} cannot be written as JSON: {error}") from None


def _type(tp: Any, place: str) -> Any:
    try:
        return written_type(tp)
    except DefinitionError as error:
        told = str(error).replace("its output type", "the type")
        raise ProgramError(f"{place} cannot be written as JSON: {told}") from None


def _bound(value: Any, place: str) -> Data:
    if isinstance(value, Ref):
        return {"ref": value.name, "outer": value.outer}
    return _value(value, place)


def _value(value: Any, place: str) -> Data:
    if isinstance(value, Enum):
        kind = reference_or_refuse(type(value), place, "the Enum")
        return {"enum": kind, "member": value.name}
    encoded = canon.encode(value)
    read = canon.decode(encoded)
    if type(read) is not type(value) or read != value:
        raise ProgramError(f"{place} cannot be written as JSON: {value!r:.80} is no plain data")
    return as_data(value)
