"""How reliable each step was, counted over the events of any number of runs.

"Traces identify the least reliable primitives for retraining" (Forethought 3.2). Pure: events
come in, counts go out; a run that was cut off counts as far as it goes.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, cast

from hornbook.trace.events import Event

__all__ = ["COUNTED", "Counted", "Stats", "StepStats", "stats"]

Counted: TypeAlias = Literal["violated", "retried", "fell_back", "waived", "failed"]

COUNTED: tuple[Counted, ...] = ("violated", "retried", "fell_back", "waived", "failed")
"""What is counted of calls, by name of the field."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepStats:
    """What was counted of all steps of one name and kind."""

    name: str
    kind: str
    """`node`, `tool` or `model`."""
    calls: int
    """Steps that began."""
    violated: int = 0
    """Calls in which some attempt violated its contract, recovered or not."""
    retried: int = 0
    """Calls with one retry at least."""
    fell_back: int = 0
    """Calls that came to a fallback."""
    waived: int = 0
    """Calls whose contract was waived in the end."""
    failed: int = 0
    """Calls that gave no value because the step raised."""
    halted: int = 0
    """Calls that gave no value because a contract, a hook or a guard stopped them."""
    cached: int = 0
    """Calls answered from a cache."""
    unfinished: int = 0
    """Calls whose end is not recorded, or that were interrupted."""
    seconds: float = 0.0
    """Wall time of the calls that ended, together."""
    input_tokens: int = 0
    """Of the model calls right below."""
    output_tokens: int = 0

    @property
    def ended(self) -> int:
        """Calls whose end is recorded."""
        return self.calls - self.unfinished

    @property
    def mean_seconds(self) -> float | None:
        """Wall time of a call; None where none ended."""
        return self.seconds / self.ended if self.ended else None

    @property
    def tokens(self) -> int:
        """Input and output together."""
        return self.input_tokens + self.output_tokens

    @property
    def trouble(self) -> float:
        """What the least reliable come first by: the share of calls with a violation or an error.

        Few calls say little: two calls without trouble are added to each step's.
        """
        return min(self.violated + self.failed, self.calls) / (self.calls + 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """All steps of all runs, the least reliable first."""

    runs: int
    incomplete: int
    """Runs whose end is not recorded."""
    steps: tuple[StepStats, ...]

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "runs": self.runs,
            "incomplete": self.incomplete,
            "steps": [_as_dict(one) for one in self.steps],
        }


def stats(events: Iterable[Event]) -> Stats:
    """Count over events; those of a run stand in their order, runs may follow one another.

    Model calls below another step count there, as its tokens; only those at the top of a run
    are listed by themselves.
    """
    seen: dict[tuple[str, str], _Seen] = {}
    begun: dict[str, bool] = {}
    for event in events:
        begun.setdefault(event.run, False)
        if event.kind == "run.end":
            begun[event.run] = True
        elif event.kind != "run.start":
            _note(seen.setdefault((event.run, event.id), _Seen()), event)
    sums: dict[tuple[str, str], _Sum] = {}
    wrapping = _wrapping(seen)
    for (run, id_), one in seen.items():
        around = seen.get((run, one.parent or ""))
        if (run, id_) in wrapping:
            continue
        if one.kind == "model" and around is not None and around.began:
            sums.setdefault((around.name, around.kind), _Sum()).add_tokens(one)
        elif one.began:
            sums.setdefault((one.name, one.kind), _Sum()).add(one)
    made = [total.made(name, kind) for (name, kind), total in sums.items() if total.calls]
    made.sort(key=lambda one: (-one.trouble, -one.calls, one.name, one.kind))
    ended = sum(begun.values())
    return Stats(runs=len(begun), incomplete=len(begun) - ended, steps=tuple(made))


def _wrapping(seen: "Mapping[tuple[str, str], _Seen]") -> set[tuple[str, str]]:
    """Programs of a single primitive, which stand in the record around a step of their name."""
    return {
        (run, one.parent)
        for (run, _), one in seen.items()
        if one.parent is not None and one.place == one.name and (run, one.parent) in seen
    }


@dataclass(slots=True)
class _Seen:
    """One step, as far as events told of it."""

    name: str = ""
    kind: str = "node"
    parent: str | None = None
    place: str | None = None
    """Where in a program it stands."""
    began: bool = False
    status: str | None = None
    microseconds: float = 0.0
    tokens: tuple[int, int] = (0, 0)
    marks: set[str] = field(default_factory=set[str])


def _note(step: _Seen, event: Event) -> None:
    match event.kind:
        case "step.start":
            step.began, step.name, step.parent = True, event.name, event.parent
            step.kind = str(event.data.get("step", "node"))
            step.place = _place(event.data.get("meta"))
        case "step.end":
            step.status = event.status or "satisfied"
            step.microseconds = _number(event.data.get("microseconds"))
            usage = event.data.get("usage")
            step.tokens = _tokens(cast("object", usage))
        case "attempt" if event.status == "violated":
            step.marks.add("violated")
        case "decision":
            step.marks.add(event.name)
        case "note" if event.name == "cache hit":
            step.marks.add("cached")
        case _:
            return


def _place(meta: object) -> str | None:
    found = cast("Mapping[str, Any]", meta).get("place") if isinstance(meta, Mapping) else None
    return found if isinstance(found, str) else None


def _tokens(usage: object) -> tuple[int, int]:
    if not isinstance(usage, Mapping):
        return 0, 0
    told = cast("Mapping[str, Any]", usage)
    return int(_number(told.get("input_tokens"))), int(_number(told.get("output_tokens")))


def _number(value: object) -> float:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return cast("float", value) if number and value == value else 0.0


@dataclass(slots=True)
class _Sum:
    calls: int = 0
    counts: dict[str, int] = field(default_factory=dict[str, int])
    microseconds: float = 0.0
    input_tokens: int = 0
    output_tokens: int = 0

    def add(self, step: _Seen) -> None:
        self.calls += 1
        self.microseconds += step.microseconds
        for what in _of(step):
            self.counts[what] = self.counts.get(what, 0) + 1
        if step.kind == "model":
            self.add_tokens(step)

    def add_tokens(self, step: _Seen) -> None:
        self.input_tokens += step.tokens[0]
        self.output_tokens += step.tokens[1]

    def made(self, name: str, kind: str) -> StepStats:
        return StepStats(
            name=name,
            kind=kind,
            calls=self.calls,
            **self.counts,
            seconds=self.microseconds / 1e6,
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
        )


_ENDINGS: Mapping[str, str] = {
    "waived": "waived",
    "error": "failed",
    "violated": "halted",
    "blocked": "halted",
    "halted": "halted",
    "interrupted": "unfinished",
    "cancelled": "unfinished",
}


def _of(step: _Seen) -> set[str]:
    """What is counted of one call."""
    counted: set[str] = set()
    if "violated" in step.marks or step.status == "violated":
        counted.add("violated")
    for decision, what in (("retry", "retried"), ("fallback", "fell_back"), ("cached", "cached")):
        if decision in step.marks:
            counted.add(what)
    ending = "unfinished" if step.status is None else _ENDINGS.get(step.status)
    return counted if ending is None else {*counted, ending}


def _as_dict(one: StepStats) -> dict[str, Any]:
    from dataclasses import asdict

    return {**asdict(one), "mean_seconds": one.mean_seconds}
