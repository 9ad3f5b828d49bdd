"""Sub-process 5: match a function, bind its parameters, execute only what is fully bound."""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias, cast

from hornbook.contracts import ContractReport
from hornbook.contracts.paths import parse
from hornbook.engine import Life
from hornbook.kernel.arguments import COMPLETE, KNOWN, TYPED
from hornbook.kernel.binding import Bound, bind
from hornbook.kernel.context import GuardContext
from hornbook.kernel.execute import Outcome
from hornbook.kernel.grounds import Found, find
from hornbook.kernel.loose import fields_of
from hornbook.kernel.neural.forms import FillRequest, MatchRequest
from hornbook.kernel.prerequisites import PREREQUISITE
from hornbook.kernel.registry import ToolSpec
from hornbook.kernel.result import MissingFunction, MissingParameter, Refused, ToolFailed
from hornbook.kernel.scratchpad import BOTTOM
from hornbook.kernel.session import Session, Unanswered, about, shown
from hornbook.kernel.subprocesses import as_data
from hornbook.kernel.tasks import BindingSource, Call, Purpose, Task

__all__ = ["bound", "failed", "matched", "performed"]

Retrieve: TypeAlias = Callable[
    [Session, Task, Mapping[str, Any], str | None, str], Generator[Any, Any, Outcome | None]
]
"""Begins a retrieval task: with the proposal, the tool that may set it up, and the key."""

_OF_ARGUMENTS = (COMPLETE, KNOWN, TYPED)


def matched(session: Session, task: Task) -> Life:
    """MatchFunc(t, Omega): the tool that does a task; None is reported."""
    request = MatchRequest(
        task=as_data(task), tools=session.show(about(task), [task.tool] if task.tool else [])
    )
    place = f"{task.id}.match_func"
    answer = yield from session.ask(session.setup.subprocesses.match_func, request, place)
    why = answer.why if isinstance(answer, Unanswered) else ""
    name: Any = fields_of(answer).get("tool_name")
    spec = session.spec(name) if isinstance(name, str) else None
    if spec is None:
        why = why or ("" if name is None else f"there is no tool {name!r:.80}")
        session.decide("match-func", task.id, task.text, "none", why)
        session.reports.append(MissingFunction(task=task.id, why=why))
        return None
    session.decide("match-func", task.id, task.text, spec.name)
    return spec


def bound(session: Session, task: Task, spec: ToolSpec, retrieve: "Retrieve | None") -> Life:
    """Bind every parameter, or report which one is missing, or that the guard refuses.

    Args:
        session: the run.
        task: the task; its parameters are the turn context.
        spec: the matched tool.
        retrieve: the life of a retrieval task; None where none may be begun.
    """
    stated, found = dict(task.parameters), dict[str, tuple[Any, BindingSource]]()
    distrusted: frozenset[str] = frozenset()
    report: ContractReport | None = None
    for again in (False, True):
        made = bind(spec, stated, session.scratchpad, found=found, without=distrusted)
        if made.missing and retrieve is not None:
            yield from _get(session, task, spec, made.missing, stated, found, retrieve)
            made = bind(spec, stated, session.scratchpad, found=found, without=distrusted)
        if made.missing:
            return _missing(session, task, spec, made)
        report = _guarded(session, spec, made)
        if report is None or report.ok:
            _explain(session, task, made)
            return made, stated
        wrong = set(_wrong(report))
        if again or not wrong or not session.controls.recovery or retrieve is None:
            break
        # What the guard refuses counts as not stated, and is looked for once more.
        for name in sorted(wrong):
            session.decide("match-params", task.id, name, "set aside", _why(report, name))
            if stated.pop(name, BOTTOM) is BOTTOM:
                distrusted |= {name}
            found.pop(name, None)
    assert report is not None
    session.decide("execute", task.id, spec.name, "refused", str(report.violations[0].clause))
    session.reports.append(Refused(task=task.id, tool=spec.name, report=report))
    return None


def performed(
    session: Session,
    task: Task,
    spec: ToolSpec,
    made: Bound,
    stated: Mapping[str, Any],
    purpose: Purpose,
) -> Life:
    """Execute(f, B) behind the execution guard (INV-E); gives the outcome."""
    session.monitor.tick()
    session.monitor.executes(spec, made.arguments, made.bindings, stated)
    outcome: Outcome | None = yield from _outcome(session, task, spec, made)
    executed = outcome is not None
    step = session.monitor.tick()
    session.calls.append(
        Call(
            task=task.id,
            tool=spec.name,
            arguments=made.arguments,
            bindings=made.bindings,
            purpose=purpose,
            step=step,
            value=outcome.value if outcome is not None else None,
            error=outcome.error if outcome is not None else None,
            executed=executed,
        )
    )
    if outcome is None:
        session.decide("execute", task.id, spec.name, "proposed")
        return Outcome()
    if outcome.error is not None:
        session.decide("execute", task.id, spec.name, "failed", outcome.error)
        return outcome
    session.decide("execute", task.id, spec.name, "done")
    source = "result" if purpose == "task" else "retrieved"
    for key, value in _effects(spec, made.arguments, outcome.value).items():
        session.write(key, value, source)
    return outcome


