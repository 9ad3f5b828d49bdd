"""kill -9 at random moments: no acknowledged step is lost, no file is unreadable."""

import os
import random
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hornbook.ids import is_run_id
from hornbook.trace.reader import read, verify_trace
from hornbook.trace.writer import TraceFile

pytestmark = [
    pytest.mark.requirement("trace:durability:kill", "trace:file:intention"),
    pytest.mark.skipif(sys.platform == "win32", reason="needs fork and kill"),
]

CI_KILLS = int(os.environ.get("HORNBOOK_KILLS", "50"))


class Runs:
    """Starts runs, kills them, and keeps what they acknowledged."""

    def __init__(self, folder, how):
        self._acks, writing = os.pipe()
        program = [sys.executable, str(Path(__file__).with_name("killed.py"))]
        self._process = subprocess.Popen(
            [*program, str(folder), how, str(writing)], stdin=subprocess.PIPE, pass_fds=[writing]
        )
        os.close(writing)
        self._buffer = b""
        while self._line() != "ready":
            pass

    def kill_one(self, seconds):
        """Start a run, kill it after a while; return its id and the last acknowledged step."""
        self._process.stdin.write(b"go\n")
        self._process.stdin.flush()
        child = int(self._line())
        self._drain(seconds)
        os.kill(child, signal.SIGKILL)
        told = list(iter(self._line, "dead"))
        return (told[0] if told else None), int(told[-1]) if len(told) > 1 else -1

    def stop(self):
        self._process.stdin.close()
        assert self._process.wait() == 0
        os.close(self._acks)

    def _drain(self, seconds):
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if select.select([self._acks], [], [], left)[0]:
                self._buffer += os.read(self._acks, 65536)

    def _line(self):
        while b"\n" not in self._buffer:
            data = os.read(self._acks, 65536)
            assert data, "the process that starts runs is gone"
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line.decode()


def check(folder, acknowledged):
    """A killed run is readable, has every acknowledged step, and at most one that is open."""
    events = list(read(folder))
    steps = {"step.start": {}, "step.end": set()}
    for event in events:
        if event.kind == "step.start":
            steps["step.start"][event.data["inputs"]["number"]] = event.id
        elif event.kind == "step.end":
            steps["step.end"].add(event.id)
    ended = {number for number, step in steps["step.start"].items() if step in steps["step.end"]}
    assert set(range(acknowledged + 1)) <= ended
    assert len(ended) <= acknowledged + 2
    verified = verify_trace(folder)
    assert verified.status == "incomplete"
    assert len(verified.open_steps) <= 1


def goes_on(folder):
    """What a killed process left can be continued."""
    paths = list(folder.iterdir())
    if paths == [] or paths[0].stat().st_size == 0:  # killed before there was a header
        assert verify_trace(folder).status == "incomplete"
        return
    again = TraceFile.reopen(paths[0])
    again.append(
        {
            "kind": "note",
            "id": again.run,
            "time": 1.5,
            "name": "",
            "data": {},
            "parent": None,
            "contract": None,
            "status": None,
        }
    )
    again.close()
    verified = verify_trace(folder)
    assert verified.status == "incomplete"
    assert not any("torn" in problem for problem in verified.problems)


def kill(folder, how, kills):
    runs = Runs(folder, how)
    acknowledged = 0
    for _ in range(kills):
        run, last = runs.kill_one(random.choice([0.002, 0.02, 0.1]) * random.random())
        acknowledged += last + 1
        if run is not None:
            check(folder / run, last)
    runs.stop()
    for run in folder.iterdir():
        assert is_run_id(run.name)
        goes_on(run)
    return acknowledged


@pytest.mark.parametrize("how", ["file", "run"])
@pytest.mark.parametrize(
    "kills",
    [
        pytest.param(8, id="few"),
        pytest.param(CI_KILLS, id="ci", marks=pytest.mark.ci),
        pytest.param(500, id="all", marks=pytest.mark.slow),
    ],
)
def test_kill_9_loses_no_acknowledged_step(tmp_path, how, kills):
    assert kill(tmp_path, how, kills) > 0
