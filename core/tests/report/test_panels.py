import json

import pytest

from hornbook.errors import DefinitionError
from hornbook.report import (
    AssurancePanel,
    AssuranceRow,
    CheckRow,
    Count,
    FindingRow,
    FindingsPanel,
    GraphNode,
    GraphPanel,
    ScenarioRow,
    ScenariosPanel,
    StepRow,
    Verdict,
    VerdictPanel,
    ViolationRow,
    page,
    program_page,
    verification_page,
)


def rows(root):
    """The texts of each first row, cell by cell."""
    return [[cell.text for cell in body.all("tr")[0].all("td")] for body in root.all("tbody")]


@pytest.fixture
def shown(read):
    return lambda *panels: read(page("Title", panels))


@pytest.mark.requirement("report:assurance:table")
def test_the_assurance_table_says_what_is_guaranteed_measured_and_unchecked(shown):
    table = [
        AssuranceRow(step="p[0]", property="grounded", assurance="guaranteed", caught=9, passed=0),
        AssuranceRow(
            step="p[0]",
            property="complete",
            assurance="measured",
            error=0.042,
            interval=(0.012, 0.0934),
            note="120 examples",
        ),
        AssuranceRow(step="p[1]", property="true", assurance="unchecked", error=float("nan")),
    ]
    root = shown(AssurancePanel(table))
    dash = "\N{EN DASH}"
    assert rows(root) == [
        ["p[0]", "grounded", "guaranteed", dash, "9", "0", ""],
        ["p[0]", "complete", "measured", "4.2 % (1.2 to 9.3)", dash, dash, "120 examples"],
        ["p[1]", "true", "unchecked", dash, dash, dash, ""],
    ]
    (lead,) = root.all("p", class_="lead")
    assert lead.text == "Of 3 properties: 1 guaranteed, 1 measured, 1 unchecked."
    headings = [each.text for each in root.all("th")]
    names = [cell.attributes["data-name"] for cell in root.all("tbody")[0].all("td")]
    assert headings == names


@pytest.mark.requirement("report:findings:table")
def test_findings_unfold_their_detail_and_errors_are_open(shown):
    detail = {"What to do": "add a contract"}
    table = [
        FindingRow(level="error", place="p", message="no contract", code="bare", detail=detail),
        FindingRow(level="warning", place="q", message="idle clause", detail=detail),
        FindingRow(level="info", place="r", message="14 calls"),
    ]
    root = shown(FindingsPanel(table))
    assert rows(root) == [
        ["error", "no contractbare", "p"],
        ["warning", "idle clause", "q"],
        ["info", "14 calls", "r"],
    ]
    assert ["open" in each.attributes for each in root.all("details")] == [True, False]
    assert root.all("dt")[0].text == "What to do"


@pytest.mark.requirement("report:scenarios:table")
def test_scenarios_show_what_was_expected_and_what_was_seen(make, read, example):
    root = read(make())
    section = root.all("section", id="panel-3")[0]
    dash = "\N{EN DASH}"
    assert rows(section) == [
        ["failed", "conflicting dates", "the output differs", "1.50 s"],
        ["passed", "one date", "", "12.3 ms"],
        ["skipped", "no names", "needs a model", dash],
    ]
    (more,) = section.all("details")
    assert "open" in more.attributes
    assert [each.text for each in more.all("pre")] == ["a 3 b", "a 5 b", "at most 4", "3", "same"]
    assert [each.text for each in more.all("mark")] == ["3", "5"]
    assert [each.text for each in more.all("figcaption")] == [
        *("Expected", "Seen", "Expected", "Seen", "Expected and seen"),
    ]
    (steps,) = more.all("ul", class_="steps")
    assert [(each.attributes["class"], each.text) for each in steps.all("li")] == [
        ("depth-0", "p ok 1.50 s"),
        ("depth-1", "p[2] recovered 2 attempts"),
        ("depth-8", "p[3] failed timed out"),
    ]
    assert "p[0].names grounded at [1].name: not in the source" in more.text


@pytest.mark.requirement("report:scenarios:table")
@pytest.mark.parametrize(
    ("expected", "seen", "marks"),
    [
        ("abc", "abc", []),
        ("abcd", "abXcd", ["X"]),
        ("abXcd", "abcd", ["X"]),
        ("aaa", "aa", ["a"]),
        ("abc", "xyz", []),
        ("", "x", []),
    ],
)
def test_only_where_two_texts_share_something_is_the_rest_marked(shown, expected, seen, marks):
    check = CheckRow(what="output", expected=expected, seen=seen, ok=False)
    root = shown(ScenariosPanel([ScenarioRow(name="s", status="failed", checks=(check,))]))
    assert [each.text for each in root.all("pre")] == [expected, seen]
    assert [each.text for each in root.all("mark")] == marks


