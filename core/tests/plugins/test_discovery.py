"""Discovery: what is installed is found, and what is broken there hurts nobody else."""

import importlib.metadata
import json
import logging
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hornbook.config import Config
from hornbook.errors import PluginError
from hornbook.hooks import hookimpl
from hornbook.plugins.discovery import Candidate, installed


class Recorder:
    @hookimpl
    def hornbook_record(self, event: object) -> None: ...


def raising(error: BaseException) -> Callable[[], object]:
    def load() -> object:
        raise error

    return load


class Distribution:
    """What discovery looks at in an installed distribution."""

    def __init__(self, name: str, version: str, *entries: tuple[str, str]) -> None:
        self.metadata = {"Name": name}
        self.version = version
        self.entry_points = [
            importlib.metadata.EntryPoint(name=entry, value=value, group="hornbook")
            for entry, value in entries
        ]


class Unreadable(Distribution):
    @property
    def entry_points(self) -> Any:
        raise OSError("entry_points.txt")

    @entry_points.setter
    def entry_points(self, value: object) -> None: ...


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    def install(*distributions: object) -> None:
        monkeypatch.setattr(importlib.metadata, "distributions", lambda: iter(distributions))

    return install


@pytest.mark.requirement("plugins:discovery:order")
def test_installed_plugins_are_found_by_name_whatever_order_they_are_listed_in(
    install: Any,
) -> None:
    install(
        Distribution("shop", "2", ("z", "shop:z"), ("b", "shop:b")),
        Distribution("bank", "1", ("m", "bank:m")),
    )
    found = [(one.name, one.distribution, one.version) for one in installed()]
    assert found == [("b", "shop", "2"), ("m", "bank", "1"), ("z", "shop", "2")]


@pytest.mark.requirement("plugins:discovery:order")
def test_of_two_installations_the_first_on_the_path_counts(install: Any) -> None:
    install(
        Distribution("My.Shop", "2", ("shop", "new:plugin")),
        Distribution("my-shop", "1", ("shop", "old:plugin")),
    )
    assert [(one.distribution, one.version) for one in installed()] == [("My.Shop", "2")]


@pytest.mark.requirement("plugins:discovery:broken")
def test_an_unreadable_distribution_hides_no_other(
    install: Any, caplog: pytest.LogCaptureFixture
) -> None:
    install(Unreadable("torn", "1"), Distribution("bank", "1", ("bank", "bank:plugin")))
    with caplog.at_level(logging.WARNING, logger="hornbook.plugins"):
        assert [one.name for one in installed()] == ["bank"]
    assert caplog.messages == ["metadata of a distribution cannot be read: entry_points.txt"]


