"""`module:program`, as a user writes it in a file or on the command line."""

import sys
from pathlib import Path

import pytest

from hornbook.verify import TargetError, load_program

DESK = """
from hornbook.program import primitive

@primitive
def program(text: str) -> str:
    return text

class Shelf:
    program = program

number = 3
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "targets_desk.py").write_text(DESK, encoding="utf-8")
    (tmp_path / "targets_broken.py").write_text("import targets_absent\n", encoding="utf-8")
    (tmp_path / "targets_raising.py").write_text("raise SystemExit(3)\n", encoding="utf-8")
    for name in [name for name in sys.modules if name.startswith("targets_")]:
        monkeypatch.delitem(sys.modules, name)
    return tmp_path


@pytest.mark.requirement("verify:target:found")
@pytest.mark.parametrize("target", ["targets_desk:program", "targets_desk:Shelf.program"])
def test_the_current_folder_comes_first(folder: Path, target: str) -> None:
    before = list(sys.path)
    assert load_program(target).run("a") == "a"
    assert sys.path == before


@pytest.mark.requirement("verify:target:found")
def test_another_folder_may_be_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    assert load_program("targets_desk:program", folder=folder).name == "program"


@pytest.mark.requirement("verify:target:refused")
@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("targets_desk", "'targets_desk' names no program: write module:attribute"),
        (":program", "':program' names no program: write module:attribute"),
        (
            "targets_desk:progam",
            "'targets_desk:progam': targets_desk has no 'progam'; did you mean 'program'?",
        ),
        (
            "targets_desk:number",
            "'targets_desk:number' is no program but an int; programs are made by hornbook.program",
        ),
        (
            "targets_nowhere:program",
            "'targets_nowhere:program': there is no module 'targets_nowhere' in {folder} or on "
            "Python's path",
        ),
        (
            "targets_broken:program",
            "'targets_broken:program': importing targets_broken raised ModuleNotFoundError: No "
            "module named 'targets_absent'",
        ),
        (
            "targets_raising:program",
            "'targets_raising:program': importing targets_raising raised SystemExit: 3",
        ),
    ],
)
def test_what_names_no_program_is_one_clear_error(folder: Path, target: str, message: str) -> None:
    with pytest.raises(TargetError) as caught:
        load_program(target)
    assert str(caught.value) == message.format(folder=folder.resolve())
