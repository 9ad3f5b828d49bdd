"""The normalised record: what a run says that must be the same on every host."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hornbook.testing.conformance.scenario import Did
from hornbook.trace.events import Event

__all__ = ["normalised", "unsound"]

_KINDS = ("model", "tool")
_RAISED = ("error", "interrupted", "cancelled")
_GAVE = ("satisfied", "recovered", "waived")
_UNENDED = "not ended"


@dataclass(slots=True)
class _Step:
    """A step as its events tell it, one after another."""

    start: Event
    end: Event | None = None
    violated: list[str] = field(default_factory=list[str])
    decisions: list[str] = field(default_factory=list[str])
    rules: list[str] = field(default_factory=list[str])

    def take(self, event: Event) -> None:
        match event.kind:
            case "attempt":
                self.violated += [_clause(one) for one in event.data["violations"]]
            case "decision":
                self.decisions.append(event.name)
            case "rule":
                self.rules.append(event.name)
            case "step.end":
                self.end = event
            case _:
                pass

    def did(self) -> Did:
        kind = self.start.data["step"]
        data: Mapping[str, Any] = {} if self.end is None else self.end.data
        status = _UNENDED if self.end is None else str(self.end.status)
        report = data.get("report")
        violated = self.violated or _violated(report)
        return Did(
            kind=kind,
            name=self.start.name,
            status=status,
            # How often a step was tried before it raised is no promise.
            attempts=1 if status in _RAISED else data.get("attempts", 1),
            violated=tuple(violated),
            decisions=tuple(self.decisions),
            rules=tuple(sorted(self.rules)),
            inputs=self.start.data["inputs"] if kind == "tool" else {},
        )


def normalised(
    events: Iterable[Event], is_own_step: Callable[[Event], bool] = lambda start: False
) -> tuple[Did, ...]:
    """The model and tool steps of a run, in the order in which they began.

    Ids, times, the host and its own data are left out, and so are nodes and nested runs.
    The order of tools that one reply of the model calls means nothing: they are sorted.

    Args:
        events: of one run.
        is_own_step: whether a step is the host's own; it is left out where it simply
            succeeded.
    """
    steps: dict[str, _Step] = {}
    for event in events:
        if event.kind == "step.start" and event.data.get("step") in _KINDS:
            steps[event.id] = _Step(event)
        elif event.id in steps:
            steps[event.id].take(event)
    done = [(step, step.did()) for step in steps.values()]
    return _in_order([did for step, did in done if not (_plain(did) and is_own_step(step.start))])


def unsound(events: Sequence[Event]) -> list[str]:
    """What is wrong with the form of a record: ends without starts, steps without parents."""
    problems: list[str] = []
    if (events[0].kind, events[-1].kind) != ("run.start", "run.end"):
        problems.append("the record does not go from a run.start to a run.end")
    started = {one.id: one for one in events if one.kind == "step.start"}
    ended = [one.id for one in events if one.kind == "step.end"]
    for number, start in started.items():
        if ended.count(number) != 1:
            problems.append(f"{start.name}: {ended.count(number)} step.end for one step.start")
        if start.parent is not None and start.parent not in started:
            problems.append(f"{start.name}: the step around it is not in the record")
        if start.data.get("step") == "tool" and not start.data.get("meta"):
            problems.append(f"{start.name}: nothing says which call of the host it is")
    for end in events:
        gave = end.kind == "step.end" and end.status in _GAVE and end.id in started
        if gave and started[end.id].data.get("step") in _KINDS and end.data["output"] is None:
            problems.append(f"{end.name}: what it gave is not in the record")
    return problems


def _in_order(dids: Sequence[Did]) -> tuple[Did, ...]:
    ordered: list[Did] = []
    together: list[Did] = []
    for did in (*dids, None):
        if did is not None and did.kind == "tool":
            together.append(did)
            continue
        ordered += sorted(together, key=str)
        together = []
        ordered += [] if did is None else [did]
    return tuple(ordered)


def _plain(did: Did) -> bool:
    # What it was shown says nothing of how it came out.
    return replace(did, inputs={}, rules=()) == Did(kind=did.kind, name=did.name)


def _clause(violation: str) -> str:
    """`clause at path` out of a violation's one line."""
    return violation.partition(": expected ")[0]


def _violated(report: Mapping[str, Any] | None) -> list[str]:
    if report is None or report["ok"]:
        return []
    return [
        one["clause"] if one["path"] == "." else f"{one['clause']} at {one['path']}"
        for one in report["violations"]
    ]
