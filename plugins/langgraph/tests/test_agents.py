"""`HornbookMiddleware` on `create_agent`: guard, contracts, rules, records, budgets."""

import json
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.tools import ToolRuntime
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import StructuredTool, tool
from pydantic import BaseModel, Field

import hornbook
from hornbook import Budget, BudgetExceeded, Contract, ContractViolation, Recover, clauses
from hornbook.errors import DefinitionError
from hornbook.kernel import ToolGuard, ToolRegistry
from hornbook.step import Decision
from hornbook_langgraph import HornbookMiddleware
from hornbook_langgraph.testing import ScriptedChatModel, call

ORDERS = {"A17": {"order": "A17", "total": 40.0}, "B20": {"order": "B20", "total": 400.0}}


class Shop:
    """Two tools that keep what they were asked to do."""

    def __init__(self) -> None:
        self.refunded: list[tuple[str, float]] = []

    @property
    def tools(self) -> list[Any]:
        @tool
        def get_order(order_id: str) -> dict[str, Any]:
            """Look an order up."""
            return ORDERS[order_id]

        @tool
        def refund(order_id: str, amount: float, runtime: ToolRuntime) -> str:
            """Refund an order."""
            assert runtime.tool_call_id
            self.refunded.append((order_id, amount))
            return f"refunded {amount}"

        return [get_order, refund]


@pytest.fixture
def shop() -> Shop:
    return Shop()


def agent_of(replies: list[Any], tools: list[Any], *middleware: Any, **options: Any) -> Any:
    model = ScriptedChatModel(replies=replies)
    agent = create_agent(model, tools, middleware=middleware, **options)
    agent.script = model
    return agent


def ask(text: str) -> dict[str, Any]:
    return {"messages": [HumanMessage(text)]}


def answers(state: Any) -> list[ToolMessage]:
    return [message for message in state["messages"] if isinstance(message, ToolMessage)]


def ends(run: Any) -> list[Any]:
    return [event for event in run.events if event.kind == "step.end"]


GOOD = [call("get_order", order_id="A17"), call("refund", order_id="A17", amount=40.0), "Done."]


@pytest.mark.requirement("agents:middleware:guard", "agents:trap:twins")
def test_a_good_conversation_passes_unchanged(go: Any, shop: Shop):
    plain = go(agent_of(GOOD, Shop().tools), ask("Refund order A17"))
    state = go(agent_of(GOOD, shop.tools, HornbookMiddleware()), ask("Refund order A17"))
    assert [m.content for m in state["messages"]] == [m.content for m in plain["messages"]]
    assert shop.refunded == [("A17", 40.0)]


BAD_CALLS = [
    (
        call("refnd", order_id="A17", amount=40.0),
        ["'refnd'", "nearest: refund"],
    ),
    (call("refund", order_id="A17"), ["amount", "missing"]),
    (call("refund", order_id="A17", amount="much"), ["amount", "a valid number"]),
    (call("refund", order_id="A17", amount=40.0, currency="EUR"), ["currency", "no such argument"]),
    (call("refund", order_id="C99", amount=40.0), ["order_id", "'C99'", "turn 1"]),
    (call("refund", order_id="A17", amount=40.0, runtime={}), ["runtime", "no such argument"]),
]


@pytest.mark.requirement("agents:middleware:guard", "agents:trap:partial-call")
@pytest.mark.parametrize(("bad", "told"), BAD_CALLS)
def test_a_bad_call_is_answered_so_that_the_model_can_correct_it(
    go: Any, shop: Shop, bad: Any, told: list[str]
):
    agent = agent_of(
        [bad, call("refund", order_id="A17", amount=40.0), "Done."],
        shop.tools,
        HornbookMiddleware(),
    )
    with hornbook.run(trace=None) as run:
        state = go(agent, ask("Refund order A17"))
    refused, done = answers(state)
    assert refused.status == "error"
    assert refused.text.startswith(f"The call of {bad['name']!r} was not made.")
    assert all(words in refused.text for words in told), refused.text
    assert done.text == "refunded 40.0"
    assert shop.refunded == [("A17", 40.0)]
    assert [(e.name, e.status) for e in ends(run) if e.name != "model"] == [
        (bad["name"], "blocked"),
        ("refund", "satisfied"),
    ]


@pytest.mark.requirement("agents:middleware:guard")
def test_what_a_tool_would_take_is_not_refused(go: Any, shop: Shop):
    replies = [call("refund", order_id="A17", amount="40"), "Done."]
    go(agent_of(replies, shop.tools, HornbookMiddleware()), ask("Refund 40 for order A17"))
    assert shop.refunded == [("A17", 40.0)]


