"""The page in a real browser: it runs under its own policy, and does what it should.

There is no driver: a page gets one more panel whose script acts as a reader would and writes
what it saw into the document, and the browser hands that document back.
"""

import re
import shutil
import subprocess
import sys
from dataclasses import dataclass

import pytest

from hornbook.report import (
    Asset,
    AssurancePanel,
    FindingsPanel,
    GraphNode,
    GraphPanel,
    Markup,
    ScenariosPanel,
    VerdictPanel,
    page,
)

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
BROWSER = next(filter(None, map(shutil.which, NAMES)), None)
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"),
    *("--disable-background-networking", "--enable-logging=stderr", "--virtual-time-budget=3000"),
)

pytestmark = [
    pytest.mark.ci,
    pytest.mark.skipif(BROWSER is None, reason=f"none of {', '.join(NAMES)} is on PATH"),
    pytest.mark.skipif(sys.platform == "win32", reason="the browser writes to no pipe there"),
]
HOSTILE = '</script></title><img src=x onerror="document.documentElement.dataset.bad=1"><!--'


@dataclass
class Seen:
    """What a browser made of a page."""

    document: str
    console: list[str]


@pytest.fixture
def browse(tmp_path):
    def browse(text, *flags, fragment=""):
        file = tmp_path / "page.html"
        file.write_text(text, encoding="utf-8")
        profile = f"--user-data-dir={tmp_path / 'profile'}"
        command = [BROWSER, *FLAGS, profile, *flags, "--dump-dom", f"{file.as_uri()}{fragment}"]
        done = subprocess.run(command, capture_output=True, timeout=120, check=True)
        lines = done.stderr.decode(errors="replace").splitlines()
        return Seen(done.stdout.decode(), [line for line in lines if "CONSOLE" in line])

    return browse


class Probe:
    """A panel whose script acts as a reader would; what it returns is written down."""

    title = "Probe"

    def __init__(self, script, markup=""):
        self.script, self.markup = script, markup

    def assets(self):
        body = f"document.documentElement.dataset.seen = (() => {{ {self.script} }})();"
        return (Asset("probe.js", body),)

    def places(self):
        return ()

    def data(self):
        return None

    def render(self, setting):
        return Markup(self.markup)


def panels(example):
    return [
        VerdictPanel(example.verdict),
        FindingsPanel(example.findings),
        AssurancePanel(example.assurance),
        ScenariosPanel(example.scenarios),
        GraphPanel(example.graph),
    ]


@pytest.fixture
def probe(browse, example):
    def probe(script, **options):
        seen = browse(page("Title", [*panels(example), Probe(script)]), **options)
        assert seen.console == []
        return re.search(r'<html [^>]*data-seen="([^"]*)"', seen.document)[1]

    return probe


@pytest.mark.requirement("report:browser:clean")
@pytest.mark.parametrize("scheme", [0, 1], ids=["dark", "light"])
def test_the_page_runs_without_a_word_on_the_console(browse, make, scheme):
    seen = browse(make(), f"--blink-settings=preferredColorScheme={scheme}")
    assert seen.console == []
    assert '<html lang="en" data-script="on">' in seen.document


@pytest.mark.requirement("report:browser:inert")
def test_hostile_text_does_nothing_in_a_browser(browse, make):
    seen = browse(make(lambda text: HOSTILE + text))
    assert seen.console == []
    assert "data-script" in seen.document
    assert "data-bad" not in seen.document
    assert "<img" not in seen.document


@pytest.mark.requirement("report:browser:policy")
@pytest.mark.parametrize(
    ("markup", "script"),
    [
        ("<img src=x onerror='document.documentElement.dataset.bad = 1'>", ""),
        ("<script>document.documentElement.dataset.bad = 1</script>", ""),
        ("<p style='color: red'>x</p>", ""),
        ("<a href=#x onclick='1'>x</a>", ""),
        ("", "document.querySelector('main').innerHTML = '<p>x</p>'"),
        ("", "eval('document.documentElement.dataset.bad = 1')"),
        ("", "fetch('data:text/plain,x')"),
    ],
    ids=["image", "script", "style", "handler", "markup sink", "eval", "fetch"],
)
def test_the_policy_stops_what_a_careless_panel_would_do(browse, markup, script):
    seen = browse(page("Title", [Probe(script, markup)]))
    assert seen.console
    assert "Content Security Policy" in seen.console[0] or "Trusted" in seen.console[0]
    assert "data-bad" not in seen.document


