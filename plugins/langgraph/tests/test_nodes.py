"""`contract` on nodes: inputs, outputs in every form, recovery, and what LangGraph injects."""

import operator
import typing
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph import START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.runtime import Runtime
from langgraph.types import Command, Overwrite, Send
from pydantic import BaseModel
from typing_extensions import TypedDict

import hornbook
from hornbook import Contract, ContractViolation, Recover, clauses, feedback
from hornbook.errors import DefinitionError
from hornbook_langgraph import contract, routes_to
from hornbook_langgraph.update import update_of


class State(TypedDict, total=False):
    question: str
    answer: str
    score: int
    notes: Annotated[list[str], operator.add]
    messages: Annotated[list[AnyMessage], add_messages]


ANSWERED = Contract("answered", output=State, ensures=[clauses.in_range("score", 0, 10)])


def graph_of(node: Any, schema: Any = State, **options: Any) -> Any:
    builder = StateGraph(schema, **options)
    builder.add_node("node", node)
    builder.add_edge(START, "node")
    return builder.compile()


def violated(run: Callable[[], Any]) -> ContractViolation:
    with pytest.raises(ContractViolation) as caught:
        run()
    return caught.value


@pytest.mark.requirement("langgraph:node:decorate")
def test_a_node_that_meets_its_contract_works_as_before(go: Any):
    @contract(ANSWERED)
    def node(state: State) -> State:
        return {"answer": state["question"].upper(), "score": 3}

    assert go(graph_of(node), {"question": "why"}) == {
        "question": "why",
        "answer": "WHY",
        "score": 3,
        "notes": [],
        "messages": [],
    }


@pytest.mark.requirement("langgraph:node:decorate")
def test_a_node_that_violates_its_contract_raises_with_the_report(go: Any):
    @contract(ANSWERED)
    def node(state: State) -> State:
        return {"score": 11}

    error = violated(lambda: go(graph_of(node), {"question": "why"}))
    assert str(error) == (
        "node: contract 'answered' violated\n"
        "  - in_range score at score: expected at least 0 and at most 10; got 11"
    )


@pytest.mark.requirement("langgraph:node:decorate")
def test_config_and_runtime_are_injected_into_a_node_under_contract(go: Any):
    class Settings(BaseModel):
        user: str

    @contract(ANSWERED)
    def node(state: State, config: RunnableConfig, runtime: Runtime[Settings]) -> State:
        return {"answer": f"{runtime.context.user} {config['configurable']['where']}"}

    graph = graph_of(node, context_schema=Settings)
    config = {"configurable": {"where": "here"}}
    state = go(graph, {"question": "why"}, config, context=Settings(user="Ada"))
    assert state["answer"] == "Ada here"


@pytest.mark.requirement("langgraph:node:decorate")
def test_the_input_schema_is_still_read_from_the_type_hints(go: Any):
    class Narrow(TypedDict):
        question: str

    seen: list[Any] = []

    @contract(ANSWERED)
    def node(state: Narrow) -> State:
        seen.append(dict(state))
        return {}

    go(graph_of(node), {"question": "why", "score": 1})
    assert seen == [{"question": "why"}]


@pytest.mark.requirement("langgraph:node:decorate")
def test_methods_and_objects_that_are_called_can_be_nodes(go: Any):
    class Nodes:
        answer = "yes"

        @contract(ANSWERED)
        def method(self, state: State) -> State:
            return {"answer": self.answer}

        def __call__(self, state: State) -> State:
            return {"answer": self.answer}

    nodes = Nodes()
    assert go(graph_of(nodes.method), {"question": "why"})["answer"] == "yes"
    assert go(graph_of(contract(ANSWERED)(nodes)), {"question": "why"})["answer"] == "yes"


@pytest.mark.requirement("langgraph:node:inputs")
def test_clauses_see_the_keys_of_the_state_and_the_state(go: Any):
    seen: list[Any] = []

    def looks(value: Any, inputs: Any) -> bool:
        seen.append((dict(inputs), inputs["state"]["question"], "config" in inputs))
        return True

    grounded = Contract(
        "grounded",
        requires=[clauses.bound("question")],
        ensures=[
            clauses.grounded("answer", source="question"),
            clauses.grounded("answer", source="state.question", name="in state"),
            clauses.that("looks", looks),
        ],
    )

    @contract(grounded)
    def node(state: State, config: RunnableConfig) -> State:
        return {"answer": "A17"}

    go(graph_of(node), {"question": "order A17"})
    inputs = {"question": "order A17", "notes": [], "messages": []}
    assert seen == [(inputs, "order A17", False)]


