"""A run of the adapter's own, for calls that no run is around."""

import gc
from pathlib import Path

import pytest

from hornbook import Contract, contract, run
from hornbook.hosting import AmbientRun
from hornbook.trace import read, verify_trace


@contract(Contract("text", output=str), name="say")
def say() -> str:
    return "hello"


def names(path: Path) -> list[str]:
    return [event.name for event in read(path) if event.kind == "step.start"]


@pytest.mark.requirement("hosting:trace:own-run")
def test_calls_share_one_run_until_it_is_closed(tmp_path: Path) -> None:
    ambient = AmbientRun(tmp_path)
    assert ambient.run is None
    for _ in range(2):
        with ambient.around():
            say()
    ambient.close()
    (folder,) = tmp_path.iterdir()
    assert names(folder) == ["say", "say"]
    assert verify_trace(folder).ok
    assert ambient.run is not None
    assert ambient.run.path == folder


@pytest.mark.requirement("hosting:trace:own-run")
def test_a_run_around_comes_first(tmp_path: Path) -> None:
    ambient = AmbientRun(tmp_path)
    with run(trace=None) as outer, ambient.around():
        say()
    assert [event.name for event in outer.events if event.kind == "step.start"] == ["say"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.requirement("hosting:trace:own-run")
def test_after_closing_another_is_opened(tmp_path: Path) -> None:
    ambient = AmbientRun(tmp_path)
    for _ in range(2):
        with ambient.around():
            say()
        ambient.close()
        ambient.close()
    assert [names(folder) for folder in tmp_path.iterdir()] == [["say"], ["say"]]


@pytest.mark.requirement("hosting:trace:failed")
def test_a_run_that_failed_says_so(tmp_path: Path) -> None:
    ambient = AmbientRun(tmp_path)
    with ambient.around():
        say()
    ambient.close(ValueError("no more"))
    ambient.close()
    (folder,) = tmp_path.iterdir()
    *_, end = read(folder)
    assert (end.kind, end.status, end.data["error"]) == ("run.end", "failed", "ValueError: no more")
    assert verify_trace(folder).ok


@pytest.mark.requirement("hosting:trace:own-run")
def test_one_that_is_forgotten_ends_its_run(tmp_path: Path) -> None:
    ambient = AmbientRun(tmp_path)
    with ambient.around():
        say()
    del ambient
    gc.collect()
    (folder,) = tmp_path.iterdir()
    assert verify_trace(folder).ok
