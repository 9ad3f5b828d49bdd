"""What a schema says about the parts of a value: names, leaves, and what is fixed for them."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any, Literal, cast
from uuid import UUID

from hornbook.contracts.paths import joined, parse
from hornbook.schema.compiler import MAX_DEPTH, resolve
from hornbook.schema.values import same

__all__ = ["Leaf", "Shape", "covers", "declares", "is_fixed", "leaves", "shape"]

Schemas = tuple[Mapping[str, Any], ...]

_POSITION = re.compile(r"\[\d+\]")
_PLAIN = (str, int, float, Decimal, date, time, timedelta)
_CALENDAR_FORMATS = frozenset({"date", "date-time", "time", "duration"})


@dataclass(frozen=True, slots=True)
class Shape:
    """The arguments of a tool."""

    properties: Mapping[str, Any]
    """The schema of each argument, by name."""
    open: bool
    """Whether the schema says outright that further arguments are allowed."""
    schemas: Mapping[str, Schemas]
    """All that is said of each argument, by reference and combination too."""


@dataclass(slots=True)
class Leaf:
    """A value that is neither object nor list, or a name in a map, and where it stands."""

    steps: tuple[str | int, ...]
    value: Any
    kind: Literal["value", "name", "key"] = "value"
    """A `key` is a name in a map whose values have a schema; a `name` any other undeclared."""
    unseen: str = ""
    """Why the value cannot be looked at, where it cannot."""

    @property
    def path(self) -> str:
        """Where it stands, as contract paths write it."""
        return joined(*self.steps)


def shape(root: Any) -> Shape:
    """Return the arguments a parameter schema declares, in whatever alternative."""
    properties: dict[str, Any] = {}
    is_open = False
    for schema in _alternatives(root, root):
        found = schema.get("properties")
        if isinstance(found, Mapping):
            properties.update(cast("Mapping[str, Any]", found))
        extra = schema.get("additionalProperties", False)
        is_open = is_open or extra is not False or "patternProperties" in schema
    whole = tuple(_alternatives(root, root))
    return Shape(properties, is_open, {name: _below(root, whole, name) for name in properties})


def leaves(root: Any, arguments: Shape, given: Mapping[str, Any]) -> Iterator[Leaf]:
    """Yield the leaves of arguments in order, and the names in them that no schema declares."""
    for name, item in given.items():
        if name not in arguments.properties:
            yield Leaf((str(name),), str(name), "name")
        yield from _leaves(root, arguments.schemas.get(name, ()), item, (str(name),))


def covers(declared: str, path: str) -> bool:
    """Whether a declared path, like `items[].id` or `items`, holds for the place of a leaf."""
    place = _POSITION.sub("[]", path)
    return declared in (".", place) or place.startswith((f"{declared}.", f"{declared}["))


def declares(root: Any, path: str) -> bool:
    """Whether a schema has something at a path; where it cannot tell, it has."""
    steps = (step if isinstance(step, str) else 0 for step in parse(path).segments)
    schemas = tuple(_alternatives(root, root))
    for step in steps:
        below = _part(root, schemas, step)
        if not below:
            keyword = "properties" if isinstance(step, str) else "items"
            return not any(keyword in schema or "type" in schema for schema in schemas)
        schemas = below
    return True


def is_fixed(root: Any, arguments: Shape, leaf: Leaf) -> bool:
    """Whether the schema itself gives the value: an enum, a constant, the default, a date."""
    first, *rest = leaf.steps
    schemas = arguments.schemas.get(str(first), ())
    for step in rest:
        schemas = _part(root, schemas, step)
    return any(_gives(schema, leaf.value) for schema in schemas)


def _gives(schema: Mapping[str, Any], value: Any) -> bool:
    if schema.get("format") in _CALENDAR_FORMATS:
        return True
    for keyword in ("const", "default"):
        if keyword in schema and same(schema[keyword], value):
            return True
    choices = schema.get("enum")
    return isinstance(choices, list | tuple) and value in cast("Sequence[Any]", choices)


def _leaves(
    root: Any, schemas: Schemas, value: Any, steps: tuple[str | int, ...]
) -> Iterator[Leaf]:
    if len(steps) > MAX_DEPTH:
        yield Leaf(steps, value, unseen=f"it is nested more than {MAX_DEPTH} levels deep")
    elif isinstance(value, Mapping):
        for name, item in cast("Mapping[Any, Any]", value).items():
            place = (*steps, str(name))
            yield from _name(root, schemas, str(name), place)
            yield from _leaves(root, _below(root, schemas, str(name)), item, place)
    elif isinstance(value, list | tuple | set | frozenset):
        for number, item in enumerate(cast("Iterable[Any]", value)):
            yield from _leaves(root, _item(root, schemas, number), item, (*steps, number))
    else:
        yield _leaf(value, steps)


def _leaf(value: Any, steps: tuple[str | int, ...]) -> Leaf:
    plain = value.value if isinstance(value, Enum) else value
    plain = str(plain) if isinstance(plain, UUID) else plain
    if plain is None or isinstance(plain, _PLAIN):
        return Leaf(steps, plain)
    return Leaf(steps, value, unseen=f"a {type(value).__name__} cannot be looked into")


def _name(root: Any, schemas: Schemas, name: str, steps: tuple[str | int, ...]) -> Iterator[Leaf]:
    """Yield the name of a part as data, unless a schema declares or fixes it."""
    typed = False
    for schema in schemas:
        declared: Any = schema.get("properties")
        if isinstance(declared, Mapping) and name in declared:
            return
        names = _alternatives(root, schema.get("propertyNames"))
        if any(_gives(one, name) for one in names):
            return
        extra: Any = schema.get("additionalProperties")
        typed = typed or (isinstance(extra, Mapping) and bool(cast("Any", extra)))
        typed = typed or "patternProperties" in schema
    yield Leaf(steps, name, "key" if typed else "name")


def _part(root: Any, schemas: Schemas, step: str | int) -> Schemas:
    if isinstance(step, str):
        return _below(root, schemas, step)
    return _item(root, schemas, step)


def _below(root: Any, schemas: Schemas, name: str) -> Schemas:
    found: list[Mapping[str, Any]] = []
    for schema in schemas:
        properties = schema.get("properties")
        if isinstance(properties, Mapping) and name in properties:
            found.extend(_alternatives(root, cast("Mapping[str, Any]", properties)[name]))
        elif isinstance(schema.get("additionalProperties"), Mapping):
            found.extend(_alternatives(root, schema["additionalProperties"]))
    return tuple(found)


def _item(root: Any, schemas: Schemas, number: int) -> Schemas:
    found: list[Mapping[str, Any]] = []
    for schema in schemas:
        items: Any = schema.get("items")
        prefix: Any = schema.get("prefixItems", items)
        positions = cast("list[Any]", prefix) if isinstance(prefix, list) else []
        if number < len(positions):
            found.extend(_alternatives(root, positions[number]))
        elif isinstance(items, Mapping):
            found.extend(_alternatives(root, items))
    return tuple(found)


def _alternatives(root: Any, schema: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the schema and all it includes by reference or combination, each once."""
    waiting, seen = [schema], set[int]()
    while waiting:
        current: Any = waiting.pop()
        if not isinstance(current, Mapping) or id(cast("object", current)) in seen:
            continue
        mapping = cast("Mapping[str, Any]", current)
        seen.add(id(mapping))
        yield mapping
        reference = mapping.get("$ref")
        if isinstance(reference, str):
            waiting.append(resolve(root, reference))
        for keyword in ("allOf", "anyOf", "oneOf"):
            included = mapping.get(keyword)
            if isinstance(included, list | tuple):
                waiting.extend(cast("Sequence[Any]", included))
