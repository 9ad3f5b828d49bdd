"""Halts: they pass what swallows every Exception, and end where the outermost of ours stands."""

import asyncio
import pickle
import threading
from typing import Any

import dspy
import pytest

import hornbook
from hornbook import Budget, BudgetExceeded, Contract, ContractViolation, Recover, clauses, plugins
from hornbook.errors import DefinitionError, PluginError
from hornbook.hooks import hookimpl
from hornbook.step import Decision
from hornbook.step.control_flow import is_control_flow
from hornbook.testing import Script, call
from hornbook_dspy import Contracted, context, guard
from hornbook_dspy.adapter import halt
from hornbook_dspy.halting import Halt
from hornbook_dspy.testing import scripted

SMALL = Contract("small", ensures=[clauses.that("is small", lambda value: value < 10)])
GOOD = Contract("good", ensures=[clauses.that("is good", lambda value: value["answer"] == "good")])


def count(thing: str) -> int:
    """Count things."""
    return len(thing)


def agent_of(kind: Any = dspy.ReAct, **more: Any) -> Any:
    contracts = {"count": SMALL} | more
    return guard(kind("question -> answer", tools=[count]), contracts=contracts)


BIG = call("count", thing="a" * 12)


@pytest.mark.requirement("dspy:halt:react")
@pytest.mark.parametrize("kind", [dspy.ReAct, dspy.ReActV2])
def test_a_tools_halt_ends_an_agent_that_swallows_every_exception(
    go: Any, plays: Any, recorded: Any, ended: Any, kind: Any
):
    playing = plays(BIG)
    with pytest.raises(ContractViolation) as caught:
        go(agent_of(kind), question="How many?")
    assert caught.value.report.step == "count"
    assert playing.calls == 1
    assert ended() == [
        ("model", "satisfied"),
        ("count", "violated"),
        (kind.__name__, "interrupted"),
    ]


@pytest.mark.requirement("dspy:guard:contracts")
def test_a_contract_on_answers_names_no_field_that_is_not_there():
    def refusal(signature: str, path: str) -> str:
        answers = Contract("c", ensures=[clauses.one_of(path, ["Oslo"])])
        agent = dspy.ReAct(signature, tools=[count])
        with pytest.raises(DefinitionError) as caught:
            guard(agent, contracts={"model": answers})
        return str(caught.value)

    assert refusal("question -> answer", "answer") == (
        "contract 'c', clause 'one_of answer': 'answer' is the only output field, so that a final "
        "answer is its value: write '.' for 'answer'"
    )
    assert refusal("question -> city, land", "town") == (
        "contract 'c', clause 'one_of town': 'town' is no output field of the agent; they are "
        "city, land"
    )


@pytest.mark.requirement("dspy:bad:no-tools")
def test_a_model_is_nothing_to_guard():
    with pytest.raises(DefinitionError, match="a model has no tools to guard; give it to"):
        guard(scripted(Script.of("x")))


@pytest.mark.requirement("dspy:halt:outermost")
def test_only_the_outermost_of_ours_gives_the_violation(go: Any, plays: Any, recorded: Any):
    caught_inside: list[BaseException] = []

    class Program(dspy.Module):
        def __init__(self) -> None:
            super().__init__()
            self.agent = agent_of()

        def forward(self, question: str) -> Any:
            try:
                return self.agent(question=question)
            except Exception as error:
                caught_inside.append(error)
                raise

        async def aforward(self, question: str) -> Any:
            try:
                return await self.agent.acall(question=question)
            except Exception as error:
                caught_inside.append(error)
                raise

    plays(BIG)
    with pytest.raises(ContractViolation, match="is small"):
        go(Contracted(Program(), GOOD), question="How many?")
    assert caught_inside == []


@pytest.mark.requirement("dspy:halt:outermost")
def test_a_contracted_module_in_a_tool_halts_the_agent_around(go: Any, plays: Any, ended: Any):
    judge = Contracted(dspy.Predict("text -> answer"), GOOD, name="judge")

    def ask_judge(text: str) -> str:
        """Ask the judge."""
        return judge(text=text).answer

    plays(call("ask_judge", text="this"), "bad")
    with pytest.raises(ContractViolation) as caught:
        go(guard(dspy.ReAct("question -> answer", tools=[ask_judge])), question="this")
    assert caught.value.report.step == "judge"
    assert ("ask_judge", "interrupted") in ended()


