"""The kernel from its public side: turns, prerequisites, bindings, reports, state."""

import asyncio

import pytest

import hornbook
from hornbook import Budget, BudgetExceeded
from hornbook.engine import Controls, Engine
from hornbook.errors import DefinitionError
from hornbook.kernel.kernel import Kernel
from hornbook.kernel.neural.primitives import Primitives
from hornbook.kernel.prerequisites import Prerequisite
from hornbook.kernel.registry import ToolRegistry, ToolSpec
from hornbook.kernel.result import (
    Blocked,
    Cycle,
    DependencyBlocked,
    MissingFunction,
    MissingParameter,
    Proposed,
    Refused,
)
from hornbook.kernel.scratchpad import BOTTOM
from hornbook.models import ScriptedModel
from hornbook.program import primitive

from .kernels import kernel, made, planning, sources, task, told

PLAY = (
    "Play Marvin Gaye for 15 minutes, and after that finishes, play Stevie Wonder for 12 minutes."
)


def play(artist: str, duration: int) -> str:
    """Play an artist for some minutes."""
    return f"{artist} plays"


def ping(host: str) -> str:
    """Ping a host."""
    return f"{host} is up"


def prompted():
    return ScriptedModel(
        [
            {
                "tasks": [
                    task("t1", "play", artist="Marvin Gaye", duration=15),
                    task("t2", "play", ["t1"], artist="Stevie Wonder", duration=12),
                ],
                "config_keys": {},
            },
            {"tool_name": "play"},
            {"tool_name": "play"},
        ]
    )


@pytest.mark.requirement("kernel:run:prompted")
def test_a_model_under_the_kernels_prompts_answers_all_primitives():
    model = prompted()
    result = Kernel([play], model).run(PLAY)
    assert result.ok
    assert made(result) == [
        ("play", {"artist": "Marvin Gaye", "duration": 15}),
        ("play", {"artist": "Stevie Wonder", "duration": 12}),
    ]
    assert [one.value for one in result.calls] == ["Marvin Gaye plays", "Stevie Wonder plays"]
    assert result.order == ("t1", "t2")
    assert model.calls == 3
    assert model.requests[1].schema["required"] == ["tool_name"]


def steps(events):
    return [(event.kind, event.name) for event in events if event.kind.startswith("step")]


@pytest.mark.requirement("kernel:run:colours")
async def test_sync_and_async_runs_are_one_and_leave_equal_records():
    with hornbook.run() as one:
        sync = await asyncio.to_thread(one.wrap(Kernel([play], prompted()).run), PLAY)
    with hornbook.run() as other:
        result = await Kernel([play], prompted()).arun(PLAY)
    assert result == sync or result.decisions == sync.decisions
    assert made(result) == made(sync)
    assert steps(other.events) == steps(one.events)


@pytest.mark.requirement("kernel:run:colours")
async def test_async_tools_and_primitives_are_awaited():
    async def turns(request):
        await asyncio.sleep(0)
        return {"tasks": [task("t1", "fetch", url="a.b/1")]}

    async def fetch(url: str) -> str:
        await asyncio.sleep(0)
        return url.upper()

    made_of = kernel([fetch], Primitives(turns=turns))
    assert (await made_of.arun("get a.b/1")).calls[0].value == "A.B/1"
    assert made_of.run("get a.b/1").calls[0].value == "A.B/1"


@pytest.mark.requirement("kernel:run:recorded")
def test_every_sub_process_and_call_is_a_recorded_step():
    with hornbook.run() as run:
        kernel([ping], planning(task("t1", "ping", host="h1"))).run("ping h1")
    names = [event.name for event in run.events if event.kind == "step.start"]
    assert {"kernel", "turns", "build_dep_graph", "match_func", "ping"} <= set(names)
    (call,) = [one for one in run.events if one.kind == "step.start" and one.name == "ping"]
    assert call.data["step_kind"] == "tool" if "step_kind" in call.data else True


def reserve(room: str) -> str:
    """Reserve a room."""
    return "reserved"


def signed_in(setup: str | None = "log_in", sat=None) -> Prerequisite:
    return Prerequisite(key="authenticated", setup=setup, sat=sat)


