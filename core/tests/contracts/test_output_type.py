"""Checking values against types: strictly, at every depth, and without converting."""

import dataclasses
import typing
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from enum import Enum, IntEnum
from functools import cached_property
from typing import Annotated, Any, Generic, Literal, NamedTuple, NotRequired, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import (
    AfterValidator,
    AnyUrl,
    Base64Bytes,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    Json,
    PrivateAttr,
    RootModel,
    SecretStr,
    TypeAdapter,
    create_model,
    field_validator,
    model_validator,
)
from typing_extensions import TypedDict

from hornbook.contracts import Contract
from hornbook.contracts.output_type import OutputType
from hornbook.contracts.paths import Absent
from hornbook.errors import DefinitionError

pytestmark = pytest.mark.requirement("check:output:strict", "contract:construct:output")

T = TypeVar("T")


class Item(BaseModel):
    name: str
    price: float = 0.0


class Order(BaseModel):
    items: list[Item]
    first: Item | None = None


class Row(TypedDict):
    a: int
    b: NotRequired[str]


class Point(NamedTuple):
    x: int
    y: int = 0


class Color(Enum):
    RED = "red"


class Level(IntEnum):
    LOW = 1


class Unknown:
    """A class that pydantic knows nothing of."""


def problems(tp: Any, value: Any, **options: Any) -> list[tuple[str, str]]:
    return [(found.path, found.expected) for found in OutputType(tp, **options).problems(value)]


# --- strict -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tp", "value"),
    [
        (int, 1),
        (float, 1),
        (Decimal, Decimal(1)),
        (list[int], [1]),
        (tuple[int, str], (1, "a")),
        (dict[str, list[int]], {"a": [1]}),
        (Mapping[str, int], {"a": 1}),
        (Sequence[int], (1, 2)),
        (set[int], {1}),
        (deque[int], deque([1])),
        (defaultdict[str, int], defaultdict(int, a=1)),
        (OrderedDict[str, int], OrderedDict(a=1)),
        (date, date(2026, 1, 1)),
        (datetime, datetime(2026, 1, 1)),
        (Literal["a", 1], 1),
        (Color, Color.RED),
        (Level, Level.LOW),
        (Item | int | None, None),
        (Row, {"a": 1}),
        (Point, Point(1)),
        (Item, Item(name="a")),
        (Callable[[int], int], abs),
        (type[int], bool),
        (Any, object()),
        (None, None),
        (Unknown | None, None),
    ],
)
def test_a_value_of_the_type_has_no_problems(tp: Any, value: Any) -> None:
    checked = OutputType(tp)
    assert checked.problems(value) == ()
    assert checked.validate(value) is None
    assert checked.validator.isinstance_python(value)


@pytest.mark.parametrize(
    ("tp", "value", "expected"),
    [
        (int, "1", [(".", "a valid integer")]),
        (int, True, [(".", "a valid integer")]),
        (list[int], (1,), [(".", "a valid list")]),
        (list[int], ["1", 2, None], [("[0]", "a valid integer"), ("[2]", "a valid integer")]),
        (dict[str, int], {1: 2}, [("[1]", "a key that is a valid string")]),
        (dict[str, int], {"a.b": "x"}, [('["a.b"]', "a valid integer")]),
        (dict[date, int], {date(2026, 1, 1): ""}, None),
        (set[int], {"a"}, [("[0]", "a valid integer")]),
        (tuple[int, str], (1,), [("[1]", "a value")]),
        (Row, {"b": 1}, [("a", "a value"), ("b", "a valid string")]),
        (Row, Item(name="a"), [(".", "a valid dictionary")]),
        (Item, {"name": "a"}, [(".", "an instance of Item")]),
        (list[Item], [{"name": "a"}], [("[0]", "an instance of Item")]),
        (Point, (1, 2), [(".", "an instance of Point")]),
        (Point, Point("1", 2), None),  # type: ignore[arg-type]
        (Color, "red", [(".", "an instance of Color")]),
        (Literal["a", "b"], "c", [(".", "'a' or 'b'")]),
        (int | str, [], [(".", "a valid integer or a valid string")]),
        (int | list[Item], [Item.model_construct(name=3)], [("[0].name", "a valid string")]),
        (Annotated[int, Field(ge=3)], 1, [(".", "greater than or equal to 3")]),
        (Unknown, 1, [(".", "an instance of Unknown")]),
        (list[Unknown], [1], [("[0]", "an instance of Unknown")]),
        (Json[list[int]], "[1]", [(".", "a valid list")]),
        (Annotated[int, BeforeValidator(int)], "1", [(".", "a valid integer")]),
    ],
)
def test_another_value_is_told_by_place_and_expectation(
    tp: Any, value: Any, expected: list[tuple[str, str]] | None
) -> None:
    found = problems(tp, value)
    assert found == expected if expected is not None else found


