"""The Wilson interval."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbook.errors import DefinitionError
from hornbook.judges import wilson


@st.composite
def counts(draw: st.DrawFn) -> tuple[int, int]:
    n = draw(st.integers(1, 100_000))
    return draw(st.integers(0, n)), n


@pytest.mark.parametrize(
    ("count", "n", "low", "high"),
    [
        # Agresti and Coull (1998), Newcombe (1998), table I, method 3.
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0000, 0.1611),
        (1, 29, 0.0061, 0.1718),
        (29, 29, 0.8830, 1.0000),
    ],
)
@pytest.mark.requirement("judges:wilson:known")
def test_it_gives_the_published_values(count: int, n: int, low: float, high: float):
    found = wilson(count, n)
    assert (found.value, round(found.low, 4), round(found.high, 4)) == (count / n, low, high)


@given(counts())
@pytest.mark.requirement("judges:wilson:laws")
def test_it_contains_the_share_and_stays_between_0_and_1(counted: tuple[int, int]):
    count, n = counted
    found = wilson(count, n)
    assert 0.0 <= found.low <= count / n <= found.high <= 1.0
    assert found.low < found.high


@given(counts(), st.integers(2, 50))
@pytest.mark.requirement("judges:wilson:laws")
def test_it_shrinks_as_n_grows(counted: tuple[int, int], times: int):
    count, n = counted
    narrow, wide = wilson(count * times, n * times), wilson(count, n)
    assert narrow.high - narrow.low < wide.high - wide.low


@given(counts())
@pytest.mark.requirement("judges:wilson:laws")
def test_it_is_the_mirror_image_of_that_of_the_rest(counted: tuple[int, int]):
    count, n = counted
    found, rest = wilson(count, n), wilson(n - count, n)
    assert (found.low, found.high) == (
        pytest.approx(1 - rest.high, abs=1e-9),
        pytest.approx(1 - rest.low, abs=1e-9),
    )


@given(counts(), st.floats(0.5, 0.9), st.floats(0.91, 0.999))
@pytest.mark.requirement("judges:wilson:laws")
def test_more_confidence_is_a_wider_interval(counted: tuple[int, int], less: float, more: float):
    narrow, wide = (wilson(*counted, confidence=level) for level in (less, more))
    assert wide.low <= narrow.low
    assert narrow.high <= wide.high


@pytest.mark.parametrize(
    ("count", "n", "confidence", "message"),
    [
        (0, 0, 0.95, "a share needs 0 <= count <= n and n above 0: 0 of 0"),
        (3, 2, 0.95, "a share needs 0 <= count <= n and n above 0: 3 of 2"),
        (-1, 2, 0.95, "a share needs 0 <= count <= n and n above 0: -1 of 2"),
        (1, 2, 1.0, "confidence is a number between 0 and 1: 1.0"),
    ],
)
@pytest.mark.requirement("judges:wilson:refused")
def test_what_is_no_share_is_refused(count: int, n: int, confidence: float, message: str):
    with pytest.raises(DefinitionError) as caught:
        wilson(count, n, confidence=confidence)
    assert str(caught.value) == message
