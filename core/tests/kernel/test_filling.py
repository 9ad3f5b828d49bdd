"""TaskToGet and the contracts of the primitives: what each refuses, and what comes of it."""

import pickle

import pytest

from hornbook.kernel.guard import ToolGuard
from hornbook.kernel.neural.contracts import contract_of
from hornbook.kernel.neural.forms import FillRequest, MatchRequest, TurnsRequest
from hornbook.kernel.registry import ToolRegistry, ToolSpec
from hornbook.kernel.result import InvariantViolation, MissingParameter

from .kernels import kernel, made, planning, sources, task


def ping(host: str) -> str:
    """Ping a host."""
    return f"{host} is up"


GUARD = ToolGuard(ToolRegistry.of(ping))
SHOWN = {"name": "ping", "parameters": {"type": "object", "properties": {"host": {}}}}


def hints(name, value, request):
    report = contract_of(name, GUARD).check(value, {"request": request})
    return [one.hint for one in report.violations]


@pytest.mark.requirement("kernel:primitives:contracts")
def test_a_plan_is_held_to_the_tools_and_to_the_request():
    request = TurnsRequest(turn="ping H-1234 and H-5678")
    plan = [
        task("t1", "pong", host="H-1234"),
        task("t1", "ping", ["t9"], host="H-0000"),
        task("t2", "ping", port=7),
    ]
    assert hints("turns", {"tasks": plan}, request) == [
        "2 tasks have the id 't1'",
        "task 't1': there is no tool 'pong'; nearest: ping",
        "task 't1' depends on 't9', which is no task",
        "task 't1': ping.host: expected a value that the user gave or a tool returned, "
        "got 'H-0000'; task 't2': ping.port: expected no such argument, got 7",
        "no task is about 'H-5678' of the request",
    ]


@pytest.mark.requirement("kernel:primitives:contracts")
def test_the_other_answers_are_held_to_what_was_asked():
    match = MatchRequest(task=task("t1", None, port=7), tools=(SHOWN,))
    assert hints("match_func", {"tool_name": "pong"}, match) == [
        "'pong' is none of the tools shown"
    ]
    assert hints("match_func", {"tool_name": "ping"}, match) == [
        "'ping' has no parameter 'port', which the task states"
    ]
    assert hints("match_func", {"tool_name": None}, match) == []
    fill = FillRequest(task=task("t1", "ping"), tool=SHOWN, missing=("host",), turn="ping it")
    answer = {"values": {"host": "mail", "port": 3}, "task": {"tool_name": "x", "parameters": {}}}
    assert hints("task_to_get", answer, fill)[0] == "'port' is not missing; host is"
    assert hints("task_to_get", answer, fill)[-1] == "'x' may not be proposed; none may"


@pytest.mark.requirement("kernel:binding:filled")
def test_what_the_primitive_reads_from_the_state_is_told_as_of_the_scratchpad():
    fill = lambda request: {"values": {"host": "H-4242"}}  # noqa: E731
    result = kernel([ping], planning(task("t1", "ping"), task_to_get=fill)).run(
        "ping it", state={"last_machine": "H-4242"}
    )
    assert made(result) == [("ping", {"host": "H-4242"})]
    assert sources(result) == {"ping.host": "scratchpad"}


@pytest.mark.requirement("kernel:prerequisites:failed-retrieval")
def test_a_parameter_that_no_retrieval_found_is_looked_for_once_in_a_turn():
    asked = []

    def find_host() -> dict:
        """Find a host."""
        asked.append("find_host")
        return {}

    look = {"values": {}, "task": {"tool_name": "find_host", "parameters": {}}}
    functions = [ToolSpec.of(find_host, read_only=True), ping]
    plan = planning(task("t1", "ping"), task("t2", "ping"), task_to_get=lambda request: look)
    result = kernel(functions, plan, {"find_host": find_host}).run("ping them")
    assert asked == ["find_host"]
    assert [type(one) for one in result.reports] == [MissingParameter, MissingParameter]


@pytest.mark.requirement("kernel:binding:filled")
def test_a_retrieved_value_of_another_type_is_not_asked_for_again():
    def find_host() -> dict:
        """Find a host."""
        return {"host": {"deep": 3}}

    look = {"values": {}, "task": {"tool_name": "find_host", "parameters": {}}}
    functions = [ToolSpec.of(find_host, read_only=True), ping]
    plan = planning(task("t1", "ping"), task_to_get=lambda request: look)
    result = kernel(functions, plan, {"find_host": find_host}).run("ping it")
    assert made(result) == [("find_host", {})]
    assert result.reports == (MissingParameter(task="t1", name="host", tool="ping"),)


@pytest.mark.requirement("kernel:invariants:monitor")
def test_an_invariant_violation_can_be_pickled():
    error = pickle.loads(pickle.dumps(InvariantViolation("INV-S", 3, "why")))
    assert (error.invariant, error.step, str(error)) == (
        "INV-S",
        3,
        "INV-S does not hold at step 3: why",
    )
