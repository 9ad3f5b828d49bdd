"""Reading a page back, strictly, and examples of everything that a page can show."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from types import SimpleNamespace
from typing import Any

import pytest

from hornbook import report
from hornbook.report import (
    AssuranceRow,
    CheckRow,
    Count,
    FindingRow,
    GraphNode,
    ScenarioRow,
    StepRow,
    Verdict,
    ViolationRow,
)

VOID = {"meta", "br", "link", "input"}


@dataclass
class Element:
    """An element as it was read."""

    name: str
    attributes: dict[str, str | None] = field(default_factory=dict)
    children: "list[Element | str]" = field(default_factory=list)

    def walk(self) -> "Iterator[Element]":
        """Go through this element and all inside it."""
        waiting = [self]
        while waiting:
            element = waiting.pop()
            yield element
            inner = [child for child in element.children if isinstance(child, Element)]
            waiting.extend(reversed(inner))

    def all(self, name: str, **attributes: str) -> "list[Element]":
        """Find what has the name and, of the attributes given, these values."""
        wanted = {key.rstrip("_"): value for key, value in attributes.items()}
        return [
            each
            for each in self.walk()
            if each.name == name and wanted.items() <= each.attributes.items()
        ]

    @property
    def text(self) -> str:
        """All text inside."""
        parts = (each if isinstance(each, str) else each.text for each in self.children)
        return "".join(parts)


class _Reader(HTMLParser):
    """Refuses what a browser would mend: open elements, double attributes, comments."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("#document")
        self.open = [self.root]

    def handle_starttag(self, tag, attrs):
        assert len(dict(attrs)) == len(attrs), f"<{tag}> has an attribute twice"
        element = Element(tag, dict(attrs))
        self.open[-1].children.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_endtag(self, tag):
        assert self.open.pop().name == tag, f"</{tag}> closes something else"

    def handle_data(self, data):
        self.open[-1].children.append(data)

    def handle_comment(self, data):
        raise AssertionError(f"a comment: {data!r}")

    def handle_decl(self, decl):
        assert decl == "DOCTYPE html"

    def handle_pi(self, data):
        raise AssertionError(f"an instruction: {data!r}")

    unknown_decl = handle_pi


def _read(page: str) -> Element:
    page.encode()
    reader = _Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == [reader.root]
    return reader.root


def _skeleton(page: str) -> list[Any]:
    """Give the elements and the names of their attributes, without any text."""
    return [(each.name, tuple(each.attributes), len(each.children)) for each in _read(page).walk()]


def _graph(say: Callable[[str], str]) -> GraphNode:
    def leaf(place: str, kind: Any, label: str, **more: Any) -> GraphNode:
        detail = {say("Takes"): say("str"), say("Contract"): (say("not empty"), say("grounded"))}
        return GraphNode(
            id=say(place), kind=kind, label=say(label), note=say("str"), detail=detail, **more
        )

    names = leaf("p[0].names", "neural", "entities", port=say("names"), tone="warning")
    dates = leaf("p[0].dates", "symbolic", "dates", port=say("dates"), needs=(names.port,))
    raw = leaf("p[0].raw", "pass", "unchanged", port=say("raw"))
    test = leaf("p[1].test", "contract", "conflicting")
    yes = leaf("p[1].yes", "neural", "resolve", port=say("yes"), tone="error")
    no = leaf("p[1].no", "constant", "none", port=say("no"))
    parts = (
        GraphNode(id=say("p[0]"), kind="parallel", label=say("all"), children=(names, dates, raw)),
        GraphNode(id=say("p[1]"), kind="conditional", label=say("if"), children=(test, yes, no)),
        GraphNode(
            id=say("p[2]"),
            kind="iterate",
            label=say("until"),
            note=say("at most 3 rounds"),
            children=(leaf("p[2].body", "symbolic", "refine"),),
        ),
        GraphNode(
            id=say("p[3]"),
            kind="fallback",
            label=say("either"),
            children=(leaf("p[3].0", "neural", "strict"), leaf("p[3].1", "symbolic", "lenient")),
        ),
    )
    return GraphNode(id=say("p"), kind="sequence", label=say("answer"), children=parts)


def _scenarios(say: Callable[[str], str]) -> tuple[ScenarioRow, ...]:
    failed = ScenarioRow(
        name=say("conflicting dates"),
        status="failed",
        seconds=1.5,
        message=say("the output differs"),
        checks=(
            CheckRow(what=say("output"), expected=say("a 3 b"), seen=say("a 5 b"), ok=False),
            CheckRow(what=say("calls"), expected=say("at most 4"), seen=say("3"), ok=True),
            CheckRow(what=say("kind"), expected=say("same"), seen=say("same"), ok=True),
        ),
        violations=(
            ViolationRow(
                step=say("p[0].names"),
                clause=say("grounded"),
                message=say("not in the source"),
                path=say("[1].name"),
            ),
        ),
        steps=(
            StepRow(place=say("p"), status=say("ok"), seconds=1.5),
            StepRow(place=say("p[2]"), status=say("recovered"), depth=1, attempts=2),
            StepRow(place=say("p[3]"), status=say("failed"), depth=99, note=say("timed out")),
        ),
        detail={say("File"): say("dates.toml, line 3")},
    )
    return (
        failed,
        ScenarioRow(name=say("one date"), status="passed", seconds=0.0123),
        ScenarioRow(name=say("no names"), status="skipped", message=say("needs a model")),
    )


def _everything(say: Callable[[str], str]) -> dict[str, Any]:
    step = say("p[0].names")
    return {
        "title": say("answer"),
        "subtitle": say("verified"),
        "verdict": Verdict(
            ok=False,
            headline=say("1 of 3 scenarios failed."),
            counts=(Count(label=say("passed"), value=say("1 of 3"), tone="ok"),),
            facts={say("Program"): say("answer")},
        ),
        "findings": [
            FindingRow(
                level="error",
                place=say("p[1].yes"),
                message=say("no contract"),
                code=say("unchecked-output"),
                detail={say("What to do"): (say("add"), say("or say why"))},
            ),
            FindingRow(level="info", place=say("elsewhere"), message=say("at most 14 calls")),
        ],
        "assurance": [
            AssuranceRow(step=step, property=say("grounded"), assurance="guaranteed", caught=9),
            AssuranceRow(
                step=step,
                property=say("complete"),
                assurance="measured",
                error=0.042,
                interval=(0.012, 0.093),
                caught=4,
                passed=6,
                note=say("120 examples"),
            ),
        ],
        "scenarios": _scenarios(say),
        "graph": _graph(say),
        "takes": say("str"),
        "gives": say("Answer"),
    }


def _page(say: Callable[[str], str] = lambda text: text, **changes: Any) -> str:
    fields: Mapping[str, Any] = _everything(say) | changes
    return report.verification_page(**fields)


@pytest.fixture
def read() -> Callable[[str], Element]:
    return _read


@pytest.fixture
def skeleton() -> Callable[[str], list[Any]]:
    return _skeleton


@pytest.fixture
def make() -> Callable[..., str]:
    """Make a page of everything, with each text put through a function."""
    return _page


@pytest.fixture
def example() -> SimpleNamespace:
    return SimpleNamespace(**_everything(lambda text: text))
