"""The distributions as a user gets them: built, and installed where nothing else is."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from workspace import DISTRIBUTIONS, ROOT

pytestmark = pytest.mark.ci


def pip(python: str | Path, *arguments: str) -> str:
    command = [str(python), "-m", "pip", *arguments, "--disable-pip-version-check"]
    done = subprocess.run(command, cwd=ROOT, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def clean_python(folder: Path) -> Path:
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    return folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"


def installed(python: Path) -> set[str]:
    listed = json.loads(pip(python, "list", "--format=json"))
    return {each["name"] for each in listed} - {"pip", "setuptools", "wheel"}


@pytest.mark.requirement("workspace:dists:build")
def test_all_distributions_build(tmp_path: Path):
    folders = [f"./{dist.folder}" for dist in DISTRIBUTIONS]
    pip(sys.executable, "wheel", "--no-deps", "--wheel-dir", str(tmp_path), *folders)
    built = {wheel.name.partition("-")[0] for wheel in tmp_path.glob("*.whl")}
    assert built == {dist.package for dist in DISTRIBUTIONS}


@pytest.mark.requirement("workspace:install:plain")
def test_the_plain_install_adds_pluggy_alone_and_has_a_command(tmp_path: Path):
    python = clean_python(tmp_path / "venv")
    pip(python, "install", "-c", "constraints.txt", "pydantic")
    before = installed(python)
    pip(python, "install", "-c", "constraints.txt", "./core")
    assert installed(python) - before == {"hornbook", "pluggy"}
    for arguments in (["--version"], ["plugins"], ["config"]):
        command = [str(python.with_name("hornbook")), *arguments]
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)


@pytest.mark.requirement("workspace:dists:alone")
def test_the_core_and_one_adapter_install_alone(tmp_path: Path):
    python = clean_python(tmp_path / "venv")
    pip(python, "install", "-c", "constraints.txt", "./core", "./plugins/langgraph")
    code = "import hornbook_langgraph; from hornbook import Contract, contract, clauses"
    subprocess.run([str(python), "-c", code], cwd=tmp_path, check=True)
    listed = subprocess.run(
        [str(python.with_name("hornbook")), "plugins"],
        cwd=tmp_path,
        text=True,
        capture_output=True,
        check=True,
    )
    assert "langgraph" in listed.stdout