@pytest.mark.requirement("report:verdict:banner")
def test_the_banner_says_it_in_words_and_counts(shown):
    counts = (Count(label="passed", value=12, tone="ok"), Count(label="caught", value="3 of 4"))
    good = Verdict(ok=True, headline="Every check holds.", counts=counts, facts={"Digest": "abc"})
    root = shown(VerdictPanel(good))
    (banner,) = root.all("div", class_="verdict")
    assert banner.text == "PassedEvery check holds.passed12caught3 of 4Digestabc"
    root = shown(VerdictPanel(Verdict(ok=False, headline="Two do not.")))
    assert root.all("div", class_="verdict")[0].text == "FailedTwo do not."


@pytest.mark.requirement("report:panels:empty")
def test_a_panel_with_nothing_to_show_says_so(read):
    root = read(verification_page("Title", Verdict(ok=True, headline="Fine.")))
    assert [each.text for each in root.all("p", class_="empty")] == [
        "Nothing was found.",
        "No step has a property to assure.",
        "No scenario was run.",
    ]
    assert root.all("table") == root.all("svg", role="group") == []


@pytest.mark.requirement("report:graph:nodes")
def test_each_node_of_the_drawing_links_to_its_entry_with_all_its_detail(shown, example):
    root = shown(GraphPanel(example.graph, takes="str", gives="Answer"))
    (drawing,) = root.all("svg")
    nodes = list(example.graph.walk())
    links = [each.attributes["href"] for each in drawing.all("a")]
    entries = root.all("ol", class_="entries")[0].children
    anchors = [f"#{each.attributes['id']}" for each in entries]
    # In the drawing, a child that needs another stands and is reached after it.
    assert links != anchors
    assert sorted(links) == sorted(anchors)
    for node, entry in zip(nodes, entries, strict=True):
        terms = [each.text for each in entry.all("dt")]
        around = {"Called": node.port, "Needs": node.needs, "Inside": node.children}
        assert terms == [*node.detail, *(term for term, told in around.items() if told)]
        assert entry.all("h3")[0].text == f"{node.label} {node.kind}"
        assert entry.all("span", class_="place")[0].text == node.id
    ends = [each.text for each in drawing.all("text", class_="end")]
    assert ends == ["str", "Answer"]
    ports = [each.text for each in drawing.all("text", class_="port")]
    assert sorted(ports) == ["again", "dates", "else", "names", "no", "raw", "yes"]


@pytest.mark.requirement("report:graph:nodes")
def test_the_drawing_shows_the_start_of_long_texts(shown):
    node = GraphNode(id="p", kind="neural", label="extract " * 9, note="\u8868" * 40)
    (drawing,) = shown(GraphPanel(node)).all("svg")
    assert [each.text for each in drawing.all("text")] == [
        *("input", "output", "extract extract extract e…", "neural", "\u8868" * 15 + "…"),
    ]


@pytest.mark.requirement("report:graph:deep")
def test_what_is_too_deep_to_draw_is_listed(shown):
    node = GraphNode(id="0", kind="symbolic", label="innermost")
    for number in range(1, 1500):
        node = GraphNode(id=f"{number}", kind="sequence", label="outer", children=(node,))
    root = shown(GraphPanel(node))
    assert len(root.all("ol")[0].children) == 1500
    assert len(root.all("svg")[0].all("a")) == 41
    assert "sequence, more inside" in root.all("svg")[0].text


@pytest.mark.requirement("report:graph:links")
def test_findings_assurance_and_steps_lead_to_the_node(make, read):
    root = read(make())
    tables = [*root.all("tbody"), *root.all("ul", class_="steps")]
    places = [each for table in tables for each in table.all("a", class_="place")]
    links = {each.text: each.attributes["href"] for each in places}
    assert links == {
        "p": "#place-4-0",
        "p[0].names": "#place-4-2",
        "p[1].yes": "#place-4-7",
        "p[2]": "#place-4-9",
        "p[3]": "#place-4-11",
    }
    assert "elsewhere" in [each.text for each in root.all("span", class_="place")]


@pytest.mark.requirement("report:graph:data")
def test_the_data_of_a_program_is_a_flat_list(read):
    inner = GraphNode(id="p[0]", kind="symbolic", label="f", detail={"Takes": ("a", "b")}, port="x")
    root = GraphNode(id="p", kind="parallel", label="g", children=(inner,))
    text = program_page("Title", root, takes="A", gives="B", facts={"Calls": "none"})
    (block,) = read(text).all("script", type="application/json")
    facts, graph = json.loads(block.text)["panels"]
    assert facts == {"panel": "FactsPanel", "title": "At a glance", "data": {"Calls": "none"}}
    usual = {"note": "", "needs": [], "tone": "plain", "detail": {}, "port": ""}
    assert graph["data"] == {
        "takes": "A",
        "gives": "B",
        "nodes": [
            usual | {"id": "p", "kind": "parallel", "label": "g", "children": ["p[0]"]},
            usual
            | {"id": "p[0]", "kind": "symbolic", "label": "f", "children": [], "port": "x"}
            | {"detail": {"Takes": ["a", "b"]}},
        ],
    }


