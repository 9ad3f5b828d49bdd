"""Scenario files as tests, as a user's pytest runs them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

DESK = """
from hornbook.program import primitive

@primitive
def loud(text: str) -> str:
    return text.upper()
"""
GOOD = """
program = "my_desk:loud"
[[scenario]]
name = "a word"
input = "a"
expect.output = "A"
"""
BAD = """
program = "my_desk:loud"
[[scenario]]
name = "a word too many"
about = "Loud it must be."
input = "a"
expect = { output = "A!", calls = 3 }
"""


def run_pytest(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    (folder / "my_desk.py").write_text(DESK, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "hornbook.testing.pytest_plugin", *options]
    env = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "COLUMNS": "100"}
    env.pop("PYTEST_ADDOPTS", None)
    return subprocess.run(command, cwd=folder, env=env, text=True, capture_output=True, check=False)


def written(folder: Path, text: str, name: str = "desk.scenarios.toml") -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.requirement("scenarios:pytest:collects")
def test_each_scenario_is_a_test_beside_the_others(tmp_path: Path) -> None:
    written(tmp_path, "def test_mine(): pass\n", "test_mine.py")
    written(tmp_path, GOOD, "scenarios/desk.scenarios.toml")
    done = run_pytest(tmp_path, "-v")
    assert "scenarios/desk.scenarios.toml::a word PASSED" in done.stdout
    assert "test_mine.py::test_mine PASSED" in done.stdout
    assert "2 passed" in done.stdout
    assert done.returncode == 0


@pytest.mark.requirement("scenarios:pytest:collects")
def test_the_file_may_be_named_and_one_scenario_chosen(tmp_path: Path) -> None:
    file = written(tmp_path, GOOD + '[[scenario]]\nname = "other"\ninput = "b"\n')
    assert "1 passed" in run_pytest(tmp_path, f"{file.name}::other").stdout
    assert "1 passed, 1 deselected" in run_pytest(tmp_path, "-k", "other").stdout


@pytest.mark.requirement("scenarios:pytest:failures")
def test_a_failure_says_what_was_expected_and_nothing_of_our_code(tmp_path: Path) -> None:
    written(tmp_path, BAD)
    done = run_pytest(tmp_path)
    assert done.returncode == 1
    assert "____ a word too many ____" in done.stdout
    assert (
        "Loud it must be.\noutput: expected 'A!', got 'A'\ncalls: expected 3, got 0\n"
    ) in done.stdout
    assert "Traceback" not in done.stdout
    assert "pytest_plugin.py" not in done.stdout


@pytest.mark.requirement("scenarios:pytest:failures")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            GOOD.replace("my_desk:loud", "my_desk:lout"),
            "'my_desk:lout': my_desk has no 'lout'; did you mean 'loud'?",
        ),
        (
            GOOD.replace('program = "my_desk:loud"', ""),
            "the file names no program: write program = 'module:attribute'",
        ),
    ],
)
def test_a_program_that_is_not_there_is_one_sentence(
    tmp_path: Path, text: str, message: str
) -> None:
    written(tmp_path, text)
    done = run_pytest(tmp_path)
    assert f"\n{message}\n" in done.stdout
    assert "Traceback" not in done.stdout


@pytest.mark.requirement("scenarios:pytest:failures")
def test_a_file_that_is_not_well_formed_is_an_error_of_collection(tmp_path: Path) -> None:
    file = written(tmp_path, "[[scenario]]\nnmae = 'a'\n")
    done = run_pytest(tmp_path)
    assert done.returncode == pytest.ExitCode.INTERRUPTED
    assert f"{file}:2: scenario 1: unknown key 'nmae'; the nearest is 'name'" in done.stdout
    assert "Traceback" not in done.stdout


@pytest.mark.requirement("scenarios:pytest:setting")
def test_a_setting_says_which_files_are_meant(tmp_path: Path) -> None:
    written(tmp_path, GOOD)
    written(tmp_path, GOOD, "desk.cases.toml")
    written(tmp_path, "[pytest]\nhornbook_scenario_files = *.cases.toml\n", "pytest.ini")
    done = run_pytest(tmp_path, "-v")
    assert "desk.cases.toml::a word PASSED" in done.stdout
    assert "1 passed" in done.stdout
    written(tmp_path, "[pytest]\nhornbook_scenario_files =\n", "pytest.ini")
    assert run_pytest(tmp_path).returncode == pytest.ExitCode.NO_TESTS_COLLECTED
