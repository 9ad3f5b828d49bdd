"""`evaluate_primitive`: exact match, and what the contract knew of it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import hornbook
from hornbook import Budget, BudgetExceeded, Contract, Recover, clauses
from hornbook.errors import DefinitionError
from hornbook.evaluation import (
    Evaluation,
    EvaluationError,
    Example,
    Verdicts,
    aevaluate_primitive,
    evaluate_primitive,
)
from hornbook.judges import wilson
from hornbook.models import Request, ScriptedModel, TransportError
from hornbook.program import neural, primitive
from hornbook.verify import verify


@dataclass(frozen=True, kw_only=True)
class Answer:
    value: int
    unit: str = "m"


def even(answer: Answer) -> bool:
    return answer.value % 2 == 0


EVEN = Contract("even", output=Answer, ensures=[clauses.that("the value is even", even)])


def answering(*replies: Any, recover: Recover | None = None) -> Any:
    """A primitive whose model gives these replies, whatever it is asked."""
    model = ScriptedModel(list(replies), identity="small")
    return neural("measure", model, prompt="{input}", output=Answer, contract=EVEN, recover=recover)


def labelled(*values: int, scenario: str = "") -> list[Example]:
    return [
        Example(input=f"q{at}", output={"value": value}, scenario=scenario)
        for at, value in enumerate(values)
    ]


MIXED = ({"value": 2}, {"value": 4}, {"value": 5}, {"value": 7}, "prose", {"value": 8})
RIGHT = (2, 6, 5, 8, 2, 8)


@pytest.mark.requirement("evaluation:evaluate:verdicts")
def test_the_contract_and_the_truth_are_counted_against_each_other():
    found = evaluate_primitive(answering(*MIXED), labelled(*RIGHT))
    assert found.verdicts == Verdicts(
        satisfied_right=2, satisfied_wrong=1, violated_right=1, violated_wrong=2
    )
    assert found.exact == wilson(3, 6)
    assert found.wrong_given_satisfied == wilson(1, 3)
    assert (found.primitive, found.version, found.model) == ("measure", "1", "small")
    assert (found.n, found.errors, found.recovery) == (6, 0, False)


@pytest.mark.requirement("evaluation:evaluate:exact")
def test_outputs_are_compared_as_data_and_strictly():
    replies = ({"value": 2}, {"value": 2, "unit": "cm"}, {"unit": "m", "value": 2}, {"value": True})
    found = evaluate_primitive(answering(*replies), labelled(2, 2, 2, 1))
    assert [one.right for one in found.judged] == [True, False, True, False]
    assert found.judged[1].observed == "Answer(value=2, unit='cm')"
    assert found.judged[0].observed == ""


@pytest.mark.requirement("evaluation:evaluate:first-attempts")
def test_first_attempts_are_looked_at_or_what_comes_after_recovery():
    replies = ({"value": 1}, {"value": 2})
    first = evaluate_primitive(answering(*replies, recover=Recover(retry=1)), labelled(2))
    assert (first.exact, first.verdicts.violated_wrong) == (wilson(0, 1), 1)
    after = evaluate_primitive(
        answering(*replies, recover=Recover(retry=1)), labelled(2), recovery=True
    )
    assert (after.exact, after.recovery) == (wilson(1, 1), True)
    spent = evaluate_primitive(answering({"value": 1}), labelled(1), recovery=True)
    assert spent.verdicts == Verdicts(
        satisfied_right=0, satisfied_wrong=0, violated_right=0, violated_wrong=1
    )


@pytest.mark.requirement("evaluation:evaluate:errors")
def test_what_raises_is_wrong_and_in_none_of_the_four():
    def fail(request: Request) -> Any:
        raise TransportError("the server is gone")

    model = ScriptedModel(fail)
    broken = neural("measure", model, prompt="{input}", output=Answer, contract=EVEN)
    found = evaluate_primitive(broken, labelled(2, 4))
    assert (found.exact, found.errors, found.wrong_given_satisfied) == (wilson(0, 2), 2, None)
    assert found.judged[0].observed == "'TransportError: the server is gone'"


@pytest.mark.requirement("evaluation:evaluate:scenarios")
def test_each_scenario_is_told_apart():
    examples = [*labelled(2, 3, scenario="short"), *labelled(4, scenario="long"), *labelled(6)]
    found = evaluate_primitive(answering(*({"value": v} for v in (2, 2, 4, 6))), examples)
    assert found.by_scenario == {"short": wilson(1, 2), "long": wilson(1, 1)}


@primitive
def area(width: int, height: int, border: int = 0) -> int:
    return (width + border) * (height + border)


@pytest.mark.requirement("evaluation:evaluate:symbolic")
def test_symbolic_primitives_are_evaluated_too_with_what_is_bound_of_them():
    examples = [
        Example(input={"width": 2, "height": 3}, output=12),
        Example(input={"width": 1, "height": 1}, output=1),
    ]
    found = evaluate_primitive(area.bind(border=1), examples)
    assert (found.exact, found.model) == (wilson(1, 2), None)


@pytest.mark.requirement("evaluation:examples:read")
def test_examples_are_given_as_values_mappings_or_a_file(tmp_path: Path):
    path = tmp_path / "examples.jsonl"
    path.write_text('{"input": "ab", "output": ["a", "b"]}\n', encoding="utf-8")
    for given in (path, [{"input": "ab", "output": ["b", "a"]}]):
        assert evaluate_primitive(letters, given).exact == wilson(1, 1)
    with pytest.raises(EvaluationError) as caught:
        evaluate_primitive(letters, [{"input": "ab"}])
    assert str(caught.value) == "example 0: it has no output"


@primitive
def letters(text: str) -> frozenset[str]:
    return frozenset(text)


@pytest.mark.requirement("evaluation:evaluate:exact")
def test_sets_are_equal_in_any_order():
    found = evaluate_primitive(letters, [Example(input="abcdefg", output=list("gfedcba"))])
    assert found.exact == wilson(1, 1)


@pytest.mark.requirement("evaluation:evaluate:async")
async def test_the_async_twin_finds_the_same_and_keeps_the_order():
    def reply(request: Request) -> Any:
        return {"value": 2 * int(request.messages[0].content.removeprefix("q"))}

    measure = neural(
        "measure", ScriptedModel(reply), prompt="{input}", output=Answer, contract=EVEN
    )
    examples = labelled(*(range(0, 60, 3)))
    found = await aevaluate_primitive(measure, examples, concurrency=5)
    assert found == evaluate_primitive(measure, examples)


@pytest.mark.requirement("evaluation:evaluate:exact")
def test_the_one_input_may_be_given_by_its_name():
    @primitive
    def length(text: str, limit: int = 9) -> int:
        return min(len(text), limit)

    @primitive
    def keys(given: dict[str, str]) -> list[str]:
        return list(given)

    named = [Example(input={"text": "ab"}, output=2), Example(input="abc", output=3)]
    assert evaluate_primitive(length, named).exact == wilson(2, 2)
    whole = Example(input={"given": "a"}, output=["given"])  # the value itself comes first
    assert evaluate_primitive(keys, [whole]).exact == wilson(1, 1)
    for wrong in ({"txt": "ab"}, {"text": 2}, {"text": "ab", "limit": 1}):
        with pytest.raises(EvaluationError, match=r"^its input does not fit the primitive"):
            evaluate_primitive(length, [Example(input=wrong, output=2)])


@pytest.mark.requirement("evaluation:evaluate:malformed")
def test_an_example_that_does_not_fit_is_named_before_any_model_is_asked():
    model = ScriptedModel([])
    measure = neural("measure", model, prompt="{input}", output=Answer)
    bad = Example(input="q", output={"value": "2"}, where="examples.jsonl, line 7")
    with pytest.raises(EvaluationError) as caught:
        evaluate_primitive(measure, [*labelled(2), bad])
    assert str(caught.value) == (
        "examples.jsonl, line 7: its output does not fit the primitive at value: Input should be "
        "a valid integer"
    )
    with pytest.raises(EvaluationError, match=r"^its input does not fit the primitive"):
        evaluate_primitive(measure, [Example(input=7, output={"value": 2})])
    with pytest.raises(DefinitionError) as refused:
        evaluate_primitive(measure, [])
    assert str(refused.value) == "evaluate_primitive('measure'): there are no examples"
    with pytest.raises(DefinitionError, match="it is no primitive"):
        evaluate_primitive(even, labelled(2))  # type: ignore[arg-type]


@pytest.mark.requirement("evaluation:evaluate:budget")
def test_the_budget_is_for_all_examples_together_and_equal_ones_are_asked_again():
    twice = [Example(input="q", output={"value": 2})] * 3
    with pytest.raises(BudgetExceeded):
        evaluate_primitive(answering(*[{"value": 2}] * 3), twice, budget=Budget(calls=2))
    with hornbook.run(None) as run:
        evaluate_primitive(answering(*[{"value": 2}] * 3), twice)
    assert run.meter.spent.calls == 3


@pytest.mark.requirement("evaluation:evaluate:json")
def test_an_evaluation_is_stored_and_read_again():
    found = evaluate_primitive(answering(*MIXED), labelled(*RIGHT, scenario="s"))
    assert Evaluation.from_json(found.to_json()) == found
    assert found.as_dict()["verdicts"] == {
        "satisfied_right": 2,
        "satisfied_wrong": 1,
        "violated_right": 1,
        "violated_wrong": 2,
    }
    for text, message in [
        ("{", "runs/e.json: this is no JSON: "),
        ("{}", "runs/e.json: this is no evaluation of the format hornbook-evaluation/1"),
        (
            found.to_json().replace('"right": true', '"right": "yes"', 1),
            "runs/e.json: at examples.0",
        ),
    ]:
        with pytest.raises(EvaluationError) as caught:
            Evaluation.from_json(text, "runs/e.json")
        assert str(caught.value).startswith(message)


@pytest.mark.requirement("evaluation:evaluate:text")
def test_an_evaluation_says_in_a_few_lines_what_it_found():
    found = evaluate_primitive(answering(*MIXED), labelled(*RIGHT, scenario="mixed"))
    assert str(found).splitlines() == [
        "measure version 1, small, first attempts",
        "exact match     0.500 [0.188, 0.812], n=6",
        "contract        satisfied: 2 right, 1 wrong; violated: 1 right, 2 wrong",
        "wrong | satisfied  0.333 [0.061, 0.792]",
        "  mixed: 0.500 [0.188, 0.812]",
    ]


@pytest.mark.requirement("evaluation:evaluate:verified")
def test_verify_holds_a_primitive_to_the_accuracy_it_requires():
    model = ScriptedModel([{"value": 2}] * 60)
    measure = neural(
        "measure", model, prompt="{input}", output=Answer, contract=EVEN, requires_accuracy=0.9
    )
    few = evaluate_primitive(measure, labelled(*[2] * 5))
    many = evaluate_primitive(measure, labelled(*[2] * 50))
    assert not verify(measure, evaluations={"measure": few}).ok
    assert verify(measure, evaluations={"measure": many}).ok
