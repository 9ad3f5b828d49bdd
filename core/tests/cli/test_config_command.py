"""`hornbook config`."""

import json
import os
from pathlib import Path

import pytest

from hornbook import cli

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in [name for name in os.environ if name.startswith("HORNBOOK_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.requirement("config:command:shown")
def test_each_setting_is_shown_with_its_origin_and_no_secret(
    folder: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = folder / "hornbook.toml"
    file.write_text('store = "postgres://me:secret@db/rules"\n', encoding="utf-8")
    monkeypatch.setenv("HORNBOOK_LOAD_PLUGINS", "a,b")
    assert cli.main(["config"]) == 0
    assert capsys.readouterr().out == (
        "SETTING         VALUE                    ORIGIN\n"
        "trace           -                        default\n"
        f"store           postgres://***@db/rules  {file}\n"
        "namespace       -                        default\n"
        "strict_plugins  false                    default\n"
        "load_plugins    a, b                     HORNBOOK_LOAD_PLUGINS\n"
        "strict_trace    false                    default\n"
        "trace_sinks     none                     default\n"
        "redact_keys     none                     default\n"
        "calibrations    -                        default\n"
    )


@pytest.mark.requirement("config:command:shown")
def test_the_settings_are_shown_as_json(folder: Path, capsys: Capture) -> None:
    file = folder / "hornbook.toml"
    file.write_text('trace = "runs"\nstrict_trace = true\n', encoding="utf-8")
    assert cli.main(["config", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["trace"] == {"value": str(folder / "runs"), "origin": str(file)}
    assert shown["strict_trace"] == {"value": True, "origin": str(file)}
    assert shown["load_plugins"] == {"value": None, "origin": "default"}


@pytest.mark.requirement("config:variables:unknown")
def test_a_misspelt_variable_is_refused(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HORNBOOK_NAMSPACE", "x")
    assert cli.main(["config"]) == 1
    assert capsys.readouterr() == (
        "",
        "hornbook: the variable HORNBOOK_NAMSPACE is no setting of Hornbook; "
        "did you mean 'HORNBOOK_NAMESPACE'?\n",
    )


@pytest.mark.requirement("bad-input:config:unknown-key", "cli:errors:sentence")
@pytest.mark.parametrize("command", [["config"], ["trace", "list"]])
def test_a_file_that_cannot_be_used_is_one_sentence(
    folder: Path, capsys: Capture, command: list[str]
) -> None:
    from hornbook import config

    file = folder / "hornbook.toml"
    file.write_text("trase = 'runs'\n", encoding="utf-8")
    config._of_process.cache_clear()
    try:
        assert cli.main(command) == 1
    finally:
        config._of_process.cache_clear()
    assert capsys.readouterr() == (
        "",
        f"hornbook: {file}, line 1: unknown key 'trase'; did you mean 'trace'?\n",
    )
