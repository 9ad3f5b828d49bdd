"""What to do when a contract is violated, declared as a value."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from hornbook.budget import Budget
from hornbook.contracts.report import Violation
from hornbook.errors import DefinitionError

__all__ = ["Modify", "Recover"]

Modify = Callable[[Mapping[str, Any], Violation], Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recover:
    """At most 1 + `retry` calls of the step, then each fallback once, then `then`.

    Raises:
        DefinitionError: a part that cannot work, such as `on=(Exception,)`.
    """

    retry: int = 0
    """How often to call the step again; it can ask `hornbook.feedback()` what was wrong."""
    modify: Modify | None = None
    """`modify(inputs, violation)` gives the inputs that change for the next attempt."""
    fallback: Sequence[Callable[..., Any]] = ()
    """Called in order with the original arguments; the output meets the same contract."""
    on: Sequence[type[Exception]] = ()
    """Exception types of the step that count as the violation `exception`."""
    then: Literal["halt", "waive"] = "halt"
    """When all is spent: raise `ContractViolation`, or return the value marked as waived."""
    budget: Budget | None = None
    """The limit of one call outside a run; inside a run the run's budget holds."""

    def __post_init__(self) -> None:
        retry = cast("object", self.retry)
        if isinstance(retry, bool) or not isinstance(retry, int) or retry < 0:
            raise DefinitionError(f"Recover(retry={retry!r}): a whole number of at least 0")
        if self.then not in ("halt", "waive"):
            raise DefinitionError(f"Recover(then={self.then!r}): 'halt' or 'waive'")
        if self.modify is not None and not callable(self.modify):
            raise DefinitionError(f"Recover(modify={self.modify!r}): a function or None")
        object.__setattr__(self, "fallback", _functions(self.fallback))
        object.__setattr__(self, "on", _exception_types(self.on))


def _functions(given: object) -> tuple[Callable[..., Any], ...]:
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise DefinitionError(f"Recover(fallback={given!r}): a list of functions")
    functions = cast("Sequence[object]", given)
    for function in functions:
        if not callable(function):
            raise DefinitionError(f"Recover(fallback=...): {function!r} is no function")
    return tuple(function for function in functions if callable(function))


def _exception_types(given: object) -> tuple[type[Exception], ...]:
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise DefinitionError(f"Recover(on={given!r}): a list of exception types")
    types: list[type[Exception]] = []
    for kind in cast("Sequence[object]", given):
        if kind is Exception or kind is BaseException:
            raise DefinitionError(
                f"Recover(on=...): {kind.__name__} would hide programming errors and the host's "
                f"own control flow; name the exceptions that the step is known to raise"
            )
        if not isinstance(kind, type) or not issubclass(kind, Exception):
            raise DefinitionError(f"Recover(on=...): {kind!r} is no exception type")
        types.append(kind)
    return tuple(types)
