"""The program under verification: with replying models, and what is known of each step."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from hornbook.engine import Engine
from hornbook.program import Primitive, Program
from hornbook.verify.checking import primitive_at
from hornbook.verify.comparing import Misread, read_as
from hornbook.verify.expecting import static_place
from hornbook.verify.playing import aplay, play
from hornbook.verify.rebuilding import with_replying_models
from hornbook.verify.replies import Mode, Replies, ReplyingModel, Session
from hornbook.verify.scenario import Scenario
from hornbook.verify.values import Played

if TYPE_CHECKING:
    from pathlib import Path

    from hornbook.budget import Budget

__all__ = ["Subject", "subject_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A program that can be run on scenarios."""

    program: Program
    """As it was given."""
    replying: Program
    """With a `ReplyingModel` in place of each model."""
    models: tuple[ReplyingModel, ...]
    engine: Engine
    budget: "Budget | None"
    """For one run."""
    trace: "str | Path | None"
    """Where the first run of each scenario is recorded; None for nowhere."""
    steps: Mapping[str, Primitive[..., Any]]
    """By place, in order of declaration."""
    outputs: Mapping[str, Any]
    """By place: the type of what the step gives there."""

    @property
    def known(self) -> tuple[str, ...]:
        """What a scenario may call a step: its name, or its place."""
        names = dict.fromkeys(step.name for step in self.steps.values())
        return (*names, *self.steps)

    def step_at(self, place: str) -> Primitive[..., Any] | None:
        """The primitive at the place of a run, whatever round it is."""
        return self.steps.get(static_place(place))

    def value_of(self, scenario: Scenario) -> Any:
        """The scenario's input, as the program takes it.

        Raises:
            Misread: it is not of the program's input type.
        """
        try:
            return read_as(scenario.input, self.program.input)
        except Misread:
            raise
        # A type that cannot be read from data: the data itself must do.
        except Exception:  # noqa: BLE001
            return scenario.input

    def first(self, scenario: Scenario, value: Any, replies: Replies) -> tuple[Played, Session]:
        """Run it for the first time on a scenario."""
        session = self._begun(replies, "first")
        tags = {"program": self.program.name, "scenario": scenario.name}
        played = play(
            self.replying,
            value,
            engine=self.engine,
            budget=self.budget,
            trace=self.trace,
            tags=tags,
        )
        return played, session

    def mutated(
        self, value: Any, replies: Replies, substitutes: Mapping[str, Any]
    ) -> tuple[Played, Session]:
        """Run it with other values in place of what steps give."""
        session = self._begun(replies, "mutated")
        given = {**self.engine.substitutes, **substitutes}
        engine = replace(self.engine, substitutes=given)
        return play(self.replying, value, engine=engine, budget=self.budget), session

    def aplay(self, value: Any, replies: Replies) -> tuple[Played, Session]:
        """Run it once from async code."""
        session = self._begun(replies, "again")
        return aplay(self.replying, value, engine=self.engine, budget=self.budget), session

    def _begun(self, replies: Replies, mode: Mode) -> Session:
        session = replies.begin(mode)
        for model in self.models:
            model.session = session
        return session


def subject_of(
    program: Program,
    *,
    engine: Engine | None,
    budget: "Budget | None",
    trace: "str | Path | None" = None,
) -> Subject:
    """What is needed to run a program on scenarios."""
    replying, models = with_replying_models(program)
    placed = {one.place: one for one in program.walk()}
    found = {place: primitive_at(one) for place, one in placed.items()}
    steps = {place: step for place, step in found.items() if step is not None}
    return Subject(
        program=program,
        replying=replying,
        models=models,
        engine=engine or Engine(),
        budget=budget,
        trace=trace,
        steps=steps,
        outputs={place: placed[place].output for place in steps},
    )
