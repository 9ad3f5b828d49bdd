"""`Contracted` and `contract`: predictions that meet their clauses, or are recovered."""

import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NotRequired, TypedDict

import cloudpickle
import dspy
import pytest
from pydantic import BaseModel, Field

import hornbook
from hornbook import Budget, BudgetExceeded, Contract, ContractViolation, Recover, clauses
from hornbook.errors import DefinitionError
from hornbook.testing import Reply, Script, call
from hornbook_dspy import Contracted, HornbookLM, context, contract, guard
from hornbook_dspy.testing import scripted

CAPITAL = Contract("capital", ensures=[clauses.one_of("answer", ["Paris", "Oslo"])])
ONCE_MORE = Recover(retry=1)


def ask() -> Any:
    return dspy.Predict("question -> answer")


@pytest.mark.requirement("dspy:module:output")
def test_the_output_is_the_prediction_by_field_and_the_caller_gets_the_prediction(
    go: Any, plays: Any, recorded: Any, events: Any
):
    plays("Paris")
    prediction = go(Contracted(ask(), CAPITAL), question="Capital of France?")
    assert isinstance(prediction, dspy.Prediction)
    assert prediction.answer == "Paris"
    [start] = events("step.start", "Predict")
    assert start.data["step"] == "node"
    assert start.data["inputs"] == {"question": "Capital of France?"}
    assert start.contract == CAPITAL.digest
    [end] = events("step.end", "Predict")
    assert (end.status, end.data["output"]) == ("satisfied", {"answer": "Paris"})


@pytest.mark.requirement("dspy:module:halt")
def test_a_violation_raises_the_report(go: Any, plays: Any, ended: Any):
    plays("Lyon")
    with pytest.raises(ContractViolation) as caught:
        go(Contracted(ask(), CAPITAL, name="capital-of"), question="Capital of France?")
    assert str(caught.value).splitlines()[0] == "capital-of: contract 'capital' violated"
    assert caught.value.report.violations[0].observed == "'Lyon'"
    assert ended() == [("model", "satisfied"), ("capital-of", "violated")]


@pytest.mark.requirement("dspy:module:retry")
def test_a_retry_is_told_what_was_wrong_and_passes_the_cache(go: Any, recorded: Any, events: Any):
    playing = Script.of("Lyon", "Lyon", "Paris", "never").open()
    lm = scripted(playing).copy(cache=True)
    asking = Contracted(ask(), CAPITAL, recover=Recover(retry=2))
    with dspy.context(lm=lm):
        assert go(asking, question="Capital of France?").answer == "Paris"
        assert go(asking, question="Capital of France?").answer == "Paris"
    first, second, third = (asked.text for asked in playing.asked)
    assert "was rejected" not in first
    told = "The previous answer was rejected. one_of answer at answer: expected one of 'Paris'"
    assert told in second
    assert told in third
    assert playing.calls == 3  # the second question was answered from the cache, step by step
    kwargs = [entry["kwargs"] for entry in lm.history[:3]]
    assert [(one.get("rollout_id"), one.get("temperature")) for one in kwargs] == [
        (None, None),
        (1, 1.0),
        (2, 1.0),
    ]
    ends = events("step.end", "Predict")
    assert [(end.status, end.data["attempts"]) for end in ends] == [("recovered", 3)] * 2


@pytest.mark.requirement("dspy:module:retry")
def test_a_retry_keeps_a_temperature_and_a_rollout_that_were_chosen(go: Any):
    lm = scripted(Script.of("Lyon", "Paris")).copy(rollout_id=7, temperature=0.4)
    with dspy.context(lm=lm):
        go(Contracted(ask(), CAPITAL, recover=ONCE_MORE), question="?")
    assert (lm.history[1]["kwargs"]["rollout_id"], lm.history[1]["kwargs"]["temperature"]) == (
        7001,
        0.4,
    )


@pytest.mark.requirement("dspy:module:retry")
def test_all_calls_of_a_retried_module_are_told(go: Any, plays: Any, recorded: Any):
    def find(name: str) -> str:
        """Find."""
        return "there"

    agent = guard(dspy.ReAct("question -> answer", tools=[find]))
    playing = plays("Lyon", call("find", name="Paris"), "Paris")
    go(Contracted(agent, CAPITAL, recover=ONCE_MORE), question="Paris or not?")
    assert ["was rejected" in asked.text for asked in playing.asked] == [False, True, True]


