"""Checking a value against a type, strictly and without converting it.

The value itself is what a step returns; what pydantic makes of it is thrown away. Model and
dataclass instances are looked into although they were checked when they were made, since
anything may have been assigned since. Validators run again, on a copy, but for
before-validators: they prepare raw data, and a finished value has none.
"""

from inspect import currentframe, isroutine
from types import FrameType
from typing import Any, cast

from pydantic import ConfigDict, TypeAdapter
from pydantic.errors import (
    PydanticSchemaGenerationError,
    PydanticUndefinedAnnotation,
    PydanticUserError,
)
from pydantic_core import SchemaError, SchemaValidator, ValidationError

from hornbook.contracts.core_schemas import Revalidate, Schema, for_checking
from hornbook.contracts.members import type_name
from hornbook.contracts.type_problems import TypeProblem, problems_in
from hornbook.contracts.typed_dicts import modernised
from hornbook.errors import DefinitionError

__all__ = ["OutputType", "Revalidate", "TypeProblem"]


class OutputType:
    """A type with the validator that checks values against it.

    Anything pydantic's TypeAdapter takes will do; of a class that pydantic does not know,
    values must be instances. `strict=False` also lets values pass that pydantic could
    convert. `revalidate="never"` trusts instances of models and dataclasses.

    On a hot path call `validator.isinstance_python(value)` yourself.

    Raises:
        DefinitionError: pydantic cannot check the type; the message says what to do.
    """

    __slots__ = ("name", "revalidate", "strict", "type", "validator")

    def __init__(self, tp: Any, *, strict: bool = True, revalidate: Revalidate = "always") -> None:
        if isroutine(tp):
            # pydantic would make a schema that calls it with the value.
            raise DefinitionError(f"output={tp.__name__}: a function is no type")
        self.type = tp
        self.name = type_name(tp)
        self.strict = strict
        self.revalidate: Revalidate = revalidate
        schema = for_checking(_core_schema(tp, self.name), strict=strict, revalidate=revalidate)
        self.validator = _build(schema, self.name)

    def __repr__(self) -> str:
        return f"OutputType({self.name}, strict={self.strict}, revalidate={self.revalidate!r})"

    def problems(self, value: Any) -> tuple[TypeProblem, ...]:
        """Where `value` is not of the type; empty when it is.

        An exception of one of the type's own validators, but for those that tell of a bad
        value, propagates.
        """
        try:
            self.validator.validate_python(value)
        except ValidationError as error:
            return problems_in(error, value)
        return ()

    def validate(self, value: Any) -> tuple[TypeProblem, ...] | None:
        """`problems`, or None when there are none."""
        return self.problems(value) or None


def _build(schema: Schema, name: str) -> SchemaValidator:
    try:
        # Left to itself it would use the ready-made validators of the classes in place of
        # what this schema says of them, and those do not look into instances.
        return SchemaValidator(cast(Any, schema), _use_prebuilt=False)
    except SchemaError as error:
        raise _unusable(name, _first_line(error)) from error


def _core_schema(tp: Any, name: str, *, modern: bool = False) -> Schema:
    try:
        return _schema_of(tp, None)
    except PydanticSchemaGenerationError as error:
        if "schema for <class" not in str(error):
            raise _unusable(name, "pydantic knows nothing of it") from error
    except PydanticUndefinedAnnotation as error:
        raise _unusable(name, f"{error.name!r} is not defined where it is used") from error
    except PydanticUserError as error:
        if modern or error.code != "typed-dict-version":
            raise _unusable(name, _advice(error)) from error
        return _core_schema(modernised(tp), name, modern=True)
    # The type's own code, run to make its schema, may raise anything.
    except Exception as error:
        raise _unusable(name, f"{type(error).__name__}: {_first_line(error)}") from error
    return _schema_with_any_class(tp, name)


def _schema_with_any_class(tp: Any, name: str) -> Schema:
    """The schema in which classes unknown to pydantic are checks for instances."""
    try:
        # Some types refuse a configuration from outside, but take the one around them.
        schema = _schema_of(tuple[tp], ConfigDict(arbitrary_types_allowed=True))
    except Exception as error:
        raise _unusable(name, _first_line(error)) from error
    if schema["type"] == "definitions":
        return {**schema, "schema": schema["schema"]["items_schema"][0]}
    return schema["items_schema"][0]


def _schema_of(tp: Any, config: ConfigDict | None) -> Schema:
    caller, depth = _caller()
    adapter = TypeAdapter(tp, config=config, _parent_depth=depth)
    if not adapter.pydantic_complete:
        names = {**caller.f_globals, **caller.f_locals}
        adapter.rebuild(raise_errors=True, _types_namespace=names)
    return cast(Schema, adapter.core_schema)


def _caller() -> tuple[FrameType, int]:
    """The frame whose names a type's text may use, and how far it is from TypeAdapter."""
    frame, depth = currentframe(), 1
    assert frame is not None
    while frame.f_back and frame.f_globals.get("__name__", "").startswith("hornbook."):
        frame, depth = frame.f_back, depth + 1
    return frame, depth


def _advice(error: PydanticUserError) -> str:
    if error.code == "typed-dict-version":
        return "before Python 3.12 import TypedDict from typing_extensions, not from typing"
    return _first_line(error)


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]


def _unusable(name: str, why: str) -> DefinitionError:
    return DefinitionError(f"values cannot be checked against the type {name}: {why}")
