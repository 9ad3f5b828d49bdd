# ruff: noqa: RUF001 - characters that look alike are what is tested
"""Numbers, dates, enums and other values, found in a text by what they mean."""

from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum, IntEnum
from fractions import Fraction
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbook.contracts.grounding import Ungroundable, locate

pytestmark = pytest.mark.requirement("clause:grounded:canonical")


class State(Enum):
    IN_PROGRESS = "in_progress"
    DONE = 1
    NOTHING = None


class Grade(IntEnum):
    TOP = 3


def texts(value: Any, source: str, **options: Any) -> list[str]:
    found = locate(value, source, **options)
    assert isinstance(found, tuple), found
    assert all(source[span.start : span.end] == span.text for span in found)
    return [span.text for span in found]


def stands(value: Any, source: str, **options: Any) -> bool:
    return bool(texts(value, source, **options))


# --- numbers ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "source", "found"),
    [
        (12, "12 of them", "12"),
        (12, "12.0", "12.0"),
        (12, "twelve: １２", "１２"),
        (12.0, "x 12", "12"),
        (1200.5, "cost $1,200.50!", "$1,200.50"),
        (1200.5, "cost 1.200,50 EUR", "1.200,50 EUR"),
        (1200.5, "CHF 1'200.50", "CHF 1'200.50"),
        (1234.5, "1\u202f234,50", "1\u202f234,50"),
        (Decimal("1200.50"), "1200.5", "1200.5"),
        (1000, "1e3", "1e3"),
        (1000, "1_000", "1_000"),
        (100000, "Rs 1,00,000", "1,00,000"),
        (1234567, "1.234.567", "1.234.567"),
        (0.123, "0,123", "0,123"),
        (12.5, "12,5", "12,5"),
        (0.5, "a .5 share", ".5"),
        (5, "fig.5", "5"),
        (-5, "at -5", "-5"),
        (-5, "at −5", "−5"),
        (-5, "owes -$5", "-$5"),
        (15, "15% off", "15%"),
        (0.15, "15% off", "15%"),
        (15, "15 percent", "15 percent"),
        (5000, "about 5k", "5k"),
        (2500000, "$2.5M", "$2.5M"),
        (5000000, "5 million people", "5 million"),
        (5, "5kg", "5"),
        (3, "the 3rd", "3"),
        (30, "a 30-day trial", "30"),
        (5, "約5個", "5"),
        (2, "1,2,3", "2"),
        (11, "2026-11-30", "11"),
        (0, "0", "0"),
        ("1,200.50", "$1200.5", "$1200.5"),
        ("$1,200.5", "1200.50 or so", "1200.50"),
        ("€15", "15 EUR", "15 EUR"),
        ("15%", "15 percent", "15 percent"),
    ],
)
def test_a_number_is_found_in_any_form(value: Any, source: str, found: str) -> None:
    assert texts(value, source) == [found]


@pytest.mark.parametrize(
    ("value", "source"),
    [
        (17, "170 A17 A17-3 17.5 017x COVID-17 17abc 17_1"),
        (5, "-5"),
        (-5, "5 or 3-5"),
        (1.234, "1,234"),
        (1234, "1.234"),
        (1.2, "1.2.3"),
        (192, "192.168.0.1"),
        (5, "5k and 5b and 5万"),
        (10, "10²"),
        (12, "1\u202f234,12"),
        (0.1, "0.10000000001"),
        (123456789012345678901234567890, "123456789012345678901234567891"),
        (True and 2, "1"),
        ("€15", "$15"),
        ("15%", "15 items"),
        ("007", "7"),
        ("7", "agent 007"),
    ],
)
def test_another_number_is_not_found(value: Any, source: str) -> None:
    assert texts(value, source) == []


@given(st.integers() | st.decimals(allow_nan=False, allow_infinity=False) | st.floats(-1e9, 1e9))
def test_a_number_is_found_as_it_is_written(value: Any) -> None:
    assert stands(value, f"it is {value}, they say")
    assert not stands(value, f"it is 1{abs(value)}x, they say")


@given(st.integers(-(10**12), 10**12), st.integers(0, 99))
def test_a_number_is_found_with_separators(whole_part: int, cents: int) -> None:
    value = Decimal(f"{whole_part}.{cents:02}") if whole_part else Decimal(f"0.{cents:02}")
    english = f"{value:,.2f}"
    european = english.translate(str.maketrans(",.", ".,"))
    assert texts(value, f"pay ${english} now") == [f"${english}"]
    assert texts(value, f"pay {european} now") == [european]
    assert not stands(value + 1, f"pay {english} now")


# --- dates --------------------------------------------------------------------------------

DAY = date(2026, 11, 30)


