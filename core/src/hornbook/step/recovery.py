"""The life of a step, written once for sync and async: check, recover, halt, record.

DESIGN section 1: preconditions, the step, its contract, then the declared recovery (retry
with the newest violation as feedback, then fallbacks, then halt). Forethought 3.3.
"""

import itertools
from collections.abc import Callable, Generator, Mapping
from dataclasses import replace
from time import perf_counter
from typing import Any, Literal, TypeAlias, cast

from hornbook.budget import Meter, Spent
from hornbook.contracts.report import ContractReport
from hornbook.errors import BudgetExceeded, DefinitionError, PluginError
from hornbook.step.attempts import Feedback
from hornbook.step.control_flow import is_control_flow
from hornbook.step.effects import AskHooks, Call, Effect, Inspect
from hornbook.step.hookset import HookSet, slot
from hornbook.step.model import Decision, Step, fold
from hornbook.step.operation import Operation, Outcome
from hornbook.step.reports import (
    exception_report,
    hook_report,
    truncated_report,
    with_violations,
)
from hornbook.step.sources import ending
from hornbook.step.tried import Tried, Truncated, raised_status
from hornbook.trace.frame import ENDED, FEEDBACK, META, OUTCOME, RUN, VALUE, Frame, current

__all__ = ["Living", "Recovery"]

Inputs: TypeAlias = Mapping[str, Any]
Living: TypeAlias = Generator[Effect, Any, Outcome]

_local_ids = itertools.count(1)


