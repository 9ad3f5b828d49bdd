import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbook.canon import CanonError, Opaque, decode, encode

pytestmark = pytest.mark.requirement("codec:values:round-trip")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"$int": "seven"}, "$int cannot be read: invalid literal for int() with base 0: 'seven'"),
        ({"$int": 7}, "$int cannot be read: a text is expected, not int"),
        ({"$float": []}, "$float cannot be read: a text is expected, not list"),
        ({"$bytes": "?"}, None),
        ({"$date": "tomorrow"}, "$date cannot be read: Invalid isoformat string: 'tomorrow'"),
        ({"$timedelta": [1, 2]}, None),
        ({"$timedelta": [10**12, 0, 0]}, None),
        ({"$decimal": "x"}, None),
        ({"$uuid": "x"}, "$uuid cannot be read: badly formed hexadecimal UUID string"),
        ({"$tuple": {"a": 1}}, "$tuple cannot be read: a list is expected, not dict"),
        ({"$set": [[1]]}, "$set cannot be read: unhashable type: 'list'"),
        ({"$dict": [[1]]}, None),
        ({"$dict": [[[1], 2]]}, None),
        ({"$dict": [1]}, "$dict cannot be read: a list is expected, not int"),
    ],
)
def test_a_tag_that_we_would_not_write_is_refused(value, message):
    with pytest.raises(CanonError) as refusal:
        decode(value)
    if message is not None:
        assert str(refusal.value) == message


def test_nesting_without_end_is_refused():
    value = []
    for _ in range(5000):
        value = [value]
    with pytest.raises(CanonError, match=r"^nested deeper than 128 levels$"):
        decode(value)


def test_what_cannot_be_rebuilt_is_kept_as_it_was_written():
    written = {"$enum": "shop.Colour.RED", "value": "red"}
    kept = decode({"colour": written})["colour"]
    assert kept == Opaque('{"$enum":"shop.Colour.RED","value":"red"}')
    assert kept.json == written
    assert encode(kept) == written
    assert {kept: 1}[decode(written)] == 1


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-5, 5) | st.text(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(st.text(), inner)
            | st.dictionaries(st.sampled_from(["$int", "$set", "$dict", "$x", "$tuple"]), inner)
        ),
    )
)
def test_decoding_any_json_gives_a_value_or_one_clear_error(value):
    with contextlib.suppress(CanonError):
        decode(value)