@pytest.mark.requirement("agents:middleware:guard")
def test_a_value_may_come_from_a_result_or_from_the_state_but_not_from_the_prompt(
    go: Any, shop: Shop
):
    from langchain.agents import AgentState

    class Signed(AgentState[Any]):
        customer: dict[str, Any]

    @tool
    def find(order_id: str) -> str:
        """Find an order."""
        return f"found {order_id}"

    replies = [
        [call("find", order_id=one) for one in ("R-31", "S-32", "P-33", "X-34")],
        "Done.",
    ]
    agent = agent_of(
        replies, [find], HornbookMiddleware(), state_schema=Signed, system_prompt="Orders: P-33"
    )
    given = {
        "messages": [
            HumanMessage("which orders are there?"),
            AIMessage("", tool_calls=[{"name": "find", "args": {"order_id": "all"}, "id": "1"}]),
            ToolMessage("R-31", tool_call_id="1", name="find"),
            AIMessage("", tool_calls=[{"name": "find", "args": {"order_id": "X-34"}, "id": "2"}]),
            ToolMessage("no order X-34", tool_call_id="2", name="find", status="error"),
        ],
        "customer": {"orders": ["S-32"]},
    }
    found = [(m.text[:10], m.status) for m in answers(go(agent, given))[2:]]
    assert found == [
        ("found R-31", "success"),
        ("found S-32", "success"),
        ("The call o", "error"),
        ("The call o", "error"),
    ]


@pytest.mark.requirement("agents:middleware:guard", "agents:trap:context")
def test_what_a_summary_took_out_of_the_history_is_still_a_source(
    go: Any, shop: Shop, saver: Any, thread: Any
):
    from langchain.agents.middleware import SummarizationMiddleware

    summary = ScriptedChatModel(replies=["They talked about orders."] * 9)
    shortening = SummarizationMiddleware(
        model=summary, trigger=("messages", 4), keep=("messages", 1)
    )
    replies = [
        "Which one?",
        "And what about it?",
        "I see.",
        call("refund", order_id="A17", amount=40.0),
        "Done.",
    ]
    agent = agent_of(replies, shop.tools, shortening, HornbookMiddleware(), checkpointer=saver)
    for text in ("It is about A17", "the old one", "I want money", "now"):
        state = go(agent, ask(text), thread)
    assert "A17" not in str([m.content for m in state["messages"] if m.type == "human"])
    assert shop.refunded == [("A17", 40.0)]


@pytest.mark.requirement("agents:middleware:guard")
def test_without_a_guard_every_call_goes_through(go: Any, shop: Shop):
    replies = [call("refund", order_id="C99", amount=1), "Done."]
    go(agent_of(replies, shop.tools, HornbookMiddleware(tools=False)), ask("hello"))
    assert shop.refunded == [("C99", 1.0)]


@pytest.mark.requirement("agents:middleware:guard")
def test_a_guard_of_ones_own_decides(go: Any, shop: Shop):
    registry = ToolRegistry.from_json_schema(
        [{"name": "refund", "parameters": {"properties": {"order_id": {}, "amount": {}}}}]
    )
    guard = ToolGuard(registry, grounded={"refund": ["amount"]})
    replies = [call("refund", order_id="A17", amount=41.0), "Done."]
    state = go(agent_of(replies, shop.tools, HornbookMiddleware(tools=guard)), ask("40 for A17"))
    assert "amount: expected a value that the user gave" in answers(state)[0].text
    assert shop.refunded == []


@pytest.mark.requirement("agents:middleware:guard")
def test_tools_with_a_json_schema_and_provider_tools_are_understood(go: Any):
    schema = {
        "type": "object",
        "properties": {"city": {"type": "string", "enum": ["Oslo", "Bergen"]}},
        "required": ["city"],
    }
    weather = StructuredTool.from_function(
        lambda city: f"rain in {city}", name="weather", description="w", args_schema=schema
    )
    replies = [call("weather", city="Rome"), call("weather", city="Oslo"), "Done."]
    built_in = {"type": "web_search"}
    state = go(agent_of(replies, [weather, built_in], HornbookMiddleware()), ask("weather?"))
    assert [m.status for m in answers(state)] == ["error", "success"]


@pytest.mark.requirement("bad-input:tool-schema:invalid")
def test_a_tool_whose_schema_is_not_json_schema_is_named_before_the_model_is_asked(go: Any):
    broken = StructuredTool.from_function(
        lambda city: city,
        name="weather",
        description="w",
        args_schema={"type": "object", "properties": {"city": {"type": "text"}}},
    )
    agent = agent_of(["never"], [broken], HornbookMiddleware())
    with pytest.raises(DefinitionError) as caught:
        go(agent, ask("weather?"))
    assert str(caught.value).startswith("tool 'weather': parameters is not JSON Schema: at #")
    assert agent.script.asked == []


