"""The public API under two type checkers, as users write it: these files are never run."""

import subprocess
import sys
from pathlib import Path

import pytest

from workspace import ROOT, python_examples

HERE = Path(__file__).parent
FILES = sorted(file for file in HERE.glob("*.py") if file != Path(__file__))
PYRIGHT = ["pyright", "--pythonpath", sys.executable]
MYPY = ["mypy", "--config-file", str(ROOT / "pyproject.toml"), "--cache-dir"]


def check(*command: str, cwd: Path = ROOT) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=cwd, text=True, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.requirement("api:typing:strict", "api:typing:identity", "api:typing:generic")
def test_uses_of_the_api_pass_pyright_strict():
    check(*PYRIGHT, *map(str, FILES))


@pytest.mark.requirement("api:typing:strict", "api:typing:identity", "api:typing:generic")
def test_uses_of_the_api_pass_mypy_strict(tmp_path: Path):
    check(*MYPY, str(tmp_path), *map(str, FILES))


@pytest.mark.requirement("api:typing:strict")
def test_the_readme_passes_both(tmp_path: Path):
    program = tmp_path / "readme.py"
    text = python_examples(ROOT / "README.md")
    # LangGraph's own generics are partially unknown, and it ships no stubs.
    loose = "reportUnknownMemberType=false, reportUnknownVariableType=false"
    loose += ", reportMissingTypeStubs=false"
    first = f"# pyright: strict, {loose}\n"
    program.write_text(first + text.partition("\n")[2], encoding="utf-8")
    check(*PYRIGHT, str(program))
    check(*MYPY, str(tmp_path / "cache"), str(program))
