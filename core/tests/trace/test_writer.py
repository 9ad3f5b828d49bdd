import gc
import json
import logging
import os
import resource
import signal
import stat
import sys
import threading
from decimal import Decimal

import pytest

from hornbook.errors import TraceError
from hornbook.ids import new_run_id
from hornbook.trace import files, writer
from hornbook.trace.reader import read, read_header, verify_trace
from hornbook.trace.redact import Redactor
from hornbook.trace.writer import TraceFile

forking = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
posix = pytest.mark.skipif(sys.platform == "win32", reason="needs fork and modes")


def records(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@posix
@pytest.mark.requirement("trace:file:per-process")
def test_the_file_is_named_after_the_process_and_is_for_us_alone(make, tmp_path):
    file = make()
    assert file.path == tmp_path / "runs" / file.run / f"trace.{os.getpid()}.jsonl"
    assert file.writer == str(os.getpid())
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.path.parent.stat().st_mode) == 0o700
    file.close()


@pytest.mark.requirement("trace:file:per-process")
def test_a_second_file_of_one_process_in_one_run_has_another_name(make):
    first = make()
    file = make(run=first.run)
    assert file.writer == f"{os.getpid()}-2"
    assert file.path.name == f"trace.{os.getpid()}-2.jsonl"
    assert read_header(file.path)["role"] == "child"
    first.close()
    file.close()


@pytest.mark.requirement("trace:file:header")
def test_the_header_comes_first(make):
    redactor = Redactor()
    file = make(
        header={"tags": {"token": "x"}, "format": "forged", "h": "forged"}, redactor=redactor
    )
    file.close()
    (header,) = records(file.path)
    assert header.pop("created") > 1.7e9
    assert len(header.pop("h")) == 64
    assert header == {
        "format": "hornbook-trace",
        "version": 1,
        "run": file.run,
        "writer": str(os.getpid()),
        "role": "root",
        "parent": None,
        "redaction": redactor.policy,
        "tags": {"token": "<redacted>"},
    }


@pytest.mark.requirement("trace:file:one-write")
def test_a_record_is_one_write(make, fields, monkeypatch):
    file = make()
    written = []
    monkeypatch.setattr(os, "write", lambda fd, data: written.append(data) or len(data))
    file.append(fields("note", file.run, data={"a": 1}))
    monkeypatch.undo()
    file.close()
    assert len(written) == 1
    assert written[0].startswith(b'{"data":{"a":1},"id":')
    assert written[0].endswith(b'"}\n')


@pytest.mark.requirement("trace:chain:tampering")
def test_appending_numbers_the_records_and_says_so(make, fields):
    file = make()
    assert [file.append(fields("note", file.run)) for _ in range(3)] == [0, 1, 2]
    file.close()
    assert [record["seq"] for record in records(file.path)[1:]] == [0, 1, 2]
    assert [event.seq for event in read(file.path)] == [0, 1, 2]


@pytest.mark.requirement("redact:point:one")
def test_what_is_written_went_through_the_redactor(make, fields):
    file = make()
    key = "sk-" + "a1" * 20
    file.append(fields("note", file.run, name=f"call {key}", data={"password": "x", "e": key}))
    file.close()
    (event,) = read(file.path)
    assert (event.name, event.data) == (
        "call <redacted>",
        {"password": "<redacted>", "e": "<redacted>"},
    )


class Hostile:
    def __repr__(self):
        raise ValueError


@pytest.mark.requirement("trace:write:bad-value")
@pytest.mark.parametrize(
    "bad", [float("nan"), 2**80, "\ud800", Hostile(), object(), Decimal("NaN"), {1: 2}, {"$a": 1}]
)
def test_one_bad_value_never_drops_a_record(make, fields, bad):
    file = make(strict=True)
    assert file.append(fields("note", file.run, data={"bad": bad, "good": 1})) == 0
    assert file.append(fields("note", file.run, time=float("nan"), data={Hostile(): bad})) == 1
    file.close()
    events = list(read(file.path))
    assert events[0].data["good"] == 1
    assert verify_trace(file.path).status == "incomplete"


@pytest.mark.requirement("trace:file:anchor")
def test_the_end_of_a_run_syncs_and_anchors(make, fields, write_step, monkeypatch):
    file = make()
    write_step(file, 1)
    synced = []
    real = os.fsync
    monkeypatch.setattr(os, "fsync", lambda fd: synced.append(fd) or real(fd))
    file.end(fields("run.end", file.run, status="completed", data={"calls": 3}))
    assert len(synced) == (2 if sys.platform == "win32" else 3)
    *_, end = read(file.path)
    assert (end.status, end.data) == ("completed", {"calls": 3, "events": 2, "steps": 1})
    head = json.loads((file.path.parent / "HEAD").read_text(encoding="utf-8"))
    last = records(file.path)[-1]["h"]
    assert head == {
        "format": "hornbook-head",
        "version": 1,
        "run": file.run,
        "files": {file.path.name: {"lines": 4, "head": last}},
    }
    assert [path.name for path in file.path.parent.iterdir() if "tmp" in path.name] == []
    assert verify_trace(file.path.parent).ok


