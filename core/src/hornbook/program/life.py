"""The life of a program: what happens, in what order, as effects that the engine carries out."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from hornbook.contracts.report import ContractReport
from hornbook.engine import Branch, Life, Together, decided, invoke, settings
from hornbook.errors import (
    BudgetExceeded,
    ConfigError,
    DefinitionError,
    MissingExtra,
    PluginError,
    RunError,
    TraceError,
    told,
)
from hornbook.program.binding import INPUT, Plan, Resolved
from hornbook.program.elaborate import Typed
from hornbook.program.errors import BranchError, RoundsExhausted
from hornbook.program.operators import (
    Conditional,
    Constant,
    Fallback,
    Holds,
    Iterate,
    Parallel,
    Sequence,
)
from hornbook.program.ports import ports_of, read_port
from hornbook.program.primitives import Primitive
from hornbook.program.types_forms import labels_of
from hornbook.step.control_flow import is_control_flow
from hornbook.step.effects import Inspect
from hornbook.trace.frame import RUN, current

__all__ = ["arguments", "live"]

_NO_FAILURE = (
    BudgetExceeded,
    ConfigError,
    DefinitionError,
    MissingExtra,
    PluginError,
    RunError,
    TraceError,
)
"""What another alternative would not mend: it says that the program or its run is at fault."""


@dataclass(frozen=True, slots=True)
class Within:
    """The branch of a Parallel that a node runs in: what references lead to."""

    results: Mapping[str, Any]
    outer: "Within | None"

    def at(self, resolved: Resolved) -> Any:
        """What a reference leads to."""
        here: Within | None = self
        for _ in range(resolved.depth):
            assert here is not None
            here = here.outer
        assert here is not None
        return here.results[resolved.name]


Around: TypeAlias = Within | None


def live(typed: Typed, value: Any, around: Around, place: str) -> Life:
    """The life of a node on a value, at its place."""
    node = typed.node
    match node:
        case Primitive():
            work = cast("Primitive[..., Any]", node).work
            assert typed.plan is not None
            return (yield from invoke(work, arguments(typed.plan, value, around), place=place))
        case Sequence():
            for suffix, part in typed.parts:
                value = yield from live(part, value, around, f"{place}{suffix}")
            return value
        case Parallel():
            return (yield from _parallel(typed, value, around, place))
        case Conditional():
            return (yield from _conditional(node, typed, value, around, place))
        case Iterate():
            return (yield from _iterate(node, typed, value, around, place))
        case Fallback():
            return (yield from _fallback(node, typed, value, around, place))
        case Holds():
            return (yield from _holds(node, typed, value, place))
        case Constant():
            return node.value
        case _:
            return value


def arguments(plan: Plan, value: Any, around: Around) -> dict[str, Any]:
    """The inputs of a primitive, as its plan says."""
    found = dict(plan.literals)
    for name, resolved in plan.refs.items():
        assert around is not None
        found[name] = around.at(resolved)
    for name in plan.ports:
        if not plan.loose or _has_port(value, name):
            found[name] = read_port(value, name)
    if plan.whole is not None:
        found[plan.whole] = value
    return found


def _has_port(value: Any, name: str) -> bool:
    return name in value if isinstance(value, Mapping) else hasattr(value, name)


def _parallel(typed: Typed, value: Any, around: Around, place: str) -> Life:
    def branch(name: str, part: Typed) -> Branch:
        def start(results: Mapping[str, Any]) -> Life:
            within = Within({**results, INPUT: value}, around)
            return live(part, value, within, f"{place}.{name}")

        return Branch(name=name, needs=typed.needs[name], start=start)

    branches = tuple(branch(suffix[1:], part) for suffix, part in typed.parts)
    results: Mapping[str, Any] = yield Together(branches)
    return {branch.name: results[branch.name] for branch in branches}


def _conditional(node: Conditional, typed: Typed, value: Any, around: Around, place: str) -> Life:
    test = typed.part(".test")
    label = yield from _label(test, value, around, f"{place}.test")
    known = labels_of(test.output) or ()
    branch = node.branch(label) if _among(label, known) else None
    if branch is None:
        named = ", ".join(repr(one) for one, _ in node.branches)
        raise BranchError(
            f"{place}: the test {node.test.name!r} gave {label!r:.80}, and no branch is for that; "
            f"there are branches for {named}: add one, or `otherwise`"
        )
    suffix, part = next(
        (suffix, part) for suffix, part in typed.parts if suffix != ".test" and part.node is branch
    )
    yield from decided(place, "branch", label=label, to=f"{place}{suffix}")
    return (yield from live(part, value, around, f"{place}{suffix}"))


def _label(test: Typed, value: Any, around: Around, place: str) -> Life:
    """What the test says; where only one label is possible, a pruning engine need not ask."""
    engine = yield from settings()
    node = test.node
    if engine.pruning and isinstance(node, Constant):
        return node.value
    return (yield from live(test, value, around, place))


def _among(label: Any, labels: tuple[Any, ...]) -> bool:
    return any(type(one) is type(label) and one == label for one in labels)


def _iterate(node: Iterate, typed: Typed, value: Any, around: Around, place: str) -> Life:
    body = typed.part("#1")
    for number in range(1, node.at_most + 1):
        before, here = value, f"{place}#{number}"
        value = yield from live(body, value, around, here)
        if node.until is not None:
            until = typed.part("#1.until")
            given = {"before": before, "after": value} if until.both else value
            done = yield from live(until, given, around, f"{here}.until")
            if done is True:
                yield from decided(place, "done", rounds=number)
                return value
    if node.until is not None:
        yield from decided(place, "exhausted", rounds=node.at_most, then=node.exhausted)
        if node.exhausted == "fail":
            raise RoundsExhausted(
                f"{place}: {node.at_most} rounds did not make {node.until.name!r} hold: allow more "
                f"with at_most=, or take the last result with exhausted='accept'"
            )
    return value


def _fallback(node: Fallback, typed: Typed, value: Any, around: Around, place: str) -> Life:
    failed: list[str] = []
    last = len(typed.parts) - 1
    for at, (suffix, part) in enumerate(typed.parts):
        try:
            return (yield from live(part, value, around, f"{place}{suffix}"))
        except Exception as error:
            if at == last or not _is_failure(error, node.on):
                for one in failed:
                    error.add_note(one)
                raise
            failed.append(f"before that, at {place}{suffix}: {_first_line(error)}")
            why = _first_line(error)
        yield from decided(place, "alternative", to=f"{place}[{at + 1}]", because=why)
    raise AssertionError("a Fallback has an alternative")  # pragma: no cover


def _is_failure(error: Exception, on: tuple[type[Exception], ...]) -> bool:
    from hornbook.models import ReplayError

    if is_control_flow(error) or isinstance(error, (*_NO_FAILURE, ReplayError)):
        return False
    return isinstance(error, on)


def _first_line(error: Exception) -> str:
    return told(error).partition("\n")[0][:400]


def _holds(node: Holds, typed: Typed, value: Any, place: str) -> Life:
    frame = current.get()
    run = None if frame is None else frame[RUN]
    inputs = {name: read_port(value, name) for name in ports_of(typed.input) or ()}
    report: ContractReport = yield Inspect(
        contract=node.contract,
        value=value,
        inputs=inputs,
        step=node.name,
        meter=None if run is None else run.meter,
    )
    failed = [violation.clause for violation in report.violations]
    yield from decided(place, "contract", contract=node.name, holds=report.ok, failed=failed)
    return report.ok
