"""How a halt stands in the answer of a tool, and how it is found there again.

A run that waits for a person may go on in another process, from text; then what its tools
were answered is all that tells of a halt in the same turn.
"""

import re

from hornbook.contracts.report import ContractReport, Violation

__all__ = ["halted_by", "written"]

_REPORT = re.compile(r"Halted: (?P<step>.+?): contract (?P<contract>['\"].*['\"]) violated")
_LINE = re.compile(
    r"  - (?P<clause>.+?)(?: at (?P<path>\S+))?: expected (?P<expected>.*?); got (?P<observed>.*)"
)


def written(report: ContractReport) -> str:
    """The answer of a tool whose call ended the turn."""
    return f"Halted: {report}"


def halted_by(answer: str, tool: str) -> ContractReport | None:
    """What halted, by the answer of a tool; None where it is any other answer."""
    first, *lines = answer.split("\n")
    found = _REPORT.match(first)
    if found is None or found["step"] != tool:
        return None
    return ContractReport(
        contract=found["contract"][1:-1],
        digest="",
        step=tool,
        ok=False,
        verdicts=(),
        violations=tuple(_violation(line) for line in lines if line.startswith("  - ")),
    )


def _violation(line: str) -> Violation:
    found = _LINE.fullmatch(line)
    if found is None:
        return Violation(clause=line.removeprefix("  - "), path=".", expected="", observed="")
    return Violation(
        clause=found["clause"],
        path=found["path"] or ".",
        expected=found["expected"],
        observed=found["observed"],
    )