class Desk:
    """A desk with a login."""

    def __init__(self, answer=True):
        self.log = []
        self.answer = answer

    def log_in(self) -> dict:
        self.log.append("log_in")
        if isinstance(self.answer, Exception):
            raise self.answer
        return {"authenticated": self.answer}

    def reserve(self, room: str) -> str:
        self.log.append(f"reserve {room}")
        return "reserved"

    def status(self) -> dict:
        self.log.append("status")
        return {"authenticated": self.answer}

    def kernel(self, primitives, needs=(), **settings):
        specs = [
            ToolSpec.of(self.log_in, effects=("authenticated",)),
            ToolSpec.of(self.reserve, prerequisites=needs or (signed_in(sat=bool),)),
            ToolSpec.of(self.status, read_only=True),
        ]
        calls = {"log_in": self.log_in, "reserve": self.reserve, "status": self.status}
        return Kernel(ToolRegistry(specs), primitives=primitives, calls=calls, **settings)


ROOM = task("t1", "reserve", room="R12")


@pytest.mark.requirement("kernel:prerequisites:met")
def test_a_prerequisite_that_the_state_meets_costs_nothing():
    desk = Desk()
    result = desk.kernel(planning(ROOM)).run("reserve R12", state={"authenticated": True})
    assert result.ok
    assert desk.log == ["reserve R12"]


@pytest.mark.requirement("kernel:prerequisites:absent")
def test_what_is_absent_is_set_up_by_the_named_tool_once():
    desk = Desk()
    other = task("t2", "reserve", room="R13")
    result = desk.kernel(planning(ROOM, other)).run("reserve R12 and R13")
    assert result.ok
    assert desk.log == ["log_in", "reserve R12", "reserve R13"]
    assert [one.purpose for one in result.calls] == ["retrieval", "task", "task"]
    assert result.scratchpad["authenticated"] is True


@pytest.mark.requirement("kernel:prerequisites:not-met")
def test_what_is_not_met_blocks_its_task_with_a_remediation_that_is_never_executed():
    desk = Desk()
    propose = {"task": {"tool_name": "log_in", "parameters": {}}}
    primitives = planning(ROOM, task("t2", "status"), task_to_meet=lambda request: propose)
    result = desk.kernel(primitives).run("reserve R12", state={"authenticated": False})
    assert result.reports == (
        Blocked(
            task="t1",
            prerequisite="authenticated",
            remediation=Proposed(tool="log_in", parameters={}),
        ),
    )
    assert told(result) == [
        "task 't1' is blocked: 'authenticated' is not met; log_in() would meet it"
    ]
    assert desk.log == ["status"]


@pytest.mark.requirement("kernel:prerequisites:failed-retrieval")
def test_a_retrieval_that_fails_writes_bottom_and_is_not_tried_again_in_the_turn():
    desk = Desk(answer=OSError("down"))
    made_of = desk.kernel(planning(ROOM, task("t2", "reserve", room="R13")))
    result = made_of.run("reserve R12 and R13")
    assert [one.prerequisite for one in result.reports] == ["authenticated", "authenticated"]
    assert desk.log == ["log_in"]
    assert result.scratchpad["authenticated"] is BOTTOM
    desk.answer = True
    later = made_of.run("reserve R12 and R13", state=result.scratchpad)
    assert later.ok
    assert desk.log == ["log_in", "log_in", "reserve R12", "reserve R13"]


@pytest.mark.requirement("kernel:retrieval:read-only")
def test_retrieval_uses_only_tools_that_read_or_that_the_prerequisite_names():
    def propose(request):
        return {"task": {"tool_name": "reserve", "parameters": {"room": "R12"}}}

    desk = Desk()
    primitives = planning(ROOM, task_to_check=propose)
    without_setup = (Prerequisite(key="authenticated", sat=bool),)
    result = desk.kernel(
        primitives, without_setup, engine=Engine(controls=Controls(contracts=False))
    )
    told_of = result.run("reserve R12")
    assert isinstance(told_of.reports[0], Blocked)
    assert desk.log == []


@pytest.mark.requirement("kernel:retrieval:read-only")
def test_a_tool_that_reads_may_find_a_prerequisite_out():
    desk = Desk()
    look = {"task": {"tool_name": "status", "parameters": {}}}
    primitives = planning(ROOM, task_to_check=lambda request: look)
    result = desk.kernel(primitives, (Prerequisite(key="authenticated", sat=bool),)).run(
        "reserve R12"
    )
    assert result.ok
    assert desk.log == ["status", "reserve R12"]


@pytest.mark.requirement("kernel:prerequisites:neural")
def test_a_predicate_may_be_a_primitive_and_what_it_cannot_say_is_not_met():
    @primitive
    def is_admin(role: str) -> float:
        return 0.9 if role == "root" else 0.1

    needs = (Prerequisite(key="role", sat=is_admin),)
    desk = Desk()
    made_of = desk.kernel(planning(ROOM), needs)
    assert made_of.run("reserve R12", state={"role": "root"}).ok
    assert not made_of.run("reserve R12", state={"role": "guest"}).ok
    raising = desk.kernel(planning(ROOM), (Prerequisite(key="role", sat=lambda role: 1 / 0),))
    (report,) = raising.run("reserve R12", state={"role": "root"}).reports
    assert report.why == "its predicate raised ZeroDivisionError: division by zero"


