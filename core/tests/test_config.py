"""Configuration: where it comes from, what wins, and one clear sentence for what is wrong."""

import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hornbook import config
from hornbook.config import Config, load, masked, read_settings
from hornbook.errors import ConfigError


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def problem(start: Path, environ: dict[str, str] | None = None) -> str:
    with pytest.raises(ConfigError) as caught:
        load(start, environ or {})
    return str(caught.value)


@pytest.mark.requirement("config:sources:order")
def test_without_file_or_variables_every_setting_has_its_default(tmp_path: Path) -> None:
    settings = read_settings(tmp_path, {})
    assert settings.config == Config()
    assert set(settings.origins.values()) == {"default"}
    assert settings.file is None


@pytest.mark.requirement("config:sources:order")
def test_the_nearest_folder_wins_whatever_the_file_is_called(tmp_path: Path) -> None:
    write(tmp_path / "hornbook.toml", 'namespace = "far"')
    write(tmp_path / "a/pyproject.toml", '[tool.hornbook]\nnamespace = "near"')
    (tmp_path / "a/b").mkdir()
    assert load(tmp_path / "a/b", {}).namespace == "near"


@pytest.mark.requirement("config:sources:order")
def test_in_one_folder_hornbook_toml_goes_before_pyproject(tmp_path: Path) -> None:
    write(tmp_path / "hornbook.toml", 'namespace = "own"')
    write(tmp_path / "pyproject.toml", '[tool.hornbook]\nnamespace = "shared"')
    assert load(tmp_path, {}).namespace == "own"


@pytest.mark.requirement("config:sources:order")
def test_a_pyproject_that_does_not_speak_of_hornbook_is_passed_over(tmp_path: Path) -> None:
    write(tmp_path / "hornbook.toml", 'namespace = "above"')
    write(tmp_path / "a/pyproject.toml", '[project]\nname = "x"')
    write(tmp_path / "b/pyproject.toml", "tool = 3")
    assert load(tmp_path / "a", {}).namespace == "above"
    assert load(tmp_path / "b", {}).namespace == "above"


@pytest.mark.requirement("config:sources:order")
def test_variables_override_the_file_key_by_key_and_origins_say_so(tmp_path: Path) -> None:
    file = write(tmp_path / "hornbook.toml", 'namespace = "file"\nstrict_trace = true')
    settings = read_settings(tmp_path, {"HORNBOOK_NAMESPACE": "variable"})
    assert settings.config == Config(namespace="variable", strict_trace=True)
    assert settings.file == file
    assert settings.origins["namespace"] == "HORNBOOK_NAMESPACE"
    assert settings.origins["strict_trace"] == str(file)
    assert settings.origins["trace"] == "default"


@pytest.mark.requirement("config:sources:order")
def test_relative_paths_start_at_the_file_or_at_the_working_directory(tmp_path: Path) -> None:
    write(tmp_path / "hornbook.toml", 'trace = "runs"\nstore = "rules.db"')
    (tmp_path / "a").mkdir()
    from_file = load(tmp_path / "a", {})
    assert from_file.trace == tmp_path / "runs"
    assert from_file.store == str(tmp_path / "rules.db")
    assert load(tmp_path / "a", {"HORNBOOK_TRACE": "here"}).trace == tmp_path / "a/here"


@pytest.mark.requirement("config:sources:order")
@pytest.mark.parametrize("store", ["postgres://db.example/rules", "host=db dbname=r", ":memory:"])
def test_the_address_of_a_database_is_no_path(tmp_path: Path, store: str) -> None:
    assert load(tmp_path, {"HORNBOOK_STORE": store}).store == store


@pytest.mark.requirement("config:sources:order")
def test_a_home_folder_is_expanded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert load(tmp_path, {"HORNBOOK_TRACE": "~/runs"}).trace == tmp_path / "runs"
    nobody = load(tmp_path, {"HORNBOOK_TRACE": "~no-such-user/runs"}).trace
    assert nobody == tmp_path / "~no-such-user/runs"