ORDER = Contract(
    "order",
    output=dict[str, Any],
    requires=[clauses.matches("order_id", "[A-Z][0-9]+")],
    ensures=[clauses.in_range("total", 0, 100)],
)


@pytest.mark.requirement("agents:middleware:contracts")
def test_a_precondition_on_the_arguments_is_told_to_the_model(go: Any, shop: Shop):
    replies = [call("get_order", order_id="17"), call("get_order", order_id="A17"), "Done."]
    agent = agent_of(replies, shop.tools, HornbookMiddleware({"get_order": ORDER}))
    refused, found = answers(go(agent, ask("Where is 17, I mean A17?")))
    assert refused.status == "error"
    assert "order_id: expected" in refused.text
    assert json.loads(found.text) == ORDERS["A17"]


@pytest.mark.requirement("agents:middleware:contracts", "agents:trap:soft-halt")
def test_a_result_that_violates_its_contract_ends_the_turn(go: Any, shop: Shop):
    replies = [call("get_order", order_id="B20"), "never"]
    agent = agent_of(replies, shop.tools, HornbookMiddleware({"get_order": ORDER}))
    with hornbook.run(trace=None) as run:
        state = go(agent, ask("Where is B20?"))
    halted, last = state["messages"][-2:]
    assert halted.status == "error"
    assert halted.artifact["hornbook_halt"]["violations"][0]["path"] == "total"
    assert last.text == (
        "I stopped here, because a check failed: get_order (in_range total: expected at least 0 "
        "and at most 100)"
    )
    assert len(agent.script.asked) == 1
    assert [(e.name, e.status) for e in ends(run)] == [
        ("model", "satisfied"),
        ("get_order", "violated"),
    ]


class Order(BaseModel):
    order: str
    total: float = Field(ge=0)


@pytest.mark.requirement("agents:middleware:contracts")
def test_a_contract_sees_what_the_tools_function_returned(go: Any):
    seen: list[Any] = []

    def get_order(order_id: str) -> Order:
        """Look an order up."""
        return Order(order=order_id, total=1)

    async def aget_order(order_id: str) -> Order:
        return Order(order=order_id, total=1)

    both = StructuredTool.from_function(get_order, coroutine=aget_order)
    held = Contract("c", output=Order, ensures=[clauses.that("seen", lambda v: not seen.append(v))])
    agent = agent_of(
        [call("get_order", order_id="A17"), "."], [both], HornbookMiddleware({"get_order": held})
    )
    state = go(agent, ask("A17"))
    assert seen == [Order(order="A17", total=1)]
    assert answers(state)[0].text == "order='A17' total=1.0"


@pytest.mark.requirement("agents:middleware:contracts")
def test_a_tool_is_retried_and_then_replaced_by_its_fallback(go: Any):
    tries: list[int] = []

    @tool
    def roll(sides: int) -> int:
        """Roll a die."""
        tries.append(sides)
        return 99

    held = Contract("rolled", output=int, ensures=[clauses.in_range(".", 1, 6)])
    recover = Recover(retry=1, fallback=[lambda sides: sides])
    agent = agent_of(
        [call("roll", sides=6), "."], [roll], HornbookMiddleware({"roll": (held, recover)})
    )
    with hornbook.run(trace=None) as run:
        assert answers(go(agent, ask("roll")))[0].text == "6"
    assert tries == [6, 6]
    assert [(e.status, e.data["attempts"]) for e in ends(run) if e.name == "roll"] == [
        ("recovered", 3)
    ]


@pytest.mark.requirement("agents:middleware:contracts")
def test_modify_changes_the_arguments_of_the_next_attempt(go: Any):
    @tool
    def roll(sides: int) -> int:
        """Roll a die."""
        return sides

    held = Contract("rolled", ensures=[clauses.in_range(".", 1, 6)])
    recover = Recover(retry=1, modify=lambda inputs, violation: {"sides": inputs["sides"] - 4})
    agent = agent_of(
        [call("roll", sides=10), "."], [roll], HornbookMiddleware({"roll": (held, recover)})
    )
    assert answers(go(agent, ask("roll")))[0].text == "6"


