"""From a Python function to a tool: its parameters as JSON Schema, and how they are checked."""

import inspect
from collections.abc import Callable, Mapping
from types import MethodType
from typing import Any

from pydantic import PydanticUserError, TypeAdapter
from pydantic_core import SchemaError, SchemaValidator, to_json

from hornbook.errors import DefinitionError

__all__ = ["Parameters", "description", "parameters", "public_methods", "tool_name"]

Parameters = tuple[dict[str, Any], Callable[[Mapping[str, Any]], object]]

_BY_POSITION = {
    inspect.Parameter.POSITIONAL_ONLY: "is positional-only",
    inspect.Parameter.VAR_POSITIONAL: "takes any number of positional arguments",
}


def parameters(function: Callable[..., Any], name: str) -> Parameters:
    """Return the JSON Schema of a function's parameters, and a strict validator of them.

    Raises:
        DefinitionError: naming the parameter that cannot be passed by name, or the annotation
            that pydantic cannot read.
    """
    target = _plain(function)
    signature = inspect.signature(target)
    for parameter in signature.parameters.values():
        if parameter.kind in _BY_POSITION:
            raise DefinitionError(
                f"tool {name!r}: parameter {parameter.name!r} {_BY_POSITION[parameter.kind]}; "
                f"tools are called by name"
            )
    try:
        adapter = TypeAdapter[Any](target)
        schema = adapter.json_schema()
        validator = _arguments_validator(adapter.core_schema)
    except (PydanticUserError, SchemaError, NameError, TypeError) as error:
        reason = str(error).split("\n", 1)[0]
        raise DefinitionError(f"tool {name!r}: its annotations cannot be read: {reason}") from error
    if any(p.kind is inspect.Parameter.VAR_KEYWORD for p in signature.parameters.values()):
        schema.setdefault("additionalProperties", True)
    return schema, _strict(validator)


def tool_name(function: Callable[..., Any]) -> str:
    """Return the name of a function, or of the type of a callable object."""
    return getattr(function, "__name__", None) or type(function).__name__


def description(function: Callable[..., Any]) -> str:
    """Return the first paragraph of the docstring."""
    text = inspect.getdoc(function) or ""
    return " ".join(text.split("\n\n", 1)[0].split())


def public_methods(instance: object) -> list[Callable[..., Any]]:
    """Return the public methods an object's class defines, in order of definition."""
    names = dict.fromkeys(
        name
        for owner in reversed(type(instance).__mro__[:-1])
        for name, member in vars(owner).items()
        if not name.startswith("_") and inspect.isfunction(member)
    )
    return [getattr(instance, name) for name in names]


def _plain(function: Callable[..., Any]) -> Any:
    """Return what pydantic can read: of a callable object, its bound `__call__`."""
    if inspect.isroutine(function):
        return function
    return MethodType(type(function).__call__, function)


def _arguments_validator(core: Any) -> SchemaValidator:
    """Build the validator of the arguments alone, so that checking never calls the tool."""
    definitions = core["definitions"] if core["type"] == "definitions" else None
    call = core["schema"] if definitions is not None else core
    arguments = call["arguments_schema"]
    if definitions is None:
        return SchemaValidator(arguments)
    return SchemaValidator({"type": "definitions", "schema": arguments, "definitions": definitions})


def _strict(validator: SchemaValidator) -> Callable[[Mapping[str, Any]], object]:
    def validate(arguments: Mapping[str, Any]) -> object:
        # As JSON: nothing converts "5" to 5 between a model and a plain function, yet a date
        # can only come as text.
        return validator.validate_json(to_json(dict(arguments)), strict=True)

    return validate
