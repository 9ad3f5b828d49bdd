"""Paths into values, and the check of paths against types."""

import dataclasses
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from typing import (
    Annotated,
    Any,
    ClassVar,
    Generic,
    Literal,
    NamedTuple,
    NewType,
    NotRequired,
    Optional,
    Protocol,
    Required,
    TypeVar,
)
from typing import TypedDict as TypingTypedDict

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, RootModel, computed_field
from typing_extensions import ReadOnly, TypeAliasType, TypedDict

from hornbook.contracts.paths import (
    ABSENT,
    EACH,
    Absent,
    Match,
    check_path,
    joined,
    leaf_type,
    parse,
)
from hornbook.errors import DefinitionError

pytestmark = pytest.mark.requirement("contract:paths:output")

T = TypeVar("T")


class Item(BaseModel):
    name: str
    price: float | None = None


class Order(BaseModel):
    order_id: str = Field(alias="orderId")
    items: list[Item]
    by_name: dict[str, Item] = {}
    meta: Any = None
    tags: set[str] = set()
    pair: tuple[int, Item] | None = None

    @computed_field
    @property
    def total(self) -> float:
        return 3.5


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    known: int = 0


class Items(RootModel[list[Item]]):
    pass


class Point(NamedTuple):
    x: int
    item: Item


@dataclasses.dataclass
class Box(Generic[T]):
    value: T
    values: list[T]
    count: ClassVar[int] = 0
    given: dataclasses.InitVar[int] = 0


class Row(TypedDict, total=False):
    key: Required[int]
    rows: "list[Row]"
    note: ReadOnly[NotRequired[str]]


class Plain:
    """An ordinary class: `seen` is declared, `hidden` and the property are not."""

    seen: int
    limit: ClassVar[int] = 1
    __slots__ = ("__dict__", "slot")

    def __init__(self) -> None:
        self.seen = 1
        self.hidden = 2
        self.slot = 3

    @property
    def noisy(self) -> int:
        raise AssertionError("a path must not run this")


class Eager:
    value: int

    @property
    def value(self) -> int:  # type: ignore[no-redef]
        raise AssertionError("a path must not run this")


ORDER = Order(
    orderId="A17",
    items=[Item(name="nut"), Item(name="bolt", price=2.5)],
    by_name={"odd key": Item(name="cog"), "plain": Item(name="pin")},
)


def found(path: str, value: Any) -> dict[str, Any]:
    return {
        place.path: place.value if isinstance(place, Match) else ABSENT
        for place in parse(path).matches(value)
    }


