"""`guard`: which calls are made, what the model is told of others, and what stays as it was."""

import asyncio
import copy
import functools
import inspect
import pickle
from collections.abc import Callable
from datetime import date
from enum import Enum
from typing import Any

import cloudpickle
import dspy
import pytest
from pydantic import BaseModel

import hornbook
from hornbook import Contract, ContractViolation, Recover, clauses
from hornbook.errors import DefinitionError
from hornbook.kernel import ToolGuard, ToolRegistry
from hornbook.testing import Reply, Script, call
from hornbook_dspy import Contracted, HornbookLM, context, guard
from hornbook_dspy.testing import scripted


def find_order(order_id: str, limit: int = 1) -> dict[str, Any]:
    """Find an order."""
    return {"id": order_id, "customer": "C-77", "limit": limit}


def pay(order_id: str, amount: float) -> str:
    """Pay an amount back."""
    return f"paid {amount} for {order_id}"


class Basket(BaseModel):
    items: list[str]


class Size(Enum):
    S = "s"
    M = "m"


def order(
    basket: Basket, size: Size, on: date, note: str | None = None, n: int | None = None
) -> str:
    """Order something."""
    return f"{len(basket.items)} {size.value} {on} {note} {n}"


def react(*tools: Any, kind: Any = dspy.ReAct) -> Any:
    return dspy.ReAct("question -> answer", tools=list(tools or (find_order, pay)))


def shown(playing: Any) -> str:
    """What the model was sent last."""
    return playing.asked[-1].text


@pytest.mark.requirement("dspy:guard:unknown-tool")
def test_an_unknown_tool_is_answered_with_what_is_near_in_one_call(
    go: Any, plays: Any, recorded: Any, events: Any
):
    playing = plays(call("find_ordr", order_id="A-1"), "Sorry.")
    assert go(guard(react()), question="Where is A-1?").answer == "Sorry."
    assert "nearest: find_order" in shown(playing)
    [end] = events("step.end", "find_ordr")
    assert (end.status, end.data["attempts"]) == ("blocked", 0)
    assert playing.calls == 3  # the wrong call, the finishing, the answer


@pytest.mark.requirement("dspy:guard:unknown-tool")
def test_without_the_guard_an_unknown_tool_is_the_end_of_react(go: Any, plays: Any):
    plays(call("find_ordr", order_id="A-1"), call("find_ordr", order_id="A-1"))
    with pytest.raises(dspy.utils.exceptions.AdapterParseError):
        go(react(), question="Where is A-1?")


@pytest.mark.requirement("dspy:guard:same-prompt")
@pytest.mark.parametrize("adapter", [dspy.ChatAdapter(), dspy.JSONAdapter(), dspy.XMLAdapter()])
@pytest.mark.parametrize("kind", [dspy.ReAct, dspy.ReActV2])
def test_the_prompt_is_that_of_the_agent_without_a_guard(adapter: Any, kind: Any):
    plain = kind("question -> answer", tools=[find_order, pay])
    inputs = {"question": "?", "trajectory": "", "history": dspy.History(messages=[])}
    prompts = [
        adapter.format(one.react.signature, [], inputs | {"tools": list(one.tools.values())})
        for one in (plain, guard(plain))
    ]
    assert prompts[0] == prompts[1]


@pytest.mark.requirement("dspy:guard:unknown-tool")
def test_names_are_read_in_quotes_and_as_a_literal_too(plays: Any, recorded: Any, ended: Any):
    agent = guard(react())
    signature = agent.react.signature
    fields = ("next_thought ## ]]\n", "next_tool_name ## ]]\n{}", "next_tool_args ## ]]\n{{}}")
    reply = "\n".join(f"[[ ## {field}" for field in fields)
    names = ["pay", "'pay'", '"pay"', "Literal[pay]", "payy", "finish"]
    read = [
        dspy.ChatAdapter().parse(signature, reply.format(name))["next_tool_name"] for name in names
    ]
    assert read == ["pay", "pay", "pay", "pay", "payy", "finish"]


WRONG = [
    ({"order_id": "A-1"}, "amount: missing; expected number"),
    ({"order_id": "A-1", "amount": "lots"}, "amount: expected number; got 'lots'"),
    ({"order_id": "A-1", "amount": 2.0, "cur": "EUR"}, "cur: there is no such argument"),
    ({"order_id": "A-9", "amount": 2.0}, "it stands in none of: turn 1"),
]


