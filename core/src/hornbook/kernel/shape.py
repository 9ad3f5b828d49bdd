"""What a schema says about the parts of a value: names, leaves, and what is fixed for them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from hornbook.contracts.paths import joined, parse
from hornbook.kernel.schema.compiler import MAX_DEPTH, resolve
from hornbook.kernel.schema.values import same

__all__ = ["Leaf", "Shape", "covers", "declares", "is_fixed", "leaves", "shape"]

Schemas = tuple[Mapping[str, Any], ...]

_POSITION = re.compile(r"\[\d+\]")
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
    """A value that is neither object nor list, and where it stands."""

    steps: tuple[str | int, ...]
    value: Any

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


def leaves(value: Any) -> Iterator[Leaf]:
    """Yield the leaves of a value in order."""
    return _leaves(value, ())


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


def _leaves(value: Any, steps: tuple[str | int, ...]) -> Iterator[Leaf]:
    if len(steps) > MAX_DEPTH:
        return
    if isinstance(value, Mapping):
        for name, item in cast("Mapping[str, Any]", value).items():
            yield from _leaves(item, (*steps, str(name)))
    elif isinstance(value, list | tuple):
        for number, item in enumerate(cast("Sequence[Any]", value)):
            yield from _leaves(item, (*steps, number))
    else:
        yield Leaf(steps, value)


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
