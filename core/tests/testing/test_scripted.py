"""`scripted`: the scripted model of a host, found by the name of its adapter."""

import importlib.metadata
import subprocess
import sys
from pathlib import Path

import pytest

from hornbook.errors import MissingExtra
from hornbook.testing import Script, scripted
from hornbook.testing.memory_host import Agent


def install(monkeypatch: pytest.MonkeyPatch, folder: Path, testing: str | None) -> None:
    """An adapter for the host `toy`, whose module `testing` has this text."""
    package = folder / "toy_adapter"
    package.mkdir()
    (package / "__init__.py").touch()
    if testing is not None:
        (package / "testing.py").write_text(testing, encoding="utf-8")
    metadata = folder / "toy_adapter-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Name: toy-adapter\nVersion: 1\n", encoding="utf-8")
    text = "[hornbook]\ntoy = toy_adapter.plugin\n"
    (metadata / "entry_points.txt").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(folder)
    for module in ("toy_adapter", "toy_adapter.testing"):
        monkeypatch.delitem(sys.modules, module, raising=False)


@pytest.mark.requirement("conformance:scripted:memory")
def test_the_host_in_memory_has_one() -> None:
    agent = Agent(scripted("memory", Script.of("hello")))
    assert agent.run("hi") == "hello"


@pytest.mark.requirement("conformance:scripted:found")
def test_an_adapter_is_found_by_its_entry_point(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    install(monkeypatch, tmp_path, "def scripted(script):\n    return 'toy', script\n")
    script = Script.of("hello")
    assert scripted("toy", script) == ("toy", script)


@pytest.mark.requirement("conformance:scripted:missing")
@pytest.mark.parametrize("testing", [None, "x = 1\n"])
def test_an_adapter_without_one_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, testing: str | None
) -> None:
    install(monkeypatch, tmp_path, testing)
    with pytest.raises(MissingExtra) as caught:
        scripted("toy", Script.of("hello"))
    assert str(caught.value) == "the adapter for 'toy' (toy_adapter) has no scripted model"


@pytest.mark.requirement("conformance:scripted:missing")
def test_a_host_that_is_not_installed_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    install(monkeypatch, tmp_path, "import toy_framework\n")
    with pytest.raises(MissingExtra) as caught:
        scripted("toy", Script.of("hello"))
    assert str(caught.value) == (
        "the adapter for 'toy' needs 'toy_framework', which is not installed: "
        "pip install toy_adapter"
    )


@pytest.mark.requirement("conformance:scripted:missing")
@pytest.mark.parametrize(
    ("host", "message"),
    [
        ("dspy", "no adapter for 'dspy' is installed: pip install hornbook-dspy"),
        (
            "dsp",
            "no adapter for 'dsp' is installed; known hosts are dspy, langgraph, memory, "
            "openai_agents",
        ),
    ],
)
def test_an_adapter_that_is_not_installed_is_named(
    monkeypatch: pytest.MonkeyPatch, host: str, message: str
) -> None:
    nothing = importlib.metadata.EntryPoints()
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: nothing)
    with pytest.raises(MissingExtra) as caught:
        scripted(host, Script.of("hello"))
    assert str(caught.value) == message


@pytest.mark.requirement("conformance:scripted:lazy")
def test_testing_loads_no_host_and_no_pytest() -> None:
    code = (
        "import sys, hornbook.testing as t; t.Script, t.scripted, t.conformance.check; "
        "import hornbook.testing.memory_host; "
        "print({'pytest', 'langchain_core', 'langgraph', 'dspy', 'agents'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, check=False)
    assert (done.stdout, done.stderr) == ("set()\n", "")
