"""How runs end, as scenarios see it: waived, stopped by a precondition, out of rounds or budget."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hornbook import Budget, Contract, Recover, clauses
from hornbook import program as p
from hornbook.program import primitive
from hornbook.verify import (
    Expectation,
    ExpectedStep,
    ExpectedViolation,
    Scenario,
    play_scenario,
    verify,
)

SHORT = Contract("short", output=str, ensures=[clauses.matches(".", ".{0,3}")])


@primitive(contract=SHORT, recover=Recover(then="waive"))
def lenient(text: str) -> str:
    return text


@primitive(contract=Contract("asked", requires=[clauses.matches("text", "[a-z]+")]))
def asked(text: str) -> str:
    return text


def word(text: str, **expect: Any) -> Scenario:
    return Scenario(name=text, input=text, expect=Expectation(**expect))


@pytest.mark.requirement("verify:scenarios:endings")
def test_a_contract_that_waives_passes_the_value_on_and_is_seen() -> None:
    violation = ExpectedViolation(step="lenient", clause="matches .")
    expect = {"status": "waived", "violation": violation, "output": "long enough"}
    assert play_scenario(lenient, word("long enough", **expect)).failures == ()
    # What it refuses it has caught, also where it lets it pass.
    (row,) = verify(lenient, word("abc", output="abc")).table
    assert {clause.clause: clause.caught > 0 for clause in row.clauses} == {
        "output type": True,
        "matches .": True,
    }


@pytest.mark.requirement("verify:scenarios:endings")
def test_a_step_that_its_precondition_stops_was_never_tried() -> None:
    violation = ExpectedViolation(step="asked", clause="matches text")
    steps = {"asked": ExpectedStep(attempts=0, status="violated")}
    expect = {"status": "violated", "violation": violation, "steps": steps}
    assert play_scenario(asked, word("A1", **expect)).failures == ()
    (row,) = verify(asked, word("a")).table
    assert [(clause.clause, clause.tried) for clause in row.clauses] == [
        ("requires matches text", False),
        ("output type", True),
    ]


@pytest.mark.requirement("verify:scenarios:endings")
def test_what_no_contract_says_is_an_error() -> None:
    def never(text: str) -> bool:
        return False

    def same(text: str) -> str:
        return text

    rounds = p.Iterate(same, until=never, at_most=2, exhausted="fail").named("rounds")
    assert play_scenario(rounds, word("a", status="error")).failures == ()
    (failure,) = play_scenario(rounds, word("a")).failures
    assert failure.startswith("the run ended with RoundsExhausted: ")

    counted = primitive(same, name="counted", contract=SHORT, recover=Recover(retry=2))
    spent = play_scenario(counted, word("too long", status="error"), budget=Budget(calls=1))
    assert spent.failures == ()


@pytest.mark.requirement("verify:scenarios:endings")
def test_a_fallback_of_the_program_is_a_recovery() -> None:
    @primitive(contract=SHORT)
    def strict(text: str) -> str:
        return text

    def cut(text: str) -> str:
        return text[:3]

    program = p.Fallback(strict, cut).named("either")
    expect = {
        "status": "recovered",
        "output": "too",
        "steps": {"strict": ExpectedStep(status="violated"), "either[1]": ExpectedStep(ran=True)},
    }
    assert play_scenario(program, word("too long", **expect)).failures == ()


@pytest.mark.requirement("verify:scenarios:endings")
def test_what_a_step_raises_is_told_without_its_secrets() -> None:
    key = "sk-" + "a1B2" * 10

    @primitive
    def leaky(text: str) -> str:
        raise ValueError(f"cannot log in with {key}")

    result = verify(leaky, word("a"))
    assert "the run ended with ValueError: cannot log in with" in str(result)
    for form in (str(result), result.to_json(), result.to_junit(), result.to_html()):
        assert key not in form


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=6,
)


@pytest.mark.requirement("verify:mutation:fates")
@settings(max_examples=15, deadline=None)
@given(value=VALUES)
def test_whatever_value_flows_every_wrong_one_is_noticed_by_the_expected_output(value: Any) -> None:
    @primitive
    def same(value: Any) -> Any:
        return value

    result = verify(same, Scenario(name="one", input=value, expect=Expectation(output=value)))
    assert result.ok
    assert {one.fate for one in result.mutants} <= {"expected", "contract"}


@primitive
def leaves(text: str) -> str:
    raise SystemExit(0)


@pytest.mark.requirement("verify:scenarios:endings")
def test_a_step_that_exits_fails_its_scenario_and_not_the_verification_of_others() -> None:
    scenarios = [word("one", output="one"), word("two", output="two")]
    found = verify(leaves, scenarios)
    assert not found.ok
    assert [one.failures for one in found.scenarios if one.failures] != []
    assert len(found.scenarios) == 2
    assert isinstance(play_scenario(leaves, word("one")).failures, tuple)