@pytest.mark.requirement("dspy:guard:arguments")
@pytest.mark.parametrize(("arguments", "told"), WRONG, ids=["missing", "typed", "extra", "found"])
def test_a_wrong_call_is_not_made_and_the_model_is_told_why(
    go: Any, plays: Any, recorded: Any, ended: Any, arguments: Any, told: str
):
    playing = plays(call("pay", **arguments), Reply(text="I cannot.", shown=("was not made",)))
    go(guard(react()), question="Pay for A-1.")
    assert told in shown(playing)
    assert ("pay", "blocked") in ended()


@pytest.mark.requirement("dspy:guard:host-decides")
def test_the_guard_refuses_nothing_that_dspy_would_take(go: Any, recorded: Any):
    tool = dspy.Tool(order)
    given = {"basket": {"items": ["cup"]}, "size": "m", "on": "2026-05-01", "note": None, "n": "3"}
    assert go(tool, **given) == go(guard(tool), **given) == "1 m 2026-05-01 None 3"
    fewer = {name: given[name] for name in ("basket", "size", "on")}
    assert go(guard(tool), **fewer) == "1 m 2026-05-01 None None"


@pytest.mark.requirement("dspy:guard:host-decides")
@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"basket": {"items": [1]}}, "basket.items[0]: expected string; got 1"),
        ({"basket": {}}, "basket"),
        ({"size": "xl"}, "size"),
        ({"on": "someday"}, "on: expected"),
        ({"n": "three"}, "n: expected"),
    ],
)
def test_what_dspy_would_refuse_is_told_with_its_place(go: Any, changed: Any, told: str):
    given = {"basket": {"items": ["cup"]}, "size": "m", "on": "2026-05-01"} | changed
    with pytest.raises(Exception, match=r".+"):
        go(dspy.Tool(order), **given)
    assert told in go(guard(order), **given)


@pytest.mark.requirement("dspy:guard:context")
def test_values_come_from_the_inputs_and_from_what_tools_returned(
    go: Any, plays: Any, recorded: Any, ended: Any
):
    def customer(customer_id: str) -> str:
        """Find a customer."""
        return "Ann"

    plays(
        call("customer", customer_id="C-77"),
        call("find_order", order_id="A-1"),
        call("customer", customer_id="C-77"),
        "It is Ann's.",
    )
    go(guard(react(find_order, customer)), question="Whose is A-1?")
    tools = [one for one in ended() if one[0] in ("customer", "find_order")]
    assert tools == [
        ("customer", "blocked"),
        ("find_order", "satisfied"),
        ("customer", "satisfied"),
    ]


@pytest.mark.requirement("dspy:guard:context")
def test_inputs_that_are_no_text_are_sources_too(go: Any, plays: Any, recorded: Any, ended: Any):
    agent = guard(
        dspy.ReAct("question, basket: Basket, ids: list[str] -> answer", tools=[find_order])
    )
    plays(call("find_order", order_id="A-1"), call("find_order", order_id="A-2"), "Done.")
    go(agent, question="Find all.", basket=Basket(items=["A-1"]), ids=["A-2"])
    assert [one for one in ended() if one[0] == "find_order"] == [("find_order", "satisfied")] * 2


@pytest.mark.requirement("dspy:guard:context")
def test_nothing_is_remembered_from_one_question_to_another(
    go: Any, plays: Any, recorded: Any, ended: Any
):
    agent = guard(react())
    plays(call("find_order", order_id="A-1"), "Ok.", call("find_order", order_id="A-1"), "No.")
    go(agent, question="Find A-1.")
    go(agent, question="Find another.")
    found = [one for one in ended() if one[0] == "find_order"]
    assert found == [("find_order", "satisfied"), ("find_order", "blocked")]


