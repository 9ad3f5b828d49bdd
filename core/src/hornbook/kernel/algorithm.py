"""Algorithm 2 of Forethought: the control flow over the five sub-processes.

A life, so that sync and async runs are one and leave equal records.
"""

from hornbook.engine import Life
from hornbook.kernel.execute import Outcome
from hornbook.kernel.invariants import params_of
from hornbook.kernel.matching import bound, failed, matched, performed
from hornbook.kernel.meeting import met, retrieved
from hornbook.kernel.neural.forms import TurnsRequest
from hornbook.kernel.ordering import DependencyGraph
from hornbook.kernel.registry import ToolSpec
from hornbook.kernel.result import Cycle, DependencyBlocked, PrimitiveFailed
from hornbook.kernel.session import Session, Unanswered
from hornbook.kernel.subprocesses import Ordering, Plan
from hornbook.kernel.tasks import Task

__all__ = ["live_turn"]


def live_turn(session: Session) -> Life:
    """Do what one turn asks; gives the `KernelResult`.

    Raises:
        InvariantViolation: one of the five invariants does not hold.
        BudgetExceeded: the run has nothing left.
    """
    yield from session.begun()
    plan = yield from _decomposed(session)
    if plan is None:
        return session.result()
    _init_scratchpad(session, plan)
    ordering = yield from _ordered(session, plan)
    if ordering is None:
        return session.result()
    tasks = {task.id: task for task in plan.tasks}
    undone: set[str] = set()
    for name in ordering.order:
        session.monitor.tick()
        session.monitor.begins(name)
        if not (yield from _done(session, tasks[name], ordering, undone)):
            undone.add(name)
        session.monitor.ends(name)
    session.monitor.finishes()
    return session.result()


def _decomposed(session: Session) -> Life:
    """Sub-process 1."""
    request = TurnsRequest(
        turn=session.turn,
        tools=session.show(session.turn),
        state=session.known(),
        history=session.history,
    )
    plan: Plan | Unanswered = yield from session.ask(
        session.setup.subprocesses.decompose, request, "decompose"
    )
    if isinstance(plan, Unanswered):
        _failed(session, "turns", plan)
        return None
    session.tasks = {task.id: task.text for task in plan.tasks}
    for task in plan.tasks:
        session.decide("decompose", task.id, task.text, task.tool or "no tool")
    if plan.dropped:
        why = f"{plan.dropped} of its entries are no tasks, or too many"
        _failed(session, "turns", Unanswered(why))
    return plan


def _init_scratchpad(session: Session, plan: Plan) -> None:
    """Sub-process 2: S(k) = config(k) for each key of the configuration."""
    for key, value in {**plan.config, **session.setup.config}.items():
        session.write(key, value, "config")


def _ordered(session: Session, plan: Plan) -> Life:
    """Sub-process 3; a cyclic graph halts the run with the cycle named (INV-T)."""
    question = Ordering(
        turn=session.turn, tasks=plan.tasks, graph=_implied(session, plan), unknown={}
    )
    ordering: Ordering | Unanswered = yield from session.ask(
        session.setup.subprocesses.get_order, question, "get-order"
    )
    if isinstance(ordering, Unanswered):
        _failed(session, "get-order", ordering)
        return None
    if ordering.cycle:
        session.decide("get-order", None, "order", "cycle", " -> ".join(ordering.cycle))
        session.reports.append(Cycle(tasks=ordering.cycle))
        return None
    session.decide("get-order", None, "order", ", ".join(ordering.order))
    session.monitor.ordered(ordering.order, ordering.graph.needs)
    session.order = ordering.order
    return ordering


def _implied(session: Session, plan: Plan) -> DependencyGraph:
    """Who writes what another needs, by the tools' own declarations: data flow by construction."""
    ids = [task.id for task in plan.tasks]
    needs: dict[str, list[str]] = {}
    for task in plan.tasks if session.controls.prerequisites else ():
        spec = session.spec(task.tool)
        keys = [] if spec is None else _needed(session, task, spec)
        for key in keys:
            writers = [one for one in ids if one != task.id and key in _written(session, plan, one)]
            before = [one for one in writers if ids.index(one) < ids.index(task.id)]
            needs.setdefault(task.id, []).extend(before[-1:] or writers[:1])
    return DependencyGraph.of(ids, needs)


def _needed(session: Session, task: Task, spec: ToolSpec) -> list[str]:
    names = [one.key for one in spec.prerequisites]
    names += [name for name in params_of(spec, ()) if name not in task.parameters]
    return sorted(name for name in dict.fromkeys(names) if session.absent(name))


def _written(session: Session, plan: Plan, name: str) -> set[str]:
    task = next(one for one in plan.tasks if one.id == name)
    spec = session.spec(task.tool)
    return set() if spec is None else {*spec.effects, *spec.result_key.values()}


def _done(session: Session, task: Task, ordering: Ordering, undone: set[str]) -> Life:
    """One task, to its call or its report; what goes wrong abandons it alone (INV-R)."""
    missing = ordering.unknown.get(task.id)
    for need in (*ordering.graph.needs[task.id], *([missing] if missing else [])):
        if need in undone or need == missing:
            session.decide("execute", task.id, task.text, "blocked", f"needs {need}")
            session.reports.append(DependencyBlocked(task=task.id, on=need))
            return False
    expected = session.spec(task.tool)
    if expected is not None and not (yield from met(session, task, expected)):
        return False
    spec: ToolSpec | None = yield from matched(session, task)
    if spec is None:
        return False
    if spec is not expected and not (yield from met(session, task, spec)):
        return False
    made = yield from bound(session, task, spec, retrieved)
    if made is None:
        return False
    binding, stated = made
    outcome: Outcome = yield from performed(session, task, spec, binding, stated, "task")
    if outcome.error is not None:
        failed(session, task, spec, outcome)
    return outcome.error is None


def _failed(session: Session, name: str, answer: Unanswered) -> None:
    session.decide(name, None, session.turn[:200], "no answer", answer.why)
    session.reports.append(PrimitiveFailed(task=None, primitive=name, why=answer.why))
