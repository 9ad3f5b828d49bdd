"""`contract` and `checked`: putting a contract around a function of any colour."""

from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast, overload

from hornbook.contracts.contract import Contract
from hornbook.errors import DefinitionError

if TYPE_CHECKING:
    from hornbook.step.model import Checked
    from hornbook.step.recover import Recover

__all__ = ["checked", "contract"]

P = ParamSpec("P")
R = TypeVar("R")

MAX_ITEMS = 10_000
"""Items of a generator that are collected before the check gives up."""


def contract(
    contract: Contract[Any],
    *,
    recover: "Recover | None" = None,
    name: str | None = None,
    deterministic: bool = False,
    max_items: int = MAX_ITEMS,
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Hold a function, method, coroutine function or generator to a contract.

    The decorated function has the same colour, parameters and types. It gives what the
    function gave, or what its recovery gave, or raises `ContractViolation`. A generator's
    items are collected, checked as a list, and then yielded.

    Args:
        contract: the clauses; names of inputs in it are the function's parameters.
        recover: what to do about a violation; to halt, when left out.
        name: the step's name in reports and records; the function's qualified name.
        deterministic: the function gives equal results for equal inputs, so that a retry
            needs `Recover(modify=...)`.
        max_items: how many items of a generator to collect; more is Undetermined.

    Raises:
        DefinitionError: the contract names an input that is no parameter, or the recovery
            cannot work with this function.
    """
    if not isinstance(cast("object", contract), Contract):
        raise DefinitionError(f"contract({contract!r}): give a Contract, then the function")
    from hornbook.step.recover import Recover
    from hornbook.step.wrapping import decorated

    recovering = recover or Recover()
    if not isinstance(cast("object", recovering), Recover):
        raise DefinitionError(f"contract({contract.name!r}, recover={recover!r}): give a Recover")

    def decorate(fn: Callable[P, R]) -> Callable[P, R]:
        given: object = fn
        if isinstance(given, classmethod | staticmethod):
            method = cast("Any", given)
            return type(method)(decorate(method.__func__))
        return decorated(fn, contract, recovering, name, deterministic, max_items)

    return decorate


@overload
def checked(  # pyright: ignore[reportOverlappingOverload] - a coroutine function is a function
    fn: Callable[P, Coroutine[Any, Any, R]], /
) -> "Callable[P, Awaitable[Checked[R]]]": ...
@overload
def checked(fn: Callable[P, R], /) -> "Callable[P, Checked[R]]": ...
def checked(fn: Callable[P, Any], /) -> Callable[P, Any]:
    """The decorated function `fn`, giving a `Checked` where it would return or raise.

    Awaitable for async functions; a generator gives the `Checked` list of its items.

    Raises:
        DefinitionError: `fn` has no contract.
    """
    from hornbook.step.wrapping import checking

    return checking(fn)