@pytest.mark.requirement("dspy:guard:history")
def test_a_history_brings_its_turns_and_results_but_no_refusals(
    go: Any, plays: Any, recorded: Any, ended: Any
):
    agent = guard(dspy.ReActV2("question -> answer", tools=[find_order]))
    plays(
        call("find_order", order_id="X-9"),
        call("find_order", order_id="A-1"),
        "It is there.",
        *(call("find_order", order_id=one) for one in ("A-1", "C-77", "X-9")),
        "Again.",
    )
    first = go(agent, question="Where is A-1?")
    earlier = dspy.History.model_validate_json(first.history.model_dump_json())
    go(agent, question="And now?", history=earlier)
    assert [status for name, status in ended() if name == "find_order"] == [
        "blocked",
        "satisfied",
        "satisfied",
        "satisfied",
        "blocked",
    ]


@pytest.mark.requirement("dspy:guard:new")
def test_the_agent_itself_stays_as_it_was():
    plain = react()
    before = dict(plain.tools)
    guarded = guard(plain)
    assert guarded is not plain
    assert isinstance(guarded, dspy.ReAct)
    assert plain.tools == before
    assert type(plain.tools["pay"]) is dspy.Tool
    assert plain.react is not guarded.react
    assert list(guarded.tools) == ["find_order", "pay", "finish"]
    assert [name for name, _ in guarded.named_predictors()] == [
        name for name, _ in plain.named_predictors()
    ]
    guarded.react.demos = [dspy.Example(question="?")]
    assert plain.react.demos == []
    guarded.load_state(plain.dump_state())
    plain.load_state(guarded.dump_state())


@pytest.mark.requirement("dspy:guard:new")
def test_a_tool_keeps_the_object_that_it_works_on(go: Any, plays: Any):
    class Till:
        def __init__(self) -> None:
            self.paid: list[str] = []

        def pay(self, order_id: str) -> str:
            """Pay."""
            self.paid.append(order_id)
            return "paid"

    till = Till()
    plays(call("pay", order_id="A-1"), "Paid.")
    go(guard(react(till.pay)), question="Pay A-1.")
    assert till.paid == ["A-1"]


@pytest.mark.requirement("dspy:guard:copies")
@pytest.mark.parametrize(
    "copied",
    [
        copy.deepcopy,
        copy.copy,
        lambda one: one.deepcopy(),
        lambda one: one.reset_copy(),
        lambda one: cloudpickle.loads(cloudpickle.dumps(one)),
    ],
    ids=["deepcopy", "copy", "dspy", "reset", "cloudpickle"],
)
def test_a_copy_is_guarded_on_its_own(go: Any, plays: Any, recorded: Any, ended: Any, copied: Any):
    agent = copied(guard(react()))
    assert isinstance(agent, dspy.ReAct)
    plays(call("pay", order_id="A-1"), call("payy", order_id="A-1"), "No.")
    assert go(agent, question="Pay A-1.").answer == "No."
    assert [status for name, status in ended() if name.startswith("pay")] == ["blocked"] * 2


@pytest.mark.requirement("dspy:guard:copies")
def test_a_module_of_a_class_that_pickles_still_does():
    agent = guard(Desk())
    again = pickle.loads(pickle.dumps(agent))
    assert type(again) is type(agent)
    assert isinstance(again, Desk)


class Desk(dspy.Module):
    """A module of a user's own that calls its tools itself."""

    def __init__(self, tools: Any = ()) -> None:
        super().__init__()
        self.tools = [dspy.Tool(find_order), *tools]

    def forward(self, order_id: str) -> Any:
        return dspy.Prediction(found=self.tools[0](order_id=order_id))

    async def aforward(self, order_id: str) -> Any:
        return dspy.Prediction(found=await self.tools[0].acall(order_id=order_id))


@pytest.mark.requirement("dspy:guard:any-module")
def test_any_module_that_holds_tools_is_guarded(go: Any, recorded: Any, events: Any):
    desk = guard(Desk(), name="desk")
    assert go(desk, order_id="A-1").found["id"] == "A-1"
    assert events("step.end", "find_order")[0].status == "satisfied"
    [start] = events("step.start", "desk")
    assert (start.data["step"], start.data["inputs"]) == ("node", {"order_id": "A-1"})
    assert inspect.getsource(type(desk)) == inspect.getsource(Desk)
    assert type(desk).__name__ == "Desk"


