"""What the answers of the neural primitives are held to, by code (Forethought 4, contracts)."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from hornbook.contracts import Answer, Clause, Contract
from hornbook.kernel.arguments import KNOWN, TYPED
from hornbook.kernel.context import GuardContext
from hornbook.kernel.grounds import Found, find
from hornbook.kernel.guard import ToolGuard
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
from hornbook.kernel.shape import is_fixed, leaves
from hornbook.program.library.marks import unmentioned

__all__ = ["contract_of"]

_TOLD = 4
_PARTS = (TYPED, KNOWN)
_GROUNDED = "grounded "

Problems: TypeAlias = Callable[[Any, Any], Iterable[str]]
"""Given an answer and the request: one sentence for each thing that is wrong."""


def contract_of(name: str, guard: ToolGuard) -> Contract[Any]:
    """The contract of one of the kernel's primitives over the tools of a guard."""
    output, clauses = _clauses(guard)[name]
    return Contract(
        f"kernel-{name.replace('_', '-')}",
        output=output,
        ensures=[_clause(what, problems) for what, problems in clauses.items()],
    )


def _clauses(guard: ToolGuard) -> Mapping[str, tuple[Any, Mapping[str, Problems]]]:
    proposed: Mapping[str, Problems] = {
        "the tool may be proposed": _may_be_proposed,
        "the parameters fit": lambda value, request: _proposal(guard, value, request),
    }
    return {
        "turns": (
            Planned,
            {
                "task ids are unique": _unique,
                "tools are known": lambda value, request: _known(guard, value),
                "dependencies are tasks": _dependencies,
                "the parameters fit": lambda value, request: _planned(guard, value, request),
                "the request is covered": _covered,
            },
        ),
        "build_dep_graph": (Edges, {"dependencies are tasks": _edges}),
        "order": (Ordered, {"just the given tasks": _permutation}),
        "task_to_check": (Proposal, proposed),
        "task_to_meet": (Proposal, proposed),
        "match_func": (Matched, {"the tool is one of those shown, and fits": _matched}),
        "task_to_get": (
            Filled,
            {
                "only what is missing": _only_missing,
                "values are grounded": lambda value, request: _filled(guard, value, request),
                **proposed,
            },
        ),
    }


def _clause(name: str, problems: Problems) -> Clause:
    def test(value: Any, inputs: Mapping[str, Any]) -> Answer:
        found = list(problems(value, inputs["request"]))
        if not found:
            return Answer(status="Satisfied")
        more = f" (and {len(found) - _TOLD} more)" if len(found) > _TOLD else ""
        return Answer(status="Violated", hint="; ".join(found[:_TOLD]) + more)

    return Clause(kind="kernel", name=name, expected=name, test=test)


def _unique(value: Planned, request: TurnsRequest) -> Iterator[str]:
    for one, times in Counter(task["id"] for task in value["tasks"]).items():
        if times > 1:
            yield f"{times} tasks have the id {one!r}"


def _known(guard: ToolGuard, value: Planned) -> Iterator[str]:
    for task in value["tasks"]:
        name = task["tool_name"]
        if name is not None and name not in guard.registry:
            near = ", ".join(guard.registry.nearest(name)) or "none is near"
            yield f"task {task['id']!r}: there is no tool {name!r:.80}; nearest: {near}"


def _dependencies(value: Planned, request: TurnsRequest) -> Iterator[str]:
    ids = {task["id"] for task in value["tasks"]}
    for task in value["tasks"]:
        for need in task["depends_on"]:
            if need not in ids:
                yield f"task {task['id']!r} depends on {need!r}, which is no task"


def _planned(guard: ToolGuard, value: Planned, request: TurnsRequest) -> Iterator[str]:
    context = _context(request.turn, request.state, request.history)
    for task in value["tasks"]:
        for problem in _misfits(guard, task["tool_name"], task["parameters"], context):
            yield f"task {task['id']!r}: {problem}"


def _covered(value: Planned, request: TurnsRequest) -> Iterator[str]:
    parts = [json.dumps(task, ensure_ascii=False, default=str) for task in value["tasks"]]
    for mark in unmentioned(request.turn, parts):
        yield f"no task is about {mark!r} of the request"


def _edges(value: Edges, request: GraphRequest) -> Iterator[str]:
    ids = {one["id"] for one in request.tasks}
    for task, needs in value["depends_on"].items():
        for one in (task, *needs):
            if one not in ids:
                yield f"{one!r} is no task"


def _permutation(value: Ordered, request: OrderRequest) -> Iterator[str]:
    given = [one["id"] for one in request.tasks]
    if sorted(value["ordered_task_ids"]) != sorted(given):
        yield f"the ids are {', '.join(given)}, each once"


def _may_be_proposed(value: Any, request: CheckRequest | FillRequest) -> Iterator[str]:
    task = value.get("task")
    if task is None:
        return
    shown = [one["name"] for one in request.tools]
    if task["tool_name"] not in shown:
        yield f"{task['tool_name']!r:.80} may not be proposed; {', '.join(shown) or 'none'} may"


def _proposal(guard: ToolGuard, value: Any, request: CheckRequest | FillRequest) -> Iterator[str]:
    task = value.get("task")
    if task is not None:
        context = _context(request.turn, {**request.state, "task": request.task})
        yield from _misfits(guard, task["tool_name"], task["parameters"], context)


def _matched(value: Matched, request: MatchRequest) -> Iterator[str]:
    name = value["tool_name"]
    if name is None:
        return
    shown = {str(one["name"]): one for one in request.tools}
    if name not in shown:
        yield f"{name!r:.80} is none of the tools shown"
        return
    schema: Any = shown[name].get("parameters", {})
    known: Any = schema.get("properties", {})
    if schema.get("additionalProperties", False) is False:
        for stated in request.task.get("parameters", {}):
            if stated not in known:
                yield f"{name!r} has no parameter {stated!r}, which the task states"


def _only_missing(value: Filled, request: FillRequest) -> Iterator[str]:
    for name in value["values"]:
        if name not in request.missing:
            yield f"{name!r} is not missing; {', '.join(request.missing)} is"


def _filled(guard: ToolGuard, value: Filled, request: FillRequest) -> Iterator[str]:
    context = _context(request.turn, {**request.state, "task": request.task})
    name = str(request.tool["name"])
    yield from _misfits(guard, name, value["values"], context)
    spec = guard.registry.get(name)
    if spec is None:
        return
    for leaf in leaves(spec.parameters, spec.shape, value["values"]):
        if leaf.kind != "value" or leaf.value is None or isinstance(leaf.value, bool):
            continue
        if is_fixed(spec.parameters, spec.shape, leaf):
            continue
        if not isinstance(find(leaf.value, context.sources()), Found):
            yield f"{leaf.path} = {leaf.value!r:.80} stands neither in the request nor in the state"


def _misfits(
    guard: ToolGuard, name: str | None, parameters: Mapping[str, Any], context: GuardContext
) -> Iterator[str]:
    """What is wrong with some of a tool's arguments, whatever others are still to come."""
    if name is None or name not in guard.registry:
        return
    for one in guard.check(name, parameters, context).violations:
        if one.clause in _PARTS or one.clause.startswith(_GROUNDED):
            yield f"{name}.{one.path}: expected {one.expected}, got {one.observed}"


def _context(turn: str, state: Mapping[str, Any], history: Sequence[str] = ()) -> GuardContext:
    return GuardContext(turns=(*history, turn), state=state)
