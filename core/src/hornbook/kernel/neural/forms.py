"""What the neural primitives are asked and what they answer; the schemas of appendix E.

Questions are plain data, so that a record of one can be replayed and trained on.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NotRequired, TypedDict

__all__ = [
    "CheckRequest",
    "Edges",
    "FillRequest",
    "Filled",
    "GraphRequest",
    "MatchRequest",
    "Matched",
    "OrderRequest",
    "Ordered",
    "Planned",
    "PlannedTask",
    "Proposal",
    "ProposedTask",
    "TurnsRequest",
]


class PlannedTask(TypedDict):
    """One unit task of Decompose (E.1)."""

    id: str
    description: NotRequired[str]
    tool_name: str | None
    depends_on: list[str]
    parameters: dict[str, Any]


class Planned(TypedDict):
    """The answer of `turns` (E.1)."""

    tasks: list[PlannedTask]
    config_keys: NotRequired[dict[str, Any]]


class Edges(TypedDict):
    """The answer of `build_dep_graph`: by task, the tasks that it needs."""

    depends_on: dict[str, list[str]]


class Ordered(TypedDict):
    """The answer of `order` (E.2)."""

    ordered_task_ids: list[str]


class ProposedTask(TypedDict):
    """A unit task that a primitive proposes (E.3)."""

    tool_name: str
    parameters: dict[str, Any]


class Proposal(TypedDict):
    """The answer of `task_to_check` and `task_to_meet`: one task at most (E.3)."""

    task: ProposedTask | None


class Matched(TypedDict):
    """The answer of `match_func` (E.4)."""

    tool_name: str | None


class Filled(TypedDict):
    """The answer of `task_to_get`: values (E.5), or a task that retrieves them."""

    values: dict[str, Any]
    task: NotRequired[ProposedTask | None]


def _nothing() -> dict[str, Any]:
    return {}


Data = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnsRequest:
    """What `turns` is asked."""

    turn: str
    tools: tuple[Data, ...] = ()
    """Name, description and parameters of each tool that is shown."""
    state: Data = field(default_factory=_nothing)
    """What the scratchpad holds."""
    history: tuple[str, ...] = ()
    """Earlier turns, oldest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphRequest:
    """What `build_dep_graph` is asked."""

    turn: str
    tasks: tuple[Data, ...]
    """As Decompose gave them, what they depend on among it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderRequest:
    """What `order` is asked: tasks that do not need each other."""

    turn: str
    tasks: tuple[Data, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRequest:
    """What `task_to_check` and `task_to_meet` are asked."""

    key: str
    outcome: Literal["absent", "not_met"]
    task: Data
    turn: str
    tools: tuple[Data, ...] = ()
    """Those that may be proposed."""
    state: Data = field(default_factory=_nothing)
    setup: str | None = None
    """The tool that the prerequisite names."""
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchRequest:
    """What `match_func` is asked."""

    task: Data
    tools: tuple[Data, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FillRequest:
    """What `task_to_get` is asked."""

    task: Data
    tool: Data
    missing: tuple[str, ...]
    turn: str
    state: Data = field(default_factory=_nothing)
    tools: tuple[Data, ...] = ()
    """Those that only read, and may be proposed for retrieval."""