@pytest.mark.requirement("dspy:guard:any-module")
def test_agents_inside_a_module_are_guarded_each_with_its_own_tools(
    go: Any, plays: Any, recorded: Any, ended: Any
):
    class Both(dspy.Module):
        def __init__(self) -> None:
            super().__init__()
            self.finder, self.payer = react(find_order), react(pay)

        def forward(self, question: str) -> Any:
            self.finder(question=question)
            return self.payer(question=question)

        async def aforward(self, question: str) -> Any:
            await self.finder.acall(question=question)
            return await self.payer.acall(question=question)

    plays(
        call("pay", order_id="A-1", amount=1.0),
        "No.",
        call("pay", order_id="A-1", amount=1.0),
        "Yes.",
    )
    assert go(guard(Both()), question="Pay 1 for A-1.").answer == "Yes."
    assert [one for one in ended() if one[0] == "pay"] == [("pay", "blocked"), ("pay", "satisfied")]


@pytest.mark.requirement("dspy:guard:any-module")
def test_an_agent_under_contract_and_rlm_are_guarded_in_place(go: Any, plays: Any, ended: Any):
    any_answer = Contract("any", ensures=[clauses.that("says something", bool)])
    plays(call("pay", order_id="A-1"), "No.")
    assert go(guard(Contracted(react(), any_answer)), question="Pay A-1.").answer == "No."
    assert ("pay", "blocked") in ended()
    rlm = guard(dspy.RLM("question -> answer", tools=[pay]))
    assert "amount: missing" in rlm.tools["pay"](order_id="A-1")


@pytest.mark.requirement("dspy:guard:records")
def test_models_and_tools_hang_below_the_agent(go: Any, plays: Any, recorded: Any):
    plays(call("find_order", order_id="A-1"), "There.")
    go(guard(react(), name="support"), question="Where is A-1?")
    starts = [event for event in recorded.events if event.kind == "step.start"]
    agent = starts[0]
    assert (agent.name, agent.data["step"], agent.data["host"]) == ("support", "node", "dspy")
    assert [one.parent for one in starts[1:]] == [agent.id] * 4
    assert [one.data["step"] for one in starts[1:]] == ["model", "tool", "model", "model"]
    assert starts[2].data["meta"]["module"] == "ReAct"
    [end] = [e for e in recorded.events if e.kind == "step.end" and e.id == agent.id]
    assert end.data["output"] == {"answer": "There.", "reasoning": ""}


PRICED = Contract("priced", ensures=[clauses.in_range("limit", high=5)])


@pytest.mark.requirement("dspy:guard:contracts")
def test_a_contract_that_does_not_fit_is_refused_at_once():
    with pytest.raises(DefinitionError) as caught:
        guard(react(), contracts={"find": PRICED})
    assert str(caught.value) == (
        "contracts: there is no tool 'find'; the agent's tools are 'find_order', 'pay'"
    )
    for name in ("pay", "model"):
        with pytest.raises(DefinitionError, match="'nobody'"):
            guard(react(), contracts={name: Contract("c", requires=[clauses.bound("nobody")])})
    with pytest.raises(DefinitionError, match="give a Contract, or a pair"):
        guard(react(), contracts={"pay": "cheap"})
    with pytest.raises(DefinitionError) as caught:
        guard(Desk(), contracts={"model": PRICED})
    assert str(caught.value) == (
        "contracts: it is not known which replies of a Desk are final, so that 'model' cannot be "
        "held: write Contracted(agent, contract)"
    )


@pytest.mark.requirement("dspy:guard:contracts")
def test_a_fallback_takes_the_arguments_and_gives_the_value(go: Any, recorded: Any, events: Any):
    def none_found(order_id: str, limit: int = 1) -> dict[str, Any]:
        return {"id": order_id, "limit": 0}

    tool = guard(find_order, contracts={"find_order": (PRICED, Recover(fallback=[none_found]))})
    assert go(tool, order_id="A-1", limit=9) == {"id": "A-1", "limit": 0}
    assert events("step.end", "find_order")[0].status == "recovered"


@pytest.mark.requirement("dspy:guard:contracts")
def test_final_answers_with_several_fields_are_judged_by_name(
    go: Any, plays: Any, recorded: Any, events: Any
):
    whole = Contract("whole", ensures=[clauses.that("names it", lambda v: v["city"] == "Oslo")])
    agent = guard(
        dspy.ReAct("question -> city, country", tools=[find_order]),
        contracts={"model": (whole, Recover(retry=1))},
    )
    plays('{"city": "Bergen", "country": "Norway"}', '{"city": "Oslo", "country": "Norway"}')
    prediction = go(agent, question="Capital of Norway?")
    assert (prediction.city, prediction.country) == ("Oslo", "Norway")
    assert events("step.end", "model")[-1].status == "recovered"


