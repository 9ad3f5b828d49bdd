import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbook.errors import TraceError
from hornbook.ids import new_run_id
from hornbook.trace import chain
from hornbook.trace.events import Event
from hornbook.trace.reader import list_runs, read, read_header
from hornbook.trace.writer import TraceFile


def refusal(act, path):
    with pytest.raises(TraceError) as refused:
        act(path)
    return str(refused.value)


@pytest.mark.requirement("trace:events:same")
def test_what_was_written_is_read(make, fields):
    file = make()
    data = {"inputs": {"query": "A17", "n": (1, 2)}}
    file.append(
        fields(
            "step.start", "1.1", parent="1.0", time=12.5, name="é", contract="sha256:x", data=data
        )
    )
    file.append(fields("decision", "1.1", status="halt"))
    file.close()
    assert list(read(file.path)) == [
        Event(
            kind="step.start",
            seq=0,
            run=file.run,
            id="1.1",
            parent="1.0",
            time=12.5,
            name="é",
            contract="sha256:x",
            status=None,
            data={"inputs": {"query": "A17", "n": {"$tuple": [1, 2]}}},
        ),
        Event(
            kind="decision",
            seq=1,
            run=file.run,
            id="1.1",
            name="extract",
            status="halt",
            time=list(read(str(file.path)))[1].time,
        ),
    ]


@pytest.mark.requirement("trace:parents:across-files")
def test_a_folder_is_read_file_by_file_the_first_process_first(make, fields, monkeypatch):
    root = make()
    others = [make(run=root.run) for _ in range(3)]
    for number, file in enumerate([*others, root]):
        file.append(fields("note", root.run, data={"file": number}))
        file.close()
    assert [event.data["file"] for event in read(root.path.parent)] == [3, 0, 1, 2]
    assert read_header(root.path.parent) == read_header(root.path)


@pytest.mark.requirement("trace:tail:truncated", "bad-input:record:truncated")
def test_a_torn_file_is_read_up_to_the_tear(killed):
    file = killed(1)
    whole = file.path.read_bytes()
    events = list(read(file.path))
    ends = [at + 1 for at, byte in enumerate(whole) if byte == ord("\n")]
    for cut in range(ends[0], len(whole) + 1):
        file.path.write_bytes(whole[:cut])
        assert list(read(file.path)) == events[: sum(end <= cut for end in ends) - 1]


@pytest.mark.requirement("trace:tail:truncated")
def test_a_run_stopped_before_its_first_header_was_whole_has_no_events(killed):
    file = killed(1)
    whole = file.path.read_bytes()
    for cut in (0, 1, whole.index(b"\n")):
        file.path.write_bytes(whole[:cut])
        assert list(read(file.path.parent)) == []
        message = f"{file.path} is empty: its writer was stopped before the header"
        assert refusal(read, file.path) == message
        assert refusal(read_header, file.path) == message


@pytest.mark.requirement("bad-input:record:foreign")
@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"hello\n", "its first line is no header"),
        (b"\x00\xff\n", "its first line is no header"),
        (b"[1, 2]\n", "its first line is no header"),
        (b'{"a": 1, "a": 2}\n', "its first line is no header"),
        (b'{"level": "info"}\n', "its first line names no format"),
        (b'{"format": "other-log", "version": 1}\n', "its first line names the format 'other-log'"),
        (b'{"format": "hornbook-trace"}\n', "its version is 'None'"),
        (b'{"format": "hornbook-trace", "version": "1"}\n', "its version is '1'"),
        (b'{"format": "hornbook-trace", "version": true}\n', "its version is 'True'"),
        (b'{"format": "hornbook-trace", "version": 1}\n', "its header has no 'run'"),
    ],
)
def test_another_format_is_refused(tmp_path, content, why):
    path = tmp_path / "trace.1.jsonl"
    path.write_bytes(content)
    for act in (read, read_header):
        assert refusal(act, path) == f"{path} is not a Hornbook trace: {why}"
        assert refusal(act, tmp_path) == f"{path} is not a Hornbook trace: {why}"


@pytest.mark.requirement("bad-input:record:newer")
def test_a_newer_version_says_upgrade(tmp_path):
    path = tmp_path / "trace.1.jsonl"
    path.write_text('{"format": "hornbook-trace", "version": 7}\n', encoding="utf-8")
    assert refusal(read, path) == (
        f"{path} was written by a newer Hornbook (trace version 7; this one reads up to 1):"
        " upgrade hornbook"
    )


@pytest.mark.requirement("bad-input:record:foreign")
def test_a_path_with_no_trace_is_refused(tmp_path):
    missing = tmp_path / "missing"
    assert refusal(read, missing) == f"{missing} does not exist"
    assert refusal(read, tmp_path) == f"{tmp_path} holds no trace of Hornbook"
    run = tmp_path / new_run_id()
    run.mkdir()
    assert refusal(read, tmp_path) == f"{tmp_path} is a folder of runs: name one, such as {run}"
    (tmp_path / "note.txt").write_text("hello", encoding="utf-8")
    assert refusal(read, tmp_path / "note.txt") == (
        f"{tmp_path}/note.txt is empty: its writer was stopped before the header"
    )


