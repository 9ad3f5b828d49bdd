"""The judge that asks a model: what it believes, and what it never does."""

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hornbook
from hornbook import Budget, BudgetExceeded, Contract, clauses
from hornbook.contracts import ContractReport, Judgement, Question
from hornbook.errors import DefinitionError
from hornbook.judges import ModelJudge
from hornbook.models import Completion, Request, Sampling, ScriptedModel, TransportError

SOURCE = "Refund order A17 and tell me when the money comes."
TEXT = "We refunded order A17; the money comes on Monday."


def answering(*answers: Any) -> ScriptedModel:
    """A model that answers the questions of each request in order, as it is told to."""

    def answer(request: Request) -> Any:
        ids = list(json.loads(request.messages[1].content)["questions"])
        return {name: one for name, one in zip(ids, answers, strict=False) if one is not None}

    return ScriptedModel(answer)


def said(answer: str, evidence: str = "") -> dict[str, Any]:
    return {"evidence": evidence, "answer": answer}


def questions(judge: ModelJudge, *texts: str, source: str = SOURCE) -> list[Question]:
    return [
        Question(kind="covers", text=text, source=source, path=".", clause="c", judge=judge)
        for text in texts
    ]


def judged(model: ScriptedModel, *texts: str, source: str = SOURCE, **named: Any) -> Any:
    judge = ModelJudge(model, **named)
    return judge.judge_now(questions(judge, *texts, source=source))


def contract(model: Any, **named: Any) -> Contract[Any]:
    clause = clauses.covers(".", source="q", judge=ModelJudge(model, **named), name="covers")
    return Contract("answer", ensures=[clause])


def sync(held: Contract[Any], value: str = TEXT) -> ContractReport:
    return held.check(value, {"q": SOURCE})


def in_a_loop(held: Contract[Any], value: str = TEXT) -> ContractReport:
    return asyncio.run(held.acheck(value, {"q": SOURCE}))


either = pytest.mark.parametrize("check", [sync, in_a_loop], ids=["sync", "async"])
Check = Callable[..., ContractReport]


@either
@pytest.mark.requirement("judges:model:answers")
def test_yes_satisfies_no_violates_and_undetermined_fails_closed(check: Check):
    statuses = {
        answer: check(contract(answering(said(answer)))).verdict("covers").status
        for answer in ("yes", "no", "undetermined")
    }
    assert statuses == {"yes": "Satisfied", "no": "Violated", "undetermined": "Undetermined"}


@either
@pytest.mark.requirement("judges:model:one-call")
def test_all_questions_of_a_check_are_one_call(check: Check):
    model = answering(said("yes"), said("no"), said("yes"))
    judge = ModelJudge(model)
    held = Contract(
        "answer",
        ensures=[
            clauses.covers(".", source="q", judge=judge),
            clauses.entails(".", source="q", judge=judge),
            clauses.similar(".", source="q", judge=judge),
        ],
    )
    with hornbook.run(trace=None) as run:
        report = check(held)
    assert [verdict.status for verdict in report.verdicts] == ["Satisfied", "Violated", "Satisfied"]
    assert (model.calls, run.meter.spent.calls, report.cost.calls) == (1, 1, 1)
    (asked,) = [event for event in run.events if event.kind == "step.start"]
    assert asked.name == "ModelJudge"


@pytest.mark.requirement("judges:model:answers")
def test_confidence_moves_the_score_towards_the_middle():
    model = answering(
        {**said("yes"), "confidence": 0.5},
        {**said("no"), "confidence": 0.5},
        {**said("yes"), "confidence": 1},
        said("yes"),
        {**said("yes"), "confidence": 1.5},
    )
    found = judged(model, "a", "b", "c", "d", "e", confidence=True)
    assert [one.score for one in found] == [0.75, 0.25, 1.0, None, None]
    assert "how sure" not in model.requests[0].messages[0].content
    assert '"confidence"' in model.requests[0].messages[0].content


FOUND = {"quote": "order A17", "of": "text", "span": [12, 21]}


