# ruff: noqa: RUF001 - characters that look alike are what is tested
"""Whether a text stands in a source as whole tokens, and where."""

import re
import unicodedata
from datetime import date
from itertools import pairwise
from threading import Thread
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from hornbook.contracts.grounding import Span, locate
from hornbook.contracts.normalized import NormalText, folded, normal_text

pytestmark = pytest.mark.requirement("clause:grounded:spans")


def texts(value: Any, source: str, **options: Any) -> list[str]:
    found = locate(value, source, **options)
    assert isinstance(found, tuple), found
    assert all(source[span.start : span.end] == span.text for span in found)
    return [span.text for span in found]


def stands(value: Any, source: str, **options: Any) -> bool:
    return bool(texts(value, source, **options))


# --- whole tokens -------------------------------------------------------------------------


@pytest.mark.requirement("clause:grounded:tokens", "clause:grounded:exact")
@pytest.mark.parametrize("mode", ["exact", "normalized"])
@pytest.mark.parametrize(
    ("value", "source", "found"),
    [
        ("A17", "order A17, please", True),
        ("A17", "order A17-3", True),
        ("A17", "order A170", False),
        ("A17", "order BA17", False),
        ("A17", "order A17_3", False),
        ("17", "170 A17 A17-3 17.5 1,17 17,500", False),
        ("17", "170 and 17.", True),
        ("5", "-5 or -$5", False),
        ("5", "3-5 or A-5", True),
        ("-5", "A-5 or 3-5", False),
        ("-5", "at -5 degrees", True),
        ("order A17", "my order A17", True),
        ("order A17", "my order  A17", None),
        ("caf", "cafe\u0301", False),
        ("cafe", "cafe\u0301", False),
        ("it's", "it's", True),
        ("C++", "in C++ and C", True),
        ("日本", "これは日本です", True),
        ("ไทย", "ภาษาไทยนะ", True),
        ("कित", "यह किताब है", False),
        ("किताब", "यह किताब है", True),
        ("👩\u200d👧", "a 👩\u200d👧 here", True),
    ],
)
def test_a_value_stands_there_as_whole_tokens(
    value: str, source: str, found: bool | None, mode: str
) -> None:
    assert stands(value, source, mode=mode) is (mode == "normalized" if found is None else found)


@pytest.mark.requirement("clause:grounded:tokens")
def test_a_part_of_a_token_will_do_when_asked_for() -> None:
    assert locate("A17", "order A170", partial=True) == (Span(start=6, end=9, text="A17"),)
    assert locate("17", "A17-3", partial=True, mode="exact") == (Span(start=1, end=3, text="17"),)
    assert texts("s", "Maß", partial=True) == ["ß"]


@pytest.mark.requirement("clause:grounded:exact")
def test_exact_wants_the_text_letter_by_letter() -> None:
    assert not stands("order a17", "Order A17", mode="exact")
    assert not stands(12, "12.0", mode="exact")
    assert stands(12.0, "12.0", mode="exact")
    assert not stands(date(2026, 11, 30), "30/11/2026", mode="exact")
    assert stands(date(2026, 11, 30), "on 2026-11-30", mode="exact")


# --- normal form --------------------------------------------------------------------------


@pytest.mark.requirement("clause:grounded:normalized")
@pytest.mark.parametrize(
    ("value", "source", "found"),
    [
        ("order a17", "The ORDER\n  A17.", "ORDER\n  A17"),
        ("strasse", "Lange STRAẞE 5", "STRAẞE"),
        ("GROẞE STRASSE", "Große Straße 5", "Große Straße"),
        ("istanbul", "in İSTANBUL now", "İSTANBUL"),
        ("i\u0307stanbul", "in Istanbul now", "Istanbul"),
        ("ılık", "çok ılık", "ılık"),
        ("ilik", "çok ılık", None),
        ("caf\u00e9", "a cafe\u0301 here", "cafe\u0301"),
        ("cafe\u0301", "a caf\u00e9 here", "caf\u00e9"),
        ("fin", "the ﬁn", "ﬁn"),
        ("12", "no １２", "１２"),
        ("١٢", "no 12", "12"),
        ('"hi" - it\u2019s', "“hi” – it's", "“hi” – it's"),
        ("cooperate", "to co\u00adoperate", "co\u00adoperate"),
        ("a b", "a\u00a0\u200bb", "a\u00a0\u200bb"),
        ("가", "\u1100\u1161!", "\u1100\u1161"),
        ("ガ", "ｶﾞ", "ｶﾞ"),
        ("ΣΊΣΥΦΟΣ", "ο σίσυφος", "σίσυφος"),
        ("x2", "x²", None),
        ("\u1160", "\u1160", "\u1160"),
    ],
)
def test_case_width_quotes_and_space_do_not_count(
    value: str, source: str, found: str | None
) -> None:
    assert texts(value, source) == ([found] if found else [])


mixed = st.text(
    st.one_of(
        st.sampled_from("aA1.,-'$ \n\tßẞİıΣﬁ１²½“–\u0301\u0307\u0345\u200b\u00ad\u1100\u1161ｶﾞ日नि"),
        st.characters(codec="utf-8"),
    ),
    max_size=40,
)


@given(mixed, mixed)
def test_normalising_a_text_does_not_depend_on_what_stands_around_it(left: str, right: str) -> None:
    text = NormalText(f"{left} | {right}").text.strip(" ")
    assert text.startswith(f"{folded(left)} |".strip(" "))
    assert folded(left) == folded(unicodedata.normalize("NFC", left))


