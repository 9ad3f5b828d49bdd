"""The rule store as far as it goes: metadata, and a package that does not load its index."""

import subprocess
import sys

import pytest

import hornbook_rulestore
from hornbook_rulestore import plugin


@pytest.mark.requirement("workspace:entry-points:host-free")
def test_the_entry_point_does_not_import_the_index_library():
    code = "import hornbook_rulestore.plugin, sys; print('faiss' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, check=True)
    assert done.stdout == "False\n"
    assert plugin.NAME == "rulestore"


@pytest.mark.requirement("workspace:dists:lazy")
def test_a_name_that_is_not_there_yet_is_an_attribute_error():
    with pytest.raises(AttributeError) as caught:
        hornbook_rulestore.RuleStore  # noqa: B018
    assert str(caught.value) == "module 'hornbook_rulestore' has no attribute 'RuleStore'"
