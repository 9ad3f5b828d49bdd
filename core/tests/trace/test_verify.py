import json
import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hornbook.canon import loads, serialise
from hornbook.errors import TraceError
from hornbook.trace.chain import seal
from hornbook.trace.verify import Verification, verify_trace


def resealed(lines, start=0):
    """Lines with a chain that is right again from `start` on, as a forger would make it."""
    previous = lines[start - 1][-67:-3] if start else b""
    kept = lines[:start]
    for line in lines[start:]:
        body = line[: line.rindex(b',"h":"')] + b"}"
        sealed, previous = seal(previous, body)
        kept.append(sealed)
    return kept


@pytest.mark.requirement("trace:verify:status")
def test_a_run_that_ended_is_complete(complete):
    file = complete(24)
    whole = Verification(status="complete", files=1, events=50, open_steps=(), problems=())
    assert verify_trace(file.path.parent) == whole
    assert verify_trace(str(file.path)) == whole
    assert whole.ok


@pytest.mark.requirement("trace:verify:status")
def test_a_killed_run_is_incomplete(killed, make, fields):
    file = killed(2)
    check = verify_trace(file.path.parent)
    assert (check.status, check.ok, check.open_steps) == ("incomplete", False, ())
    assert check.problems == ("no run.end: the run was stopped, or is still going on",)


@pytest.mark.requirement("trace:verify:status")
def test_a_step_without_an_end_is_open(make, fields):
    file = make()
    file.append(fields("step.start", "1.1", name="pay"))
    file.append(fields("step.end", "1.2"))
    file.end(fields("run.end", file.run))
    check = verify_trace(file.path.parent)
    assert (check.status, check.open_steps) == ("incomplete", ("1.1",))
    assert check.problems == ("step 1.1 (pay) has no end", "step 1.2 has no start")


@pytest.mark.requirement("trace:events:pairs")
def test_a_step_that_starts_or_ends_twice_breaks_the_format(make, fields):
    file = make()
    for kind in ("step.start", "step.start", "step.end", "step.end"):
        file.append(fields(kind, "1.1"))
    file.end(fields("run.end", file.run))
    check = verify_trace(file.path.parent)
    assert check.status == "broken"
    assert check.problems == (
        f"{file.path.name}, line 3: step 1.1 starts again",
        f"{file.path.name}, line 5: step 1.1 ends again",
    )


@pytest.mark.requirement("trace:verify:status")
@pytest.mark.requirement("bad-input:record:truncated")
def test_a_torn_tail_is_incomplete(killed):
    file = killed(2)
    whole = file.path.read_bytes()
    start = whole.rindex(b"\n", 0, -1) + 1
    for cut in range(start + 1, len(whole)):
        file.path.write_bytes(whole[:cut])
        check = verify_trace(file.path.parent)
        assert check.status == "incomplete"
        assert "torn, its writer was stopped in the middle of it" in check.problems[0]


@pytest.mark.requirement("trace:verify:status")
def test_a_run_stopped_before_its_header_is_incomplete(killed):
    file = killed(1)
    for content in (b"", file.path.read_bytes()[:20]):
        file.path.write_bytes(content)
        assert verify_trace(file.path.parent).problems == (
            f"{file.path.name} has no header: its writer was stopped at the start",
            "no run.end: the run was stopped, or is still going on",
        )


@pytest.mark.requirement("trace:verify:status")
def test_a_run_stopped_before_its_first_file_is_incomplete(killed):
    file = killed(1)
    file.path.unlink()
    assert verify_trace(file.path.parent) == Verification(
        status="incomplete",
        files=0,
        events=0,
        open_steps=(),
        problems=("no trace file: the run was stopped at the start",),
    )


# --- tampering --------------------------------------------------------------------------


def broken(file, content):
    """Whether a changed file is found broken."""
    file.path.write_bytes(content)
    return verify_trace(file.path.parent).status == "broken"


def flip_every_byte(file, mask):
    data = file.path.read_bytes()
    for at in range(len(data)):
        changed = bytearray(data)
        changed[at] ^= mask(at)
        assert broken(file, changed), (at, changed[max(0, at - 20) : at + 20])


def upper_or_lower(at):
    return 0x20


def some_bits(at):
    return random.Random(at).randrange(1, 256)


@pytest.mark.requirement("trace:chain:tampering")
@pytest.mark.parametrize("mask", [upper_or_lower, some_bits])
@pytest.mark.parametrize("ended", [True, False], ids=["ended", "killed"])
def test_every_flipped_byte_is_found(complete, killed, mask, ended):
    flip_every_byte((complete if ended else killed)(1), mask)


@pytest.mark.requirement("trace:chain:tampering")
@pytest.mark.ci
def test_every_flipped_byte_of_fifty_records_is_found(complete):
    flip_every_byte(complete(24), some_bits)


@pytest.mark.requirement("trace:chain:tampering")
def test_a_file_is_checked_alone_as_well(complete):
    file = complete(1)
    assert verify_trace(file.path).ok
    assert broken(file, file.path.read_bytes().replace(b"extract", b"exact"))
    assert verify_trace(file.path).status == "broken"


