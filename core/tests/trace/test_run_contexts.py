"""How a run reaches tasks, threads, forks and other processes."""

import asyncio
import functools
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context
from pathlib import Path
from typing import Any

import pytest

from hornbook import (
    Contract,
    clauses,
    contract,
    run,
)
from hornbook.errors import RunError
from hornbook.ids import new_run_id
from hornbook.trace import Event, Run, current_run, read, verify_trace

POSITIVE = Contract("positive", ensures=[clauses.that("positive", lambda value: value > 0)])

posix = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")


@pytest.fixture(autouse=True)
def unconfigured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No configuration of whoever runs the tests decides where records go."""
    for name in [name for name in os.environ if name.startswith("HORNBOOK_")]:
        monkeypatch.delenv(name)
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")


@contract(POSITIVE, name="step")
def step(number: int) -> int:
    return number


@contract(POSITIVE, name="astep")
async def astep(number: int) -> int:
    await asyncio.sleep(0)
    return number


@contract(POSITIVE, name="outer")
def outer(number: int) -> int:
    return step(number)


def kinds(events: Any) -> list[str]:
    return [event.kind for event in events]


def starts(events: Any) -> list[Event]:
    return [event for event in events if event.kind == "step.start"]


ONE_STEP = ["run.start", "step.start", "step.end", "run.end"]


@pytest.mark.requirement("run:context:tasks")
async def test_tasks_inherit_the_run() -> None:
    async def child() -> Run | None:
        await astep(2)
        return current_run()

    async with run() as opened:
        assert await asyncio.gather(child(), asyncio.create_task(child())) == [opened, opened]
        assert await asyncio.to_thread(current_run) is opened
    assert len(starts(opened.events)) == 2


@pytest.mark.requirement("run:context:wrap")
def test_wrap_carries_a_run_into_threads() -> None:
    with run() as opened, ThreadPoolExecutor(1) as pool:
        assert pool.submit(current_run).result() is None
        assert pool.submit(opened.wrap(current_run)).result() is opened
        assert pool.submit(opened.wrap(step), 3).result() == 3
        assert pool.submit(current_run).result() is None
    assert kinds(opened.events) == ONE_STEP


@pytest.mark.requirement("run:context:wrap", "trace:parents:across-files")
def test_what_is_wrapped_in_a_step_hangs_below_it() -> None:
    @contract(POSITIVE, name="around")
    def around() -> int:
        opened = current_run()
        assert opened is not None
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(opened.wrap(step), 3).result()

    with run() as opened:
        around()
    first, second = starts(opened.events)
    assert (first.name, second.name, second.parent) == ("around", "step", first.id)


@pytest.mark.requirement("run:context:wrap")
def test_wrap_keeps_the_colour_and_name_of_a_function_and_lets_exceptions_through() -> None:
    def breaks() -> None:
        raise KeyError("k")

    with run() as opened:
        wrapped = opened.wrap(astep)
        broken = opened.wrap(breaks)
        partial = opened.wrap(functools.partial(step, 4))
    assert (wrapped.__name__, wrapped.__wrapped__) == ("astep", astep)  # type: ignore[attr-defined]
    assert asyncio.run(wrapped(3)) == 3
    assert partial() == 4
    with pytest.raises(KeyError):
        broken()
    assert current_run() is None


@pytest.mark.requirement("run:context:wrap")
def test_a_step_that_outlives_its_run_still_gives_its_value(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with run() as opened:
        late = opened.wrap(step)
    assert late(3) == 3
    assert kinds(opened.events) == ["run.start", "run.end", "step.start", "step.end"]
    with run(trace=tmp_path / "runs") as opened:
        late = opened.wrap(step)
    assert late(3) == 3
    assert kinds(opened.events) == ["run.start", "run.end", "step.start", "step.end"]
    assert [one.name for one in caplog.records if one.name != "hornbook.plugins"] == [
        "hornbook.trace"
    ]


@pytest.mark.requirement("run:context:async")
def test_a_run_left_in_another_context_is_ended_all_the_same() -> None:
    opened = run()
    Context().run(opened.__enter__)
    opened.__exit__(None, None, None)
    assert kinds(opened.events) == ["run.start", "run.end"]
    assert current_run() is None


@posix
@pytest.mark.requirement("run:context:fork", "trace:parents:across-files")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_opens_a_new_file_and_hangs_below_the_step_that_forked(tmp_path: Path) -> None:
    @contract(POSITIVE, name="forking")
    def forking() -> int:
        child = os.fork()
        if child == 0:
            try:
                step(7)
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        return step(8)

    with run(trace=tmp_path / "runs") as opened:
        forking()
    assert len(list((tmp_path / "runs").rglob("*.jsonl"))) == 2
    around, *inner = starts(read(opened.path))
    assert around.name == "forking"
    assert sorted(event.data["inputs"]["number"] for event in inner) == [7, 8]
    assert {event.parent for event in inner} == {around.id}
    assert len({event.id for event in inner}) == 2


OTHER = """
import sys
import hornbook
from hornbook import Contract, contract

