"""A test that tells at once that a call is plainly fine, as most calls are.

It says yes only where the full check would, and only where nothing has to be grounded: then
the report is the same each time, and need not be made anew. Any doubt is a no.
"""

from collections.abc import Callable
from typing import Any, TypeAlias, cast

from hornbook.kernel.grounds import Policy, looks_like_identifier
from hornbook.kernel.registry import ToolSpec

__all__ = ["Quick", "quick_test"]

Quick: TypeAlias = Callable[[object], bool]

_PLAIN_KEYWORDS = frozenset(
    {"$defs", "additionalProperties", "description", "properties", "required", "title", "type"}
)
_NEEDS_NO_SOURCE = frozenset({bool, float, int, type(None)})


def quick_test(spec: ToolSpec, policy: Policy) -> Quick | None:
    """Return the test for a tool; None where its form takes more than this to decide.

    The tool's own validation decides what is ill-typed, so that there must be one; and its
    schema must say no more of the arguments as a whole than their names.
    """
    validate, root = spec.validate, spec.parameters
    if (
        validate is None
        or policy.grounded
        or spec.shape.open
        or not _PLAIN_KEYWORDS.issuperset(root)
    ):
        return None
    known = frozenset(spec.shape.properties)
    required = frozenset(cast("list[str]", root.get("required", ())))

    def plainly_fine(arguments: object) -> bool:
        if type(arguments) is not dict:
            return False
        given = cast("dict[str, Any]", arguments)
        if not required <= given.keys() <= known:
            return False
        for value in given.values():
            if type(value) is str:
                if looks_like_identifier(value):
                    return False
            elif type(value) not in _NEEDS_NO_SOURCE:
                return False
        # Whatever a validator raises, the full check tells what it means.
        try:
            answer = validate(given)
        except Exception:  # noqa: BLE001
            return False
        return not hasattr(answer, "__await__")

    return plainly_fine
