"""Contracts as an adapter is given them."""

from typing import Any

import pytest

from hornbook import Contract, Recover
from hornbook.errors import DefinitionError
from hornbook.hosting import by_name, with_recovery

TEXT = Contract("text", output=str)


@pytest.mark.requirement("hosting:contracts:forms")
def test_a_contract_stands_alone_or_with_its_recovery() -> None:
    recover = Recover(retry=2)
    assert with_recovery("find", TEXT) == (TEXT, Recover())
    assert with_recovery("find", (TEXT, recover)) == (TEXT, recover)
    assert by_name({"find": TEXT, "send": (TEXT, recover)}) == {
        "find": (TEXT, Recover()),
        "send": (TEXT, recover),
    }
    assert by_name(None) == {}


@pytest.mark.requirement("hosting:contracts:refused")
@pytest.mark.parametrize("given", ["text", (TEXT,), (TEXT, 2), (Recover(), TEXT), None])
def test_anything_else_is_refused_by_name(given: Any) -> None:
    with pytest.raises(
        DefinitionError, match=r"^'find': give a Contract, or a pair of Contract and Recover, not "
    ):
        with_recovery("find", given)


@pytest.mark.requirement("hosting:contracts:refused")
def test_what_is_no_mapping_is_refused() -> None:
    with pytest.raises(DefinitionError) as caught:
        by_name([TEXT])
    assert str(caught.value).endswith("give a mapping, by the tool's name or 'model'")
