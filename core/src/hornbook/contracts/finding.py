"""What examining a clause gives: answers, faults with their places, and one finding."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from hornbook.contracts.report import Status

__all__ = ["Answer", "Fault", "Finding", "Scope", "below", "combined"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a clause's test says of one value, where True or False alone does not do."""

    status: Status
    reason: str = ""
    evidence: Any = None
    expected: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One place where a clause failed; it becomes a `Violation`."""

    path: str
    expected: str
    observed: str
    evidence: Any = None
    hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What a clause found in the whole value: its verdict and the places that failed."""

    status: Status
    reason: str = ""
    evidence: Any = None
    score: float | None = None
    faults: tuple[Fault, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What a clause may look at besides the value."""

    inputs: Mapping[str, Any]
    mistyped: tuple[str, ...] = ()
    """Paths that already failed their type; what lies at or below them is NotApplicable."""

    def covers(self, path: str) -> bool:
        """Whether `path` lies at or below a part that failed its type."""
        return any(
            bad in (".", path) or path.startswith((f"{bad}.", f"{bad}[")) for bad in self.mistyped
        )

    def within(self, path: str) -> "Scope":
        """The scope of the part at `path`, whose own paths start there."""
        if path == "." or not self.mistyped:
            return self
        inside = [
            bad[len(path) :].removeprefix(".")
            for bad in self.mistyped
            if bad.startswith((f"{path}.", f"{path}["))
        ]
        return replace(self, mistyped=tuple(inside))


def below(path: str, finding: Finding) -> Finding:
    """The finding of a part, with its places told from the top of the value."""
    prefix = "" if path == "." else path
    faults = tuple(replace(fault, path=_joined(prefix, fault.path)) for fault in finding.faults)
    return replace(finding, faults=faults)


def combined(findings: list[Finding]) -> Finding:
    """One finding for all places: Violated before Undetermined before Satisfied."""
    if not findings:
        return Finding(status="Satisfied", reason="no items")
    if len(findings) == 1:
        return findings[0]
    scores = [finding.score for finding in findings if finding.score is not None]
    score = min(scores) if scores else None
    faults = tuple(fault for finding in findings for fault in finding.faults)
    for status in ("Violated", "Undetermined"):
        for finding in findings:
            if finding.status == status:
                return Finding(
                    status=finding.status, reason=finding.reason, score=score, faults=faults
                )
    if all(finding.status == "NotApplicable" for finding in findings):
        return findings[0]
    evidence = [finding.evidence for finding in findings if finding.evidence is not None]
    return Finding(status="Satisfied", evidence=evidence or None, score=score)


def _joined(prefix: str, path: str) -> str:
    if path == ".":
        return prefix or "."
    return path if not prefix else f"{prefix}{path if path.startswith('[') else '.' + path}"
