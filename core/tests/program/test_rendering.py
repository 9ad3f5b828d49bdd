"""Programs as text, Mermaid and HTML."""

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hornbook import Contract, Recover, clauses
from hornbook.models import ScriptedModel
from hornbook.program import (
    Conditional,
    Fallback,
    Iterate,
    Parallel,
    Program,
    Sequence,
    constant,
    neural,
    primitive,
    ref,
)
from hornbook.program.html import graph_of

from .parts import count, is_long, join, kind_of, loud, plain, size_of, strip, words
from .worlds import World

MODEL = ScriptedModel([], identity="small/1")
SHORT = Contract("short", ensures=[clauses.that("short", lambda value: len(value) < 3)])


@primitive(pure=False)
def save(text: str) -> str:
    return text


def whole() -> Program:
    ask = neural(
        "ask", MODEL, prompt="{input}", output=str,
        recover=Recover(retry=2, fallback=[neural("spare", MODEL, prompt="{input}", output=str)]),
    )  # fmt: skip
    return Sequence(
        strip,
        Parallel(words=words, count=count.bind(text=ref("words2")), words2=plain),
        join.bind(sep='"<|$1'),
        Conditional(kind_of, {"name": ask, "number": constant("n" * 99)}, save),
        Iterate(Fallback(loud, plain), until=SHORT, at_most=3, exhausted="fail").named("refine"),
        Conditional(is_long, Iterate(plain, until=is_long, at_most=2)),
        Conditional(size_of, dict.fromkeys(size_of.output, strip)),
    ).named("whole")


TEXT = """\
whole: Sequence whole :: str -> str
|-- [0]: strip :: str -> str
|-- [1]: Parallel :: str -> {words: list[str], count: int, words2: str}
|   |-- words: words :: str -> list[str]
|   |-- count: count (text=ref('words2')) :: str -> int
|   `-- words2: plain :: str -> str
|-- [2]: join (sep="<|$1) :: {words: list[str], count: int, words2: str} -> str
|-- [3]: Conditional :: str -> str
|   |-- test: kind_of :: str -> Literal['name', 'number']
|   |-- ['name']: neural ask by small/1 retry 2 :: str -> str
|   |   `-- fallback[0]: neural spare by small/1 :: str -> str
|   |-- ['number']: constant 'NAME... :: str -> Literal['TYPE...
|   `-- otherwise: save impure :: str -> str
|-- [4]: Iterate refine at most 3, else fail :: str -> str
|   |-- body: Fallback :: str -> str
|   |   |-- [0]: shout retry 1 :: str -> str
|   |   `-- [1]: plain :: str -> str
|   `-- until: contract short holds :: str -> bool
|-- [5]: Conditional :: str -> str
|   |-- test: is_long :: str -> bool
|   |-- then: Iterate at most 2 :: str -> str
|   |   |-- body: plain :: str -> str
|   |   `-- until: is_long :: str -> bool
|   `-- otherwise: pass :: str -> str
`-- [6]: Conditional :: str -> str
    |-- test: size_of :: str -> Size
    |-- [SMALL]: strip :: str -> str
    `-- [LARGE]: strip :: str -> str""".replace("NAME", "n" * 56).replace("TYPE", "n" * 68)


@pytest.mark.requirement("program:rendering:text")
def test_the_text_is_a_tree():
    shown = whole().to_text()
    assert shown.splitlines() == TEXT.splitlines()
    assert whole().to_text() == shown


NODE = re.compile(r'^    (n\d+)(?:\[|\(|\{|\[\[|\(\[)"([^"]+)"(?:\]|\)|\}|\]\]|\]\))$')
EDGE = re.compile(r'^    (n\d+) (?:-->\|"([^"]+)"\||-\.->) (n\d+)$')


def check_flowchart(text: str) -> tuple[int, int]:
    """A small reading of Mermaid: a header, nodes with quoted labels, edges between nodes."""
    head, *lines = text.splitlines()
    assert head == "flowchart TD"
    nodes: set[str] = set()
    edges: list[tuple[str, str]] = []
    for line in lines:
        node, edge = NODE.match(line), EDGE.match(line)
        assert node or edge, line
        if node:
            assert node[1] not in nodes
            nodes.add(node[1])
            assert_escaped(node[2])
        else:
            assert edge is not None
            edges.append((edge[1], edge[3]))
            assert_escaped(edge[2] or "")
    assert all(one in nodes and other in nodes for one, other in edges)
    return len(nodes), len(edges)


def assert_escaped(label: str) -> None:
    assert not re.search(r'["<>&`|\\]', label)
    assert re.fullmatch(r"(?:[^#;]|#\d+;)*", label), label


@pytest.mark.requirement("program:rendering:mermaid")
def test_the_mermaid_text_is_a_flowchart():
    program = whole()
    nodes, edges = check_flowchart(program.to_mermaid())
    assert nodes == sum(1 for _ in program.walk())
    assert edges == nodes - 1 + 1  # a tree, and one reference between branches
    assert '    n6["join (sep=#34;#60;#124;$1)"]' in program.to_mermaid().splitlines()


@pytest.mark.requirement("program:rendering:mermaid")
@given(st.text(min_size=1, max_size=20).filter(lambda text: bool(text.strip())))
def test_labels_are_escaped(text: str):
    program = Sequence(strip, constant(text), primitive(plain, name=text)).named(text)
    assert check_flowchart(program.to_mermaid()) == (4, 3)
    assert len(program.to_text().splitlines()) == 4


@pytest.mark.requirement("program:rendering:html")
def test_the_page_shows_every_node_where_it_stands():
    program = whole()
    page = program.to_html()
    assert page[:15].lower() == "<!doctype html>"
    nodes = list(graph_of(program).walk())
    places = [one.place for one in program.walk() if ".fallback[" not in one.place]
    assert [node.id for node in nodes] == places
    kinds = {node.id: node.kind for node in nodes}
    assert kinds["whole[3]['name']"] == "neural"
    assert kinds["whole[4]#1.until"] == "contract"
    assert kinds["whole[5].otherwise"] == "pass"
    count_node = next(node for node in nodes if node.id == "whole[1].count")
    assert (count_node.port, count_node.needs) == ("count", ("words2",))
    ask = next(node for node in nodes if node.label == "ask")
    assert ask.detail["Model"] == "small/1"
    assert ask.detail["Recovery"] == "2 retries, 1 fallbacks, then halt"
    assert ask.detail["Clauses"] == ()
    assert constant("x").to_html()


@pytest.mark.requirement("program:rendering:text", "program:rendering:html")
@given(st.randoms(use_true_random=False))
@settings(max_examples=50)
def test_every_program_can_be_rendered(random: Any):
    program = World(random).program()
    assert len(program.to_text().splitlines()) == sum(1 for _ in program.walk())
    check_flowchart(program.to_mermaid())
    assert program.to_html()