@pytest.mark.requirement("trace:chain:tampering")
def test_every_flipped_byte_of_the_head_is_found(complete):
    file = complete(3)
    head = file.path.parent / "HEAD"
    data = head.read_bytes()
    for at in range(len(data)):
        for mask in (1, 0x20, some_bits(at)):
            changed = bytearray(data)
            changed[at] ^= mask
            head.write_bytes(changed)
            assert verify_trace(file.path.parent).status == "broken", (at, changed)


@pytest.mark.requirement("trace:chain:tampering")
@pytest.mark.parametrize("ended", [True, False], ids=["ended", "killed"])
def test_every_line_that_is_gone_doubled_moved_or_new_is_found(complete, killed, ended):
    file = (complete if ended else killed)(4)
    lines = file.path.read_bytes().splitlines(keepends=True)
    last = len(lines) - 1
    for at in range(len(lines)):
        if ended or at != last:  # nobody can tell that the last line of a killed run is gone
            assert broken(file, b"".join(lines[:at] + lines[at + 1 :])), ("gone", at)
        assert broken(file, b"".join([*lines[:at], lines[at], *lines[at:]])), ("doubled", at)
        for other in range(at):
            moved = list(lines)
            moved[at], moved[other] = moved[other], moved[at]
            assert broken(file, b"".join(moved)), ("moved", at, other)
        assert broken(file, b"".join([*lines[:at], b"\n", *lines[at:]])), ("new", at)


@pytest.mark.requirement("trace:chain:tampering")
def test_lines_missing_at_the_end_of_an_anchored_run_are_found(complete):
    file = complete(4)
    lines = file.path.read_bytes().splitlines(keepends=True)
    for kept in range(1, len(lines)):
        file.path.write_bytes(b"".join(lines[:kept]))
        check = verify_trace(file.path.parent)
        assert check.problems[0] == (
            f"{file.path.name} does not end as it was anchored: lines are missing"
        )
        assert check.status == "broken"
    file.path.write_bytes(b"")
    assert verify_trace(file.path.parent).status == "broken"


@pytest.mark.requirement("trace:chain:tampering")
def test_a_forged_record_with_a_new_chain_is_found_by_the_anchor(complete):
    file = complete(3)
    lines = file.path.read_bytes().splitlines(keepends=True)
    for at in range(len(lines)):
        forged = [*lines[:at], lines[at].replace(b"extract", b"exact"), *lines[at + 1 :]]
        if at == 0:
            forged[0] = lines[0].replace(b"desk", b"shop")
        assert broken(file, b"".join(resealed(forged, at))), at


@pytest.mark.requirement("trace:chain:tampering")
@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"seq": 7}, "line 3: its seq is 7, not 1"),
        ({"kind": "surprise"}, "line 3: not an event"),
        ({"id": 5}, "line 3: not an event"),
    ],
)
def test_a_new_chain_around_what_is_no_event_is_found(killed, change, problem):
    file = killed(2)
    lines = file.path.read_bytes().splitlines(keepends=True)
    record = json.loads(lines[2]) | change
    own = record.pop("h")
    lines[2] = serialise(record)[:-1] + f',"h":"{own}"}}\n'.encode()
    file.path.write_bytes(b"".join(resealed(lines, 2)))
    assert verify_trace(file.path).problems[0] == f"{file.path.name}, {problem}"


@pytest.mark.requirement("trace:chain:tampering")
def test_records_after_the_end_of_the_run_are_found(complete):
    file = complete(1)
    lines = file.path.read_bytes().splitlines(keepends=True)
    record = json.loads(lines[-1]) | {"seq": len(lines) - 1, "kind": "note"}
    own = record.pop("h").encode()
    sealed, _ = seal(own, serialise(record))
    file.path.write_bytes(b"".join(lines) + sealed)
    assert verify_trace(file.path.parent).problems == (
        f"{file.path.name}, line {len(lines) + 1}: stands after the end of the run",
        f"{file.path.name} goes on after the end that was anchored",
    )


@pytest.mark.requirement("trace:chain:tampering")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_a_few_random_changes_are_found(complete_bytes, data):
    path, whole = complete_bytes
    changed = bytearray(whole)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(changed) - 1))
        match data.draw(st.sampled_from(["set", "cut", "insert"])):
            case "set":
                changed[at] = data.draw(st.integers(0, 255))
            case "cut":
                del changed[at : at + data.draw(st.integers(1, 50))]
            case _:
                changed[at:at] = data.draw(st.binary(min_size=1, max_size=5))
    path.write_bytes(changed)
    expected = "complete" if changed == whole else "broken"
    assert verify_trace(path.parent).status == expected


@pytest.fixture
def complete_bytes(complete):
    file = complete(3)
    return file.path, file.path.read_bytes()


# --- several files ----------------------------------------------------------------------


