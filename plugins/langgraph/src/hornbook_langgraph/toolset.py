"""LangChain's tools as the guard sees them, made once for each set of tools."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from langchain_core.tools import BaseTool
from pydantic import BaseModel

from hornbook.errors import DefinitionError
from hornbook.kernel.guard import ToolGuard
from hornbook.kernel.registry import ToolRegistry, ToolSpec

__all__ = ["Guards", "spec_of"]

_SETS = 32
"""Sets of tools that are kept; an agent has one, unless tools come and go."""


def spec_of(tool: BaseTool) -> ToolSpec:
    """A tool with the schema that the model is shown: what LangChain injects is no part of it.

    The tool's own validation decides what is ill-typed, so that the guard refuses nothing
    that the tool would take.

    Raises:
        DefinitionError: its schema is not JSON Schema for an object.
    """
    schema: Any = tool.tool_call_schema
    if isinstance(schema, Mapping):
        return ToolSpec(
            name=tool.name,
            description=tool.description,
            parameters=cast("Mapping[str, Any]", schema),
        )
    try:
        parameters, validate = _of_model(schema)
    # A type without JSON Schema, and a user's own schema code, may raise anything.
    except Exception as error:
        raise DefinitionError(
            f"tool {tool.name!r}: its arguments have no JSON Schema: {_first_line(error)}"
        ) from error
    return ToolSpec(
        name=tool.name, description=tool.description, parameters=parameters, validate=validate
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Guarded:
    """A set of tools with its guard."""

    tools: list[Any]
    """As they were given, which keeps their ids from being given to other objects."""
    ids: frozenset[int]
    guard: ToolGuard


class Guards:
    """The guard of each set of tools that was seen; the tools are compared by identity."""

    def __init__(self, given: ToolGuard | None = None) -> None:
        self._given = given
        self._known: OrderedDict[tuple[int, ...], Guarded] = OrderedDict()
        self._lock = threading.Lock()
        self.last = Guarded(tools=[], ids=frozenset(), guard=given or ToolGuard(ToolRegistry()))
        """The set that was seen last: mostly the one that is asked for."""

    def of(self, tools: Sequence[Any]) -> Guarded:
        """The guard for these tools; tools that a provider runs itself are no tools here."""
        # Lists of the same objects are equal without a look into them.
        if self.last.tools == tools:
            return self.last
        key = tuple(map(id, tools))
        known = self._known.get(key)
        self.last = self._make(key, list(tools)) if known is None else known
        return self.last

    def _make(self, key: tuple[int, ...], tools: list[Any]) -> Guarded:
        guard = self._given
        if guard is None:
            by_name = {tool.name: tool for tool in tools if isinstance(tool, BaseTool)}
            guard = ToolGuard(ToolRegistry(map(spec_of, by_name.values())))
        made = Guarded(tools=tools, ids=frozenset(key), guard=guard)
        with self._lock:
            self._known[key] = made
            while len(self._known) > _SETS:
                self._known.popitem(last=False)
        return made


def _of_model(schema: Any) -> tuple[dict[str, Any], Callable[[Mapping[str, Any]], object]]:
    if issubclass(schema, BaseModel):
        # The model's own validator, without the checks that `model_validate` makes before it.
        return schema.model_json_schema(), cast(
            "Any", schema
        ).__pydantic_validator__.validate_python
    # A model of pydantic's first version, which LangChain still takes.
    return schema.schema(), schema.parse_obj


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
