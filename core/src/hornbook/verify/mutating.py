"""Replacing each step's output by mutants, and seeing who notices."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from hornbook.canon import digest
from hornbook.contracts.report import ContractViolation
from hornbook.models import Completion
from hornbook.program import Primitive
from hornbook.verify.errors import ScenarioError
from hornbook.verify.expecting import raised
from hornbook.verify.mutants import Maker, Mutant, chosen, mutants_of
from hornbook.verify.replies import Replies, Session
from hornbook.verify.running import expected_of
from hornbook.verify.scenario import Expectation
from hornbook.verify.subject import Subject
from hornbook.verify.values import (
    Fate,
    Finding,
    MutantResult,
    Played,
    ScenarioResult,
    StepSeen,
)

__all__ = ["mutate"]


def mutate(
    subject: Subject,
    result: ScenarioResult,
    replies: Replies,
    *,
    makers: Mapping[str, Sequence[Maker]],
    at_most: int,
) -> tuple[list[MutantResult], list[Finding]]:
    """What became of the mutants of every step that a scenario ran, and which had too many.

    Args:
        subject: the program.
        result: how the scenario went without mutants.
        replies: its replies.
        makers: by name of the step, hooks that make further mutants.
        at_most: mutants of one step in one scenario; the rest is left out.
    """
    tried: list[MutantResult] = []
    cut: list[Finding] = []
    # Where the scenario fails without a mutant, its expectations tell nothing of one.
    for step in result.played.steps if result.ok and result.played is not None else ():
        primitive = subject.step_at(step.place)
        if primitive is None or step.status not in ("satisfied", "recovered", "waived"):
            continue
        made = mutants_of(
            step.output,
            output=primitive.output,
            clauses=primitive.contract.ensures,
            inputs=step.inputs,
            makers=[*makers.get(primitive.name, ()), *unreadable(primitive)],
        )
        trial = _Trial(subject, result, primitive, step, replies)
        tried += map(trial.result, chosen(made, at_most))
        if 0 < at_most < len(made):
            cut.append(_cut(result, step, at_most, len(made)))
    return tried, cut


def unreadable(primitive: Primitive[..., Any]) -> list[Maker]:
    """Prose in place of what a model was asked for, as the step reads it."""
    read = primitive.work.read
    if read is None:
        return []
    prose = Completion(text="Sure, here it is:", problem="not JSON: prose")
    return [lambda value, inputs: [read(prose)]]


def _cut(result: ScenarioResult, step: StepSeen, at_most: int, made: int) -> Finding:
    message = (
        f"{at_most} of {made} mutants of {step.name!r} were tried in scenario "
        f"{result.scenario.name!r}; raise mutants_per_step for all of them"
    )
    return Finding(level="info", code="mutants-cut", place=step.place, message=message)


class _Trial:
    """The mutants of one step in one scenario."""

    def __init__(
        self,
        subject: Subject,
        result: ScenarioResult,
        primitive: Primitive[..., Any],
        step: StepSeen,
        replies: Replies,
    ) -> None:
        scenario, base = result.scenario, result.played
        assert base is not None
        self._subject = subject
        self._scenario = scenario.name
        self._expected = replace(scenario, expect=_of_values(scenario.expect, base))
        self._primitive = primitive
        self._step = step
        self._base = base
        self._value = subject.value_of(scenario)
        self._replies = replies
        self._ended: dict[tuple[str, ...], str] = {}

    def result(self, mutant: Mutant) -> MutantResult:
        """What comes of the mutant in place of the step's output."""
        tripped = self._tripped(mutant)
        fate, by = self._refused(mutant, tripped) if tripped else self._followed(mutant)
        aims = mutant.aims
        if aims == "output" and aims not in tripped:
            # The type allows it, so that it is no more than a wrong value.
            aims = None
        return MutantResult(
            scenario=self._scenario,
            place=self._step.place,
            step=self._step.name,
            what=mutant.what,
            aims=aims,
            tripped=tripped,
            fate=fate,
            by=by,
        )

    def _refused(self, mutant: Mutant, tripped: tuple[str, ...]) -> tuple[Fate, str]:
        """What comes of a value that the step's own contract refuses.

        Values that violate the same clauses go the same way through the recovery, so that one
        of them is run and tells of all.
        """
        if tripped not in self._ended:
            played, _ = self._run(mutant)
            self._ended[tripped] = _own_contract(tripped, played)
        return "contract", self._ended[tripped]

    def _followed(self, mutant: Mutant) -> tuple[Fate, str]:
        played, session = self._run(mutant)
        return self._fate(played, session.problems)

    def _run(self, mutant: Mutant) -> tuple[Played, Session]:
        substitutes = {self._step.place: mutant.value}
        return self._subject.mutated(self._value, self._replies, substitutes)

    def _tripped(self, mutant: Mutant) -> tuple[str, ...]:
        report = self._primitive.contract.check(mutant.value, self._step.inputs)
        return tuple(one.clause for one in report.verdicts if one.failed)

    def _fate(self, played: Played, problems: Sequence[str]) -> tuple[Fate, str]:
        if problems or isinstance(played.error, ScenarioError):
            return "passed", "passed; then a model was asked that the scenario has no reply for"
        if played.error is not None:
            return "later", _raised(played)
        new = self._new_violation(played)
        if new:
            return "later", new
        expected = expected_of(self._subject, self._expected, played)
        failing = [check for check in expected if not check.ok]
        if failing:
            return "expected", f"caught by the expected {failing[0].what}"
        if digest(played.output) == digest(self._base.output):
            return "same", "passed, and changes nothing that the program gives"
        return "passed", "passed"

    def _new_violation(self, played: Played) -> str:
        """A later step that refused what it was given or gave, and recovered."""
        before = {(one.place, one.clause) for one in self._base.violations}
        for one in played.violations:
            if (one.place, one.clause) not in before and one.place != self._step.place:
                return f"caught at step {one.step} ({one.clause}), which recovered"
        return ""


def _of_values(expect: Expectation, base: Played) -> Expectation:
    """What is expected of values: a mutant that stands in place of a step changes how it went."""
    steps = {name: replace(step, status=None, attempts=None) for name, step in expect.steps.items()}
    status = expect.status if base.error is not None else None
    return replace(expect, status=status, violation=None, calls=None, steps=steps)


def _own_contract(tripped: Sequence[str], played: Played) -> str:
    """Caught by the step's own contract, and what its recovery made of that."""
    ended = "" if played.error is not None else f", which was {played.status}"
    return f"caught by its contract ({_clauses(tripped)}){ended}"


def _raised(played: Played) -> str:
    error = played.error
    assert error is not None
    if isinstance(error, ContractViolation):
        report = error.report
        return (
            f"caught at step {report.step} ({_clauses([one.clause for one in report.violations])})"
        )
    failed = [step for step in played.steps if step.status == "error"]
    at = f" at step {failed[-1].name}" if failed else ""
    return f"caught by an exception{at}: {raised(error)[:120]}"


def _clauses(names: Sequence[str]) -> str:
    return ", ".join(dict.fromkeys(names))
