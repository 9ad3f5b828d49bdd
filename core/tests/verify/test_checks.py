"""What is said of a program as it is written, before anything runs."""

from dataclasses import dataclass
from typing import Any, Literal

import pytest
from pydantic import BaseModel

from hornbook import Contract, Recover, clauses
from hornbook import program as p
from hornbook.contracts.judge import Rate
from hornbook.models import ScriptedModel
from hornbook.program import Program, neural, primitive
from hornbook.verify import verify


class Text(BaseModel):
    text: str


class Topic(BaseModel):
    topic: str


MODEL = ScriptedModel([], identity="small")
GROUNDED = Contract("topic", output=Topic, ensures=[clauses.grounded("topic", source="text")])


def topic_step(contract: Contract[Any] | None = GROUNDED, **settings: Any) -> Any:
    return neural(
        "topic",
        settings.pop("model", MODEL),
        prompt="What is it about? {text}",
        input=Text,
        output=Topic,
        contract=contract,
        **settings,
    )


@primitive
def upper(text: str) -> str:
    return text.upper()


@primitive(pure=False)
def sent(text: str) -> str:
    return text


@primitive
def size(text: str) -> Literal["small", "large"]:
    return "small" if len(text) < 9 else "large"


@primitive
def long(text: str) -> bool:
    return len(text) > 9


@dataclass(frozen=True)
class Measured:
    exact: Rate
    version: str = "1"
    model: str | None = "small"


def found(program: Program, **settings: Any) -> list[str]:
    """All findings but those that every program has."""
    said = verify(program, **settings).findings
    return [str(one) for one in said if one.code not in ("types", "bounds", "not-portable")]


@pytest.mark.requirement("verify:checks:by-construction")
def test_types_and_termination_are_said_to_hold_by_construction() -> None:
    program = p.Sequence(upper, p.Iterate(upper, at_most=3)).named("loud")
    said = {one.code: one.message for one in verify(program).findings}
    assert said["types"] == ("types fit at every seam, by construction: it takes str and gives str")
    assert said["bounds"] == "every run ends, by construction: its loops run at most 3 rounds"


@pytest.mark.requirement("verify:checks:calls")
def test_the_bound_of_the_calls_is_told_and_warned_of_where_there_is_none() -> None:
    assert verify(topic_step()).calls == "small: 1; 1 in all"
    host = ScriptedModel([], identity="host", max_attempts=None)
    program = topic_step(model=host)
    assert found(program) == [
        "warning at topic (calls): its calls are not bounded: a host's model does not say how "
        "often it tries; wrap it with max_attempts"
    ]


@pytest.mark.requirement("verify:checks:unreachable")
def test_branches_that_no_value_leads_to_are_named() -> None:
    program = p.Conditional(size, {"small": upper, "large": upper}, sent).named("sized")
    assert found(program) == [
        "warning at sized.otherwise (unreachable): no value of the test leads to this branch: "
        "remove it, or widen the test"
    ]
    program = p.Conditional(p.constant(True), upper, sent).named("fixed")
    assert [one.partition(":")[0] for one in found(program)] == [
        "warning at fixed.otherwise (unreachable)"
    ]
    program = p.Fallback(p.constant("a"), upper).named("sure")
    assert found(program) == [
        "warning at sure[1] (unreachable): alternative 0 cannot fail, so that this one is never "
        "tried: remove it"
    ]


@pytest.mark.requirement("verify:checks:exhaustive")
def test_a_label_without_a_branch_is_an_error() -> None:
    program = p.Conditional(size, {"small": upper}).named("sized")
    result = verify(program)
    assert [str(one) for one in result.findings if one.level == "error"] == [
        "error at sized (non-exhaustive): the test can give 'large', and no branch is for that: "
        "the run would end with BranchError; add the branch, or otherwise="
    ]
    assert (result.ok, result.exit_code) == (False, 1)


@pytest.mark.requirement("verify:checks:unchecked")
@pytest.mark.parametrize("contract", [None, Contract("type alone", output=Topic)])
def test_a_model_whose_output_nothing_checks_but_its_type_is_named(
    contract: Contract[Any] | None,
) -> None:
    program = p.Sequence(topic_step(contract)).named("read")
    assert found(program) == [
        "warning at read[0] (unchecked-output): nothing is checked of what the model of 'topic' "
        "gives but its type: give it a contract= with clauses on the output"
    ]
    assert found(topic_step()) == []
    fallback = topic_step(contract).named("second")
    assert found(topic_step(recover=Recover(fallback=[fallback]))) == []