@pytest.mark.requirement("langgraph:node:inputs")
@pytest.mark.parametrize("name", ["query", "config"])
def test_a_name_that_is_no_key_of_the_state_is_refused_at_decoration(name: str):
    with pytest.raises(DefinitionError) as caught:

        @contract(Contract("c", requires=[clauses.bound(name)]))
        def node(state: State, config: RunnableConfig) -> State:
            return {}

    assert str(caught.value) == (
        f"contract 'c', clause 'bound {name}': {name!r} is no parameter of 'node'; its parameters "
        f"are question, answer, score, notes, messages, state"
    )


@pytest.mark.requirement("langgraph:node:inputs")
def test_a_violated_precondition_stops_the_node_before_it_runs(go: Any):
    ran: list[int] = []

    @contract(Contract("c", requires=[clauses.bound("answer")]))
    def node(state: State) -> State:
        ran.append(1)
        return {}

    error = violated(lambda: go(graph_of(node), {"question": "why"}))
    assert error.report.attempts == 0
    assert ran == []


@dataclass
class DataState:
    question: str
    score: int | None = None


class ModelState(BaseModel):
    question: str
    score: int | None = None


@pytest.mark.requirement("langgraph:node:inputs", "langgraph:node:keys")
@pytest.mark.parametrize("schema", [DataState, ModelState])
def test_dataclass_and_model_states_are_inputs_and_outputs_by_key(go: Any, schema: Any):
    held = Contract(
        "c",
        output=schema,
        requires=[clauses.bound("question")],
        ensures=[clauses.in_range("score", 0, 5)],
    )

    def node(state: Any) -> Any:
        return schema(question=state.question, score=len(state.question))

    node.__annotations__["state"] = schema
    graph = graph_of(contract(held)(node), schema)
    assert go(graph, {"question": "why"})["score"] == 3
    error = violated(lambda: go(graph, {"question": "why not"}))
    assert [violation.path for violation in error.report.violations] == ["score"]


class Update(BaseModel):
    answer: str | None = None
    score: int = 1


UPDATES: list[tuple[Any, Any]] = [
    (None, {}),
    ({"score": 1}, {"score": 1}),
    (Command(update={"score": 1}), {"score": 1}),
    (Command(update=[("score", 1)]), {"score": 1}),
    (Command(goto="a"), {"__goto__": ["a"]}),
    (Command(update={"score": 1}, goto=["a", Send("b", {})]), {"score": 1, "__goto__": ["a", "b"]}),
    ([Command(update={"score": 1}), {"answer": "x"}], {"score": 1, "answer": "x"}),
    ([Command(update={"notes": ["a"]}), {"notes": ["b"]}], {"notes": ["a", "b"]}),
    ([Command(goto="a"), Command(goto="b")], {"__goto__": ["a", "b"]}),
    (Command(graph=Command.PARENT, update={"score": 1}, goto="a"), {"__goto__": ["a"]}),
    (Update(score=2), {"score": 2}),
    (Update(answer=None), {"answer": None, "score": 1}),
    (DataState("why"), {"question": "why"}),
    ("a root state", "a root state"),
]


@pytest.mark.requirement("langgraph:node:update")
@pytest.mark.parametrize(("returned", "expected"), UPDATES)
def test_the_output_is_the_update_in_whatever_form_it_comes(returned: Any, expected: Any):
    assert update_of(returned) == expected


@pytest.mark.requirement("langgraph:node:update")
@pytest.mark.parametrize(
    "returned",
    [
        {"score": 11},
        Command(update={"score": 11}),
        [Command(update={"score": 11}), {"answer": "x"}],
    ],
)
def test_every_form_of_an_update_is_held_to_the_contract(go: Any, returned: Any):
    graph = graph_of(contract(ANSWERED)(lambda state: returned))
    error = violated(lambda: go(graph, {"question": "why"}))
    assert [violation.path for violation in error.report.violations] == ["score"]


class OldState(typing.TypedDict, total=False):
    score: int
    part: "OldPart"


class OldPart(typing.TypedDict):
    name: str


@pytest.mark.requirement("langgraph:node:keys")
@pytest.mark.parametrize(
    ("update", "wrong"),
    [
        ({}, []),
        ({"score": 3}, []),
        ({"score": "3"}, ["score"]),
        ({"part": {"name": "x"}}, []),
        ({"part": {"name": 1}}, ["part.name"]),
        ({"score": None, "part": {}}, ["score", "part.name"]),
    ],
)
def test_a_typing_typeddict_is_checked_key_by_key_on_python_311(
    go: Any, update: Any, wrong: list[str]
):
    graph = graph_of(contract(Contract("c", output=OldState))(lambda state: update), OldState)
    if not wrong:
        go(graph, {"score": 0})
        return
    error = violated(lambda: go(graph, {"score": 0}))
    assert [violation.path for violation in error.report.violations] == wrong


