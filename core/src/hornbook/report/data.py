"""What the panels show, as plain values.

Whoever has something to show fills these in; nothing here knows programs, contracts or
runs. All text is shown as text, whatever is in it. Where order matters to a reader (details,
counts, rows) it is the order given.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Literal, cast, get_args

from hornbook.errors import DefinitionError

__all__ = [
    "COMPOSITE",
    "Assurance",
    "AssuranceRow",
    "CheckRow",
    "Count",
    "FindingRow",
    "GraphNode",
    "Kind",
    "Level",
    "Lines",
    "ScenarioRow",
    "Status",
    "StepRow",
    "Tone",
    "Verdict",
    "ViolationRow",
    "finite",
    "plain",
]

Kind = Literal[
    "sequence",
    "parallel",
    "conditional",
    "iterate",
    "fallback",
    "symbolic",
    "neural",
    "contract",
    "constant",
    "pass",
]
"""What a node of a program is; `pass` hands its value on, as a missing `otherwise` does."""

COMPOSITE: frozenset[Kind] = frozenset(
    {"sequence", "parallel", "conditional", "iterate", "fallback"}
)
"""The kinds that have nodes inside."""
Tone = Literal["plain", "ok", "warning", "error"]
Assurance = Literal["guaranteed", "measured", "unchecked"]
Level = Literal["error", "warning", "info"]
Status = Literal["passed", "failed", "error", "skipped"]
Lines = str | tuple[str, ...]
"""One text, or several that are shown as a list."""


_LARGEST = 10**100
"""No figure of a report is larger, and a float has room for it."""


def _one_of(what: str, value: str, choices: object) -> None:
    known = get_args(choices)
    if value not in known:
        raise DefinitionError(f"{what} {value!r} is none of {', '.join(known)}")


def _texts(what: str, /, **fields: object) -> None:
    for name, value in fields.items():
        if not isinstance(value, str):
            raise DefinitionError(f"{what}: {name} is a text, not {type(value).__name__}")


def _numbers(what: str, /, **fields: object) -> None:
    """Check those that are given."""
    for name, value in fields.items():
        if value is not None:
            _number(what, name, value)


def _number(what: str, name: str, value: object) -> None:
    if not isinstance(value, int | float):
        raise DefinitionError(f"{what}: {name} is a number, not {type(value).__name__}")
    if isinstance(value, int) and abs(value) > _LARGEST:
        raise DefinitionError(f"{what}: {name} is too large a number to show")


def _limits(what: str, interval: object) -> None:
    if interval is None:
        return
    given = cast("tuple[object, ...]", interval)
    if not isinstance(interval, tuple) or len(given) != 2:
        raise DefinitionError(f"{what}: interval is two numbers, the lower and the upper limit")
    _number(what, "the lower limit", given[0])
    _number(what, "the upper limit", given[1])


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphNode:
    """One node of a program, with the nodes inside it.

    Edges follow from the kind: a sequence runs its children in order; the children of a
    parallel run as their `needs` allow; the first child of a conditional is its test and
    the others its branches; an iterate has a body and perhaps a test (`until`); a fallback
    tries its children in order.
    """

    id: str
    """The place, such as `program[1].names`; unique in the graph. Findings link to it."""
    kind: Kind
    label: str
    note: str = ""
    """A few words under the label: types, "at most 3 rounds"."""
    detail: Mapping[str, Lines] = field(default_factory=dict[str, Lines])
    """What is shown when the node is chosen: types, contract clauses, bound, version."""
    children: tuple["GraphNode", ...] = ()
    port: str = ""
    """What the parent calls this child: the port of a parallel, the label of a branch."""
    needs: tuple[str, ...] = ()
    """Ports of siblings that must be there first (inside a parallel)."""
    tone: Tone = "plain"
    """Colour of the node, as where a finding concerns it."""

    def __post_init__(self) -> None:
        what = f"graph node {self.id!r}"
        _texts(what, id=self.id, label=self.label, note=self.note, port=self.port)
        _one_of(f"{what}: kind", self.kind, Kind)
        _one_of(f"{what}: tone", self.tone, Tone)
        if self.children and self.kind not in COMPOSITE:
            raise DefinitionError(
                f"{what} is {self.kind} and has children; only"
                f" {', '.join(sorted(COMPOSITE))} have nodes inside"
            )

    def walk(self) -> Iterator["GraphNode"]:
        """Go through this node and all inside it, outer before inner, in order."""
        waiting: list[GraphNode] = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(reversed(node.children))


@dataclass(frozen=True, slots=True, kw_only=True)
class AssuranceRow:
    """One property of one step: is it guaranteed, measured, or unchecked."""

    step: str
    """The step's place; it links to the graph where the graph has it."""
    property: str
    assurance: Assurance
    error: float | None = None
    """The error rate, between 0 and 1, if it was measured."""
    interval: tuple[float, float] | None = None
    """Confidence limits of `error`."""
    caught: int | None = None
    """Mutants that the contract stopped."""
    passed: int | None = None
    """Mutants that it let through."""
    note: str = ""
    """Anything else: "idle: no mutant trips it"."""

    def __post_init__(self) -> None:
        what = f"assurance row of {self.step!r}"
        _texts(what, step=self.step, property=self.property, note=self.note)
        _one_of(f"{what}: assurance", self.assurance, Assurance)
        _numbers(what, error=self.error, caught=self.caught, passed=self.passed)
        _limits(what, self.interval)


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingRow:
    """Something a reader should know of, and where it is."""

    level: Level
    place: str
    message: str
    code: str = ""
    """A short stable name of the kind of finding, such as `unchecked-output`."""
    detail: Mapping[str, Lines] = field(default_factory=dict[str, Lines])

    def __post_init__(self) -> None:
        what = f"finding at {self.place!r}"
        _texts(what, place=self.place, message=self.message, code=self.code)
        _one_of(f"{what}: level", self.level, Level)


