"""Types as data: by import path, or built from such ones with `[]`, `|` and Literal."""

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from importlib import import_module
from types import NoneType, UnionType
from typing import Any, Generic, Literal, Union, cast, get_args, get_origin

from hornbook.errors import DefinitionError

__all__ = ["read_type", "type_identity", "written_type"]

_COMBINING: Mapping[str, Callable[[Sequence[Any]], Any]] = {
    "|": lambda parts: reduce(lambda one, other: one | other, parts),
    "Union": lambda parts: Union[tuple(parts)],  # noqa: UP007 - its repr is another
}


def type_identity(tp: Any) -> Any:
    """What tells one type from another, equal in every process."""
    from pydantic import TypeAdapter

    try:
        schema: Any = TypeAdapter(tp).json_schema(mode="validation")
    except Exception:  # noqa: BLE001 - a type that can be checked may have no JSON schema
        schema = None
    return {"type": _name(tp), "schema": schema}


def written_type(tp: Any) -> Any:
    """A type as plain data.

    Raises:
        DefinitionError: it, or a part of it, cannot be imported.
    """
    if tp is NoneType:
        return None
    name = _name(tp)
    if ":" in name and _importable(name) is tp:
        return name
    origin, parts = get_origin(tp), get_args(tp)
    if origin is Literal:
        return {"Literal": list(parts)}
    if origin is UnionType or origin is Union:
        return {"|" if origin is UnionType else "Union": [written_type(part) for part in parts]}
    if not isinstance(origin, type) or not parts or _is_alias(tp, origin):
        raise DefinitionError(
            f"its output type {tp!r} cannot be imported: define it at the top of a module"
        )
    return {"[]": [written_type(part) for part in (origin, *parts)]}


def _is_alias(tp: Any, origin: type) -> bool:
    """Whether it is of `typing` itself, as `typing.List[int]` is, which is not read back alike."""
    return type(tp).__module__ == "typing" and not issubclass(origin, Generic)


def read_type(data: Any) -> Any:
    """The type that `written_type` wrote.

    Raises:
        DefinitionError: the data is of no type, or the type cannot be imported.
    """
    if data is None:
        return NoneType
    if isinstance(data, str):
        return _import(data)
    if not isinstance(data, dict) or len(cast("dict[str, Any]", data)) != 1:
        raise DefinitionError(f"{data!r} is no type")
    ((how, parts),) = cast("dict[str, list[Any]]", data).items()
    if how == "Literal":
        return Literal[tuple(parts)]
    read = [read_type(part) for part in parts]
    if how in _COMBINING:
        return _COMBINING[how](read)
    if how != "[]":
        raise DefinitionError(f"{data!r} is no type")
    return read[0][tuple(read[1:])]


def _name(tp: Any) -> str:
    module, name = getattr(tp, "__module__", ""), getattr(tp, "__qualname__", None)
    if get_origin(tp) is not None or not name:
        return repr(tp)
    return f"{module}:{name}"


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
    except (ImportError, AttributeError, ValueError) as error:
        raise DefinitionError(f"{name!r} cannot be imported: {error}") from None
    return found
