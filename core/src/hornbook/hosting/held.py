"""Contracts as they are given to an adapter: by name, each alone or with its recovery."""

from collections.abc import Mapping
from typing import Any, TypeAlias, cast

from hornbook.contracts.contract import Contract
from hornbook.errors import DefinitionError
from hornbook.step.recover import Recover

__all__ = ["Contracts", "Held", "by_name", "with_recovery"]

Held: TypeAlias = Contract[Any] | tuple[Contract[Any], Recover]
"""A contract, alone or with its recovery."""

Contracts: TypeAlias = Mapping[str, Held]


def with_recovery(name: str, given: object) -> tuple[Contract[Any], Recover]:
    """A contract with its recovery, from either form.

    Raises:
        DefinitionError: it is neither.
    """
    match given:
        case Contract():
            return cast("Contract[Any]", given), Recover()
        case (Contract(), Recover()):
            return cast("tuple[Contract[Any], Recover]", given)
        case _:
            raise DefinitionError(
                f"{name!r}: give a Contract, or a pair of Contract and Recover, not {given!r:.80}"
            )


def by_name(contracts: object) -> dict[str, tuple[Contract[Any], Recover]]:
    """All contracts that an adapter was given, each with its recovery; none for None.

    Raises:
        DefinitionError: something in it is no contract.
    """
    if contracts is None:
        return {}
    if not isinstance(contracts, Mapping):
        raise DefinitionError(
            f"contracts={contracts!r:.80}: give a mapping, by the tool's name or 'model'"
        )
    given = cast("Mapping[str, Any]", contracts)
    return {name: with_recovery(name, one) for name, one in given.items()}