@given(mixed)
def test_positions_lead_back_in_order_and_without_gaps(text: str) -> None:
    normal = NormalText(text)
    spans = [normal.span(at, at + 1) for at in range(len(normal.text))]
    assert all(text[span.start : span.end] == span.text for span in spans)
    for before, after in pairwise(spans):
        assert before.start <= after.start
        assert before.end <= after.end
    if normal.text:
        whole = normal.span(0, len(normal.text))
        assert folded(whole.text) == folded(text)


TOKEN = re.compile(r"[-+]?\d[\d.,']*\d|[^\W_]+")
ascii_words = st.text("abcXYZ019 .,;:!?()/\n", min_size=1, max_size=60)


@given(ascii_words | mixed, st.data())
def test_any_run_of_whole_tokens_is_found_where_it_stands(text: str, data: st.DataObject) -> None:
    tokens = [token.span() for token in TOKEN.finditer(text)]
    assume(tokens)
    first = data.draw(st.integers(0, len(tokens) - 1))
    last = data.draw(st.integers(first, len(tokens) - 1))
    start, end = tokens[first][0], tokens[last][1]
    assume(whole(text, start, end))
    piece = text[start:end]
    for mode in ("exact", "normalized", "fuzzy"):
        found = locate(piece, text, mode=mode)  # type: ignore[arg-type]
        assert isinstance(found, tuple)
        assert found
        assert text[found[0].start : found[0].end] == found[0].text
        if mode == "exact":
            assert found[0].text == piece
        else:
            assert folded(found[0].text) == folded(piece)


def whole(text: str, start: int, end: int) -> bool:
    """Whether nothing that belongs to a token stands just outside."""
    around = text[max(0, start - 2) : start] + text[end : end + 2]
    return not any(
        c.isalnum() or c in "_-+.,'\u2019\u2212\u200d" or unicodedata.category(c)[0] in "MCSP"
        for c in around
    )


@given(st.text("abcdefgh", min_size=4, max_size=9), st.text("abcdefgh ", max_size=60), st.data())
def test_a_value_with_an_altered_letter_is_not_found(
    value: str, rest: str, data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(value) - 1))
    altered = value[:at] + "z" + value[at + 1 :]
    source = f"{rest} {value} {rest}"
    assert not stands(altered, source)
    assert not stands(altered, source, mode="exact")
    assert stands(value, source)


# --- fuzzy --------------------------------------------------------------------------------


@pytest.mark.requirement("clause:grounded:fuzzy")
@pytest.mark.parametrize(
    ("value", "source", "threshold", "found"),
    [
        ("Jonathan Smith", "From: Jonathon Smith, CEO", None, "Jonathon Smith"),
        ("recieve the parcel", "to receive the parcel now", None, "receive the parcel"),
        ("the  PARCEL", "get the parcel", None, "the parcel"),
        ("jonathan smyth", "dear Jonathan Smithers", 0.7, "Jonathan Smithers"),
        ("jonathan smyth", "dear Jonathan Smithers", None, None),
        ("order A18 shipped", "order A17 shipped", None, None),
        ("banana", "an apple", None, None),
        ("abc", "abd", None, None),
        ("Große Straße 5", "Grosse Strase 5", None, "Grosse Strase 5"),
    ],
)
def test_fuzzy_accepts_the_most_similar_words(
    value: str, source: str, threshold: float | None, found: str | None
) -> None:
    assert texts(value, source, mode="fuzzy", threshold=threshold) == ([found] if found else [])


def edits(left: str, right: str) -> int:
    row = list(range(len(right) + 1))
    for at, character in enumerate(left, 1):
        above = row[:]
        row[0] = at
        for to, other in enumerate(right, 1):
            row[to] = min(above[to] + 1, row[to - 1] + 1, above[to - 1] + (character != other))
    return row[-1]


def likeness(left: str, right: str) -> float:
    return 1 - edits(left, right) / max(len(left), len(right))


@pytest.mark.requirement("clause:grounded:fuzzy")
@given(
    st.lists(st.text("abc", min_size=1, max_size=5), min_size=1, max_size=7),
    st.lists(st.text("abc", min_size=1, max_size=5), min_size=1, max_size=3),
    st.sampled_from([0.5, 0.7, 0.85, 1.0]),
)
def test_fuzzy_finds_what_comparing_every_window_would_find(
    words: list[str], sought: list[str], threshold: float
) -> None:
    value = " ".join(sought)
    windows = [
        " ".join(words[i:j]) for i in range(len(words)) for j in range(i + 1, len(words) + 1)
    ]
    best = max(likeness(value, window) for window in windows)
    found = texts(value, " ".join(words), mode="fuzzy", threshold=threshold)
    assert bool(found) is (best >= threshold)
    if found:
        assert likeness(value, found[0]) == best


# --- remembered sources -------------------------------------------------------------------


def test_a_source_is_normalised_once_while_it_is_remembered() -> None:
    source = "Some source that is searched again"
    assert normal_text(source) is normal_text(source)


def test_only_so_much_is_remembered() -> None:
    first = normal_text("first of many sources")
    for number in range(200):
        normal_text(f"source {number}")
    assert normal_text("first of many sources") is not first
    long = "x" * 1_000_001
    assert normal_text(long) is not normal_text(long)


def test_sources_may_be_searched_by_many_threads() -> None:
    wrong: list[object] = []

    def search(offset: int) -> None:
        numbers = range(offset, offset + 300)
        wrong.extend(n for n in numbers if not stands(f"A{n}", f"order A{n} for {n % 7}"))

    threads = [Thread(target=search, args=(offset,)) for offset in range(0, 40, 10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
