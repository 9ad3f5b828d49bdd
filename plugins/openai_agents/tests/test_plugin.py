"""What is there before the host is loaded, and what is said where it cannot be used."""

import importlib.metadata
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import hornbook_openai_agents
from hornbook_openai_agents import plugin, supported


def python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, check=False)


@pytest.mark.requirement("workspace:entry-points:host-free", "openai:plugin:host-free")
def test_the_entry_point_does_not_import_the_host():
    code = "import hornbook_openai_agents.plugin, sys; print('agents' in sys.modules)"
    assert python(code).stdout == "False\n"
    assert plugin.NAME == "openai_agents"


@pytest.mark.requirement("workspace:dists:lazy", "openai:plugin:lazy")
def test_names_load_when_they_are_first_used():
    code = (
        "import hornbook_openai_agents as ours, sys\n"
        "assert 'agents' not in sys.modules\n"
        "ours.guard\n"
        "assert 'agents' in sys.modules\n"
    )
    done = python(code)
    assert done.returncode == 0, done.stderr
    for name in hornbook_openai_agents.__all__:
        assert getattr(hornbook_openai_agents, name).__name__ == name


@pytest.mark.requirement("workspace:dists:lazy", "openai:plugin:lazy")
def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError) as caught:
        hornbook_openai_agents.guarded  # noqa: B018
    assert str(caught.value) == "module 'hornbook_openai_agents' has no attribute 'guarded'"


@pytest.mark.requirement("openai:plugin:versions")
@pytest.mark.parametrize(
    ("version", "says"),
    [("0.23.9", "0.23.9 is installed"), ("0.30.0", "0.30.0 is installed"), (None, "not installed")],
)
def test_a_host_outside_the_range_is_refused_when_it_is_first_used(version: str | None, says: str):
    code = (
        "import importlib.metadata as metadata\n"
        "real = metadata.version\n"
        "def version(name):\n"
        "    if name != 'openai-agents': return real(name)\n"
        f"    if {version!r} is None: raise metadata.PackageNotFoundError(name)\n"
        f"    return {version!r}\n"
        "metadata.version = version\n"
        "import hornbook_openai_agents.plugin, hornbook_openai_agents as ours, sys\n"
        "try: ours.guard\n"
        "except ImportError as error: print(type(error).__name__, error)\n"
        "print('agents' in sys.modules)\n"
    )
    done = python(code)
    assert done.returncode == 0, done.stderr
    told, loaded = done.stdout.splitlines()
    assert told.startswith("MissingExtra hornbook-openai-agents needs openai-agents>=0.24,<0.30")
    assert says in told
    assert told.endswith("pip install 'openai-agents>=0.24,<0.30'")
    assert loaded == "False"


@pytest.mark.requirement("openai:plugin:versions")
def test_the_range_is_that_of_the_distribution():
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))
    low, high = (".".join(map(str, version)) for version in (supported.FROM, supported.BELOW))
    assert f"openai-agents>={low},<{high}" in project["project"]["dependencies"]
    assert importlib.metadata.version("openai-agents").startswith("0.")
