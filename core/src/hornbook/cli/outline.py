"""A run's events as an outline for reading: each step below the step that called it."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from hornbook.cli.terminal import clean, duration, moment
from hornbook.trace.events import Event

__all__ = ["outline"]

_TEXT = 240
"""Characters of one value that are shown."""
_DEEPEST = 40
"""Steps further down are not indented further."""


@dataclass(slots=True, kw_only=True)
class _Node:
    """What was recorded under one id: a step, or the run itself."""

    start: Event | None = None
    end: Event | None = None
    marks: list[Event] = field(default_factory=list[Event])
    children: list[str] = field(default_factory=list[str])


def outline(events: Iterable[Event], *, values: bool = False) -> Iterator[str]:
    """Write the lines of the outline; with `values`, inputs and outputs too.

    Nothing is taken for granted: steps may be open, parents missing or in a circle.
    """
    nodes = _nodes(events)
    below = {child for node in nodes.values() for child in node.children}
    shown: set[str] = set()
    # After the tops come those that only a circle of parents leads to.
    for top in [*(one for one in nodes if one not in below), *nodes]:
        waiting = [(top, 0)]
        while waiting:
            at, depth = waiting.pop()
            if at in shown:
                continue
            shown.add(at)
            node = nodes[at]
            yield from _indented(depth, _heading(node), _details(node, values))
            waiting.extend((child, depth + 1) for child in reversed(node.children))


def _nodes(events: Iterable[Event]) -> dict[str, _Node]:
    nodes: dict[str, _Node] = {}
    parents: dict[str, str] = {}
    for event in events:
        node = nodes.setdefault(event.id, _Node())
        if event.parent is not None:
            parents.setdefault(event.id, event.parent)
        elif event.id != event.run:
            parents.setdefault(event.id, event.run)
        match event.kind:
            case "run.start" | "step.start":
                node.start = node.start or event
            case "run.end" | "step.end":
                node.end = event
            case _:
                node.marks.append(event)
    for child, parent in parents.items():
        if parent in nodes and parent != child:
            nodes[parent].children.append(child)
    return nodes


def _indented(depth: int, heading: str, details: Iterable[str]) -> Iterator[str]:
    margin = "  " * min(depth, _DEEPEST)
    yield f"{margin}{heading}"
    for line in details:
        yield f"{margin}  | {line}"


def _heading(node: _Node) -> str:
    event = node.start or node.end or node.marks[0]
    if event.id == event.run:
        return _run_heading(event, node.end)
    start: Mapping[str, Any] = {} if node.start is None else node.start.data
    data: Mapping[str, Any] = {} if node.end is None else node.end.data
    what = " of ".join(
        clean(start[key], 80) for key in ("step", "agent") if start.get(key) is not None
    )
    parts = [
        f"{clean(event.name, 120)} ({what})" if what else clean(event.name, 120),
        "open: its end is not recorded" if node.end is None else clean(node.end.status),
    ]
    if "microseconds" in data:
        parts.append(duration(data["microseconds"]))
    if data.get("attempts", 1) != 1:
        parts.append(f"{clean(data['attempts'], 20)} attempts")
    return ", ".join(parts)


def _run_heading(event: Event, end: Event | None) -> str:
    status = "open: its end is not recorded" if end is None else clean(end.status)
    return f"run {clean(event.run)} ({clean(event.name, 120)}), {status}, {moment(event.time)}"


def _spent(data: Mapping[str, Any]) -> Iterator[str]:
    """What a run has spent, and what its record lost."""
    spent = [f"{_value(data[key])} {key}" for key in ("calls", "tokens", "cost") if data.get(key)]
    if spent:
        yield f"spent {', '.join(spent)}"
    if data.get("dropped"):
        yield f"dropped {_value(data['dropped'])} records that could not be written"


def _details(node: _Node, values: bool) -> Iterator[str]:
    if values and node.start is not None and "inputs" in node.start.data:
        yield f"inputs {_value(node.start.data['inputs'])}"
    for mark in node.marks:
        yield from _mark(mark)
    if node.end is None:
        return
    data = node.end.data
    if node.end.kind == "run.end":
        yield from _spent(data)
    yield from _report(data.get("report"))
    if "error" in data:
        yield f"error {clean(data['error'], _TEXT)}"
    if values and data.get("output") is not None:
        yield f"output {_value(data['output'])}"


def _mark(event: Event) -> Iterator[str]:
    name, data = clean(event.name, 120), event.data
    match event.kind:
        case "attempt":
            yield f"attempt {clean(data.get('attempt', '?'), 20)}: {clean(event.status)}"
            for violation in _items(data.get("violations")):
                yield f"  - {clean(violation, _TEXT)}"
        case "decision":
            yield f"decision {name}{_rest(data)}"
        case "rule":
            yield f"rule {name} injected{_rest(data)}"
        case _:
            yield f"{event.kind} {name}{_rest(data)}"


def _report(report: object) -> Iterator[str]:
    """The last verdict on the step: what failed, and what was let pass."""
    if not isinstance(report, Mapping):
        return
    fields = cast("Mapping[str, Any]", report)
    if fields.get("violations"):
        yield f"contract {clean(repr(fields.get('contract')), 120)} violated"
    for violation in _mappings(fields.get("violations")):
        yield f"  - {_violation(violation)}"
    for verdict in _mappings(fields.get("verdicts")):
        if verdict.get("waived"):
            clause, reason = clean(verdict.get("clause"), 120), clean(verdict.get("reason"), _TEXT)
            yield f"waived {clause}: {reason}"


def _violation(violation: Mapping[str, Any]) -> str:
    clause, path = (clean(violation.get(key, "?"), 120) for key in ("clause", "path"))
    expected, observed, hint = (
        clean(violation.get(key, ""), _TEXT) for key in ("expected", "observed", "hint")
    )
    where = "" if path == "." else f" at {path}"
    return f"{clause}{where}: expected {expected}; got {observed}{f' ({hint})' if hint else ''}"


def _rest(data: Mapping[str, Any]) -> str:
    shown = [
        f"{clean(key, 40)} {_value(value)}"
        for key, value in data.items()
        if value not in ("", None)
    ]
    return f": {', '.join(shown)}" if shown else ""


def _value(value: object) -> str:
    if isinstance(value, str):
        return clean(value, _TEXT)
    return clean(json.dumps(value, ensure_ascii=False, default=str), _TEXT)


def _items(value: object) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def _mappings(value: object) -> list[Mapping[str, Any]]:
    return [cast("Mapping[str, Any]", item) for item in _items(value) if isinstance(item, Mapping)]
