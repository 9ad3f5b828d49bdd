"""The cache changes no result: what it tells apart, and that nobody shares what it keeps."""

import dataclasses
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, time, timedelta, timezone, tzinfo
from decimal import Decimal
from enum import Enum, IntEnum
from pathlib import Path, PurePosixPath
from types import SimpleNamespace
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import pytest
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, TypeAdapter

from hornbook.engine import DiskCache, Engine, Hit, Life, MemoryCache, invoke


class Text(str):
    """A text of a class of its own."""


class Slotted(str):
    __slots__ = ("more",)


class Items(list[Any]):
    """A list that refines Python's."""


class Pair(NamedTuple):
    x: int
    y: int


class Plain:
    """An object that says nothing of itself."""


class Colour(Enum):
    RED = "x"


class Whole(IntEnum):
    ONE = 1


class Left(BaseModel):
    v: int = 1


class Right(BaseModel):
    v: int = 1


class Excluded(BaseModel):
    secret: int = Field(default=0, exclude=True)


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")


class Private(BaseModel):
    v: int = 1
    _q: int = PrivateAttr(default=0)


@dataclasses.dataclass
class Point:
    x: Any
    y: Any = dataclasses.field(default=0, repr=False, compare=False)


class Zone(tzinfo):
    """A time zone of somebody's own."""

    def utcoffset(self, dt: datetime | None) -> timedelta:
        return timedelta()


def numbered(cases: Iterable[Any]) -> list[Any]:
    """Cases by number, since their functions have no names."""
    given = (case if isinstance(case, tuple) else (case,) for case in cases)
    return [pytest.param(*case, id=str(number)) for number, case in enumerate(given)]


def private(q: int) -> Private:
    made = Private()
    made._q = q
    return made


def marked(text: str) -> Text:
    made = Text(text)
    made.mark = 1  # pyright: ignore[reportAttributeAccessIssue]
    return made


def twice(same: bool) -> list[list[int]]:
    one = [1]
    return [one, one if same else [1]]


def cyclic() -> list[Any]:
    made: list[Any] = []
    made.append(made)
    return made


def deep() -> list[Any]:
    made: list[Any] = []
    for _ in range(200):
        made = [made]
    return made


NOON = datetime(2020, 1, 1, 12, tzinfo=UTC)
SAME: list[Callable[[], Any]] = [
    lambda: [Text("a"), Colour.RED, Whole.ONE, Pair(1, 2), Items([1]), frozenset({1, "a"})],
    lambda: [Left(v=2), Excluded(secret=3), Open(more=1), Point(1), {1: {2, 3}}, b"a"],
    lambda: [NOON, NOON.replace(tzinfo=ZoneInfo("UTC")), time(1), timedelta(1), Decimal("1.0")],
    lambda: TypeAdapter(datetime).validate_json('"2020-01-01T12:00:00Z"'),
    lambda: [OrderedDict(a=1), Counter("ab"), PurePosixPath("a"), bytearray(b"a")],
    lambda: twice(same=True),
    cyclic,
]
DIFFERENT: list[tuple[Any, Any]] = [
    ({"a": {"x": 1, "y": 2}}, {"a": {"y": 2, "x": 1}}),
    ([Text("a")], ["a"]),
    ([Whole.ONE], [1]),
    ([Colour.RED], ["x"]),
    (Items([1]), [1]),
    (Pair(1, 2), (1, 2)),
    (OrderedDict(a=1), {"a": 1}),
    (Left(), Right()),
    (Left(), Left(v=1)),
    (Excluded(secret=1), Excluded(secret=2)),
    (Open(a=1, b=2), Open(b=2, a=1)),
    (Point(1, 1), Point(1, 2)),
    ([bytearray(b"a")], [b"a"]),
    ({1}, frozenset({1})),
    (NOON, NOON.replace(tzinfo=timezone(timedelta(0), "x"))),
    (NOON, NOON.replace(fold=1)),
    (["list", 1], [["list", 1]]),
    (twice(same=True), twice(same=False)),
]
ALWAYS: list[Callable[[], Any]] = [
    lambda: private(1),
    lambda: marked("a"),
    lambda: Slotted("a"),
    lambda: Plain(),
    lambda: [Plain()],
    lambda: defaultdict(int, a=1),
    lambda: iter([1]),
    lambda: NOON.replace(tzinfo=Zone()),
    lambda: len,
    deep,
]


def calls_of(kit: SimpleNamespace, first: Any, second: Any) -> int:
    """How often a primitive is called that is given one input, then another."""
    calls: list[Any] = []
    work = kit.work(lambda x: calls.append(x), name="one")

    def life() -> Life:
        yield from invoke(work, {"x": first}, place="p[0]")
        yield from invoke(work, {"x": second}, place="p[1]")

    Engine().run(life, name="p", value=None)
    return len(calls)


