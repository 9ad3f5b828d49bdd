"""Laws of the drawing, over any program: what is inside is inside, and nothing is in the way."""

import time
from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbook.report import GraphNode, program_page
from hornbook.report.layout import lay_out
from hornbook.report.ranks import plan

COMPOSITE = ("sequence", "parallel", "conditional", "iterate", "fallback")
TEXT = st.text(max_size=40)
NEEDS = st.lists(st.integers(0, 6), max_size=3)


def leaf(draw):
    kind = draw(st.sampled_from(["symbolic", "neural", "contract", "constant", "pass"]))
    return GraphNode(id="x", kind=kind, label=draw(TEXT), note=draw(TEXT))


def placed(draw, node, number):
    """The node as a child: with a port of its own and any needs, cycles among them."""
    needs = tuple(f"c{need}" for need in draw(NEEDS))
    return GraphNode(
        id=f"{number}",
        kind=node.kind,
        label=node.label,
        note=node.note,
        children=node.children,
        port=f"c{number}",
        needs=needs,
    )


@st.composite
def trees(draw, depth=3):
    if depth == 0 or draw(st.booleans()):
        return leaf(draw)
    inner = draw(st.lists(trees(depth - 1), max_size=5))
    children = tuple(placed(draw, node, number) for number, node in enumerate(inner))
    kind = draw(st.sampled_from(COMPOSITE))
    return GraphNode(id="x", kind=kind, label=draw(TEXT), note=draw(TEXT), children=children)


def within(inner, outer):
    return (
        outer.x <= inner.x
        and outer.y <= inner.y
        and inner.x + inner.width <= outer.x + outer.width + 0.01
        and inner.y + inner.height <= outer.y + outer.height + 0.01
    )


def apart(one, other):
    return (
        one.x + one.width <= other.x
        or other.x + other.width <= one.x
        or one.y + one.height <= other.y
        or other.y + other.height <= one.y
    )


def bend(one, other):
    """Points on the curve that is drawn between two points of a flow."""
    (x, y), (to_x, to_y) = one, other
    for step in range(13):
        t = step / 12
        smooth = 3 * t * (1 - t)
        across = x * ((1 - t) ** 3 + smooth * (1 - t)) + to_x * (smooth * t + t**3)
        middle = (y + to_y) / 2
        yield across, y * (1 - t) ** 3 + middle * smooth + to_y * t**3


def inside(point, box):
    x, y = point
    return box.x + 1 < x < box.x + box.width - 1 and box.y + 1 < y < box.y + box.height - 1


@pytest.mark.requirement("report:graph:drawing")
@given(trees())
def test_boxes_stand_inside_their_parents_and_beside_their_siblings(tree):
    boxes = {id(box.node): box for box in lay_out(tree).boxes}
    assert len(boxes) == len({id(node) for node in tree.walk()})
    for node in tree.walk():
        inner = [boxes[id(child)] for child in node.children]
        assert all(within(box, boxes[id(node)]) for box in inner)
        assert all(apart(*pair) for pair in combinations(inner, 2))


@pytest.mark.requirement("report:graph:drawing")
@given(trees())
def test_no_arrow_runs_behind_a_step(tree):
    block = lay_out(tree)
    leaves = [box for box in block.boxes if not box.node.children]
    for arrow in block.arrows:
        for one, other in pairwise(arrow.points):
            between = bend(one, other) if arrow.style == "flow" else (one, other)
            for point in between:
                assert not any(inside(point, box) for box in leaves)
                assert -0.01 <= point[0] <= block.width + 0.01
                assert -0.01 <= point[1] <= block.height + 0.01


@pytest.mark.requirement("report:graph:drawing")
@given(trees())
def test_the_drawing_is_the_same_every_time(tree):
    assert lay_out(tree) == lay_out(tree)


def child(port, *needs):
    return GraphNode(id=port, kind="symbolic", label=port, port=port, needs=needs)


def told(children):
    """The ranks, and the arrows with their ends: `|` is where one leaves another or joins it."""
    planned = plan(children)
    names = [
        [children[item.child].port if item.child is not None else "|" for item in row]
        for row in planned.ranks
    ]
    ways = []
    for way in planned.ways:
        passed = [
            children[item.child].port if item.child is not None else "|"
            for at, item in enumerate(way.items)
            if item.child is not None
            or (at == 0 and not way.from_top)
            or (at == len(way.items) - 1 and not way.to_bottom)
        ]
        ways.append(" ".join(["in"] * way.from_top + passed + ["out"] * way.to_bottom))
    return names, ways


@pytest.mark.requirement("report:graph:ranks")
def test_the_children_of_a_parallel_stand_below_what_they_need():
    children = [child("a"), child("b", "a"), child("c", "b"), child("d", "c"), child("e")]
    ranks, ways = told([*children, child("f", "a", "e"), child("g", "d", "e")])
    assert ranks == [["a", "e"], ["b", "f", "|"], ["c", "|", "|"], ["d", "|", "|"], ["g", "|"]]
    assert ways == [
        "in a",
        "a b",
        "b c",
        "c d",
        "in e",
        "a f",
        "e f",
        "d g",
        "e g",
        "f out",
        "g out",
    ]


