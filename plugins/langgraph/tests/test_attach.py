"""`attach` and `detach`: contracts on a graph that somebody else has written down."""

import itertools
import operator
from typing import Annotated, Any

import pytest
from langchain_core.runnables import RunnableLambda
from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

import hornbook
from hornbook import Contract, ContractViolation, Recover, clauses, feedback
from hornbook.errors import DefinitionError
from hornbook_langgraph import attach, contract, detach, routes_to


class State(TypedDict, total=False):
    question: str
    score: int
    notes: Annotated[list[str], operator.add]


SCORED = Contract(
    "scored",
    output=State,
    requires=[clauses.bound("question")],
    ensures=[clauses.in_range("score", 0, 10)],
)


def builder_of(*nodes: Any) -> Any:
    builder = StateGraph(State)
    for name, node in nodes:
        builder.add_node(name, node)
    builder.add_edge(START, nodes[0][0])
    for (before, _), (after, _) in itertools.pairwise(nodes):
        builder.add_edge(before, after)
    builder.add_edge(nodes[-1][0], END)
    return builder


def scoring(score: int) -> Any:
    return lambda state: {"score": score}


async def score_later(state: State) -> State:
    return {"score": 11}


@pytest.mark.requirement("langgraph:attach:builder")
def test_a_contract_is_put_on_a_node_and_taken_off_again(go: Any):
    builder = builder_of(("a", scoring(3)), ("b", scoring(11)))
    before = builder.nodes["b"].runnable
    attach(builder, {"b": SCORED})
    with pytest.raises(ContractViolation) as caught:
        go(builder.compile(), {"question": "why"})
    assert caught.value.report.step == "b"
    detach(builder, ["b"])
    assert builder.nodes["b"].runnable is before
    assert go(builder.compile(), {"question": "why"})["score"] == 11


@pytest.mark.requirement("langgraph:attach:builder")
def test_a_contract_may_come_with_its_recovery_and_keys_to_write(go: Any):
    def node(state: State) -> State:
        return {"score": 11} if feedback() is None else {"score": 7, "notes": ["again"]}

    builder = builder_of(("a", node))
    attach(builder, {"a": (SCORED, Recover(retry=1))}, writes={"a": ["notes"]})
    assert go(builder.compile(), {"question": "why"}) == {
        "question": "why",
        "score": 7,
        "notes": ["again"],
    }


@pytest.mark.requirement("langgraph:attach:builder")
def test_detach_without_names_takes_all_contracts_off(go: Any):
    builder = builder_of(("a", scoring(11)), ("b", scoring(12)))
    attach(builder, {"a": SCORED, "b": SCORED})
    detach(builder)
    assert go(builder.compile(), {"question": "why"})["score"] == 12


@pytest.mark.requirement("langgraph:attach:builder")
def test_nodes_that_are_runnables_or_graphs_can_be_held_to_a_contract(go: Any):
    inner = builder_of(("deep", scoring(12))).compile()
    builder = builder_of(("chain", RunnableLambda(scoring(11))), ("graph", inner))
    attach(builder, {"chain": (SCORED, Recover(then="waive")), "graph": SCORED})
    with hornbook.run(trace=None) as run, pytest.raises(ContractViolation) as caught:
        go(builder.compile(), {"question": "why"})
    assert caught.value.report.step == "graph"
    ends = [(e.name, e.status) for e in run.events if e.kind == "step.end"]
    assert ends == [("chain", "waived"), ("graph", "violated")]


@pytest.mark.requirement("langgraph:attach:builder")
def test_langgraph_still_finds_a_subgraph_that_is_under_contract(saver: Any):
    inner = builder_of(("deep", scoring(3))).compile()
    builder = builder_of(("graph", inner))
    attach(builder, {"graph": SCORED})
    graph = builder.compile(checkpointer=saver)
    assert [name for name, _ in graph.get_subgraphs()] == ["graph"]
    assert "graph:deep" in graph.get_graph(xray=True).draw_mermaid().replace("\\3a", ":")


@pytest.mark.requirement("langgraph:attach:builder")
def test_a_runnable_can_be_decorated_as_well(go: Any):
    builder = builder_of(("a", contract(SCORED, name="held")(RunnableLambda(scoring(11)))))
    with pytest.raises(ContractViolation) as caught:
        go(builder.compile(), {"question": "why"})
    assert caught.value.report.step == "held"


