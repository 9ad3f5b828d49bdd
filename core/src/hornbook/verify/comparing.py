"""Comparing what a run gave with what a scenario writes down, as data."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from hornbook.canon import digest
from hornbook.contracts.paths import joined
from hornbook.contracts.shown import shown
from hornbook.verify.values import Check

__all__ = ["Misread", "as_data", "compared", "equal", "read_as"]


class Misread(ValueError):
    """Data that is not of the type it should be read as."""


def read_as(data: Any, tp: Any) -> Any:
    """What data from a file means as a value of a type: a table may be a model, a text a date.

    Raises:
        Misread: it is no value of the type; the text says where.
    """
    from pydantic import TypeAdapter, ValidationError
    from pydantic_core import to_json

    adapter: TypeAdapter[Any] = TypeAdapter(tp)
    try:
        return adapter.validate_json(to_json(data), strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = joined(*first["loc"])
        at = "" if where == "." else f"at {where}: "
        raise Misread(f"{at}{first['msg'][:1].lower()}{first['msg'][1:]}") from None


def as_data(value: Any) -> Any:
    """A value as plain data, as a scenario file could write it."""
    from pydantic_core import to_jsonable_python

    return to_jsonable_python(
        value, fallback=repr, inf_nan_mode="constants", serialize_unknown=True
    )


def equal(one: Any, other: Any) -> bool:
    """Whether two values are the same, NaN and types of numbers included."""
    return digest(one) == digest(other)


def compared(what: str, expected: Any, actual: Any, tp: Any) -> list[Check]:
    """A check for each place where a value is not as expected; one that holds if it is.

    Args:
        what: what is compared: `output`.
        expected: as a file writes it.
        actual: what the run gave.
        tp: the declared type of both.
    """
    try:
        wanted = as_data(read_as(expected, tp))
    # A type that pydantic cannot read from data, or data that is not of the type: then the
    # data itself is compared.
    except Exception:  # noqa: BLE001
        wanted = as_data(expected)
    seen = as_data(actual)
    found = list(_differences(wanted, seen, ()))
    if not found:
        return [Check(what=what, expected=shown(wanted), seen=shown(seen), ok=True)]
    return [
        Check(what=_named(what, at), expected=one, seen=other, ok=False) for at, one, other in found
    ]


def _named(what: str, at: tuple[Any, ...]) -> str:
    path = joined(*at)
    return what if path == "." else f"{what}{path if path.startswith('[') else '.' + path}"


def _differences(
    wanted: Any, seen: Any, at: tuple[Any, ...]
) -> Iterator[tuple[tuple[Any, ...], str, str]]:
    if isinstance(wanted, Mapping) and isinstance(seen, Mapping):
        yield from _in_mappings(wanted, seen, at)  # pyright: ignore[reportUnknownArgumentType]
    elif isinstance(wanted, list) and isinstance(seen, list):
        yield from _in_lists(cast("list[Any]", wanted), cast("list[Any]", seen), at)
    elif not _alike(wanted, seen):
        yield at, shown(wanted, joined(*at)), shown(seen, joined(*at))


def _in_mappings(
    wanted: Mapping[Any, Any], seen: Mapping[Any, Any], at: tuple[Any, ...]
) -> Iterator[tuple[tuple[Any, ...], str, str]]:
    for key in dict.fromkeys([*wanted, *seen]):
        if key not in seen:
            yield (*at, key), shown(wanted[key], str(key)), "nothing"
        elif key not in wanted:
            yield (*at, key), "nothing", shown(seen[key], str(key))
        else:
            yield from _differences(wanted[key], seen[key], (*at, key))


def _in_lists(
    wanted: Sequence[Any], seen: Sequence[Any], at: tuple[Any, ...]
) -> Iterator[tuple[tuple[Any, ...], str, str]]:
    if len(wanted) != len(seen):
        yield at, shown(wanted), shown(seen)
        return
    for index, (one, other) in enumerate(zip(wanted, seen, strict=True)):
        yield from _differences(one, other, (*at, index))


def _alike(one: Any, other: Any) -> bool:
    # True is 1 to Python, and not to whoever wrote the file.
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    return bool(one == other)
