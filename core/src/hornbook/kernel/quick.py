"""A test that tells at once that a call has the form its tool takes, as most calls have.

It says yes only where the full check would; any doubt is a no. What then is left is to find
the sources of the arguments that look like identifiers.
"""

from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any, TypeAlias, cast

from hornbook.kernel.grounds import Policy, looks_like_identifier
from hornbook.kernel.registry import ToolSpec

__all__ = ["Quick", "quick_test"]

Quick: TypeAlias = Callable[[object], list[str] | None]
"""Gives the names of the arguments that need a source, or None where there is doubt."""

_PLAIN_ROOT = frozenset(
    {"$defs", "additionalProperties", "description", "properties", "required", "title", "type"}
)
_PLAIN_TEXT = frozenset({"description", "title", "type"})
_NEEDS_NO_SOURCE = frozenset({bool, float, int, type(None)})
_NO_NAMES: list[str] = []


def quick_test(spec: ToolSpec, policy: Policy) -> Quick | None:
    """Return the test for a tool; None where its form takes more than this to decide.

    The tool's own validation decides what is ill-typed, so that there must be one; and its
    schema must say no more of the arguments as a whole than their names.
    """
    validate, root = spec.validate, spec.parameters
    declares = policy.grounded or policy.free
    if validate is None or declares or spec.shape.open or not _PLAIN_ROOT.issuperset(root):
        return None
    properties = spec.shape.properties
    known = frozenset(properties)
    required = frozenset(cast("list[str]", root.get("required", ())))
    texts = frozenset(name for name, schema in properties.items() if _is_plain_text(schema))

    def names_in_need(arguments: object) -> list[str] | None:
        if type(arguments) is not dict:
            return None
        given = cast("dict[str, Any]", arguments)
        need = _in_need(given, texts) if required <= given.keys() <= known else None
        if need is None:
            return None
        # Whatever a validator raises, the full check tells what it means.
        try:
            answer = validate(given)
        except Exception:  # noqa: BLE001
            return None
        return None if hasattr(answer, "__await__") else need

    return names_in_need


def _in_need(given: Mapping[str, Any], texts: frozenset[str]) -> list[str] | None:
    need = _NO_NAMES
    for name, value in given.items():
        if type(value) is str:
            if looks_like_identifier(value):
                if name not in texts:  # its schema may give the value, by an enum say
                    return None
                need = [*need, name]
        elif type(value) not in _NEEDS_NO_SOURCE or (type(value) is float and not isfinite(value)):
            return None
    return need


def _is_plain_text(schema: Any) -> bool:
    return isinstance(schema, Mapping) and _PLAIN_TEXT.issuperset(cast("Mapping[str, Any]", schema))
