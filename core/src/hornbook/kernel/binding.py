"""Prioritised lookup: the turn context before the scratchpad, leaf by leaf (Forethought 4, INV-L).

Lookup is by key, never by resemblance. Of an object or a list each leaf has its own source, so
that a field which the request does not mention keeps the value that the scratchpad holds.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from hornbook.contracts.segments import joined
from hornbook.kernel.invariants import params_of
from hornbook.kernel.registry import ToolSpec
from hornbook.kernel.scratchpad import BOTTOM, Scratchpad
from hornbook.kernel.shape import (
    _part,  # pyright: ignore[reportPrivateUsage]
    declares,
)
from hornbook.kernel.tasks import Binding, BindingSource

__all__ = ["Bound", "bind", "leaf_bindings", "lookup"]

_ABSENT: Any = object()
_BOTH = ("turn", "scratchpad")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """The binding B of a tool's parameters, as far as it goes."""

    arguments: Mapping[str, Any]
    bindings: tuple[Binding, ...]
    missing: tuple[str, ...]
    """Params(f) that nothing binds, in the tool's order."""


def bind(
    spec: ToolSpec,
    stated: Mapping[str, Any],
    scratchpad: Scratchpad,
    *,
    found: Mapping[str, tuple[Any, BindingSource]] | None = None,
    without: frozenset[str] = frozenset(),
) -> Bound:
    """Look up every parameter of a tool.

    Args:
        spec: the tool; its Params are the required parameters and the stated ones.
        stated: the turn context.
        scratchpad: where what the turn does not state is looked for.
        found: what TaskToGet found for parameters that neither has, with where.
        without: parameters that must not be taken from the scratchpad.
    """
    wanted = params_of(spec, stated)
    names = [name for name in spec.shape.properties if name in wanted]
    names += sorted(wanted - set(names))
    arguments: dict[str, Any] = {}
    bindings: list[Binding] = []
    missing: list[str] = []
    for name in names:
        if found and name in found and name not in stated:
            value, leaves = _found(name, *found[name])
        else:
            held = scratchpad if name not in without else None
            value, leaves = lookup(spec, name, stated, held)
        if value is _ABSENT:
            value, leaves = _default(spec, name)
        if value is _ABSENT:
            missing.append(name)
            continue
        arguments[name] = value
        bindings += leaves
    return Bound(arguments=arguments, bindings=tuple(bindings), missing=tuple(missing))


def lookup(
    spec: ToolSpec, name: str, stated: Mapping[str, Any], scratchpad: Scratchpad | None
) -> tuple[Any, list[Binding]]:
    """Lookup(m, tau, S): what the turn says of a parameter, completed from the scratchpad."""
    here = stated.get(name, _ABSENT)
    there = _ABSENT if scratchpad is None else _held(scratchpad, name)
    found: list[Binding] = []
    return _merged(spec, (name,), here, there, found), found


def leaf_bindings(
    name: str, value: Any, source: BindingSource, consulted: tuple[str, ...]
) -> list[Binding]:
    """The bindings of all leaves of one value that has one source."""
    return [
        Binding(parameter=joined(*steps), value=leaf, source=source, consulted=consulted)
        for steps, leaf in _leaves((name,), value)
    ]


def _held(scratchpad: Scratchpad, name: str) -> Any:
    one = scratchpad.latest(name)
    if one is None or one.value is BOTTOM or one.source == "turn":
        return _ABSENT
    return one.value


def _found(name: str, value: Any, source: BindingSource) -> tuple[Any, list[Binding]]:
    consulted = _BOTH if source == "scratchpad" else (*_BOTH, source)
    return value, leaf_bindings(name, value, source, consulted)


def _default(spec: ToolSpec, name: str) -> tuple[Any, list[Binding]]:
    schema: Any = spec.shape.properties.get(name)
    if isinstance(schema, Mapping) and "default" in schema:
        value = cast("Mapping[str, Any]", schema)["default"]
        return value, leaf_bindings(name, value, "default", (*_BOTH, "default"))
    return _ABSENT, []


def _merged(
    spec: ToolSpec, steps: tuple[str | int, ...], here: Any, there: Any, found: list[Binding]
) -> Any:
    if isinstance(here, Mapping) and isinstance(there, Mapping):
        mine, theirs = cast("Mapping[str, Any]", here), cast("Mapping[str, Any]", there)
        kept = [key for key in theirs if key in mine or _declared(spec, (*steps, key))]
        return {
            key: _merged(
                spec, (*steps, key), mine.get(key, _ABSENT), theirs.get(key, _ABSENT), found
            )
            for key in dict.fromkeys([*mine, *kept])
        }
    if _records(cast("object", here), cast("object", there)):
        pairs = zip(cast("list[Any]", here), cast("list[Any]", there), strict=True)
        return [
            _merged(spec, (*steps, at), one, other, found) for at, (one, other) in enumerate(pairs)
        ]
    said = here is not _ABSENT
    value = cast("Any", here) if said else there
    if value is not _ABSENT:
        source: BindingSource = "turn" if said else "scratchpad"
        consulted = ("turn",) if said else _BOTH
        found += [
            Binding(parameter=joined(*at), value=leaf, source=source, consulted=consulted)
            for at, leaf in _leaves(steps, value)
        ]
    return value


def _records(here: object, there: object) -> bool:
    """Whether two values are lists of as many records, which can be completed one by one."""
    if not isinstance(here, list) or not isinstance(there, list):
        return False
    mine, theirs = cast("list[object]", here), cast("list[object]", there)
    if len(mine) != len(theirs) or not mine:
        return False
    return all(isinstance(one, Mapping) for one in (*mine, *theirs))


def _declared(spec: ToolSpec, steps: tuple[str | int, ...]) -> bool:
    """Whether the schema has a field there, or says nothing of which fields there are."""
    first, *rest = steps[:-1]
    schemas = spec.shape.schemas.get(str(first), ())
    for step in rest:
        schemas = _part(spec.parameters, schemas, step)
    closed = any("properties" in one or one.get("additionalProperties") is False for one in schemas)
    return not closed or declares(spec.parameters, joined(*steps))


def _leaves(
    steps: tuple[str | int, ...], value: Any
) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    inside: list[tuple[str | int, Any]] = []
    if isinstance(value, Mapping):
        inside = [(str(key), item) for key, item in cast("Mapping[Any, Any]", value).items()]
    elif isinstance(value, list | tuple):
        inside = list(enumerate(cast("Sequence[Any]", value)))
    if not inside:
        yield steps, value
    for step, item in inside:
        yield from _leaves((*steps, step), item)
