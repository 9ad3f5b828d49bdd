"""The adapter as far as it goes: metadata, and a package that does not load its host."""

import subprocess
import sys

import pytest

import hornbook_dspy
from hornbook_dspy import plugin


@pytest.mark.requirement("workspace:entry-points:host-free")
def test_the_entry_point_does_not_import_the_host():
    code = "import hornbook_dspy.plugin, sys; print('dspy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, check=True)
    assert done.stdout == "False\n"
    assert plugin.NAME == "dspy"


@pytest.mark.requirement("workspace:dists:lazy")
def test_an_unknown_name_is_reported_with_the_names_there_are():
    with pytest.raises(AttributeError) as caught:
        hornbook_dspy.guard  # noqa: B018
    assert str(caught.value) == (
        "hornbook_dspy has no 'guard'; its public names: none in this version"
    )
