"""Contracts in a program that is saved whole: `save(..., save_program=True)` pickles it."""

import copyreg
from typing import Any

from hornbook.contracts.contract import Contract

__all__: list[str] = []


def _reduced(contract: Contract[Any]) -> tuple[Any, ...]:
    given: dict[str, Any] = {
        name: getattr(contract, name)
        for name in ("version", "requires", "ensures", "strict", "revalidate", "deadline")
    }
    if contract.output is not None:
        given["output"] = contract.output
    return _made, (contract.name, given)


def _made(name: str, given: dict[str, Any]) -> Contract[Any]:
    return Contract(name, **given)


copyreg.pickle(Contract, _reduced)
