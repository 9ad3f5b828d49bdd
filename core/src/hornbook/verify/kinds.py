"""The kinds of scenario that can stand in a file, by name.

A kind reads one table of a file into a `Scenario`: what runs a program, and what plays turns
through the tool-calling kernel.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from hornbook.verify.kernel_kind import read_kernel
from hornbook.verify.scenario import (
    RUN_STATUSES,
    UNSET,
    Expectation,
    ExpectedStep,
    ExpectedViolation,
    Scenario,
)
from hornbook.verify.tables import Table

__all__ = ["KINDS", "Reader"]

Reader: TypeAlias = Callable[[Table, str], Scenario]
"""Given a scenario's table and its name; problems are told to the table."""


def _program(table: Table, name: str) -> Scenario:
    return Scenario(
        name=name,
        about=table.text("about") or "",
        program=table.text("program"),
        input=table.anything("input", None, required=True),
        replies=_replies(table),
        expect=_expectation(table),
    )


def _replies(table: Table) -> Mapping[str, Any]:
    replies = table.mapping("replies")
    for primitive, given in replies.items():
        if not isinstance(given, str | dict | list) or given == []:
            what = "is a text, a table (replied as JSON), or a list of them, one a call"
            table.wrong("replies", f"of {primitive!r} {what}")
    return replies


def _expectation(table: Table) -> Expectation:
    expect = table.table("expect", "expect")
    if expect is None:
        return Expectation()
    made = Expectation(
        output=expect.anything("output", UNSET),
        status=expect.choice("status", RUN_STATUSES),
        violation=_violation(expect),
        steps=_steps(expect),
        calls=expect.count("calls"),
    )
    expect.close()
    return made


def _violation(expect: Table) -> ExpectedViolation | None:
    table = expect.table("violation", "violation")
    if table is None:
        return None
    made = ExpectedViolation(step=table.text("step"), clause=table.text("clause"))
    table.close()
    return made


def _steps(expect: Table) -> Mapping[str, ExpectedStep]:
    found: dict[str, ExpectedStep] = {}
    steps = expect.table("steps")
    if steps is None:
        return found
    for step in steps.names:
        table = steps.table(step, f"step {step!r}")
        if table is None:
            continue
        found[step] = ExpectedStep(
            output=table.anything("output", UNSET),
            status=table.choice("status", RUN_STATUSES),
            attempts=table.count("attempts"),
            ran=table.flag("ran"),
        )
        table.close()
    return found


KINDS: Mapping[str, Reader] = {"program": _program, "kernel": read_kernel}
"""By the name that a file or a scenario gives as `kind`; `program` where it gives none."""
