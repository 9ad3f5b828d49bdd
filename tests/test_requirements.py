"""The manifest and the tests hold each other up."""

from pathlib import Path

import pytest

from requirements import REQUIREMENTS, ROOT, load, marked_tests, problems

ENTRIES = """\
["design 1"]
"area:feature:tested" = "One."
"area:feature:untested" = "Two."
"""
TESTS = """\
import pytest

@pytest.mark.requirement("area:feature:tested")
def test_marked(): ...

def test_unmarked(): ...

@pytest.mark.requirement("area:feature:unknown")
async def test_unknown(): ...

@pytest.mark.requirement("area:feature:tested")
class TestGroup:
    def test_inside(self): ...
"""


def workspace(root: Path, entries: str, tests: str) -> Path:
    (root / "tests/promises").mkdir(parents=True)
    (root / "tests/promises/part-01.toml").write_text(entries, encoding="utf-8")
    (root / "tests/test_sample.py").write_text(tests, encoding="utf-8")
    return root


@pytest.mark.requirement("workspace:manifest:entries", "workspace:manifest:tests")
def test_every_entry_has_a_test_and_every_test_an_entry():
    found = problems(REQUIREMENTS, list(marked_tests(ROOT)))
    assert not found, "\n".join([f"{len(found)} problems:", *found])


@pytest.mark.requirement("workspace:manifest:entries", "workspace:manifest:tests")
def test_what_is_missing_is_named_by_file_and_line(tmp_path: Path):
    root = workspace(tmp_path, ENTRIES, TESTS)
    assert problems(load(root), list(marked_tests(root))) == [
        "tests/test_sample.py:6: test_unmarked names no requirement",
        "tests/test_sample.py:9: test_unknown names 'area:feature:unknown', which is no entry",
        "tests/promises/part-01.toml:3: 'area:feature:untested' has no test",
    ]


@pytest.mark.requirement("workspace:manifest:tests")
def test_a_mark_on_the_module_or_on_a_parameter_counts(tmp_path: Path):
    tests = """\
import pytest
pytestmark = [pytest.mark.requirement("a:b:module"), pytest.mark.slow]

@pytest.mark.parametrize("x", [pytest.param(1, marks=pytest.mark.requirement("a:b:parameter"))])
def test_both(x): ...
"""
    root = workspace(tmp_path, "", tests)
    (only,) = marked_tests(root)
    assert only.ids == {"a:b:module", "a:b:parameter"}


@pytest.mark.requirement("workspace:manifest:entries")
@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ('["x"]\n"area:feature" = "."', "2: 'area:feature' is not area:feature:variant"),
        (
            '["x"]\n"a:b:c" = "."\n["y"]\n"a:b:c" = "."',
            "2: 'a:b:c' stands in tests/promises/part-01.toml:2 too",
        ),
    ],
)
def test_a_malformed_or_repeated_id_is_refused(tmp_path: Path, entries: str, message: str):
    root = workspace(tmp_path, entries, "")
    with pytest.raises(ValueError, match=message):
        load(root)
