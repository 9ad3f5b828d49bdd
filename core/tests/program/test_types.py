"""Which types may stand for which: laws, soundness against pydantic's strict check, messages."""

import enum
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import (
    Annotated,
    Any,
    Generic,
    Literal,
    NamedTuple,
    NewType,
    NotRequired,
    Protocol,
    TypeVar,
    Union,
)

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, TypeAdapter, ValidationError
from typing_extensions import TypeAliasType, TypedDict

from hornbook.program import assignable, mismatch
from hornbook.program.ports import ports_type

T = TypeVar("T")
N = TypeVar("N", int, str)
B = TypeVar("B", bound=float)


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Animal(BaseModel):
    name: str


class Dog(Animal):
    tail: int = 1


class Named(TypedDict):
    name: str


class Aged(TypedDict):
    name: str
    age: int


class MaybeAged(TypedDict):
    name: str
    age: NotRequired[int]


@dataclass
class Point:
    x: int
    y: int


class Pair(NamedTuple):
    left: int
    right: str


class Box(Generic[T]):
    pass


class IntBox(Box[int]):
    pass


class Names(list[str]):
    pass


class Sized(Protocol):
    size: int


class Big:
    size: int = 3


UserId = NewType("UserId", int)
AdminId = NewType("AdminId", UserId)
Numbers = TypeAliasType("Numbers", list[int])
Tree = TypeAliasType("Tree", "list[Tree] | int")

LEAVES: list[tuple[Any, st.SearchStrategy[Any]]] = [
    (int, st.integers(2, 9)),
    (float, st.floats(allow_nan=False)),
    (bool, st.booleans()),
    (str, st.text(max_size=3)),
    (type(None), st.none()),
    (Literal["a", "b"], st.sampled_from("ab")),
    (Literal["a"], st.just("a")),
    (Literal[3, "b"], st.sampled_from([3, "b"])),
    (Literal[True, False], st.booleans()),
    (Colour, st.sampled_from(Colour)),
    (Literal[Colour.RED], st.just(Colour.RED)),
    (Animal, st.builds(Animal, name=st.just("a"))),
    (Dog, st.builds(Dog, name=st.just("d"))),
    (Named, st.just({"name": "n"})),
    (Aged, st.just({"name": "n", "age": 3})),
    (MaybeAged, st.sampled_from([{"name": "n"}, {"name": "n", "age": 3}])),
    (Point, st.just(Point(1, 2))),
    (UserId, st.integers(2, 9)),
    (AdminId, st.integers(2, 9)),
]


def either(*types: Any) -> Any:
    # Not every form of type takes `|`.
    return Union[types]  # noqa: UP007


Typed = tuple[Any, st.SearchStrategy[Any]]