@pytest.mark.requirement("plugins:discovery:broken")
def test_a_path_that_cannot_be_listed_hides_nothing_found_before(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def distributions() -> Any:
        yield Distribution("bank", "1", ("bank", "bank:plugin"))
        raise RuntimeError("finder")

    monkeypatch.setattr(importlib.metadata, "distributions", distributions)
    with caplog.at_level(logging.WARNING, logger="hornbook.plugins"):
        assert [one.name for one in installed()] == ["bank"]
    assert caplog.messages == ["installed distributions cannot all be listed: finder"]


@pytest.mark.requirement("plugins:discovery:broken", "bad-input:plugin:import")
@pytest.mark.parametrize(
    ("error", "shown"),
    [
        (ImportError("no module named 'x'"), "ImportError: no module named 'x'"),
        (SystemExit(3), "SystemExit: 3"),
        (RecursionError(), "RecursionError"),
    ],
)
def test_a_plugin_that_cannot_be_imported_is_reported_and_logged_once(
    make: Any, caplog: pytest.LogCaptureFixture, error: BaseException, shown: str
) -> None:
    broken = Candidate(name="broken", load=raising(error), distribution="torn", version="0.1")
    made = make(candidates=[broken], good=Recorder())
    with caplog.at_level(logging.WARNING, logger="hornbook.plugins"):
        assert [impl.plugin for impl in made.plugins.hook_set().record] == ["good"]
        made.plugins.hook_set()
    sentence = f"plugin 'broken' (torn 0.1) cannot be loaded: {shown}"
    assert caplog.messages == [sentence]
    report = {info.name: info for info in made.plugins.report()}
    assert (report["broken"].status, report["broken"].error) == ("failed", sentence)
    assert report["good"].hooks == ("hornbook_record",)


@pytest.mark.requirement("plugins:discovery:broken")
def test_a_plugin_that_is_none_is_reported_with_its_own_words(make: Any) -> None:
    made = make(good=Recorder(), cls=Recorder, hornbook=object())
    assert [impl.plugin for impl in made.plugins.hook_set().record] == ["good"]
    errors = {info.name: info.error for info in made.plugins.report() if info.error}
    assert errors == {
        "cls": "plugin 'cls' is the class Recorder: register an instance of it",
        "hornbook": errors["hornbook"],
    }
    assert errors["hornbook"].startswith("a plugin 'hornbook' is registered already (hornbook ")


@pytest.mark.requirement("plugins:discovery:broken")
def test_an_installed_plugin_may_implement_nothing_yet(make: Any) -> None:
    info = make(empty=object()).plugins.report()[1]
    assert (info.name, info.status, info.hooks) == ("empty", "loaded", ())


@pytest.mark.requirement("plugins:discovery:strict")
def test_a_broken_plugin_is_fatal_each_time_when_strict(make: Any) -> None:
    broken = [Candidate(name=name, load=raising(OSError(name))) for name in "ab"]
    made = make(Config(strict_plugins=True), candidates=broken, good=Recorder())
    sentence = (
        "plugin 'a' (registered by the program) cannot be loaded: OSError: a; "
        "plugin 'b' (registered by the program) cannot be loaded: OSError: b"
    )
    for act in (made.plugins.hook_set, lambda: made.plugins.register(Recorder())):
        with pytest.raises(PluginError) as caught:
            act()
        assert str(caught.value) == sentence
    assert made.published == []
    assert [info.status for info in made.plugins.report()] == [
        *("loaded", "loaded", "failed", "failed")
    ]


@pytest.mark.requirement("plugins:discovery:selected")
def test_only_selected_plugins_are_imported(make: Any) -> None:
    never = Candidate(name="never", load=raising(AssertionError("imported")))
    made = make(Config(load_plugins=("good",)), candidates=[never], good=Recorder())
    assert [impl.plugin for impl in made.plugins.hook_set().record] == ["good"]
    assert {info.name: info.status for info in made.plugins.report()} == {
        "hornbook": "loaded",
        "good": "loaded",
        "never": "blocked",
    }


@pytest.mark.requirement("plugins:discovery:selected")
def test_selecting_none_loads_none_and_still_takes_those_of_the_program(make: Any) -> None:
    made = make(Config(load_plugins=()), installed=Recorder())
    made.plugins.register(Recorder())
    assert [impl.plugin for impl in made.hooks.record] == ["Recorder"]


@pytest.mark.requirement("plugins:discovery:selected")
def test_selecting_what_is_not_installed_is_reported(make: Any) -> None:
    sentence = "plugin 'god' is not installed; did you mean 'good'?"
    made = make(Config(load_plugins=("god",)), good=Recorder())
    missing = made.plugins.report()[-1]
    assert (missing.name, missing.status, missing.error) == ("god", "missing", sentence)
    strict = make(Config(load_plugins=("god",), strict_plugins=True), good=Recorder())
    with pytest.raises(PluginError) as caught:
        strict.plugins.hook_set()
    assert str(caught.value) == sentence


def real_distribution(folder: Path) -> None:
    """Write what installing a distribution leaves behind: three plugins, two of them broken."""
    info = folder / "house_plugins-1.4.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: house-plugins\nVersion: 1.4\n", encoding="utf-8"
    )
    (info / "entry_points.txt").write_text(
        "[hornbook]\nhouse = house_good\nraises = house_raises\nexits = house_exits:plugin\n",
        encoding="utf-8",
    )
    (folder / "house_good.py").write_text(
        "from hornbook.hooks import hookimpl\n@hookimpl\ndef hornbook_before_step(step): ...\n",
        encoding="utf-8",
    )
    (folder / "house_raises.py").write_text("raise RuntimeError('on import')\n", encoding="utf-8")
    (folder / "house_exits.py").write_text("raise SystemExit('bye')\n", encoding="utf-8")


