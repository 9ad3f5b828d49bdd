"""The worked scenarios of the primitive library hold, and no clause of it is idle."""

import os
import subprocess
import sys

import pytest

from hornbook.program import library
from hornbook.verify import read_scenarios
from workspace import ROOT

SCENARIOS = ROOT / "examples" / "library"
PRIMITIVES = (
    "check_format",
    "check_type",
    "classify_relation",
    "decompose",
    "entails",
    "extract_entities",
    "match_pattern",
    "restructure",
    "shifts",  # propagate, and what is read off its result
)


@pytest.mark.requirement("library:scenarios:hold")
def test_every_primitive_of_the_library_has_worked_scenarios_that_hold() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "hornbook.cli", "verify", "--scenarios", str(SCENARIOS)],
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "100"},
        text=True,
        capture_output=True,
        check=False,
        timeout=300,
    )
    assert (done.returncode, done.stderr) == (0, "")
    verdicts = [
        line.partition(": ok (")[0] for line in done.stdout.splitlines() if ": ok (" in line
    ]
    assert sorted(set(verdicts)) == sorted(PRIMITIVES)
    assert "idle" not in done.stdout
    assert len(read_scenarios(SCENARIOS)) >= 18


@pytest.mark.requirement("library:names:public")
def test_the_library_exports_the_primitives_of_the_paper() -> None:
    for name in PRIMITIVES[:-1]:
        assert callable(getattr(library, name))
    assert callable(library.propagate)
    assert set(library.__all__) <= set(dir(library))
