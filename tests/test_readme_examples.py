"""Every Python example a reader sees runs, in a process of its own, page by page."""

import subprocess
import sys
from pathlib import Path

import pytest

from workspace import ROOT, python_examples, sources

PAGES = [
    page
    for page in sources("*.md", "docs/**/*.md", "*/README.md", "plugins/*/README.md")
    if python_examples(page)
]


@pytest.mark.requirement("workspace:docs:executed")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_examples_of_a_page_run(page: Path, tmp_path: Path):
    program = tmp_path / f"{page.stem}.py"
    program.write_text(python_examples(page), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(program)], cwd=tmp_path, text=True, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.requirement("workspace:docs:executed")
def test_lines_of_an_example_keep_their_place_in_the_page(tmp_path: Path):
    page = tmp_path / "page.md"
    page.write_text("# Title\n```python\nx = 1\n```\ntext\n```bash\nls\n```\n", encoding="utf-8")
    assert python_examples(page) == "\n\nx = 1\n\n\n\n\n\n"