def deeper(inner: st.SearchStrategy[Typed]) -> st.SearchStrategy[Typed]:
    def made(
        build: Callable[..., Any], values: Callable[..., st.SearchStrategy[Any]], many: int = 1
    ) -> st.SearchStrategy[Typed]:
        parts = st.tuples(*[inner] * many)
        return parts.map(
            lambda drawn: (build(*(p[0] for p in drawn)), values(*(p[1] for p in drawn)))
        )

    def few(part: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        return st.lists(part, max_size=2)

    return st.one_of(
        made(lambda a: list[a], few),
        made(lambda a: Sequence[a], few),
        made(lambda a: Iterable[a], few),
        made(lambda a: tuple[a, ...], lambda v: few(v).map(tuple)),
        made(lambda a, b: tuple[a, b], st.tuples, 2),
        made(lambda a: dict[str, a], lambda v: st.dictionaries(st.text(max_size=2), v, max_size=2)),
        made(lambda a: Mapping[str, a], lambda v: st.dictionaries(st.just("k"), v)),
        made(either, st.one_of, 2),
        made(lambda a: either(a, None), lambda v: st.one_of(st.none(), v)),
        made(lambda a: Annotated[a, "said"], lambda v: v),
    )


TYPED = st.recursive(st.sampled_from(LEAVES), deeper, max_leaves=4)
TYPES = TYPED.map(lambda one: one[0])


def accepts(tp: Any, value: Any) -> bool:
    try:
        found = TypeAdapter(tp).validate_python(value, strict=True)
        if not isinstance(value, list | tuple | dict | str) and hasattr(found, "__next__"):
            list(found)
    except ValidationError:
        return False
    return True


@pytest.mark.requirement("program:types:laws")
@given(TYPES)
def test_a_type_is_assignable_to_itself_to_any_and_to_its_unions(tp: Any):
    assert assignable(tp, tp)
    assert assignable(tp, Any)
    assert assignable(Any, tp)
    assert assignable(tp, object)
    assert assignable(tp, either(tp, Big))
    assert assignable(tp, either(tp, None))
    assert assignable(tp, Annotated[tp, "said"])
    assert assignable(Annotated[tp, "said"], tp)


@pytest.mark.requirement("program:types:laws")
@given(TYPES, TYPES, TYPES)
def test_a_union_is_assignable_when_all_its_members_are(one: Any, other: Any, target: Any):
    both = assignable(one, target) and assignable(other, target)
    assert assignable(either(one, other), target) == both


@pytest.mark.requirement("program:types:laws")
@given(TYPES, TYPES, TYPES)
def test_assignability_is_transitive(one: Any, two: Any, three: Any):
    if assignable(one, two) and assignable(two, three):
        assert assignable(one, three)


@pytest.mark.requirement("program:types:laws")
@given(TYPES, TYPES)
def test_containers_are_covariant(one: Any, other: Any):
    fits = assignable(one, other)
    assert assignable(list[one], list[other]) == fits
    assert assignable(dict[str, one], Mapping[str, other]) == fits
    assert assignable(tuple[one], tuple[other]) == fits
    assert assignable(ports_type({"p": one}), ports_type({"p": other})) == fits


@pytest.mark.requirement("program:types:sound")
@given(TYPED, TYPES, st.data())
def test_what_is_assignable_is_accepted_by_the_strict_check(
    source: Typed, target: Any, data: st.DataObject
):
    tp, values = source
    value = data.draw(values)
    if assignable(tp, target) and accepts(tp, value):
        assert accepts(target, value)


@pytest.mark.requirement("program:types:forms")
@pytest.mark.parametrize(
    ("source", "target"),
    [
        (bool, Literal[True, False]),
        (bool, Literal[True] | Literal[False] | str),
        (Colour, Literal[Colour.RED, Colour.BLUE]),
        (Literal[1, 2], int),
        (Literal["a"], Literal["a", "b"] | None),
        (int, float),
        (AdminId, UserId),
        (AdminId, int),
        (Dog, Animal),
        (Aged, Named),
        (Aged, MaybeAged),
        (Aged, Mapping[str, object]),
        (Aged, dict),
        (Aged, Iterable[str]),
        (ports_type({"a": int, "b": int}), dict[str, int]),
        (ports_type({"name": str, "age": int}), Named),
        (Animal, ports_type({"name": str})),
        (Point, ports_type({"x": int, "y": int})),
        (Pair, tuple[int, str]),
        (Pair, Sequence[int | str]),
        (Pair, ports_type({"left": int})),
        (tuple[int, ...], tuple),
        (tuple[()], tuple[int, ...]),
        (list[int], Collection[int]),
        (set[int], Set[int | str]),
        (list, list[int]),
        (Names, list[str]),
        (Names, Sequence[str]),
        (IntBox, Box[int]),
        (Box[bool], Box[bool | str]),
        (Numbers, Sequence[int]),
        (list[int], Tree),
        (Tree, Tree),
        (type[Dog], type[Animal]),
        (Callable[[int], bool], Callable[[int], bool]),
        (Big, Sized),
        (None, int | None),
        (dict[str, int], Iterable[str]),
        (dict[str, int], Mapping),
        (N, int | str),
        (B, float),
    ],
    ids=str,
)
def test_it_may_stand_there(source: Any, target: Any):
    assert mismatch(source, target) is None


@pytest.mark.requirement("program:types:forms", "program:types:messages")
@pytest.mark.parametrize(
    ("source", "target", "why"),
    [
        (str, int, "str is no int"),
        (bool, int, "bool is no int"),
        (bool, float, "bool is no float"),
        (float, int, "float is no int"),
        (int, UserId, "int is no UserId"),
        (UserId, AdminId, "UserId is no AdminId"),
        (str, Sequence[str], "str is no Sequence[str]: its characters are no items"),
        (str, Literal["a"], "str is no Literal['a']"),
        (Literal["a", "b"], Literal["a"], "'b' is no Literal['a']"),
        (Literal["a", "b"], Literal["a"] | int, "'b' is no Union[Literal['a'], int]"),
        (int | None, int, "None is no int"),
        (None, int, "None is no int"),
        (list[str], list[int], "list[str] is no list[int]: str is no int"),
        (dict[str, str], dict[str, int], "dict[str, str] is no dict[str, int]: str is no int"),
        (tuple[int, int], tuple[int], "tuple[int, int] is no tuple[int]: 2 items for 1"),
        (tuple[int, str], tuple[int, ...], "tuple[int, str] is no tuple[int, ...]: str is no int"),
        (tuple[int, ...], tuple[int, int], "tuple[int, ...] is no tuple[int, int]"),
        (tuple[int, ...], tuple[str, ...], "tuple[int, ...] is no tuple[str, ...]: int is no str"),
        (list[int], tuple[int, ...], "list[int] is no tuple[int, ...]"),
        (tuple[int, str], tuple[int, int], "tuple[int, str] is no tuple[int, int]: str is no int"),
        (Animal, Dog, "Animal is no Dog"),
        (Named, Aged, "Named has no 'age', which Aged asks"),
        (MaybeAged, Aged, "'age' may be missing in MaybeAged"),
        (dict[str, str], Named, "dict[str, str] is no Named"),
        (Named, Animal, "Named is no Animal"),
        (Named, Mapping[str, str], "Named is no Mapping[str, str]: object is no str"),
        (Animal, Named, "Animal is no Named"),
        (ports_type({"name": int}), Named, "at 'name': int is no str"),
        (int, ports_type({"a": int}), "int is no {a: int}"),
        (object, int, "object is no int"),
        (Box[int], Box[str], "Box[int] is no Box[str]: int is no str"),
        (Dog, Sized, "Dog is no Sized"),
        (Callable[[int], bool], Callable[[str], bool],
         "Callable[[int], bool] is no Callable[[str], bool]: the parameters differ"),
    ],
    ids=str,
)  # fmt: skip
def test_it_may_not(source: Any, target: Any, why: str):
    assert mismatch(source, target) == why


@pytest.mark.requirement("program:types:generic")
@pytest.mark.parametrize(
    ("source", "target", "variable", "solved"),
    [
        (list[int], list[T], T, int),
        (list[int] | None, list[T] | None, T, int),
        (dict[str, list[Dog]], dict[str, list[T]], T, Dog),
        (tuple[int, str], tuple[T, T], T, int | str),
        (bool, B | None, B, None),
        (int, T | str, T, int),
        (Literal["a"], T | int, T, Literal["a"]),
        (int, N, N, int),
    ],
    ids=str,
)
def test_type_variables_are_solved(source: Any, target: Any, variable: Any, solved: Any):
    found: dict[Any, Any] = {}
    fits = assignable(source, target, found)
    assert fits is (solved is not None)
    assert found.get(variable) == solved


@pytest.mark.requirement("program:types:generic")
def test_a_type_variable_holds_to_its_bound_and_constraints():
    assert mismatch(str, B) == "str is no float"
    assert mismatch(float, N) == "float is no Union[int, str]"
    assert mismatch(list[str], list[B]) == "list[str] is no list[~B]: str is no float"


class Part(enum.IntFlag):
    LEFT = 1
    RIGHT = 2


class Word(str):
    """A text of a class of its own."""


class Spoken(enum.StrEnum):
    YES = "yes"


class Deeper(TypedDict, Generic[T]):
    value: T
    inner: "Deeper[list[T]] | None"


@pytest.mark.requirement("program:types:special")
def test_flags_are_not_only_their_members_and_texts_of_any_class_are_no_items():
    assert not assignable(Part, Literal[Part.LEFT, Part.RIGHT])
    assert assignable(Part, Part)
    assert not assignable(Word, Sequence[str])
    assert not assignable(Spoken, Iterable[str])
    assert assignable(Spoken, str)


@pytest.mark.requirement("program:types:special")
def test_a_record_that_holds_itself_with_ever_larger_arguments_is_decided():
    assert assignable(Deeper[bool], Deeper[object])
    assert not assignable(Deeper[int], Deeper[str])
