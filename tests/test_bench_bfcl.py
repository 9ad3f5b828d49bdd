"""The benchmark on the Berkeley multi-turn tasks: what it counts, and against what."""

import importlib
import json
import os
import subprocess
import sys
from copy import deepcopy
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from workspace import ROOT

PARTS = ("alarms", "cases", "faults", "lookups", "material", "profiles", "recorded", "world")
PEERS = {"the tools' own errors", "pydantic validate_call", "agent-airlock", "guard.check"}
needs_package = pytest.mark.skipif(
    find_spec("bfcl_eval") is None or find_spec("mpmath") is None,
    reason="bfcl-eval is not installed: pip install --no-deps bfcl-eval mpmath",
)


@pytest.fixture
def bfcl(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """The benchmark's modules."""
    monkeypatch.syspath_prepend(ROOT)
    monkeypatch.setenv("HORNBOOK_BENCH_CACHE", str(tmp_path))
    names = (*PARTS, "__main__")
    return SimpleNamespace(**{n: importlib.import_module(f"bench.bfcl.{n}") for n in names})


def tables(folder: Path, *arguments: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "bench.bfcl", *arguments, "--json", str(folder)]
    environment = {**os.environ, "HORNBOOK_BENCH_CACHE": str(folder / "cache")}
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, env=environment)
    files = folder.glob("*.json")
    return {file.stem: json.loads(file.read_text(encoding="utf-8"))["figures"] for file in files}


@pytest.mark.requirement("bench:bfcl:absent")
def test_what_is_not_there_is_skipped_and_said(
    bfcl: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
):
    monkeypatch.setattr(bfcl.material, "find_spec", lambda name: None)
    monkeypatch.setenv("HORNBOOK_BENCH_DATA", str(tmp_path / "none"))
    assert bfcl.__main__.main(["gold", "recorded"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "",
        "gold: skipped: bfcl-eval is not installed: pip install --no-deps bfcl-eval mpmath "
        "(with its dependencies it would replace this environment's)",
        "",
        f"recorded: skipped: no folder {tmp_path / 'none'} with recorded runs: "
        "set HORNBOOK_BENCH_DATA to where it is",
    ]


@pytest.mark.requirement("bench:bfcl:halves")
def test_a_task_is_in_one_half_for_good(bfcl: Any):
    halves = [bfcl.material.half(f"multi_turn_base_{number}") for number in range(200)]
    assert (halves.count("tune"), halves.count("test")) == (100, 100)
    assert halves[:4] == [bfcl.material.half(f"multi_turn_base_{n}") for n in range(4)]


@needs_package
@pytest.mark.ci
@pytest.mark.requirement("bench:bfcl:gold")
def test_false_alarms_on_every_gold_trajectory_are_few_and_explained(tmp_path: Path):
    rows = tables(tmp_path, "gold")["bfcl-false-alarms"]
    assert PEERS - {"the tools' own errors"} <= {row["detector"] for row in rows}
    assert {row["calls"]["n"] for row in rows if row["on"] == "as it is"} == {1142}
    assert {row["turns"]["n"] for row in rows if row["on"] == "with look-ups"} == {734}
    for row in rows:
        if row["detector"].startswith("guard"):
            assert [alarm for alarm in row["found"] if alarm["kind"] == "unexplained"] == []
            if row["on"] == "with look-ups":
                assert row["calls"]["value"] <= 0.01
                assert row["turns"]["value"] <= 0.02


@needs_package
@pytest.mark.ci
@pytest.mark.requirement("bench:bfcl:faults")
def test_detection_is_measured_by_kind_against_the_peers_with_the_checker_as_oracle(
    bfcl: Any, tmp_path: Path
):
    rows = tables(tmp_path, "faults", "--sample", "16")["bfcl-single-faults"]
    by_name = {row["detector"]: row for row in rows}
    assert set(by_name) >= PEERS
    for row in rows:
        assert {kind["kind"] for kind in row["kinds"]} <= set(bfcl.faults.KINDS)
        assert set(row["recovered"]) == {"0.3", "0.6", "0.9"}
        for kind in row["kinds"]:
            verdicts = sum(kind[name]["n"] for name in ("silent", "loud", "harmless"))
            assert verdicts == kind["n"]
            assert kind["silent"]["count"] <= kind["silent"]["n"]
    loud = {kind["kind"]: kind["loud"] for kind in by_name["the tools' own errors"]["kinds"]}
    assert loud["missing_required"]["value"] == 1.0
    assert loud["missing_required"]["low"] < 1.0
    assert by_name["guard.check"]["macro_silent"] >= by_name["agent-airlock"]["macro_silent"]


@needs_package
@pytest.mark.ci
@pytest.mark.requirement("bench:bfcl:simulators")
def test_the_simulators_and_the_checker_agree_on_gold_and_on_what_changes(bfcl: Any):
    changing: set[str] = set()
    tasks = bfcl.material.tasks()
    for task in tasks:
        world = bfcl.world.World(task)
        for call in (call for calls in task.gold for call in calls):
            before = deepcopy(_state(world))
            assert not world.call(call).error
            if _state(world) != before:
                changing.add(call.tool)
    # Where the file system stands is private to its simulator.
    made = {call.tool for task in tasks for calls in task.gold for call in calls}
    assert changing == (made & bfcl.material.MUTATING) - {"cd"}
    looked_up = bfcl.lookups.completed(tasks)
    assert all(bfcl.world.official(task, task.gold) for task in looked_up)
    assert sum(len(task.inserted) for task in looked_up) == 27


def _state(world: Any) -> dict[str, dict[str, Any]]:
    return {
        name: {key: value for key, value in vars(instance).items() if not key.startswith("_")}
        for name, instance in world.instances.items()
    }


@needs_package
@pytest.mark.ci
@pytest.mark.requirement("bench:bfcl:seeded")
def test_the_same_seed_gives_the_same_faults_and_cases_are_kept(bfcl: Any, tmp_path: Path):
    tasks = bfcl.lookups.completed(bfcl.material.tasks(4))
    once = list(bfcl.cases.single_faults(tasks, 1))
    assert once == list(bfcl.cases.single_faults(tasks, 1))
    assert {case.kind for case in once} <= set(bfcl.faults.KINDS)
    assert bfcl.cases.cached("test", [4], once) == once
    assert len(list(tmp_path.glob("test-*.jsonl.gz"))) == 1
    assert bfcl.cases.cached("test", [4], iter(())) == once
    other = [bfcl.faults.inject(tasks[0], "drop_call", (), seed) for seed in range(8)]
    assert len({fault.what for fault in other}) > 1


@pytest.mark.ci
@pytest.mark.requirement("bench:bfcl:recorded")
def test_recorded_runs_are_compared_failed_against_passed(bfcl: Any, tmp_path: Path):
    try:
        bfcl.profiles.data_folder()
    except bfcl.material.MaterialMissing as missing:
        pytest.skip(str(missing))
    rows = tables(tmp_path, "recorded", "--sample", "3")["recorded-runs"]
    whole = next(row for row in rows if row["source"] == "all")
    assert whole["passed"]["runs"]["n"] + whole["failed"]["runs"]["n"] == 33
    assert whole["failed"]["calls"]["n"] > 0
