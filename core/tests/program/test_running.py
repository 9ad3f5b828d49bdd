"""Running programs: what goes in, what is recorded, and how failures travel."""

import asyncio
import re
from typing import Any, Literal

import pytest

import hornbook
from hornbook import Budget, BudgetExceeded, Contract, ContractViolation, Recover, clauses
from hornbook.engine import Engine, StepTimeout
from hornbook.errors import PluginError
from hornbook.models import ReplayError, ScriptedModel
from hornbook.program import (
    BranchError,
    Conditional,
    Fallback,
    Iterate,
    Parallel,
    ProgramInputError,
    RoundsExhausted,
    Sequence,
    constant,
    neural,
    primitive,
    ref,
)
from hornbook.step import register_control_flow
from hornbook.trace import Event

from .parts import (
    Query,
    about_length,
    count,
    increment,
    is_long,
    join,
    kind_of,
    plain,
    strip,
    words,
)


class Torn(Exception):
    pass


@primitive
def torn(text: str) -> str:
    raise Torn(f"torn at {text}")


@primitive
def never(number: int) -> bool:
    return False


def decisions(events: tuple[Event, ...]) -> list[tuple[str, dict[str, Any]]]:
    return [(event.name, dict(event.data)) for event in events if event.kind == "decision"]


@pytest.mark.requirement("program:run:input")
@pytest.mark.parametrize(
    ("program", "value", "message"),
    [
        (strip, 3, "program 'strip' takes str: expected a valid string, got 3"),
        (join, {"words": ["a"], "count": "x"},
         "program 'join' takes {words: list[str], count: int}: at count expected a valid integer, "
         "got 'x'"),
        (join, {"words": ["a", 1]},
         "program 'join' takes {words: list[str], count: int}: at words[1] expected a valid "
         "string, got 1 (and 1 more)"),
        (join, {"words": []}, "program 'join' takes {words: list[str], count: int}: at count "
         "expected a value, got nothing"),
        (join, ["a"], "program 'join' takes {words: list[str], count: int}: expected a valid "
         "dictionary, got ['a']"),
    ],
    ids=range(5),
)  # fmt: skip
async def test_a_value_of_another_type_is_refused(program: Any, value: Any, message: str):
    with pytest.raises(ProgramInputError) as caught:
        program.run(value)
    assert str(caught.value) == message
    with pytest.raises(ProgramInputError, match=f"^{re.escape(message)}$"):
        await program.arun(value)


@pytest.mark.requirement("program:run:input")
def test_any_value_will_do_where_nothing_is_asked():
    assert constant(3).run(object()) == 3
    query = neural("n", ScriptedModel(["a"]), prompt="{text}{limit}", input=Query, output=str)
    with pytest.raises(ProgramInputError, match="program 'n' takes Query: expected "):
        query.run({"text": "a"})


@pytest.mark.requirement("program:run:input")
def test_the_state_of_a_host_in_place_of_one_object_is_refused():
    @primitive
    def said(query: Query) -> str:
        return query.text

    with pytest.raises(ProgramInputError) as refused:
        said({"query": Query(text="a")})  # type: ignore[arg-type]
    assert str(refused.value) == (
        "primitive 'said' asks Query as 'query', and is called with a dict, "
        "{'query': Query(text='a', limit=3)}: take out of it what is asked, in a function of your "
        "own"
    )
    assert said(Query(text="a")) == "a"


@pytest.mark.requirement("program:run:joins")
def test_a_program_is_one_step_of_the_run_around():
    program = Sequence(strip, Parallel(words, count=count), join).named("whole")
    with hornbook.run() as run:
        assert program.run(" a ") == "a-1"
    starts = [event for event in run.events if event.kind == "step.start"]
    assert [(event.name, event.data.get("meta", {}).get("place")) for event in starts] == [
        ("whole", None),
        ("strip", "whole[0]"),
        ("words", "whole[1].words"),
        ("count", "whole[1].count"),
        ("join", "whole[2]"),
    ]
    assert {event.parent for event in starts[1:]} == {starts[0].id}


