"""The benchmarks measure what they say: every peer, in one run, as ratios. Never a speed."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from workspace import ROOT

PEERS = {
    "plain call",
    "hornbook, no run",
    "hornbook, record in memory",
    "hornbook, record in a file",
    "beartype Is",
    "deal.post",
    "pydantic validate_call",
    "icontract.ensure",
    "agent-airlock",
}


def measured(folder: Path, table: str, bench: str = "overhead.py") -> list[dict[str, Any]]:
    command = [sys.executable, str(ROOT / "bench" / bench), "--quick", "--only", table]
    subprocess.run([*command, "--json", str(folder)], cwd=folder, check=True, capture_output=True)
    (file,) = folder.glob("*.json")
    return json.loads(file.read_text(encoding="utf-8"))["figures"]


@pytest.mark.requirement("bench:overhead:table")
def test_every_named_peer_is_measured_in_the_same_run(tmp_path: Path):
    figures = measured(tmp_path, "A plain step")
    assert {figure["name"] for figure in figures} == PEERS
    assert all(figure["ratio"] > 0 for figure in figures)


@pytest.mark.requirement("bench:overhead:import")
def test_the_import_is_measured_against_pydantic_s_own(tmp_path: Path):
    (figure,) = measured(tmp_path, "Import")
    assert figure["against"] == "from pydantic import BaseModel, TypeAdapter"
    assert figure["at_most"] == 1.15


@pytest.mark.ci
@pytest.mark.requirement("bench:overhead:step")
@pytest.mark.parametrize(
    ("table", "marks"),
    [
        ("A pydantic output contract", [2.5, 2.5]),
        ("A LangGraph node", [0.05, None]),
        ("A LangChain agent run", [None, 1.5, None]),
    ],
)
def test_ratios_are_compared_with_their_marks(
    tmp_path: Path, table: str, marks: list[float | None]
):
    figures = measured(tmp_path, table)
    assert [figure["at_most"] for figure in figures] == marks
    for figure in figures:
        if figure["at_most"] is not None:
            assert figure["reached"] == (figure["ratio"] <= figure["at_most"])


@pytest.mark.ci
@pytest.mark.requirement("bench:hosts:table")
@pytest.mark.parametrize(
    ("host", "things"),
    [
        ("LangGraph", ["first model call", "model and tool call", "node"]),
        ("DSPy", ["first model call", "model and tool call"]),
        ("OpenAI", ["first model call", "model and tool call"]),
    ],
)
def test_each_host_is_measured_with_a_hook_of_its_own(tmp_path: Path, host: str, things: list[str]):
    figures = measured(tmp_path, host, "hosts.py")
    names = {figure["name"] for figure in figures}
    assert names == {f"{who}: {what}" for who in ("no-op hook", "Hornbook") for what in things}


@pytest.mark.requirement("bench:engine:optimisations")
@pytest.mark.parametrize("driver", [", async driver", ", sync driver"])
def test_each_optimisation_is_measured_off_and_none_changes_the_value(tmp_path: Path, driver: str):
    # The benchmark itself stops where the values differ.
    rows = {row["name"]: row for row in measured(tmp_path, driver, "engine.py")}
    off = [f"{name} off" for name in ("concurrency", "caching", "batching", "pruning")]
    assert list(rows) == ["all on", *off, "all off"]
    best, naive = rows["all on"], rows["all off"]
    assert naive["calls"] == naive["sent"]
    assert naive["milliseconds"] >= naive["calls"] * 50
    assert best["calls"] < rows["caching off"]["calls"] == naive["calls"]
    assert best["tokens"] < rows["caching off"]["tokens"] == naive["tokens"]
    assert best["sent"] < rows["batching off"]["sent"] == best["calls"]
    for row in rows.values():
        assert row["sent"] <= row["calls"]


@pytest.mark.ci
@pytest.mark.requirement("bench:engine:scheduler")
@pytest.mark.parametrize(
    ("table", "base", "mark"),
    [("three async steps", "asyncio.TaskGroup", 1.0), ("three plain steps", "three calls", None)],
)
def test_a_level_is_measured_beside_asyncio_and_a_peer(
    tmp_path: Path, table: str, base: str, mark: float | None
):
    figures = measured(tmp_path, table, "engine.py")
    scheduler, *_, peer = figures[1:]
    assert figures[0]["name"] == base
    assert (scheduler["name"], scheduler["at_most"]) == ("the scheduler, added", mark)
    assert peer["name"] == "LangGraph nodes, added"
    if mark is not None:
        assert scheduler["against"] == "the 50 us it may add"
        assert scheduler["ratio"] == pytest.approx(scheduler["microseconds"] / 50)