@pytest.mark.parametrize(
    ("quote", "evidence"),
    [
        ("order A17", FOUND),
        ("ORDER  a17", FOUND),
        ("tell me when", {"quote": "tell me when", "of": "source", "span": [21, 33]}),
        ("order B99", {"dropped": "the model's quote stands in neither the text nor the source"}),
        ("x" * 5000, {"dropped": "the model's quote stands in neither the text nor the source"}),
        ("...", {"dropped": "the model's quote stands in neither the text nor the source"}),
        (" ", None),
        ("", None),
    ],
)
@pytest.mark.requirement("judges:model:evidence")
def test_a_quote_is_evidence_only_where_it_stands(quote: str, evidence: Any):
    assert judged(answering(said("yes", quote)), TEXT) == [Judgement(score=1.0, evidence=evidence)]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (None, "the model did not answer this question"),
        ("yes", "the model's answer to this question is ill-typed: 'yes'"),
        (
            {"answer": "yes"},
            "the model's answer to this question is ill-typed: {'answer': 'yes'}",
        ),
        (
            said("Yes"),
            "the model's answer to this question is ill-typed: {'evidence': '', 'answer': 'Yes'}",
        ),
        (
            {**said("yes"), "score": 1},
            "the model's answer to this question is ill-typed: {'evidence': '', 'answer': 'yes', "
            "'score': 1}",
        ),
        (
            {"evidence": None, "answer": "yes"},
            "the model's answer to this question is ill-typed: {'evidence': None, 'answer': 'yes'}",
        ),
        (
            {"evidence": "", "answer": True},
            "the model's answer to this question is ill-typed: {'evidence': '', 'answer': True}",
        ),
        (
            {"evidence": "", "answer": ["yes"]},
            "the model's answer to this question is ill-typed: {'evidence': '', 'answer': ['yes']}",
        ),
        (said("undetermined"), "the model answered undetermined"),
    ],
)
@pytest.mark.requirement("judges:model:each-once", "judges:model:ill-typed")
def test_a_question_without_a_fit_answer_is_undetermined_and_the_others_stand(
    answer: Any, reason: str
):
    found = judged(answering(said("yes"), answer, said("no")), "a", "b", "c")
    assert [one.score for one in found] == [1.0, None, 0.0]
    assert [one.reason for one in found] == ["", reason, ""]


def twice(request: Request) -> str:
    (name,) = json.loads(request.messages[1].content)["questions"]
    answer = json.dumps(said("yes"))
    return f'{{"{name}": {answer}, "{name}": {answer}}}'


def beside(request: Request) -> Any:
    return {"q1": said("yes"), "q9-000000000000": said("yes"), "answer": "yes"}


BAD: Mapping[str, tuple[Any, str]] = {
    "prose": (
        "Yes, it covers all of it.",
        "the model's answer is not JSON: ",
    ),
    "empty": ("", "the model's answer is not JSON: the answer is empty"),
    "cut": (
        Completion(text='{"q1-', finish="length"),
        "the model's answer is cut off at max_tokens, before the JSON was complete",
    ),
    "torn": ('{"q1": {"evidence": "', "the model's answer is not JSON: "),
    "withheld": (
        Completion(text='{"q1": "yes"}', finish="filter"),
        "the model's answer is withheld by the server's content filter",
    ),
    "list": ([said("yes")], "the model's answer is [{'evidence': '', 'answer': 'yes'}], no object"),
    "text": ('"yes"', "the model's answer is 'yes', no object of answers"),
    "null": ("null", "the model's answer is None, no object of answers"),
    "twice": (twice, "the model's answer is not JSON: "),
    "other ids": (beside, "the model did not answer this question"),
    "ten megabytes": ("x" * 10_000_000, "the model's answer is not JSON: "),
    "brackets": ("[" * 100_000, "the model's answer is not JSON: "),
}


@pytest.mark.parametrize(("answer", "reason"), BAD.values(), ids=BAD)
@pytest.mark.requirement("judges:model:prose", "judges:model:ill-typed")
def test_whatever_a_model_says_instead_is_undetermined_with_the_reason(answer: Any, reason: str):
    script = answer if callable(answer) else [answer]
    (found,) = judged(ScriptedModel(script), TEXT)
    assert found.score is None
    assert found.reason.startswith(reason)
    assert len(found.reason) < 1000


@pytest.mark.parametrize("answer", [answer for answer, _ in BAD.values()], ids=BAD)
@either
@pytest.mark.requirement("judges:model:prose")
def test_none_of_it_lets_a_value_pass(check: Check, answer: Any):
    report = check(contract(ScriptedModel(answer if callable(answer) else [answer])))
    assert (report.ok, report.verdict("covers").status) == (False, "Undetermined")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)


@given(json_values)
@pytest.mark.requirement("judges:model:ill-typed")
def test_no_answer_but_a_whole_one_ever_has_a_score(answer: Any):
    (found,) = judged(answering(answer if answer is not None else []), TEXT)
    assert found.score is None
    assert found.reason


@either
@pytest.mark.requirement("judges:model:transport")
def test_a_model_that_cannot_be_reached_is_undetermined(check: Check):
    report = check(contract(ScriptedModel([TransportError("the server answered 500")])))
    verdict = report.verdict("covers")
    assert (report.ok, verdict.status) == (False, "Undetermined")
    assert verdict.reason.startswith("judge 'ModelJudge' raised TransportError: ")
    assert "the server answered 500" in verdict.reason


@either
@pytest.mark.requirement("judges:model:transport")
def test_a_model_that_hangs_is_undetermined_at_the_contracts_deadline(check: Check):
    clause = clauses.covers(
        ".", source="q", judge=ModelJudge(ScriptedModel(["{}"], delay=60)), name="covers"
    )
    report = check(Contract("answer", ensures=[clause], deadline=0.05))
    assert report.verdict("covers").reason == (
        "judge 'ModelJudge' did not answer before its deadline"
    )


