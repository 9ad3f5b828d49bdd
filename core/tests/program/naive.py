"""A plain recursive evaluator of programs: what they mean, with no engine and no static types.

It knows the node tree and the contracts. It calls one thing after another, keeps nothing,
and finds arguments by looking at the values that flow.
"""

from collections.abc import Mapping
from inspect import iscoroutine
from typing import Any

from hornbook import BudgetExceeded, ContractViolation, Violation
from hornbook.contracts import ContractReport, Verdict
from hornbook.contracts.shown import shown
from hornbook.errors import told
from hornbook.models import ask
from hornbook.program import BranchError, Primitive, Program, Ref, RoundsExhausted
from hornbook.program.operators import (
    Conditional,
    Constant,
    Fallback,
    Holds,
    Iterate,
    Parallel,
    Passing,
    Sequence,
)
from hornbook.step import Feedback

__all__ = ["evaluate"]

Scopes = tuple[Mapping[str, Any], ...]
"""What references lead to, the nearest Parallel first."""


def evaluate(node: Program, value: Any, scopes: Scopes = ()) -> Any:
    """The value of a program on a value, or what it raises."""
    match node:
        case Primitive():
            return call(node, arguments(node, value, scopes))
        case Sequence():
            for step in node.steps:
                value = evaluate(step, value, scopes)
            return value
        case Parallel():
            return parallel(node, value, scopes)
        case Conditional():
            return conditional(node, value, scopes)
        case Iterate():
            return iterate(node, value, scopes)
        case Fallback():
            return fallback(node, value, scopes)
        case _:
            return leaf(node, value)


def leaf(node: Program, value: Any) -> Any:
    match node:
        case Holds():
            return node.contract.check(value, value if isinstance(value, dict) else {}).ok
        case Constant():
            return node.value
        case Passing():
            return value
    raise AssertionError(node)


def arguments(node: Any, value: Any, scopes: Scopes) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, bound in node.bindings.items():
        found[name] = look_up(bound, scopes) if isinstance(bound, Ref) else bound
    free = [one for one in node.definition.signature.parameters if one.name not in found]
    required = [one.name for one in free if one.required]
    if isinstance(value, dict) and set(required) <= set(value):
        return found | {one.name: value[one.name] for one in free if one.name in value}
    if required:
        (only,) = required
        found[only] = value
    return found


def look_up(ref: Ref, scopes: Scopes) -> Any:
    for scope in scopes[1:] if ref.outer else scopes[:1]:
        if ref.name in scope:
            return scope[ref.name]
    raise AssertionError(ref)


def parallel(node: Parallel, value: Any, scopes: Scopes) -> dict[str, Any]:
    results: dict[str, Any] = {"input": value}
    failed: dict[str, Exception] = {}
    waiting = list(node.branches)
    while waiting:
        before = len(waiting)
        for name in list(waiting):
            needs = [one for one in needed(node.branches[name], ()) if one in node.branches]
            if any(one in waiting for one in needs):
                continue
            waiting.remove(name)
            if not all(one in results for one in needs):
                continue
            try:
                results[name] = evaluate(node.branches[name], value, (results, *scopes))
            except Exception as error:
                failed[name] = error
        assert len(waiting) < before
    for name in node.branches:
        if name in failed:
            raise failed[name]
    return {name: results[name] for name in node.branches}


def needed(node: Program, inner: tuple[Parallel, ...]) -> list[str]:
    """Names that a branch looks up here; `inner` are the Parallels that stand between."""
    found: list[str] = []
    if isinstance(node, Primitive):
        refs = [one for one in node.bindings.values() if isinstance(one, Ref)]
        found += [one.name for one in refs if leads_here(one, inner)]
    if isinstance(node, Parallel):
        inner = (*inner, node)
    return found + [name for part in node.parts.values() for name in needed(part, inner)]


def leads_here(one: Ref, inner: tuple[Parallel, ...]) -> bool:
    if not one.outer:
        return not inner
    nearer = any(one.name == "input" or one.name in each.branches for each in inner[:-1])
    return bool(inner) and not nearer


def conditional(node: Conditional, value: Any, scopes: Scopes) -> Any:
    label = evaluate(node.test, value, scopes)
    branch = (
        node.branch(label) if any(one is label or one == label for one in node.labels) else None
    )
    if branch is None:
        raise BranchError(f"no branch for {label!r}")
    return evaluate(branch, value, scopes)


def iterate(node: Iterate, value: Any, scopes: Scopes) -> Any:
    for _ in range(node.at_most):
        before, value = value, evaluate(node.body, value, scopes)
        if node.until is None:
            continue
        names = {one.name for one in node.until.definition.signature.parameters}
        given = {"before": before, "after": value} if "before" in names else value
        if evaluate(node.until, given, scopes) is True:
            return value
    if node.until is not None and node.exhausted == "fail":
        raise RoundsExhausted("no more rounds")
    return value


def fallback(node: Fallback, value: Any, scopes: Scopes) -> Any:
    for one in node.alternatives[:-1]:
        try:
            return evaluate(one, value, scopes)
        except BudgetExceeded:
            raise
        except Exception as error:
            if not isinstance(error, node.on):
                raise
    return evaluate(node.alternatives[-1], value, scopes)


def call(node: Any, inputs: Mapping[str, Any]) -> Any:
    """One primitive: its preconditions, its attempts, its fallbacks."""
    recover, contract = node.recover, node.contract
    inputs = node.definition.parameters.bind((), inputs)
    report = contract.check_inputs(inputs, step=node.name)
    if not report.ok:
        raise ContractViolation(report)
    tries: list[Any] = [None] * (1 + recover.retry) + list(recover.fallback)
    told_last: Feedback | None = None
    value, error = None, None
    for number, other in enumerate(tries, start=1):
        value, error = None, None
        try:
            value = attempt(node, inputs, told_last) if other is None else again(other, inputs)
        except Exception as raised:
            if not isinstance(raised, tuple(recover.on)):
                raise
            error, report = raised, exception_report(node, raised)
        else:
            report = contract.check(value, inputs, step=node.name)
            if report.ok:
                return value
        told_last = Feedback(violation=report.violations[0], report=report, attempt=number)
    if recover.then == "waive" and error is None:
        return value
    raise ContractViolation(report) from error


def attempt(node: Any, inputs: Mapping[str, Any], feedback: Feedback | None) -> Any:
    asking = node.definition.asking
    if asking is None:
        return settled(node.definition.function(**inputs))
    completion = ask(node.model, asking.request(inputs, feedback), step=node.name)
    return asking.read(completion)


def settled(value: Any) -> Any:
    """What a coroutine that waits for nothing gives."""
    if not iscoroutine(value):
        return value
    try:
        value.send(None)
    except StopIteration as stop:
        return stop.value
    raise AssertionError("it waits")


def again(other: Any, inputs: Mapping[str, Any]) -> Any:
    return call(other, inputs) if isinstance(other, Primitive) else other(**inputs)


def exception_report(node: Any, error: Exception) -> ContractReport:
    violation = Violation(
        clause="exception", path=".", expected="a value", observed=shown(told(error))
    )
    verdict = Verdict(clause="exception", status="Violated")
    return ContractReport(
        contract=node.contract.name,
        digest=node.contract.digest,
        step=node.name,
        ok=False,
        verdicts=(verdict,),
        violations=(violation,),
    )