@pytest.mark.requirement("bad-input:record:truncated")
@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"garbage", "not JSON: Expecting value: line 1 column 1 (char 0)"),
        (b'{"kind": "note", "ki', "not JSON: Invalid control character at: line 1 column 21 (char"),
        (b'{"kind": "note", "kind": "note"}', "duplicate key 'kind' at ."),
        (b"[]", "not a record but '[]'"),
        (b"{}", "not an event"),
        (b'{"kind": "surprise", "id": "1", "seq": 0}', "not an event"),
        (b'{"kind": "note", "id": "1", "seq": "0"}', "not an event"),
        (b'{"kind": "note", "id": 1, "seq": 0}', "not an event"),
    ],
)
def test_a_broken_line_in_the_middle_is_named(killed, line, why):
    file = killed(2)
    lines = file.path.read_bytes().splitlines()
    lines[3] = line
    file.path.write_bytes(b"\n".join(lines) + b"\n")
    events = read(file.path)
    assert [next(events).seq, next(events).seq] == [0, 1]
    with pytest.raises(TraceError) as refused:
        next(events)
    assert str(refused.value).startswith(f"{file.path}, line 4: {why}")


@pytest.mark.requirement("bad-input:record:foreign")
def test_a_line_without_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(chain, "_LONGEST_LINE", 1000)
    path = tmp_path / "trace.1.jsonl"
    path.write_bytes(b"x" * 5000)
    assert refusal(read, path) == f"{path}, line 1: longer than 1000 bytes"


@pytest.mark.requirement("bad-input:record:foreign")
@given(st.binary() | st.text().map(str.encode))
def test_reading_anything_gives_events_or_one_clear_error(tmp_path_factory, content):
    folder = tmp_path_factory.mktemp("run")
    header = {"format": "hornbook-trace", "version": 1, "run": "x", "writer": "1", "role": "root"}
    for start in (b"", json.dumps(header).encode() + b"\n"):
        (folder / "trace.1.jsonl").write_bytes(start + content)
        try:
            events = list(read(folder))
        except TraceError:
            continue
        assert events == []


# --- what runs there are ----------------------------------------------------------------


@pytest.mark.requirement("trace:command:list")
def test_runs_are_listed_with_what_is_known_at_a_glance(complete, killed, make, fields, tmp_path):
    whole, stopped, open_ = complete(3), killed(2), make()
    open_.append(fields("step.start", "1.1"))
    broken = killed(1)
    broken.path.write_text("garbage\n", encoding="utf-8")
    (tmp_path / "runs" / "notes").mkdir()
    found = {summary.run: summary for summary in list_runs(tmp_path / "runs")}
    assert list(found) == sorted([whole.run, stopped.run, open_.run, broken.run])
    assert {run: (s.status, s.steps, s.namespace, dict(s.tags)) for run, s in found.items()} == {
        whole.run: ("complete", 3, "desk", {"case": "7"}),
        stopped.run: ("incomplete", 2, "desk", {"case": "7"}),
        open_.run: ("incomplete", 1, None, {}),
        broken.run: ("broken", 0, None, {}),
    }
    assert found[whole.run].started == read_header(whole.path)["created"]
    assert found[whole.run].path == whole.path.parent
    assert found[broken.run].problem == (
        f"{broken.path} is not a Hornbook trace: its first line is no header"
    )
    open_.close()


@pytest.mark.requirement("trace:command:list")
def test_steps_of_all_processes_are_counted(complete, make, write_step, tmp_path):
    file = complete(3)
    other = make(run=file.run)
    write_step(other, 1)
    other.close()
    assert [summary.steps for summary in list_runs(tmp_path / "runs")] == [4]


@pytest.mark.requirement("trace:command:list")
def test_listing_what_is_no_folder_of_runs_is_refused(complete, tmp_path):
    assert list_runs(tmp_path) == ()
    file = complete(1)
    assert refusal(list_runs, file.path.parent) == (
        f"{file.path.parent} is the folder of one run, not a folder of runs"
    )
    assert refusal(list_runs, file.path) == f"{file.path} is not a folder"
    assert refusal(list_runs, tmp_path / "x") == f"{tmp_path}/x does not exist"


@pytest.mark.requirement("trace:tail:truncated")
def test_a_run_that_was_stopped_at_once_is_listed(tmp_path):
    run = new_run_id()
    file = TraceFile.create(tmp_path, run=run, header={})
    file.close()
    for leave in (lambda: file.path.write_bytes(b""), file.path.unlink):
        leave()
        (summary,) = list_runs(tmp_path)
        assert (summary.status, summary.steps, summary.started) == ("incomplete", 0, 0.0)
        assert list(read(file.path.parent)) == []
