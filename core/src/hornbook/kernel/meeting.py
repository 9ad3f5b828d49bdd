"""Sub-process 4: check prerequisites; retrieve what is absent, propose what would meet the rest."""

from collections.abc import Mapping
from typing import Any

from hornbook.engine import Life
from hornbook.errors import told
from hornbook.kernel.execute import Outcome
from hornbook.kernel.failures import is_failure
from hornbook.kernel.loose import fields_of
from hornbook.kernel.matching import bound, performed
from hornbook.kernel.neural.forms import CheckRequest
from hornbook.kernel.prerequisites import Prerequisite
from hornbook.kernel.registry import ToolSpec
from hornbook.kernel.result import Blocked, Proposed
from hornbook.kernel.scratchpad import BOTTOM
from hornbook.kernel.session import Session, Unanswered, about
from hornbook.kernel.subprocesses import as_data
from hornbook.kernel.tasks import Task
from hornbook.program import Program

__all__ = ["met", "retrieved"]


def met(session: Session, task: Task, spec: ToolSpec, *, within: bool = False) -> Life:
    """Whether all prerequisites of a tool are met; the first that is not is reported.

    Args:
        session: the run.
        task: the task that needs the tool.
        spec: the tool.
        within: it is a retrieval task's own tool: what fails there is reported by its task.
    """
    for one in spec.prerequisites if session.controls.prerequisites else ():
        verdict, why = yield from _checked(session, task, one)
        if verdict == "Absent":
            session.monitor.fires("Absent", one.key)
            # From now on, so that no retrieval waits for what it is to retrieve.
            session.looked.add(one.key)
            proposed = yield from _retrieve(session, task, one)
            if proposed and session.setup.mode == "advise":
                continue
            verdict, why = yield from _checked(session, task, one)
        if verdict != "Met":
            if not within:
                yield from _block(session, task, one, why)
            return False
    return True


def retrieved(
    session: Session, task: Task, proposal: Mapping[str, Any], setup: str | None, key: str
) -> Life:
    """Execute a retrieval task: by a tool that only reads, or the one that was named."""
    spec = session.spec(str(proposal.get("tool_name")))
    if spec is None or spec.name not in session.retrieving(setup):
        why = "no tool that only reads, nor the one that sets it up"
        session.decide("retrieve", task.id, key, "refused", why)
        return None
    stated = fields_of(proposal.get("parameters"))
    own = Task(id=f"{task.id}/{key}", tool=spec.name, parameters=stated)
    if not (yield from met(session, own, spec, within=True)):
        session.decide("retrieve", task.id, key, "blocked")
        return None
    before = len(session.reports)
    made = yield from bound(session, own, spec, None)
    # What stops a retrieval is told by the report of the task that needed it.
    del session.reports[before:]
    if made is None:
        session.decide("retrieve", task.id, key, "unbound")
        return None
    binding, said = made
    outcome: Outcome = yield from performed(session, own, spec, binding, said, "retrieval")
    return outcome


def _checked(session: Session, task: Task, one: Prerequisite) -> Life:
    """Check(p, S): Met, NotMet or Absent (equation 1)."""
    verdict, why = yield from _verdict(session, task, one)
    session.decide("check-prerequisites", task.id, one.key, verdict, why)
    return verdict, why


def _verdict(session: Session, task: Task, one: Prerequisite) -> Life:
    if session.absent(one.key):
        return "Absent", ""
    value = session.scratchpad.get(one.key, BOTTOM)
    if value is BOTTOM:
        return "NotMet", "it was looked for and not found"
    if isinstance(one.sat, Program):
        place = f"{task.id}.sat.{one.key}"
        answer = yield from session.ask(one.sat, value, place)
        if isinstance(answer, Unanswered):
            return "NotMet", answer.why
        return ("Met" if _enough(answer, one) else "NotMet"), ""
    if one.sat is None:
        return ("Met" if value is not None else "NotMet"), ""
    try:
        return ("Met" if _enough(one.sat(value), one) else "NotMet"), ""
    except Exception as error:
        if not is_failure(error):
            raise
        return "NotMet", f"its predicate raised {told(error)[:200]}"


def _enough(answer: Any, one: Prerequisite) -> bool:
    """The decision of a predicate, thresholded where it is a number."""
    if isinstance(answer, bool):
        return answer
    return isinstance(answer, float | int) and answer >= one.threshold


def _retrieve(session: Session, task: Task, one: Prerequisite) -> Life:
    """Look for an absent key, once; whether a call was at least proposed."""
    answer: dict[str, Any] = yield from _proposal(session, task, one, "absent")
    setup = session.spec(one.setup)
    if not answer and setup is not None:
        answer = {"tool_name": setup.name, "parameters": {}}
    calls = len(session.calls)
    outcome: Outcome | None = None
    if answer:
        outcome = yield from retrieved(session, task, answer, one.setup, one.key)
    if session.setup.mode == "execute":
        spec = session.spec(str(answer.get("tool_name")))
        if spec is None or not _wrote(session, spec, one.key, outcome):
            session.write(one.key, _value(outcome, one.key), "retrieved")
    return len(session.calls) > calls


def _wrote(session: Session, spec: ToolSpec, key: str, outcome: Outcome | None) -> bool:
    """Whether the call has written the key itself, as one of its declared effects."""
    declares = key in spec.effects or key in spec.result_key.values()
    return declares and outcome is not None and outcome.error is None and key in session.scratchpad


def _value(outcome: Outcome | None, key: str) -> Any:
    if outcome is None or outcome.error is not None:
        return BOTTOM
    fields = fields_of(outcome.value)
    if fields or outcome.value == {}:
        return fields.get(key, fields or BOTTOM)
    return BOTTOM if outcome.value is None else outcome.value


def _proposal(session: Session, task: Task, one: Prerequisite, outcome: Any) -> Life:
    """At most one task that finds a key out, or that would meet it (E.3)."""
    absent = outcome == "absent"
    only = session.retrieving(one.setup) if absent else None
    request = CheckRequest(
        key=one.key,
        outcome=outcome,
        task=as_data(task),
        turn=session.turn,
        tools=session.show(f"{one.key} {about(task)}", [one.setup] if one.setup else [], only=only),
        state=session.known(),
        setup=one.setup,
        message=one.message,
    )
    name = "task_to_check" if absent else "task_to_meet"
    program = getattr(session.setup.subprocesses, name)
    answer = yield from session.ask(program, request, f"{task.id}.{name}.{one.key}")
    if isinstance(answer, Unanswered):
        session.decide(name.replace("_", "-"), task.id, one.key, "no answer", answer.why)
    return fields_of(fields_of(answer).get("task"))


def _block(session: Session, task: Task, one: Prerequisite, why: str) -> Life:
    """Report Blocked with a remediation, which is proposed and never executed."""
    answer: dict[str, Any] = yield from _proposal(session, task, one, "not_met")
    spec = session.spec(str(answer.get("tool_name")))
    remediation = None
    if spec is not None:
        parameters = fields_of(answer.get("parameters"))
        remediation = Proposed(tool=spec.name, parameters=parameters)
    session.reports.append(
        Blocked(
            task=task.id,
            prerequisite=one.key,
            remediation=remediation,
            why=why or one.message,
        )
    )