@pytest.mark.requirement("report:graph:ranks")
def test_a_need_that_others_imply_has_no_arrow():
    children = [child("a"), child("b", "a"), child("c", "b", "a"), child("d")]
    ranks, ways = told(children)
    assert ranks == [["a", "d"], ["b", "|"], ["c", "|"]]
    assert ways == ["in a", "a b", "b c", "in d", "c out", "d out"]


@pytest.mark.requirement("report:graph:ranks")
def test_arrows_from_one_child_and_arrows_to_the_output_share_their_slots():
    chain = [child("a"), child("b", "a"), child("c", "b"), child("d", "c")]
    many = [child("x"), child("l", "a"), child("m", "c", "x"), child("n", "d", "x"), child("o")]
    ranks, ways = told([*chain, *many])
    assert [sorted(row) for row in ranks] == [
        ["a", "o", "x"],
        ["b", "l", "|", "|"],
        ["c", "|", "|"],
        ["d", "m", "|", "|"],
        ["n", "|"],
    ]
    assert ways == [
        *("in a", "a b", "b c", "c d", "in x", "a l", "c m", "| m", "d n", "x n", "in o"),
        *("l |", "m |", "n out", "o out"),
    ]


@pytest.mark.requirement("report:graph:ranks")
def test_unknown_needs_and_cycles_are_drawn_as_far_as_they_go():
    assert told([child("a", "nobody", "a")]) == ([["a"]], ["in a", "a out"])
    ranks, ways = told([child("z", "a"), child("a", "b"), child("b", "a"), child("c")])
    assert ranks == [["b", "c"], ["a", "|"], ["z", "|"]]
    assert ways == ["a z", "b a", "in b", "in c", "z out", "c out"]


LARGE = {
    "a chain": lambda at: range(max(at - 1, 0), at),
    "a chain that shares its first": lambda at: {0, at - 1} if at else (),
    "a hundred that all others need": lambda at: range(100) if at >= 100 else (),
    "the ten before": lambda at: range(max(at - 10, 0), at),
    "each of a chain needs one more": lambda at: {at - 500, max(at - 1, 499)} if at >= 500 else (),
    "each of a chain is needed once more": lambda at: {at - 1 if at < 500 else at - 500} - {-1},
    "a ring": lambda at: {(at - 1) % 1000},
}


def large(needs, size=1000):
    names = (tuple(f"n{need}" for need in sorted(needs(at))) for at in range(size))
    children = tuple(child(f"n{at}", *each) for at, each in enumerate(names))
    return GraphNode(id="p", kind="parallel", label="wide", note="str", children=children)


@pytest.mark.requirement("report:graph:large")
@pytest.mark.parametrize("needs", LARGE.values(), ids=LARGE)
def test_a_large_program_with_shared_needs_is_a_page_of_its_size(needs):
    root = large(needs)
    start = time.process_time()
    text = program_page("wide", root)
    # It takes less than one; measuring coverage may slow it.
    assert time.process_time() - start < 4
    assert len(text) < 3_000_000


@pytest.mark.requirement("report:graph:large")
def test_all_needing_all_before_is_a_chain_and_no_arrow_is_missing():
    root = large(range, 150)
    ranks, ways = told(root.children)
    assert ranks == [[each.port] for each in root.children]
    assert ways == ["in n0", *(f"n{at - 1} n{at}" for at in range(1, 150)), "n149 out"]
    assert plan(root.children).whole
    text = program_page("wide", root)
    assert len(text) < 500_000
    assert "some arrows are left out" not in text


@pytest.mark.requirement("report:graph:large")
def test_where_arrows_are_left_out_the_drawing_says_so_and_the_list_has_the_needs():
    root = large(LARGE["each of a chain needs one more"])
    planned = plan(root.children)
    assert not any(item.source >= 0 for row in planned.ranks for item in row)
    assert lay_out(root).boxes[0].note == "some arrows are left out"
    two = large(LARGE["a hundred that all others need"])
    assert sum(not way.from_top and not way.to_bottom for way in plan(two.children).ways) == 900
    text = program_page("wide", two)
    assert "some arrows are left out" in text
    assert text.count(", ".join(f"n{at}" for at in range(100))) == 900


@pytest.mark.requirement("report:graph:deep")
def test_what_is_too_deep_to_draw_is_one_box_that_says_so():
    node = GraphNode(id="0", kind="symbolic", label="innermost")
    for number in range(1, 2000):
        node = GraphNode(id=f"{number}", kind="sequence", label="outer", children=(node,))
    boxes = lay_out(node).boxes
    assert [box.closed for box in boxes] == [False] * 40 + [True]