@pytest.fixture
def two(make, fields, write_step):
    """A run of two processes that has ended."""
    root = make()
    write_step(root, 1)
    other = make(run=root.run)
    write_step(other, 1)
    other.close()
    root.end(fields("run.end", root.run))
    return root, other


@pytest.mark.requirement("trace:verify:status")
def test_a_run_of_two_processes_is_checked_as_one(two):
    root, other = two
    assert verify_trace(root.path.parent) == Verification(
        status="complete", files=2, events=5, open_steps=(), problems=()
    )
    assert verify_trace(other.path).status == "complete"


@pytest.mark.requirement("trace:chain:tampering")
def test_a_file_that_is_gone_swapped_or_of_another_run_is_found(two, complete):
    root, other = two
    kept = {file: file.path.read_bytes() for file in two}
    other.path.unlink()
    assert verify_trace(root.path.parent).problems == (f"{other.path.name} is missing",)
    other.path.write_bytes(kept[root])
    assert f"{other.path.name} is the file of the writer {root.writer!r}" in (
        verify_trace(root.path.parent).problems
    )
    other.path.write_bytes(complete(1).path.read_bytes())
    assert "the files are of 2 different runs" in verify_trace(root.path.parent).problems
    other.path.write_bytes(kept[other])
    root.path.unlink()
    (root.path.parent / "HEAD").unlink()
    assert verify_trace(root.path.parent).problems == ("the run's first file is missing",)


@pytest.mark.requirement("trace:verify:status")
def test_what_a_process_wrote_after_the_end_of_the_run_is_not_vouched_for(
    two, make, fields, write_step
):
    root, other = two
    late = make(run=root.run)
    write_step(late, 1)
    late.close()
    check = verify_trace(root.path.parent)
    assert (check.status, check.problems) == (
        "incomplete",
        (f"{late.path.name} was begun after the end of the run was anchored",),
    )
    late.path.unlink()
    again = type(other).reopen(other.path)
    again.append(fields("note", root.run))
    again.close()
    check = verify_trace(root.path.parent)
    assert (check.status, check.problems) == (
        "incomplete",
        (f"{other.path.name} goes on after the end that was anchored",),
    )


@pytest.mark.requirement("trace:verify:status")
def test_an_end_that_was_not_anchored_is_incomplete(complete):
    file = complete(1)
    (file.path.parent / "HEAD").unlink()
    assert verify_trace(file.path.parent).problems == (
        "no HEAD: the end of the run was not anchored",
    )


@pytest.mark.requirement("trace:chain:tampering")
@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n",
        b"[]\n",
        b"{}\n",
        b'{"files":{},"format":"hornbook-head","run":"x","version":2}\n',
        b'{"files":[],"format":"hornbook-head","run":"x","version":1}\n',
        b'{"files":{"a":1},"format":"hornbook-head","run":"x","version":1}\n',
        b'{"files":{"a":{"head":1,"lines":1}},"format":"hornbook-head","run":"x","version":1}\n',
        b'{"files":{"a":{"head":"1","lines":"1"}},"format":"hornbook-head","run":"x","version":1}\n',
    ],
)
def test_a_head_that_is_not_ours_is_broken(complete, content):
    file = complete(1)
    (file.path.parent / "HEAD").write_bytes(content)
    check = verify_trace(file.path.parent)
    assert check.status == "broken"
    assert check.problems[0] == "HEAD is not as we write it"


@pytest.mark.requirement("bad-input:record:foreign", "bad-input:record:newer")
@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"hello\n", " is not a Hornbook trace: its first line is no header"),
        (
            b'{"format": "hornbook-trace", "version": 2}\n',
            " was written by a newer Hornbook (trace version 2; this one reads up to 1):"
            " upgrade hornbook",
        ),
    ],
)
def test_what_is_no_trace_of_ours_is_refused(tmp_path, content, why):
    path = tmp_path / "trace.1.jsonl"
    path.write_bytes(content)
    for given_path in (path, tmp_path):
        with pytest.raises(TraceError) as refused:
            verify_trace(given_path)
        assert str(refused.value) == f"{path}{why}"


@pytest.mark.requirement("bad-input:record:newer")
def test_a_newer_version_that_is_whole_is_refused(killed):
    file = killed(1)
    lines = file.path.read_bytes().splitlines(keepends=True)
    lines[0] = lines[0].replace(b'"version":1', b'"version":2')
    file.path.write_bytes(b"".join(resealed(lines)))
    with pytest.raises(TraceError, match="upgrade hornbook"):
        verify_trace(file.path)


@pytest.mark.requirement("trace:chain:tampering")
def test_a_record_is_checked_as_the_bytes_it_is(killed):
    """What reads as the same JSON is not the same record."""
    file = killed(1)
    lines = file.path.read_bytes().splitlines(keepends=True)
    spaced = lines[1].replace(b'"id":', b'"id": ')
    assert loads(spaced) == loads(lines[1])
    assert broken(file, b"".join([lines[0], spaced, *lines[2:]]))
