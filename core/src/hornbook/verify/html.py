"""A verification as one static HTML page, made of the panels of `hornbook.report`."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from hornbook.contracts.shown import shown
from hornbook.report import (
    AssuranceRow,
    CheckRow,
    Count,
    FindingRow,
    GraphNode,
    ScenarioRow,
    StepRow,
    Verdict,
    ViolationRow,
    verification_page,
)
from hornbook.verify.expecting import raised, static_place
from hornbook.verify.texts import BEYOND, counted, note_on, told_clauses, trust_in
from hornbook.verify.values import Played, ScenarioResult, StepAssurance, StepSeen

if TYPE_CHECKING:
    from hornbook.verify.verification import Verification

__all__ = ["html"]

_UNSEEN = 3
"""Mutants of one step that are told one by one."""


def html(found: "Verification") -> str:
    """The whole page: verdict, findings, assurance table, scenarios, the program itself."""
    return verification_page(
        found.program,
        _verdict(found),
        subtitle="Design-time verification",
        findings=[
            FindingRow(level=one.level, place=one.place, message=one.message, code=one.code)
            for one in found.findings
        ],
        assurance=[row for step in found.table for row in _assurance(step, _unseen(found, step))],
        scenarios=[_scenario(one) for one in found.scenarios],
        graph=None if found.graph is None else _toned(found.graph, _worst(found)),
        takes=found.takes,
        gives=found.gives,
    )


def _verdict(found: "Verification") -> Verdict:
    failed = sum(not one.ok for one in found.scenarios)
    errors = sum(map(found.fails, found.findings))
    warnings = sum(one.level == "warning" for one in found.findings)
    unseen = sum(step.beyond - step.beyond_caught for step in found.table)
    caught = len(found.mutants) - unseen
    held = len(found.scenarios) - failed
    told = [counted(errors, "finding")] * (errors > 0) + [counted(failed, "scenario")] * (
        failed > 0
    )
    headline = (
        "Every check and every scenario holds" if found.ok else f"{' and '.join(told)} failed"
    )
    return Verdict(
        ok=found.ok,
        headline=headline,
        counts=(
            Count(label="scenarios passed", value=held, tone="plain"),
            Count(label="scenarios failed", value=failed, tone="error" if failed else "plain"),
            Count(label="errors", value=errors, tone="error" if errors else "plain"),
            Count(label="warnings", value=warnings, tone="warning" if warnings else "plain"),
            Count(label="mutants caught", value=caught),
            Count(label="mutants unseen", value=unseen),
        ),
        facts={"Program": found.program, "Digest": found.digest, "Calls": found.calls},
    )


def _unseen(found: "Verification", step: StepAssurance) -> str:
    """Some of the step's wrong outputs that nobody noticed."""
    passed = [
        one.what
        for one in found.mutants
        if one.fate == "passed" and static_place(one.place) == step.place
    ]
    return f"nobody noticed {'; '.join(dict.fromkeys(passed[:_UNSEEN]))}" if passed else ""


def _assurance(step: StepAssurance, unseen: str) -> Iterator[AssuranceRow]:
    for clause in told_clauses(step):
        rate = clause.false_accept
        yield AssuranceRow(
            step=step.place,
            property=f"{step.step}: {clause.clause}",
            assurance=clause.assurance,
            error=None if rate is None else rate.value,
            interval=None if rate is None else (rate.low, rate.high),
            caught=clause.caught if clause.tried else None,
            passed=clause.passed if clause.tried else None,
            note=note_on(clause),
        )
    tried = any(clause.tried for clause in step.clauses) or step.beyond > 0
    rate = step.wrong_if_satisfied
    yield AssuranceRow(
        step=step.place,
        property=f"{step.step}: {BEYOND}",
        assurance="unchecked" if rate is None and step.accuracy is None else "measured",
        error=None if rate is None else rate.value,
        interval=None if rate is None else (rate.low, rate.high),
        caught=step.beyond_caught if tried else None,
        passed=step.beyond - step.beyond_caught if tried else None,
        note="; ".join(part for part in (trust_in(step), unseen) if part),
    )


def _scenario(result: ScenarioResult) -> ScenarioRow:
    scenario, played = result.scenario, result.played
    failures = result.failures
    where = "" if scenario.line is None else f":{scenario.line}"
    detail = {"Input": shown(scenario.input)}
    if scenario.file is not None:
        detail["File"] = f"{scenario.file}{where}"
    if scenario.about:
        detail["About"] = scenario.about
    if played is not None and played.error is not None:
        detail["Raised"] = raised(played.error)
    return ScenarioRow(
        name=scenario.name,
        status="error" if played is None else "passed" if result.ok else "failed",
        seconds=None if played is None else played.microseconds / 1e6,
        message=failures[0] if failures else "",
        checks=tuple(
            CheckRow(what=one.what, expected=one.expected, seen=one.seen, ok=one.ok)
            for one in result.checks
        ),
        violations=() if played is None else tuple(_violations(played)),
        steps=() if played is None else tuple(map(_step, played.steps)),
        detail=detail,
    )


def _violations(played: Played) -> Iterator[ViolationRow]:
    for one in played.violations:
        yield ViolationRow(step=static_place(one.place), clause=one.clause, message=one.told)


def _step(step: StepSeen) -> StepRow:
    return StepRow(
        place=step.place,
        status=step.status,
        depth=step.depth,
        attempts=step.attempts,
        seconds=step.microseconds / 1e6,
        note=shown(step.output),
        tone="plain" if step.status == "satisfied" else "warning",
    )


def _worst(found: "Verification") -> dict[str, str]:
    """By place, the level of the worst finding there."""
    return {one.place: one.level for one in reversed(found.findings) if one.level != "info"}


def _toned(node: GraphNode, worst: dict[str, str]) -> GraphNode:
    children = tuple(_toned(child, worst) for child in node.children)
    if node.id not in worst:
        return replace(node, children=children)
    tone = "error" if worst[node.id] == "error" else "warning"
    return replace(node, children=children, tone=tone)
