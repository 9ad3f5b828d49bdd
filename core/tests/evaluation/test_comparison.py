"""Before and after: paired by example, with the exact McNemar test."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbook.evaluation import Evaluation, EvaluationError, Judged, compare, weighted
from hornbook.judges import wilson


def evaluation(right: str, name: str = "decompose", start: int = 0) -> Evaluation:
    """`"+-"`: one right and one wrong."""
    judged = tuple(
        Judged(key=f"k{start + at}", right=sign == "+", verdict="satisfied")
        for at, sign in enumerate(right)
    )
    return Evaluation(
        primitive=name, version="1", digest="d", model="m", recovery=False, judged=judged
    )


@pytest.mark.requirement("evaluation:compare:paired")
def test_what_is_gained_and_lost_is_counted_example_by_example():
    found = compare(evaluation("+-----+-"), evaluation("-+++++++"))
    assert (found.n, found.gained, found.lost) == (8, 6, 1)
    assert (found.before, found.after) == (wilson(2, 8), wilson(7, 8))
    # Of seven fair coins at most one, or at least six, on one side: 2 * (1 + 7) / 128.
    assert found.p_value == 0.125
    assert str(found) == (
        "decompose: 0.250 [0.071, 0.591] -> 0.875 [0.529, 0.978] (+62.5%), n=8, 6 gained, 1 lost, "
        "p=0.125"
    )


@pytest.mark.requirement("evaluation:compare:paired")
def test_only_examples_that_both_have_are_compared():
    found = compare(evaluation("+-+"), evaluation("++", start=2))
    assert (found.n, found.unpaired, found.difference) == (1, 3, 0.0)
    twice = evaluation("+-")
    twice = replace(twice, judged=(twice.judged[0], replace(twice.judged[1], key="k0")))
    assert (compare(twice, twice).n, compare(twice, twice).gained) == (2, 0)


@pytest.mark.requirement("evaluation:compare:mcnemar")
@given(st.text(alphabet="+-", min_size=1, max_size=30), st.data())
def test_the_test_is_symmetric_and_a_probability(before: str, data: st.DataObject):
    after = data.draw(st.text(alphabet="+-", min_size=len(before), max_size=len(before)))
    there = compare(evaluation(before), evaluation(after))
    back = compare(evaluation(after), evaluation(before))
    assert 0 < there.p_value <= 1
    assert (there.p_value, there.gained, there.lost) == (back.p_value, back.lost, back.gained)
    if before == after:
        assert there.p_value == 1


@pytest.mark.requirement("evaluation:compare:refused")
def test_what_cannot_be_compared_is_refused():
    with pytest.raises(EvaluationError) as caught:
        compare(evaluation("+"), evaluation("+", name="entails"))
    assert str(caught.value) == (
        "'decompose' and 'entails' are two primitives: evaluations are compared of one"
    )
    with pytest.raises(EvaluationError, match="have no example in common"):
        compare(evaluation("+"), evaluation("+", start=9))
    with pytest.raises(EvaluationError, match="one evaluation is of first attempts"):
        compare(evaluation("+"), replace(evaluation("+"), recovery=True))
    with pytest.raises(EvaluationError, match="there are no comparisons to average"):
        weighted([])


@pytest.mark.requirement("evaluation:compare:weighted")
def test_the_average_over_primitives_is_weighted_by_their_examples():
    found = weighted(
        [
            compare(evaluation("+--"), evaluation("+++")),
            compare(evaluation("+", "entails"), evaluation("-", "entails")),
        ]
    )
    assert (found.n, found.before, found.after) == (4, 0.5, 0.75)
    assert str(found) == "weighted average: 50.0% -> 75.0%, n=4"