@pytest.mark.requirement("kernel:prerequisites:contradictory")
def test_contradictory_prerequisites_block_the_task_and_nothing_else():
    needs = (Prerequisite(key="mode", sat=lambda mode: mode == "on"),)
    needs += (Prerequisite(key="mode", sat=lambda mode: mode == "off"),)
    desk = Desk()
    result = desk.kernel(planning(ROOM, task("t2", "status")), needs).run(
        "reserve R12", state={"mode": "on"}
    )
    assert [type(one) for one in result.reports] == [Blocked]
    assert desk.log == ["status"]


def update_passengers(reservation_id: str, passengers: list[dict]) -> str:
    """Change the passengers of a reservation."""
    return "updated"


@pytest.mark.requirement("kernel:binding:leaves")
def test_a_field_that_the_request_does_not_mention_keeps_what_the_scratchpad_holds():
    def get_reservation(reservation_id: str) -> dict:
        born = "1998-08-02"
        return {"passengers": [{"first_name": "Ethan", "last_name": "Nguyen", "dob": born}]}

    primitives = planning(
        task("t1", "get_reservation", reservation_id="G2LTC4"),
        task(
            "t2",
            "update_passengers",
            ["t1"],
            reservation_id="G2LTC4",
            passengers=[{"first_name": "James", "last_name": "Nguyen"}],
        ),
    )
    reading = ToolSpec.of(get_reservation, read_only=True, effects=("passengers",))
    result = kernel(
        [reading, update_passengers], primitives, {"get_reservation": get_reservation}
    ).run("Correct passenger name on reservation G2LTC4 to James Nguyen.")
    assert made(result)[1] == (
        "update_passengers",
        {
            "reservation_id": "G2LTC4",
            "passengers": [{"first_name": "James", "last_name": "Nguyen", "dob": "1998-08-02"}],
        },
    )
    assert sources(result) == {
        "get_reservation.reservation_id": "turn",
        "update_passengers.reservation_id": "turn",
        "update_passengers.passengers[0].first_name": "turn",
        "update_passengers.passengers[0].last_name": "turn",
        "update_passengers.passengers[0].dob": "scratchpad",
    }


@pytest.mark.requirement("kernel:binding:lookup")
def test_lookup_is_by_key_and_never_by_resemblance():
    def exchange(item_ids: list[str], new_item_ids: list[str]) -> str:
        return "exchanged"

    state = {"item_ids": ["I-200", "I-201"]}
    primitives = planning(task("t1", "exchange", new_item_ids=["I-100", "I-101"]))
    result = kernel([exchange], primitives).run("exchange for I-100 and I-101", state=state)
    assert made(result) == [
        ("exchange", {"item_ids": ["I-200", "I-201"], "new_item_ids": ["I-100", "I-101"]})
    ]
    assert sources(result)["exchange.item_ids[0]"] == "scratchpad"


@pytest.mark.requirement("kernel:binding:filled")
def test_missing_values_are_read_from_the_turn_or_the_state_and_never_invented():
    asked = []

    def fill(request):
        asked.append(request.missing)
        return {"values": {"host": "h77" if len(asked) > 1 else "h99"}}

    result = kernel([ping], planning(task("t1", "ping"), task_to_get=fill)).run("ping h77")
    assert made(result) == [("ping", {"host": "h77"})]
    assert asked == [("host",), ("host",)]
    liar = planning(task("t1", "ping"), task_to_get=lambda request: {"values": {"host": "h99"}})
    result = kernel([ping], liar).run("ping h77")
    assert result.calls == ()
    assert told(result) == ["task 't1': ping needs 'host', which is not known"]


@pytest.mark.requirement("kernel:binding:filled")
def test_a_missing_value_may_be_retrieved():
    def find_host(name: str) -> dict:
        return {"host": "h42"}

    look = {"values": {}, "task": {"tool_name": "find_host", "parameters": {"name": "mail"}}}
    primitives = planning(task("t1", "ping"), task_to_get=lambda request: look)
    result = kernel(
        [ToolSpec.of(find_host, read_only=True), ping], primitives, {"find_host": find_host}
    ).run("ping the mail host")
    assert made(result) == [("find_host", {"name": "mail"}), ("ping", {"host": "h42"})]
    assert sources(result)["ping.host"] == "retrieved"
    assert result.scratchpad["host"] == "h42"