@pytest.mark.requirement("config:sources:order")
def test_lists_flags_and_empty_texts_are_read_from_variables(tmp_path: Path) -> None:
    write(tmp_path / "hornbook.toml", 'namespace = "file"\nstrict_plugins = true')
    environ = {
        "HORNBOOK_LOAD_PLUGINS": " a, b,,",
        "HORNBOOK_TRACE_SINKS": "",
        "HORNBOOK_NAMESPACE": "",
        "HORNBOOK_STRICT_PLUGINS": "Off",
        "HORNBOOK_STRICT_TRACE": "1",
    }
    assert load(tmp_path, environ) == Config(load_plugins=("a", "b"), strict_trace=True)


@pytest.mark.requirement("config:sources:order")
def test_selecting_no_plugin_is_not_selecting_all(tmp_path: Path) -> None:
    assert load(tmp_path, {"HORNBOOK_LOAD_PLUGINS": ""}).load_plugins == ()
    assert load(tmp_path, {}).load_plugins is None


@pytest.mark.requirement("bad-input:config:unknown-key")
def test_an_unknown_key_is_named_with_its_file_line_and_the_nearest_key(tmp_path: Path) -> None:
    file = write(tmp_path / "hornbook.toml", '# ours\nnamespace = "a"\nstrict-plugins = true\n')
    assert problem(tmp_path) == (
        f"{file}, line 3: unknown key 'strict-plugins'; did you mean 'strict_plugins'?"
    )


@pytest.mark.requirement("bad-input:config:unknown-key")
def test_an_unknown_key_like_no_other_lists_those_there_are(tmp_path: Path) -> None:
    file = write(tmp_path / "pyproject.toml", "[tool.other]\nzzz = 1\n[tool.hornbook]\nzzz = 1\n")
    assert problem(tmp_path) == (
        f"{file}, line 4: unknown key 'zzz'; there are calibrations, load_plugins, namespace, "
        "redact_keys, store, strict_plugins, strict_trace, trace, trace_sinks"
    )


@pytest.mark.requirement("bad-input:config:unknown-key")
def test_a_key_that_a_plain_scan_does_not_find_is_named_without_its_line(tmp_path: Path) -> None:
    file = write(tmp_path / "pyproject.toml", "[tool]\nhornbook = {namespaces = 1}\n")
    assert problem(tmp_path) == (f"{file}: unknown key 'namespaces'; did you mean 'namespace'?")


@pytest.mark.requirement("config:values:checked")
@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("strict_plugins = 'yes'", "'strict_plugins' must be true or false, not 'yes'"),
        ("strict_trace = 1", "'strict_trace' must be true or false, not 1"),
        ("namespace = 3", "'namespace' must be a text, not 3"),
        ("trace = ['a']", "'trace' must be a text, not ['a']"),
        ("load_plugins = 'a'", "'load_plugins' must be a list of names, not 'a'"),
        ("redact_keys = ['a', '']", "'redact_keys' must be a list of names, not ['a', '']"),
        ("store = ['postgres://u:secret@h']", "'store' must be a text, not a list"),
    ],
)
def test_an_ill_typed_value_is_one_sentence(tmp_path: Path, line: str, sentence: str) -> None:
    file = write(tmp_path / "hornbook.toml", line)
    assert problem(tmp_path) == f"{file}, line 1: {sentence}"


@pytest.mark.requirement("config:values:checked")
def test_an_ill_typed_variable_is_named(tmp_path: Path) -> None:
    assert problem(tmp_path, {"HORNBOOK_STRICT_TRACE": "maybe"}) == (
        "HORNBOOK_STRICT_TRACE: 'strict_trace' must be true or false, not 'maybe'"
    )


@pytest.mark.requirement("config:values:checked")
def test_several_problems_are_said_at_once(tmp_path: Path) -> None:
    file = write(tmp_path / "hornbook.toml", "namespace = 3\nstor = 'x'")
    assert problem(tmp_path) == (
        f"{file}, line 1: 'namespace' must be a text, not 3; "
        f"{file}, line 2: unknown key 'stor'; did you mean 'store'?"
    )


@pytest.mark.requirement("config:values:checked")
def test_a_file_that_is_no_toml_is_named_with_the_place(tmp_path: Path) -> None:
    file = write(tmp_path / "hornbook.toml", 'namespace = "a"\ntrace = \n')
    assert problem(tmp_path) == f"{file} is not valid TOML: Invalid value (at line 2, column 9)"


