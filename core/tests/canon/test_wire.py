import contextlib
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbook.canon import CanonError, dumps, encode, loads, serialise, wire


@pytest.fixture
def without_orjson(monkeypatch):
    monkeypatch.setitem(sys.modules, "orjson", None)
    wire._serialiser.cache_clear()
    yield
    wire._serialiser.cache_clear()


scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(),
    st.sampled_from(['\x00\x1f\x7f\u2028\u2029\ufeff\U0001f600\\"/\b\f\n\r\t', "\ud83d\ude00"]),
    st.floats(1e-5, 1e17),
)
values = st.recursive(
    scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=40
)


@pytest.mark.requirement("codec:bytes:canonical")
@given(values)
def test_orjson_and_the_standard_library_write_the_same_bytes(value):
    pytest.importorskip("orjson")
    plain = encode(value)
    assert wire._serialiser()(plain) == wire._plain_serialiser()(plain)


@pytest.mark.requirement("codec:bytes:canonical")
def test_without_orjson_the_standard_library_writes(without_orjson):
    assert dumps({"b": 0.1, "a": "é"}) == '{"a":"é","b":0.1}'.encode()


@pytest.mark.requirement("codec:read:strict")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": 1, "a": 2}', "duplicate key 'a' at ."),
        ('{"v": [{"x": 1}, {"s": 1, "s": 1}]}', "duplicate key 's' at v[1]"),
        ('{"verdict": {"a": {"k": 1, "k": 1}}}', "duplicate key 'k' at verdict.a"),
        ("[1, NaN]", "NaN at [1] is no JSON number"),
        ('{"a": {"b": -Infinity}}', "-Infinity at a.b is no JSON number"),
        ("[1e999]", "1e999 at [0] is no JSON number"),
        ('{"a": "\\ud800"}', "lone surrogate at a"),
        ('{"\\udfff": 1}', "lone surrogate at ."),
        ('["\ud800"]', "lone surrogate at [0]"),
        ("", "not JSON: Expecting value: line 1 column 1 (char 0)"),
        ('{"a": 1', "not JSON: Expecting ',' delimiter: line 1 column 8 (char 7)"),
        ('{"a": "tor', "not JSON: Unterminated string starting at: line 1 column 7 (char 6)"),
        ("[1] [2]", "not JSON: Extra data: line 1 column 5 (char 4)"),
        ("[1,]", "not JSON: Expecting value: line 1 column 4 (char 3)"),
        ("{'a': 1}", None),
        ("[" * 200 + "]" * 200, "nested deeper than 128 levels at " + "[0]" * 26 + "[0"),
        ("[" * 1_000_000, "nested deeper than 128 levels"),
        ('{"a":' * 1_000_000, "nested deeper than 128 levels"),
        ("9" * 100_000, None),
    ],
)
def test_text_that_is_not_strict_is_refused_saying_what_and_where(text, message):
    with pytest.raises(CanonError) as refusal:
        loads(text)
    if message is not None:
        assert str(refusal.value) == message
    assert refusal.value.code == "canon"


@pytest.mark.requirement("codec:read:strict")
@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'"a\xff"', "not UTF-8: invalid start byte at byte 2"),
        (b'"\xed\xa0\x80"', "not UTF-8: invalid continuation byte at byte 1"),
        (b'\xef\xbb\xbf"a"', "not JSON: Expecting value: line 1 column 1 (char 0)"),
    ],
)
def test_bytes_that_are_not_utf_8_are_refused(data, message):
    with pytest.raises(CanonError) as refusal:
        loads(data)
    assert str(refusal.value) == message


@pytest.mark.requirement("codec:read:strict")
def test_what_is_strict_is_read():
    assert loads(b'{"a": [1, 2.50, "\\ud83d\\ude00", null, true]}') == {
        "a": [1, 2.5, "\U0001f600", None, True]
    }
    deep = "[" * 128 + "]" * 128
    assert serialise(loads(deep)) == deep.encode()
    assert loads("[[1]]", max_depth=2) == [[1]]
    with pytest.raises(CanonError):
        loads("[[[1]]]", max_depth=2)


@pytest.mark.requirement("codec:read:strict")
@given(st.text(st.characters(categories=None)) | st.binary())
def test_reading_anything_gives_a_value_or_one_clear_error(data):
    with contextlib.suppress(CanonError):
        assert loads(serialise(encode(loads(data)))) == encode(loads(data))


@pytest.mark.requirement("codec:read:strict")
@given(values.map(dumps), st.data())
def test_a_torn_text_is_refused(data, draw):
    cut = draw.draw(st.integers(0, len(data) - 1)) if data else 0
    if data[:1] in b'{["':
        with pytest.raises(CanonError):
            loads(data[:cut])


@pytest.mark.requirement("workspace:import:light")
def test_importing_the_codec_loads_neither_json_nor_hashlib():
    script = (
        "import sys, hornbook.canon; print([n for n in ('json', 'hashlib') if n in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, text=True)
    assert out.stdout == "[]\n"