@pytest.mark.requirement("trace:file:per-process")
def test_threads_write_whole_records_in_one_order(make, fields, write_step):
    file = make(strict=True)

    def work(first):
        for number in range(first, first + 100):
            write_step(file, number)

    threads = [threading.Thread(target=work, args=(n * 100,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    file.end(fields("run.end", file.run))
    check = verify_trace(file.path.parent)
    assert (check.status, check.events, check.problems) == ("complete", 1601, ())


@posix
@forking
@pytest.mark.requirement("trace:file:per-process", "run:context:fork", "trace:parents:across-files")
def test_a_fork_has_a_file_of_its_own(make, fields, write_step, in_child):
    file = make()
    write_step(file, 1)
    own = file.path.read_bytes()

    def child():
        assert file.writer == str(os.getpid())
        file.append(fields("step.start", f"{file.writer}.1", parent="outer"))
        file.append(fields("step.end", f"{file.writer}.1"))
        assert file.path.name == f"trace.{os.getpid()}.jsonl"
        assert read_header(file.path)["role"] == "child"
        assert read_header(file.path)["parent"] == str(os.getppid())
        file.end(fields("run.end", file.run))

    in_child(child)
    assert file.path.read_bytes() == own
    write_step(file, 2)
    file.end(fields("run.end", file.run))
    check = verify_trace(file.path.parent)
    assert (check.status, check.files, check.problems) == ("complete", 2, ())
    parents = [event.parent for event in read(file.path.parent)]
    assert parents == [None] * 5 + ["outer", None, None]


@posix
@forking
@pytest.mark.requirement("run:context:fork")
def test_a_fork_that_writes_nothing_leaves_no_file(make, fields, in_child):
    file = make()
    in_child(file.end, fields("run.end", file.run))
    file.end(fields("run.end", file.run))
    check = verify_trace(file.path.parent)
    assert (check.status, check.files) == ("complete", 1)


@posix
@forking
@pytest.mark.requirement("run:context:fork")
def test_a_fork_while_another_thread_writes_does_not_hang(make, fields, in_child):
    file = make()
    stop = threading.Event()

    def work():
        while not stop.is_set():
            file.append(fields("note", file.run))

    thread = threading.Thread(target=work)
    thread.start()
    for _ in range(20):
        in_child(lambda: file.append(fields("note", file.run)))
    stop.set()
    thread.join()
    file.end(fields("run.end", file.run))
    check = verify_trace(file.path.parent)
    assert (check.status, check.files, check.problems) == ("complete", 21, ())


@posix
@forking
@pytest.mark.requirement("trace:file:per-process", "run:context:handle")
def test_processes_write_side_by_side(make, fields, write_step, tmp_path):
    file = make()

    def work():
        own = TraceFile.create(tmp_path / "runs", run=file.run, header={}, strict=True)
        for number in range(100):
            write_step(own, number)
        own.end(fields("run.end", file.run))

    children = []
    for _ in range(8):
        child = os.fork()
        if child == 0:
            work()
            os._exit(0)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * 8
    file.end(fields("run.end", file.run))
    check = verify_trace(file.path.parent)
    assert (check.status, check.files, check.events, check.problems) == ("complete", 9, 1609, ())


@pytest.mark.requirement("trace:write:fails-open")
def test_a_folder_that_cannot_be_made_is_said_once(tmp_path, fields, caplog):
    (tmp_path / "runs").write_text("", encoding="utf-8")
    run = new_run_id()
    with caplog.at_level(logging.WARNING, "hornbook"):
        file = TraceFile.create(tmp_path / "runs", run=run, header={})
        assert not file.incomplete
        assert [file.append(fields("note", run)) for _ in range(3)] == [-1, -1, -1]
        assert file.writer == str(os.getpid())
        file.end(fields("run.end", run))
    assert (file.dropped, file.incomplete) == (4, True)
    assert caplog.messages == [
        f"a record of run {run} cannot be written: {tmp_path}/runs: File exists;"
        " the run goes on, its record is incomplete"
    ]


@pytest.mark.requirement("trace:write:strict")
def test_under_strict_a_folder_that_cannot_be_made_raises(tmp_path):
    (tmp_path / "runs").write_text("", encoding="utf-8")
    run = new_run_id()
    with pytest.raises(TraceError) as refusal:
        TraceFile.create(tmp_path / "runs", run=run, header={}, strict=True)
    assert str(refusal.value) == (
        f"a record of run {run} cannot be written: {tmp_path}/runs: File exists"
    )


@pytest.mark.requirement("trace:write:strict")
def test_under_strict_a_failed_write_raises_before_the_side_effect(make, fields, monkeypatch):
    file = make(strict=True)

    def full(fd, data):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    done = []
    with pytest.raises(TraceError) as refusal:
        done.append(file.append(fields("step.start", "1.1")))
    monkeypatch.undo()
    assert done == []
    assert str(refusal.value) == (
        f"a record of run {file.run} cannot be written: No space left on device"
    )
    file.close()


@posix
@forking
@pytest.mark.requirement("trace:write:fails-open")
def test_a_full_disk_drops_records_and_spoils_none(make, fields, write_step, in_child):
    """With a real limit on the size of files: a write is cut short, then fails."""
    run = new_run_id()

    def child():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        file = make(run=run)
        write_step(file, 1)
        hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
        resource.setrlimit(resource.RLIMIT_FSIZE, (file.path.stat().st_size + 100, hard))
        assert file.append(fields("note", run, data={"lost": 1})) == -1
        assert file.append(fields("note", run, data={"lost": 2})) == -1
        assert verify_trace(file.path).status == "incomplete"
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
        write_step(file, 2)
        file.end(fields("run.end", run))
        check = verify_trace(file.path.parent)
        assert check.problems == (
            f"{file.path.name}, line 4: 2 records before it could not be written (File too large)",
        )
        assert check.status == "incomplete"
        *_, end = read(file.path)
        assert end.data == {"events": 5, "steps": 2, "dropped": 2, "incomplete": True}

    in_child(child)


@pytest.mark.requirement("trace:write:fails-open")
def test_a_descriptor_that_somebody_closed_drops_records(make, fields):
    file = make()
    os.close(file._fd)
    assert file.append(fields("note", file.run)) == -1
    file._fd = None
    assert file.dropped == 1


@pytest.mark.requirement("trace:write:fails-open")
def test_what_comes_after_the_end_is_kept_in_a_file_of_its_own(make, fields, caplog):
    file = make()
    first = file.path
    file.end(fields("run.end", file.run))
    with caplog.at_level(logging.WARNING, "hornbook"):
        assert file.append(fields("note", file.run, name="late")) == 0
        assert file.append(fields("note", file.run, name="later")) == 1
    assert caplog.messages == [
        f"run {file.run} has ended and a step of it goes on; its record is incomplete"
    ]
    assert [event.name for event in read(file.path)] == ["late", "later"]
    found = verify_trace(first.parent)
    assert (found.status, found.problems) == (
        "incomplete",
        (f"{file.path.name} was begun after the end of the run was anchored",),
    )
    strict = make(strict=True)
    strict.end(fields("run.end", strict.run))
    with pytest.raises(TraceError):
        strict.append(fields("note", strict.run))


@pytest.mark.requirement("trace:write:fails-open")
def test_an_end_that_cannot_be_anchored_is_said(make, fields, caplog, monkeypatch):
    file = make()

    def broken(path, data):
        raise OSError(5, "Input/output error", str(path))

    monkeypatch.setattr(writer, "replace_file", broken)
    with caplog.at_level(logging.WARNING, "hornbook"):
        file.end(fields("run.end", file.run))
    assert len(caplog.messages) == 1
    assert "HEAD: Input/output error" in caplog.messages[0]
    assert verify_trace(file.path.parent).problems == (
        "no HEAD: the end of the run was not anchored",
    )


@pytest.mark.requirement("trace:file:per-process")
@pytest.mark.parametrize("run", ["", "..", "../evil", "x" * 26, "01M8NRBM87W11GJZ0YQ1CZACZV/"])
def test_only_a_run_id_becomes_a_path(tmp_path, run):
    with pytest.raises(TraceError) as refusal:
        TraceFile.create(tmp_path / "runs", run=run, header={})
    assert str(refusal.value) == f"{run!r} is not the id of a run"
    assert not (tmp_path / "runs").exists()


@posix
@pytest.mark.requirement("trace:file:per-process")
def test_no_link_is_followed(tmp_path):
    run = new_run_id()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / run).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(TraceError, match="is a symbolic link"):
        TraceFile.create(tmp_path / "runs", run=run, header={}, strict=True)
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.requirement("trace:file:one-write")
def test_short_writes_are_continued(make, fields, write_step, monkeypatch):
    real = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: real(fd, data[:7]))
    file = make()
    write_step(file, 1)
    file.end(fields("run.end", file.run))
    monkeypatch.undo()
    assert verify_trace(file.path.parent).ok


@pytest.mark.requirement("trace:tail:truncated")
@pytest.mark.parametrize("at", [0, 1, 50, 10_000])
def test_an_interrupted_write_leaves_no_half_record(make, fields, write_step, monkeypatch, at):
    """As when a signal handler raises, in the middle of a write or just after it."""
    file = make()
    write_step(file, 1)
    real = os.write

    def interrupted(fd, data):
        real(fd, data[:at])
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "write", interrupted)
    with pytest.raises(KeyboardInterrupt):
        file.append(fields("note", file.run))
    monkeypatch.undo()
    write_step(file, 2)
    file.end(fields("run.end", file.run))
    check = verify_trace(file.path.parent)
    assert (check.status, check.events) == ("complete", 5)