@pytest.mark.requirement("report:browser:sort")
def test_a_click_on_a_heading_sorts_both_ways(probe):
    script = """
      const table = document.querySelectorAll("table")[2];
      const [status, , , time] = table.querySelectorAll("th button");
      const names = () => [...table.tBodies].map((body) => body.rows[0].cells[1].textContent);
      const seen = [names()];
      for (const button of [time, time, status]) { button.click(); seen.push(names()); }
      seen.push([...table.querySelectorAll("[aria-sort]")].map((each) => each.ariaSort));
      return seen.join("; ");
    """
    assert probe(script).split("; ") == [
        "conflicting dates,one date,no names",
        "one date,conflicting dates,no names",
        "conflicting dates,one date,no names",
        "conflicting dates,no names,one date",
        "ascending",
    ]


@pytest.mark.requirement("report:browser:filter")
def test_rows_can_be_found_by_text_and_by_choice(probe):
    script = """
      const controls = document.querySelectorAll(".controls")[2];
      const table = document.querySelectorAll("table")[2];
      const [find, select] = controls.querySelectorAll("input, select");
      const told = () => {
        const shown = [...table.tBodies].filter((body) => body.offsetHeight > 0);
        return [controls.querySelector("[role=status]").textContent, shown.length].join(" = ");
      };
      const set = (control, value) => {
        control.value = value;
        control.dispatchEvent(new Event("input", { bubbles: true }));
        return told();
      };
      const options = [...select.options].map((each) => each.value);
      const found = [set(find, "NOT IN THE SOURCE"), set(find, "")];
      return [told(), ...found, set(select, "passed"), options].join("; ");
    """
    assert probe(script).split("; ") == [
        "3 rows = 3",
        "1 of 3 rows = 1",
        "3 rows = 3",
        "1 of 3 rows = 1",
        ",failed,passed,skipped",
    ]


CHOSEN = """
  const shown = () => [...document.querySelectorAll(".entries > li")]
    .filter((each) => each.offsetHeight > 0)
    .map((each) => each.querySelector(".place").textContent);
  const nodes = [...document.querySelectorAll(".drawing a")];
  const press = (key) => document.activeElement.dispatchEvent(
    new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
"""


@pytest.mark.requirement("report:browser:choose")
def test_a_node_shows_its_detail_on_focus_click_and_arrow_keys(probe):
    script = f"""{CHOSEN}
      const seen = [shown()];
      nodes[1].focus(); seen.push(shown());
      press("ArrowDown"); seen.push(shown());
      press("ArrowLeft"); seen.push(shown());
      nodes[4].dispatchEvent(new MouseEvent("click", {{ bubbles: true, cancelable: true }}));
      seen.push(shown());
      seen.push(document.querySelectorAll("[aria-current]").length);
      document.querySelector(".graph button").click(); seen.push(shown().length);
      return seen.join("; ");
    """
    assert probe(script).split("; ") == ["p", "p[0]", "p[0].names", "p[0]", "p[0].dates", "1", "14"]


@pytest.mark.requirement("report:browser:choose")
def test_a_link_to_a_node_opens_its_detail(probe):
    script = f"""{CHOSEN}
      const seen = [shown()];
      const link = document.querySelector("#panel-1 a.place");
      for (const node of [nodes[0], nodes[0]]) {{
        node.focus(); seen.push(shown()); link.click(); seen.push(shown());
      }}
      return seen.join("; ");
    """
    seen = probe(script, fragment="#place-4-1").split("; ")
    assert seen == ["p[0]", "p", "p[1].yes", "p", "p[1].yes"]


@pytest.mark.requirement("report:browser:keyboard")
def test_everything_that_can_be_used_is_reached_by_the_keyboard(probe):
    script = """
      const used = document.querySelectorAll("a, button, select, input, summary, .table, .drawing");
      return [...used].filter((each) => each.tabIndex < 0).length;
    """
    assert probe(script) == "0"


@pytest.mark.requirement("report:browser:narrow")
@pytest.mark.parametrize("width", [500, 800, 1400])
def test_only_what_scrolls_by_itself_is_wider_than_the_screen(browse, example, width):
    script = """
      const page = document.documentElement;
      return [page.clientWidth, page.scrollWidth - page.clientWidth];
    """
    long = GraphNode(id="p" * 300, kind="neural", label="w" * 300, detail={"d" * 300: "e" * 300})
    text = page("t" * 300, [*panels(example), GraphPanel(long), Probe(script)])
    seen = browse(text, f"--window-size={width},900", "--hide-scrollbars")
    assert f'data-seen="{width},0"' in seen.document


@pytest.mark.requirement("report:browser:plain")
def test_without_its_scripts_the_page_shows_everything(browse, make):
    # A policy that allows no script at all is a browser without JavaScript.
    text = re.sub(r"script-src [^;]*", "script-src 'none'", make())
    seen = browse(text)
    assert "data-script" not in seen.document
    assert " hidden" not in re.sub(r"<(style|script).*?</\1>", "", seen.document, flags=re.DOTALL)
    assert 'class="controls"' not in seen.document
    assert 'class="entries one"' not in seen.document
