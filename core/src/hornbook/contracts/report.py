"""What a check found: verdicts, violations, and the report that holds them."""

from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal

from hornbook.budget import Spent
from hornbook.contracts.judge import Calibration
from hornbook.errors import HornbookError

__all__ = [
    "Assurance",
    "ContractReport",
    "ContractViolation",
    "Status",
    "Verdict",
    "Violation",
]

Status = Literal["Satisfied", "Violated", "Undetermined", "NotApplicable"]
Assurance = Literal["guaranteed", "measured"]

_SHOWN = 4
"""Violations that `str(report)` spells out; with the rest it stays within ten lines."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """One failed clause: what was wrong, where, and the evidence."""

    clause: str
    """Name of the clause."""
    path: str
    """Where in the value, as `items[2].price`; `.` is all of it."""
    expected: str
    observed: str
    """The value as text, cut and redacted."""
    evidence: Any = None
    hint: str = ""
    """What to do about it, when the clause knows."""

    def __str__(self) -> str:
        """One line: the clause, where, what was expected and what was seen."""
        where = "" if self.path == "." else f" at {self.path}"
        hint = f" ({self.hint})" if self.hint else ""
        return f"{self.clause}{where}: expected {self.expected}; got {self.observed}{hint}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What one clause said of one value."""

    clause: str
    status: Status
    reason: str = ""
    """Why it is Violated, Undetermined or NotApplicable."""
    evidence: Any = None
    assurance: Assurance = "guaranteed"
    score: float | None = None
    """What the judge gave, in [0, 1]; None for a guaranteed clause."""
    waived: bool = False
    """Undetermined, and the clause says `on_undetermined="waive"`."""
    calibration: Calibration | None = None
    """How often a measured clause was wrong on labelled examples; None is uncalibrated."""

    def __str__(self) -> str:
        """One line: the clause, its verdict, and how far it can be trusted."""
        score = "" if self.score is None else f", score {self.score:.3f}"
        reason = f": {self.reason}" if self.reason else ""
        return f"{self.clause}: {self.status} ({self.trust}{score}){reason}"

    @property
    def trust(self) -> str:
        """How far it can be trusted: `guaranteed`, or measured with its error rates."""
        if self.assurance == "measured":
            return f"measured, {self.calibration or 'uncalibrated'}"
        return self.assurance

    def as_dict(self) -> dict[str, Any]:
        """By field, as the report's own `as_dict`."""
        measured = self.calibration
        return {**_by_field(self), "calibration": None if measured is None else asdict(measured)}

    @property
    def failed(self) -> bool:
        """Whether the verdict fails the contract: Undetermined fails closed."""
        return self.status == "Violated" or (self.status == "Undetermined" and not self.waived)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractReport:
    """The outcome of checking one value against one contract (Forethought 3.1, 3.3)."""

    contract: str
    """Name of the contract."""
    digest: str
    step: str
    """Name of the step whose value it is; the contract's name when checked by hand."""
    ok: bool
    verdicts: tuple[Verdict, ...]
    """One for each clause, in order of declaration."""
    violations: tuple[Violation, ...] = ()
    """In order of declaration; empty exactly when `ok`."""
    attempts: int = 1
    """Calls of the step and its fallbacks that led here; 0 when a precondition stopped it."""
    cost: Spent = field(default_factory=Spent)

    def verdict(self, clause: str) -> Verdict:
        """The verdict of the clause of that name.

        Raises:
            KeyError: the contract has no such clause.
        """
        for verdict in self.verdicts:
            if verdict.clause == clause:
                return verdict
        names = ", ".join(repr(verdict.clause) for verdict in self.verdicts)
        raise KeyError(f"no clause {clause!r} in contract {self.contract!r}; it has {names}")

    @property
    def waived(self) -> bool:
        """Whether some clause was Undetermined and waived."""
        return any(verdict.waived for verdict in self.verdicts)

    def __str__(self) -> str:
        """At most ten lines for a person."""
        tried = f" after {self.attempts} attempts" if self.attempts > 1 else ""
        step = _one_line(self.step)
        if self.ok:
            return f"{step}: contract {self.contract!r} satisfied{tried}"
        lines = [f"{step}: contract {self.contract!r} violated{tried}"]
        lines += [f"  - {_one_line(str(violation))}" for violation in self.violations[:_SHOWN]]
        if len(self.violations) > _SHOWN:
            lines.append(f"  ... and {len(self.violations) - _SHOWN} more")
        return "\n".join(lines)

    def as_dict(self) -> dict[str, Any]:
        """By field, for the trace; evidence is what the clause or judge gave, as it is."""
        return {
            **_by_field(self),
            "verdicts": [verdict.as_dict() for verdict in self.verdicts],
            "violations": [_by_field(violation) for violation in self.violations],
            "cost": asdict(self.cost),
        }

    def to_json(self) -> str:
        """As JSON text; evidence is redacted, and tagged where JSON cannot say it."""
        from hornbook import canon
        from hornbook.trace.redact import redact

        data = self.as_dict()
        for part in data["verdicts"] + data["violations"]:
            part["evidence"] = canon.Opaque(canon.serialise(redact(part["evidence"])).decode())
        return canon.dumps(data).decode()

    def _repr_html_(self) -> str:
        import html

        head = html.escape(str(self).split("\n", 1)[0])
        rows = "".join(
            f"<tr><td>{html.escape(verdict.clause)}</td><td>{verdict.status}</td>"
            f"<td>{html.escape(verdict.trust)}</td><td>{html.escape(verdict.reason)}</td></tr>"
            for verdict in self.verdicts
        )
        return (
            f"<p>{head}</p><table><tr><th>clause</th><th>verdict</th><th>assurance</th><th>reason</th></tr>"
            f"{rows}</table>"
        )


class ContractViolation(HornbookError, RuntimeError):
    """A contract is violated and the declared recovery is spent.

    A RuntimeError, so that a host's default retry policy does not run the step again on
    top of our own recovery, and not a ValueError, which hosts swallow in their loops.
    """

    code = "contract-violation"

    def __init__(self, report: ContractReport) -> None:
        super().__init__(str(report))
        self.report = report

    def __reduce__(self) -> tuple[type["ContractViolation"], tuple[ContractReport]]:
        return ContractViolation, (self.report,)


def _by_field(value: Any) -> dict[str, Any]:
    # dataclasses.asdict copies deeply, which not all evidence survives.
    return {field.name: getattr(value, field.name) for field in fields(value)}


def _one_line(text: str) -> str:
    return " ".join(text.split())
