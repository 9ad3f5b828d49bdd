"""A run's records, made by hand; and a process to try things in."""

import os
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hornbook.ids import new_run_id
from hornbook.trace.writer import TraceFile

Make = Callable[..., TraceFile]
Fields = Callable[..., dict[str, Any]]
WriteStep = Callable[[TraceFile, int], None]


def _fields(kind: str, step: str, **more: Any) -> dict[str, Any]:
    usual = {"parent": None, "time": time.time(), "name": "extract", "contract": None}
    return {"kind": kind, "id": step, **usual, "status": None, "data": {}} | more


def _write_step(file: TraceFile, number: int) -> None:
    step = f"{file.writer}.{number}"
    file.append(_fields("step.start", step, data={"inputs": {"number": number}}))
    file.append(_fields("step.end", step, status="satisfied", data={"output": number}))


@pytest.fixture
def fields() -> Fields:
    """Makes an event as a run hands it over."""
    return _fields


@pytest.fixture
def write_step() -> WriteStep:
    """Writes the two records of one step."""
    return _write_step


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Makes the file of a new run below `runs`."""

    def create(**options: Any) -> TraceFile:
        run = options.pop("run", None) or new_run_id()
        header = options.pop("header", {})
        return TraceFile.create(tmp_path / "runs", run=run, header=header, **options)

    return create


@pytest.fixture
def killed(make: Make) -> Callable[[int], TraceFile]:
    """Makes a run of so many steps that was stopped before its end."""

    def write(steps: int) -> TraceFile:
        file = make(header={"namespace": "desk", "tags": {"case": "7"}})
        file.append(_fields("run.start", file.run))
        for number in range(steps):
            _write_step(file, number)
        file.close()
        return file

    return write


@pytest.fixture
def complete(make: Make) -> Callable[[int], TraceFile]:
    """Makes a run of so many steps that has ended."""

    def write(steps: int) -> TraceFile:
        file = make(header={"namespace": "desk", "tags": {"case": "7"}})
        file.append(_fields("run.start", file.run))
        for number in range(steps):
            _write_step(file, number)
        file.end(_fields("run.end", file.run, status="completed"))
        return file

    return write


@pytest.fixture
def in_child() -> Callable[..., None]:
    """Runs a function in a forked process; what it raises fails the test."""

    def run(function: Callable[..., object], *arguments: Any) -> None:
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            problem = b""
            try:
                function(*arguments)
            except BaseException:
                problem = traceback.format_exc().encode()
            os.write(writing, problem)
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading, "rb") as told:
            problem = told.read().decode()
        os.waitpid(child, 0)
        assert problem == ""

    return run