@pytest.mark.requirement("dspy:guard:contracts")
def test_a_contract_on_answers_needs_an_adapter_that_can_be_read(plays: Any):
    agent = guard(react(), contracts={"model": Contract("c", ensures=[clauses.that("x", bool)])})
    plays("Hm.")
    two = dspy.TwoStepAdapter(dspy.LM("house/extract", engine=Nothing()))
    with dspy.context(adapter=two), pytest.raises(DefinitionError, match="TwoStepAdapter writes"):
        agent(question="?")


class Nothing:
    def complete(self, request: Any) -> Any:
        raise AssertionError("it is not asked")


@pytest.mark.requirement("dspy:guard:own-guard")
def test_a_guard_of_ones_own_takes_the_place_of_the_default_and_none_lets_all_pass(go: Any):
    registry = ToolRegistry.of(find_order)
    strict = ToolGuard(registry, grounding="required")
    assert "grounding is required" in go(guard(find_order, tools=strict), order_id="A-1")
    assert go(guard(find_order, tools=False), order_id="A-1")["id"] == "A-1"
    with pytest.raises(DefinitionError, match="give a ToolGuard, or False"):
        guard(find_order, tools="strict")


@pytest.mark.requirement("dspy:guard:tool")
def test_a_tool_alone_is_guarded_and_cannot_ground(go: Any, recorded: Any, events: Any):
    tool = guard(dspy.Tool(find_order))
    assert isinstance(tool, dspy.Tool)
    assert (tool.name, tool.args) == ("find_order", dspy.Tool(find_order).args)
    assert go(tool, order_id="A-1")["id"] == "A-1"
    assert "order_id: missing" in go(tool)
    assert "self: there is no such argument" in go(tool, order_id="A-1", self="me")
    [plain, *_] = events("step.end", "find_order")
    assert plain.status == "satisfied"


@pytest.mark.requirement("dspy:guard:execute")
def test_a_call_that_is_executed_past_the_tool_is_guarded_too(recorded: Any, ended: Any):
    tool = guard(find_order)
    good, bad = dspy.ToolCalls.from_dict_list(
        [{"name": "find_order", "args": {"order_id": "A-1"}}, {"name": "find_order", "args": {}}]
    ).tool_calls
    assert good.execute([tool])["id"] == tool.func("A-1")["id"] == "A-1"
    assert "order_id: missing" in bad.execute([tool])
    assert asyncio.run(guard(later).func("A-1")) == "A-1"
    assert inspect.signature(tool.func) == inspect.signature(find_order)
    assert [status for _, status in ended()] == ["satisfied", "satisfied", "blocked", "satisfied"]


async def later(order_id: str) -> str:
    """Answer later."""
    await asyncio.sleep(0)
    return order_id


@pytest.mark.filterwarnings("ignore:coroutine 'later' was never awaited")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.requirement("dspy:guard:tool")
async def test_an_async_tool_is_guarded_where_it_can_be_awaited():
    tool = guard(later)
    assert await tool.acall(order_id="A-1") == "A-1"
    with pytest.raises(ValueError, match="use `acall` instead"):
        tool(order_id="A-1")


@pytest.mark.requirement("dspy:guard:passed-on")
def test_tools_of_mcp_and_langchain_require_what_they_say(go: Any):
    async def func(*args: Any, **kwargs: Any) -> Any:
        return kwargs

    tool = dspy.Tool(
        func,
        name="lookup",
        desc="Look up.",
        args={"id": {"type": "string"}, "page": {"type": "integer"}},
        arg_types={"id": str, "page": int},
        arg_desc={"id": "The id. (Required)", "page": "The page."},
    )
    guarded = guard(tool)
    assert asyncio.run(guarded.acall(id="A-1")) == {"id": "A-1"}
    assert "id: missing" in asyncio.run(guarded.acall(page=1))
    assert "pge: there is no such argument" in asyncio.run(guarded.acall(id="A-1", pge=1))