@pytest.mark.requirement("kernel:binding:stale")
def test_what_one_turn_said_fills_no_parameter_of_a_later_one():
    fill = lambda request: {"values": {"host": "h77"} if "h77" in request.turn else {}}  # noqa: E731
    made_of = kernel([ping], planning(task("t1", "ping"), task_to_get=fill))
    first = made_of.run("ping h77")
    assert first.ok
    second = made_of.run("ping again", state=first.scratchpad)
    assert second.reports == (MissingParameter(task="t1", name="host", tool="ping"),)


@pytest.mark.requirement("kernel:binding:grounded")
def test_every_result_of_the_conversation_is_a_source():
    def find_host(name: str) -> dict:
        """Find the host of a service."""
        return {"address": {"mail": "H-4242", "web": "H-9191"}[name]}

    functions = [ToolSpec.of(find_host, read_only=True), ping]
    look = [task("t1", "find_host", name="mail"), task("t2", "find_host", name="web")]
    first = kernel(functions, planning(*look), {"find_host": find_host}).run("find mail and web")
    plan = planning(task("t1", "ping", host="H-4242"), task("t2", "ping", host="H-0000"))
    second = kernel(functions, plan, {"find_host": find_host}).run(
        "ping the first", state=first.scratchpad
    )
    assert made(second) == [("ping", {"host": "H-4242"})]
    assert second.reports == (MissingParameter(task="t2", name="host", tool="ping"),)


@pytest.mark.requirement("kernel:binding:refused")
def test_an_invented_value_is_set_aside_and_looked_for_again():
    primitives = planning(
        task("t1", "ping", host="h99"), task_to_get=lambda request: {"values": {"host": "h77"}}
    )
    result = kernel([ping], primitives).run("ping h77")
    assert made(result) == [("ping", {"host": "h77"})]
    aside = [one for one in result.decisions if one.outcome == "set aside"]
    assert [str(one) for one in aside] == ["match-params(t1): host -> set aside (grounded host)"]


@pytest.mark.requirement("kernel:binding:refused")
def test_what_the_guard_refuses_for_another_reason_is_not_called():
    from hornbook.contracts import clauses
    from hornbook.kernel.guard import ToolGuard

    registry = ToolRegistry([ToolSpec.of(ping)])
    short = clauses.that("no host is called", lambda inputs: False)
    guard = ToolGuard(registry, requires={"ping": [short]})
    primitives = planning(task("t1", "ping", host="h77"))
    result = Kernel(registry, primitives=primitives, calls={"ping": ping}, guard=guard).run("h77")
    assert result.calls == ()
    assert [type(one) for one in result.reports] == [Refused]
    assert told(result)[0].startswith("task 't1': the call of 'ping' is refused: no host is called")


@pytest.mark.requirement("kernel:reports:missing-function")
@pytest.mark.parametrize("answer", [None, "pong", 7])
def test_a_task_that_no_tool_is_for_is_reported_and_the_others_go_on(answer):
    def match(request):
        return {"tool_name": answer if request.task["id"] == "t1" else "ping"}

    primitives = planning(
        task("t1", None, about="fly"), task("t2", "ping", host="h77"), match_func=match
    )
    result = kernel([ping], primitives).run("fly, and ping h77")
    assert [type(one) for one in result.reports] == [MissingFunction]
    assert made(result) == [("ping", {"host": "h77"})]


@pytest.mark.requirement("kernel:reports:cycle")
def test_a_cyclic_graph_halts_with_the_cycle_named():
    primitives = planning(
        task("t1", "ping", ["t3"], host="h1"),
        task("t2", "ping", ["t1"], host="h2"),
        task("t3", "ping", ["t2"], host="h3"),
        task("t4", "ping", host="h4"),
    )
    result = kernel([ping], primitives).run("ping h1, h2, h3, h4")
    assert result.reports == (Cycle(tasks=("t1", "t3", "t2", "t1")),)
    assert told(result) == ["tasks wait for each other: t1 -> t3 -> t2 -> t1"]
    assert result.calls == ()


@pytest.mark.requirement("kernel:reports:dependency-blocked")
def test_what_depends_on_a_task_that_failed_is_not_begun():
    primitives = planning(
        task("t1", "ping"),
        task("t2", "ping", ["t1"], host="h2"),
        task("t3", "ping", ["t2"], host="h3"),
        task("t4", "ping", host="h4"),
        task("t5", "ping", ["t9"], host="h5"),
    )
    result = kernel([ping], primitives).run("ping h2, h3, h4, h5")
    assert result.reports[1:] == (
        DependencyBlocked(task="t5", on="t9"),
        DependencyBlocked(task="t2", on="t1"),
        DependencyBlocked(task="t3", on="t2"),
    )
    assert made(result) == [("ping", {"host": "h4"})]


