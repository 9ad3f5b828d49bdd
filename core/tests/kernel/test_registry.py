from datetime import date
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, Field

from hornbook.errors import DefinitionError, HornbookError
from hornbook.kernel import ToolRegistry, ToolSpec


class Item(BaseModel):
    sku: str
    parts: list["Item"] = []


def order(
    customer: Annotated[str, Field(description="the customer's id")],
    items: list[Item],
    speed: Literal["slow", "fast"] = "slow",
    *,
    due: date | None = None,
) -> str:
    """Place an order for a
    customer.

    More words.
    """
    return customer


async def find(schema: str, copy: int = 1) -> None: ...


class Shop:
    def open_till(self, amount: float) -> None:
        """Open the till."""

    @staticmethod
    def helper() -> None: ...

    def _secret(self) -> None: ...

    def close(self) -> None: ...


class Caller:
    def __call__(self, name: str) -> None:
        """Call somebody."""


def message(build) -> str:
    with pytest.raises(DefinitionError) as caught:
        build()
    return str(caught.value)


@pytest.mark.requirement("guard:registry:functions")
def test_a_function_is_a_tool_with_its_name_docstring_and_parameters():
    tool = ToolRegistry.of(order)["order"]
    assert tool.description == "Place an order for a customer."
    assert list(tool.parameters["properties"]) == ["customer", "items", "speed", "due"]
    assert tool.parameters["required"] == ["customer", "items"]
    assert tool.parameters["properties"]["customer"]["description"] == "the customer's id"
    assert not tool.read_only


@pytest.mark.requirement("guard:registry:functions")
def test_functions_specs_and_objects_with_methods_are_registered_in_order():
    spec = ToolSpec(name="spec", read_only=True)
    registry = ToolRegistry.of(find, spec, Shop(), Caller())
    assert registry.names == ("find", "spec", "open_till", "close", "Caller")
    assert registry["open_till"].description == "Open the till."
    assert list(registry["open_till"].parameters["properties"]) == ["amount"]
    assert list(registry["find"].parameters["properties"]) == ["schema", "copy"]
    assert list(registry["Caller"].parameters["properties"]) == ["name"]
    assert registry["spec"] is spec


@pytest.mark.requirement("guard:registry:functions")
def test_a_function_that_takes_any_keyword_is_open():
    def anything(known: int, **more: str) -> None: ...

    assert ToolRegistry.of(anything)["anything"].shape.open
    assert not ToolRegistry.of(order)["order"].shape.open


@pytest.mark.requirement("guard:registry:functions")
def test_what_cannot_be_called_by_name_or_read_is_one_sentence():
    def by_position(a, /, b): ...
    def many(*names): ...
    def unknown(a: "Nowhere"): ...  # noqa: F821

    assert message(lambda: ToolRegistry.of(by_position)) == (
        "tool 'by_position': parameter 'a' is positional-only; tools are called by name"
    )
    assert message(lambda: ToolRegistry.of(many)) == (
        "tool 'many': parameter 'names' takes any number of positional arguments; "
        "tools are called by name"
    )
    assert message(lambda: ToolRegistry.of(unknown)) == (
        "tool 'unknown': its annotations cannot be read: name 'Nowhere' is not defined"
    )
    assert message(lambda: ToolRegistry.of(3)) == (
        "3 is no tool: give a function, a ToolSpec, or an object with public methods"
    )
    assert message(lambda: ToolRegistry.of(find, find)) == "tool 'find' is registered twice"


SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}


@pytest.mark.requirement("guard:registry:json-schema")
@pytest.mark.parametrize(
    "tool",
    [
        {"name": "t", "description": "d", "parameters": SCHEMA},
        {"type": "function", "function": {"name": "t", "description": "d", "parameters": SCHEMA}},
        {"type": "function", "name": "t", "description": "d", "parameters": SCHEMA, "strict": True},
        {"name": "t", "description": "d", "input_schema": SCHEMA},
        {"name": "t", "description": "d", "inputSchema": SCHEMA},
    ],
)
def test_tools_are_read_from_the_forms_in_which_hosts_write_them(tool):
    spec = ToolRegistry.from_json_schema([tool])["t"]
    assert spec == ToolSpec(name="t", description="d", parameters=SCHEMA)


@pytest.mark.requirement("guard:registry:json-schema")
def test_a_tool_without_parameters_takes_none():
    spec = ToolRegistry.from_json_schema([{"name": "now"}])["now"]
    assert spec.parameters == {"type": "object", "properties": {}}
    assert not spec.shape.open


@pytest.mark.requirement("bad-input:tool-schema:invalid")
@pytest.mark.parametrize(
    ("tool", "expected"),
    [
        (
            {"name": "t", "parameters": {"type": "object", "properties": {"n": {"type": "int"}}}},
            "tool 't': parameters is not JSON Schema: at #/properties/n/type: unknown type 'int'; "
            "there are array, boolean, integer, null, number, object, string",
        ),
        ({"name": "t", "parameters": [1]}, "tool 't': parameters is not JSON Schema: it is [1]"),
        (
            {"name": "t", "parameters": {"type": "array"}},
            "tool 't': parameters must be of type object, not 'array'",
        ),
        ({"parameters": {}}, "tool at position 0 has no name: {'parameters': {}}"),
        ({"name": ""}, "tool '': a name is 1 to 200 characters"),
        ("t", "tool at position 0 is no JSON object: 't'"),
    ],
)
def test_a_tool_that_is_not_json_schema_is_one_sentence_with_tool_place_and_fault(tool, expected):
    assert message(lambda: ToolRegistry.from_json_schema([tool])) == expected


@pytest.mark.requirement("guard:tool:unknown")
def test_an_unknown_name_is_an_error_that_names_the_nearest():
    registry = ToolRegistry.of(order, find, Shop())
    with pytest.raises(KeyError) as caught:
        registry["FindX"]
    assert isinstance(caught.value, HornbookError)
    assert str(caught.value) == "no tool 'FindX'; nearest: find"
    assert registry.get("nothing") is None
    assert registry.nearest("openTill") == ("open_till",)
    assert registry.nearest("zzzz") == ()


@pytest.mark.requirement("guard:registry:json-schema")
def test_the_schema_of_a_spec_does_not_follow_later_changes_of_the_mapping():
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    spec = ToolSpec(name="t", parameters=schema)
    schema["type"] = "array"
    assert spec.parameters["type"] == "object"
