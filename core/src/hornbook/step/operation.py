"""What a step does, as the recovery sees it; adapters make these for their hosts."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from hornbook.budget import Spent
from hornbook.contracts.contract import Contract
from hornbook.contracts.report import ContractReport, ContractViolation
from hornbook.errors import told
from hornbook.step.model import Decision, StepKind
from hornbook.step.recover import Recover

__all__ = ["Operation", "Outcome", "OutcomeStatus"]

OutcomeStatus = str
"""`satisfied`, `recovered`, `waived`, `violated`, `blocked` or `halted`; in the record also
`error`, `interrupted` and `cancelled`, for steps that raised."""

Bind = Callable[[tuple[Any, ...], Mapping[str, Any]], Mapping[str, Any]]
Rebuild = Callable[
    [tuple[Any, ...], Mapping[str, Any], Mapping[str, Any]], tuple[tuple[Any, ...], dict[str, Any]]
]


def _same(value: Any) -> Any:
    return value


def _no_meta(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Mapping[str, Any]:
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """A named piece of work with its contract: a function, a node, a tool or model call."""

    name: str
    bind: Bind
    """Arguments by name: the inputs that clauses, hooks and the record see."""
    rebuild: Rebuild
    """Arguments of a call in which some inputs are changed."""
    contract: Contract[Any] | None = None
    recover: Recover = field(default_factory=Recover)
    kind: StepKind = "node"
    host: str = "python"
    agent: str | None = None
    view: Callable[[Any], Any] = _same
    """What of the raw result the contract, the hooks and the record see."""
    meta: Callable[[tuple[Any, ...], Mapping[str, Any]], Mapping[str, Any]] = _no_meta
    """The host's own ids for this occurrence."""
    may_retry: Callable[[], bool] = lambda: True
    """Asked before each retry; a host may refuse, say where a human was already asked."""
    guard: Callable[[tuple[Any, ...], Mapping[str, Any]], ContractReport] | None = None
    """Looks at the arguments before the step runs; a report that is not ok blocks it."""
    judged: Callable[[Any], bool] | None = None
    """Whether the contract speaks of this raw result: a tool's error message is no output."""
    kept: Callable[[tuple[Any, ...]], tuple[Any, ...]] | None = None
    """What of the arguments the record holds on to, for `bind` to read later. A host's request
    would keep all its machinery alive for as long as the run lasts."""
    recorded: Callable[[Any], Any] | None = None
    """What of the raw result the record holds, where that is not what `view` shows."""
    spent: Callable[[Any], Spent] | None = None
    """What one call used, as its raw result tells. A `model` step counts as one call besides."""
    counts_attempts: bool = True
    """Whether an attempt after the first is a call of the budget; not where it is metered inside,
    as a neural primitive's is where its model is asked."""

    def shown(self, raw: Any) -> Any:
        """What the record holds of a raw result; asked when the record is written or read."""
        return self.view(raw) if self.recorded is None else self.recorded(raw)

    @property
    def contract_digest(self) -> str | None:
        """The contract's digest, for the record."""
        return None if self.contract is None else self.contract.digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a step came out, before the host is told in its own way."""

    status: OutcomeStatus
    raw: Any = None
    """What the step, a fallback or a hook gave; what the host gets when nothing failed."""
    report: ContractReport | None = None
    attempts: int = 0
    decision: Decision | None = None
    """The hook's decision that ended the step, if one did."""
    error: BaseException | None = None
    """The exception behind the violation `exception`, or the one that passed through."""

    @property
    def ok(self) -> bool:
        """Whether the host gets a value."""
        return self.status in ("satisfied", "recovered", "waived")

    def settled(self) -> Any:
        """The value for plain Python.

        Raises:
            ContractViolation: there is none.
        """
        if self.ok:
            return self.raw
        assert self.report is not None
        raise ContractViolation(self.report) from self.error

    def as_record(self) -> Mapping[str, Any]:
        """Attempts, report, decision and error, for the record."""
        data: dict[str, Any] = {"attempts": self.attempts}
        if self.report is not None:
            data["report"] = self.report.as_dict()
        if self.decision is not None:
            data["decision"] = {"action": self.decision.action, "reason": self.decision.reason}
        if self.error is not None:
            data["error"] = told(self.error)
        return data
