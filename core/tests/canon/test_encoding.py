import dataclasses
import datetime as dt
import enum
import hashlib
import inspect
import sys
import types
from collections import Counter, OrderedDict, namedtuple
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, RootModel, SecretStr

from hornbook.canon import Rules, decode, digest, dumps, encode, loads, serialise
from hornbook.canon.encoding import MAX_DEPTH

HERE = __name__

zones = st.none() | st.builds(
    lambda minutes: dt.timezone(dt.timedelta(minutes=minutes)), st.integers(-1439, 1439)
)
texts = st.text(st.characters(categories=None)) | st.sampled_from(
    ["$", "$int", "\ud800\udc00", "\\ud800"]
)
leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([2**53, 2**53 + 1, -(2**53) - 1, 2**64]),
    st.floats(allow_nan=False),
    st.sampled_from([-0.0, 1e16, 9999999999999998.0, 1e-4, 9.999e-5, 5e-324, 1e22]),
    texts,
    st.binary(),
    st.dates(),
    st.datetimes(timezones=zones),
    st.times(timezones=zones),
    st.timedeltas(),
    st.decimals(allow_nan=False),
    st.just(Decimal("1E+1000")),
    st.uuids(),
    st.builds(Path, st.text(st.characters(exclude_characters="\0"))),
)
keys = leaves | st.tuples(leaves, leaves) | st.frozensets(leaves, max_size=2)
values = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner),
        st.tuples(inner),
        st.tuples(inner, inner),
        st.dictionaries(texts, inner),
        st.dictionaries(keys, inner, max_size=3),
        st.sets(keys, max_size=4),
        st.frozensets(keys, max_size=4),
    ),
    max_leaves=15,
)
plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(min_value=1e-4, max_value=1e15)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=15,
)


def same(one, other):
    """Whether two values are equal, and of equal types all the way down."""
    if type(one) is not type(other):
        return False
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return len(one) == len(other) and all(
            any(same(key, theirs) and same(item, other[theirs]) for theirs in other)
            for key, item in one.items()
        )
    if isinstance(one, (set, frozenset)):
        return len(one) == len(other) and all(
            any(same(item, theirs) for theirs in other) for item in one
        )
    return repr(one) == repr(other) if isinstance(one, float) else one == other


@pytest.mark.requirement("codec:values:round-trip")
@given(values)
def test_what_is_written_is_read_back_equal_and_of_the_same_type(value):
    assert same(decode(loads(dumps(value))), value)


@pytest.mark.requirement("codec:values:round-trip")
@given(values)
def test_what_is_read_back_is_written_in_the_same_bytes(value):
    written = encode(value)
    assert loads(serialise(written)) == written
    assert serialise(encode(decode(written))) == serialise(written)


@pytest.mark.requirement("codec:values:round-trip")
@given(plain)
def test_plain_json_is_written_as_it_is(value):
    if not any(key.startswith("$") for key in _keys(value)):
        assert encode(value) == value


def _keys(value):
    if isinstance(value, dict):
        yield from value
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _keys(item)


@pytest.mark.requirement("codec:values:nan")
def test_floats_that_json_has_not_are_tagged():
    assert encode([float("nan"), float("inf"), float("-inf")]) == [
        {"$float": "nan"},
        {"$float": "inf"},
        {"$float": "-inf"},
    ]
    assert str(decode({"$float": "nan"})) == "nan"
    assert decode({"$float": "-inf"}) == float("-inf")


@pytest.mark.requirement("codec:bytes:canonical")
def test_floats_with_an_exponent_are_tagged():
    assert encode([1e16, 1e15, 0.0001, 0.00001, -1e-7, 0.0]) == [
        {"$float": "1e+16"},
        1e15,
        0.0001,
        {"$float": "1e-05"},
        {"$float": "-1e-07"},
        0.0,
    ]


@pytest.mark.requirement("codec:values:big-ints")
def test_ints_beyond_what_a_float_holds_are_exact():
    assert encode([2**53, 2**53 + 1, -(2**70)]) == [
        2**53,
        {"$int": "9007199254740993"},
        {"$int": "-1180591620717411303424"},
    ]
    huge = 7**5000
    assert encode(huge) == {"$int": hex(huge)}
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(640)
    try:
        assert decode(encode(huge)) == huge
    finally:
        sys.set_int_max_str_digits(limit)


@pytest.mark.requirement("codec:values:surrogates")
def test_lone_surrogates_are_escaped():
    assert encode("a\ud800\\") == {"$str": "a\\ud800\\\\"}
    assert decode({"$str": "a\\ud800\\\\"}) == "a\ud800\\"
    assert encode({"\udfff": 1}) == {"$dict": [[{"$str": "\\udfff"}, 1]]}


@pytest.mark.requirement("codec:values:round-trip")
def test_keys_that_json_has_not_or_that_look_like_tags_are_written_as_pairs():
    assert encode({1: "a", "1": "b"}) == {"$dict": [["1", "b"], [1, "a"]]}
    assert encode({"$float": "nan"}) == {"$dict": [["$float", "nan"]]}
    assert encode({"a": {"$ref": 1}, "b": 2}) == {"a": {"$dict": [["$ref", 1]]}, "b": 2}
    assert decode(encode({"$float": "nan"})) == {"$float": "nan"}


