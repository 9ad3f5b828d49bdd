"""Literals as plain data, with the order of their dicts: a prompt may show them in that order."""

from collections.abc import Mapping
from typing import Any, cast

from hornbook import canon

__all__ = ["as_data", "from_data"]

Data = Mapping[str, Any]


def as_data(value: Any) -> dict[str, Any]:
    """A literal as plain data: `value` where canonical JSON says all of it, else `ordered`."""
    if _has_order(value, frozenset()):
        return {"ordered": _ordered(value, frozenset())}
    return {"value": canon.encode(value)}


def from_data(data: Data) -> Any:
    """What `as_data` wrote."""
    return _read(data["ordered"]) if "ordered" in data else canon.decode(data["value"])


def _has_order(value: Any, around: frozenset[int]) -> bool:
    """Whether a dict in it is in another order than the canonical one."""
    if type(value) not in (dict, list, tuple) or id(value) in around:
        return False
    around |= {id(value)}
    if type(value) is not dict:
        return any(_has_order(one, around) for one in cast("list[Any]", value))
    known = cast("dict[Any, Any]", value)
    if len(known) > 1 and not _is_canonical(list(known)):
        return True
    return any(_has_order(one, around) for one in known.values())


def _is_canonical(keys: list[Any]) -> bool:
    # Other keys than plain texts are written in an order of their own.
    plain = all(type(key) is str and not key.startswith("$") for key in keys)
    return plain and keys == sorted(keys)


def _ordered(value: Any, around: frozenset[int]) -> list[Any]:
    if id(value) in around:  # it contains itself, which is described and not read back
        return ["value", canon.encode(value)]
    around |= {id(value)}
    if type(value) is dict:
        known = cast("dict[Any, Any]", value)
        pairs = [[canon.encode(key), _ordered(one, around)] for key, one in known.items()]
        return ["dict", pairs]
    if type(value) in (list, tuple):
        items = cast("list[Any]", value)
        return [type(items).__name__, [_ordered(one, around) for one in items]]
    return ["value", canon.encode(value)]


def _read(data: Any) -> Any:
    kind, body = data
    match kind:
        case "dict":
            return {canon.decode(key): _read(one) for key, one in body}
        case "list":
            return [_read(one) for one in body]
        case "tuple":
            return tuple(_read(one) for one in body)
        case _:
            return canon.decode(body)