@pytest.mark.requirement("config:values:checked")
@pytest.mark.parametrize("content", [b"\xff\xfe", b"a = " + b"[" * 5000, b'[tool]\nx = "\x00"'])
def test_no_content_of_a_file_leads_to_another_error(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "hornbook.toml").write_bytes(content)
    assert problem(tmp_path).startswith(str(tmp_path / "hornbook.toml"))


@pytest.mark.requirement("config:values:checked")
def test_a_byte_order_mark_is_no_problem(tmp_path: Path) -> None:
    (tmp_path / "hornbook.toml").write_bytes(b'\xef\xbb\xbfnamespace = "a"')
    assert load(tmp_path, {}).namespace == "a"


@pytest.mark.requirement("config:values:checked")
def test_a_table_that_is_none_is_one_sentence(tmp_path: Path) -> None:
    file = write(tmp_path / "pyproject.toml", "[tool]\nhornbook = 3\n")
    assert problem(tmp_path) == f"{file}: [tool.hornbook] must be a table, not 3"


@pytest.mark.requirement("config:values:checked")
def test_a_folder_in_place_of_the_file_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "hornbook.toml").mkdir()
    assert problem(tmp_path).startswith(f"{tmp_path / 'hornbook.toml'} cannot be read: ")


@pytest.mark.requirement("config:values:checked")
@pytest.mark.parametrize("searchable", [True, False])
def test_a_file_closed_to_us_is_an_error_and_a_closed_folder_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, searchable: bool
) -> None:
    def denied(self: Path, *args: object, **kwargs: object) -> str:
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "read_text", denied)
    monkeypatch.setattr(os, "access", lambda path, mode: searchable)
    if searchable:
        assert problem(tmp_path).startswith(f"{tmp_path / 'hornbook.toml'} cannot be read: ")
    else:
        assert load(tmp_path, {}) == Config()


@pytest.mark.requirement("config:sources:order")
def test_a_working_directory_that_was_removed_holds_no_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone() -> Path:
        raise FileNotFoundError

    monkeypatch.setattr(Path, "cwd", gone)
    settings = read_settings(None, {"HORNBOOK_TRACE": str(tmp_path)})
    assert settings.config.trace == tmp_path


@pytest.mark.requirement("config:variables:unknown")
def test_a_misspelt_variable_is_logged_and_does_not_stop_the_process(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    environ = {"HORNBOOK_NAMESPCE": "secret-value", "HORNBOOK_KILLS": "50"}
    with caplog.at_level(logging.WARNING, logger="hornbook.config"):
        assert load(tmp_path, environ) == Config()
    assert [record.getMessage() for record in caplog.records] == [
        "the variable HORNBOOK_NAMESPCE is no setting of Hornbook; "
        "did you mean 'HORNBOOK_NAMESPACE'?"
    ]


@pytest.mark.requirement("config:command:shown")
@pytest.mark.parametrize(
    ("store", "shown"),
    [
        ("postgres://me:pa/ss@w@db.example/rules", "postgres://***@db.example/rules"),
        (
            "postgres://db.example/r?user=me&password=x#y",
            "postgres://db.example/r?user=me&password=***#y",
        ),
        ("host=db password='a b' user=me", "host=db password=*** user=me"),
        ("https://token@store.example", "https://***@store.example"),
        ("rules@home.db", "rules@home.db"),
    ],
)
def test_no_secret_of_an_address_is_shown(store: str, shown: str) -> None:
    assert masked(store) == shown
    assert "store" not in repr(Config(store=store))


@pytest.mark.requirement("config:sources:order")
def test_a_process_reads_its_configuration_once_until_told_to_reload(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("HORNBOOK_")]:
        monkeypatch.delenv(name)
    file = write(tmp_path / "hornbook.toml", 'namespace = "first"')
    try:
        assert config.reload().namespace == "first"
        write(file, 'namespace = "second"')
        assert load().namespace == "first"
        assert config.reload().namespace == "second"
        assert load().namespace == "second"
    finally:
        monkeypatch.undo()
        config.reload()


@pytest.mark.requirement("config:logger:null-handler")
def test_logging_is_silent_until_the_application_configures_it(tmp_path: Path) -> None:
    script = (
        "import logging\n"
        "from hornbook.log import logger\n"
        "logger('plugins').warning('nobody asked')\n"
        "logger('config').warning('nobody asked')\n"
        "assert len(logging.getLogger('hornbook').handlers) == 1\n"
        "assert not logging.getLogger().handlers\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
