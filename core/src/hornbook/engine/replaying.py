"""Deterministic replay: the models of a program answer from a record, and drift is an error."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hornbook import canon
from hornbook.trace.events import Event
from hornbook.trace.frame import OPERATION, RUN, Frame
from hornbook.trace.reader import read

if TYPE_CHECKING:
    from hornbook.models import Model
    from hornbook.trace.runs import Run

__all__ = ["Replay"]

_SHOWN = 120


class Replay:
    """One replay of one record."""

    def __init__(self, record: "str | Path | Run | Sequence[Event]") -> None:
        from hornbook.models import recorded

        self._events = tuple(_events(record))
        self._recorded = recorded(self._events)
        self._models: dict[int, tuple[Model, Model]] = {}

    def in_place_of(self, model: "Model") -> "Model":
        """What answers from the record in place of a model."""
        if id(model) not in self._models:
            # The model is held as well, so that its id stays its own.
            self._models[id(model)] = model, self._recorded.standing_for(model)
        return self._models[id(model)][1]

    def check(self, frame: Frame) -> None:
        """Hold the steps under `frame`, which is the program's, to those of the record.

        Raises:
            ReplayError: a step was not taken then, or not now, or gave something else.
        """
        run: Run = frame[RUN]
        now = _by_place(run.events, run.log.step_id(frame))
        then = _by_place(self._events, None)
        for place, steps in now.items():
            for at, step in enumerate(steps):
                known = then.get(place, [])
                _compare(place, step, known[at] if at < len(known) else None)
        if _runs_of(frame[OPERATION].name, self._events) == 1:
            for place, steps in then.items():
                if len(now.get(place, [])) < len(steps):
                    _refuse_missing(place, steps[-1])


def _events(record: "str | Path | Run | Sequence[Event]") -> Iterable[Event]:
    from hornbook.trace.runs import Run

    if isinstance(record, Run):
        record = record.path or record.events
    return read(record) if isinstance(record, str | Path) else record


def _runs_of(program: str, events: Iterable[Event]) -> int:
    """How often a record holds the program: its step is the one that has no place."""
    steps = (one for one in events if one.kind == "step.start" and one.name == program)
    return sum("place" not in (one.data.get("meta") or {}) for one in steps)


class _Ended:
    """What the record says of one step."""

    def __init__(self, name: str, status: str | None, output: Any) -> None:
        self.name = name
        self.told = f"{status}: {canon.dumps(output).decode()}"


def _by_place(events: Iterable[Event], root: str | None) -> dict[str, list[_Ended]]:
    """The steps that have a place and have ended, in the order in which they began."""
    places: dict[str, str] = {}
    inside = {root}
    ended: dict[str, _Ended] = {}
    for event in events:
        if event.kind == "step.start":
            if root is None or event.parent in inside:
                inside.add(event.id)
                meta: Mapping[str, Any] = event.data.get("meta") or {}
                if isinstance(meta.get("place"), str):
                    places[event.id] = meta["place"]
        elif event.kind == "step.end" and event.id in places:
            ended[event.id] = _Ended(event.name, event.status, event.data.get("output"))
    found: dict[str, list[_Ended]] = {}
    for step, place in places.items():
        if step in ended:
            found.setdefault(place, []).append(ended[step])
    return found


def _compare(place: str, now: _Ended, then: _Ended | None) -> None:
    from hornbook.models import ReplayError

    if then is None:
        raise ReplayError(
            f"step {now.name!r} at {place} was taken now, and the record has no such step: the "
            f"program or its input has changed since it was recorded",
            step=now.name,
        )
    if now.told != then.told:
        raise ReplayError(
            f"step {now.name!r} at {place} gave {now.told:.{_SHOWN}} now, and the record has "
            f"{then.told:.{_SHOWN}}: its code has changed, or it is not deterministic",
            step=now.name,
        )


def _refuse_missing(place: str, then: _Ended) -> None:
    from hornbook.models import ReplayError

    raise ReplayError(
        f"step {then.name!r} at {place} is in the record and was not taken now: the program or "
        f"its input has changed since it was recorded",
        step=then.name,
    )
