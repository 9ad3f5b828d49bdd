"""One named condition: what every clause is made of, and how it is examined.

A clause is examined by a generator that yields lists of `Question`s for a judge and is
sent the answers back. A guaranteed clause yields nothing; composed clauses pass on what
their parts ask, so measured clauses may stand inside `implies` and `forall`.
"""

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from hornbook.contracts.finding import Answer, Fault, Finding, Scope, below, combined
from hornbook.contracts.judge import Calibration, Judge, Question
from hornbook.contracts.paths import Absent, parse
from hornbook.contracts.replies import Reply
from hornbook.contracts.report import Assurance
from hornbook.contracts.shown import SHOWN_CHARACTERS, shown
from hornbook.errors import DefinitionError, told
from hornbook.trace.redact import redact_text

__all__ = ["Answer", "Clause", "Examination", "Raised", "Test", "input_at", "together"]

OnUndetermined = Literal["fail", "waive"]


@dataclass(frozen=True, slots=True)
class Raised:
    """In place of an answer: the exception that the test raised."""

    error: Exception


Examination: TypeAlias = Generator[list[Question], list[Reply], Finding]
Test: TypeAlias = Callable[[Any, Mapping[str, Any]], object]
"""Given the value at a path and the inputs: True, False or an `Answer`."""

_PARTS: Mapping[str, int] = {"implies": 2, "forall": 1}


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """One named condition on a value, *guaranteed* by code or *measured* by a judge.

    Made by the functions of `hornbook.clauses`. A kind of your own is a function that
    returns a `Clause` with a `test`; register it by the hook `hornbook_register_clauses`
    so that a contract that uses it can be read back from JSON.

    Raises:
        DefinitionError: a field that cannot work; it is named.
    """

    kind: str
    name: str
    path: str = "."
    params: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What the kind's function was called with, besides the fields below."""
    version: str = "1"
    on_undetermined: OnUndetermined = "fail"
    optional: bool = False
    """An absent path is NotApplicable, where otherwise it would be Undetermined."""
    expected: str = ""
    """What must hold, as it stands in a violation."""
    needs: tuple[str, ...] = ()
    """Inputs it reads, as paths that start at a parameter's name."""
    parts: tuple["Clause", ...] = ()
    """The clauses it is composed of."""
    test: Test | None = None
    predicate: Callable[..., object] | None = None
    """Set by `that` when the condition is a function of the value alone."""
    judge: Judge | None = None
    threshold: float = 0.5
    calibration: Calibration | None = None

    def __post_init__(self) -> None:
        for what in ("kind", "name", "version"):
            given: object = getattr(self, what)
            if not isinstance(given, str) or not given.strip():
                raise DefinitionError(f"a clause's {what} is a text that is not empty: {given!r}")
        if self.on_undetermined not in ("fail", "waive"):
            raise self._unusable(
                f"on_undetermined is 'fail' or 'waive', not {self.on_undetermined!r}"
            )
        for path in (self.path, *self.needs):
            parse(path)
        if len(self.parts) != _PARTS.get(self.kind, 0):
            raise self._unusable(f"{len(self.parts)} parts are not those of kind {self.kind!r}")
        if not self.parts and self.test is None and self.judge is None:
            raise self._unusable("it has no test")
        if self.judge is not None and not self.needs:
            raise self._unusable("it asks a judge and names no input to compare with")
        object.__setattr__(self, "params", MappingProxyType(dict(self.params)))

    def _unusable(self, why: str) -> DefinitionError:
        return DefinitionError(f"clause {self.name!r}: {why}")

    @property
    def assurance(self) -> Assurance:
        """*measured* when it, or a part of it, asks a judge."""
        measured = self.judge is not None or any(p.assurance == "measured" for p in self.parts)
        return "measured" if measured else "guaranteed"

    def examine(self, value: Any, scope: Scope) -> Examination:
        """Examine `value`; what goes wrong on the way is Undetermined and does not raise."""
        if self.kind == "implies":
            return (yield from self._implies(value, scope))
        try:
            places = self._places(value)
        except Exception as error:  # noqa: BLE001 - a value may raise when looked into
            return self.finding(Raised(error), value)
        if self.kind == "forall":
            return (yield from self._forall(places, scope))
        if self.judge is not None:
            return (yield from self._ask(places, scope))
        return combined([self._tested(path, item, scope) for path, item in places])

    def _implies(self, value: Any, scope: Scope) -> Examination:
        condition, then = self.parts
        held = yield from condition.examine(value, scope)
        if held.status == "Satisfied":
            return (yield from then.examine(value, scope))
        if held.status == "Undetermined":
            reason = f"condition {condition.name!r}: {held.reason}"
            return undetermined(reason, self, value)
        return Finding(status="NotApplicable", reason=f"{condition.name!r} does not hold")

    def _forall(self, places: "_Places", scope: Scope) -> Examination:
        (part,) = self.parts
        findings: list[Finding] = []
        started: list[tuple[str, Examination]] = []
        for path, item in places:
            early = self._without_test(path, item, scope)
            if early is not None:
                findings.append(early)
            else:
                started.append((path, part.examine(item, scope.within(path))))
        found = yield from together([examination for _, examination in started])
        findings += [below(path, one) for (path, _), one in zip(started, found, strict=True)]
        return combined(findings)

    def _ask(self, places: "_Places", scope: Scope) -> Examination:
        findings: list[Finding] = []
        asked: list[tuple[str, Any]] = []
        questions: list[Question] = []
        for path, item in places:
            question = self._without_test(path, item, scope) or self._question(path, item, scope)
            if isinstance(question, Question):
                asked.append((path, item))
                questions.append(question)
            else:
                findings.append(question)
        replies = (yield questions) if questions else []
        for (path, item), reply in zip(asked, replies, strict=True):
            findings.append(self._judged(path, item, reply))
        return combined(findings)

    def _question(self, path: str, item: Any, scope: Scope) -> Question | Finding:
        from hornbook.contracts.grounding import text_of

        assert self.judge is not None
        try:
            source, text = text_of(input_at(scope.inputs, self.needs[0])), text_of(item)
        except Exception as error:  # noqa: BLE001 - a value may raise when read
            return self.finding(Raised(error), item, path)
        if not source or not source.strip():
            return undetermined(f"input {self.needs[0]!r} holds no text", self, item, path)
        if not text or not text.strip():
            return undetermined("the value is empty", self, item, path)
        return Question(
            kind=self.kind, text=text, source=source, path=path, clause=self.name, judge=self.judge
        )

    def _judged(self, path: str, item: Any, reply: Reply) -> Finding:
        if reply.score is None:
            return undetermined(reply.reason, self, item, path)
        if reply.score >= self.threshold:
            return Finding(status="Satisfied", evidence=reply.evidence, score=reply.score)
        reason = f"score {reply.score:.3f} is below {self.threshold:g}"
        fault = Fault(
            path=path,
            expected=self.expected,
            observed=shown(item, path),
            evidence=reply.evidence,
            hint=reason,
        )
        return Finding(status="Violated", reason=reason, score=reply.score, faults=(fault,))

    def _places(self, value: Any) -> "_Places":
        return [
            (match.path, match if isinstance(match, Absent) else match.value)
            for match in parse(self.path).matches(value)
        ]

    def _without_test(self, path: str, item: Any, scope: Scope) -> Finding | None:
        """The finding where the value is not there, or is not fit to be tested."""
        if scope.covers(path):
            return Finding(status="NotApplicable", reason=f"{path} failed its type")
        absent = isinstance(item, Absent)
        if self.optional and (absent or item is None):
            return Finding(status="NotApplicable", reason=f"{path} is optional and absent")
        if absent:
            return undetermined(f"{path} is absent", self, item, path)
        return None

    def _tested(self, path: str, item: Any, scope: Scope) -> Finding:
        early = self._without_test(path, item, scope)
        if early is not None:
            return early
        assert self.test is not None
        # A check that raises must not take the step with it: it fails closed instead.
        try:
            answer = self.test(item, scope.inputs)
        except Exception as error:  # noqa: BLE001
            answer = Raised(error)
        return self.finding(answer, item, path)

    def finding(self, answer: object, item: Any, path: str | None = None) -> Finding:
        """What an answer of the test means: anything but a bool or `Answer` is Undetermined."""
        path = path or self.path
        match answer:
            case True:
                return Finding(status="Satisfied")
            case False:
                answer = Answer(status="Violated")
            case Raised():
                return self._raised(answer.error, item, path)
            case Answer() if self.kind != "that":
                pass
            case _:
                got = type(answer).__name__
                return undetermined(f"the check gave {got}, not a bool", self, item, path)
        if answer.status == "Undetermined":
            return undetermined(answer.reason, self, item, path, answer.hint)
        if answer.status != "Violated":
            return Finding(status=answer.status, reason=answer.reason, evidence=answer.evidence)
        observed = shown(item, path)
        # Evidence quotes the value, and where that is a secret so is what is quoted of it.
        evidence = None if observed.startswith("<redact") else answer.evidence
        fault = Fault(
            path=path,
            expected=answer.expected or self.expected,
            observed=observed,
            evidence=evidence,
            hint=answer.hint,
        )
        at = "" if path == "." else f"at {path}: "
        reason = answer.reason or f"{at}expected {fault.expected}; got {fault.observed}"
        return Finding(status="Violated", reason=reason, evidence=evidence, faults=(fault,))

    def _raised(self, error: BaseException, item: Any, path: str) -> Finding:
        if not isinstance(error, Exception):
            raise error
        why = redact_text(told(error), limit=SHOWN_CHARACTERS)
        return undetermined(f"the check raised {why}", self, item, path)


