"""A verification as text for a terminal of 100 columns."""

import textwrap
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

from hornbook.verify.values import ClauseRow, ScenarioResult, StepAssurance

if TYPE_CHECKING:
    from hornbook.verify.verification import Verification

__all__ = ["BEYOND", "counted", "note_on", "text", "told_clauses", "trust_in"]

_WIDTH = 100
_COLUMNS = (("STEP", 25), ("PROPERTY", 40), ("ASSURANCE", 10), ("CAUGHT", 6), ("PASSED", 6))
_NOTE = 4 + _COLUMNS[0][1]
"""Where notes begin, below the property that they are about."""
_RIGHT = ("CAUGHT", "PASSED")
_UNNOTICED = 8
"""Mutants that are told one by one."""

BEYOND = "right beyond its contract"
"""The property that no clause states: that an output which meets its contract is right."""


def text(found: "Verification") -> str:
    """The whole report: verdict, assurance table, findings, scenarios that failed."""
    parts = [
        _verdict(found),
        _table(found.table),
        _unnoticed(found),
        _findings(found),
        _scenarios(found),
    ]
    return "\n\n".join("\n".join(lines) for lines in map(list, parts) if lines)


def counted(number: int, what: str) -> str:
    """As `1 step`, `2 steps`."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _verdict(found: "Verification") -> Iterator[str]:
    verdict = "ok" if found.ok else "FAILED"
    levels = [counted(n, level) for level in ("error", "warning") if (n := _level(found, level))]
    held, run = sum(one.ok for one in found.scenarios), len(found.scenarios)
    scenarios = f"{held} of {counted(run, 'scenario')} passed" if run else "no scenarios"
    yield from _wrapped(f"{found.program}: {verdict} ({', '.join([*levels, scenarios])})", "", "  ")
    yield from _wrapped(f"calls: {found.calls}", "  ", "    ")
    told = [one.message for one in found.findings if one.code in ("types", "bounds")]
    for message in told:
        yield from _wrapped(message, "  ", "    ")


def _level(found: "Verification", level: str) -> int:
    return sum(finding.level == level for finding in found.findings)


def _wrapped(line: str, first: str, rest: str) -> list[str]:
    return textwrap.wrap(line, _WIDTH, initial_indent=first, subsequent_indent=rest)


def _table(steps: Sequence[StepAssurance]) -> Iterator[str]:
    if not steps:
        return
    yield "ASSURANCE TABLE: what holds of each step's output, and how many wrong ones were caught"
    yield from _row([title for title, _ in _COLUMNS])
    for step in steps:
        for at, (*row, note) in enumerate(_rows(step)):
            yield from _row([_name(step) if at == 0 else "", *row])
            yield from _wrapped(note, " " * (_NOTE + 2), " " * (_NOTE + 2)) if note else ()


def _name(step: StepAssurance) -> str:
    return f"{step.step} ({step.kind})" if step.kind == "neural" else step.step


def _rows(step: StepAssurance) -> Iterator[list[str]]:
    for clause in told_clauses(step):
        caught, passed = (str(clause.caught), str(clause.passed)) if clause.tried else ("-", "-")
        yield [clause.clause, clause.assurance, caught, passed, note_on(clause)]
    tried = any(clause.tried for clause in step.clauses) or step.beyond > 0
    passed = str(step.beyond - step.beyond_caught) if tried else "-"
    measured = step.accuracy is not None or step.wrong_if_satisfied is not None
    assurance = "measured" if measured else "unchecked"
    yield [BEYOND, assurance, str(step.beyond_caught) if tried else "-", passed, trust_in(step)]


def told_clauses(step: StepAssurance) -> tuple[ClauseRow, ...]:
    """The clauses of a step, without those that say no more here than its type does."""
    return tuple(one for one in step.clauses if one.caught or not (one.derived and one.tried))


def note_on(clause: ClauseRow) -> str:
    """What else is to be said of a clause: how often it errs, or that nothing trips it."""
    idle = "idle: no mutant trips it" if clause.idle else ""
    return "; ".join(part for part in (clause.error, idle) if part)


def trust_in(step: StepAssurance) -> str:
    """How often the step was measured to be right, and wrong in spite of its contract."""
    told: list[str] = []
    if step.wrong_if_satisfied is not None:
        told.append(f"P(wrong | satisfied) {step.wrong_if_satisfied}")
    if step.accuracy is not None:
        needed = "" if step.required is None else f", {step.required:g} required"
        told.append(f"exact {step.accuracy}{needed}")
    elif step.required is not None:
        told.append(f"{step.required:g} required, not measured")
    if step.beyond_same:
        told.append(f"{step.beyond_same} of the passed change nothing")
    return "; ".join(told)


def _row(cells: Sequence[str]) -> Iterator[str]:
    wrapped = [
        textwrap.wrap(cell, width) or [""] for cell, (_, width) in zip(cells, _COLUMNS, strict=True)
    ]
    for line in zip_longest(*wrapped, fillvalue=""):
        padded = [
            part.rjust(width) if title in _RIGHT else part.ljust(width)
            for part, (title, width) in zip(line, _COLUMNS, strict=True)
        ]
        yield f"  {'  '.join(padded)}".rstrip()


def _unnoticed(found: "Verification") -> Iterator[str]:
    """The wrong outputs that reached the end: what no clause, step or scenario says."""
    passed = [one for one in found.mutants if one.fate == "passed"]
    if passed:
        yield "WRONG OUTPUTS THAT NOBODY NOTICED: a clause, or an expected output, would"
    for one in passed[:_UNNOTICED]:
        yield from _wrapped(f"{one.step}: {one.what} (in {one.scenario!r})", "  ", "    ")
    if len(passed) > _UNNOTICED:
        yield f"  and {len(passed) - _UNNOTICED} more; the JSON has all of them"


def _findings(found: "Verification") -> Iterator[str]:
    told = [one for one in found.findings if one.code not in ("types", "bounds", "scenario")]
    if told:
        yield "FINDINGS"
    for finding in told:
        where = f"{finding.level} at {finding.place} ({finding.code}): "
        yield from _wrapped(where + finding.message, "  ", "    ")


def _scenarios(found: "Verification") -> Iterator[str]:
    failed = [one for one in found.scenarios if not one.ok]
    if failed:
        yield "SCENARIOS THAT FAILED"
    for one in failed:
        yield from _wrapped(f"{one.scenario.name}{_where(one)}", "  ", "    ")
        for failure in one.failures:
            yield from _wrapped(failure, "    ", "      ")


def _where(one: ScenarioResult) -> str:
    scenario = one.scenario
    if scenario.file is None:
        return ""
    line = "" if scenario.line is None else f":{scenario.line}"
    return f" ({scenario.file}{line})"
