"""Finding a clause kind by its name: the built-in ones and those of plugins."""

from collections.abc import Callable, Mapping

from hornbook import late
from hornbook.contracts.clause import Clause
from hornbook.errors import DefinitionError

__all__ = ["Factory", "find"]

Factory = Callable[..., Clause]

_BUILT_IN = (
    "bound",
    "covers",
    "entails",
    "forall",
    "grounded",
    "implies",
    "in_range",
    "matches",
    "monotone",
    "one_of",
    "refers_to",
    "similar",
    "subset_of",
    "that",
    "unique",
)


def find(name: str) -> Factory:
    """The function that makes clauses of kind `name`.

    Raises:
        DefinitionError: there is no such kind.
    """
    from hornbook.contracts import clauses

    if name in _BUILT_IN:
        return getattr(clauses, name)
    registered: Mapping[str, Factory] = late.clause_kinds.ask()
    if name in registered:
        return registered[name]
    known = ", ".join(sorted({*_BUILT_IN, *registered}))
    raise DefinitionError(f"there is no clause kind {name!r}; there are {known}")
