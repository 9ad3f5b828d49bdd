"""Worked scenarios of the tool-calling kernel: turns, state, and what must come of them.

The program that a file names plays them: `hornbook.kernel.worked` makes it of tools.
"""

from typing import Any

from hornbook.verify.scenario import UNSET, Expectation, Scenario
from hornbook.verify.tables import Table

__all__ = ["EXPECTED", "read_kernel"]

EXPECTED = ("calls", "reports", "order", "decisions", "scratchpad")
"""What a scenario may expect; what it leaves out is not checked."""


def read_kernel(table: Table, name: str) -> Scenario:
    """Read the table of one scenario."""
    about = table.text("about") or ""
    turns = table.anything("turns", [], required=True)
    if not isinstance(turns, list) or not turns:
        table.wrong("turns", "is a list of turns, each with `say` and `tasks`")
    given: dict[str, Any] = {"turns": turns, "state": dict(table.mapping("state"))}
    expected: dict[str, Any] = {}
    expect = table.table("expect", "expect")
    if expect is not None:
        found = {what: expect.anything(what, UNSET) for what in EXPECTED}
        expected = {what: value for what, value in found.items() if value is not UNSET}
        expect.close()
    if not expected:
        table.wrong("expect", f"says nothing; it may say {', '.join(EXPECTED)}")
    return Scenario(
        name=name,
        about=about,
        program=table.text("program"),
        input={**given, "show": list(expected)},
        expect=Expectation(output=expected),
    )
