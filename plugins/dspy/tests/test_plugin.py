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
def test_a_name_that_is_not_there_yet_is_an_attribute_error():
    with pytest.raises(AttributeError) as caught:
        hornbook_dspy.guard  # noqa: B018
    assert str(caught.value) == "module 'hornbook_dspy' has no attribute 'guard'"