def _outcome(session: Session, task: Task, spec: ToolSpec, made: Bound) -> Life:
    setup = session.setup
    if setup.mode == "advise":
        return None
    if len(session.calls) >= setup.max_tool_calls:
        return Outcome(error=f"not called: the turn's {setup.max_tool_calls} calls are used")
    return (
        yield from setup.tools[spec.name].call(
            dict(made.arguments),
            place=f"kernel.{task.id}.{spec.name}",
            limit=setup.max_result,
            error_of=setup.error_of,
        )
    )


def failed(session: Session, task: Task, spec: ToolSpec, outcome: Outcome) -> None:
    """Report a call that gave nothing that can be used."""
    why = outcome.error or ""
    session.reports.append(ToolFailed(task=task.id, tool=spec.name, why=why))


def _effects(spec: ToolSpec, arguments: Mapping[str, Any], value: Any) -> dict[str, Any]:
    """What a call writes: its declared effects, and its result under `tool()`."""
    fields = fields_of(value)
    written = {key: fields[field] for field, key in spec.result_key.items() if field in fields}
    for key in spec.effects:
        if key in written:
            continue
        if key in fields:
            written[key] = fields[key]
        elif key in arguments:
            written[key] = arguments[key]
        else:
            written[key] = True if value is None else value
    return {**written, f"{spec.name}()": value}


def _get(
    session: Session,
    task: Task,
    spec: ToolSpec,
    missing: tuple[str, ...],
    stated: dict[str, Any],
    found: dict[str, tuple[Any, BindingSource]],
    retrieve: "Retrieve",
) -> Life:
    """TaskToGet(m): values from the turn or the scratchpad, else a retrieval task."""
    names = tuple(
        name
        for name in missing
        if name not in session.looked and (task.id, name) not in session.asked
    )
    if not names:
        return
    for name in names:
        session.monitor.fires("TaskToGet", f"{task.id}.{name}")
        session.asked.add((task.id, name))
    request = FillRequest(
        task=as_data(task),
        tool=shown(spec),
        missing=names,
        turn=session.turn,
        state=session.known(),
        tools=session.show(about(task), only=session.retrieving()),
    )
    place = f"{task.id}.task_to_get"
    answer = yield from session.ask(session.setup.subprocesses.task_to_get, request, place)
    answered = fields_of(answer)
    for name, value in _chosen(fields_of(answered.get("values")), names):
        _take(session, name, value, stated, found)
    left = [name for name in names if name not in stated and name not in found]
    proposal = fields_of(answered.get("task"))
    if left and proposal:
        outcome = yield from retrieve(session, task, proposal, None, left[0])
        for name, value in _picked(outcome, left):
            found[name] = (value, "retrieved")
            session.write(name, value, "retrieved")
    for name in left:
        if name not in found:
            session.write(name, BOTTOM, "retrieved")


def _chosen(values: Mapping[str, Any], names: Sequence[str]) -> Iterator[tuple[str, Any]]:
    yield from ((name, values[name]) for name in names if values.get(name) is not None)


def _take(
    session: Session,
    name: str,
    value: Any,
    stated: dict[str, Any],
    found: dict[str, tuple[Any, BindingSource]],
) -> None:
    """A value that the primitive read: of the turn where it stands there, else of the state."""
    said = GuardContext(turns=(*session.history, session.turn)).sources()
    if isinstance(find(value, said), Found) or not _held(session, value):
        stated[name] = value
        session.write(name, value, "turn")
    else:
        found[name] = (value, "scratchpad")


def _held(session: Session, value: Any) -> bool:
    held = list(session.known().values())
    if any(value == one for one in held):
        return True
    sources = GuardContext(state=session.known()).sources()
    items = cast("list[Any]", value) if isinstance(value, list) else [value]
    return all(isinstance(find(one, sources), Found) for one in items)


def _picked(outcome: Outcome | None, names: Sequence[str]) -> Iterator[tuple[str, Any]]:
    if outcome is None or outcome.error is not None or outcome.value is None:
        return
    value = outcome.value
    if isinstance(value, Mapping):
        yield from _chosen(fields_of(cast("object", value)), names)
    elif len(names) == 1:
        yield names[0], value


def _missing(session: Session, task: Task, spec: ToolSpec, made: Bound) -> None:
    name = made.missing[0]
    session.decide("match-params", task.id, name, "missing")
    session.reports.append(MissingParameter(task=task.id, name=name, tool=spec.name))


def _guarded(session: Session, spec: ToolSpec, made: Bound) -> ContractReport | None:
    if not session.controls.contracts:
        return None
    report = session.setup.guard.check(spec.name, made.arguments, session.context())
    if session.controls.prerequisites and session.setup.mode == "execute":
        return report
    left = tuple(one for one in report.violations if one.clause != PREREQUISITE)
    return replace(report, ok=not left, violations=left)


def _wrong(report: ContractReport) -> Iterator[str]:
    """The parameters that a refusal is about."""
    for one in report.violations:
        if one.clause in _OF_ARGUMENTS or one.clause.startswith("grounded "):
            segments = parse(one.path).segments
            if segments and isinstance(segments[0], str):
                yield segments[0]


def _why(report: ContractReport, name: str) -> str:
    return next((one.clause for one in report.violations if one.path.startswith(name)), "")


def _explain(session: Session, task: Task, made: Bound) -> None:
    for one in made.bindings:
        session.decide("match-params", task.id, one.parameter, one.source)
