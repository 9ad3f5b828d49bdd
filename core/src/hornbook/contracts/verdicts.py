"""Running all the clauses of a contract over one value, and putting their verdicts together."""

from collections.abc import Generator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hornbook.budget import Spent
from hornbook.contracts.clause import Clause, Examination, together
from hornbook.contracts.finding import Finding, Scope
from hornbook.contracts.judge import Question
from hornbook.contracts.output_type import OutputType, TypeProblem
from hornbook.contracts.replies import Reply
from hornbook.contracts.report import ContractReport, Verdict, Violation
from hornbook.contracts.shown import SHOWN_CHARACTERS, shown
from hornbook.errors import told
from hornbook.trace.redact import redact_text

if TYPE_CHECKING:
    from typing import Protocol

    class _Named(Protocol):
        @property
        def name(self) -> str: ...
        @property
        def digest(self) -> str: ...


__all__ = ["Examining", "assemble"]


class Examining:
    """One check under way.

    Deterministic clauses are decided on construction, and the questions of measured ones
    wait in `questions` until `answer` is called.
    """

    def __init__(
        self,
        clauses: tuple[Clause, ...],
        value: Any,
        inputs: Mapping[str, Any],
        *,
        output: OutputType | None,
        typed: bool = False,
        known: Sequence[object] = (),
    ) -> None:
        self.clauses = clauses
        self.value = value
        self.typed = typed
        self.mistyped: tuple[TypeProblem, ...] = ()
        self.type_check_raised = ""
        if output is not None:
            self._check_type(output, value)
        failed = tuple(problem.path for problem in self.mistyped)
        if self.type_check_raised:
            failed = (".",)
        scope = Scope(inputs=inputs, mistyped=failed)
        self.findings: list[Finding] = []
        self.questions: list[Question] = []
        self.batches = 0
        known_already = [_told(clauses[at], answer, value) for at, answer in enumerate(known)]
        rest = [clause.examine(value, scope) for clause in clauses[len(known) :]]
        self._running = together(known_already + rest)
        self._advance(None)

    def answer(self, replies: Sequence[Reply]) -> None:
        """Hand in one reply for each of `questions`."""
        self.batches += len({id(question.judge) for question in self.questions})
        self._advance(list(replies))

    def _advance(self, replies: list[Reply] | None) -> None:
        running: Generator[list[Question], list[Reply], list[Finding]] = self._running
        try:
            self.questions = next(running) if replies is None else running.send(replies)
        except StopIteration as stop:
            self.findings, self.questions = stop.value, []

    def _check_type(self, output: OutputType, value: Any) -> None:
        # A user's own validator may raise anything; the check then fails closed.
        try:
            self.mistyped = output.problems(value)
        except Exception as error:  # noqa: BLE001
            self.type_check_raised = redact_text(told(error), limit=SHOWN_CHARACTERS)


def assemble(contract: "_Named", examining: Examining, step: str) -> ContractReport:
    """The report of a finished check, in the order of declaration."""
    verdicts: list[Verdict] = []
    violations: list[Violation] = []
    if examining.typed:
        verdicts.append(_type_verdict(examining))
        violations += _type_violations(examining)
    for clause, finding in zip(examining.clauses, examining.findings, strict=True):
        verdict = _verdict(clause, finding)
        verdicts.append(verdict)
        if verdict.failed:
            violations += [
                Violation(
                    clause=clause.name,
                    path=fault.path,
                    expected=fault.expected,
                    observed=fault.observed,
                    evidence=fault.evidence,
                    hint=fault.hint,
                )
                for fault in finding.faults
            ]
    return ContractReport(
        contract=contract.name,
        digest=contract.digest,
        step=step,
        ok=not any(verdict.failed for verdict in verdicts),
        verdicts=tuple(verdicts),
        violations=tuple(violations),
        cost=Spent(calls=examining.batches),
    )


def _told(clause: Clause, answer: object, value: Any) -> Examination:
    """The examination of a clause whose test already gave its answer."""
    return clause.finding(answer, value)
    yield []  # makes this a generator that asks nothing


def _verdict(clause: Clause, finding: Finding) -> Verdict:
    return Verdict(
        clause=clause.name,
        status=finding.status,
        reason=finding.reason,
        evidence=finding.evidence,
        assurance=clause.assurance,
        calibration=clause.calibration,
        score=finding.score,
        waived=finding.status == "Undetermined" and clause.on_undetermined == "waive",
    )


def _type_verdict(examining: Examining) -> Verdict:
    if examining.type_check_raised:
        reason = f"the check raised {examining.type_check_raised}"
        return Verdict(clause="output", status="Undetermined", reason=reason)
    if not examining.mistyped:
        return Verdict(clause="output", status="Satisfied")
    first = examining.mistyped[0]
    return Verdict(clause="output", status="Violated", reason=f"{first.path}: {first.expected}")


def _type_violations(examining: Examining) -> list[Violation]:
    if examining.type_check_raised:
        hint = f"not determined: the check raised {examining.type_check_raised}"
        seen = shown(examining.value)
        return [Violation(clause="output", path=".", expected="its type", observed=seen, hint=hint)]
    return [
        Violation(
            clause="output",
            path=problem.path,
            expected=problem.expected,
            observed=shown(problem.observed, problem.path),
        )
        for problem in examining.mistyped
    ]