@dataclass(frozen=True, slots=True, kw_only=True)
class ViolationRow:
    """A clause that did not hold in a scenario."""

    step: str
    clause: str
    message: str
    path: str = ""
    """Where in the value."""

    def __post_init__(self) -> None:
        what = f"violation at {self.step!r}"
        _texts(what, step=self.step, clause=self.clause, message=self.message, path=self.path)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRow:
    """One thing a scenario expects, against what was seen."""

    what: str
    expected: str
    seen: str
    ok: bool

    def __post_init__(self) -> None:
        what = f"check {self.what!r}"
        _texts(what, what=self.what, expected=self.expected, seen=self.seen)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRow:
    """One step of a run, for the step list of a scenario."""

    place: str
    status: str
    depth: int = 0
    """How many steps it stands inside."""
    attempts: int = 1
    seconds: float | None = None
    note: str = ""
    tone: Tone = "plain"

    def __post_init__(self) -> None:
        what = f"step row {self.place!r}"
        _texts(what, place=self.place, status=self.status, note=self.note)
        _one_of(f"{what}: tone", self.tone, Tone)
        _numbers(what, depth=self.depth, attempts=self.attempts, seconds=self.seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioRow:
    """One worked scenario and how it went."""

    name: str
    status: Status
    seconds: float | None = None
    message: str = ""
    """One sentence for the table, such as why it failed."""
    checks: tuple[CheckRow, ...] = ()
    violations: tuple[ViolationRow, ...] = ()
    steps: tuple[StepRow, ...] = ()
    detail: Mapping[str, Lines] = field(default_factory=dict[str, Lines])
    """Anything else: the input, the file and line, an exception."""

    def __post_init__(self) -> None:
        what = f"scenario {self.name!r}"
        _texts(what, name=self.name, message=self.message)
        _one_of(f"{what}: status", self.status, Status)
        _numbers(what, seconds=self.seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """A number of the banner, such as 12 scenarios passed."""

    label: str
    value: int | str
    tone: Tone = "plain"

    def __post_init__(self) -> None:
        what = f"count {self.label!r}"
        _texts(what, label=self.label)
        _one_of(f"{what}: tone", self.tone, Tone)
        if not isinstance(self.value, str):
            _number(what, "value", self.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The one answer on top of a page, with the figures behind it."""

    ok: bool
    headline: str
    """One sentence, such as "Verified: every check holds"."""
    counts: tuple[Count, ...] = ()
    facts: Mapping[str, str] = field(default_factory=dict[str, str])
    """What the verdict is about: program, digest, version, when."""

    def __post_init__(self) -> None:
        _texts("verdict", headline=self.headline)


def finite(number: float | None) -> float | None:
    """Give the number if it is finite; JSON has no other, and a reader needs no other."""
    return number if number is not None and math.isfinite(number) else None


def plain(value: Any) -> Any:
    """Give the value as JSON values: rows as objects, numbers that are not finite as null."""
    if isinstance(value, str):
        return value
    if is_dataclass(value):
        return {each.name: plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in cast("Iterable[Any]", value)]
    return finite(value) if isinstance(value, float) else value