@contract(Contract("any"), name="over there")
def there():
    return hornbook.trace.current_run().namespace

with hornbook.run(handle=sys.argv[1]) as opened:
    print(opened.id, there())
"""


@pytest.mark.requirement("run:context:handle", "trace:parents:across-files")
def test_another_process_joins_by_the_handle(tmp_path: Path) -> None:
    told: list[str] = []

    @contract(Contract("any"), name="here")
    def here() -> None:
        done = subprocess.run(
            [sys.executable, "-c", OTHER.replace("hornbook.trace.current_run()", "opened"),
             opened.handle()],
            capture_output=True, text=True, check=False, env={"PYTHONPATH": ":".join(sys.path)},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        told.append(done.stdout)

    with run(trace=tmp_path / "runs", namespace="desk") as opened:
        here()
    assert told == [f"{opened.id} desk\n"]
    assert verify_trace(opened.path).ok
    around, inner = starts(opened.events)
    assert (around.name, inner.name, inner.parent) == ("here", "over there", around.id)
    assert inner.run == opened.id


@pytest.mark.requirement("run:context:handle")
def test_a_handle_is_a_text_and_at_the_top_of_a_run_names_no_step(tmp_path: Path) -> None:
    with run(trace=tmp_path / "runs", namespace="desk") as opened:
        handle = opened.handle()
        assert json.loads(handle) == {
            "folder": str(tmp_path / "runs"),
            "run": opened.id,
            "step": None,
            "namespace": "desk",
        }
    with run(handle=handle) as joined:
        step(3)
    assert joined.path == opened.path
    assert starts(opened.events)[0].parent is None


@pytest.mark.requirement("run:context:handle")
def test_a_run_in_memory_has_no_handle() -> None:
    with run() as opened, pytest.raises(RunError) as refused:
        opened.handle()
    assert str(refused.value) == (
        "a run in memory cannot be joined from another process: open it with trace=FOLDER"
    )


def handle(**changes: Any) -> str:
    held = {"folder": "runs", "run": new_run_id(), "step": None, "namespace": None}
    return json.dumps({**held, **changes})


BAD_HANDLES: dict[str, Any] = {
    "empty": "",
    "text": "run-17",
    "list": "[]",
    "nothing in it": "{}",
    "a path as run": handle(run="../../etc"),
    "no run": handle(run=None),
    "no folder": handle(folder=None),
    "number": handle(step=3),
    "deep": "[" * 100_000,
    "no text": 3,
}


@pytest.mark.requirement("run:context:handle")
@pytest.mark.parametrize("text", BAD_HANDLES.values(), ids=BAD_HANDLES)
def test_what_is_no_handle_is_refused(text: Any) -> None:
    with pytest.raises(RunError) as refused:
        run(handle=text)
    shown = f"{text!r:.80}"
    assert str(refused.value) == (f"{shown} is no handle of a run: pass what `run.handle()` gave")
    assert list(Path().iterdir()) == []


@pytest.mark.requirement("run:nested:joins", "run:context:handle")
def test_a_handle_inside_a_run_is_another_trace() -> None:
    with run(), pytest.raises(RunError, match="leave out trace= and handle="):
        run(handle=handle()).__enter__()
