import base64
import hashlib
import json
import re

import pytest

from hornbook.errors import DefinitionError
from hornbook.report import Asset, Markup, page, tag

POLICY = (
    r"default-src 'none'; style-src ((?:'sha256-[\w+/=]+' ?)+);"
    r" script-src ((?:'sha256-[\w+/=]+' ?)+); base-uri 'none'; form-action 'none';"
    r" require-trusted-types-for 'script'; trusted-types 'none'"
)


LINKED = ("here", "here#12", "loop#3.until", "elsewhere#1")


class Note:
    """A panel of one's own."""

    title = "Note"

    def __init__(self, text="hello", assets=(), places=(), data=None):
        self._text, self._assets, self._places, self._data = text, assets, places, data

    def assets(self):
        return self._assets

    def places(self):
        return self._places

    def data(self):
        return self._data

    def render(self, setting):
        marks = [tag("b", each, id=setting.id_of(n)) for n, each in enumerate(self._places)]
        return tag("p", self._text, *marks, *map(setting.link, LINKED))


def source(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


@pytest.mark.requirement("report:page:policy")
def test_the_policy_allows_its_own_styles_and_scripts_by_hash_and_nothing_else(make, read):
    root = read(make())
    (policy,) = root.all("meta", **{"http-equiv": "Content-Security-Policy"})
    found = re.fullmatch(POLICY, policy.attributes["content"])
    assert found[1].split() == [source(each.text) for each in root.all("style")]
    scripts = [each for each in root.all("script") if "type" not in each.attributes]
    assert found[2].split() == [source(each.text) for each in scripts]
    assert len(scripts) == 3
    assert all(each.attributes == {} for each in scripts + root.all("style"))


@pytest.mark.requirement("report:page:policy")
def test_the_policy_stands_before_all_that_it_governs(make, read):
    (head,) = read(make()).all("head")
    names = [each.name for each in head.children]
    assert names[:2] == ["meta", "meta"]
    assert head.children[1].attributes["http-equiv"] == "Content-Security-Policy"


@pytest.mark.requirement("report:page:alone")
def test_a_page_names_no_address_and_links_only_into_itself(make, read):
    text = make()
    assert re.findall(r"[a-z]+://|url\(|@import|\bsrc=", text, re.IGNORECASE) == []
    root = read(text)
    ids = [each.attributes["id"] for each in root.walk() if "id" in each.attributes]
    assert len(set(ids)) == len(ids)
    links = [each.attributes["href"] for each in root.walk() if "href" in each.attributes]
    assert {link[0] for link in links} == {"#"}
    assert {link[1:] for link in links} <= set(ids)
    labels = [each.attributes.get("aria-labelledby") for each in root.all("section")]
    assert set(labels) <= set(ids)


@pytest.mark.requirement("report:page:deterministic")
def test_equal_input_gives_equal_bytes(make):
    assert make().encode() == make().encode()


@pytest.mark.requirement("report:page:data")
def test_the_data_stands_in_the_page_exactly(read):
    data = {"text": "</script><!-- & \u2028\u2029\x7f\ud800", "numbers": [1, 2.5, None, True]}
    text = page("Title", [Note(data=data)], subtitle="sub")
    (block,) = read(text).all("script", type="application/json")
    assert re.search("[<>&\u2028\u2029\x7f]", block.text) is None
    panels = [{"panel": "Note", "title": "Note", "data": data}]
    assert json.loads(block.text) == {"title": "Title", "subtitle": "sub", "panels": panels}


@pytest.mark.requirement("report:page:panels")
def test_a_panel_of_ones_own_brings_its_assets_and_places(read):
    shared = Asset("note.css", "p { color: red }")
    own = Asset("note.js", "/* own */")
    panels = [
        Note(assets=(shared,)),
        Note(assets=(shared, own), places=("there", "here", "loop#1.until")),
    ]
    root = read(page("Title", panels))
    assert [each.text for each in root.all("style")].count(shared.text) == 1
    assert [each.text for each in root.all("script")].count(own.text) == 1
    # Both panels link to what the second one shows; a later round stands for its step.
    links = root.all("a", class_="place")
    anchors = ["#place-1-1", "#place-1-1", "#place-1-2"]
    assert [each.attributes["href"] for each in links] == anchors * 2
    assert [each.text for each in links] == [*LINKED[:3]] * 2
    assert root.all("b", id="place-1-1")[0].text == "here"


@pytest.mark.requirement("report:page:panels")
@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.js", "1 </SCRIPT >", "asset 'a.js' contains '</SCRIPT', which ends its element"),
        ("a.css", "/* </style */", "asset 'a.css' contains '</style', which ends its element"),
        ("a.js", "'<!--'", "asset 'a.js' contains '<!--', which ends its element"),
        ("a.txt", "", "asset 'a.txt' is neither .css nor .js"),
    ],
)
def test_an_asset_that_could_break_out_is_refused(name, text, message):
    with pytest.raises(DefinitionError) as refusal:
        Asset(name, text)
    assert str(refusal.value) == message


@pytest.mark.requirement("report:page:panels")
def test_a_page_of_no_panels_is_a_page(read):
    root = read(page("Empty", []))
    assert root.all("h1")[0].text == root.all("title")[0].text == "Empty"
    assert root.all("nav") == root.all("section") == []


@pytest.mark.requirement("report:page:contents")
def test_several_panels_are_listed_on_top(make, read):
    root = read(make())
    (nav,) = root.all("nav")
    titles = ["Verdict", "Findings", "Assurance", "Scenarios", "Program"]
    assert [each.text for each in nav.all("a")] == titles
    assert [each.text for each in root.all("h2")] == titles


@pytest.mark.requirement("report:markup:escaped")
def test_markup_escapes_every_text_and_attribute():
    made = tag("p", "<b>", Markup("<b></b>"), title='"x" & y', hidden=True, lang=None, open=False)
    assert made.text == '<p title="&quot;x&quot; &amp; y" hidden>&lt;b&gt;<b></b></p>'
    assert tag("meta", charset="utf-8").text == '<meta charset="utf-8">'
