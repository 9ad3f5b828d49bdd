"""The example and the README of this adapter, as a reader would run them."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from hornbook.trace import read, verify_trace

HERE = Path(__file__).parents[1]
FIRST = HERE.parents[1] / "examples" / "openai_agents_first.py"


def run_file(file: Path, cwd: Path) -> str:
    env = {name: value for name, value in os.environ.items() if name != "OPENAI_API_KEY"}
    done = subprocess.run(
        [sys.executable, str(file)], cwd=cwd, env=env, text=True, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.rstrip()


@pytest.mark.requirement("openai:example:first")
def test_the_first_agent_is_kept_from_a_flight_that_nobody_named(tmp_path: Path):
    assert run_file(FIRST, tmp_path).endswith("\nThe airport says DY620: 16:40, on time.")
    [record] = (tmp_path / "runs").iterdir()
    assert verify_trace(record).ok
    ends = [event for event in read(record) if event.kind == "step.end"]
    assert [(end.name, end.status) for end in ends] == [
        ("model", "satisfied"),
        ("get_arrival", "blocked"),
        ("model", "satisfied"),
        ("get_arrival", "satisfied"),
        ("model", "satisfied"),
    ]
    [violation] = ends[1].data["report"]["violations"]
    assert (violation["clause"], violation["observed"]) == ("grounded flight", "'SK620'")


@pytest.mark.requirement("openai:example:first")
def test_the_first_agent_without_its_marked_lines_is_ordinary_and_wrong(tmp_path: Path):
    lines = FIRST.read_text(encoding="utf-8").splitlines()
    marked = [line for line in lines if line.endswith("# hornbook")]
    assert 1 <= len(marked) <= 3
    plain = tmp_path / "plain.py"
    plain.write_text("\n".join(line for line in lines if line not in marked), encoding="utf-8")
    assert run_file(plain, tmp_path).endswith("\nThe airport says SK620: 11:05, landed.")
    assert not (tmp_path / "runs").exists()


@pytest.mark.requirement("openai:docs:executed")
def test_the_examples_of_the_readme_run(tmp_path: Path):
    page = (HERE / "README.md").read_text(encoding="utf-8")
    program = tmp_path / "readme.py"
    fences = re.findall(r"^```python\n(.*?)^```", page, flags=re.MULTILINE | re.DOTALL)
    program.write_text("\n".join(fences), encoding="utf-8")
    assert len(fences) == 3
    run_file(program, tmp_path)
    records = list((tmp_path / "runs").iterdir())
    assert len(records) == 2
    assert all(verify_trace(record).ok for record in records)