@pytest.mark.requirement("program:run:budget")
async def test_a_budget_holds_in_either_colour():
    ask = neural("ask", ScriptedModel(lambda request: "a"), prompt="{input}", output=str)
    program = Sequence(ask, plain, ask)
    assert program.max_calls().total == 2
    assert program.run("x", budget=Budget(calls=2)) == "a"
    with pytest.raises(BudgetExceeded):
        program.run("x", budget=Budget(calls=1))
    with pytest.raises(BudgetExceeded):
        await program.arun("x", budget=Budget(calls=1))


@pytest.mark.requirement("program:run:async")
async def test_programs_share_nothing_between_tasks():
    program = Sequence(Parallel(words, count=count), join)
    given = await asyncio.gather(*(program.arun("x" * number) for number in range(1, 20)))
    assert given == [f"{'x' * number}-{number}" for number in range(1, 20)]


@pytest.mark.requirement("program:operators:fallback")
def test_a_fallback_tries_alternatives_and_tells_of_all_failures():
    with hornbook.run() as run:
        assert Fallback(torn, Sequence(strip, torn), plain).run("a ") == "a ?"
    assert decisions(run.events) == [
        ("alternative", {"place": "program", "to": "program[1]", "because": "Torn: torn at a "}),
        ("alternative", {"place": "program", "to": "program[2]", "because": "Torn: torn at a"}),
    ]
    with pytest.raises(Torn) as caught:
        Fallback(torn, torn).run("a")
    assert caught.value.__notes__ == [
        "in step 'torn' at program[1]",
        "before that, at program[0]: Torn: torn at a",
    ]
    with pytest.raises(Torn):
        Fallback(torn, plain, on=KeyError).run("a")


@pytest.mark.requirement("program:operators:fallback")
def test_a_violation_goes_to_the_next_alternative_too():
    @primitive
    def lies(text: str) -> str:
        return 3  # type: ignore[return-value]

    assert Fallback(lies, plain).run("a") == "a?"
    assert Fallback(lies, plain, on=ContractViolation).run("a") == "a?"
    with pytest.raises(ContractViolation):
        Fallback(lies, torn, on=Torn).run("a")


class Interrupt(Exception):
    pass


@pytest.mark.requirement("program:operators:fallback")
@pytest.mark.parametrize(
    "error",
    [
        BudgetExceeded("spent", limit="calls", spent={}),
        PluginError("broken"),
        ReplayError("drift"),
        Interrupt("a human is asked"),
        KeyboardInterrupt(),
    ],
    ids=lambda error: type(error).__name__,
)
def test_what_no_alternative_would_mend_is_not_caught(error: BaseException):
    register_control_flow(Interrupt)

    @primitive
    def stops(text: str) -> str:
        raise error

    with pytest.raises(type(error)):
        Fallback(stops, plain).run("a")


@pytest.mark.requirement("program:operators:iterate")
def test_rounds_that_are_used_are_accepted_or_fail():
    assert Iterate(increment, until=never, at_most=3).run(0) == 3
    with hornbook.run() as run, pytest.raises(RoundsExhausted) as caught:
        Iterate(increment, until=never, at_most=2, exhausted="fail").run(0)
    assert str(caught.value) == (
        "program: 2 rounds did not make 'never' hold: allow more with at_most=, or take the last "
        "result with exhausted='accept'"
    )
    assert decisions(run.events) == [
        ("exhausted", {"place": "program", "rounds": 2, "then": "fail"})
    ]
    places = [
        e.data["meta"]["place"] for e in run.events if e.kind == "step.start" and "meta" in e.data
    ]
    assert places == ["program#1", "program#1.until", "program#2", "program#2.until"]
    with hornbook.run() as run:
        Iterate(increment, until=lambda number: number == 2, at_most=9).run(0)
    assert decisions(run.events) == [("done", {"place": "program", "rounds": 2})]