def test_a_problem_tells_what_was_found_and_pydantics_name_for_it() -> None:
    bad, missing = OutputType(Row).problems({"b": 1})[::-1]
    assert (bad.path, bad.observed, bad.kind) == ("b", 1, "string_type")
    assert (missing.path, missing.observed, missing.kind) == ("a", Absent("a"), "missing")


def test_a_failed_validator_is_told_in_its_own_words() -> None:
    def even(value: int) -> int:
        if value % 2:
            raise ValueError("an even number")
        return value

    assert problems(list[Annotated[int, AfterValidator(even)]], [2, 3]) == [
        ("[1]", "an even number")
    ]


def test_a_validator_that_crashes_is_not_taken_for_a_bad_value() -> None:
    def crash(value: int) -> int:
        raise RuntimeError("boom")

    with pytest.raises(RuntimeError, match="boom"):
        OutputType(Annotated[int, AfterValidator(crash)]).problems(1)


def test_lax_checking_lets_pass_what_could_be_converted() -> None:
    assert problems(int, "1", strict=False) == []
    assert problems(Item, {"name": "a", "price": "1"}, strict=False) == []
    assert problems(list[int], ("1", "x"), strict=False) == [
        ("[1]", "a valid integer, unable to parse string as an integer")
    ]


@pytest.mark.requirement("check:output:same-object")
def test_checking_changes_nothing_in_the_value() -> None:
    value = {"a": 1, "b": "x", "more": [1]}
    before = {**value, "more": [1]}
    assert problems(Row, value) == []
    assert value == before


def test_an_iterator_is_not_consumed() -> None:
    value = iter([1, 2])
    assert problems(Iterable[int], value) == []
    assert list(value) == [1, 2]


# --- revalidation -------------------------------------------------------------------------


class Frozen(BaseModel):
    model_config = ConfigDict(frozen=True)
    value: list[int]


class Root(RootModel[list[int]]):
    pass


class Box(BaseModel, Generic[T]):
    value: T


class Tree(BaseModel):
    size: int
    children: "list[Tree]" = []


class Cat(BaseModel):
    kind: Literal["cat"] = Field("cat", alias="petKind")
    lives: int = 9


class Dog(BaseModel):
    kind: Literal["dog"] = Field("dog", alias="petKind")
    lives: int = 1


Pet = Annotated[Cat | Dog, Field(discriminator="kind")]


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, int]


class Hidden(BaseModel):
    seen: int
    _private: int = PrivateAttr(default=1)


@dataclasses.dataclass
class Data:
    a: int
    item: Item | None = None
    late: int = dataclasses.field(init=False, default=1)


@dataclasses.dataclass(slots=True)
class Slotted:
    a: int


@dataclasses.dataclass
class Initialised:
    a: int
    start: dataclasses.InitVar[int]

    def __post_init__(self, start: int) -> None:
        self.a += start


@dataclasses.dataclass
class GenericData(Generic[T]):
    value: T


def changed(instance: Any, **attributes: Any) -> Any:
    for name, value in attributes.items():
        object.__setattr__(instance, name, value)
    return instance


MUTATED = [
    (Item, changed(Item(name="a"), name=1), "name"),
    (Item, Item.model_construct(name=1), "name"),
    (Item, Item.model_construct(), "name"),
    (Order, Order(items=[changed(Item(name="a"), price="x")]), "items[0].price"),
    (Order, changed(Order(items=[]), first={"name": "a"}), "first"),
    (list[Order], [Order(items=[changed(Item(name="a"), name=1)])], "[0].items[0].name"),
    (dict[str, Item], {"a": changed(Item(name="a"), name=1)}, "a.name"),
    (Item | None, changed(Item(name="a"), name=1), "name"),
    (Cat | Dog, changed(Cat(), lives="x"), "lives"),
    (Pet, changed(Cat(), lives="x"), "lives"),
    (list[Pet], [changed(Dog(), lives="x")], "[0].lives"),
    (Frozen, changed(Frozen(value=[1]), value=["x"]), "value[0]"),
    (Root, changed(Root([1]), root=["x"]), "[0]"),
    (Box[int], changed(Box[int](value=1), value="x"), "value"),
    (Box[int], Box(value="x"), "value"),
    (Box[Item], Box[Item](value=changed(Item(name="a"), name=1)), "value.name"),
    (Tree, Tree(size=1, children=[changed(Tree(size=1), size="x")]), "children[0].size"),
    (list[Tree], [Tree(size=1, children=[changed(Tree(size=1), size="x")])], None),
    (Row, {"a": changed(Item(name="a"), name=1)}, "a"),
    (Open, Open.model_construct(extra="x"), "extra"),
    (Hidden, changed(Hidden(seen=1), seen="x"), "seen"),
    (Data, changed(Data(1), a="x"), "a"),
    (Data, changed(Data(1), late="x"), "late"),
    (Data, Data(1, changed(Item(name="a"), name=1)), "item.name"),
    (list[Slotted], [changed(Slotted(1), a="x")], "[0].a"),
    (Initialised, changed(Initialised(1, 2), a="x"), "a"),
    (GenericData[int], GenericData("x"), "value"),
]


