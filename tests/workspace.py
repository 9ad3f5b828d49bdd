"""What the workspace consists of, for the tests that look at it as a whole."""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

__all__ = ["DISTRIBUTIONS", "HOSTS", "ROOT", "Distribution", "python", "python_examples", "sources"]

ROOT = Path(__file__).parents[1]
HOSTS = frozenset(
    {
        "langgraph",
        "langchain",
        "langchain_core",
        "dspy",
        "litellm",
        "agents",
        "openai",
        "faiss",
        "numpy",
        "torch",
    }
)
"""Top-level modules that only an adapter or the rule store may load, and only on use."""


@dataclass(frozen=True, slots=True)
class Distribution:
    """One member of the workspace."""

    folder: str

    @property
    def path(self) -> Path:
        return ROOT / self.folder

    @property
    def project(self) -> dict[str, Any]:
        return _project(self.path / "pyproject.toml")

    @property
    def name(self) -> str:
        return str(self.project["name"])

    @property
    def package(self) -> str:
        return self.name.replace("-", "_")


@cache
def _project(file: Path) -> dict[str, Any]:
    return tomllib.loads(file.read_text(encoding="utf-8"))["project"]


DISTRIBUTIONS = tuple(
    map(
        Distribution,
        ("core", "rulestore", "plugins/langgraph", "plugins/dspy", "plugins/openai_agents"),
    )
)


def sources(*patterns: str) -> Iterator[Path]:
    """All files of the workspace that match, without environments, caches and what is built."""
    for pattern in patterns:
        for file in sorted(ROOT.glob(pattern)):
            parts = file.relative_to(ROOT).parts
            hidden = any(part.startswith(".") and part != ".ci" for part in parts[:-1])
            if file.is_file() and not hidden and not {"__pycache__", "dist"} & set(parts):
                yield file


def python(code: str, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run code in a fresh interpreter of this environment."""
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, text=True, capture_output=True, check=False, **options)


def python_examples(page: Path) -> str:
    """The Python fences of a page as one program, each line where it stands in the page."""
    lines = page.read_text(encoding="utf-8").splitlines()
    inside = False
    program: list[str] = []
    for line in lines:
        if inside and line.startswith("```"):
            inside = False
        program.append(line if inside else "")
        if re.fullmatch(r"```(python|py)\b.*", line):
            inside = True
    return "\n".join(program) + "\n" if any(program) else ""
