import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbook.canon import dumps, loads
from hornbook.errors import TraceError
from hornbook.trace import chain
from hornbook.trace.chain import Line, follows, is_sealed, last_line, record_of, seal

pytestmark = pytest.mark.requirement("trace:chain:tampering")

keys = st.text().filter(lambda key: key != "h")
bodies = st.dictionaries(keys, st.integers() | st.text(), min_size=1).map(dumps)


@given(bodies, bodies)
def test_a_sealed_line_follows_exactly_what_it_was_sealed_after(first, second):
    line, own = seal(b"", first)
    later, last = seal(own, second)
    assert follows(b"", line) == own
    assert follows(own, later) == last
    assert follows(b"", later) is None
    assert is_sealed(line)
    assert loads(line) == {**loads(first), "h": own.decode()}


@given(st.binary())
def test_what_we_did_not_seal_follows_nothing(raw):
    assert follows(b"", raw) is None
    assert not is_sealed(raw)


@given(st.lists(st.binary(max_size=40), max_size=6), st.integers(0, 40_000))
def test_the_last_whole_line_is_found_from_the_end(tmp_path_factory, parts, padding):
    path = tmp_path_factory.mktemp("tail") / "file"
    data = b"\n".join([*parts, b"x" * padding, b""])
    for content in (data, data[:-1], data + b"torn", b"torn", b""):
        path.write_bytes(content)
        lines = content.split(b"\n")[:-1]
        assert last_line(path) == (lines[-1] + b"\n" if lines else None)


def test_a_record_is_an_object(tmp_path):
    assert record_of(tmp_path, Line(3, b'{"a":1}\n')) == {"a": 1}
    with pytest.raises(TraceError) as refused:
        record_of(tmp_path, Line(3, b"7\n"))
    assert str(refused.value) == f"{tmp_path}, line 3: not a record but '7'"


@pytest.mark.requirement("bad-input:record:foreign")
def test_a_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(TraceError) as refused:
        list(chain.lines_of(tmp_path / "x"))
    assert str(refused.value) == f"{tmp_path}/x cannot be read: No such file or directory"