@pytest.mark.requirement("check:output:revalidate")
@pytest.mark.parametrize(("tp", "value", "path"), MUTATED)
def test_what_was_assigned_to_an_instance_is_looked_at_at_every_depth(
    tp: Any, value: Any, path: str | None
) -> None:
    found = problems(tp, value)
    assert found
    assert path is None or found[0][0] == path


@pytest.mark.requirement("check:output:revalidate")
def test_an_instance_that_is_not_revalidated_is_trusted() -> None:
    bad = changed(Item(name="a"), name=1)
    assert problems(Item, bad, revalidate="never") == []
    assert problems(list[Item], [bad], revalidate="never") == []
    assert problems(list[Item], [3], revalidate="never") == [("[0]", "an instance of Item")]


@pytest.mark.requirement("check:output:revalidate")
def test_the_class_keeps_its_own_configuration() -> None:
    bad = changed(Item(name="a"), name=1)
    assert problems(Item, bad) == [("name", "a valid string")]
    assert TypeAdapter(Item).validate_python(bad) is bad


def instance_of(annotation: Any, raw: Any, **config: Any) -> tuple[type[BaseModel], BaseModel]:
    made: type[BaseModel] = create_model(
        "Made", __config__=ConfigDict(**config), field=(annotation, ...)
    )
    return made, made(field=raw)


@pytest.mark.requirement("check:output:revalidate")
@pytest.mark.parametrize(
    ("annotation", "raw", "config"),
    [
        (Annotated[int, Field(alias="theField")], None, {"validate_by_name": True}),
        (Json[list[int]], "[1]", {}),
        (Base64Bytes, b"aGVsbG8=", {}),
        (SecretStr, "x", {}),
        (AnyUrl, "http://example.org", {}),
        (Decimal, "1.5", {}),
        (Iterable[int], [1], {}),
        (Color, "red", {"use_enum_values": True}),
        (list[Level], [1], {"use_enum_values": True}),
        (Annotated[list[str], BeforeValidator(lambda text: text.split(","))], "a,b", {}),
        (Point, (1, 2), {}),
        (Item, {"name": "a"}, {}),
        (Pet, {"petKind": "dog"}, {}),
        (Slotted, {"a": 1}, {}),
        (datetime, "2026-01-01T00:00:00", {}),
    ],
)
def test_a_good_instance_passes_however_its_fields_were_made(
    annotation: Any, raw: Any, config: dict[str, Any]
) -> None:
    made, instance = instance_of(annotation, 1 if raw is None else raw, **config)
    assert problems(made, instance) == []
    assert problems(list[made], [instance]) == []  # type: ignore[valid-type]


@pytest.mark.requirement("check:output:revalidate")
def test_a_good_instance_passes_although_raw_data_would_not() -> None:
    class Strange(BaseModel):
        model_config = ConfigDict(extra="forbid")
        name: str = Field(alias="theName")

        def __init__(self, only: str) -> None:
            super().__init__(theName=only)

        @cached_property
        def length(self) -> int:
            return len(self.name)

        @model_validator(mode="before")
        @classmethod
        def take(cls, data: Any) -> Any:
            return {"theName": data["theName"].strip()}

    class Stranger(Strange):
        more: int = 1

    value = Strange(" a ")
    assert value.length == 1
    assert problems(Strange, value) == []
    assert problems(list[Strange], [Stranger("b")]) == []
    assert problems(Initialised, Initialised(1, 2)) == []
    assert problems(Strange, changed(value, name=1)) == [("name", "a valid string")]


@pytest.mark.requirement("check:output:revalidate")
def test_validators_of_a_model_run_again_on_a_copy() -> None:
    seen: list[str] = []

    class Checked(BaseModel):
        low: int
        high: int

        @field_validator("low", mode="before")
        @classmethod
        def prepare(cls, value: Any) -> Any:
            seen.append("before")
            return value

        @model_validator(mode="wrap")
        @classmethod
        def around(cls, value: Any, handler: Callable[[Any], Any]) -> Any:
            seen.append(type(value).__name__)
            return handler(value)

        @model_validator(mode="after")
        def ordered(self) -> "Checked":
            if self.low > self.high:
                raise ValueError("low is at most high")
            self.low = -1
            return self

    value = Checked.model_construct(low=1, high=2)
    assert problems(Checked, value) == []
    assert (value.low, seen) == (1, ["Checked"])
    assert problems(Checked, changed(value, low=3)) == [(".", "low is at most high")]