class Colour(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


class Word(enum.StrEnum):
    YES = "yes"


class Text(str):
    def __str__(self):
        return "not me"


class Number(int):
    pass


class Order(BaseModel):
    model_config = ConfigDict(extra="allow")
    number: int
    note: str | None = None


@dataclasses.dataclass
class Line:
    sku: str
    count: int


Point = namedtuple("Point", "x y")


@pytest.mark.requirement("trace:write:bad-value")
@pytest.mark.parametrize(
    ("value", "written"),
    [
        (Colour.RED, {"$enum": f"{HERE}.Colour.RED", "value": "red"}),
        (Level.HIGH, {"$enum": f"{HERE}.Level.HIGH", "value": 3}),
        ({Word.YES: 1}, {"$dict": [[{"$enum": f"{HERE}.Word.YES", "value": "yes"}, 1]]}),
        (Text("me"), "me"),
        (Number(7), 7),
        (True, True),
        (
            Order.model_validate({"number": 7, "extra": 1}),
            {"$object": f"{HERE}.Order", "fields": {"number": 7, "note": None, "extra": 1}},
        ),
        (
            RootModel[int](5),
            {"$object": f"{HERE}.RootModel[int]", "fields": {"root": 5}},
        ),
        (Order.model_construct(note="x"), {"$object": f"{HERE}.Order", "fields": {"note": "x"}}),
        (Line("a", 2), {"$object": f"{HERE}.Line", "fields": {"sku": "a", "count": 2}}),
        (Point(1, 2), {"$object": f"{HERE}.Point", "fields": {"x": 1, "y": 2}}),
        (OrderedDict(a=1), {"a": 1}),
        (Counter("aab"), {"a": 2, "b": 1}),
        (types.MappingProxyType({"a": 1}), {"a": 1}),
        (bytearray(b"ab"), {"$bytes": "YWI="}),
        (memoryview(b"ab"), {"$bytes": "YWI="}),
        (Decimal("sNaN"), {"$decimal": "sNaN"}),
        (Fraction(1, 3), {"$repr": "Fraction(1, 3)", "$type": "fractions.Fraction"}),
        (1j, {"$repr": "1j", "$type": "complex"}),
        (range(3), {"$repr": "range(0, 3)", "$type": "range"}),
        (len, {"$repr": "<built-in function len>", "$type": "builtin_function_or_method"}),
        (
            SecretStr("hunter2"),
            {"$repr": "SecretStr('**********')", "$type": "pydantic.types.SecretStr"},
        ),
        ({"b", "a"}, {"$set": ["a", "b"]}),
        (dt.timedelta(days=-1, microseconds=1), {"$timedelta": [-1, 0, 1]}),
    ],
    ids=str,
)
def test_values_are_written_by_their_type(value, written):
    assert encode(value) == written
    assert encode(decode(encode(value))) == written


@pytest.mark.requirement("trace:write:bad-value")
def test_numbers_of_numpy_are_written_as_numbers():
    numpy = pytest.importorskip("numpy")
    assert encode([numpy.int64(5), numpy.float32(0.5), numpy.float64(0.25)]) == [5, 0.5, 0.25]


class Hostile:
    """Raises wherever anybody looks."""

    @property
    def __class__(self):
        raise ValueError("no class")

    def __repr__(self):
        raise ValueError("no repr")

    def __str__(self):
        raise ValueError("no str")

    def __iter__(self):
        raise ValueError("no items")

    def __len__(self):
        raise ValueError("no length")

    def __eq__(self, other):
        raise ValueError("no equality")

    def __hash__(self):
        return 1


class HostileDict(dict):
    def items(self):
        raise ValueError("no items")


class HostileZone(dt.tzinfo):
    def utcoffset(self, when):
        raise ValueError("no offset")


class BadName:
    def __repr__(self):
        return 7


@pytest.mark.requirement("trace:write:bad-value")
@pytest.mark.parametrize(
    ("value", "written"),
    [
        (
            Hostile(),
            {"$repr": f"<{HERE}.Hostile: its repr raised ValueError>", "$type": f"{HERE}.Hostile"},
        ),
        (
            BadName(),
            {"$repr": f"<{HERE}.BadName: its repr raised TypeError>", "$type": f"{HERE}.BadName"},
        ),
        (
            HostileDict(a=1),
            {
                "$repr": f"<{HERE}.HostileDict: reading it raised ValueError>",
                "$type": f"{HERE}.HostileDict",
            },
        ),
    ],
    ids=["object", "repr", "dict"],
)
def test_a_value_that_raises_spoils_only_itself(value, written):
    assert encode({"bad": value, "good": [1, value]}) == {"bad": written, "good": [1, written]}


@pytest.mark.requirement("trace:write:bad-value")
def test_a_datetime_whose_zone_raises_spoils_only_itself():
    written = encode([dt.datetime(2026, 1, 1, tzinfo=HostileZone()), 1])
    assert isinstance(written, list)
    assert written[1] == 1
    assert written[0]["$type"] == "datetime.datetime"


@pytest.mark.requirement("trace:write:bad-value")
def test_a_cycle_is_described_where_it_closes():
    loop: dict[str, Any] = {"name": "x"}
    loop["again"] = [loop]
    assert encode(loop) == {
        "name": "x",
        "again": [{"$repr": "<dict of 2 items: contains itself>", "$type": "dict"}],
    }
    items: list[Any] = []
    items.append(items)
    assert encode(items) == [{"$repr": "<list of 1 items: contains itself>", "$type": "list"}]
    line = Line("a", 1)
    line.sku = line  # type: ignore[assignment]
    assert encode(line)["fields"]["sku"]["$repr"] == f"<{HERE}.Line of 2 items: contains itself>"


@pytest.mark.requirement("trace:write:bad-value")
def test_what_stands_twice_is_no_cycle():
    shared = {"a": [1]}
    assert encode([shared, shared, [shared]]) == [{"a": [1]}, {"a": [1]}, [{"a": [1]}]]


@pytest.mark.requirement("trace:write:bad-value")
@pytest.mark.parametrize(
    "wrap",
    [lambda x: [x], lambda x: {"a": x}, lambda x: (x,), lambda x: {1: x}],
    ids=["list", "dict", "tuple", "pairs"],
)
def test_what_lies_too_deep_is_described(wrap):
    value: Any = [1]
    for _ in range(10_000):
        value = wrap(value)
    written = serialise(encode(value))
    assert b": nested too deep>" in written
    assert len(written) < 5000
    assert loads(written) == encode(value)


@pytest.mark.requirement("trace:write:bad-value")
def test_depth_up_to_the_limit_is_kept():
    value: Any = 1
    for _ in range(MAX_DEPTH):
        value = [value]
    assert decode(loads(dumps(value))) == value


@pytest.mark.requirement("trace:write:bad-value")
def test_a_host_deep_in_recursion_is_not_harmed():
    value: Any = {"leaf": 1}
    for _ in range(10):
        value = {"a": [value, Line("a", 1), {1: 2}]}

    def descend(frames):
        return descend(frames - 1) if frames else encode(value)

    whole = encode(value)
    room_left = sys.getrecursionlimit() - len(inspect.stack())
    found = [descend(room_left - room) for room in range(25, 150)]
    assert whole not in found[:10]
    assert found[-1] == whole


@pytest.mark.requirement("trace:write:bad-value")
def test_a_value_that_would_unfold_without_end_is_described():
    value: Any = [1]
    for _ in range(60):
        value = [value, value]
    rules = Rules()
    rules.max_nodes = 1000
    assert b": too large>" in serialise(encode(value, rules))


@pytest.mark.requirement("trace:write:bad-value")
def test_a_long_repr_is_cut():
    class Long:
        def __repr__(self):
            return "x" * 10_000

    written = encode(Long())
    assert written["$repr"] == "x" * 400 + "... [cut, 10000 characters in all]"


@pytest.mark.requirement("codec:bytes:canonical")
def test_a_description_does_not_depend_on_addresses():
    class Plain:
        pass

    assert encode(Plain()) == encode(Plain())
    assert " at 0x" not in encode(Plain())["$repr"]


@pytest.mark.requirement("trace:write:bad-value")
def test_a_dict_that_another_thread_changes_is_read_from_a_copy():
    class Growing:
        def __repr__(self):
            shared.setdefault("more", 1)
            return "growing"

    shared: dict[str, Any] = {"first": Growing(), "second": 2}
    assert encode(shared) == {
        "first": {"$repr": "growing", "$type": f"{Growing.__module__}.{Growing.__qualname__}"},
        "second": 2,
        "more": 1,
    }


@pytest.mark.requirement("trace:write:bad-value")
@given(st.recursive(st.builds(Hostile) | st.builds(HostileDict) | st.builds(object), st.lists))
def test_encoding_never_raises(value):
    loads(serialise(encode(value)))


@pytest.mark.requirement("codec:bytes:canonical")
@given(st.dictionaries(st.text(), st.integers()), st.randoms())
def test_the_order_of_keys_and_sets_changes_no_byte(value, random):
    items = list(value.items())
    random.shuffle(items)
    assert dumps(dict(items)) == dumps(value)
    assert dumps(set(dict(items))) == dumps(set(value))


@pytest.mark.requirement("codec:bytes:canonical")
def test_a_digest_is_the_hash_of_the_canonical_bytes():
    assert dumps({"b": [1, 2.5, "é"], "a": None}) == '{"a":null,"b":[1,2.5,"é"]}'.encode()
    assert digest({"b": 1, "a": (1,)}) == digest({"a": (1,), "b": 1})
    assert digest((1,)) != digest([1])
    assert digest("x") == "sha256:" + hashlib.sha256(b'"x"').hexdigest()
