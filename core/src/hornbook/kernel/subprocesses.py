"""The five sub-processes as programs of the DSL, with their contracts (Forethought 4).

Decompose and Get-Order are whole programs. Check-Prerequisites and Match-Functions-and-
Parameters call tools between their parts, which is the control flow of Algorithm 2: it stands
in `algorithm`, and what it composes is here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from hornbook.contracts import Contract, clauses
from hornbook.kernel.guard import ToolGuard
from hornbook.kernel.loose import fields_of, texts_of
from hornbook.kernel.neural.contracts import contract_of
from hornbook.kernel.neural.forms import Edges, GraphRequest, Ordered, OrderRequest
from hornbook.kernel.neural.nodes import FORMS, node_of
from hornbook.kernel.neural.primitives import Primitives, declared_edges, declared_order
from hornbook.kernel.ordering import DependencyGraph
from hornbook.kernel.tasks import Task
from hornbook.program import (
    Conditional,
    Fallback,
    Iterate,
    Parallel,
    Program,
    Sequence,
    primitive,
)
from hornbook.step.recover import Recover

__all__ = ["MAX_TASKS", "Ordering", "Plan", "Subprocesses", "as_data"]

MAX_TASKS = 200
"""Of one turn; a plan of more is cut there, and what is cut is reported."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What Decompose gives."""

    tasks: tuple[Task, ...]
    config: Mapping[str, Any]
    dropped: int = 0
    """Tasks beyond `MAX_TASKS`, and entries that are no tasks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ordering:
    """How far Get-Order is."""

    turn: str
    tasks: tuple[Task, ...]
    graph: DependencyGraph
    unknown: Mapping[str, str]
    """By task, the first thing it needs that is no task."""
    cycle: tuple[str, ...] = ()
    order: tuple[str, ...] = ()

    def level(self) -> tuple[str, ...]:
        """The tasks that are next, none of which needs another of them."""
        return self.graph.ready(self.order)


def as_data(task: Task) -> dict[str, Any]:
    """A task in the form of appendix E."""
    return {
        "id": task.id,
        "description": task.description,
        "tool_name": task.tool,
        "depends_on": list(task.depends_on),
        "parameters": dict(task.parameters),
    }


class Subprocesses:
    """The programs of one kernel; immutable, and shared between runs.

    Attributes:
        decompose: turns, then unit tasks.
        get_order: the dependency graph, its check, and a topological order.
        task_to_check: at most one task for a prerequisite that is absent.
        task_to_meet: at most one task for one that is not met.
        match_func: the function for a task.
        task_to_get: values, or a retrieval task, for what is missing.
    """

    __slots__ = (
        "decompose",
        "get_order",
        "match_func",
        "task_to_check",
        "task_to_get",
        "task_to_meet",
    )

    def __init__(self, guard: ToolGuard, primitives: Primitives, retry: int) -> None:
        halting, waiving = Recover(retry=retry), Recover(retry=retry, then="waive")
        # A plan that is wrong in one task is right in others: what is wrong is found again, task
        # by task, when it comes to be done.
        recovers = dict.fromkeys(FORMS, halting) | {"turns": waiving}
        nodes = {
            name: node_of(name, getattr(primitives, name), contract_of(name, guard), recover)
            for name, recover in recovers.items()
        }
        self.decompose: Program = Sequence(nodes["turns"], read_plan).named("decompose")
        self.get_order: Program = _get_order(nodes["build_dep_graph"], nodes["order"])
        self.task_to_check: Program = nodes["task_to_check"]
        self.task_to_meet: Program = nodes["task_to_meet"]
        self.match_func: Program = nodes["match_func"]
        self.task_to_get: Program = nodes["task_to_get"]

    def programs(self) -> Mapping[str, Program]:
        """By name."""
        return {name: getattr(self, name) for name in self.__slots__}


@primitive
def graph_as_declared(request: GraphRequest) -> Edges:
    """What Decompose declared, where `build_dep_graph` gives nothing usable."""
    return declared_edges(request)


@primitive
def order_as_declared(request: OrderRequest) -> Ordered:
    """The order of declaration, where `order` gives nothing usable."""
    return declared_order(request)


def _ids_unique(plan: Plan) -> bool:
    return len({task.id for task in plan.tasks}) == len(plan.tasks)


@primitive(
    contract=Contract(
        "plan", output=Plan, ensures=[clauses.that("task ids are unique", _ids_unique)]
    )
)
def read_plan(planned: Any) -> Plan:
    """The tasks of an answer, whatever is wrong with some of them."""
    answer = fields_of(planned)
    given: Any = answer.get("tasks", ())
    entries = cast("list[Any]", given) if isinstance(given, list) else []
    taken: dict[str, Task] = {}
    for at, entry in enumerate(entries[:MAX_TASKS], 1):
        if isinstance(entry, Mapping):
            task = _task(cast("Mapping[str, Any]", entry), f"t{at}")
            name = task.id
            while name in taken:
                name += "'"
            taken[name] = replace(task, id=name)
    return Plan(
        tasks=tuple(taken.values()),
        config=fields_of(answer.get("config_keys")),
        dropped=len(entries) - len(taken),
    )


def _task(entry: Mapping[str, Any], name: str) -> Task:
    tool = entry.get("tool_name")
    return Task(
        id=str(entry.get("id") or name),
        description=str(entry.get("description") or ""),
        tool=tool if isinstance(tool, str) else None,
        parameters=fields_of(entry.get("parameters")),
        depends_on=tuple(dict.fromkeys(texts_of(entry.get("depends_on")))),
    )


def _edges(answer: Any) -> Mapping[str, tuple[str, ...]]:
    needs = fields_of(fields_of(answer).get("depends_on"))
    return {task: texts_of(given) for task, given in needs.items()}


@primitive
def graph_question(ordering: Ordering) -> GraphRequest:
    """What `build_dep_graph` is asked."""
    return GraphRequest(turn=ordering.turn, tasks=tuple(map(as_data, ordering.tasks)))


@primitive
def keep_ordering(ordering: Ordering) -> Ordering:
    """The same."""
    return ordering


@primitive
def join_graph(before: Ordering, edges: Any) -> Ordering:
    """The declared dependencies, and those that the tools' own declarations imply."""
    ids = [task.id for task in before.tasks]
    needs = _edges(edges)
    graph = DependencyGraph.of(ids, needs)
    for task, implied in before.graph.needs.items():
        for need in implied:
            if need not in graph.needs[task] and not graph.leads_to(need, task):
                graph = graph.with_edge(task, need)
    unknown = {
        task: next(need for need in needs[task] if need not in ids)
        for task in ids
        if any(need not in ids for need in needs.get(task, ()))
    }
    return replace(before, graph=graph, unknown=unknown, cycle=graph.cycle())