def test_a_field_may_have_any_name() -> None:
    class Named(BaseModel):
        type: Item
        config: Item
        default: Item
        metadata: Item
        serialization: Item

    bad = Item.model_construct(name=1)
    value = Named.model_construct(**dict.fromkeys(Named.model_fields, bad))
    assert [path for path, _ in problems(Named, value)] == [
        "type.name",
        "config.name",
        "default.name",
        "metadata.name",
        "serialization.name",
    ]


def test_a_cyclic_instance_is_told_as_one() -> None:
    tree = Tree(size=1)
    tree.children.append(tree)
    found = OutputType(Tree).problems(tree)
    assert [(problem.path, problem.kind) for problem in found] == [
        ("children[0]", "recursion_loop")
    ]


@pytest.mark.requirement("check:output:revalidate")
def test_lax_checking_takes_an_instance_by_name_and_data_by_alias() -> None:
    assert problems(Cat, Cat(), strict=False) == []
    assert problems(Cat, {"petKind": "cat"}, strict=False) == []
    assert problems(Cat, changed(Cat(), lives="x"), strict=False) == [
        ("lives", "a valid integer, unable to parse string as an integer")
    ]


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)


@given(values, st.sampled_from([int, float, str, list[int], dict[str, int | None], Row, Any]))
def test_strict_checking_agrees_with_pydantic_where_nothing_is_rewritten(
    value: Any, tp: Any
) -> None:
    agreed = not problems(tp, value)
    checked = OutputType(tp)
    assert agreed == checked.validator.isinstance_python(value)
    try:
        TypeAdapter(tp).validate_python(value, strict=True)
    except ValueError:
        assert not agreed
    else:
        assert agreed


# --- building -----------------------------------------------------------------------------


class OldRow(typing.TypedDict):
    a: int


class WithUnknown(TypedDict):
    a: Unknown


@dataclasses.dataclass
class DataWithUnknown:
    a: Unknown


def test_of_a_class_unknown_to_pydantic_instances_are_asked_for_inside_records_too() -> None:
    assert problems(WithUnknown, {"a": Unknown()}) == []
    assert problems(WithUnknown, {"a": 1}) == [("a", "an instance of Unknown")]
    assert problems(DataWithUnknown, DataWithUnknown(1)) == [  # type: ignore[arg-type]
        ("a", "an instance of Unknown")
    ]


def test_names_are_looked_up_where_the_type_is_used() -> None:
    class Local(BaseModel):
        a: int

    value = [Local(a=1)]
    assert OutputType(list["Local"]).problems(value) == ()
    assert Contract("made here", output=list["Local"]).check(value).ok


@pytest.mark.parametrize(
    ("tp", "message"),
    [
        (
            list["Missing"],  # type: ignore[name-defined]  # noqa: F821
            "values cannot be checked against the type list['Missing']: "
            "'Missing' is not defined where it is used",
        ),
        (3, "values cannot be checked against the type 3: pydantic knows nothing of it"),
    ],
)
def test_a_type_that_cannot_be_checked_is_refused_with_what_to_do(tp: Any, message: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        OutputType(tp)
    assert str(caught.value) == message


def test_a_schema_of_the_types_own_that_raises_is_refused() -> None:
    class Broken:
        @classmethod
        def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
            raise RuntimeError("no schema today")

    with pytest.raises(DefinitionError) as caught:
        OutputType(Broken)
    assert str(caught.value) == (
        "values cannot be checked against the type Broken: RuntimeError: no schema today"
    )


def test_typings_typed_dict_is_taken_before_python_3_12_too() -> None:
    rows = OutputType(list[OldRow])
    assert rows.validate([{"a": 1}]) is None
    assert [problem.path for problem in rows.problems([{"a": "x"}, {}])] == [
        "[0].a",
        "[1].a",
    ]


class OldTree(typing.TypedDict, total=False):
    label: typing.Required[str]
    children: list["OldTree"]
    row: "OldRow | None"


def test_a_typed_dict_of_typing_may_be_optional_in_parts_and_hold_itself() -> None:
    tree = OutputType(OldTree)
    assert tree.validate({"label": "a", "children": [{"label": "b", "row": None}]}) is None
    wrong = {"label": "a", "children": [{"row": {"a": "x"}}]}
    assert [problem.path for problem in tree.problems(wrong)] == [
        "children[0].label",
        "children[0].row.a",
    ]


def test_an_output_type_shows_what_it_checks() -> None:
    assert (
        repr(OutputType(list[Item])) == "OutputType(list[Item], strict=True, revalidate='always')"
    )