@pytest.mark.requirement("dspy:guard:passed-on")
def test_a_tool_that_takes_anything_more_is_given_it(go: Any):
    def search(query: str, **more: Any) -> Any:
        """Search."""
        return more

    assert go(guard(search), query="cups", colour="red") == {"colour": "red"}
    assert "query: missing" in go(guard(search), colour="red")


def untyped(thing):  # type: ignore[no-untyped-def]
    """Anything goes."""
    return thing


@pytest.mark.requirement("dspy:bad:no-schema")
def test_a_tool_without_a_schema_is_refused_and_one_without_types_is_held_to_its_names(go: Any):
    tool = dspy.Tool(find_order)
    tool.args = None
    with pytest.raises(DefinitionError) as caught:
        guard(tool)
    assert str(caught.value) == (
        "tool 'find_order' has no schema of its arguments: make it as dspy.Tool(function), or "
        "give args="
    )
    wrong = dspy.Tool(find_order, args={"order_id": "string"})
    with pytest.raises(DefinitionError, match="'find_order': parameters is not JSON Schema"):
        guard(wrong)
    with pytest.raises(DefinitionError, match=r"give a dspy\.Module with tools"):
        guard(dict)

    def odd(thing: Callable[..., "NoSuchType"]) -> str:  # type: ignore[name-defined]  # noqa: F821
        return ""

    with pytest.raises(DefinitionError, match="tool 'odd' has no schema of its arguments"):
        guard(odd)
    assert go(guard(untyped), thing=3) == 3
    assert "thing: missing" in go(guard(untyped))


@pytest.mark.requirement("dspy:bad:no-tools")
def test_what_cannot_be_guarded_is_refused():
    with pytest.raises(DefinitionError) as caught:
        guard(dspy.Predict("question -> answer"))
    assert str(caught.value) == (
        "Predict holds no dspy.Tool, so that there is nothing to guard; a module without tools is "
        "put under contract by Contracted"
    )
    with pytest.raises(DefinitionError, match="guarded already"):
        guard(guard(react()))
    with pytest.raises(DefinitionError, match="guarded already"):
        guard(guard(find_order))
    with pytest.warns(DeprecationWarning, match="CodeAct"):
        acting = dspy.CodeAct("n -> m", tools=[find_order])
    with pytest.raises(DefinitionError, match="CodeAct runs the source of its tools"):
        guard(acting)
    with pytest.raises(DefinitionError, match=r"give a dspy\.Module with tools"):
        guard("react")
    twice = functools.partial(dspy.Tool, name="find")
    with pytest.raises(DefinitionError, match="'find' is registered twice"):
        guard(Desk([twice(pay), twice(find_order)]))


@pytest.mark.requirement("dspy:guard:without")
def test_a_halt_of_a_tool_that_no_agent_uses_is_an_observation(go: Any, recorded: Any, ended: Any):
    tool = guard(find_order, contracts={"find_order": PRICED})
    told = go(tool, order_id="A-1", limit=9)
    assert told.startswith("The call of 'find_order' was not made good: find_order: contract")
    assert ended() == [("find_order", "violated")]
    with pytest.raises(ContractViolation):
        go(guard(Desk(), contracts={"find_order": (LOW, Recover())}), order_id="A-1")


LOW = Contract("low", ensures=[clauses.in_range("limit", high=0)])


@pytest.mark.requirement("dspy:guard:new")
def test_a_predictors_own_model_is_recorded_too(go: Any, plays: Any, recorded: Any, ended: Any):
    agent = react()
    agent.set_lm(scripted(Script.of("Own.")))
    plays()
    assert go(guard(agent), question="?").answer == "Own."
    assert ended().count(("model", "satisfied")) == 2
    assert not isinstance(agent.react.lm, HornbookLM)


@pytest.mark.requirement("dspy:guard:rules")
def test_rules_are_shown_in_each_call_of_react(go: Any, plays: Any, rules: Any):
    playing = plays(call("find_order", order_id="A-1"), "There.")
    with context(rules=rules), hornbook.run(trace=None):
        go(guard(react()), question="Where is A-1?")
    assert [rules.rules[0].text in asked.text for asked in playing.asked] == [True, True]