@pytest.mark.requirement("dspy:halt:outermost")
def test_a_function_under_contract_in_a_tool_halts_the_agent_too(go: Any, plays: Any):
    @hornbook.contract(SMALL)
    def strict_count(thing: str) -> int:
        """Count strictly."""
        return len(thing)

    plays(call("strict_count", thing="a" * 12))
    with pytest.raises(ContractViolation, match="is small"):
        go(guard(dspy.ReAct("question -> answer", tools=[strict_count])), question="?")


@pytest.mark.requirement("dspy:halt:declared")
def test_a_recovery_that_names_the_violation_of_a_step_inside_gets_it(
    go: Any, plays: Any, recorded: Any, ended: Any
):
    def by_hand(question: str) -> dict[str, str]:
        return {"answer": "good"}

    plays(BIG, BIG, BIG)
    recover = Recover(retry=1, fallback=[by_hand], on=[ContractViolation])
    held = Contracted(agent_of(), GOOD, recover=recover, name="held")
    assert go(held, question="How many?").answer == "good"
    assert [status for name, status in ended() if name == "count"] == ["violated"] * 2
    assert ended()[-1] == ("held", "recovered")
    with pytest.raises(ContractViolation, match="is small"):
        go(Contracted(agent_of(), GOOD, recover=Recover(on=[OSError])), question="?")


@pytest.mark.requirement("dspy:halt:errors")
def test_an_ordinary_exception_of_a_tool_is_still_an_observation(go: Any, plays: Any, ended: Any):
    def fail(thing: str) -> int:
        """Fail."""
        raise OSError("no such thing")

    playing = plays(call("fail", thing="a"), "It fails.")
    agent = guard(dspy.ReAct("question -> answer", tools=[fail]))
    assert go(agent, question="?").answer == "It fails."
    assert "OSError: no such thing" in playing.asked[-1].text
    assert ("fail", "error") in ended()


@pytest.mark.requirement("dspy:halt:budget")
def test_a_spent_budget_and_a_broken_plugin_come_out_as_themselves(go: Any, plays: Any):
    class Broken:
        @hookimpl
        def hornbook_check_output(self, step: Any, output: Any) -> Any:
            if step.kind == "tool":
                raise KeyError("lost")
            return None

    plays(call("count", thing="a"))
    with plugins.registered(Broken(), "broken"), pytest.raises(PluginError) as caught:
        go(agent_of(), question="?")
    assert str(caught.value) == "plugin 'broken' raised in hornbook_check_output: KeyError: 'lost'"
    plays(call("count", thing="a" * 12))
    retrying = guard(
        dspy.ReAct("question -> answer", tools=[count]),
        contracts={"count": (SMALL, Recover(retry=3))},
    )
    budget = Budget(calls=2)
    with hornbook.run(trace=None, budget=budget), pytest.raises(BudgetExceeded, match="2 calls"):
        go(retrying, question="?")


@pytest.mark.requirement("dspy:halt:parallel")
@pytest.mark.parametrize("threads", [1, 3])
def test_in_parallel_only_the_item_fails_that_halts(plays: Any, threads: int):
    lm = Routing({"good": "good", "bad": "bad"})
    asking = Contracted(dspy.Predict("question -> answer"), GOOD)
    pairs = [(asking, {"question": one}) for one in ("good", "bad", "good")]
    with dspy.context(lm=lm.lm):
        results, failed, errors = dspy.Parallel(
            num_threads=threads, return_failed_examples=True, disable_progress_bar=True
        )(pairs)
    assert [one and one.answer for one in results] == ["good", None, "good"]
    assert failed == [{"question": "bad"}]
    assert [type(error) for error in errors] == [ContractViolation]


class Routing:
    """A language model that answers by what it is asked; safe in threads."""

    def __init__(self, answers: dict[str, str]) -> None:
        self.answers = answers
        self.calls = 0
        self.lock = threading.Lock()
        self.lm = dspy.LM("house/m", engine=self, cache=False)

    def complete(self, request: Any) -> Any:
        with self.lock:
            self.calls += 1
        text = request.messages[-1].parts[0].text
        said = text.partition("## question ## ]]\n")[2].partition("\n")[0]
        message = f"[[ ## answer ## ]]\n{self.answers[said]}\n\n[[ ## completed ## ]]"
        lm15 = dspy.lm15
        return lm15.Response(
            id="1",
            model="m",
            message=lm15.Message.assistant(message),
            finish_reason="stop",
            usage=lm15.Usage(input_tokens=1, output_tokens=1),
        )


