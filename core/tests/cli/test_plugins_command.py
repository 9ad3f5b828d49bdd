"""`hornbook plugins`."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from hornbook import __version__, cli, plugins
from hornbook.config import Config
from hornbook.hooks import hookimpl
from hornbook.plugins import PluginSet
from hornbook.plugins.discovery import Candidate

Capture = pytest.CaptureFixture[str]
Use = Callable[[Config], None]


class Good:
    @hookimpl
    def hornbook_before_step(self, step: object) -> None: ...

    @hookimpl
    def hornbook_register_models(self, register: Any) -> None:
        register("scripted", dict)


class Mine:
    @hookimpl
    def hornbook_record(self, event: object) -> None: ...


def broken() -> object:
    raise ImportError("\x1b[31mno module\nnamed x")


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch) -> Use:
    """Let the command see one good and one broken plugin, under the given settings."""

    def use(settings: Config) -> None:
        made = PluginSet(
            config=lambda: settings,
            candidates=lambda: [
                Candidate(name="good", load=Good, distribution="good-dist", version="1.2"),
                Candidate(name="broken", load=broken, distribution="torn", version="0.1"),
            ],
            publish=lambda hooks: None,
        )
        monkeypatch.setattr(plugins, "_plugins", made)
        monkeypatch.setattr("hornbook.config.load", lambda: settings)

    return use


@pytest.mark.requirement("plugins:command:listed", "cli:output:safe")
def test_each_plugin_is_listed_with_version_hooks_and_failure(use: Use, capsys: Capture) -> None:
    use(Config(trace_sinks=("lost",)))
    plugins.register(Mine(), "mine")
    assert cli.main(["plugins"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:3] for line in lines[:5]] == [
        ["PLUGIN", "VERSION", "STATUS"],
        ["hornbook", __version__, "loaded"],
        ["good", "1.2", "loaded"],
        ["mine", "-", "loaded"],
        ["broken", "0.1", "failed"],
    ]
    assert lines[2].endswith("before_step, register_models")
    assert lines[5:] == [
        "failed: plugin 'broken' (torn 0.1) cannot be loaded: "
        r"ImportError: \x1b[31mno module\nnamed x",
        "missing: no plugin registers the trace sink 'lost'",
    ]


@pytest.mark.requirement("plugins:command:listed")
def test_the_plugins_are_listed_as_json(use: Use, capsys: Capture) -> None:
    use(Config(load_plugins=()))
    plugins.register(Good(), "mine")
    assert cli.main(["plugins", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert [(one["name"], one["status"], one["distribution"]) for one in shown["plugins"]] == [
        ("hornbook", "loaded", "hornbook"),
        ("mine", "loaded", None),
        ("good", "blocked", "good-dist"),
        ("broken", "blocked", "torn"),
    ]
    assert shown["registered"]["models"] == {"scripted": "mine"}
    assert shown["registered"]["trace_sinks"] == {"logging": "hornbook"}
    assert shown["registered"]["clauses"]["grounded"] == "hornbook"


@pytest.mark.requirement("plugins:command:listed", "plugins:discovery:strict")
def test_under_strict_settings_a_broken_plugin_is_listed_and_fails_the_command(
    use: Use, capsys: Capture
) -> None:
    use(Config(strict_plugins=True, trace_sinks=("logging",)))
    assert cli.main(["plugins"]) == 1
    captured = capsys.readouterr()
    assert captured.err == ""
    assert "failed: plugin 'broken' (torn 0.1)" in captured.out
    assert "missing" not in captured.out
