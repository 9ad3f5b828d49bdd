"""The commands of the Makefile, from nothing to a summary."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from suites import TREES, Suite, run
from workspace import ROOT, sources


def make(target: str, cwd: Path, path: Path | str, home: Path) -> subprocess.CompletedProcess[str]:
    """Run make with nothing of this environment but a search path."""
    return subprocess.run(
        [str(shutil.which("make")), target],
        cwd=cwd,
        env={"HOME": str(home), "PATH": str(path)},
        text=True,
        capture_output=True,
        check=False,
    )


@pytest.mark.requirement("workspace:commands:python")
def test_without_a_recent_python_make_says_so_in_one_line(tmp_path: Path):
    shutil.copy(ROOT / "Makefile", tmp_path)
    shutil.copy(ROOT / "constraints.txt", tmp_path)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    old = tmp_path / "bin" / "python3"
    old.parent.mkdir()
    old.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    old.chmod(0o755)

    done = make("demo", tmp_path, old.parent, tmp_path)

    assert done.returncode != 0
    assert done.stdout == ""
    assert done.stderr.splitlines()[0] == (
        "Hornbook needs Python 3.11 or newer with venv and ensurepip; tried: "
        "python3.14 python3.13 python3.12 python3.11 python3 python"
    )


@pytest.mark.requirement("workspace:commands:summary")
def test_every_suite_runs_even_after_a_failure(capfd: pytest.CaptureFixture[str]):
    def suite(name: str, status: int) -> Suite:
        return Suite(name=name, command=[sys.executable, "-c", f"print({name!r}); exit({status})"])

    status = run([suite("first", 1), suite("second", 0), suite("third", 5)])

    lines = capfd.readouterr().out.splitlines()
    assert status == 1
    assert [line for line in lines if line in {"first", "second", "third"}] == [
        "first",
        "second",
        "third",
    ]
    assert [line.split()[:2] for line in lines[-4:-1]] == [
        ["first", "FAILED"],
        ["second", "passed"],
        ["third", "FAILED"],
    ]
    assert lines[-1] == "1 passed, 2 failed"


@pytest.mark.requirement("workspace:commands:summary")
def test_every_test_file_belongs_to_a_suite():
    trees = [ROOT / tree for tree in TREES.values()]
    files = list(sources("*/**/test_*.py"))
    assert len(files) > 10
    assert not [file for file in files if not any(file.is_relative_to(tree) for tree in trees)]


@pytest.mark.slow
@pytest.mark.requirement("workspace:commands:bare")
def test_from_a_bare_clone_the_demo_runs(tmp_path: Path):
    clone = tmp_path / "clone"
    unwanted = shutil.ignore_patterns(".*", "__pycache__", "*.egg-info", "dist")
    shutil.copytree(ROOT, clone, ignore=unwanted)
    home = tmp_path / "home"
    home.mkdir()
    done = make("demo", clone, os.defpath, home)
    assert done.returncode == 0, done.stderr
    again = make("demo", clone, os.defpath, home)
    assert "Installing" in done.stdout
    assert "Installing" not in again.stdout
