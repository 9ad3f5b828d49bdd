"""The step around a tool call, beyond what the conformance kit plays."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest

from hornbook import Contract, ContractViolation, Recover, clauses, plugins, run
from hornbook.errors import DefinitionError
from hornbook.hooks import hookimpl
from hornbook.hosting import ToolHost, ToolSteps
from hornbook.kernel import ToolRegistry
from hornbook.step import Decision
from hornbook.testing.conformance import Did, normalised

SMALL = Contract("small", ensures=[clauses.in_range(".", high=9)])
LIMITED = Contract(
    "limited",
    requires=[clauses.in_range("number", high=5)],
    ensures=[clauses.in_range(".", high=9)],
)


@dataclass(frozen=True)
class Call:
    name: str
    arguments: Mapping[str, Any]


class Toy(ToolHost[Call, Any]):
    name = "toy"
    retries = True

    def tool(self, call: Call) -> str:
        return call.name

    def arguments(self, call: Call) -> Mapping[str, Any]:
        return call.arguments

    def changed(self, call: Call, arguments: Mapping[str, Any]) -> Call:
        return replace(call, arguments={**call.arguments, **arguments})

    def error(self, text: str, call: Call) -> Any:
        return f"error: {text}"

    def may_retry(self) -> bool:
        return self.retries


def double(call: Call) -> int:
    return call.arguments["number"] * 2


async def adouble(call: Call) -> int:
    await asyncio.sleep(0)
    return double(call)


def of(number: int) -> Call:
    return Call("double", {"number": number})


class Substituting:
    """Gives 50 in place of any tool's output."""

    @hookimpl
    def hornbook_before_step(self) -> Decision:
        return Decision(action="substitute", value=50)


@pytest.mark.requirement("hosting:tools:outcomes")
async def test_a_call_gives_what_the_tool_gave_in_either_colour() -> None:
    steps = ToolSteps(Toy(), {"double": SMALL})
    assert steps.call(of(4), double) == 8
    assert await steps.acall(of(4), adouble) == 8


@pytest.mark.requirement("hosting:tools:outcomes")
def test_a_violation_halts_and_a_violated_precondition_is_told() -> None:
    steps = ToolSteps(Toy(), {"double": LIMITED})
    with pytest.raises(ContractViolation, match="in_range"):
        steps.call(of(5), double)
    assert steps.call(of(7), double) == (
        "error: The call of 'double' was not made. Correct it and call again:\n"
        "- number: expected at most 5; got 7"
    )


@pytest.mark.requirement("hosting:tools:outcomes")
def test_a_substitute_that_is_refused_halts_though_nothing_was_tried() -> None:
    steps = ToolSteps(Toy(), {"double": LIMITED})
    with plugins.registered(Substituting()), pytest.raises(ContractViolation) as caught:
        steps.call(of(1), double)
    assert caught.value.report.violations[0].observed == "50"


@pytest.mark.requirement("hosting:tools:outcomes")
def test_the_exception_behind_a_violation_is_its_cause() -> None:
    steps = ToolSteps(Toy(), {"double": (SMALL, Recover(on=(KeyError,)))})
    with pytest.raises(ContractViolation) as caught:
        steps.call(Call("double", {}), double)
    assert isinstance(caught.value.__cause__, KeyError)


@pytest.mark.requirement("hosting:tools:outcomes")
def test_where_the_host_allows_no_retry_there_is_none() -> None:
    host = Toy()
    steps = ToolSteps(host, {"double": (SMALL, Recover(retry=3, fallback=[lambda number: 0]))})
    host.retries = False
    with run(trace=None) as recorded:
        assert steps.call(of(8), double) == 0
    (did,) = normalised(recorded.events)
    assert (did.attempts, did.decisions) == (2, ("fallback",))


@pytest.mark.requirement("hosting:tools:fallbacks")
async def test_fallbacks_take_the_arguments_and_may_be_async_where_the_agent_is() -> None:
    async def none(number: int) -> int:
        return number - number

    recover = Recover(fallback=[none])
    with pytest.raises(DefinitionError) as caught:
        ToolSteps(Toy(), {"double": (SMALL, recover)})
    assert str(caught.value).endswith(
        "none' of tool 'double' is async, and the agent may be run sync: give a plain function"
    )
    steps = ToolSteps(Toy(), {"double": (SMALL, recover)}, sync=False)
    assert await steps.acall(of(8), adouble) == 0


@pytest.mark.requirement("hosting:tools:misfits")
def test_fallbacks_that_do_not_fit_their_tool_are_refused() -> None:
    def share(number: int, among: int = 2) -> float:
        """Share."""
        return number / among

    tools = ToolRegistry.of(share)

    def refuse(*fallback: Callable[..., Any]) -> None:
        held = {"share": (LIMITED, Recover(fallback=fallback))}
        ToolSteps(Toy(), held).refuse_misfits(tools)

    refuse(lambda number, among=1: 0, lambda **given: 0, dict)
    with pytest.raises(DefinitionError) as caught:
        refuse(lambda number: 0)
    assert str(caught.value) == (
        "fallback '<lambda>' of tool 'share' cannot take its arguments (number, among) by name: "
        "got an unexpected keyword argument 'among'"
    )
    with pytest.raises(DefinitionError) as caught:
        refuse(lambda number, among: 0)
    assert str(caught.value) == (
        "fallback '<lambda>' of tool 'share' cannot take its arguments (number, among) by name: "
        "missing a required argument: 'among', which the model may leave out"
    )


@pytest.mark.requirement("hosting:tools:misfits")
def test_contracts_that_do_not_fit_the_tools_are_refused() -> None:
    def halve(number: int) -> float:
        """Halve."""
        return number / 2

    tools = ToolRegistry.of(halve)
    ToolSteps(Toy(), {"halve": LIMITED}).refuse_misfits(tools)
    with pytest.raises(DefinitionError) as caught:
        ToolSteps(Toy(), {"double": SMALL}).refuse_misfits(tools)
    assert str(caught.value) == (
        "contracts: there is no tool 'double'; the agent's tools are 'halve'"
    )
    bound = Contract("bound", requires=[clauses.bound("numbr")])
    with pytest.raises(DefinitionError, match="numbr"):
        ToolSteps(Toy(), {"halve": bound}).refuse_misfits(tools)


@pytest.mark.requirement("hosting:tools:names")
def test_names_that_the_model_makes_up_are_not_kept() -> None:
    steps = ToolSteps(Toy())
    steps.keep(["double"])
    with run(trace=None) as recorded:
        for number in range(3):
            assert steps.call(Call(f"made up {number}", {"number": number}), double) == number * 2
    assert list(vars(steps)["_steps"]) == ["double"]
    assert normalised(recorded.events) == tuple(
        Did(kind="tool", name=f"made up {number}", inputs={"number": number}) for number in range(3)
    )
