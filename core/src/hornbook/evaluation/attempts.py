"""The attempts of a neural primitive that a record holds, with the messages of each.

An attempt is a model step of the primitive's name right below a step of its name. Whether it
satisfied its contract is told by what the record says after it: pure on events.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from hornbook.trace.events import Event

__all__ = ["Recorded", "Steps", "attempts_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """One attempt, as recorded."""

    run: str
    step: str
    """Id of the primitive's step."""
    scenario: str
    """The run's tag `scenario`; without one, the run's id."""
    inputs: Any
    """Of the primitive, in the record's plain form."""
    messages: tuple[Mapping[str, str], ...]
    text: str
    """What the model answered."""
    model: str
    satisfied: bool
    held: bool = True
    """Whether it was held to its contract: an engine may be told not to."""


@dataclass(slots=True, kw_only=True)
class Steps:
    """What was counted on the way."""

    steps: int = 0
    """Steps of the primitive."""
    without_model: int = 0
    """Steps in which no model was asked: answered from a cache, or stopped before."""
    unfinished: int = 0
    """Steps whose end is not recorded: their last attempt counts as not satisfied."""


def attempts_of(
    events: Iterable[Event], primitive: str, counted: Steps | None = None
) -> Iterator[Recorded]:
    """Every attempt of a primitive, run by run.

    Args:
        events: those of a run stand in their order; runs follow one another.
        primitive: its name.
        counted: filled in on the way.
    """
    counted = Steps() if counted is None else counted
    runs: dict[str, _Run] = {}
    for event in events:
        run = runs.setdefault(event.run, _Run(id=event.run))
        yield from run.hear(event, primitive, counted)
    for run in runs.values():
        yield from run.close(counted)


@dataclass(slots=True, kw_only=True)
class _Asked:
    """A model step: what was asked, and what came."""

    parent: str
    messages: tuple[Mapping[str, str], ...]
    model: str
    text: str | None = None


@dataclass(slots=True, kw_only=True)
class _Open:
    """A step of the primitive that has not ended."""

    id: str
    inputs: Any
    program: bool
    """Whether it may be the program that only wraps the primitive."""
    asked: list[_Asked] = field(default_factory=list[_Asked])
    satisfied: _Asked | None = None
    other: bool = False
    """Whether a fallback or a hook has taken over, so that no model call is an attempt."""
    held: bool = True
    told: bool = False
    """Whether the record speaks of attempts one by one."""


@dataclass(slots=True, kw_only=True)
class _Run:
    id: str
    scenario: str = ""
    open: dict[str, _Open] = field(default_factory=dict[str, _Open])
    asking: dict[str, _Asked] = field(default_factory=dict[str, _Asked])

    def hear(self, event: Event, primitive: str, counted: Steps) -> Iterator[Recorded]:
        match event.kind:
            case "run.start":
                self.scenario = _scenario(event) or event.run
            case "step.start" if event.name == primitive:
                self._begin(event)
            case "step.end" if event.id in self.asking:
                self.asking.pop(event.id).text = _text(event)
            case "attempt" | "decision" if event.id in self.open:
                _hear(self.open[event.id], event)
            case "step.end" if event.id in self.open:
                yield from self._end(self.open.pop(event.id), event.status, counted)
            case _:
                return

    def _begin(self, event: Event) -> None:
        parent = self.open.get(event.parent or "")
        if event.data.get("step") != "model":
            meta = _mapping(event.data.get("meta"))
            self.open[event.id] = _Open(
                id=event.id,
                inputs=event.data.get("inputs"),
                program=meta.get("place") is None,
                held=meta.get("contract") != "not held",
            )
        elif parent is not None and not parent.other:
            asked = _asked(event, parent.id)
            self.asking[event.id] = asked
            parent.asked.append(asked)

    def _end(self, step: _Open, status: str | None, counted: Steps) -> Iterator[Recorded]:
        if not step.asked:
            # A primitive that is run as a program stands in the record twice.
            if not step.program:
                counted.steps += 1
                counted.without_model += 1
            return
        counted.steps += 1
        if not step.told and not step.other and status == "satisfied":
            step.satisfied = step.asked[-1]
        for asked in step.asked:
            if asked.text is not None:
                yield self._recorded(step, asked)

    def _recorded(self, step: _Open, asked: _Asked) -> Recorded:
        return Recorded(
            run=self.id,
            step=step.id,
            scenario=self.scenario or self.id,
            inputs=step.inputs,
            messages=asked.messages,
            text=asked.text or "",
            model=asked.model,
            satisfied=asked is step.satisfied,
            held=step.held,
        )

    def close(self, counted: Steps) -> Iterator[Recorded]:
        """The steps that the record leaves open."""
        for step in self.open.values():
            if step.asked:
                counted.unfinished += 1
                yield from self._end(step, None, counted)


def _hear(step: _Open, event: Event) -> None:
    if event.kind == "decision":
        step.other = step.other or event.name in ("fallback", "substitute")
        return
    step.told = True
    if event.status == "satisfied" and step.asked and not step.other:
        step.satisfied = step.asked[-1]


def _scenario(event: Event) -> str:
    tag = _mapping(event.data.get("tags")).get("scenario")
    return tag if isinstance(tag, str) else ""


def _asked(event: Event, parent: str) -> _Asked:
    given = _mapping(event.data.get("inputs")).get("messages")
    listed = cast("Sequence[Any]", given) if isinstance(given, list) else ()
    messages = tuple(
        {"role": str(one["role"]), "content": str(one["content"])}
        for one in map(_mapping, listed)
        if "role" in one and "content" in one
    )
    model = _mapping(event.data.get("meta")).get("model")
    return _Asked(parent=parent, messages=messages, model=str(model or ""))


def _text(event: Event) -> str | None:
    output = event.data.get("output")
    return output if isinstance(output, str) else None


def _mapping(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
