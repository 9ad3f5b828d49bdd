"""The seven slots that a kernel's primitives go into, and what may stand in each."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from hornbook.errors import DefinitionError
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

if TYPE_CHECKING:
    from hornbook.models import Model, Sampling

__all__ = ["Primitives", "Prompted", "declared_edges", "declared_order", "match_decomposed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompted:
    """A model under one of the kernel's own prompts."""

    model: "Model"
    instructions: str | None = None
    """In place of the prompt of the primitive; what is asked follows it as JSON."""
    sampling: "Sampling | None" = None
    timeout: float | None = None


class _Turns(Protocol):
    def __call__(self, request: TurnsRequest, /) -> "Planned | Awaitable[Planned]": ...


class _Graph(Protocol):
    def __call__(self, request: GraphRequest, /) -> "Edges | Awaitable[Edges]": ...


class _Order(Protocol):
    def __call__(self, request: OrderRequest, /) -> "Ordered | Awaitable[Ordered]": ...


class _Propose(Protocol):
    def __call__(self, request: CheckRequest, /) -> "Proposal | Awaitable[Proposal]": ...


class _Match(Protocol):
    def __call__(self, request: MatchRequest, /) -> "Matched | Awaitable[Matched]": ...


class _Fill(Protocol):
    def __call__(self, request: FillRequest, /) -> "Filled | Awaitable[Filled]": ...


Slot: TypeAlias = Prompted | Callable[[Any], Any]


def declared_edges(request: GraphRequest, /) -> Edges:
    """The dependencies that Decompose declared (E.1): `build_dep_graph` without a model."""
    return {"depends_on": {str(one["id"]): list(one["depends_on"]) for one in request.tasks}}


def declared_order(request: OrderRequest, /) -> Ordered:
    """The order of declaration: `order` without a model."""
    return {"ordered_task_ids": [str(one["id"]) for one in request.tasks]}


def match_decomposed(request: MatchRequest, /) -> Matched:
    """The tool that Decompose named: `match_func` without a model."""
    return {"tool_name": request.task.get("tool_name")}


def _no_task(request: CheckRequest, /) -> Proposal:
    """The tool that the prerequisite names, without parameters; none where it names none."""
    setup = request.setup
    return {"task": None if setup is None else {"tool_name": setup, "parameters": {}}}


def _no_values(request: FillRequest, /) -> Filled:
    return {"values": {}, "task": None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Primitives:
    """What answers each question: a model under the kernel's prompt, or a function of yours.

    A function gets the request and gives the answer, or an awaitable of it; what it gives is
    held to the same contract as a model's answer, and `hornbook.feedback()` tells it, in a
    retry, what was wrong. Only `turns` has no answer without a model.

    Raises:
        DefinitionError: something that is neither.
    """

    turns: "Prompted | _Turns"
    build_dep_graph: "Prompted | _Graph" = declared_edges
    order: "Prompted | _Order" = declared_order
    task_to_check: "Prompted | _Propose" = _no_task
    task_to_meet: "Prompted | _Propose" = _no_task
    match_func: "Prompted | _Match" = match_decomposed
    task_to_get: "Prompted | _Fill" = _no_values

    def __post_init__(self) -> None:
        for one in fields(self):
            given: object = getattr(self, one.name)
            if not isinstance(given, Prompted) and not callable(given):
                raise DefinitionError(
                    f"Primitives({one.name}={given!r:.60}): a function of the request, or "
                    f"Prompted(model=...)"
                )

    @classmethod
    def prompted(
        cls, model: "Model", *, sampling: "Sampling | None" = None, timeout: float | None = None
    ) -> "Primitives":
        """All of them by one model; dependencies are those that Decompose declares."""
        asked = Prompted(model=model, sampling=sampling, timeout=timeout)
        return cls(
            turns=asked,
            order=asked,
            task_to_check=asked,
            task_to_meet=asked,
            match_func=asked,
            task_to_get=asked,
        )
