"""The host in memory: it is a host without Hornbook, and conforms with it."""

import pytest

from hornbook import Contract, ContractViolation, clauses, run
from hornbook.errors import DefinitionError
from hornbook.kernel import ToolGuard, ToolRegistry
from hornbook.testing import Reply, Script, call, conformance
from hornbook.testing.conformance.case import Case
from hornbook.testing.memory_host import Agent, HornbookMiddleware, MemoryAdapter, scripted


def add(left: int, right: int) -> int:
    """Add two numbers."""
    return left + right


async def aadd(left: int, right: int) -> int:
    """Add two numbers."""
    return left + right


@pytest.mark.requirement("conformance:memory:conforms")
@pytest.mark.parametrize("case", conformance.cases(), ids=str)
def test_the_adapter_conforms(case: Case) -> None:
    case.verify(MemoryAdapter)


@pytest.mark.requirement("conformance:memory:complete")
def test_the_host_works_by_itself() -> None:
    script = Script.of(call("add", left=1, right=2), Reply(text="It is 3.", shown=("tool: 3",)))
    agent = Agent(scripted(script), [add], instructions="You add.")
    assert agent.run("1 + 2?") == "It is 3."
    assert [message.role for message in agent.messages] == [
        "user",
        "assistant",
        "tool",
        "assistant",
    ]


@pytest.mark.requirement("conformance:memory:complete")
async def test_the_host_works_async_with_tools_of_either_colour() -> None:
    script = Script.of([call("add", left=1, right=2), call("aadd", left=3, right=4)], "3 and 7.")
    agent = Agent(scripted(script), [add, aadd])
    assert await agent.arun("1 + 2? 3 + 4?") == "3 and 7."
    assert [message.text for message in agent.messages[2:4]] == ["3", "7"]


@pytest.mark.requirement("conformance:memory:complete")
def test_a_model_that_never_answers_is_stopped() -> None:
    agent = Agent(scripted(Script.of(*[call("add", left=1, right=2)] * 30)), [add])
    with pytest.raises(RuntimeError, match="called 20 times and gave no answer"):
        agent.run("1 + 2?")


@pytest.mark.requirement("conformance:memory:complete")
def test_an_unknown_tool_and_a_raising_model_are_the_hosts_errors() -> None:
    agent = Agent(scripted(Script.of(call("sub"))), [add])
    with pytest.raises(LookupError, match="there is no tool 'sub'"):
        agent.run("2 - 1?")
    with pytest.raises(TimeoutError, match="too slow"):
        Agent(scripted(Script.of(TimeoutError("too slow")))).run("2 - 1?")


@pytest.mark.requirement("conformance:memory:attached")
def test_hornbook_is_attached_by_one_argument() -> None:
    small = Contract("small", ensures=[clauses.in_range(".", high=9)])
    hornbook = HornbookMiddleware(ToolRegistry.of(add), {"add": small}, halt="hard")
    script = Script.of(call("add", left=7, right=8))
    agent = Agent(scripted(script), [add], middleware=hornbook)
    with run(trace=None) as recorded, pytest.raises(ContractViolation, match="at most 9"):
        agent.run("7 + 8?")
    assert [step.name for step in conformance.normalised(recorded.events)] == ["model", "add"]


@pytest.mark.requirement("conformance:memory:attached")
def test_what_cannot_be_attached_is_refused() -> None:
    guard = ToolGuard(ToolRegistry.of(add))
    wrong = Contract("wrong", requires=[clauses.bound("middle")])
    with pytest.raises(DefinitionError, match="'soft' or 'hard'"):
        HornbookMiddleware(guard, halt="firm")  # type: ignore[arg-type]
    with pytest.raises(
        DefinitionError, match="there is no tool 'sub'; the agent's tools are 'add'"
    ):
        HornbookMiddleware(guard, {"sub": wrong})
    with pytest.raises(DefinitionError, match="middle"):
        HornbookMiddleware(guard, {"add": wrong})