def in_process(folder: Path, script: str, **variables: str) -> Any:
    path = os.pathsep.join([str(folder), *sys.path])
    environ = {name: text for name, text in os.environ.items() if "HORNBOOK_" not in name}
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=environ | {"PYTHONPATH": path} | variables,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.stderr == ""
    return json.loads(done.stdout)


REPORT = (
    "import json\n"
    "from hornbook import plugins\n"
    "hooks = plugins.hook_set()\n"
    "mine = [one for one in plugins.report() if one.distribution == 'house-plugins']\n"
    "print(json.dumps({'called': [one.plugin for one in hooks.before_step],\n"
    "    'mine': [[one.name, one.version, one.status, one.hooks] for one in mine]}))\n"
)


@pytest.mark.requirement("plugins:discovery:broken", "bad-input:plugin:import")
def test_a_really_installed_plugin_is_loaded_beside_broken_ones(tmp_path: Path) -> None:
    real_distribution(tmp_path)
    found = in_process(tmp_path, REPORT)
    assert "house" in found["called"]
    assert found["mine"] == [
        ["house", "1.4", "loaded", ["hornbook_before_step"]],
        ["exits", "1.4", "failed", []],
        ["raises", "1.4", "failed", []],
    ]


@pytest.mark.requirement("bad-input:plugin:import", "plugins:discovery:first-use")
def test_a_step_runs_and_is_recorded_though_plugins_are_broken(tmp_path: Path) -> None:
    real_distribution(tmp_path)
    script = (
        "import json, sys\n"
        "import hornbook\n"
        "from hornbook import Contract, contract\n"
        "@contract(Contract('text', output=str), name='greet')\n"
        "def greet():\n"
        "    return 'hello'\n"
        "before = 'house_good' in sys.modules\n"
        "with hornbook.run(trace='runs') as run:\n"
        "    said = greet()\n"
        "after = 'house_good' in sys.modules\n"
        "print(json.dumps([said, before, after, [event.kind for event in run.events]]))\n"
    )
    kinds = ["run.start", "step.start", "step.end", "run.end"]
    assert in_process(tmp_path, script) == ["hello", False, True, kinds]


@pytest.mark.requirement("plugins:discovery:selected")
def test_a_variable_selects_what_is_imported(tmp_path: Path) -> None:
    real_distribution(tmp_path)
    found = in_process(tmp_path, REPORT, HORNBOOK_LOAD_PLUGINS="house")
    assert found["called"] == ["house"]
    assert [status for _, _, status, _ in found["mine"]] == ["loaded", "blocked", "blocked"]
    assert in_process(tmp_path, REPORT, HORNBOOK_LOAD_PLUGINS="")["called"] == []


@pytest.mark.requirement("plugins:discovery:strict")
def test_a_variable_makes_a_broken_plugin_fatal(tmp_path: Path) -> None:
    real_distribution(tmp_path)
    script = (
        "import json\n"
        "from hornbook import plugins\n"
        "from hornbook.errors import PluginError\n"
        "try:\n"
        "    plugins.hook_set()\n"
        "except PluginError as error:\n"
        "    print(json.dumps([error.code, str(error)]))\n"
    )
    variables = {"HORNBOOK_STRICT_PLUGINS": "1", "HORNBOOK_LOAD_PLUGINS": "house,raises"}
    assert in_process(tmp_path, script, **variables) == [
        "plugin",
        "plugin 'raises' (house-plugins 1.4) cannot be loaded: RuntimeError: on import",
    ]