@pytest.mark.requirement("langgraph:node:keys")
def test_a_path_below_a_key_that_is_not_written_is_not_applicable(go: Any):
    held = Contract("c", output=State, ensures=[clauses.in_range("score", 0, 10)])
    reports: list[Any] = []

    @contract(held, recover=Recover(retry=1))
    def node(state: State) -> State:
        told = feedback()
        if told is not None:
            reports.append(told.report)
        return {"answer": 1 if told is None else "yes"}  # type: ignore[typeddict-item]

    go(graph_of(node), {"question": "why"})
    assert [(v.clause, v.status) for v in reports[0].verdicts] == [
        ("output", "Violated"),
        ("in_range score", "NotApplicable"),
    ]


@pytest.mark.requirement("langgraph:node:writes")
def test_a_key_that_must_be_written_and_is_not_is_violated(go: Any):
    @contract(ANSWERED, writes=["answer", "score"])
    def node(state: State) -> State:
        return {"answer": "yes"}

    error = violated(lambda: go(graph_of(node), {"question": "why"}))
    assert str(error) == (
        "node: contract 'answered' violated\n"
        "  - writes answer, score: expected an update with answer, score; got {'answer': 'yes'}"
    )
    assert error.report.violations[0].evidence == {"missing": ["score"]}


@pytest.mark.requirement("langgraph:node:writes")
def test_a_key_that_the_output_does_not_have_cannot_be_asked_for():
    with pytest.raises(DefinitionError) as caught:
        contract(ANSWERED, writes=["grade"])
    assert str(caught.value) == (
        "contract 'answered': writes names 'grade', which the output does not have; its keys are "
        "question, answer, score, notes, messages"
    )
    with pytest.raises(DefinitionError) as caught:
        contract(ANSWERED, writes="score")
    assert str(caught.value) == "writes='score': give a list of keys, as ['score']"


@pytest.mark.requirement("langgraph:node:writes")
def test_the_digest_is_the_contracts_own_unless_keys_must_be_written():
    from hornbook_langgraph.fitted import fitted

    assert fitted(ANSWERED).digest == ANSWERED.digest
    assert fitted(ANSWERED, ["score"]).digest != ANSWERED.digest
    assert fitted(ANSWERED, ["score"]).digest == fitted(ANSWERED, ["score"]).digest


def last_of(held: list[str], new: str) -> list[str]:
    return [*held, new]


class Reduced(TypedDict, total=False):
    added: Annotated[list[str], operator.add]
    most: Annotated[int, max]
    appended: Annotated[list[str], last_of]
    loose: Annotated[list[str], lambda held, new: held]
    messages: Annotated[list[AnyMessage], add_messages]


@pytest.mark.requirement("langgraph:node:reducers")
@pytest.mark.parametrize(
    ("update", "wrong"),
    [
        ({"added": ["a"], "most": 3, "appended": "a"}, []),
        ({"added": "a"}, ["added"]),
        ({"most": "3"}, ["most"]),
        ({"appended": ["a"]}, ["appended"]),
        ({"loose": "a"}, []),
        ({"loose": ["a"]}, []),
        ({"loose": [1]}, ["loose[0]"]),
        ({"messages": HumanMessage("hi")}, []),
        ({"messages": [AIMessage("hi"), ("user", "hi"), {"role": "user", "content": "hi"}]}, []),
        ({"messages": [3]}, ["messages"]),
        ({"added": Overwrite(["a"])}, []),
    ],
)
def test_a_reducer_channel_is_checked_as_what_its_reducer_takes(update: Any, wrong: list[str]):
    from hornbook_langgraph.fitted import fitted

    report = fitted(Contract("c", output=Reduced)).check(update)
    assert [violation.path for violation in report.violations][:1] == wrong


@pytest.mark.requirement("langgraph:node:routes")
@pytest.mark.parametrize(
    ("returned", "status"),
    [
        (Command(goto="a"), "Satisfied"),
        (Command(goto=[Send("b", {}), "a"]), "Satisfied"),
        (Command(goto="c"), "Violated"),
        (Command(goto=["a", Send("c", {})]), "Violated"),
        ({"score": 1}, "Undetermined"),
    ],
)
def test_routes_to_looks_at_where_the_command_goes(returned: Any, status: str):
    held = Contract("c", ensures=[routes_to("a", "b")])
    assert held.check(update_of(returned)).verdict("routes_to a, b").status == status
    if status == "Undetermined":
        loose = Contract("c", ensures=[routes_to("a", "b", optional=True, name="r")])
        assert loose.check(update_of(returned)).verdict("r").status == "NotApplicable"


