"""Worked scenarios of the kernel: turns with their annotated answers, run end to end.

Each is played through the whole kernel over tools with state; the primitives answer what the
scenario says that they answer (Forethought 4, design-time verification).
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NotRequired, TypedDict

from hornbook.kernel.kernel import Kernel
from hornbook.kernel.loose import fields_of, texts_of
from hornbook.kernel.neural.forms import CheckRequest, FillRequest, MatchRequest, OrderRequest
from hornbook.kernel.neural.primitives import Primitives
from hornbook.kernel.registry import ToolRegistry, ToolSpec
from hornbook.kernel.result import KernelResult, Report
from hornbook.kernel.scratchpad import Scratchpad
from hornbook.kernel.tasks import Call
from hornbook.program import Program, primitive

__all__ = ["Tools", "Turn", "Turns", "play", "worked"]

Tools = Callable[[], tuple[Sequence[ToolSpec], Mapping[str, Callable[..., Any]]]]
"""Makes tools with fresh state: their specs, and their functions by name."""


class Turn(TypedDict):
    """One turn, and what each primitive answers in it."""

    say: str
    tasks: list[dict[str, Any]]
    """In the form of appendix E.1; what is left out is empty."""
    order: NotRequired[list[str]]
    match: NotRequired[dict[str, Any]]
    """By task: the tool, where it is not the one of the task; `none` for none."""
    check: NotRequired[dict[str, Any]]
    """By key: the task that finds it out or sets it up (E.3)."""
    meet: NotRequired[dict[str, Any]]
    """By key: the task that would meet it."""
    fill: NotRequired[dict[str, Any]]
    """By task: `values`, or a `task` that retrieves them (E.5)."""


class Turns(TypedDict):
    """What a worked scenario is given."""

    turns: list[Turn]
    state: NotRequired[dict[str, Any]]
    show: NotRequired[list[str]]
    """Of `calls`, `reports`, `decisions`, `order` and `scratchpad`: what is told; all, if empty."""


def worked(tools: Tools, *, name: str = "worked") -> Program:
    """The program that plays worked scenarios over some tools.

    Args:
        tools: makes them, afresh for each scenario.
        name: what records call it.
    """

    def run(given: Turns) -> dict[str, Any]:
        return play(tools, given)

    return primitive(run, name=name, pure=False)


def play(tools: Tools, given: Turns) -> dict[str, Any]:
    """Play a scenario; gives what it came to, turn by turn, as texts."""
    specs, functions = tools()
    registry = ToolRegistry(specs)
    state: Mapping[str, Any] = Scratchpad.of(given.get("state", {}))
    history: list[str] = []
    results: list[KernelResult] = []
    for turn in given["turns"]:
        # The answers are given: there is nothing to ask again for.
        kernel = Kernel(registry, primitives=_answering(turn), calls=functions, retry=0)
        result = kernel.run(turn["say"], state=state, history=history)
        history.append(turn["say"])
        state = result.scratchpad
        results.append(result)
    told: dict[str, Any] = {
        "calls": [_call(call) for result in results for call in result.calls],
        "reports": [_report(report) for result in results for report in result.reports],
        "decisions": [str(one) for result in results for one in result.decisions],
        "order": [list(result.order) for result in results],
        "scratchpad": _facts(results),
    }
    show = given.get("show") or list(told)
    return {what: told[what] for what in show if what in told}


def _answering(turn: Turn) -> Primitives:
    """The primitives that answer as the scenario is annotated."""
    matches, fills = turn.get("match", {}), turn.get("fill", {})

    def match(request: MatchRequest) -> Any:
        name = matches.get(str(request.task["id"]), request.task["tool_name"])
        return {"tool_name": None if name == "none" else name}

    def order(request: OrderRequest) -> Any:
        ids = [str(one["id"]) for one in request.tasks]
        wanted = [one for one in turn.get("order", []) if one in ids]
        return {"ordered_task_ids": [*wanted, *(one for one in ids if one not in wanted)]}

    def fill(request: FillRequest) -> Any:
        answer = fields_of(fills.get(str(request.task["id"])))
        values = fields_of(answer.get("values"))
        chosen = {key: value for key, value in values.items() if key in request.missing}
        return {"values": chosen, "task": answer.get("task")}

    return Primitives(
        turns=lambda request: {"tasks": [_task(one) for one in turn["tasks"]]},  # pyright: ignore[reportArgumentType]
        order=order,
        match_func=match,
        task_to_get=fill,
        task_to_check=lambda request: _proposed(turn.get("check", {}), request),
        task_to_meet=lambda request: _proposed(turn.get("meet", {}), request),
    )


def _task(given: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": given["id"],
        "description": given.get("description", ""),
        "tool_name": given.get("tool_name"),
        "depends_on": list(texts_of(given.get("depends_on"))),
        "parameters": fields_of(given.get("parameters")),
    }


def _proposed(answers: Mapping[str, Any], request: CheckRequest) -> Any:
    return {"task": answers.get(request.key)}


def _call(call: Call) -> str:
    given = ", ".join(
        f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in call.arguments.items()
    )
    failed = "" if call.error is None else f" failed: {call.error}"
    return f"{call.tool}({given}){failed}"


def _report(report: Report) -> str:
    return f"{type(report).__name__}: {report}"


def _facts(results: Sequence[KernelResult]) -> dict[str, Any]:
    """What the last scratchpad holds, without the raw results of calls."""
    last = results[-1].scratchpad.as_dict() if results else {}
    return {key: value for key, value in last.items() if not key.endswith("()")}