@either
@pytest.mark.requirement("judges:model:budget")
def test_each_attempt_is_a_call_and_max_calls_bounds_them(check: Check):
    gone = TransportError("gone", retryable=True, retry_after=0)
    model = ScriptedModel([gone, gone, "{}"], max_attempts=3)
    with hornbook.run(trace=None) as run:
        check(contract(model))
    assert (model.calls, run.meter.spent.calls) == (3, 3)
    assert ModelJudge(model).max_calls == 3
    assert ModelJudge(ScriptedModel([], max_attempts=None)).max_calls is None


@either
@pytest.mark.requirement("judges:model:budget")
def test_a_spent_budget_stops_the_check_before_the_model_is_asked(check: Check):
    model = answering(said("yes"))
    with hornbook.run(trace=None, budget=Budget(calls=0)), pytest.raises(BudgetExceeded):
        check(contract(model))
    assert model.calls == 0


@pytest.mark.requirement("judges:model:limit")
def test_a_text_over_the_limit_is_not_cut_but_undetermined():
    model = answering(said("yes"))
    found = judged(model, "x" * 61, "y" * 60, limit=60)
    assert [one.score for one in found] == [None, 1.0]
    assert found[0].reason == "the text has 61 characters, and the judge takes 60"
    assert "x" * 61 not in model.requests[0].messages[1].content


@pytest.mark.requirement("judges:model:limit")
def test_a_batch_over_the_limit_is_judged_as_far_as_it_goes():
    model = answering(said("yes"), said("yes"))
    found = judged(model, "x" * 20, "y" * 20, "z" * 20, source="s" * 10, batch_limit=50)
    assert [one.score for one in found] == [1.0, 1.0, None]
    assert found[2].reason == (
        "the texts of this batch have more than the 50 characters the judge takes"
    )


@either
@pytest.mark.requirement("judges:model:limit")
def test_where_nothing_can_be_asked_no_model_is(check: Check):
    model = answering(said("yes"))
    report = check(contract(model, limit=5))
    assert (report.verdict("covers").status, model.calls) == ("Undetermined", 0)


@pytest.mark.requirement("judges:model:limit")
def test_a_kind_of_ones_own_is_undetermined():
    judge = ModelJudge(answering(said("yes")))
    question = Question(kind="polite", text=TEXT, source=SOURCE, path=".", clause="c", judge=judge)
    (found,) = judge.judge_now([question])
    assert found.reason == (
        "a ModelJudge does not judge 'polite', only covers, entails and similar"
    )


class OneColour:
    """A model that can only be asked in one colour."""

    identity = "one-colour"
    max_attempts = 1

    def __init__(self, *, asynchronous: bool) -> None:
        self._asynchronous = asynchronous
        self._model = answering(said("yes"))

    def complete(self, request: Request, /, *, timeout: float | None = None) -> Completion:
        assert not self._asynchronous
        return self._model.complete(request)

    async def acomplete(self, request: Request, /, *, timeout: float | None = None) -> Completion:
        assert self._asynchronous
        return await self._model.acomplete(request)


@pytest.mark.requirement("judges:model:colour")
def test_code_of_either_colour_asks_the_model_in_its_own():
    assert sync(contract(OneColour(asynchronous=False))).ok
    assert in_a_loop(contract(OneColour(asynchronous=True))).ok


@pytest.mark.requirement("judges:model:colour")
async def test_sync_code_inside_a_running_loop_asks_in_its_own_colour():
    assert sync(contract(OneColour(asynchronous=False))).ok


@pytest.mark.requirement("judges:model:identity")
def test_whatever_decides_the_answers_is_in_the_identity_and_in_the_contracts_digest():
    plain = ScriptedModel([])
    judges = [
        ModelJudge(plain),
        ModelJudge(ScriptedModel([], identity="other")),
        ModelJudge(plain, confidence=True),
        ModelJudge(plain, limit=7),
        ModelJudge(plain, sampling=Sampling(temperature=1.0)),
    ]
    assert len({judge.identity for judge in judges}) == len(judges)
    assert ModelJudge(plain).identity == judges[0].identity
    made = [Contract("c", ensures=[clauses.covers(".", source="q", judge=j)]) for j in judges]
    assert len({one.digest for one in made}) == len(judges)
    assert repr(judges[1]) == "ModelJudge('other')"


@pytest.mark.parametrize(
    ("model", "named", "message"),
    [
        ("gpt", {}, "ModelJudge: 'gpt' is no model; see hornbook.models"),
        (ScriptedModel([]), {"limit": 0}, "ModelJudge: limit is a number above 0: 0"),
        (
            ScriptedModel([]),
            {"batch_limit": "x"},
            "ModelJudge: batch_limit is a number above 0: 'x'",
        ),
    ],
)
@pytest.mark.requirement("judges:model:refused")
def test_what_cannot_work_is_refused_when_it_is_made(
    model: Any, named: dict[str, Any], message: str
):
    with pytest.raises(DefinitionError) as caught:
        ModelJudge(model, **named)
    assert str(caught.value) == message