@pytest.mark.requirement("report:panels:pages")
def test_a_program_page_shows_only_what_it_is_given(read):
    node = GraphNode(id="p", kind="symbolic", label="f")
    titles = [each.text for each in read(program_page("f", node)).all("h2")]
    assert titles == ["Program"]
    findings = [FindingRow(level="info", place="p", message="none")]
    full = program_page("f", node, facts={"Calls": "0"}, findings=findings)
    assert [each.text for each in read(full).all("h2")] == ["At a glance", "Program", "Findings"]


@pytest.mark.requirement("report:rows:closed")
@pytest.mark.parametrize(
    ("make_row", "message"),
    [
        (
            lambda: GraphNode(id="p", kind="magic", label=""),
            "graph node 'p': kind 'magic' is none of sequence, parallel, conditional, iterate,"
            " fallback, symbolic, neural, contract, constant, pass",
        ),
        (
            lambda: GraphNode(
                id="p",
                kind="neural",
                label="",
                children=(GraphNode(id="q", kind="pass", label=""),),
            ),
            "graph node 'p' is neural and has children; only conditional, fallback, iterate,"
            " parallel, sequence have nodes inside",
        ),
        (
            lambda: FindingRow(level="fatal", place="p", message=""),
            "finding at 'p': level 'fatal' is none of error, warning, info",
        ),
        (
            lambda: AssuranceRow(step="p", property="", assurance="sure"),
            "assurance row of 'p': assurance 'sure' is none of guaranteed, measured, unchecked",
        ),
        (
            lambda: ScenarioRow(name="s", status="ok"),
            "scenario 's': status 'ok' is none of passed, failed, error, skipped",
        ),
        (
            lambda: StepRow(place="p", status="ok", tone="red"),
            "step row 'p': tone 'red' is none of plain, ok, warning, error",
        ),
        (
            lambda: Count(label="n", value=1, tone="red"),
            "count 'n': tone 'red' is none of plain, ok, warning, error",
        ),
    ],
)
def test_a_word_that_is_none_of_a_closed_set_is_refused(make_row, message):
    with pytest.raises(DefinitionError) as refusal:
        make_row()
    assert str(refusal.value) == message


HUGE = 10**5000


@pytest.mark.requirement("report:rows:shown")
@pytest.mark.parametrize(
    ("make_row", "message"),
    [
        (lambda: Count(label="n", value=HUGE), "count 'n': value is too large a number to show"),
        (lambda: Count(label="n", value=None), "count 'n': value is a number, not NoneType"),
        (
            lambda: AssuranceRow(step="p", property="", assurance="measured", error=HUGE),
            "assurance row of 'p': error is too large a number to show",
        ),
        (
            lambda: AssuranceRow(step="p", property="", assurance="measured", interval=(0, -HUGE)),
            "assurance row of 'p': the upper limit is too large a number to show",
        ),
        (
            lambda: AssuranceRow(step="p", property="", assurance="measured", interval=(0.5,)),
            "assurance row of 'p': interval is two numbers, the lower and the upper limit",
        ),
        (
            lambda: AssuranceRow(step="p", property="", assurance="measured", error="0.1"),
            "assurance row of 'p': error is a number, not str",
        ),
        (
            lambda: FindingRow(level="info", place=None, message=""),
            "finding at None: place is a text, not NoneType",
        ),
        (
            lambda: FindingRow(level="info", place="p", message=7),
            "finding at 'p': message is a text, not int",
        ),
        (
            lambda: ScenarioRow(name="s", status="passed", seconds=HUGE),
            "scenario 's': seconds is too large a number to show",
        ),
        (
            lambda: StepRow(place="p", status="ok", attempts=HUGE),
            "step row 'p': attempts is too large a number to show",
        ),
        (
            lambda: ViolationRow(step="p", clause="c", message=None),
            "violation at 'p': message is a text, not NoneType",
        ),
        (
            lambda: CheckRow(what="w", expected=1, seen="1", ok=False),
            "check 'w': expected is a text, not int",
        ),
        (lambda: Verdict(ok=True, headline=None), "verdict: headline is a text, not NoneType"),
        (
            lambda: GraphNode(id="p", kind="symbolic", label=None),
            "graph node 'p': label is a text, not NoneType",
        ),
    ],
)
def test_what_could_not_be_shown_is_refused(make_row, message):
    with pytest.raises(DefinitionError) as refusal:
        make_row()
    assert str(refusal.value) == message