@primitive
def cyclic(ordering: Ordering) -> bool:
    """Whether tasks wait for each other."""
    return bool(ordering.cycle)


@primitive
def tied(ordering: Ordering) -> bool:
    """Whether more than one task can be next."""
    return len(ordering.level()) > 1


@primitive
def all_ordered(ordering: Ordering) -> bool:
    """Whether every task has its place."""
    return len(ordering.order) == len(ordering.tasks)


@primitive
def order_question(ordering: Ordering) -> OrderRequest:
    """What `order` is asked: the level, whose tasks do not need each other."""
    level = ordering.level()
    chosen = [task for task in ordering.tasks if task.id in level]
    return OrderRequest(turn=ordering.turn, tasks=tuple(map(as_data, chosen)))


@primitive
def take_level(ordering: Ordering) -> Ordering:
    """The next level in order of declaration."""
    return replace(ordering, order=(*ordering.order, *ordering.level()))


@primitive
def take_answer(before: Ordering, answer: Any) -> Ordering:
    """The next level in the order that the model gave, which must be one of just its tasks."""
    level, ids = before.level(), texts_of(fields_of(answer).get("ordered_task_ids"))
    chosen = ids if sorted(ids) == sorted(level) else level
    return replace(before, order=(*before.order, *chosen))


def _follows(ordering: Ordering) -> bool:
    return bool(ordering.cycle) or ordering.graph.is_order(ordering.order)


@primitive(
    contract=Contract(
        "order",
        output=Ordering,
        ensures=[clauses.that("every task follows what it needs", _follows)],
    )
)
def ordered(ordering: Ordering) -> Ordering:
    """The topological order T."""
    return ordering


def _get_order(graph: Program, order: Program) -> Program:
    level = Conditional(
        tied,
        Sequence(
            Parallel(
                before=keep_ordering,
                answer=Sequence(order_question, Fallback(order, order_as_declared)),
            ),
            take_answer,
        ),
        take_level,
    )
    return Sequence(
        Parallel(
            before=keep_ordering, edges=Sequence(graph_question, Fallback(graph, graph_as_declared))
        ),
        join_graph,
        Conditional(
            cyclic,
            keep_ordering,
            Iterate(level, until=all_ordered, at_most=MAX_TASKS),
        ),
        ordered,
    ).named("get-order")