@pytest.mark.requirement("program:operators:missing-branch")
def test_a_label_without_a_branch_is_a_clear_error():
    program = Conditional(kind_of, {"name": strip})
    assert program.run("a ") == "a"
    with pytest.raises(BranchError) as caught:
        program.run("12")
    assert str(caught.value) == (
        "program: the test 'kind_of' gave 'number', and no branch is for that; there are branches "
        "for 'name': add one, or `otherwise`"
    )
    assert Fallback(program, plain).run("12") == "12?"


@pytest.mark.requirement("program:operators:missing-branch")
@pytest.mark.parametrize("engine", [Engine(), Engine(pruning=False)], ids=["pruned", "not"])
def test_a_waived_label_that_the_type_does_not_have_takes_no_branch(engine: Engine):
    @primitive(recover=Recover(then="waive"))
    def lies(text: str) -> Literal["a", "b"]:
        return "c"  # type: ignore[return-value]

    program = Conditional(lies, {"a": strip, "c": plain}, otherwise=strip)
    with pytest.raises(BranchError):
        program.run("x", engine=engine)


@pytest.mark.requirement("program:operators:contract-outcome")
def test_the_outcome_of_a_contract_is_recorded():
    short = Contract("short", ensures=[clauses.that("short", lambda value: len(value) < 3)])
    with hornbook.run() as run:
        assert Conditional(short, strip, plain).run("abcd") == "abcd?"
    assert decisions(run.events) == [
        (
            "contract",
            {"place": "program.test", "contract": "short", "holds": False, "failed": ["short"]},
        ),
        ("branch", {"place": "program", "label": False, "to": "program.otherwise"}),
    ]


@pytest.mark.requirement("program:llmcompiler:raising-step")
@pytest.mark.parametrize("colour", ["sync", "async"])
async def test_a_step_that_raises_leaves_its_siblings_to_finish(colour: str):
    finished: list[str] = []

    @primitive
    async def slow(text: str) -> str:
        await asyncio.sleep(0.05)
        finished.append("slow")
        return text

    @primitive
    def dependent(text: str) -> str:
        finished.append("dependent")
        return text

    program = Parallel(a=torn, b=slow, c=dependent.bind(text=ref("a")), d=strip)
    running = asyncio.to_thread(program.run, "x") if colour == "sync" else program.arun("x")
    with pytest.raises(Torn) as caught:
        await asyncio.wait_for(running, timeout=20)
    assert finished == ["slow"]
    assert caught.value.__notes__[0] == "in step 'torn' at program.a"


@pytest.mark.requirement("program:llmcompiler:raising-step")
async def test_a_step_that_hangs_is_stopped_and_its_siblings_finish():
    @primitive(timeout=0.1)
    async def hangs(text: str) -> str:
        await asyncio.sleep(60)
        return text

    finished: list[str] = []

    @primitive
    async def slow(text: str) -> str:
        await asyncio.sleep(0.2)
        finished.append("slow")
        return text

    for engine in (Engine(), Engine(concurrency=False)):
        with pytest.raises(StepTimeout):
            await Parallel(hangs, slow).arun("x", engine=engine)
    assert finished == ["slow", "slow"]


@pytest.mark.requirement("program:run:pruning")
def test_a_constant_test_is_not_evaluated_when_pruning():
    program = Conditional(constant(True), plain, torn)
    for engine in (Engine(), Engine(pruning=False)):
        assert program.run("a", engine=engine) == "a?"
    assert program.max_calls().total == 0


@pytest.mark.requirement("program:binding:refs")
def test_references_in_iterates_and_branches_lead_out():
    program = Parallel(
        number=count,
        grown=Sequence(count, Iterate(about_length.bind(step=ref("number")), at_most=3)),
        chosen=Conditional(is_long, strip.bind(text=ref("word")), Fallback(torn, plain)),
        word=plain,
    )
    assert program.run("abcd") == {"number": 4, "grown": 16, "chosen": "abcd?", "word": "abcd?"}
    assert list(words.run("a b")) == ["a", "b"]
