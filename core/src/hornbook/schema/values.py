"""Keywords about one value: type, choice, number and text."""

import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any, cast

from pydantic_core import SchemaError, SchemaValidator, core_schema

from hornbook.schema.compiler import Build, Check, Compiler, Visit, ill_formed

__all__ = ["VALUE_KEYWORDS", "count", "describe", "freeze", "is_number", "matcher", "same"]

_PLAIN_BOUND = {"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}


def is_number(value: Any) -> bool:
    """Whether the value is a JSON number; a boolean is none."""
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _is_integer(value: Any) -> bool:
    return is_number(value) and (isinstance(value, int) or value == value // 1)


_TYPES: dict[str, Callable[[Any], bool]] = {
    "array": lambda value: isinstance(value, list | tuple),
    "boolean": lambda value: isinstance(value, bool),
    "integer": _is_integer,
    "null": lambda value: value is None,
    "number": is_number,
    "object": lambda value: isinstance(value, Mapping),
    "string": lambda value: isinstance(value, str),
}


def same(one: Any, other: Any) -> bool:
    """JSON equality: 1 equals 1.0, and true does not equal 1."""
    return freeze(one) == freeze(other)


def freeze(value: Any) -> Any:
    """Return a hashable stand-in that is equal exactly for JSON-equal values."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return (type(value), value)
    if isinstance(value, list | tuple):
        return (list, tuple(freeze(item) for item in cast("Sequence[Any]", value)))
    if isinstance(value, Mapping):
        items = cast("Mapping[str, Any]", value).items()
        return (dict, frozenset((key, freeze(item)) for key, item in items))
    return value if is_number(value) else (type(value), repr(value))


def describe(schema: Any) -> str:
    """Say in a few words what a schema asks for."""
    if not isinstance(schema, Mapping):
        return "a value"
    mapping = cast("Mapping[str, Any]", schema)
    if "const" in mapping:
        return repr(mapping["const"])
    if isinstance(mapping.get("enum"), list | tuple):
        return _choice(mapping["enum"])
    for keyword in ("anyOf", "oneOf"):
        branches = mapping.get(keyword)
        if isinstance(branches, list | tuple):
            return " or ".join(dict.fromkeys(map(describe, cast("Sequence[Any]", branches)[:4])))
    kind: Any = mapping.get("type", "a value")
    return kind if isinstance(kind, str) else " or ".join(map(str, kind))


def _choice(values: Sequence[Any]) -> str:
    shown = ", ".join(repr(value) for value in values[:12])
    return f"one of {shown}{', ...' if len(values) > 12 else ''}"


def _type(compiler: Compiler, schema: Mapping[str, Any], where: str) -> Check:
    kind: Any = schema["type"]
    names = cast("Sequence[Any]", [kind] if isinstance(kind, str) else kind)
    if not isinstance(names, list | tuple) or not names:
        raise ill_formed(where, f"expected a type or a non-empty array of types, not {kind!r}")
    for name in names:
        if not isinstance(name, str) or name not in _TYPES:
            raise ill_formed(where, f"unknown type {name!r}; there are {', '.join(_TYPES)}")
    expected = " or ".join(names)
    tests = [_TYPES[name] for name in names]

    def check(value: Any, visit: Visit) -> None:
        for test in tests:
            if test(value):
                return
        visit.add(expected, value, "type")

    return check


def _enum(compiler: Compiler, schema: Mapping[str, Any], where: str) -> Check:
    values: Any = schema["enum"]
    if not isinstance(values, list | tuple):
        raise ill_formed(where, f"expected an array of values, not {values!r}")
    expected = _choice(cast("Sequence[Any]", values))
    allowed = frozenset(freeze(value) for value in cast("Sequence[Any]", values))

    def check(value: Any, visit: Visit) -> None:
        if freeze(value) not in allowed:
            visit.add(expected, value, "value")

    return check


def _const(compiler: Compiler, schema: Mapping[str, Any], where: str) -> Check:
    only = freeze(schema["const"])
    expected = repr(schema["const"])

    def check(value: Any, visit: Visit) -> None:
        if freeze(value) != only:
            visit.add(expected, value, "value")

    return check


def _bound(keyword: str, phrase: str, fails: Callable[[Any, Any], bool]) -> Build:
    def build(compiler: Compiler, schema: Mapping[str, Any], where: str) -> Check | None:
        limit = schema[keyword]
        if isinstance(limit, bool) and keyword in _PLAIN_BOUND:
            # Draft 4 and OpenAPI 3.0: a flag that makes the plain bound exclusive.
            limit = schema.get(_PLAIN_BOUND[keyword]) if limit else None
            if limit is None:
                return None
        if not is_number(limit):
            raise ill_formed(where, f"expected a number, not {limit!r}")

        def check(value: Any, visit: Visit) -> None:
            if is_number(value) and fails(value, limit):
                visit.add(f"a number {phrase} {limit}", value, "value")

        return check

    return build


def _multiple_of(compiler: Compiler, schema: Mapping[str, Any], where: str) -> Check:
    unit = schema["multipleOf"]
    if not is_number(unit) or unit <= 0:
        raise ill_formed(where, f"expected a number above 0, not {unit!r}")

    def check(value: Any, visit: Visit) -> None:
        if is_number(value) and not _divides(unit, value):
            visit.add(f"a multiple of {unit}", value, "value")

    return check


def _divides(unit: Any, value: Any) -> bool:
    if isinstance(unit, int):
        return value % unit == 0
    # Decimal of the text: 0.3 is a multiple of 0.1, which binary floats deny.
    amount, exact = Decimal(str(value)), Decimal(str(unit))
    if not amount.is_finite():
        return False
    quotient = amount / exact
    return quotient == quotient.to_integral_value() and quotient * exact == amount


def count(keyword: str, kinds: tuple[type, ...], unit: str, *, at_least: bool) -> Build:
    """Build a keyword that limits the size of values of some kinds."""
    phrase = "at least" if at_least else "at most"

    def build(compiler: Compiler, schema: Mapping[str, Any], where: str) -> Check:
        limit = schema[keyword]
        if not _is_integer(limit) or limit < 0:
            raise ill_formed(where, f"expected a non-negative integer, not {limit!r}")

        def check(value: Any, visit: Visit) -> None:
            if isinstance(value, kinds):
                size = len(value)
                if size < limit if at_least else size > limit:
                    visit.add(f"{phrase} {limit} {unit}, not {size}", value, "value")

        return check

    return build


def matcher(compiler: Compiler, pattern: Any, where: str) -> Callable[[str], bool] | None:
    """Return a linear-time search for a pattern; None, noted, where the engine has no such."""
    if not isinstance(pattern, str):
        raise ill_formed(where, f"expected a regular expression, not {pattern!r}")
    try:
        validator = SchemaValidator(core_schema.str_schema(pattern=pattern))
    except SchemaError as error:
        try:
            re.compile(pattern)
        except re.error:
            raise ill_formed(where, f"{pattern!r} is no regular expression") from error
        compiler.unchecked.append(where)
        return None
    return validator.isinstance_python


def _pattern(compiler: Compiler, schema: Mapping[str, Any], where: str) -> Check | None:
    pattern = schema["pattern"]
    matches = matcher(compiler, pattern, where)
    if matches is None:
        return None

    def check(value: Any, visit: Visit) -> None:
        if isinstance(value, str) and not matches(value):
            visit.add(f"text that matches {pattern!r}", value, "value")

    return check


VALUE_KEYWORDS: dict[str, Build] = {
    "type": _type,
    "enum": _enum,
    "const": _const,
    "minimum": _bound("minimum", "of at least", lambda value, limit: value < limit),
    "maximum": _bound("maximum", "of at most", lambda value, limit: value > limit),
    "exclusiveMinimum": _bound("exclusiveMinimum", "above", lambda value, limit: value <= limit),
    "exclusiveMaximum": _bound("exclusiveMaximum", "below", lambda value, limit: value >= limit),
    "multipleOf": _multiple_of,
    "minLength": count("minLength", (str,), "characters", at_least=True),
    "maxLength": count("maxLength", (str,), "characters", at_least=False),
    "pattern": _pattern,
}
