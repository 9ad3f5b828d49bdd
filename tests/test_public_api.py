"""The names that `hornbook` exports are the interface; nothing joins or leaves them unseen."""

import pytest

import hornbook

NAMES = [
    "Budget",
    "BudgetExceeded",
    "Checked",
    "Contract",
    "ContractReport",
    "ContractViolation",
    "HornbookError",
    "Recover",
    "Violation",
    "__version__",
    "checked",
    "clauses",
    "contract",
    "feedback",
    "run",
]

pytestmark = pytest.mark.requirement("api:exports:exact")


def test_hornbook_exports_exactly_the_names_of_the_design():
    assert sorted(hornbook.__all__) == NAMES
    assert {name for name in dir(hornbook) if not name.startswith("_")} <= {*NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_every_name_resolves_to_the_same_object_each_time(name: str):
    assert getattr(hornbook, name) is getattr(hornbook, name)
