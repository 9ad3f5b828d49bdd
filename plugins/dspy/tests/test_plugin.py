"""The package as it is found: lazy, without its host until a name is used."""

import subprocess
import sys

import pytest

import hornbook_dspy
from hornbook_dspy import plugin


def run(code: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code]
    return subprocess.run(command, text=True, capture_output=True, check=False)


@pytest.mark.requirement("workspace:entry-points:host-free", "dspy:package:lazy")
@pytest.mark.parametrize("name", ["hornbook_dspy", "hornbook_dspy.plugin"])
def test_the_package_and_its_entry_point_do_not_import_the_host(name: str):
    assert run(f"import {name}, sys; print('dspy' in sys.modules)").stdout == "False\n"
    assert (plugin.NAME, plugin.DISTRIBUTION) == ("dspy", "hornbook-dspy")


@pytest.mark.requirement("dspy:package:lazy")
def test_the_public_names_load_when_they_are_used():
    assert hornbook_dspy.__all__ == sorted(hornbook_dspy.__all__)
    assert hornbook_dspy.__all__ == [
        "Contracted",
        "HornbookLM",
        "configure",
        "context",
        "contract",
        "guard",
    ]
    assert set(hornbook_dspy.__all__) <= set(dir(hornbook_dspy))
    for name in hornbook_dspy.__all__:
        assert callable(getattr(hornbook_dspy, name))


@pytest.mark.requirement("dspy:package:lazy")
def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError) as caught:
        hornbook_dspy.learn  # noqa: B018
    assert str(caught.value) == "module 'hornbook_dspy' has no attribute 'learn'"


OTHER = """
import dspy
dspy.__version__ = {version!r}
import hornbook_dspy, hornbook_dspy.plugin
try:
    hornbook_dspy.guard
except ImportError as error:
    print(type(error).__name__, error)
"""


@pytest.mark.requirement("dspy:bad:version")
@pytest.mark.parametrize("version", ["3.3.2", "3.5.0", "4.0"])
def test_another_version_of_the_host_is_refused_at_the_first_use(version: str):
    done = run(OTHER.format(version=version))
    assert done.stdout == (
        f"MissingExtra hornbook-dspy works with dspy>=3.4,<3.5, and {version} is installed: "
        f"pip install 'dspy>=3.4,<3.5'\n"
    ), done.stderr


MISSING = """
import sys
sys.modules["dspy"] = None
import hornbook_dspy.plugin
try:
    hornbook_dspy.guard
except ImportError as error:
    print(type(error).__name__, error)
"""


@pytest.mark.requirement("dspy:bad:version")
def test_without_the_host_the_error_says_what_to_install():
    done = run(MISSING)
    assert done.stdout == (
        "MissingExtra hornbook-dspy needs DSPy: pip install 'dspy>=3.4,<3.5'\n"
    ), done.stderr