class Recovery:
    """One occurrence of an operation, from its arguments to its outcome."""

    def __init__(
        self,
        operation: Operation,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> None:
        self._operation = operation
        self._function = function
        self._args = args
        self._kwargs = kwargs
        self._hooks: HookSet = slot.get()
        self._parent = current.get()
        self._run = None if self._parent is None else self._parent[RUN]
        self._meter = self._own_meter()
        self._attempts = 0
        self._calls = 0
        self._last = args, kwargs
        self._frame: Frame | None = None
        self._local_id = ""
        self._passed: ContractReport | None = None

    def live(self, frame: Frame | None = None, first: Tried | None = None) -> Living:
        """Live the step through; `first` is an attempt that the hot path already made."""
        self._frame = frame or self._open()
        try:
            outcome = yield from self._outcome(first)
        except BaseException as error:
            current.set(self._parent)
            self._close(Outcome(status=raised_status(error), attempts=self._attempts, error=error))
            raise
        if outcome.report is not None and self._calls:
            cost = Spent(calls=self._calls)
            outcome = replace(outcome, report=replace(outcome.report, cost=cost))
        self._close(outcome)
        return outcome

    def refused(self, frame: Frame | None, report: ContractReport) -> Outcome:
        """End a step whose guard does not let it run; it counts as blocked."""
        self._frame = frame or self._open()
        outcome = self._guarded(report)
        self._close(outcome)
        return outcome

    def _outcome(self, first: Tried | None) -> Living:
        if first is None:
            stopped = yield from self._before()
            if stopped is not None:
                return stopped
            if self._operation.kind == "model" and self._meter is not None:
                self._meter.reserve(self._operation.name)
            first = yield from self._try(self._function, self._args, self._kwargs)
        else:
            self._attempts, self._passed = 1, first.passed
        return (yield from self._settle(first))

    def _before(self) -> Generator[Effect, Any, Outcome | None]:
        """What stands before the first attempt: hooks, the guard, then preconditions."""
        if self._meter is not None:
            self._meter.check_time(self._operation.name)
        decision = yield from self._ask("before_step")
        if decision is not None and decision.action not in ("proceed", "retry"):
            return (yield from self._decided(decision, "hornbook_before_step"))
        if decision is not None and decision.value is not None:
            self._change_inputs(decision.value)
        if self._operation.guard is not None:
            guarded = self._operation.guard(self._args, self._kwargs)
            if not guarded.ok:
                return self._guarded(guarded)
            self._passed = guarded
        contract = self._operation.contract
        if contract is None or not contract.requires:
            return None
        report: ContractReport = yield Inspect(
            contract=contract,
            value=None,
            inputs=self._inputs(),
            step=self._operation.name,
            meter=self._meter,
            requires=True,
        )
        self._calls += report.cost.calls
        if report.ok:
            return None
        return Outcome(status="violated", report=replace(report, attempts=0))

    def _settle(self, tried: Tried) -> Living:
        """From the first attempt's result to an outcome, through the declared recovery."""
        recover = self._operation.recover
        retries, fallbacks = recover.retry, list(recover.fallback)
        while True:
            report = yield from self._inspect(tried)
            if report.ok:
                return self._satisfied(tried, report)
            if tried.stop is not None:
                return self._stopped(tried.stop, report, tried.error)
            decision = yield from self._ask(
                "on_violation",
                output=None if tried.error else self._operation.view(tried.raw),
                violations=report.violations,
            )
            if decision is not None and decision.action in ("block", "halt"):
                return self._stopped(decision, report, tried.error)
            if decision is not None and decision.action == "substitute":
                return (yield from self._decided(decision, "hornbook_on_violation"))
            if retries and self._operation.may_retry():
                retries -= 1
                tried = yield from self._retry(report)
            elif fallbacks:
                fallback = fallbacks.pop(0)
                named = getattr(fallback, "__qualname__", type(fallback).__name__)
                self._mark("decision", "fallback", {"to": named})
                tried = yield from self._again(fallback, self._args, self._kwargs, report)
            else:
                return self._spent(tried, report)

    def _retry(self, report: ContractReport) -> Generator[Effect, Any, Tried]:
        self._mark("decision", "retry", {"attempt": self._attempts + 1})
        modify = self._operation.recover.modify
        if modify is not None:
            inputs = self._operation.bind(*self._last)
            changed = cast("object", modify(inputs, report.violations[0]))
            if not isinstance(changed, Mapping):
                raise DefinitionError(
                    f"step {self._operation.name!r}: modify gave {type(changed).__name__}, not a "
                    f"mapping of the inputs that change"
                )
            self._last = self._operation.rebuild(*self._last, cast("Inputs", changed))
        return (yield from self._again(self._function, *self._last, report))

    def _again(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        report: ContractReport,
    ) -> Generator[Effect, Any, Tried]:
        if self._operation.counts_attempts:
            if self._meter is not None:
                self._meter.reserve(self._operation.name)
            self._calls += 1
        told = Feedback(violation=report.violations[0], report=report, attempt=self._attempts)
        return (yield from self._try(function, args, kwargs, told))

    def _try(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        told: Feedback | None = None,
    ) -> Generator[Effect, Any, Tried]:
        self._attempts += 1
        assert self._frame is not None
        self._frame[FEEDBACK] = told
        current.set(self._frame)
        try:
            raw = yield Call(function, args, kwargs)
        except Exception as error:  # noqa: BLE001 - what it means is decided below
            current.set(self._parent)
            return (yield from self._failed(error))
        current.set(self._parent)
        if self._operation.spent is not None and self._meter is not None:
            used = self._operation.spent(raw)
            self._meter.settle(self._operation.name, tokens=used.tokens, cost=used.cost)
        return Tried(raw=raw)

    def _failed(self, error: Exception) -> Generator[Effect, Any, Tried]:
        """An exception of the step: a violation when declared, else the hooks' matter."""
        if is_control_flow(error) or isinstance(error, BudgetExceeded):
            raise error
        if isinstance(error, tuple(self._operation.recover.on)):
            return Tried(error=error)
        decision = yield from self._ask("on_error", error=error)
        match decision:
            case Decision(action="substitute"):
                self._mark("decision", "substitute", {"by": "hornbook_on_error"})
                return Tried(raw=decision.value, substituted=True)
            case Decision(action="block" | "halt"):
                return Tried(error=error, stop=decision)
            case Decision(action="retry"):
                return Tried(error=error)
            case _:
                raise error

    def _inspect(self, tried: Tried) -> Generator[Effect, Any, ContractReport]:
        report = yield from self._report(tried)
        if tried.error is None and self._hooks.check_output:
            found = yield AskHooks(
                "hornbook_check_output",
                self._hooks.check_output,
                {"step": self._step(), "output": self._operation.view(tried.raw)},
            )
            report = with_violations(report, [one for answer in found for one in answer])
        report = replace(report, attempts=self._attempts)
        if not report.ok or self._attempts > 1:
            status = "satisfied" if report.ok else "violated"
            self._mark(
                "attempt",
                self._operation.name,
                {"attempt": self._attempts, "violations": [str(v) for v in report.violations]},
                status=status,
            )
        return report

    def _report(self, tried: Tried) -> Generator[Effect, Any, ContractReport]:
        operation = self._operation
        if tried.error is not None:
            return exception_report(operation, tried.error)
        if isinstance(tried.raw, Truncated):
            return truncated_report(operation, len(tried.raw))
        judged = operation.judged is None or operation.judged(tried.raw)
        if operation.contract is None or not judged:
            return ContractReport(contract="", digest="", step=operation.name, ok=True, verdicts=())
        report: ContractReport = yield Inspect(
            contract=operation.contract,
            value=operation.view(tried.raw),
            inputs=self._inputs(),
            step=operation.name,
            meter=self._meter,
            known=tried.known,
        )
        self._calls += report.cost.calls
        return report

    def _satisfied(self, tried: Tried, report: ContractReport) -> Outcome:
        again = self._attempts > 1 or tried.substituted
        status = "waived" if report.waived else "recovered" if again else "satisfied"
        return Outcome(status=status, raw=tried.raw, report=report, attempts=self._attempts)

    def _spent(self, tried: Tried, report: ContractReport) -> Outcome:
        waive = self._operation.recover.then == "waive" and tried.error is None
        refused = self._operation.recover.retry and not self._operation.may_retry()
        why = {"reason": "the host allows no retry here"} if refused else {}
        self._mark("decision", "waive" if waive else "halt", {"by": "recover", **why})
        return Outcome(
            status="waived" if waive else "violated",
            raw=tried.raw,
            report=report,
            attempts=self._attempts,
            error=tried.error,
        )

    def _decided(self, decision: Decision, hook: str) -> Living:
        """The outcome of a hook's block, halt or substitute; a substitute meets the contract."""
        if decision.action != "substitute":
            return self._stopped(decision, hook_report(self._operation, decision, hook))
        self._mark("decision", "substitute", {"by": hook, "reason": decision.reason})
        tried = Tried(raw=decision.value)
        report = yield from self._inspect(tried)
        if not report.ok:
            return self._spent(tried, report)
        return Outcome(
            status="recovered",
            raw=decision.value,
            report=report,
            attempts=self._attempts,
            decision=decision,
        )

    def _guarded(self, report: ContractReport) -> Outcome:
        return self._stopped(Decision(action="block", reason="the guard refuses it"), report)

    def _stopped(
        self, decision: Decision, report: ContractReport, error: Exception | None = None
    ) -> Outcome:
        self._mark("decision", decision.action, {"reason": decision.reason})
        return Outcome(
            status="blocked" if decision.action == "block" else "halted",
            report=replace(report, attempts=self._attempts),
            attempts=self._attempts,
            decision=decision,
            error=error,
        )

    def _ask(self, hook: str, **arguments: Any) -> Generator[Effect, Any, Decision | None]:
        impls = getattr(self._hooks, hook)
        if not impls:
            return None
        answers = yield AskHooks(f"hornbook_{hook}", impls, {"step": self._step(), **arguments})
        return fold(answers)

    def _step(self) -> Step:
        operation, frame = self._operation, self._frame
        assert frame is not None
        log = None if self._run is None else self._run.log
        return Step(
            kind=operation.kind,
            name=operation.name,
            inputs=self._inputs(),
            host=operation.host,
            agent=operation.agent,
            step_id=self._local_id if log is None else log.step_id(frame),
            parent_id=None if log is None else log.parent_id(frame),
            attempt=max(1, self._attempts),
            meta=frame[META],
        )

    def _inputs(self) -> Mapping[str, Any]:
        return self._operation.bind(self._args, self._kwargs)

    def _change_inputs(self, value: object) -> None:
        if not isinstance(value, Mapping):
            raise PluginError(
                f"hornbook_before_step: `proceed` takes a mapping of inputs, not "
                f"{type(value).__name__}"
            )
        changed = cast("Inputs", value)
        self._args, self._kwargs = self._operation.rebuild(self._args, self._kwargs, changed)
        self._last = self._args, self._kwargs
        self._mark("decision", "proceed", {"inputs": dict(changed)})

    def _own_meter(self) -> Meter | None:
        if self._run is not None:
            return self._run.meter
        budget = self._operation.recover.budget
        return None if budget is None else Meter(budget)

    def _open(self) -> Frame:
        run, operation, args, kwargs = self._run, self._operation, self._args, self._kwargs
        number = next(_local_ids) if run is None else None
        self._local_id = f"local.{number}"
        meta, kept = operation.meta(args, kwargs), operation.kept
        frame: Frame = [
            run,
            number,
            operation,
            self._parent,
            args if kept is None else kept(args),
            kwargs,
            perf_counter(),
            None,
            meta,
            None,
            None,
            None,
        ]
        if run is not None:
            run.log.start(frame)
        return frame

    def _close(self, outcome: Outcome) -> None:
        if self._run is None or self._frame is None:
            return
        self._frame[VALUE] = outcome.raw if outcome.ok else None
        self._frame[OUTCOME] = ending(outcome, self._passed)
        self._frame[ENDED] = perf_counter()
        self._run.log.end(self._frame)

    def _mark(
        self,
        kind: Literal["decision", "attempt"],
        name: str,
        data: Mapping[str, Any],
        status: str | None = None,
    ) -> None:
        if self._run is not None and self._frame is not None:
            self._run.log.mark(kind, self._frame, name, status=status, data=data)