# --- reading ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "segments"),
    [
        (".", ()),
        ("a", ("a",)),
        ("a.b", ("a", "b")),
        ("items[].price", ("items", EACH, "price")),
        ("items[0]", ("items", 0)),
        ("items[-1].a", ("items", -1, "a")),
        ("[][0]", (EACH, 0)),
        ('a["x.y"].z', ("a", "x.y", "z")),
        (r'["q\"r\\"]', ('q"r\\',)),
        ("order-id.größe", ("order-id", "größe")),
    ],
)
def test_a_path_is_read_into_its_segments(text: str, segments: tuple[object, ...]) -> None:
    assert parse(text).segments == segments


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "path '' is empty; write '.' for the whole value"),
        (
            "a.",
            "path 'a.' cannot be read from column 2 on, at '.': "
            "a path reads like 'a.b', 'items[].price' or 'items[0]'",
        ),
        (
            "items[x].price",
            "path 'items[x].price' cannot be read from column 6 on, at '[x].price': "
            'inside brackets stands nothing, a number or a "quoted" key',
        ),
        (
            "$.a",
            "path '$.a' cannot be read from column 1 on, at '$.a': "
            "a path reads like 'a.b', 'items[].price' or 'items[0]'",
        ),
        (3, "a path is a text, not 3"),
        (["a"], "a path is a text, not ['a']"),
    ],
)
def test_what_is_no_path_is_refused_with_the_place(text: Any, message: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        parse(text)
    assert str(caught.value) == message


@pytest.mark.parametrize("text", [".a", "a..b", "a[", "a]", "a b", "a[0]b", "*", "a[1.5]", 'a["x]'])
def test_a_malformed_path_is_refused(text: str) -> None:
    with pytest.raises(DefinitionError, match="cannot be read from column"):
        parse(text)


def test_reading_the_same_path_again_gives_the_same_object() -> None:
    assert parse("a.b[]") is parse("a.b[]")


segments = st.lists(
    st.text(min_size=1) | st.integers(-9, 9) | st.just(EACH), min_size=1, max_size=4
)


@given(segments)
def test_segments_that_are_written_down_are_read_back(parts: list[Any]) -> None:
    assert parse(joined(*parts)).segments == tuple(parts)


# --- values -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (".", {".": ORDER}),
        ("order_id", {"order_id": "A17"}),
        ("items[].price", {"items[0].price": None, "items[1].price": 2.5}),
        ("items[1].name", {"items[1].name": "bolt"}),
        ("items[-1].name", {"items[-1].name": "bolt"}),
        ("items[2].name", {"items[2].name": ABSENT}),
        ("by_name[].name", {'by_name["odd key"].name': "cog", "by_name.plain.name": "pin"}),
        ('by_name["odd key"].name', {'by_name["odd key"].name': "cog"}),
        ("total", {"total": 3.5}),
        ("meta.x", {"meta.x": ABSENT}),
        ("tags[]", {}),
        ("pair.name[].x", {"pair.name[].x": ABSENT}),
        ("model_config", {"model_config": ABSENT}),
    ],
)
def test_a_path_leads_into_a_model(path: str, expected: dict[str, Any]) -> None:
    assert found(path, ORDER) == expected


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        ("a.b", {"a": {"b": 1}}, {"a.b": 1}),
        ("a.b", {"a": None}, {"a.b": ABSENT}),
        ("a", {"a": None}, {"a": None}),
        ("[1]", {1: "one"}, {"[1]": "one"}),
        ("[]", {1: "one", "b": "two"}, {"[1]": "one", "b": "two"}),
        ("[]", [1, 2], {"[0]": 1, "[1]": 2}),
        ("[]", (1,), {"[0]": 1}),
        ("[]", {7}, {"[0]": 7}),
        ("[]", frozenset({7}), {"[0]": 7}),
        ("[]", deque([7]), {"[0]": 7}),
        ("[][]", [[1], [], [2, 3]], {"[0][0]": 1, "[2][0]": 2, "[2][1]": 3}),
        ("[].a", [{"a": 1}, {}], {"[0].a": 1, "[1].a": ABSENT}),
        ("[]", "text", {"[]": ABSENT}),
        ("[]", None, {"[]": ABSENT}),
        ("[0]", "text", {"[0]": ABSENT}),
        ("[0]", {7}, {"[0]": ABSENT}),
        ("x", Point(1, Item(name="n")), {"x": 1}),
        ("[1].name", Point(1, Item(name="n")), {"[1].name": "n"}),
        ("value.a", Box({"a": 1}, []), {"value.a": 1}),
        ("count", Box(1, []), {"count": ABSENT}),
        ("[].name", Items([Item(name="n")]), {"[0].name": "n"}),
        ("[0].name", Items([Item(name="n")]), {"[0].name": "n"}),
        ("root[0].name", Items([Item(name="n")]), {"root[0].name": "n"}),
        ("extra", Open(extra=1), {"extra": 1}),
        ("other", Open(extra=1), {"other": ABSENT}),
        ("x", iter([1]), {"x": ABSENT}),
        ("[]", iter([1]), {"[]": ABSENT}),
    ],
)
def test_a_path_leads_into_any_value(path: str, value: Any, expected: dict[str, Any]) -> None:
    assert found(path, value) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [("seen", 1), ("slot", 3), ("hidden", ABSENT), ("noisy", ABSENT), ("limit", ABSENT)],
)
def test_of_an_ordinary_object_only_what_its_class_declares_is_read(
    path: str, expected: object
) -> None:
    assert found(path, Plain()) == {path: expected}


def test_a_property_is_never_run_even_where_an_annotation_declares_its_name() -> None:
    assert found("value", Eager()) == {"value": ABSENT}


def test_looking_into_a_default_dict_adds_nothing_to_it() -> None:
    from collections import defaultdict

    value: defaultdict[str, int] = defaultdict(int)
    assert found("a", value) == {"a": ABSENT}
    assert not value


def test_a_single_path_gets_its_value_without_a_match() -> None:
    assert parse("a.b").get({"a": {"b": 1}}) == 1
    assert parse("a.b").get({"a": {}}) is ABSENT
    assert (repr(ABSENT), repr(Absent("a"))) == ("ABSENT", "nothing")
    assert list(parse("a").matches({})) == [Absent("a")]
    assert not parse("a[].b").single


json_values = st.recursive(
    st.none() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=12,
)


@given(json_values)
def test_a_concrete_path_leads_back_to_its_value(value: Any) -> None:
    for path in ("[]", "[][]"):
        for place in parse(path).matches(value):
            if isinstance(place, Match):
                assert parse(place.path).get(value) is place.value


# --- types --------------------------------------------------------------------------------

Rec = TypeAliasType("Rec", "list[Rec] | Item | None")
Pair = TypeAliasType("Pair", tuple[T, T], type_params=(T,))
UserId = NewType("UserId", str)


class HasName(Protocol):
    name: str


