"""The first agent: it runs, is kept from a mistake, and without its marked lines is ordinary."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from hornbook.trace import read, verify_trace

FIRST = Path(__file__).parents[3] / "examples" / "dspy_first.py"
KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY")


def run(program: Path, cwd: Path) -> Sequence[str]:
    own = {name: value for name, value in os.environ.items() if name not in KEYS}
    done = subprocess.run(
        [sys.executable, str(program)],
        cwd=cwd,
        env={**own, "DSPY_CACHEDIR": str(cwd / "cache")},
        text=True,
        capture_output=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.requirement("dspy:example:guarded")
def test_the_first_agent_is_kept_from_a_flight_that_nobody_named(tmp_path: Path):
    assert run(FIRST, tmp_path)[-1] == "The airport says DY620: 16:40, on time."
    [record] = (tmp_path / "runs").iterdir()
    assert verify_trace(record).ok
    ends = [event for event in read(record) if event.kind == "step.end"]
    tools = [event for event in ends if event.name == "get_arrival"]
    assert [event.status for event in tools] == ["blocked", "satisfied"]
    [violation] = tools[0].data["report"]["violations"]
    assert (violation["clause"], violation["observed"]) == ("grounded flight", "'SK620'")
    assert [event.name for event in ends].count("model") == 4


@pytest.mark.requirement("dspy:example:three-lines")
def test_without_its_marked_lines_it_is_an_ordinary_agent_and_wrong(tmp_path: Path):
    lines = FIRST.read_text(encoding="utf-8").splitlines()
    marked = [line for line in lines if line.endswith("# hornbook")]
    assert 1 <= len(marked) <= 3
    plain = tmp_path / "plain.py"
    plain.write_text("\n".join(line for line in lines if line not in marked), encoding="utf-8")
    assert "hornbook_dspy" not in plain.read_text(encoding="utf-8")
    assert run(plain, tmp_path)[-1] == "The airport says SK620: 11:05, landed."
    assert not (tmp_path / "runs").exists()
