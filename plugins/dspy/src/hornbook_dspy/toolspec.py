"""A tool of DSPy as the guard sees it: its schema, and what DSPy itself would take."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any, NotRequired, cast

from pydantic import PydanticUserError, TypeAdapter, ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError, SchemaError
from typing_extensions import TypedDict

from hornbook.contracts.paths import parse
from hornbook.errors import DefinitionError
from hornbook.kernel.registry import ToolSpec
from hornbook.schema import SchemaProblem, compile_schema

__all__ = ["spec_of"]

_REQUIRED = "(Required)"
"""What DSPy writes after the description of an argument that MCP or LangChain requires."""

_typed_dict: Any = TypedDict

_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def spec_of(tool: Any) -> ToolSpec:
    """A tool with its schema. DSPy does not ask for what is missing, so its function tells that.

    Raises:
        DefinitionError: it has no schema, or one that is no JSON Schema.
    """
    name, args = tool.name, tool.args
    if not isinstance(args, Mapping):
        raise DefinitionError(
            f"tool {name!r} has no schema of its arguments: make it as dspy.Tool(function), or "
            f"give args="
        )
    declared = _parameters(tool.func)
    variadic = {one.name for one in declared if one.kind in _VARIADIC}
    properties = {
        argument: schema
        for argument, schema in cast("Mapping[str, Any]", args).items()
        if argument not in variadic or schema
    }
    parameters: dict[str, Any] = {
        "type": "object",
        "properties": properties,
        "required": [one for one in properties if _is_required(one, tool, declared)],
    }
    if _is_open(tool, declared):
        parameters["additionalProperties"] = True
    spec = ToolSpec(name=name, description=tool.desc or "", parameters=parameters)
    return ToolSpec(
        name=name,
        description=spec.description,
        parameters=parameters,
        validate=_as_dspy_validates(tool, properties),
    )


def _parameters(function: Any) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # a builtin may tell nothing of itself
        return []


def _is_required(argument: str, tool: Any, declared: list[inspect.Parameter]) -> bool:
    for parameter in declared:
        if parameter.name == argument and parameter.kind not in _VARIADIC:
            return parameter.default is inspect.Parameter.empty
    described: Mapping[str, Any] = tool.arg_desc or {}
    return str(described.get(argument, "")).endswith(_REQUIRED)


def _is_open(tool: Any, declared: list[inspect.Parameter]) -> bool:
    """Whether any argument may be given; a function that passes all on declares its own."""
    named = any(parameter.kind not in _VARIADIC for parameter in declared)
    return tool.has_kwargs and (named or not tool.args)


def _as_dspy_validates(
    tool: Any, properties: Mapping[str, Any]
) -> Callable[[Mapping[str, Any]], object] | None:
    """What DSPy does with the arguments: by the schema where it has a type, then by pydantic."""
    typed = {name: schema for name, schema in properties.items() if _has_type(schema)}
    by_schema = compile_schema({"type": "object", "properties": typed})
    types: Mapping[str, Any] = tool.arg_types or {}
    hints = {name: NotRequired[types.get(name, Any)] for name in properties}
    try:
        by_type = TypeAdapter[Any](_typed_dict("Arguments", hints))
    # A type that pydantic cannot read was given by hand: the schema alone decides then.
    except (PydanticUserError, SchemaError, TypeError):
        return None

    def validate(arguments: Mapping[str, Any]) -> object:
        plain = {name: _dumped(value) for name, value in arguments.items()}
        problems = by_schema.problems(plain)
        if problems:
            raise ValidationError.from_exception_data(
                tool.name, [_line(problem) for problem in problems]
            )
        return by_type.validate_python(dict(arguments))

    return validate


def _has_type(schema: Any) -> bool:
    if not isinstance(schema, Mapping):
        return False
    kind: Any = cast("Mapping[str, Any]", schema).get("type")
    return kind not in (None, "Any")


def _dumped(value: Any) -> Any:
    return value.model_dump() if hasattr(value, "model_dump") else value


def _line(problem: SchemaProblem) -> InitErrorDetails:
    location = cast("tuple[int | str, ...]", parse(problem.path).segments)
    kind = "missing" if problem.kind == "missing" else "schema"
    error = PydanticCustomError(kind, "{expected}", {"expected": problem.expected})
    return InitErrorDetails(type=error, loc=location, input=problem.observed)