@pytest.mark.requirement("contract:paths:opaque")
@pytest.mark.parametrize(
    ("path", "tp", "kind"),
    [
        (".", int, "known"),
        (".", int | None, "optional"),
        ("order_id", Order, "known"),
        ("items[].name", Order, "known"),
        ("items[].price", Order, "optional"),
        ("items[0].name", Order, "unknown"),
        ("by_name[].name", Order, "known"),
        ("by_name.x.name", Order, "unknown"),
        ("meta", Order, "known"),
        ("meta.x", Order, "unknown"),
        ("tags[]", Order, "known"),
        ("pair[1].name", Order, "optional"),
        ("total", Order, "known"),
        ("anything", Open, "unknown"),
        ("key", Row, "known"),
        ("note", Row, "optional"),
        ("rows[].key", Row, "optional"),
        ("value.name", Box[Item], "known"),
        ("values[].name", Box[Item], "known"),
        ("value.name", Box, "unknown"),
        ("item.name", Point, "known"),
        ("[1].name", Point, "known"),
        ("[].name", Items, "known"),
        ("root[].name", Items, "known"),
        ("name", Item | str | None, "optional"),
        ("name", Item | dict[str, Any], "unknown"),
        ("name", Optional[Item], "optional"),  # noqa: UP045
        ("name", Annotated[Item, "note"], "known"),
        ("[].name", Sequence[Item], "known"),
        ("[0].name", Sequence[Item], "unknown"),
        ("[].name", tuple[Item, ...], "known"),
        ("[0].name", tuple[Item, int], "known"),
        ("[][].name", Mapping[str, list[Item]], "known"),
        ("[3].name", dict[int, Item], "unknown"),
        ("[0].name", Pair[Item], "known"),
        ("[].x", Any, "unknown"),
        ("x", object, "unknown"),
        ("x", T, "unknown"),
        ("x", "Unresolved", "unknown"),
        ("name", HasName, "known"),
        ("other", HasName, "unknown"),
        ("seen", Plain, "known"),
    ],
)
def test_a_type_says_whether_a_path_exists_in_its_values(path: str, tp: Any, kind: str) -> None:
    assert check_path(path, tp) == kind


@pytest.mark.requirement("contract:paths:unknown")
@pytest.mark.parametrize(
    ("path", "tp", "message"),
    [
        (
            "items[].prise",
            Order,
            "path 'items[].prise' does not fit Order: Item at 'items[]' has no field 'prise'; "
            "it has 'name', 'price'; the nearest is 'price'",
        ),
        (
            "orderId",
            Order,
            "path 'orderId' does not fit Order: Order has no field 'orderId'; it has "
            "'order_id', 'items', 'by_name', 'meta', 'tags', 'pair', 'total'; "
            "'orderId' is the alias of 'order_id'",
        ),
        (
            "tags[0]",
            Order,
            "path 'tags[0]' does not fit Order: set[str] at 'tags' has no position 0",
        ),
        (
            "pair[2]",
            Order,
            "path 'pair[2]' does not fit Order: tuple[int, Item] at 'pair' has no position 2",
        ),
        ("a", int, "path 'a' does not fit int: int has no fields, so no 'a'"),
        ("a", Literal["b"], "path 'a' does not fit Literal['b']: str has no fields, so no 'a'"),
        ("a", UserId, "path 'a' does not fit UserId: str has no fields, so no 'a'"),
        ("[]", str, "path '[]' does not fit str: str has no items"),
        ("[]", Item, "path '[]' does not fit Item: Item has no items"),
        ("x", Item | Order, None),
        ("name.x", Item, None),
        ("values[].nam", Box[Item], None),
        ("count", Box[Item], None),
        ("given", Box[Item], None),
        ("rows[].kei", Row, None),
        ("[2]", Point, None),
        ("x", dict[int, Item], None),
        ("by_name.x.nome", Order, None),
        ("a", Enum, None),
        ("a", Callable[[int], int], None),
        ("[]", Iterator[int], None),
        ("hidden", Plain, None),
        ("noisy", Plain, None),
        ("a", None, None),
    ],
)
def test_a_path_that_no_value_has_is_refused(path: str, tp: Any, message: str | None) -> None:
    with pytest.raises(DefinitionError) as caught:
        check_path(path, tp)
    if message is not None:
        assert str(caught.value) == message


def test_forward_references_and_recursive_types_are_followed() -> None:
    assert check_path("rows[].rows[].rows[].key", Row) == "optional"
    assert check_path("[].name", Rec) == "unknown"


def test_a_typed_dict_of_typing_is_followed_too() -> None:
    class Old(TypingTypedDict):
        a: int

    assert check_path("a", Old) == "known"
    with pytest.raises(DefinitionError, match="it has 'a'"):
        check_path("b", Old)


def test_where_an_annotation_does_not_resolve_the_names_are_still_known() -> None:
    @dataclasses.dataclass
    class Late:
        value: "NotDefinedAnywhere"  # type: ignore[name-defined]  # noqa: F821

    assert check_path("value.x", Late) == "unknown"
    with pytest.raises(DefinitionError, match="it has 'value'"):
        check_path("valu", Late)


def test_the_type_a_path_leads_to() -> None:
    assert leaf_type("items[].price", Order) == float | None
    assert leaf_type("[1].name", Point) is str
    assert leaf_type("meta.x", Order) is Any
