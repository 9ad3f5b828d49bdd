"""The worked scenarios in examples/ hold, and `hornbook verify` prints their assurance tables."""

import os
import subprocess
import sys

import pytest

from workspace import ROOT

SCENARIOS = ROOT / "examples" / "scenarios"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python in the workspace, as a reader of the examples does."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "100"},
        text=True,
        capture_output=True,
        check=False,
        timeout=300,
    )


@pytest.mark.requirement("verify:examples:table")
def test_verify_prints_the_assurance_table_of_each_example() -> None:
    done = run("-m", "hornbook.cli", "verify", "--scenarios", str(SCENARIOS))
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    for verdict in (
        "expenses: ok (4 of 4 scenarios passed)",
        "headline: ok (3 of 3 scenarios passed)",
        "triage: ok (5 of 5 scenarios passed)",
    ):
        assert verdict in lines
    assert sum(line.startswith("ASSURANCE TABLE") for line in lines) == 3
    assert any(line.startswith("  read (neural) ") for line in lines)


@pytest.mark.requirement("verify:examples:dozen")
def test_there_are_a_dozen_worked_scenarios() -> None:
    from hornbook.verify import read_scenarios

    found = read_scenarios(SCENARIOS)
    assert len(found) >= 12
    assert len({one.program for one in found}) == 3


@pytest.mark.requirement("verify:examples:runs")
def test_the_triage_example_runs_by_itself() -> None:
    done = run("examples/triage.py")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Thank you. Your order A-1001 is with our colleagues for returns." in done.stdout