@pytest.mark.requirement("verify:checks:effects")
def test_effects_beside_others_are_named() -> None:
    program = p.Sequence(sent, p.Parallel(a=upper, b=p.Sequence(sent, upper))).named("mixed")
    assert found(program) == [
        "warning at mixed[1].b[0] (effects-in-parallel): 'sent' has effects and runs beside "
        "others in mixed[1]: their order is not fixed; move it out of the Parallel"
    ]


@pytest.mark.requirement("verify:checks:portable")
def test_a_predicate_that_cannot_be_imported_is_shown_as_not_portable() -> None:
    held = Contract(
        "held", output=str, ensures=[clauses.that("is loud", lambda text: text.isupper())]
    )

    @primitive(contract=held)
    def loud(text: str) -> str:
        return text.upper()

    program = p.Conditional(held, upper, upper).named("test")
    assert [one.place for one in verify(program).findings if one.code == "not-portable"] == [
        "test.test"
    ]
    (told,) = [one for one in verify(loud).findings if one.code == "not-portable"]
    assert told.level == "info"
    assert told.message.startswith("not portable: contract 'held', clause 'is loud' cannot be")


@pytest.mark.requirement("verify:checks:portable")
def test_a_test_that_cannot_be_imported_is_shown_as_not_portable() -> None:
    def always(text: str) -> bool:
        return True

    looped = p.Iterate(upper, until=lambda text: True, at_most=2)
    program = p.Sequence(p.Conditional(always, looped), p.Conditional(long, upper))
    found = [one for one in verify(program).findings if one.code == "not-portable"]
    assert [one.place for one in found] == ["program[0].test", "program[0].then#1.until"]
    assert found[0].level == "info"
    assert found[0].message == (
        "not portable: the test 'always' cannot be imported; define the function at the top of a "
        "module"
    )


@pytest.mark.requirement("verify:accuracy:required")
def test_an_accuracy_that_is_required_is_held_against_the_lower_bound() -> None:
    program = topic_step(requires_accuracy=0.9)
    enough = Measured(Rate(value=0.95, low=0.9, high=0.98))
    short = Measured(Rate(value=0.95, low=0.89, high=0.98))
    assert found(program, evaluations={"topic": enough}) == []
    assert found(program, evaluations={"topic": short}) == [
        "error at topic (accuracy): 'topic' requires an accuracy of 0.9, and was measured at "
        "0.950 [0.890, 0.980]: the lower bound does not reach it"
    ]
    assert found(program) == [
        "error at topic (accuracy): 'topic' requires an accuracy of 0.9, and it was not measured: "
        "give evaluations={'topic': evaluate_primitive(...)}"
    ]


@pytest.mark.requirement("verify:accuracy:required")
def test_what_was_measured_of_another_version_or_model_does_not_count() -> None:
    program = topic_step(requires_accuracy=0.5)
    rate = Rate(value=0.95, low=0.9, high=0.98)
    assert found(program, evaluations={"topic": Measured(rate, version="0")}) == [
        "error at topic (accuracy): 'topic' requires an accuracy of 0.5, and what was measured is "
        "version 0, not 1: measure it again"
    ]
    assert found(program, evaluations={"topic": Measured(rate, model="large")}) == [
        "error at topic (accuracy): 'topic' requires an accuracy of 0.5, and what was measured is "
        "the model 'large', not 'small': measure it again"
    ]


@pytest.mark.requirement("verify:accuracy:required")
def test_an_evaluation_of_our_own_kind_serves() -> None:
    from hornbook.evaluation import Example, evaluate_primitive

    step = primitive(upper.__wrapped__, name="upper", requires_accuracy=0.2)
    examples = [
        Example(input="a", output="A"),
        Example(input="b", output="B"),
    ]
    evaluation = evaluate_primitive(step, examples)
    assert found(step, evaluations={"upper": evaluation}) == []
    (row,) = verify(step, evaluations={"upper": evaluation}).table
    assert (row.accuracy, row.required) == (evaluation.exact, 0.2)
    assert row.wrong_if_satisfied == evaluation.wrong_given_satisfied


@pytest.mark.requirement("verify:checks:strict")
def test_warnings_fail_only_where_it_is_strict() -> None:
    program = topic_step(None)
    assert verify(program).ok
    assert not verify(program, strict=True).ok