@pytest.mark.requirement("dspy:module:own-model")
def test_a_predictor_with_a_model_of_its_own_is_told_as_well(go: Any, plays: Any):
    predictor = ask()
    playing = Script.of("Lyon", "Paris").open()
    predictor.lm = scripted(playing)
    plays()
    assert go(Contracted(predictor, CAPITAL, recover=ONCE_MORE), question="?").answer == "Paris"
    assert "was rejected" in playing.asked[1].text
    assert not isinstance(predictor.lm, HornbookLM)


@pytest.mark.requirement("dspy:module:retry")
def test_nested_contracts_are_both_heard(go: Any, plays: Any):
    inner = Contracted(ask(), CAPITAL, recover=ONCE_MORE)
    oslo = Contract("oslo", ensures=[clauses.that("is Oslo", lambda v: v["answer"] == "Oslo")])
    playing = plays("Paris", "Lyon", "Oslo")
    assert go(Contracted(inner, oslo, recover=ONCE_MORE), question="?").answer == "Oslo"
    assert "is Oslo" in playing.asked[1].text
    assert "is Oslo" in playing.asked[2].text
    assert "one_of answer" in playing.asked[2].text


@pytest.mark.requirement("dspy:module:fallback")
def test_a_fallback_is_a_function_of_the_inputs_or_a_module(go: Any, plays: Any, events: Any):
    def guess(question: str) -> dict[str, str]:
        return {"answer": "Oslo"}

    plays("Lyon", "Lyon", "Paris")
    asking = Contracted(ask(), CAPITAL, recover=Recover(fallback=[guess]), name="guessed")
    prediction = go(asking, question="?")
    assert isinstance(prediction, dspy.Prediction)
    assert prediction.answer == "Oslo"
    slower = Recover(fallback=[dspy.ChainOfThought("question -> answer")])
    thought = go(Contracted(ask(), CAPITAL, recover=slower), question="?")
    assert (thought.answer, thought.reasoning) == ("Paris", "")
    assert events("step.end", "guessed")[0].status == "recovered"


@pytest.mark.requirement("dspy:module:waive")
def test_a_waived_prediction_is_given_and_marked(go: Any, plays: Any, events: Any):
    plays("Lyon")
    waiving = Contracted(ask(), CAPITAL, recover=Recover(then="waive"))
    assert go(waiving, question="?").answer == "Lyon"
    assert events("step.end", "Predict")[0].status == "waived"


@pytest.mark.requirement("dspy:module:inputs")
def test_clauses_name_the_input_fields_of_each_kind_of_module(go: Any, plays: Any):
    said = Contract(
        "said",
        requires=[clauses.bound("question")],
        ensures=[clauses.grounded("answer", source="question")],
    )

    class Own(dspy.Module):
        def __init__(self) -> None:
            super().__init__()
            self.ask = ask()

        def forward(self, question: str) -> Any:
            return self.ask(question=question)

        async def aforward(self, question: str) -> Any:
            return await self.ask.acall(question=question)

    def find(name: str) -> str:
        """Find."""
        return name

    kinds = [ask(), dspy.ChainOfThought("question -> answer"), Own()]
    kinds.append(guard(dspy.ReAct("question -> answer", tools=[find])))
    plays(*["Paris"] * len(kinds))
    for module in kinds:
        assert go(Contracted(module, said), question="Is it Paris?").answer == "Paris"
        with pytest.raises(ContractViolation, match="bound question"):
            go(Contracted(module, said), question=None)
        with pytest.raises(DefinitionError, match="'query'"):
            Contracted(module, Contract("c", requires=[clauses.bound("query")]))


@pytest.mark.requirement("dspy:module:inputs")
def test_what_only_steers_a_predictor_is_no_input(go: Any, plays: Any, events: Any):
    plays("Paris")
    go(Contracted(ask(), CAPITAL), question="?", config={"temperature": 0.5}, demos=[])
    assert events("step.start", "Predict")[0].data["inputs"] == {"question": "?"}


