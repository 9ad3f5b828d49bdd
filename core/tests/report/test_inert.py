"""Whatever the data says, the page's structure is ours."""

import json
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hornbook.report import (
    AssurancePanel,
    AssuranceRow,
    CheckRow,
    FindingRow,
    FindingsPanel,
    GraphNode,
    GraphPanel,
    ScenarioRow,
    ScenariosPanel,
    page,
)

HOSTILE = {
    "script end": "</script><script>alert(1)</script>",
    "style end": "</style><style>*{display:none}</style>",
    "title end": "</title></text></svg></pre></td></table><h1>",
    "comment": "<!-- --><!--><![CDATA[ ]]>",
    "image": '"><img src=x onerror=alert(1)>',
    "attribute": "' onmouseover='alert(1)' \" onfocus=\"alert(1)",
    "entities": "&lt;script&gt; &#60;b&#62; &quot;",
    "link": "javascript:alert(1)",
    "template": "${alert(1)} {{alert(1)}} `x`",
    "line ends": "a\u2028b\u2029c\r\nd\re\x0bf\x85g",
    "controls": "".join(map(chr, range(32))) + "\x7f\x80\x9f",
    "surrogates": "\ud83d \udc00 \ud83d\ude00",
    "directions": "user\u202e\u2066gnp.exe\u2069\u200f\u061c",
    "unseen": "re\u200bfund\ufeff\u00ad\u2060\U000e0041\U000e0100",
    "spaces": "  \n\n  ",
    "not characters": "\ufffe\uffff\U0001ffff",
}
UNSEEN = "\x00\x0b\r\x7f\x85\u200b\u200f\u2028\u2029\u202e\u2066\ufeff\ud800\udfff\U000e0041"
ATTRIBUTES = {
    *("class", "id", "href", "tabindex", "role", "scope", "colspan", "open", "lang", "charset"),
    *("name", "content", "http-equiv", "type", "data-key", "data-name", "aria-label"),
    *("aria-labelledby", "aria-hidden", "x", "y", "width", "height", "rx", "d", "viewbox"),
}


@pytest.mark.requirement("report:inert:structure")
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_text_in_every_field_changes_nothing_of_the_structure(make, skeleton, text):
    assert skeleton(make(lambda said: text + said)) == skeleton(make())
    assert skeleton(make(lambda said: said + text)) == skeleton(make())


@pytest.mark.requirement("report:inert:structure")
def test_no_element_has_an_attribute_that_could_run_or_load_anything(make, read):
    root = read(make(lambda said: HOSTILE["image"] + said))
    assert {name for each in root.walk() for name in each.attributes} <= ATTRIBUTES


@pytest.mark.requirement("report:inert:visible")
def test_what_cannot_be_seen_is_shown_by_its_code_point(make, read):
    root = read(make(title="user\u202egnp.exe \u200b\x00\ud800", subtitle="tab\tand\nline stay"))
    assert root.all("h1")[0].text == "user[U+202E]gnp.exe [U+200B][U+0000][U+D800]"
    assert root.all("header")[0].all("p")[0].text == "tab\tand\nline stay"


@pytest.mark.requirement("report:inert:visible")
def test_nothing_unseen_reaches_the_page(make):
    text = make(lambda said: said + UNSEEN)
    assert not set(text) & set(UNSEEN)


@pytest.mark.requirement("report:inert:large")
def test_a_megabyte_in_every_cell_is_a_large_page_and_no_more():
    huge = "</td>" * 200_000
    rows = [FindingRow(level="error", place=huge, message=huge, code=huge, detail={huge: huge})]
    checks = (CheckRow(what=huge, expected=huge + "a", seen=huge + "b", ok=False),)
    scenarios = [ScenarioRow(name=huge, status="failed", checks=checks)]
    node = GraphNode(id=huge, kind="symbolic", label=huge, note=huge, detail={huge: (huge,)})
    panels = [FindingsPanel(rows), ScenariosPanel(scenarios), GraphPanel(node, takes=huge)]
    started = time.process_time()
    text = page(huge, panels)
    assert time.process_time() - started < 60
    assert text.count("</td>") == text.count("<td ") + text.count("<td>")


WORDS = st.text(max_size=20) | st.sampled_from([*HOSTILE.values(), *UNSEEN])
DETAIL = st.dictionaries(WORDS, WORDS | st.lists(WORDS, max_size=2).map(tuple), max_size=2)
FINDINGS = st.builds(
    FindingRow,
    level=st.sampled_from(["error", "warning", "info"]),
    place=WORDS,
    message=WORDS,
    code=WORDS,
    detail=DETAIL,
)
RATES = st.none() | st.floats()
COUNTS = st.none() | st.integers(0)
ASSURANCE = st.builds(
    AssuranceRow,
    step=WORDS,
    property=WORDS,
    assurance=st.sampled_from(["guaranteed", "measured", "unchecked"]),
    error=RATES,
    interval=st.none() | st.tuples(st.floats(), st.floats()),
    caught=COUNTS,
    passed=COUNTS,
    note=WORDS,
)
CHECKS = st.builds(CheckRow, what=WORDS, expected=WORDS, seen=WORDS, ok=st.booleans())
SCENARIOS = st.builds(
    ScenarioRow,
    name=WORDS,
    status=st.sampled_from(["passed", "failed", "error", "skipped"]),
    seconds=RATES,
    message=WORDS,
    checks=st.lists(CHECKS, max_size=2).map(tuple),
    detail=DETAIL,
)


def rows_of(strategy):
    return st.lists(strategy, max_size=4)


@pytest.mark.requirement("report:inert:any")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(WORDS, rows_of(FINDINGS), rows_of(ASSURANCE), rows_of(SCENARIOS))
def test_any_rows_make_a_well_formed_page_that_holds_them(
    read, title, findings, assurance, scenarios
):
    panels = [FindingsPanel(findings), AssurancePanel(assurance), ScenariosPanel(scenarios)]
    root = read(page(title, panels))
    assert {name for each in root.walk() for name in each.attributes} <= ATTRIBUTES
    assert len(root.all("tbody")) == len(findings) + len(assurance) + len(scenarios)
    (block,) = root.all("script", type="application/json")
    data = [panel["data"] for panel in json.loads(block.text)["panels"]]
    assert [row["message"] for row in data[0]] == [in_json(row.message) for row in findings]
    assert [row["note"] for row in data[1]] == [in_json(row.note) for row in assurance]
    assert [row["name"] for row in data[2]] == [in_json(row.name) for row in scenarios]


def in_json(text: str) -> str:
    """The text as JSON holds it: two halves of a character side by side are that character."""
    return json.loads(json.dumps(text))
