"""Calls made too early: a prerequisite that nothing has set up, or that is set up afterwards."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from hornbook.contracts import Violation
from hornbook.contracts.shown import shown
from hornbook.kernel.context import GuardContext, parsed
from hornbook.kernel.prerequisites import PREREQUISITE, Prerequisite, check
from hornbook.kernel.registry import ToolRegistry, ToolSpec
from hornbook.kernel.seen import SeenCall

__all__ = ["ORDER", "out_of_order", "unmet"]

ORDER = "in-order"


def unmet(spec: ToolSpec, registry: ToolRegistry, context: GuardContext) -> Iterator[Violation]:
    """Yield each prerequisite of a tool that neither the state nor a call made meets."""
    if not spec.prerequisites:
        return
    done = [(r.name, r.value) for r in context.results if not r.error]
    done += [(call.tool, call.value) for call in context.calls if call.error is None]
    known = {**_set_up(spec, registry, done), **context.state}
    for one in spec.prerequisites:
        status = check(one, known)
        if status == "Met":
            continue
        yield Violation(
            clause=PREREQUISITE,
            path=one.key,
            expected=f"{one.key} set up before {spec.name} is called",
            observed="nothing" if status == "Absent" else shown(known[one.key], one.key),
            evidence={"status": status, "setup": one.setup},
            hint=one.message or _remedy(one, spec.name),
        )


def out_of_order(calls: Sequence[SeenCall], registry: ToolRegistry) -> Iterator[Violation]:
    """Yield calls of a turn whose set-up tool was called after them, and not before."""
    for at, call in enumerate(calls):
        spec = registry.get(call.tool)
        for one in spec.prerequisites if spec is not None else ():
            before = any(c.tool == one.setup and c.error is None for c in calls[:at])
            if not before and any(c.tool == one.setup for c in calls[at + 1 :]):
                yield Violation(
                    clause=ORDER,
                    path=one.key,
                    expected=f"{one.setup} called before {call.tool}",
                    observed=f"{call.tool} before {one.setup}",
                    evidence={"tool": call.tool, "setup": one.setup, "turn": call.turn},
                    hint=f"{call.tool} needs {one.key}: call it again after {one.setup}",
                )


def _remedy(one: Prerequisite, tool: str) -> str:
    if one.setup is None:
        return f"{tool} needs {one.key} first"
    return f"call {one.setup} first: it sets up {one.key}"


def _set_up(
    spec: ToolSpec, registry: ToolRegistry, done: Sequence[tuple[str, Any]]
) -> dict[str, Any]:
    """Return the keys that calls have written, by the declarations of their tools."""
    setups = {one.setup: one.key for one in spec.prerequisites if one.setup}
    known: dict[str, Any] = {}
    for name, value in done:
        tool = registry.get(name)
        if tool is None:
            continue
        fields = _fields(value)
        for field, key in tool.result_key.items():
            if field in fields:
                known[key] = fields[field]
        for key in dict.fromkeys([*tool.effects, *filter(None, [setups.get(name)])]):
            if key not in tool.result_key.values():
                known[key] = fields.get(key, True if value is None else parsed(value))
    return known


def _fields(value: Any) -> Mapping[str, Any]:
    read = parsed(value)
    return cast("Mapping[str, Any]", read) if isinstance(read, Mapping) else {}