@pytest.mark.requirement("dspy:module:inputs")
def test_modify_changes_the_inputs_of_the_next_attempt(go: Any, plays: Any):
    def ask_again(inputs: Any, violation: Any) -> dict[str, str]:
        return {"question": inputs["question"] + " In one word!"}

    playing = plays("Lyon", "Paris")
    recover = Recover(retry=1, modify=ask_again)
    go(Contracted(ask(), CAPITAL, recover=recover), question="Capital of France?")
    assert "Capital of France? In one word!" in playing.asked[1].text


@pytest.mark.requirement("dspy:module:inputs")
def test_what_is_left_out_has_its_default_as_in_the_module_itself(go: Any, plays: Any, events: Any):
    class Own(dspy.Module):
        def forward(self, question: str, town: str = "Paris") -> Any:
            return dspy.Prediction(answer=town)

        async def aforward(self, question: str, town: str = "Paris") -> Any:
            return dspy.Prediction(answer=town)

    class Signature(dspy.Signature):
        question: str = dspy.InputField()
        town: str = dspy.InputField(default="Paris")
        answer: str = dspy.OutputField()

    plays("Paris")
    same = Contract("same", ensures=[clauses.grounded("answer", source="town")])
    for module in (Own(), dspy.Predict(Signature)):
        assert go(Contracted(module, same, name="same"), question="?").answer == "Paris"
    starts = [start.data["inputs"] for start in events("step.start", "same")]
    assert starts == [{"question": "?", "town": "Paris"}] * 2


@pytest.mark.requirement("dspy:module:output")
def test_what_a_module_gives_is_what_the_caller_gets_whatever_it_is(go: Any):
    class Plain(dspy.Module):
        def __init__(self) -> None:
            super().__init__()
            self.answers = ["Lyon", "Paris"]

        def forward(self) -> Any:
            return {"answer": self.answers.pop(0)}

        async def aforward(self) -> Any:
            return self.forward()

    plain = Plain()
    assert go(Contracted(plain, CAPITAL, recover=ONCE_MORE)) == {"answer": "Paris"}


class Ticket(BaseModel):
    category: Literal["bill", "bug"]
    urgency: int = Field(ge=1, le=3)
    note: str = ""


@dataclass
class TicketData:
    category: Literal["bill", "bug"]
    urgency: int
    note: str = ""


class TicketDict(TypedDict):
    category: Literal["bill", "bug"]
    urgency: int
    note: NotRequired[str]


@pytest.mark.requirement("dspy:module:typed")
@pytest.mark.parametrize("output", [Ticket, TicketData, TicketDict])
def test_an_output_type_with_named_fields_is_checked_field_by_field(
    go: Any, plays: Any, events: Any, output: Any
):
    module = dspy.ChainOfThought("text -> category, urgency: int")
    typed = Contract("ticket", output=output, ensures=[clauses.in_range("urgency", high=2)])
    plays('{"category": "bug", "urgency": 2}', '{"category": "rant", "urgency": 2}')
    prediction = go(Contracted(module, typed), text="It crashes.")
    assert (prediction.category, prediction.urgency) == ("bug", 2)
    with pytest.raises(ContractViolation) as caught:
        go(Contracted(module, typed), text="It crashes!")
    assert [one.path for one in caught.value.report.violations] == ["category"]
    assert events("step.start", "ChainOfThought")[0].contract == typed.digest


@pytest.mark.requirement("dspy:module:typed")
def test_bounds_of_a_models_fields_hold(go: Any, plays: Any):
    module = dspy.Predict("text -> category, urgency: int")
    plays('{"category": "bug", "urgency": 9}')
    with pytest.raises(ContractViolation, match="urgency"):
        go(Contracted(module, Contract("ticket", output=Ticket)), text="!")


@pytest.mark.requirement("dspy:module:copies")
@pytest.mark.parametrize(
    "copied",
    [
        copy.deepcopy,
        lambda one: one.deepcopy(),
        lambda one: one.reset_copy(),
        lambda one: cloudpickle.loads(cloudpickle.dumps(one)),
    ],
    ids=["deepcopy", "dspy", "reset", "cloudpickle"],
)
def test_a_copy_holds_to_the_contract_with_its_own_module(go: Any, plays: Any, copied: Any):
    original = Contracted(ask(), CAPITAL, recover=ONCE_MORE)
    made = copied(original)
    assert made.inner is not original.inner
    made.inner.demos = [dspy.Example(question="?", answer="!")]
    assert original.inner.demos == []
    plays("Lyon", "Paris")
    assert go(made, question="?").answer == "Paris"


