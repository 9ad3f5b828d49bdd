"""Running one scenario: sync and async alike, and against what it expects."""

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from hornbook.engine import Engine
from hornbook.program import Program
from hornbook.verify.comparing import Misread
from hornbook.verify.expecting import (
    checks_of,
    differing,
    static_place,
    unexpected_end,
    unknown_steps,
)
from hornbook.verify.replies import Replies
from hornbook.verify.scenario import Scenario
from hornbook.verify.subject import Subject, subject_of
from hornbook.verify.unknown import unknown_clause, unknown_fields
from hornbook.verify.values import Check, Played, ScenarioResult

if TYPE_CHECKING:
    from hornbook.budget import Budget

__all__ = ["expected_of", "play_scenario", "run_scenario"]


def play_scenario(
    program: Program,
    scenario: Scenario,
    *,
    engine: Engine | None = None,
    budget: "Budget | None" = None,
) -> ScenarioResult:
    """Run one scenario of a program, sync and async, and nothing else of `verify`.

    Args:
        program: the program.
        scenario: what to give it, what its models reply, and what must come of it.
        engine: how it is run.
        budget: what one run may spend.
    """
    subject = subject_of(program, engine=engine, budget=budget)
    return run_scenario(subject, scenario, Replies(scenario.replies))


def run_scenario(subject: Subject, scenario: Scenario, replies: Replies) -> ScenarioResult:
    """Run it, and hold what came of it against what is expected."""
    unknown = (
        unknown_steps(scenario.expect, subject.known)
        or _unknown_reply(subject, scenario)
        or unknown_fields(scenario.expect, subject.program.output, _outputs(subject))
    )
    if unknown:
        return ScenarioResult(scenario=scenario, played=None, problem=unknown)
    try:
        value: Any = subject.value_of(scenario)
    except Misread as error:
        problem = f"its input does not fit the program: {error}"
        return ScenarioResult(scenario=scenario, played=None, problem=problem)
    played, session = subject.first(scenario, value, replies)
    other, _ = subject.aplay(value, replies)
    problem = (
        "; ".join(session.problems)
        or unexpected_end(scenario.expect, played)
        or unknown_clause(scenario.expect, played, _clauses(subject, scenario))
        or session.left_over
        or differing(played, other)
    )
    checks = expected_of(subject, scenario, played)
    return ScenarioResult(scenario=scenario, played=played, checks=checks, problem=problem)


def expected_of(subject: Subject, scenario: Scenario, played: Played) -> tuple[Check, ...]:
    """What the scenario expects, against a run."""
    return checks_of(scenario.expect, played, subject.program.output, subject.outputs)


def _outputs(subject: Subject) -> dict[str, Any]:
    """Output types by place, and by the names that are those of one step."""
    named = Counter(step.name for step in subject.steps.values())
    alone = {
        step.name: subject.outputs[place]
        for place, step in subject.steps.items()
        if named[step.name] == 1
    }
    return {**alone, **subject.outputs}


def _clauses(subject: Subject, scenario: Scenario) -> Iterator[str]:
    """Names of the clauses that the step of an expected violation has, or all steps have."""
    wanted = scenario.expect.violation and scenario.expect.violation.step
    for place, step in subject.steps.items():
        if wanted is None or wanted == step.name or static_place(wanted) == place:
            yield from (one.name for one in step.contract.requires + step.contract.ensures)


def _unknown_reply(subject: Subject, scenario: Scenario) -> str:
    """A script that no model would speak is a mistake in the file."""
    neural = [step for step in subject.steps.values() if step.neural]
    places = [place for place, step in subject.steps.items() if step.neural]
    names = [*dict.fromkeys(step.name for step in neural), *places]
    for key in scenario.replies:
        if key not in names and static_place(key) not in names:
            known = ", ".join(dict.fromkeys(step.name for step in neural)) or "none"
            return f"'replies' has {key!r}, which is no neural step of the program; it has {known}"
    return ""