@pytest.mark.parametrize(
    "source",
    [
        "2026-11-30",
        "2026/11/30",
        "20261130",
        "30 November 2026",
        "30th of November, 2026",
        "30. November 2026",
        "Nov 30, 2026",
        "Nov. 30th 2026",
        "NOVEMBER 30,2026",
        "30-Nov-2026",
        "2026 Nov 30",
        "30/11/2026",
        "11/30/2026",
        "30.11.2026",
        "30/11/26",
    ],
)
@pytest.mark.parametrize("value", [DAY, "2026-11-30", datetime(2026, 11, 30)])
def test_a_date_is_found_in_any_form(value: Any, source: str) -> None:
    assert texts(value, f"due {source}.") == [source]


@pytest.mark.parametrize(
    ("value", "source", "found"),
    [
        (date(2026, 4, 3), "03/04/2026", True),
        (date(2026, 3, 4), "03/04/2026", True),
        (DAY, "2026-11-301 12026-11-30 2026-11-30-1 130/11/2026", False),
        (DAY, "November 30", False),
        (DAY, "30 November 2025", False),
        (DAY, "30 13 2026", False),
        ("03/04/2026", "4 March 2026", False),
        ("30 Nov 2026", "2026-11-30", True),
        (datetime(2026, 11, 30, 14, 30), "2026-11-30", False),
        (datetime(2026, 11, 30, 14, 30), "2026-11-30T14:30:00Z", True),
        (time(14, 30), "at 2:30 pm", True),
        (time(14), "at 2 p.m.", True),
        (time(0), "at 12 am", True),
        (time(12), "10:00-12:00", True),
        (time(14, 30), "at 2:30", False),
        (time(14, 30), "14:30:15", False),
    ],
)
def test_a_date_or_time_is_found_by_what_it_means(value: Any, source: str, found: bool) -> None:
    assert stands(value, source) is found


def test_a_day_and_its_time_may_stand_apart() -> None:
    moment = datetime(2026, 11, 30, 14, 30)
    assert texts(moment, "30 November 2026 at 2:30 pm") == ["30 November 2026", "2:30 pm"]
    assert texts("2026-11-30 14:30", "at 14h30 on Nov 30, 2026") == ["Nov 30, 2026", "14h30"]
    assert not stands(moment, "30 November 2026 at 2:45 pm")


def test_with_a_zone_the_point_in_time_counts() -> None:
    moment = datetime(2026, 11, 30, 14, 30, tzinfo=UTC)
    assert texts(moment, "2026-11-30T16:30:00+02:00") == ["2026-11-30T16:30:00+02:00"]
    assert texts(moment, str(moment)) == [str(moment)]
    assert stands(moment.astimezone(timezone(timedelta(hours=1))), "2026-11-30T14:30Z")
    assert not stands(moment, "2026-11-30T14:30:00+02:00")
    assert stands(moment, "2026-11-30 at 14:30")


@pytest.mark.requirement("clause:grounded:tokens")
def test_a_day_without_its_year_will_do_only_in_part() -> None:
    assert not stands(DAY, "by Nov 30")
    assert texts(DAY, "by Nov 30", partial=True) == ["Nov 30"]


@given(st.dates(date(1000, 1, 1)))
def test_a_date_is_found_as_it_is_written(value: date) -> None:
    assert stands(value, f"on {value}, at last")
    assert stands(value, value.strftime("on %d %B %Y"))
    assert not stands(value, f"on {value - timedelta(days=1) if value.year > 1000 else '1'}")


# --- enums, other values ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "source", "found"),
    [
        (State.IN_PROGRESS, "now In Progress", ["In Progress"]),
        (State.IN_PROGRESS, "in_progress", ["in_progress"]),
        (State.DONE, "all done", ["done"]),
        (State.DONE, "1 left", ["1"]),
        (State.DONE, "none", []),
        (State.NOTHING, "nothing", ["nothing"]),
        (Grade.TOP, "top marks", ["top"]),
        (UUID(int=5), f"id {UUID(int=5)}", [str(UUID(int=5))]),
        (Fraction(1, 3), "a 1/3 share", ["1/3"]),
    ],
)
def test_other_values_are_found_by_their_value_name_or_text(
    value: Any, source: str, found: list[str]
) -> None:
    assert texts(value, source) == found


@pytest.mark.requirement("clause:grounded:undetermined", "clause:grounded:items")
@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (None, "the value is None"),
        ("", "the value is empty"),
        (" \n\u200b", "the value is empty"),
        ("...", "the value is nothing but punctuation"),
        (float("nan"), "nan is no finite number"),
        (float("-inf"), "-inf is no finite number"),
        (Decimal("sNaN"), "sNaN is no finite number"),
        (True, "true and false stand in no text"),
        (["a"], "a list is no single value; its items may be grounded"),
        ({"a": 1}, "a dict is no single value; its items may be grounded"),
        (object(), "a object has no text of its own"),
    ],
)
@pytest.mark.parametrize("mode", ["exact", "normalized", "fuzzy"])
def test_of_what_cannot_stand_in_a_text_nothing_is_said(value: Any, reason: str, mode: Any) -> None:
    assert locate(value, "true a 1 ... nan", mode=mode) == Ungroundable(reason=reason)
