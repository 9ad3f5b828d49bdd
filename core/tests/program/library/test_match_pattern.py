"""`match_pattern`: spans by our own machine, held against two other engines."""

import re
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbook import ContractViolation
from hornbook import program as p
from hornbook.contracts.text_clauses import full_match
from hornbook.engine import Engine
from hornbook.errors import DefinitionError
from hornbook.program.library import Found, Matches, Part, ProblemError, match_pattern

atoms = st.sampled_from(["a", "b", ".", "[ab]", "[^a]", r"\d", r"\w", "c1", "(?:ab)"])


def joined(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    several = st.lists(parts, min_size=1, max_size=3)
    quantifier = st.sampled_from(
        ["", "", "*", "+", "?", "*?", "+?", "??", "{1,2}", "{2}", "{0,2}?"]
    )
    repeated = st.builds("(?:{}){}".format, parts, quantifier)
    return several.map("".join) | several.map("|".join).map("(?:{})".format) | repeated


patterns = st.recursive(atoms, joined, max_leaves=5)
texts = st.text(alphabet="abc1 \n", max_size=10)


@pytest.mark.requirement("library:match-pattern:whole")
@given(patterns, texts)
def test_whole_texts_match_exactly_where_the_rust_engine_says(pattern: str, text: str):
    found = match_pattern(text, pattern=pattern, whole=True)
    assert bool(found.found) is full_match(pattern, "test")(text)


@pytest.mark.requirement("library:match-pattern:spans")
@given(patterns, texts)
def test_spans_are_those_of_a_backtracking_engine(pattern: str, text: str):
    expected: list[tuple[int, int]] = []
    at = 0
    while at <= len(text):
        other = re.compile(pattern).search(text, at)
        if other is None:
            break
        if other.end() > other.start():
            expected.append(other.span())
        at = max(other.end(), other.start() + 1)
    if "\\d" not in pattern and "\\w" not in pattern:  # as both engines mean them in these texts
        found = match_pattern(text, pattern=pattern).found
        assert [(one.start, one.end) for one in found] == expected


@pytest.mark.requirement("library:match-pattern:groups")
def test_named_groups_are_given_with_their_spans():
    text = "order A-17 from Oslo, order B-9"
    found = match_pattern(text, pattern=r"order (?P<id>[A-Z]-\d+)(?: from (?P<city>\p{Lu}\w+))?")
    assert found == Matches(
        found=(
            Found(
                text="order A-17 from Oslo",
                start=0,
                end=20,
                groups={
                    "id": Part(text="A-17", start=6, end=10),
                    "city": Part(text="Oslo", start=16, end=20),
                },
            ),
            Found(
                text="order B-9",
                start=22,
                end=31,
                groups={"id": Part(text="B-9", start=28, end=31)},
            ),
        )
    )


@pytest.mark.requirement("library:match-pattern:flags")
def test_flags_and_anchors_and_classes_are_those_of_the_rust_engine():
    assert match_pattern("ÄRGER", pattern="(?i)ärger").found[0].text == "ÄRGER"
    assert match_pattern("a\nb", pattern="(?s)a.b").found
    assert not match_pattern("a\nb", pattern="a.b").found
    assert [one.start for one in match_pattern("aa", pattern="^a").found] == [0]
    assert [one.start for one in match_pattern("aa", pattern="a$").found] == [1]
    assert match_pattern("x]y", pattern="[]x]+").found[0].text == "x]"
    assert match_pattern("7٣", pattern=r"\d+").found[0].text == "7٣"


@pytest.mark.requirement("library:match-pattern:template")
def test_a_template_has_holes_of_a_kind():
    template = "{who} ordered {count:int} at {price:number} on {day:date} ({{ok}})"
    (found,) = match_pattern(
        "Ada L. ordered 2 at 9.50 on 2024-05-01 ({ok})", template=template
    ).found
    assert {name: part.text for name, part in found.groups.items()} == {
        "who": "Ada L.",
        "count": "2",
        "price": "9.50",
        "day": "2024-05-01",
    }
    (found,) = match_pattern("to: Oslo, then Bergen", template="to: {place}").found
    assert found.groups["place"].text == "Oslo, then Bergen"
    assert not match_pattern("a+c", template="a.c").found


@pytest.mark.requirement("library:match-pattern:linear")
def test_no_pattern_is_slow():
    began = time.process_time()
    assert not match_pattern("a" * 5_000, pattern="(?:a*)*b").found
    assert not match_pattern("a" * 5_000, pattern="(?:a|a)+$x", whole=True).found
    # 0.2 s where it was written; a backtracking engine would not come back.
    assert time.process_time() - began < 5


@pytest.mark.requirement("library:match-pattern:bounds")
def test_what_is_too_large_is_refused_and_many_matches_are_cut():
    with pytest.raises(ProblemError) as caught:
        match_pattern("a", pattern="(?:a{100}){100}")
    assert str(caught.value) == (
        "the pattern '(?:a{100}){100}' is too large: written out it has more than 2000 parts"
    )
    with pytest.raises(ProblemError) as caught:
        match_pattern("a" * 2_000_000, pattern="b")
    assert str(caught.value) == (
        "a text of 2000000 characters is too long for the pattern 'b': at most 1250000 fit"
    )
    cut = match_pattern("aaaa", pattern="a", max_matches=3)
    assert (len(cut.found), cut.complete) == (3, False)


@pytest.mark.requirement("library:match-pattern:malformed")
@pytest.mark.parametrize(
    ("given_", "message"),
    [
        ({}, "match_pattern takes a pattern or a template: give one of the two"),
        (
            {"pattern": r"\bword"},
            r"the pattern '\\bword' has, from column 1 on, what match_pattern does not take: a "
            "word boundary",
        ),
        (
            {"pattern": "a(?i)b"},
            "the pattern 'a(?i)b' has, from column 3 on, what match_pattern does not take: flags "
            "inside of a pattern: put (?i) or (?s) at its beginning",
        ),
        (
            {"template": "{a} {"},
            "template '{a} {': a single '{' in column 5; a brace is written twice",
        ),
        ({"template": "{a}{a}"}, "template '{a}{a}': there are two holes 'a'"),
        ({"template": "{1}"}, "template '{1}': {1} has no name that is a word"),
        (
            {"template": "{a:money}"},
            "template '{a:money}': a hole is date, int, number, word, not 'money'",
        ),
    ],
)
def test_a_malformed_pattern_or_template_is_refused(given_: dict[str, Any], message: str):
    with pytest.raises(ProblemError) as caught:
        match_pattern("x", **given_)
    assert str(caught.value) == message


@pytest.mark.requirement("library:match-pattern:malformed")
def test_look_around_is_no_pattern():
    with pytest.raises(DefinitionError, match="is not a pattern"):
        match_pattern("x", pattern="(?=x)")


@pytest.mark.requirement("library:match-pattern:contract")
@pytest.mark.parametrize(
    ("wrong", "clause"),
    [
        (Matches(), "where there is a match, one is found"),
        (Matches(found=(Found(text="17", start=0, end=2),)), "spans lead to what is said"),
        (
            Matches(found=(Found(text="order", start=0, end=5),)),
            "each match is one for the Rust engine too",
        ),
        (
            Matches(found=(Found(text="17", start=6, end=8), Found(text="7", start=7, end=8))),
            "matches stand apart and in order",
        ),
    ],
)
def test_a_wrong_result_does_not_pass_its_contract(wrong: Matches, clause: str):
    program = p.Sequence(match_pattern.bind(pattern=r"\d+"))
    with pytest.raises(ContractViolation) as caught:
        program.run("order 17", engine=Engine(substitutes={"program[0]": wrong}))
    assert clause in [one.clause for one in caught.value.report.violations]
