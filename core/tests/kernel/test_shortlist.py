"""Registries of any size, and tools that are none."""

import pytest

from hornbook.errors import DefinitionError
from hornbook.kernel.kernel import Kernel
from hornbook.kernel.neural.primitives import Primitives
from hornbook.kernel.registry import ToolRegistry, ToolSpec
from hornbook.kernel.shortlist import Shortlist

from .kernels import made, task

THINGS = ("invoice", "flight", "ticket", "playlist", "parcel", "contract", "sensor", "garden")


def many(count=500):
    def spec(at):
        thing = THINGS[at % len(THINGS)]
        schema = {
            "type": "object",
            "properties": {"name": {"type": "string"}},
            "required": ["name"],
        }
        return ToolSpec(
            name=f"{thing}_operation_{at}", description=f"Handles a {thing}.", parameters=schema
        )

    refuel = ToolSpec(name="refuelData", description="Adds mobile data to a telephone line.")
    return ToolRegistry([*(spec(at) for at in range(count - 1)), refuel])


@pytest.mark.requirement("kernel:shortlist:bm25")
def test_the_tools_that_fit_a_text_are_shown():
    shortlist = Shortlist(many())
    shown = shortlist.of("Adding 3GB of data to my line L-555")
    assert len(shown) == 30
    assert "refuelData" in [one.name for one in shown]
    flights = shortlist.of("book flights")
    assert all(one.name.startswith("flight") for one in flights)


@pytest.mark.requirement("kernel:shortlist:bm25")
def test_a_small_registry_is_shown_whole_and_what_is_asked_for_always():
    assert len(Shortlist(many(30)).of("anything")) == 30
    shown = [one.name for one in Shortlist(many()).of("book flights", ["garden_operation_7"])]
    assert "garden_operation_7" in shown
    assert len(shown) == 30


@pytest.mark.requirement("kernel:shortlist:embedder")
def test_an_embedder_finds_what_shares_no_word():
    def embed(texts):
        return [
            [1.0, 0.0] if "telephone" in text or "roaming" in text else [0.0, 1.0] for text in texts
        ]

    plain = Shortlist(many(), 5)
    meaning = Shortlist(many(), 5, embed)
    assert "refuelData" not in [one.name for one in plain.of("top up for roaming")]
    assert "refuelData" in [one.name for one in meaning.of("top up for roaming")]


@pytest.mark.requirement("kernel:shortlist:many-tools")
def test_five_hundred_tools_work():
    asked = []

    def turns(request):
        asked.append(len(request.tools))
        return {"tasks": [task("t1", "flight_operation_1", name="X-1")]}

    def match(request):
        asked.append(len(request.tools))
        return {"tool_name": request.task["tool_name"]}

    registry = many()
    calls = {name: lambda **arguments: "done" for name in registry}
    kernel = Kernel(registry, primitives=Primitives(turns=turns, match_func=match), calls=calls)
    result = kernel.run("handle X-1")
    assert result.reports == ()
    assert made(result) == [("flight_operation_1", {"name": "X-1"})]
    assert asked == [30, 30]


@pytest.mark.requirement("kernel:registry:refused")
def test_tools_that_cannot_be_are_refused_by_name():
    tree = {
        "type": "object",
        "properties": {"tree": {"$ref": "#/$defs/node"}},
        "required": ["tree"],
        "$defs": {"node": {"type": "object", "properties": {"child": {"$ref": "#/$defs/node"}}}},
    }
    plan = Primitives(
        turns=lambda request: {"tasks": [task("t1", "plant", tree={"child": {"child": {}}})]}
    )
    kernel = Kernel(
        ToolRegistry.from_json_schema([{"name": "plant", "parameters": tree}]),
        primitives=plan,
        calls={"plant": lambda tree: "planted"},
    )
    assert made(kernel.run("plant")) == [("plant", {"tree": {"child": {"child": {}}}})]
    for tools, told in (
        ([{"name": "a"}, {"name": "a"}], "tool 'a' is registered twice"),
        ([{"name": "a", "parameters": {"type": "nonsense"}}], "tool 'a': parameters is not JSON"),
        ([{"name": "a", "parameters": 7}], "tool 'a': parameters is not JSON Schema"),
        ([7], "tool at position 0 is no JSON object: 7"),
    ):
        with pytest.raises(DefinitionError, match=told):
            ToolRegistry.from_json_schema(tools)
