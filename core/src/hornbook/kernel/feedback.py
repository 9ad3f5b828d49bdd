"""A refused call as the error text that goes back to the model: short, and to be acted on."""

from collections.abc import Mapping
from typing import Any, cast

from hornbook.contracts import ContractReport, Violation

__all__ = ["MAX_FEEDBACK", "feedback"]

MAX_FEEDBACK = 2_000
"""Characters, whatever is wrong: a retry never grows the prompt without end."""

_SHOWN = 5
_MAX_LINE = 340
_MAX_SOURCES = 6


def feedback(report: ContractReport) -> str:
    """Return what was wrong, where, what is expected, and what to do; empty when all is well."""
    if report.ok:
        return ""
    lines = [f"The call of {_flat(report.step, 80)!r} was not made. Correct it and call again:"]
    lines += [f"- {_flat(_line(violation), _MAX_LINE)}" for violation in report.violations[:_SHOWN]]
    if len(report.violations) > _SHOWN:
        lines.append(f"- and {len(report.violations) - _SHOWN} more problems")
    return "\n".join(lines)


def _line(violation: Violation) -> str:
    where = violation.clause if violation.path == "." else violation.path
    if violation.clause == "arguments-complete":
        text = f"{where}: missing; expected {violation.expected}"
    elif violation.clause == "arguments-known":
        text = f"{where}: there is no such argument"
    else:
        text = f"{where}: expected {violation.expected}; got {violation.observed or 'nothing'}"
    return f"{text}{_looked_in(violation)}{f'; {violation.hint}' if violation.hint else ''}"


def _looked_in(violation: Violation) -> str:
    evidence: Any = violation.evidence
    if not isinstance(evidence, Mapping):
        return ""
    names: Any = cast("Mapping[str, Any]", evidence).get("looked_in")
    if not isinstance(names, list) or not names:
        return ""
    sources = cast("list[str]", names)
    more = f" and {len(sources) - _MAX_SOURCES} more" if len(sources) > _MAX_SOURCES else ""
    return f"; it stands in none of: {', '.join(sources[:_MAX_SOURCES])}{more}"


def _flat(text: str, limit: int) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else f"{flat[: limit - 3]}..."