@pytest.mark.requirement("dspy:module:state")
def test_its_saved_state_is_that_of_the_module_itself(tmp_path: Path):
    bare, held = ask(), Contracted(ask(), CAPITAL)
    held.inner.demos = [dspy.Example(question="Norway?", answer="Oslo")]
    held.save(tmp_path / "held.json")
    bare.load(tmp_path / "held.json")
    assert bare.demos == [{"question": "Norway?", "answer": "Oslo"}]
    bare.save(tmp_path / "bare.json")
    other = Contracted(ask(), CAPITAL)
    other.load(tmp_path / "bare.json")
    assert other.inner.demos == bare.demos


TRAIN = [
    dspy.Example(question=f"{land}?", answer=town).with_inputs("question")
    for land, town in (("France", "Paris"), ("Norway", "Oslo"), ("Chad", "Lyon"))
]


def exact(example: Any, prediction: Any, trace: Any = None) -> bool:
    return example.answer == prediction.answer


@pytest.mark.requirement("dspy:module:optimizers")
def test_bootstrapping_makes_demonstrations_and_loses_only_the_example_that_halts(plays: Any):
    plays("Paris", "Oslo", "Lyon")
    optimizer = dspy.BootstrapFewShot(
        metric=exact, max_bootstrapped_demos=3, max_labeled_demos=0, max_errors=9
    )
    compiled = optimizer.compile(Contracted(ask(), CAPITAL), trainset=TRAIN)
    assert isinstance(compiled, Contracted)
    assert [demo.answer for demo in compiled.inner.demos] == ["Paris", "Oslo"]


@pytest.mark.requirement("dspy:module:optimizers")
def test_what_was_retried_is_a_demonstration_too(plays: Any):
    plays("Lyon", "Paris")
    optimizer = dspy.BootstrapFewShot(metric=exact, max_labeled_demos=0)
    compiled = optimizer.compile(Contracted(ask(), CAPITAL, recover=ONCE_MORE), trainset=TRAIN[:1])
    assert compiled.inner.demos[-1].answer == "Paris"


@pytest.mark.requirement("dspy:module:optimizers")
def test_best_of_n_and_refine_take_it_for_a_module(plays: Any):
    playing = plays("Lyon", "Paris")
    best = dspy.BestOfN(Contracted(ask(), CAPITAL), N=2, reward_fn=lambda a, p: 1.0, threshold=1.0)
    assert best(question="?").answer == "Paris"
    assert playing.calls == 2
    assert dspy.Refine(Contracted(ask(), CAPITAL), N=1, reward_fn=lambda a, p: 1.0, threshold=1.0)


@contract(CAPITAL, recover=ONCE_MORE)
class Asking(dspy.Module):
    """A class of a user's own, under contract."""

    def __init__(self) -> None:
        super().__init__()
        self.ask = ask()

    def forward(self, question: str) -> Any:
        return self.ask(question=question)

    async def aforward(self, question: str) -> Any:
        return await self.ask.acall(question=question)


@pytest.mark.requirement("dspy:module:class")
def test_a_class_under_contract_is_the_class_that_it_was(go: Any, plays: Any, events: Any):
    class Loud(Asking):
        pass

    for asking in (Asking(), copy.deepcopy(Asking()), Loud()):
        plays("Lyon", "Paris")
        assert go(asking, question="?").answer == "Paris"
        assert [name for name, _ in asking.named_predictors()] == ["ask"]
    plays("Paris")
    assert go(Asking(), "positional").answer == "Paris"
    assert [event.data["inputs"] for event in events("step.start", "Asking")][-1] == {
        "question": "positional"
    }
    assert dspy.Refine(Asking(), N=1, reward_fn=lambda a, p: 1.0, threshold=1.0)
    assert isinstance(contract(CAPITAL)(ask()), Contracted)


