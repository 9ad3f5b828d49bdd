"""`pytest --hornbook-adapter=module:factory`, as a third party runs it."""

import importlib.metadata
import os
import subprocess
import sys
from pathlib import Path

import pytest

ADAPTERS = """
from hornbook.testing.memory_host import MemoryAdapter


class Modest(MemoryAdapter):
    capabilities = frozenset({"sync", "async"})


class Forgetful(MemoryAdapter):
    def attached(self, scene):
        from dataclasses import replace

        return super().attached(replace(scene, contracts={}))


def raising():
    raise OSError("no room")
"""


def run_pytest(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    (folder / "my_adapters.py").write_text(ADAPTERS, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "hornbook.testing.pytest_plugin", *options]
    env = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "COLUMNS": "100"}
    env.pop("PYTEST_ADDOPTS", None)
    return subprocess.run(command, cwd=folder, env=env, text=True, capture_output=True, check=False)


@pytest.mark.requirement("conformance:pytest:collects")
def test_it_adds_one_test_a_case_to_those_that_are_there(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text("def test_mine(): pass\n", encoding="utf-8")
    done = run_pytest(
        tmp_path, "--hornbook-adapter=my_adapters:MemoryAdapter", "-v", "-k", "missing or mine"
    )
    assert "test_mine.py::test_mine PASSED" in done.stdout
    assert "conformance of memory::missing-argument[sync] PASSED" in done.stdout
    assert "conformance of memory::missing-argument[async] PASSED" in done.stdout
    assert "3 passed" in done.stdout
    assert done.returncode == 0


@pytest.mark.requirement("conformance:pytest:collects")
def test_what_is_declared_unsupported_is_skipped_with_the_reason(tmp_path: Path) -> None:
    done = run_pytest(tmp_path, "--hornbook-adapter=my_adapters:Modest", "-rs", "-k", "rules-shown")
    assert "declared unsupported: rules" in done.stdout
    assert "2 skipped" in done.stdout


@pytest.mark.requirement("conformance:pytest:differences")
def test_a_failure_shows_the_differences_and_nothing_of_the_kit(tmp_path: Path) -> None:
    done = run_pytest(
        tmp_path, "--hornbook-adapter=my_adapters:Forgetful", "-k", "contract-waived and not async"
    )
    assert done.returncode == 1
    assert "What is refused is given all the same where the recovery says so" in done.stdout
    assert (
        "    - tool quote(order_id='A-1001'); waived; violated: in_range price at price; "
        "decided: waive\n    + tool quote(order_id='A-1001')\n"
    ) in done.stdout
    assert "pytest_plugin.py" not in done.stdout


@pytest.mark.requirement("conformance:pytest:refused")
@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("my_adapters", "'my_adapters' is no adapter: write module:factory"),
        ("my_adapters:raising", "the factory raising raised OSError: no room"),
        (
            "my_adapters:dict",
            "'my_adapters:dict': my_adapters has no 'dict'",
        ),
    ],
)
def test_a_wrong_option_is_one_clear_error(tmp_path: Path, option: str, message: str) -> None:
    done = run_pytest(tmp_path, f"--hornbook-adapter={option}", "-q")
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert done.stderr.strip() == f"ERROR: --hornbook-adapter: {message}"
    assert "Traceback" not in done.stdout


@pytest.mark.requirement("conformance:pytest:light")
def test_without_the_option_it_loads_nothing_and_adds_nothing(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(
        "import sys\n"
        "def pytest_unconfigure(config):\n"
        "    loaded = sorted(m for m in sys.modules if m.startswith('hornbook'))\n"
        "    print('LOADED', *loaded, 'pydantic' in sys.modules)\n",
        encoding="utf-8",
    )
    done = run_pytest(tmp_path, "-q", "-s")
    assert done.returncode == pytest.ExitCode.NO_TESTS_COLLECTED
    assert done.stdout.splitlines()[-1] == (
        "LOADED hornbook hornbook.late hornbook.lazy hornbook.testing "
        "hornbook.testing.pytest_plugin False"
    )


@pytest.mark.requirement("conformance:pytest:installed")
def test_pytest_finds_it_by_its_entry_point() -> None:
    (point,) = importlib.metadata.distribution("hornbook").entry_points.select(group="pytest11")
    assert (point.name, point.value) == ("hornbook", "hornbook.testing.pytest_plugin")