@pytest.mark.requirement("agents:middleware:contracts")
def test_a_tools_error_message_is_no_output_that_a_contract_speaks_of(go: Any):
    @tool
    def fails(n: int) -> int:
        """Fail."""
        return n

    fails.handle_tool_error = True
    from langchain_core.tools import ToolException

    def raises(n: int) -> int:
        raise ToolException("out of order")

    failing = fails.model_copy(update={"func": raises})
    held = Contract("c", output=int, ensures=[clauses.in_range(".", 1, 6)])
    agent = agent_of([call("fails", n=1), "Sorry."], [failing], HornbookMiddleware({"fails": held}))
    state = go(agent, ask("go"))
    assert answers(state)[0].text == "out of order"
    assert state["messages"][-1].text == "Sorry."


@pytest.mark.requirement("agents:middleware:contracts")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"contracts": ORDER}, "contracts=<Contract 'order' version 1"),
        ({"contracts": {"refund": "strict"}}, "'refund': give a Contract, or a pair of Contract"),
        ({"tools": "strict"}, "tools='strict': give a ToolGuard, or False for no guard"),
        ({"halt": "medium"}, "halt='medium': 'soft' or 'hard'"),
        ({"rules": 3}, "rules=3: give a RuleLibrary, the path of one, or an object that has"),
        (
            {"contracts": {"model": Contract("c", requires=[clauses.bound("prompt")])}},
            "contract 'c', clause 'bound prompt': 'prompt' is no parameter of 'model'; its "
            "parameters are request, results, messages, system, tools",
        ),
    ],
)
def test_an_argument_that_cannot_be_used_is_refused_in_one_sentence(arguments: Any, message: str):
    with pytest.raises(DefinitionError) as caught:
        HornbookMiddleware(**arguments)
    assert str(caught.value).startswith(message)


@pytest.mark.requirement("agents:middleware:contracts")
def test_a_contract_on_a_tool_or_an_argument_that_is_not_there_is_refused(go: Any, shop: Shop):
    async def later(**arguments: Any) -> int:
        return 1

    cases = [
        (
            {"refnd": ORDER},
            "contracts: there is no tool 'refnd'; the agent's tools are 'get_order'",
        ),
        (
            {"get_order": Contract("c", requires=[clauses.bound("id")])},
            "contract 'c', clause 'bound id': 'id' is no parameter of 'get_order'; its parameters "
            "are order_id",
        ),
    ]
    for contracts, message in cases:
        agent = agent_of(GOOD, shop.tools, HornbookMiddleware(contracts))
        with pytest.raises(DefinitionError) as caught:
            go(agent, ask("Refund A17"))
        assert str(caught.value).startswith(message)
    with pytest.raises(DefinitionError) as caught:
        HornbookMiddleware({"get_order": (ORDER, Recover(fallback=[later]))})
    assert "is async, and the agent may be run sync" in str(caught.value)


@pytest.mark.requirement("agents:middleware:records")
def test_model_and_tool_calls_are_recorded_with_usage_and_the_hosts_ids(
    go: Any, shop: Shop, saver: Any, thread: Any
):
    agent = agent_of(GOOD[1:], shop.tools, HornbookMiddleware(), checkpointer=saver, name="desk")
    with hornbook.run(trace=None) as run:
        go(agent, ask("Refund A17"), thread)
    model, paid, _ = [e for e in run.events if e.kind == "step.start"]
    assert model.data["step"] == "model"
    assert model.data["inputs"]["request"] == "Refund A17"
    assert model.data["inputs"]["tools"] == ["get_order", "refund"]
    assert {"task_id", "checkpoint_id", "thread_id", "langgraph_step"} <= set(model.data["meta"])
    assert model.data["meta"]["lc_agent_name"] == "desk"
    assert paid.data["inputs"] == {"order_id": "A17", "amount": 40.0}
    assert paid.data["meta"]["tool_call_id"] == "call-0-0"
    first, done, last = ends(run)
    assert first.data["output"]["tool_calls"][0]["name"] == "refund"
    assert first.data["output"]["usage"] == {"input": 10, "output": 5}
    assert first.data["output"]["model"] == "scripted-1"
    assert done.data["output"] == "refunded 40.0"
    assert last.data["output"]["content"] == "Done."
    assert run.meter.spent.calls == 2
    assert run.meter.spent.tokens == 30
    assert run.meter.by_step("calls") == {"model": 2.0}


@pytest.mark.requirement("agents:middleware:records", "guard:context:sources")
def test_where_each_argument_came_from_stands_in_the_record(go: Any, shop: Shop):
    with hornbook.run(trace=None) as run:
        go(agent_of(GOOD, shop.tools, HornbookMiddleware()), ask("Refund order A17"))
    found = [e.data["sources"] for e in ends(run) if e.name != "model"]
    assert [one["grounded order_id"]["source"] for one in found] == ["turn 1", "turn 1"]


