"""Contracts as data: their digest, and JSON for those whose functions can be imported."""

from collections.abc import Mapping, Set
from importlib import import_module
from inspect import signature
from typing import TYPE_CHECKING, Any, cast

from hornbook import canon
from hornbook.contracts.clause import Clause
from hornbook.contracts.judge import Judge
from hornbook.contracts.kinds import find
from hornbook.contracts.predicates import load, reference, source_digest
from hornbook.errors import DefinitionError

if TYPE_CHECKING:
    from hornbook.contracts.contract import Contract

__all__ = ["digest_of", "from_json", "obstacle", "to_json"]

_FORMAT = "hornbook-contract"
_VERSION = 1


def digest_of(contract: "Contract[Any]") -> str:
    """`sha256:...` over all that a contract says, its functions by what they do."""
    return canon.digest(
        {
            "name": contract.name,
            "version": contract.version,
            "output": _type_identity(contract),
            "strict": contract.strict,
            "revalidate": contract.revalidate,
            "requires": [_identity(clause) for clause in contract.requires],
            "ensures": [_identity(clause) for clause in contract.ensures],
        }
    )


def obstacle(clause: Clause) -> str | None:
    """What keeps a clause from being written as JSON; None when nothing does."""
    for value in clause.params.values():
        found = _value_obstacle(value)
        if found is not None:
            return found
    return None


def to_json(contract: "Contract[Any]") -> str:
    """A contract as canonical JSON text.

    Raises:
        DefinitionError: a clause cannot be written; it is named.
    """
    for clause in contract.requires + contract.ensures:
        found = obstacle(clause)
        if found is not None:
            raise DefinitionError(
                f"contract {contract.name!r}, clause {clause.name!r} cannot be written as JSON: "
                f"{found}"
            )
    data = {
        "format": _FORMAT,
        "version": _VERSION,
        "contract": {
            "name": contract.name,
            "version": contract.version,
            "output": _written_type(contract),
            "strict": contract.strict,
            "revalidate": contract.revalidate,
            "deadline": contract.deadline,
            "requires": [_written(clause) for clause in contract.requires],
            "ensures": [_written(clause) for clause in contract.ensures],
        },
        "digest": contract.digest,
    }
    return canon.dumps(data).decode()


def from_json(text: str) -> "Contract[Any]":
    """The contract that `to_json` wrote.

    Raises:
        DefinitionError: the text is of another format or a newer version, a function or
            type that it names is missing, or one has changed since.
    """
    from hornbook.contracts.contract import Contract

    data = _parsed(text)
    fields = dict(cast("Mapping[str, Any]", data["contract"]))
    output = fields.pop("output")
    if output is not None:
        fields["output"] = _import(str(output))
    for where in ("requires", "ensures"):
        fields[where] = [_read(clause) for clause in fields[where]]
    contract = Contract[Any](**fields)
    if contract.digest != data["digest"]:
        raise DefinitionError(
            f"contract {contract.name!r} was written when its functions or types were others: "
            f"its digest was {data['digest']} and is {contract.digest} now"
        )
    return contract


def _parsed(text: str) -> Mapping[str, Any]:
    try:
        data: object = canon.loads(text)
    except canon.CanonError as error:
        raise DefinitionError(f"this is no contract in JSON: {error}") from None
    known = cast("Mapping[str, Any]", data) if isinstance(data, Mapping) else {}
    if known.get("format") != _FORMAT:
        raise DefinitionError(f"this is no contract in JSON: it has no format {_FORMAT!r}")
    if known.get("version") != _VERSION:
        raise DefinitionError(
            f"this contract was written in version {known.get('version')!r} of its format, and "
            f"version {_VERSION} is read here: upgrade hornbook"
        )
    return known


def _identity(clause: Clause) -> Mapping[str, Any]:
    return {**_common(clause), "params": {k: _told(v) for k, v in clause.params.items()}}


def _common(clause: Clause) -> dict[str, Any]:
    return {
        "kind": clause.kind,
        "name": clause.name,
        "version": clause.version,
        "path": clause.path,
        "on_undetermined": clause.on_undetermined,
        "optional": clause.optional,
    }


def _told(value: Any) -> Any:
    """A parameter as far as it tells one contract from another."""
    match value:
        case Clause():
            return _identity(value)
        case Judge():
            kind = type(value)
            version = str(getattr(value, "version", ""))
            return {"judge": f"{kind.__module__}:{kind.__qualname__}", "version": version}
        case _ if callable(value):
            return {"function": source_digest(value)}
        case _ if isinstance(value, Set):
            return sorted((repr(item) for item in cast("Set[Any]", value)))
        case _:
            return value


def _value_obstacle(value: Any) -> str | None:
    match value:
        case Clause():
            return obstacle(value)
        case Judge():
            return "it asks a judge, which is an object of this process"
        case _ if callable(value):
            if reference(value) is None:
                name = getattr(value, "__qualname__", repr(value))
                return f"{name} cannot be imported; define the function at the top of a module"
            return None
        case _:
            same = canon.decode(canon.encode(value)) == value
            return None if same else f"{value!r} is no plain data"


def _written(clause: Clause) -> Mapping[str, Any]:
    return {**_common(clause), "params": {k: _written_value(v) for k, v in clause.params.items()}}


def _written_value(value: Any) -> Any:
    match value:
        case Clause():
            return {"clause": _written(value)}
        case _ if callable(value):
            return {"function": reference(value)}
        case _:
            return {"value": value}


def _read(data: Mapping[str, Any]) -> Clause:
    factory = find(str(data["kind"]))
    params = {name: _read_value(value) for name, value in data["params"].items()}
    common: dict[str, Any] = {name: data[name] for name in ("name", "version", "on_undetermined")}
    takes = signature(factory).parameters
    if "path" in takes:
        params["path"], common["optional"] = data["path"], data["optional"]
    # `bound` takes its names one by one.
    spread = next((n for n, p in takes.items() if p.kind is p.VAR_POSITIONAL), None)
    positional = params.pop(spread, ()) if spread is not None else ()
    return factory(*positional, **params, **common)


def _read_value(data: Mapping[str, Any]) -> Any:
    match data:
        case {"clause": clause}:
            return _read(clause)
        case {"function": name}:
            return load(name)
        case _:
            return canon.decode(data["value"])


def _type_identity(contract: "Contract[Any]") -> Any:
    if contract.output is None:
        return None
    from pydantic import PydanticUserError, TypeAdapter

    name = _type_name(contract.output)
    try:
        schema: Any = TypeAdapter(contract.output).json_schema(mode="validation")
    except PydanticUserError:  # the type can be checked and has no JSON schema
        schema = None
    return {"type": name, "schema": schema}


def _type_name(output: Any) -> str:
    module, name = getattr(output, "__module__", ""), getattr(output, "__qualname__", None)
    return f"{module}:{name}" if name and isinstance(output, type) else repr(output)


def _written_type(contract: "Contract[Any]") -> str | None:
    if contract.output is None:
        return None
    name = _type_name(contract.output)
    if ":" not in name or _importable(name) is not contract.output:
        raise DefinitionError(
            f"contract {contract.name!r} cannot be written as JSON: its output type "
            f"{contract.output!r} cannot be imported; give it a name at the top of a module"
        )
    return name


def _importable(name: str) -> object:
    try:
        return _import(name)
    except DefinitionError:
        return None


def _import(name: str) -> Any:
    module, _, path = name.partition(":")
    try:
        found: Any = import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise DefinitionError(f"{name!r} cannot be imported: {error}") from None
    return found