@pytest.mark.requirement("engine:cache:exact")
@pytest.mark.parametrize("made", numbered(SAME))
def test_what_no_step_can_tell_apart_is_asked_once(kit: SimpleNamespace, made: Any):
    assert calls_of(kit, made(), made()) == 1


@pytest.mark.requirement("engine:cache:exact")
@pytest.mark.parametrize(("first", "second"), numbered(DIFFERENT))
def test_class_and_order_tell_inputs_apart(kit: SimpleNamespace, first: Any, second: Any):
    assert calls_of(kit, first, second) == 2


@pytest.mark.requirement("engine:cache:exact")
@pytest.mark.parametrize("made", numbered(ALWAYS))
def test_what_may_hold_more_than_is_seen_is_always_asked(kit: SimpleNamespace, made: Any):
    assert calls_of(kit, made(), made()) == 2


def changing(kit: SimpleNamespace, made: Callable[[], Any], change: Callable[[Any], Any]) -> Any:
    """Four branches are given one output, and change it in turn."""
    make = kit.work(lambda x: made(), name="make", output=Any)
    use = kit.work(lambda x: change(x), name="use", pure=False)

    def branch(name: str) -> Any:
        def life(given: Any) -> Life:
            value = yield from invoke(make, {"x": 1}, place=f"p.{name}[0]")
            return (yield from invoke(use, {"x": value}, place=f"p.{name}[1]"))

        return kit.branch(name, life)

    return lambda: kit.together(*(branch(name) for name in "abcd"))


def popped(value: Any) -> Any:
    return value.pop()


MUTABLE: list[tuple[Callable[[], Any], Callable[[Any], Any]]] = [
    (lambda: [3, 1, 2], popped),
    (lambda: [[1, 2]], lambda value: value[0].pop()),
    (lambda: {"a": [1, 2]}, lambda value: value["a"].pop()),
    (lambda: {"a": 1}, lambda value: value.pop("a")),
    (lambda: ({1}, 2), lambda value: value[0].pop()),
    (lambda: {(1, 2)}, popped),
    (lambda: deque([1, 2]), popped),
    (lambda: defaultdict(list, a=[1]), lambda value: value["a"].pop()),
    (lambda: bytearray(b"ab"), popped),
    (lambda: Items([1, 2]), popped),
    (lambda: Point([1, 2]), lambda value: value.x.pop()),
    (lambda: Open(a=[1, 2]), lambda value: value.a.pop()),
    (lambda: private(5), lambda value: setattr(value, "_q", value._q + 1) or value._q),
    (lambda: twice(same=True), lambda value: (value[0].append(2), list(value[1]))[1]),
    (lambda: iter([1, 2]), lambda value: sum(value)),
    (lambda: (n for n in (1, 2)), lambda value: sum(value)),
    (lambda: [iter([1, 2])], lambda value: sum(value[0])),
    (lambda: Point(iter([1, 2])), lambda value: sum(value.x)),
]


@pytest.mark.requirement("engine:cache:own")
@pytest.mark.parametrize("mode", ["sync", "async"])
@pytest.mark.parametrize(("made", "change"), numbered(MUTABLE))
async def test_who_changes_an_output_changes_nobody_elses(
    kit: SimpleNamespace, mode: str, made: Any, change: Any
):
    life_of = changing(kit, made, change)
    plain, _, _ = await kit.lived(Engine(cache=None), life_of, mode)
    for cache in ("run", MemoryCache()):
        for _ in range(2):
            found, error, _ = await kit.lived(Engine(cache=cache), life_of, mode)
            assert (found, error) == (plain, None)


@pytest.mark.requirement("engine:cache:own")
def test_what_never_changes_is_shared_and_what_has_no_copy_is_made_anew(kit: SimpleNamespace):
    def outputs(made: Callable[[], Any]) -> list[Any]:
        work = kit.work(lambda x: made(), name="make")

        def life() -> Life:
            one = yield from invoke(work, {"x": 1}, place="p[0]")
            other = yield from invoke(work, {"x": 1}, place="p[1]")
            return [one, other]

        return Engine().run(life, name="p", value=None)

    for made in (lambda: "a" * 99, lambda: (1.5, frozenset({"b" * 99})), lambda: NOON):
        one, other = outputs(made)
        assert one is other
    single = Plain()
    assert all(one is single for one in outputs(lambda: single))


@pytest.mark.requirement("engine:cache:disk-faithful")
@pytest.mark.parametrize(
    ("value", "output", "kept"),
    [
        (private(1), Private, 0),
        ([Text("a")], Any, 0),
        (Left(), Left, 1),
        ({"b": 1, "a": 2}, dict[str, int], 1),
        (NOON, datetime, 1),
    ],
)
def test_a_disk_keeps_only_what_comes_back_the_same(
    tmp_path: Path, value: Any, output: Any, kept: int
):
    cache = DiskCache(tmp_path / "cache.db")
    cache.put("key", Hit(value=value), output)
    assert len(cache) == kept
    hit = cache.get("key", output)
    assert hit is None or repr(hit.value).startswith(repr(value)[:30])