@pytest.mark.requirement("trace:write:fails-open")
def test_a_record_written_while_another_is_being_written_is_dropped_and_said(
    make, fields, write_step, monkeypatch
):
    """As when a signal handler or a finaliser calls a step."""
    file = make()
    real = files.os.write

    def entering(fd, data):
        monkeypatch.undo()
        assert file.append(fields("note", file.run, data={"inner": 1})) == -1
        return real(fd, data)

    monkeypatch.setattr(os, "write", entering)
    assert file.append(fields("note", file.run, data={"outer": 1})) == 0
    write_step(file, 1)
    file.end(fields("run.end", file.run))
    assert [event.data for event in read(file.path)][:2] == [
        {"outer": 1},
        {"dropped": 1, "error": "written while another record was being written"},
    ]
    assert verify_trace(file.path.parent).status == "incomplete"


@pytest.mark.requirement("trace:file:per-process")
def test_a_file_that_nobody_holds_is_closed(make):
    file = make()
    fd = file._fd
    del file
    gc.collect()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(fd)


# --- going on with a file ---------------------------------------------------------------


@pytest.mark.requirement("trace:tail:truncated")
def test_a_torn_tail_is_truncated_before_appending(killed, fields, write_step):
    file = killed(2)
    whole = file.path.read_bytes()
    lines = whole.splitlines(keepends=True)
    kept = b"".join(lines[:-1])
    for cut in range(len(lines[-1])):
        file.path.write_bytes(kept + lines[-1][:cut])
        again = TraceFile.reopen(file.path)
        assert file.path.read_bytes() == kept
        assert again.writer == f"{os.getpid()}r4"
        again.append(fields("step.end", f"{os.getpid()}.1"))
        write_step(again, 1)
        again.end(fields("run.end", file.run))
        check = verify_trace(file.path.parent)
        assert (check.status, check.events, check.problems) == ("complete", 8, ())
        (file.path.parent / "HEAD").unlink()