@pytest.mark.requirement("dspy:module:bad")
def test_what_cannot_be_held_is_refused():
    with pytest.raises(DefinitionError, match=r"give an instance of dspy\.Module; a function is"):
        Contracted(exact, CAPITAL)
    with pytest.raises(DefinitionError) as caught:
        Contracted(ask(), "capital")  # type: ignore[arg-type]
    assert str(caught.value) == "str is no Contract: 'capital'"
    for refused in (
        lambda: Contracted(ask(), CAPITAL, recover={"retry": 1}),  # type: ignore[arg-type]
        lambda: contract(CAPITAL, recover={"retry": 1}),  # type: ignore[arg-type]
    ):
        with pytest.raises(DefinitionError) as caught:
            refused()
        assert str(caught.value) == (
            "recover is {'retry': 1}, which is no Recover: write Recover(retry=1)"
        )
    with pytest.raises(DefinitionError, match=r"is no class of dspy\.Module"):
        contract(CAPITAL)(exact)
    with pytest.raises(DefinitionError, match="'nobody'"):
        contract(Contract("c", requires=[clauses.bound("nobody")]))(type("M", (Asking,), {}))

    async def later(question: str) -> Any:
        return {"answer": "Oslo"}

    with pytest.raises(DefinitionError) as caught:
        Contracted(ask(), CAPITAL, recover=Recover(fallback=[later]))
    assert "is async, and the module may be called sync" in str(caught.value)
    with pytest.raises(DefinitionError) as caught:
        Contracted(ask(), CAPITAL, recover=Recover(fallback=[lambda query: None]))
    assert str(caught.value).endswith(
        "of module 'Predict' cannot take its input fields (question) by name: missing a required "
        "argument: 'query'"
    )


class Typo(TypedDict):
    anwser: str


@pytest.mark.requirement("dspy:module:bad")
@pytest.mark.parametrize("kind", [dspy.Predict, dspy.ChainOfThought])
def test_an_output_that_the_module_does_not_predict_is_refused_when_it_is_written(kind: Any):
    module = kind("question -> answer")
    fields = "reasoning, answer" if kind is dspy.ChainOfThought else "answer"
    for wrong, where in (
        (Contract("c", ensures=[clauses.one_of("anwser", ["Oslo"])]), "clause 'one_of anwser'"),
        (Contract("c", output=Typo), "output"),
    ):
        with pytest.raises(DefinitionError) as caught:
            Contracted(module, wrong)
        assert str(caught.value) == (
            f"contract 'c', {where}: 'anwser' is no output field of {kind.__name__!r}; its output "
            f"fields are {fields}"
        )
    asked = clauses.one_of("anwser", ["Oslo"], optional=True)
    assert Contracted(module, Contract("c", ensures=[asked]))
    assert Contracted(Asking(), Contract("c", ensures=[clauses.one_of("anything", ["Oslo"])]))


@pytest.mark.requirement("dspy:bad:no-model")
def test_a_name_in_place_of_a_configured_model_is_told_at_the_first_call(go: Any):
    asking = Contracted(ask(), CAPITAL)
    with dspy.context(lm="openai/gpt-5-mini"), pytest.raises(DefinitionError) as caught:
        go(asking, question="?")
    assert str(caught.value) == (
        "lm='openai/gpt-5-mini' is the name of a model: give dspy.LM('openai/gpt-5-mini')"
    )
    with pytest.raises(ValueError, match="No LM is loaded"):
        go(asking, question="?")


@pytest.mark.requirement("dspy:module:budget")
def test_a_retry_draws_on_the_budget(go: Any, plays: Any):
    plays("Lyon", "Paris")
    with hornbook.run(trace=None, budget=Budget(calls=1)), pytest.raises(BudgetExceeded):
        go(Contracted(ask(), CAPITAL, recover=ONCE_MORE), question="?")


@pytest.mark.requirement("dspy:module:rules")
def test_rules_and_feedback_stand_one_after_the_other(go: Any, plays: Any, rules: Any):
    playing = plays("Lyon", Reply(text="Paris", shown=("answer in one word", "was rejected")))
    with context(rules=rules):
        go(Contracted(ask(), CAPITAL, recover=ONCE_MORE), question="?")
    playing.finish()
