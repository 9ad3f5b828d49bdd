"""Contracts as data: their digest, and JSON for those whose functions can be imported."""

from collections.abc import Callable, Mapping, Set
from contextlib import suppress
from datetime import date, time, timedelta
from decimal import Decimal
from inspect import signature
from typing import TYPE_CHECKING, Any, cast

from hornbook import canon
from hornbook.contracts.clause import Clause
from hornbook.contracts.judge import Judge
from hornbook.contracts.kinds import find
from hornbook.contracts.predicates import load, reference, source_digest
from hornbook.contracts.written_types import read_type, type_identity, written_type
from hornbook.errors import DefinitionError, told

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
            "output": None if contract.output is None else type_identity(contract.output),
            "strict": contract.strict,
            "revalidate": contract.revalidate,
            "deadline": contract.deadline,
            "requires": [_identity(clause) for clause in contract.requires],
            "ensures": [_identity(clause) for clause in contract.ensures],
        }
    )


def obstacle(contract: "Contract[Any]") -> str | None:
    """What keeps a contract from being written as JSON; None when nothing does."""
    for clause in contract.requires + contract.ensures:
        found = _clause_obstacle(clause)
        if found is not None:
            return f"contract {contract.name!r}, clause {clause.name!r} {found}"
    try:
        _written_output(contract)
    except DefinitionError as error:
        return f"contract {contract.name!r} cannot be written as JSON: {error}"
    return None


def to_json(contract: "Contract[Any]") -> str:
    """A contract as canonical JSON text.

    Raises:
        DefinitionError: a clause cannot be written; it is named.
    """
    found = obstacle(contract)
    if found is not None:
        raise DefinitionError(found)
    data = {
        "format": _FORMAT,
        "version": _VERSION,
        "contract": {
            "name": contract.name,
            "version": contract.version,
            "output": _written_output(contract),
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
    data = _parsed(text)
    try:
        contract = _contract(data["contract"])
        written = data["digest"]
    except DefinitionError:
        raise
    except Exception as error:
        raise DefinitionError(f"this is no contract in JSON: {told(error)}") from error
    if contract.digest != written:
        raise DefinitionError(
            f"contract {contract.name!r} was written when its functions or types were others: "
            f"its digest was {written} and is {contract.digest} now"
        )
    return contract


def _contract(data: Mapping[str, Any]) -> "Contract[Any]":
    from hornbook.contracts.contract import Contract

    fields = dict(data)
    output = fields.pop("output")
    if output is not None:
        fields["output"] = read_type(output["type"])
    for where in ("requires", "ensures"):
        fields[where] = [_read(clause) for clause in fields[where]]
    return Contract[Any](**fields)


def _written_output(contract: "Contract[Any]") -> Any:
    return None if contract.output is None else {"type": written_type(contract.output)}


def _parsed(text: str) -> Mapping[str, Any]:
    try:
        data: object = canon.loads(text)
    except canon.CanonError as error:
        raise DefinitionError(f"this is no contract in JSON: {error}") from None
    known: Mapping[str, Any] = {}
    if isinstance(data, Mapping):
        known = cast("Mapping[str, Any]", data)
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
            return {"function": source_digest(value), "holds": _held(value)}
        case _ if isinstance(value, Set):
            return sorted(repr(item) for item in cast("Set[Any]", value))
        case _:
            return value


_PLAIN = (str, bytes, int, float, date, time, timedelta, Decimal, type(None))


def _held(fn: Callable[..., Any]) -> list[Any]:
    """What a function holds besides its source: closed-over and default values."""
    values: list[Any] = [*(getattr(fn, "__defaults__", None) or ())]
    values += (getattr(fn, "__kwdefaults__", None) or {}).values()
    for cell in getattr(fn, "__closure__", None) or ():
        with suppress(ValueError):  # a cell that is empty yet
            values.append(cell.cell_contents)
    return [_held_value(value) for value in values]


def _held_value(value: Any) -> Any:
    # Anything larger would make the digest costly, or change as the program runs.
    if isinstance(value, _PLAIN):
        return value
    return {"function": source_digest(value)} if callable(value) else type(value).__qualname__


def _clause_obstacle(clause: Clause) -> str | None:
    try:
        find(clause.kind)
    except DefinitionError as error:
        return f"cannot be written as JSON: {error}"
    for value in clause.params.values():
        found = _value_obstacle(value)
        if found is not None:
            return found
    return None


def _value_obstacle(value: Any) -> str | None:
    match value:
        case Clause():
            return _clause_obstacle(value)
        case Judge():
            return "cannot be written as JSON: it asks a judge, which is an object of this process"
        case _ if callable(value):
            if reference(value) is not None:
                return None
            name = getattr(value, "__qualname__", repr(value))
            return (
                f"cannot be written as JSON: {name} cannot be imported; "
                f"define the function at the top of a module"
            )
        case _:
            if canon.decode(canon.encode(value)) == value:
                return None
            return f"cannot be written as JSON: {value!r} is no plain data"


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