@pytest.mark.requirement("kernel:order:ties")
def test_ties_are_broken_inside_a_level_only_and_by_just_its_tasks():
    plan = [
        task("t1", "ping", host="h1"),
        task("t2", "ping", host="h2"),
        task("t3", "ping", ["t1"], host="h3"),
    ]
    reverse = lambda request: {  # noqa: E731
        "ordered_task_ids": [one["id"] for one in reversed(request.tasks)]
    }
    result = kernel([ping], planning(*plan, order=reverse)).run("ping h1, h2, h3")
    assert result.order == ("t2", "t1", "t3")
    lie = lambda request: {"ordered_task_ids": ["t3", "t1"]}  # noqa: E731
    result = kernel([ping], planning(*plan, order=lie)).run("ping h1, h2, h3")
    assert result.order == ("t1", "t2", "t3")


@pytest.mark.requirement("kernel:order:data-flow")
def test_what_the_tools_declare_orders_tasks_that_the_model_left_unordered():
    desk = Desk()
    result = desk.kernel(planning(ROOM, task("t2", "log_in"))).run("reserve R12, log in")
    assert result.order == ("t2", "t1")
    assert desk.log == ["log_in", "reserve R12"]


@pytest.mark.requirement("kernel:mode:advise")
def test_advise_proposes_the_calls_and_makes_none():
    desk = Desk()
    made_of = desk.kernel(planning(ROOM), mode="advise")
    result = made_of.run("reserve R12")
    assert desk.log == []
    assert [(one.tool, one.executed) for one in result.calls] == [
        ("log_in", False),
        ("reserve", False),
    ]
    assert '- reserve(room="R12") -> to be called' in result.render()


@pytest.mark.requirement("kernel:result:render")
def test_the_trace_is_rendered_for_the_model_that_answers():
    primitives = planning(task("t1", "ping", host="h1"), task("t2", None, about="fly"))
    result = kernel([ping], primitives).run("ping h1 and fly")
    assert result.render().splitlines() == [
        "Request: ping h1 and fly",
        "",
        "Tasks, in the order in which they were done:",
        "- t1: ping",
        "- t2: fly",
        "",
        "Calls:",
        '- ping(host="h1") -> "h1 is up"',
        "    host from turn",
        "",
        "Not done:",
        "- task 't2': no tool is for it",
    ]


@pytest.mark.requirement("kernel:controls:ablation")
def test_parts_of_the_control_layer_can_be_switched_off():
    desk = Desk()
    off = Engine(controls=Controls(prerequisites=False))
    result = desk.kernel(planning(ROOM), engine=off).run("reserve R12")
    assert result.ok
    assert desk.log == ["reserve R12"]
    bare = Engine(controls=Controls(contracts=False))
    result = kernel([ping], planning(task("t1", "ping", host="h99")), engine=bare).run("ping h1")
    assert made(result) == [("ping", {"host": "h99"})]


@pytest.mark.requirement("kernel:budget:spent")
def test_a_spent_budget_ends_the_turn():
    made_of = Kernel([play], prompted(), budget=Budget(calls=2))
    with pytest.raises(BudgetExceeded):
        made_of.run(PLAY)


@pytest.mark.requirement("kernel:budget:spent")
def test_calls_of_tools_are_bounded():
    primitives = planning(*(task(f"t{at}", "ping", host=f"h{at}") for at in range(4)))
    result = kernel([ping], primitives, max_tool_calls=3).run("ping h0, h1, h2, h3")
    assert told(result) == ["task 't3': ping failed: not called: the turn's 3 calls are used"]


@pytest.mark.requirement("kernel:settings:refused")
def test_settings_that_cannot_work_are_refused():
    plan = planning()
    with pytest.raises(DefinitionError, match="tool 'ping' has no function to call: give it in"):
        Kernel(ToolRegistry.of(ping), primitives=plan)
    with pytest.raises(DefinitionError, match="the registry has no tool 'pong'"):
        Kernel([ping], primitives=plan, calls={"pong": ping})
    with pytest.raises(DefinitionError, match="give a model or primitives, one of the two"):
        Kernel([ping])
    with pytest.raises(DefinitionError, match="'execute' or 'advise'"):
        Kernel([ping], primitives=plan, mode="dream")
    with pytest.raises(DefinitionError, match="tool 'ping' is registered twice"):
        Kernel([ping, ping], primitives=plan)
    with pytest.raises(DefinitionError, match=r"Primitives\(turns=7\): a function of the request"):
        Primitives(turns=7)
