"""From what stands in a slot to a primitive of `hornbook.program`, under its contract."""

from collections.abc import Awaitable, Callable, Mapping
from inspect import iscoroutinefunction
from typing import Any, cast

from hornbook.contracts import Contract
from hornbook.kernel.neural.forms import (
    CheckRequest,
    Edges,
    Filled,
    FillRequest,
    GraphRequest,
    Matched,
    MatchRequest,
    Ordered,
    OrderRequest,
    Planned,
    Proposal,
    TurnsRequest,
)
from hornbook.kernel.neural.primitives import Prompted
from hornbook.kernel.neural.prompts import INSTRUCTIONS, messages
from hornbook.program import Primitive, neural, primitive
from hornbook.step.recover import Recover

__all__ = ["FORMS", "node_of"]

FORMS: Mapping[str, tuple[Any, Any]] = {
    "turns": (TurnsRequest, Planned),
    "build_dep_graph": (GraphRequest, Edges),
    "order": (OrderRequest, Ordered),
    "task_to_check": (CheckRequest, Proposal),
    "task_to_meet": (CheckRequest, Proposal),
    "match_func": (MatchRequest, Matched),
    "task_to_get": (FillRequest, Filled),
}
"""By primitive: the types of its question and of its answer."""


def node_of(
    name: str, given: Prompted | Callable[[Any], Any], contract: Contract[Any], recover: Recover
) -> Primitive[..., Any]:
    """The primitive that a slot is."""
    asked, answered = FORMS[name]
    if isinstance(given, Prompted):
        instructions = given.instructions or INSTRUCTIONS[name]
        return neural(
            name,
            given.model,
            prompt=lambda inputs: messages(instructions, inputs["request"]),
            input={"request": asked},
            output=answered,
            contract=contract,
            recover=recover,
            sampling=given.sampling,
            timeout=given.timeout,
        )
    # Not pure: what a function of the user's answers may depend on more than the request.
    return primitive(
        _typed(given, name, asked, answered),
        name=name,
        contract=contract,
        recover=recover,
        pure=False,
    )


def _typed(given: Callable[[Any], Any], name: str, asked: Any, answered: Any) -> Callable[..., Any]:
    """The function with the signature of its primitive, of the same colour."""
    called = given if iscoroutinefunction(given) else getattr(given, "__call__", given)  # noqa: B004
    if iscoroutinefunction(called):

        async def answer_later(request: Any) -> Any:
            return await cast("Awaitable[Any]", given(request))

        made: Callable[..., Any] = answer_later
    else:

        def answer(request: Any) -> Any:
            return given(request)

        made = answer
    made.__annotations__ = {"request": asked, "return": answered}
    made.__name__ = made.__qualname__ = name
    return made