@pytest.mark.requirement("trace:tail:truncated")
def test_a_file_that_has_ended_is_not_continued(complete):
    file = complete(1)
    with pytest.raises(TraceError) as refusal:
        TraceFile.reopen(file.path)
    assert str(refusal.value) == f"{file.path} cannot be continued: its run has ended"


@posix
@pytest.mark.requirement("trace:tail:truncated")
def test_a_file_that_is_being_written_is_not_continued(make):
    file = make()
    with pytest.raises(TraceError) as refusal:
        TraceFile.reopen(file.path)
    assert str(refusal.value) == f"{file.path} cannot be continued: another process is writing it"
    file.close()
    TraceFile.reopen(file.path).close()


@pytest.mark.requirement("trace:chain:tampering")
def test_a_broken_file_is_not_continued(killed):
    file = killed(2)
    data = bytearray(file.path.read_bytes())
    data[data.index(b"extract")] ^= 1
    file.path.write_bytes(data)
    with pytest.raises(TraceError) as refusal:
        TraceFile.reopen(file.path)
    assert str(refusal.value) == (
        f"{file.path} cannot be continued: {file.path}, line 2: the chain is broken"
    )
    assert file.path.read_bytes() == data


@pytest.mark.requirement("bad-input:record:foreign")
def test_what_is_no_trace_is_not_continued(tmp_path):
    with pytest.raises(TraceError, match=r"cannot be continued: .*No such file or directory$"):
        TraceFile.reopen(tmp_path / "trace.1.jsonl")
    (tmp_path / "trace.1.jsonl").write_text("", encoding="utf-8")
    with pytest.raises(TraceError, match="is empty"):
        TraceFile.reopen(tmp_path / "trace.1.jsonl")
