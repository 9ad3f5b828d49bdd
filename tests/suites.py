"""Runs the suites of the workspace, each in a process of its own, and sums up once.

Each adapter's host is heavy and patches what it likes, so no two share a process. A failed suite
does not stop the others: one run shows all that is wrong.

    python tests/suites.py test | ci | all | lint
"""

import os
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

__all__ = ["TREES", "Suite", "lint", "main", "run", "tests"]

ROOT = Path(__file__).parents[1]
TREES = {
    "core": "core/tests",
    "workspace": "tests",
    "langgraph": "plugins/langgraph/tests",
    "dspy": "plugins/dspy/tests",
    "openai-agents": "plugins/openai_agents/tests",
    "rulestore": "rulestore/tests",
}
MARKS = {"test": "not ci and not slow", "ci": "ci and not slow", "all": ""}
AT_ONCE = 2
"""Suites that run at the same time."""
NO_TESTS = 5
"""pytest's exit status when it ran no test."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """One command; an exit status in `fine` is no failure."""

    name: str
    command: Sequence[str]
    fine: frozenset[int] = frozenset({0})


def tests(size: str) -> list[Suite]:
    """One suite a test tree. A tree may hold no test of CI size, but never no test at all."""
    options = ["-q", "-m", MARKS[size]]
    if seed := os.environ.get("HYPOTHESIS_SEED"):
        options.append(f"--hypothesis-seed={seed}")
    fine = frozenset({0, NO_TESTS} if size == "ci" else {0})
    command = [sys.executable, "-m", "pytest", *options]
    return [Suite(name=name, command=[*command, tree], fine=fine) for name, tree in TREES.items()]


def lint() -> list[Suite]:
    """Everything that reads the code without running it."""
    python = [sys.executable, "-m"]
    lint_imports = str(Path(sysconfig.get_path("scripts"), "lint-imports"))
    return [
        Suite(name="ruff", command=[*python, "ruff", "check"]),
        Suite(name="ruff format", command=[*python, "ruff", "format", "--check"]),
        Suite(name="pyright", command=[*python, "pyright", "--pythonpath", sys.executable]),
        Suite(name="import-linter", command=[lint_imports, "--no-logo"]),
    ]


def run(suites: Iterable[Suite]) -> int:
    """Run all suites; print a table and `N passed, N failed`; return the exit status.

    Two run at a time, and what one prints is shown when it has ended, in the order given.
    """
    rows: list[tuple[Suite, bool, float]] = []
    with ThreadPoolExecutor(max_workers=AT_ONCE) as pool:
        listed = list(suites)
        for suite, (done, seconds) in zip(listed, pool.map(_ran, listed), strict=True):
            print(f"\n=== {suite.name}: {' '.join(suite.command)}\n{done.stdout}", flush=True)
            rows.append((suite, done.returncode in suite.fine, seconds))
    print("\n=== summary")
    for suite, passed, seconds in rows:
        print(f"{suite.name:<16}{'passed' if passed else 'FAILED':<8}{seconds:6.1f} s")
    failed = sum(not passed for _, passed, _ in rows)
    print(f"{len(rows) - failed} passed, {failed} failed")
    return int(failed > 0)


def _ran(suite: Suite) -> tuple[subprocess.CompletedProcess[str], float]:
    start = time.monotonic()
    done = subprocess.run(
        suite.command,
        cwd=ROOT,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="backslashreplace",
    )
    return done, time.monotonic() - start


def main(size: str) -> int:
    """Run what the command of that name runs."""
    if size == "lint":
        return run(lint())
    return run([*tests(size), *([] if size == "ci" else lint())])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
