"""Rewriting a pydantic core schema so that it checks a finished value and converts nothing.

pydantic's schemas are made to build values from raw data. Checking what a step returned
differs in three ways. An instance is looked into at every depth, also where its class says
`revalidate_instances="never"`. What only concerns raw data (aliases, before-validators,
JSON text, a custom `__init__`, extra names) is left out, since a finished instance has none.
And a value does not pass because it could be converted: `strict` stands
in every schema, because handing it over at each call costs as much as a small check.
"""

from collections.abc import Callable, Mapping
from dataclasses import InitVar
from operator import attrgetter
from typing import Any, Literal, TypeAlias, cast

__all__ = ["Revalidate", "Schema", "for_checking"]

Revalidate = Literal["always", "never"]
Schema: TypeAlias = dict[str, Any]
_Rule: TypeAlias = Callable[[Schema], Schema]

_DATA = frozenset(
    {
        "computed_fields",
        "config",
        "context",
        "ctx",
        "custom_error_context",
        "default",
        "expected",
        "function",
        "members",
        "metadata",
        "serialization",
    }
)
"""Keys of a schema below which stands data: it is the user's and may look like a schema."""

_COLLECTIONS = frozenset({"dict", "frozenset", "list", "set", "tuple"})
_CODECS = (("pydantic.types", "EncodedBytes"), ("pydantic.types", "EncodedStr"))


def for_checking(schema: Mapping[str, Any], *, strict: bool, revalidate: Revalidate) -> Schema:
    """A copy of `schema` that checks; the original stays as it is."""
    rules = _strict_rules(revalidate) if strict else _lax_rules(revalidate)

    def rule_for(kind: str, copy: Schema) -> Schema:
        if strict:
            copy = _strict(kind, copy)
        return rules[kind](copy) if kind in rules else copy

    return _rewritten(schema, rule_for)


def _lax_rules(revalidate: Revalidate) -> dict[str, _Rule]:
    looked_into: Schema = {"revalidate_instances": revalidate}
    return {
        "model": lambda copy: {**copy, **looked_into, "custom_init": False},
        "model-fields": _by_name_too,
        "dataclass": lambda copy: {**copy, **looked_into},
    }


def _strict_rules(revalidate: Revalidate) -> dict[str, _Rule]:
    lax = _lax_rules(revalidate)
    return {
        "model": lambda copy: _only_instances(_any_extra(lax["model"](copy))),
        "model-fields": _any_extra,
        "model-field": _by_name,
        "dataclass": lambda copy: _stored_only(_any_extra(lax["dataclass"](copy))),
        "dataclass-args": _stored_fields,
        "function-before": lambda copy: _in_place_of(copy, copy["schema"]),
        "function-after": _final_form,
        "json": lambda copy: _in_place_of(copy, copy.get("schema", {"type": "any"})),
        "lax-or-strict": lambda copy: _in_place_of(copy, copy["strict_schema"]),
        "json-or-python": lambda copy: _in_place_of(copy, copy["python_schema"]),
        "named-tuple": lambda copy: _after_instance_check(copy, copy["cls"]),
        "call": _named_tuple_call,
    }


def _rewritten(node: Any, rule_for: Callable[[str, Schema], Schema]) -> Any:
    if isinstance(node, dict):
        given = cast(Schema, node)
        kind = given.get("type")
        # Without a type it is a mapping of names to schemas, and any name may occur in it.
        data = _DATA if isinstance(kind, str) else frozenset[str]()
        copy = {
            key: value if key in data else _rewritten(value, rule_for)
            for key, value in given.items()
        }
        return rule_for(kind, copy) if isinstance(kind, str) else copy
    if isinstance(node, list | tuple):
        items = [_rewritten(item, rule_for) for item in cast("list[Any]", node)]
        return items if isinstance(node, list) else tuple(items)
    return node


def _strict(kind: str, copy: Schema) -> Schema:
    # pydantic itself hands the items of a deque to a list that is lax, having checked the type.
    wanted = kind in _COLLECTIONS and copy.get("strict") is False
    return copy if wanted else {**copy, "strict": True}


def _in_place_of(old: Schema, new: Schema) -> Schema:
    """`new`, which is found under the name by which other schemas refer to `old`."""
    if "ref" not in old:
        return new
    if "ref" in new:
        return {"type": "chain", "steps": [new], "ref": old["ref"]}
    return {**new, "ref": old["ref"]}


def _after_instance_check(schema: Schema, kind: type[Any]) -> Schema:
    named = {key: value for key, value in schema.items() if key != "ref"}
    check = {"type": "is-instance", "cls": kind}
    return _in_place_of(schema, {"type": "chain", "steps": [check, named]})


def _only_instances(model: Schema) -> Schema:
    # Even a strict model takes a dict. An instance of Box serves for Box[int]: it is looked into.
    return _after_instance_check(model, model.get("generic_origin", model["cls"]))


def _any_extra(schema: Schema) -> Schema:
    """Nothing is refused for being extra: beside the declared fields stand those of a subclass."""
    config: Schema = schema.get("config", {})
    if config.get("extra_fields_behavior") == "forbid":
        schema = {**schema, "config": {**config, "extra_fields_behavior": "ignore"}}
    forbids = schema.get("extra_behavior") == "forbid"
    return {**schema, "extra_behavior": "ignore"} if forbids else schema


def _by_name(field: Schema) -> Schema:
    return {key: value for key, value in field.items() if key != "validation_alias"}


def _by_name_too(fields: Schema) -> Schema:
    """Fields found under their names as well: that is where an instance has them."""
    named: dict[str, Schema] = fields["fields"]
    return {**fields, "fields": {name: _or_name(field, name) for name, field in named.items()}}


def _or_name(field: Schema, name: str) -> Schema:
    alias: Any = field.get("validation_alias")
    if alias is None:
        return field
    if isinstance(alias, str):
        alias = [alias]
    first: object = alias[0]
    choices: list[Any] = alias if isinstance(first, list) else [alias]
    return {**field, "validation_alias": [*choices, [name]]}


def _stored_only(dataclass: Schema) -> Schema:
    """A dataclass without its InitVars, which no instance has, nor then `__post_init__`."""
    fields: dict[str, Any] = getattr(dataclass["cls"], "__dataclass_fields__", {})
    if any(isinstance(field.type, InitVar) for field in fields.values()):
        return {**dataclass, "post_init": False}
    return dataclass


def _stored_fields(arguments: Schema) -> Schema:
    fields = [_by_name({**f, "init": True}) for f in arguments["fields"] if not f.get("init_only")]
    return _any_extra({**arguments, "fields": fields, "collect_init_only": False})


def _final_form(after: Schema) -> Schema:
    """What is left of after-validators by which pydantic itself gives a value its final form."""
    function, inner = after["function"]["function"], after["schema"]
    if isinstance(function, attrgetter) and inner["type"] == "enum":  # use_enum_values
        values = {"type": "literal", "expected": [member.value for member in inner["members"]]}
        return _in_place_of(after, {"type": "union", "choices": [inner, values]})
    codec = cast("type[Any]", type(getattr(cast(object, function), "__self__", None)))
    if (codec.__module__, codec.__name__) in _CODECS:
        return _in_place_of(after, inner)
    return after


def _named_tuple_call(call: Schema) -> Schema:
    function = call["function"]
    if isinstance(function, type) and issubclass(function, tuple):
        return _after_instance_check(call, cast("type[Any]", function))
    return call
