"""`verify`: everything that is known of a program before it is deployed, in one value."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from hornbook.contracts.members import type_name
from hornbook.program import Program
from hornbook.program.html import graph_of
from hornbook.verify.assuring import Calibrations, assurance_of, idle_clauses, not_run
from hornbook.verify.checking import Evaluated, findings_of
from hornbook.verify.files import read_scenarios, scenario_of
from hornbook.verify.mutants import Maker
from hornbook.verify.mutating import mutate
from hornbook.verify.replies import Replies
from hornbook.verify.running import run_scenario
from hornbook.verify.scenario import Scenario
from hornbook.verify.subject import Subject, subject_of
from hornbook.verify.values import Finding, MutantResult, ScenarioResult, StepAssurance
from hornbook.verify.verification import Verification

if TYPE_CHECKING:
    from hornbook.budget import Budget
    from hornbook.engine import Engine

__all__ = ["Scenarios", "averify", "verify"]

One: TypeAlias = str | Path | Scenario | Mapping[str, Any]
Scenarios: TypeAlias = One | Iterable[One]
"""Scenarios as values or as data of the form of files, or the files and folders that hold them."""

_MUTANTS = 60
"""Mutants of one step in one scenario."""


def verify(
    program: Program,
    scenarios: Scenarios = (),
    *,
    evaluations: Mapping[str, Evaluated] | None = None,
    calibrations: Calibrations = None,
    mutants: Mapping[str, Maker | Sequence[Maker]] | None = None,
    mutants_per_step: int = _MUTANTS,
    strict: bool = False,
    engine: "Engine | None" = None,
    budget: "Budget | None" = None,
    trace: str | Path | None = None,
) -> Verification:
    """Check a program as it is written, run its scenarios, and try its contracts with mutants.

    Each scenario is run sync and async, which must come to the same; then again for each
    mutant of each step's output. A model is asked at most once for each reply: what a scenario
    does not script is asked in the first run and repeated in the others. Judges are asked for
    each mutant of what they judge.

    Args:
        program: the program.
        scenarios: worked scenarios, or the files and folders that hold them.
        evaluations: by name of a primitive, how often it was measured to be right: anything
            with a `Rate` called `exact`, as `hornbook.evaluation` gives.
        calibrations: of measured clauses: by the clause's name, or by `contract.clause`, or
            `hornbook.judges.Calibrations.read()`.
        mutants: by name of a primitive, functions of its right output and its inputs that give
            wrong outputs, where you know better what goes wrong.
        mutants_per_step: how many mutants of one step are tried in one scenario; 0 for none.
        strict: warnings fail the verification too.
        engine: how the program is run.
        budget: what one run may spend.
        trace: a folder, where the first run of each scenario is recorded.

    Raises:
        ScenarioError: a scenario file is not well formed.
    """
    subject = subject_of(program, engine=engine, budget=budget, trace=trace)
    makers = {name: _makers(given) for name, given in (mutants or {}).items()}
    results: list[ScenarioResult] = []
    tried: list[MutantResult] = []
    cut: list[Finding] = []
    for scenario in _scenarios(scenarios):
        replies = Replies(scenario.replies)
        result = run_scenario(subject, scenario, replies)
        results.append(result)
        made, too_many = mutate(subject, result, replies, makers=makers, at_most=mutants_per_step)
        tried += made
        cut += too_many
    measured = evaluations or {}
    table = assurance_of(subject, tried, evaluations=measured, calibrations=calibrations)
    findings = [
        *findings_of(program, measured),
        *_over_bound(program, results),
        *idle_clauses(table),
        *(not_run(subject, tried) if results and mutants_per_step and _passed(results) else ()),
        *cut,
    ]
    return _verification(subject, results, tried, table, findings, strict)


async def averify(
    program: Program,
    scenarios: Scenarios = (),
    *,
    evaluations: Mapping[str, Evaluated] | None = None,
    calibrations: Calibrations = None,
    mutants: Mapping[str, Maker | Sequence[Maker]] | None = None,
    mutants_per_step: int = _MUTANTS,
    strict: bool = False,
    engine: "Engine | None" = None,
    budget: "Budget | None" = None,
    trace: str | Path | None = None,
) -> Verification:
    """The async twin of `verify`; it works in a thread, so that the loop goes on."""
    import asyncio

    return await asyncio.to_thread(
        verify,
        program,
        scenarios,
        evaluations=evaluations,
        calibrations=calibrations,
        mutants=mutants,
        mutants_per_step=mutants_per_step,
        strict=strict,
        engine=engine,
        budget=budget,
        trace=trace,
    )


def _passed(results: Sequence[ScenarioResult]) -> bool:
    return all(one.ok for one in results)


def _makers(given: Maker | Sequence[Maker]) -> Sequence[Maker]:
    return [given] if callable(given) else given


def _scenarios(given: Scenarios) -> list[Scenario]:
    alone = isinstance(given, str | Path | Scenario | Mapping)
    found: list[Scenario] = []
    for one in [cast("One", given)] if alone else given:
        match one:
            case Scenario():
                found.append(one)
            case Mapping():
                found.append(scenario_of(one))
            case _:
                found += read_scenarios(one)
    return found


def _verification(
    subject: Subject,
    results: Sequence[ScenarioResult],
    tried: Sequence[MutantResult],
    table: tuple[StepAssurance, ...],
    findings: Sequence[Finding],
    strict: bool,
) -> Verification:
    program = subject.program
    return Verification(
        program=program.name,
        digest=program.digest,
        takes=type_name(program.input),
        gives=type_name(program.output),
        calls=str(program.max_calls()),
        findings=tuple(sorted(findings, key=_worst_first)),
        scenarios=tuple(results),
        mutants=tuple(tried),
        table=table,
        strict=strict,
        graph=graph_of(program),
    )


def _worst_first(finding: Finding) -> int:
    return ("error", "warning", "info").index(finding.level)


def _over_bound(program: Program, results: Sequence[ScenarioResult]) -> list[Finding]:
    """The static bound, held against every run: it is never exceeded."""
    bound = program.max_calls().total
    over = [one for one in results if one.played is not None and one.played.calls > bound]
    return [
        Finding(
            level="error",
            code="calls",
            place=program.name,
            message=f"scenario {one.scenario.name!r} made {one.played.calls} calls, and the bound "
            f"is {bound}: a model makes calls of its own",
        )
        for one in over
        if one.played is not None
    ]