@pytest.mark.requirement("langgraph:node:routes")
def test_a_node_is_sent_back_until_it_goes_where_it_may(go: Any):
    held = Contract("routed", output=State, ensures=[routes_to("done")])

    @contract(held, recover=Recover(retry=1))
    def node(state: State) -> Command[Literal["done", "lost"]]:
        return Command(update={"score": 1}, goto="lost" if feedback() is None else "done")

    builder = StateGraph(State)
    builder.add_node("node", node)
    builder.add_node("done", lambda state: {"answer": "done"})
    builder.add_node("lost", lambda state: {"answer": "lost"})
    builder.add_edge(START, "node")
    assert go(builder.compile(), {"question": "why"})["answer"] == "done"


@pytest.mark.requirement("langgraph:node:routes")
def test_routes_to_needs_names():
    with pytest.raises(DefinitionError) as caught:
        routes_to()
    assert str(caught.value) == "routes_to(): give the names of nodes, at least one"


@pytest.mark.requirement("langgraph:node:generator")
def test_a_generator_is_refused_with_the_reason():
    def node(state: State) -> Any:
        yield {"score": 1}

    async def anode(state: State) -> Any:
        yield {"score": 1}

    for generator in (node, anode):
        with pytest.raises(DefinitionError) as caught:
            contract(ANSWERED)(generator)
        assert str(caught.value) == (
            f"node {generator.__name__!r} is a generator, of which LangGraph keeps only what is "
            f"yielded last: return the update, and stream with runtime.stream_writer"
        )


@pytest.mark.requirement("langgraph:node:decorate")
def test_a_retried_node_is_told_what_was_wrong(go: Any):
    told: list[Any] = []

    @contract(ANSWERED, recover=Recover(retry=2))
    def node(state: State) -> State:
        told.append(str(feedback()))
        return {"score": 12 - len(told)}

    assert go(graph_of(node), {"question": "why"})["score"] == 10
    assert told == [
        "None",
        "The previous answer was rejected. in_range score at score: expected at least 0 and at "
        "most 10; got 11",
    ]


@pytest.mark.requirement("langgraph:node:decorate")
def test_a_fallback_is_a_node_and_gets_what_langgraph_injects(go: Any):
    def plain(state: State) -> State:
        return {"score": -1}

    def asks(state: State, runtime: Runtime[Any], config: RunnableConfig) -> State:
        return {"score": 5, "answer": f"{runtime.context} {config['configurable']['where']}"}

    @contract(ANSWERED, recover=Recover(fallback=[plain, asks]))
    def node(state: State) -> State:
        return {"score": 11}

    graph = graph_of(node, context_schema=str)
    state = go(graph, {"question": "why"}, {"configurable": {"where": "here"}}, context="Ada")
    assert (state["score"], state["answer"]) == (5, "Ada here")


@pytest.mark.requirement("langgraph:node:decorate")
def test_recoveries_that_cannot_work_with_a_node_are_refused():
    async def later(state: State) -> State:
        return {}

    def nothing() -> State:
        return {}

    def node(state: State) -> State:
        return {}

    with pytest.raises(DefinitionError) as caught:
        contract(ANSWERED, recover=Recover(fallback=[later]))(node)
    assert str(caught.value).startswith("step 'node' is sync and its fallback 'later' is async")
    with pytest.raises(DefinitionError) as caught:
        contract(ANSWERED, recover=Recover(fallback=[nothing]))(node)
    assert str(caught.value).startswith("fallback 'nothing' of step 'node' is no node")
    with pytest.raises(DefinitionError) as caught:
        contract(ANSWERED, recover=Recover(retry=1), deterministic=True)
    assert "declared deterministic" in str(caught.value)
    with pytest.raises(DefinitionError) as caught:
        contract(node)  # type: ignore[arg-type]
    assert "give a Contract, then the node" in str(caught.value)


@pytest.mark.requirement("langgraph:node:decorate")
def test_modify_changes_keys_of_the_state_for_the_next_attempt(go: Any):
    recover = Recover(retry=1, modify=lambda inputs, violation: {"question": "7"})

    @contract(ANSWERED, recover=recover, deterministic=True)
    def node(state: State) -> State:
        return {"score": int(state["question"])}

    assert go(graph_of(node), {"question": "70"})["score"] == 7


@pytest.mark.requirement("langgraph:node:decorate")
def test_a_waived_update_reaches_the_state(go: Any):
    node = contract(ANSWERED, recover=Recover(then="waive"))(lambda state: {"score": 11})
    with hornbook.run(trace=None) as run:
        assert go(graph_of(node), {"question": "why"})["score"] == 11
    assert [event.status for event in run.events if event.kind == "step.end"] == ["waived"]