@pytest.mark.requirement("dspy:halt:parallel")
def test_a_halt_in_a_worker_ends_a_call_around_and_what_still_waits_in_it():
    lm = Routing({"good": "good", "bad": "bad"})
    started, free, over = threading.Event(), threading.Event(), threading.Event()
    made: list[str] = []

    def act(thing: str) -> str:
        """Do something that cannot be undone."""
        made.append(thing)
        return thing

    acting = guard(act)

    class Program(dspy.Module):
        def __init__(self) -> None:
            super().__init__()
            self.judge = Contracted(dspy.Predict("question -> answer"), GOOD)

        def forward(self) -> Any:
            def slowly() -> None:
                started.set()
                free.wait(10)
                try:
                    acting(thing="late")
                finally:
                    over.set()

            def judged() -> None:
                started.wait(10)
                try:
                    self.judge(question="bad")
                finally:
                    free.set()

            pairs = [(slowly, ()), (judged, ())]
            return dspy.Parallel(num_threads=2, disable_progress_bar=True)(pairs)

    with dspy.context(lm=lm.lm), pytest.raises(ContractViolation, match="is good"):
        Contracted(Program(), Contract("any"))()
    assert over.wait(10)
    assert made == []


@pytest.mark.requirement("dspy:halt:evaluate")
def test_in_evaluate_only_the_example_fails(plays: Any):
    lm = Routing({"good": "good", "bad": "bad"})
    examples = [
        dspy.Example(question=one, answer=one).with_inputs("question")
        for one in ("good", "bad", "good")
    ]
    evaluate = dspy.Evaluate(
        devset=examples, metric=lambda e, p, t=None: e.answer == p.answer, num_threads=2
    )
    with dspy.context(lm=lm.lm):
        result = evaluate(Contracted(dspy.Predict("question -> answer"), GOOD))
    assert result.score == pytest.approx(66.67)


@pytest.mark.requirement("dspy:halt:async")
async def test_in_gather_the_halt_of_one_is_the_violation_of_that_one():
    async def one(answer: str) -> Any:
        with context(lm=scripted(Script.of(answer))):
            asking = Contracted(dspy.Predict("question -> answer"), GOOD)
            return await asking.acall(question="?")

    good, bad = await asyncio.gather(one("good"), one("bad"), return_exceptions=True)
    assert good.answer == "good"
    assert isinstance(bad, ContractViolation)


@pytest.mark.requirement("dspy:halt:async")
async def test_a_sync_call_works_inside_a_running_loop():
    with context(lm=scripted(Script.of(call("count", thing="aa"), "Two."))):
        assert agent_of()(question="How many?").answer == "Two."
    with context(lm=scripted(Script.of(BIG))), pytest.raises(ContractViolation):
        agent_of()(question="How many?")


@pytest.mark.requirement("dspy:halt:cause")
def test_the_exception_behind_a_violation_is_its_cause(go: Any, plays: Any):
    def fail(thing: str) -> int:
        """Fail."""
        raise OSError("no such thing")

    agent = guard(
        dspy.ReAct("question -> answer", tools=[fail]),
        contracts={"fail": (SMALL, Recover(on=[OSError]))},
    )
    plays(call("fail", thing="a"))
    with pytest.raises(ContractViolation) as caught:
        go(agent, question="?")
    assert isinstance(caught.value.__cause__, OSError)


@pytest.mark.requirement("dspy:halt:private")
def test_a_halt_is_no_exception_and_passes_through_every_step():
    report = SMALL.check(12)
    halted = halt(report)
    assert isinstance(halted, Halt)
    assert not isinstance(halted, Exception)
    assert is_control_flow(halted)
    again: Any = pickle.loads(pickle.dumps(halted))
    assert again.error.report.violations == report.violations


@pytest.mark.requirement("dspy:halt:hooks")
def test_a_plugin_that_halts_a_module_or_blocks_it_with_a_value(go: Any, plays: Any, ended: Any):
    class House:
        decision: Decision

        @hookimpl
        def hornbook_before_step(self, step: Any) -> Any:
            return self.decision if step.kind == "node" else None

    house: Any = House()
    plays()
    with plugins.registered(house, "house"):
        house.decision = Decision(action="halt", reason="closed")
        with pytest.raises(ContractViolation, match="closed"):
            go(agent_of(), question="?")
        house.decision = Decision(action="block", value={"answer": "later"})
        assert go(agent_of(), question="?").answer == "later"
        house.decision = Decision(action="block", reason="closed")
        with pytest.raises(ContractViolation, match="closed"):
            go(Contracted(dspy.Predict("question -> answer"), GOOD), question="?")
    assert ended() == [("ReAct", "halted"), ("ReAct", "blocked"), ("Predict", "blocked")]
