"""Keywords about the parts of a value, and those that combine schemas."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from hornbook.schema.compiler import (
    Build,
    Check,
    Compiler,
    SchemaProblem,
    Visit,
    ill_formed,
)
from hornbook.schema.values import count, describe, freeze, matcher

__all__ = ["STRUCTURE_KEYWORDS"]


def _required(compiler: Compiler, schema: Mapping[str, Any], where: str) -> Check:
    names: Any = schema["required"]
    if not isinstance(names, list | tuple) or not all(
        isinstance(name, str) for name in cast("Sequence[Any]", names)
    ):
        raise ill_formed(where, f"expected an array of property names, not {names!r}")
    found: Any = schema.get("properties")
    properties = cast("Mapping[str, Any]", found if isinstance(found, Mapping) else {})
    expected = [(name, describe(properties.get(name))) for name in cast("Sequence[str]", names)]

    def check(value: Any, visit: Visit) -> None:
        if isinstance(value, Mapping):
            for name, text in expected:
                if name not in value:
                    visit.add(text, None, "missing", at=name)

    return check


def _properties(compiler: Compiler, schema: Mapping[str, Any], where: str) -> Check:
    checks = compiler.compile_map(schema["properties"], where)

    def check(value: Any, visit: Visit) -> None:
        if isinstance(value, Mapping):
            for name, item in cast("Mapping[str, Any]", value).items():
                one = checks.get(name)
                if one is not None:
                    one(item, visit.below(name))

    return check


def _pattern_properties(compiler: Compiler, schema: Mapping[str, Any], where: str) -> Check | None:
    checks = compiler.compile_map(schema["patternProperties"], where)
    rules = [(matcher(compiler, name, where), check) for name, check in checks.items()]
    active = [(matches, check) for matches, check in rules if matches is not None]

    def check(value: Any, visit: Visit) -> None:
        if isinstance(value, Mapping):
            for name, item in cast("Mapping[str, Any]", value).items():
                for matches, one in active:
                    if matches(name):
                        one(item, visit.below(name))

    return check


def _additional(compiler: Compiler, schema: Mapping[str, Any], where: str) -> Check | None:
    extra = schema["additionalProperties"]
    one = compiler.compile(extra, where)
    known = frozenset(cast("Mapping[str, Any]", schema.get("properties") or {}))
    patterns = cast("Mapping[str, Any]", schema.get("patternProperties") or {})
    matchers = [matcher(compiler, name, where) for name in patterns]
    if extra is True or None in matchers:
        return None
    expected = f"only the fields {', '.join(sorted(known))}" if known else "no fields"

    def check(value: Any, visit: Visit) -> None:
        if not isinstance(value, Mapping):
            return
        for name, item in cast("Mapping[str, Any]", value).items():
            if name in known or any(matches and matches(name) for matches in matchers):
                continue
            if extra is False:
                visit.add(expected, item, "extra", at=name)
            else:
                one(item, visit.below(name))

    return check


def _items(compiler: Compiler, schema: Mapping[str, Any], where: str) -> Check:
    items: Any = schema["items"]
    if isinstance(items, list | tuple):  # older drafts: one schema for each position
        return _positions(compiler.compile_all(items, where))
    one = compiler.compile(items, where)
    prefix: Any = schema.get("prefixItems")
    first = len(cast("list[Any]", prefix)) if isinstance(prefix, list) else 0

    def check(value: Any, visit: Visit) -> None:
        if isinstance(value, list | tuple):
            for number, item in enumerate(cast("Sequence[Any]", value)[first:], first):
                one(item, visit.below(number))

    return check


def _prefix_items(compiler: Compiler, schema: Mapping[str, Any], where: str) -> Check:
    return _positions(compiler.compile_all(schema["prefixItems"], where))


def _positions(checks: list[Check]) -> Check:
    def check(value: Any, visit: Visit) -> None:
        if isinstance(value, list | tuple):
            items = zip(checks, cast("Sequence[Any]", value), strict=False)
            for number, (one, item) in enumerate(items):
                one(item, visit.below(number))

    return check


def _unique_items(compiler: Compiler, schema: Mapping[str, Any], where: str) -> Check | None:
    if not isinstance(schema["uniqueItems"], bool):
        raise ill_formed(where, f"expected a boolean, not {schema['uniqueItems']!r}")
    if not schema["uniqueItems"]:
        return None

    def check(value: Any, visit: Visit) -> None:
        if isinstance(value, list | tuple):
            items = [freeze(item) for item in cast("Sequence[Any]", value)]
            if len(set(items)) < len(items):
                visit.add("items that differ from one another", value, "value")

    return check


def _all_of(compiler: Compiler, schema: Mapping[str, Any], where: str) -> Check:
    checks = compiler.compile_all(schema["allOf"], where)

    def check(value: Any, visit: Visit) -> None:
        for one in checks:
            one(value, visit)

    return check


def _any_of(compiler: Compiler, schema: Mapping[str, Any], where: str) -> Check:
    checks = compiler.compile_all(schema["anyOf"], where)

    def check(value: Any, visit: Visit) -> None:
        tried = [_try(one, value, visit) for one in checks]
        if all(tried):
            _explain(tried, value, visit)

    return check


def _one_of(compiler: Compiler, schema: Mapping[str, Any], where: str) -> Check:
    checks = compiler.compile_all(schema["oneOf"], where)

    def check(value: Any, visit: Visit) -> None:
        tried = [_try(one, value, visit) for one in checks]
        matching = sum(not found for found in tried)
        if matching == 0:
            _explain(tried, value, visit)
        elif matching > 1:
            visit.add(f"exactly one of {len(checks)} forms, not {matching} of them", value, "value")

    return check


def _not(compiler: Compiler, schema: Mapping[str, Any], where: str) -> Check:
    one = compiler.compile(schema["not"], where)

    def check(value: Any, visit: Visit) -> None:
        if not _try(one, value, visit):
            visit.add(f"a value that is not {describe(schema['not'])}", value, "value")

    return check


def _try(check: Check, value: Any, visit: Visit) -> list[SchemaProblem]:
    apart = visit.aside()
    check(value, apart)
    return apart.found


def _explain(tried: list[list[SchemaProblem]], value: Any, visit: Visit) -> None:
    """Report the alternative that came nearest; where none fits the type, name them all."""
    here = visit.path or "."
    near = [found for found in tried if not (found[0].kind == "type" and found[0].path == here)]
    if near:
        visit.found.extend(min(near, key=len))
        return
    expected = dict.fromkeys(found[0].expected for found in tried)
    visit.add(" or ".join(expected), value, "type")


def _reference(compiler: Compiler, schema: Mapping[str, Any], where: str) -> Check | None:
    return compiler.reference(schema["$ref"], where)


STRUCTURE_KEYWORDS: dict[str, Build] = {
    "$ref": _reference,
    "minItems": count("minItems", (list, tuple), "items", at_least=True),
    "maxItems": count("maxItems", (list, tuple), "items", at_least=False),
    "uniqueItems": _unique_items,
    "prefixItems": _prefix_items,
    "items": _items,
    "required": _required,
    "properties": _properties,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional,
    "minProperties": count("minProperties", (Mapping,), "fields", at_least=True),
    "maxProperties": count("maxProperties", (Mapping,), "fields", at_least=False),
    "allOf": _all_of,
    "anyOf": _any_of,
    "oneOf": _one_of,
    "not": _not,
}
