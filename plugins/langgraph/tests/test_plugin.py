"""The package as Hornbook finds it: light, lazy, and with its own kind of clause."""

import subprocess
import sys

import pytest

import hornbook_langgraph
from hornbook import Contract, clauses
from hornbook_langgraph import plugin, routes_to


@pytest.mark.requirement("workspace:entry-points:host-free")
def test_neither_the_package_nor_its_entry_point_imports_the_host():
    code = (
        "import hornbook_langgraph, hornbook_langgraph.plugin, sys;"
        "hornbook_langgraph.routes_to;"
        "print(sorted(m for m in ('langgraph', 'langchain', 'langchain_core') if m in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, check=True)
    assert done.stdout == "[]\n"
    assert plugin.NAME == "langgraph"


@pytest.mark.requirement("workspace:dists:lazy")
def test_an_unknown_name_is_reported_with_the_names_there_are():
    with pytest.raises(AttributeError) as caught:
        hornbook_langgraph.guard  # noqa: B018
    assert str(caught.value) == (
        "hornbook_langgraph has no 'guard'; its public names: "
        "HornbookMiddleware, attach, contract, detach, guard_tools, routes_to"
    )


@pytest.mark.requirement("workspace:extras:named")
def test_without_langchain_the_middleware_names_the_extra_and_the_rest_works():
    code = (
        "import sys; sys.modules['langchain'] = None\n"
        "from hornbook_langgraph import attach, contract, detach, guard_tools\n"
        "try:\n"
        "    from hornbook_langgraph import HornbookMiddleware\n"
        "except ImportError as error:\n"
        "    print(type(error).__name__, error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, check=True)
    assert done.stdout == (
        "MissingExtra HornbookMiddleware needs langchain: "
        "pip install 'hornbook-langgraph[agents]'\n"
    )


@pytest.mark.requirement("langgraph:node:routes")
def test_a_contract_that_routes_can_be_written_as_json_and_read_back():
    contract = Contract("routed", ensures=[routes_to("a", "b", optional=True, name="onwards")])
    assert Contract.from_json(contract.to_json()) == contract
    assert clauses.kind("routes_to")("a").name == "routes_to a"