_Places: TypeAlias = list[tuple[str, Any]]
"""Where a path leads, with the values; an `Absent` where there is none."""


def together(started: list[Examination]) -> Generator[list[Question], list[Reply], list[Finding]]:
    """Run several examinations in step, so that what they ask goes out as one list."""
    findings: dict[int, Finding] = {}
    asking: dict[int, list[Question]] = {}
    sent: dict[int, list[Reply]] = {}
    running = dict(enumerate(started))
    while running:
        for at, examination in list(running.items()):
            try:
                answers = sent.get(at)
                asking[at] = next(examination) if answers is None else examination.send(answers)
            except StopIteration as stop:
                findings[at] = stop.value
                del running[at]
        if running:
            replies = yield [question for at in running for question in asking[at]]
            given = iter(replies)
            sent = {at: [next(given) for _ in asking[at]] for at in running}
    return [findings[at] for at in range(len(started))]


def undetermined(
    reason: str, clause: Clause, item: Any, path: str | None = None, hint: str = ""
) -> Finding:
    """A finding that fails closed, with the place and the reason."""
    path = path or clause.path
    observed = "nothing" if isinstance(item, Absent) else shown(item, path)
    fault = Fault(
        path=path,
        expected=clause.expected,
        observed=observed,
        hint=hint or f"not determined: {reason}",
    )
    return Finding(status="Undetermined", reason=reason, faults=(fault,))


def input_at(inputs: Mapping[str, Any], path: str) -> Any:
    """The input at `path`, or None when it is not there."""
    for match in parse(path).matches(inputs):
        return None if isinstance(match, Absent) else match.value
    return None