@pytest.mark.requirement("agents:middleware:records", "agents:trap:blocked-recorded")
def test_with_trace_calls_are_recorded_without_a_run_of_ones_own(
    go: Any, shop: Shop, tmp_path: Path
):
    from hornbook.trace import read, verify_trace

    with HornbookMiddleware(trace=tmp_path, namespace="support") as middleware:
        replies = [call("refund", order_id="C99", amount=1), *GOOD]
        go(agent_of(replies, shop.tools, middleware), ask("Refund A17"))
        go(agent_of(["Hi."], shop.tools, middleware), ask("hello"))
        assert middleware.run is not None
        assert middleware.run.namespace == "support"
    events = list(read(middleware.run.path))
    assert verify_trace(middleware.run.path).ok
    names = [(e.name, e.status) for e in events if e.kind == "step.end"]
    assert names[:2] == [("model", "satisfied"), ("refund", "blocked")]
    assert len(names) == 8
    with hornbook.run(trace=None) as run:
        go(agent_of(["Hi."], [], HornbookMiddleware(trace=tmp_path)), ask("hello"))
    assert [e.name for e in ends(run)] == ["model"]
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.requirement("agents:middleware:records", "budget:exceeded:error")
def test_a_budget_stops_an_agent_before_the_next_model_call(go: Any, shop: Shop):
    for budget in (Budget(calls=1), Budget(tokens=15)):
        agent = agent_of(GOOD, shop.tools, HornbookMiddleware())
        with hornbook.run(trace=None, budget=budget) as run, pytest.raises(BudgetExceeded):
            go(agent, ask("Refund A17"))
        assert len(agent.script.asked) == 1
        assert [e.status for e in ends(run)] == ["satisfied", "satisfied", "error"]


@pytest.mark.requirement(
    "agents:middleware:contracts",
    "hooks:step:before",
    "hooks:step:check-output",
    "hooks:step:on-violation",
)
def test_hooks_decide_about_tools_and_models(go: Any, shop: Shop):
    from hornbook import Violation, plugins
    from hornbook.hooks import hookimpl

    class Deciding:
        def __init__(self, name: str, decision: Decision) -> None:
            self.name = name
            self.decision = decision

        @hookimpl
        def hornbook_before_step(self, step: Any) -> Any:
            return self.decision if step.name == self.name else None

    class Objecting:
        @hookimpl
        def hornbook_check_output(self, step: Any, output: Any) -> Any:
            if step.name == "refund":
                return [Violation(clause="house", path=".", expected="less", observed=str(output))]
            return None

    def told(plugin: Any, replies: list[Any]) -> list[str]:
        agent = agent_of(replies, shop.tools, HornbookMiddleware())
        with plugins.registered(plugin):
            return [m.text for m in go(agent, ask("Refund A17"))["messages"][2:]]

    pay = call("refund", order_id="A17", amount=40.0)
    block = Decision(action="block", reason="not in office hours")
    assert told(Deciding("refund", block), [pay, "Sorry."]) == [
        "The call of 'refund' was not made: not in office hours",
        "Sorry.",
    ]
    instead = Decision(action="substitute", value={"refunded": 0})
    assert told(Deciding("refund", instead), [pay, "Ok."]) == ['{"refunded": 0}', "Ok."]
    change = Decision(action="proceed", value={"amount": 1.0})
    assert told(Deciding("refund", change), [pay, "Ok."]) == ["refunded 1.0", "Ok."]
    halt = Decision(action="halt", reason="fraud")
    assert told(Deciding("refund", halt), [pay, "never"])[-1] == (
        "I stopped here, because a check failed: refund (hornbook_before_step: fraud)"
    )
    assert told(Objecting(), [pay, "never"])[-1] == (
        "I stopped here, because a check failed: refund (house: expected less)"
    )
    instead = Decision(action="substitute", value="Ask a person.")
    assert told(Deciding("model", instead), []) == []
    assert shop.refunded == [("A17", 1.0), ("A17", 40.0)]


@pytest.mark.requirement("agents:trap:hard-halt")
def test_a_hard_halt_of_the_model_raises_as_well(go: Any):
    held = Contract("short", ensures=[clauses.that("short", lambda text: len(text) < 5)])
    with pytest.warns(UserWarning, match="astream_events"):
        middleware = HornbookMiddleware({"model": held}, halt="hard")
    with pytest.raises(ContractViolation) as caught:
        go(agent_of(["much too long"], [], middleware), ask("hello"))
    assert caught.value.report.step == "model"