@pytest.mark.requirement("langgraph:attach:builder")
def test_attach_refuses_what_cannot_work_in_one_sentence_and_changes_nothing():
    builder = builder_of(("a", scoring(3)), ("b", scoring(3)))
    before = dict(builder.nodes)
    wrong_input = Contract("c", requires=[clauses.bound("query")])
    cases: list[tuple[Any, str]] = [
        (
            {"a": SCORED, "b": wrong_input},
            "contract 'c', clause 'bound query': 'query' is no parameter of 'b'; its parameters "
            "are question, score, notes, state",
        ),
        (
            {"a": "strict"},
            "'a': give a Contract, or a pair of Contract and Recover, not 'strict'",
        ),
        ({"a": (SCORED, 3)}, "'a': give a Contract, or a pair of Contract and Recover, not ("),
    ]
    for contracts, message in cases:
        with pytest.raises(DefinitionError) as caught:
            attach(builder, contracts)
        assert str(caught.value).startswith(message)
        assert builder.nodes == before


@pytest.mark.requirement("langgraph:attach:unknown")
def test_an_unknown_node_is_refused_naming_those_there_are():
    builder = StateGraph(State)
    builder.add_node("first", scoring(1), error_handler=lambda state: {})
    builder.add_node("second", scoring(2))
    for change in (
        lambda: attach(builder, {"third": SCORED}),
        lambda: detach(builder, ["third"]),
    ):
        with pytest.raises(DefinitionError) as caught:
            change()
        assert str(caught.value) == (
            "the graph has no node 'third'; its nodes are 'first', 'second'"
        )


@pytest.mark.requirement("langgraph:attach:builder")
def test_attaching_twice_and_detaching_what_is_not_attached_are_refused():
    builder = builder_of(("a", scoring(3)), ("b", scoring(3)))
    attach(builder, {"a": SCORED})
    with pytest.raises(DefinitionError) as caught:
        attach(builder, {"a": SCORED})
    assert str(caught.value) == "node 'a' already has contract 'scored': detach it first"
    with pytest.raises(DefinitionError) as caught:
        detach(builder, ["b"])
    assert str(caught.value) == "node 'b' has no contract that attach() put on it"


@pytest.mark.requirement("langgraph:attach:builder")
def test_a_compiled_graph_is_no_builder_and_a_compiled_builder_is_warned_of():
    builder = builder_of(("a", scoring(3)))
    graph = builder.compile()
    with pytest.raises(DefinitionError) as caught:
        attach(graph, {"a": SCORED})
    assert str(caught.value) == (
        "attach() takes the StateGraph that is being built, before compile(), not "
        "CompiledStateGraph"
    )
    with pytest.warns(UserWarning, match="compile it again"):
        attach(builder, {"a": SCORED})


@pytest.mark.requirement("langgraph:node:generator")
def test_a_generator_node_is_refused_at_attach():
    def node(state: State) -> Any:
        yield {"score": 1}

    builder = builder_of(("a", node))
    with pytest.raises(DefinitionError) as caught:
        attach(builder, {"a": SCORED})
    assert str(caught.value).startswith("node 'a' is a generator")


@pytest.mark.requirement("langgraph:attach:builder", "langgraph:node:routes")
def test_routes_are_checked_on_attached_nodes(go: Any):
    from langgraph.types import Command

    builder = StateGraph(State)
    builder.add_node("a", lambda state: Command(goto="c"))
    builder.add_node("b", scoring(1))
    builder.add_node("c", scoring(2))
    builder.add_edge(START, "a")
    attach(builder, {"a": Contract("routed", ensures=[routes_to("b")])})
    with pytest.raises(ContractViolation) as caught:
        go(builder.compile(), {"question": "why"})
    assert caught.value.report.violations[0].evidence == {"goto": ["c"]}


@pytest.mark.requirement("langgraph:attach:builder")
def test_an_async_fallback_serves_only_a_node_that_is_async_alone():
    async def later(state: State) -> State:
        return {"score": 5}

    recover = Recover(fallback=[later])
    attach(builder_of(("a", score_later)), {"a": (SCORED, recover)})
    with pytest.raises(DefinitionError) as caught:
        attach(builder_of(("a", scoring(11))), {"a": (SCORED, recover)})
    assert str(caught.value) == (
        "step 'a' is sync and its fallback "
        "'test_an_async_fallback_serves_only_a_node_that_is_async_alone.<locals>.later' is async: "
        "make the node async, or the fallback sync"
    ).replace("test_an_async_fallback_serves_only_a_node_that_is_async_alone.<locals>.", "")
