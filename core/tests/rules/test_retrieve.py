import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbook.errors import RuleError
from hornbook.rules import RuleLibrary, RuleRequest, ToolCategories, estimate_tokens, render
from hornbook.rules.render import MAX_RENDERED

CATEGORIES = ToolCategories({"refund": "PAYMENT", "charge": "PAYMENT", "find": "SEARCH"})
STATUSES = ("candidate", "quarantined", "shadow", "retired")


def ids(library, k=5, **request):
    return [rule.id for rule in library.retrieve(RuleRequest(**request), k)]


@pytest.mark.requirement("rules:library:memory")
def test_only_approved_rules_are_retrieved(make_rule):
    library = RuleLibrary(
        [make_rule("yes"), *(make_rule(status, status=status) for status in STATUSES)]
    )
    assert ids(library, query="my orders") == ["yes"]


@pytest.mark.requirement("rules:library:memory")
def test_decomposition_rules_stay_and_tool_rules_need_a_tool_in_scope(make_rule):
    library = RuleLibrary(
        [
            make_rule("anywhere"),
            make_rule("elsewhere", tools=("other",)),
            make_rule("named", tools=("refund",), error="arg"),
            make_rule("by-category", category="SEARCH", error="sel"),
        ],
        categories=CATEGORIES,
    )
    assert set(ids(library, query="x")) == {"anywhere", "elsewhere"}
    assert set(ids(library, query="x", tools=("charge",))) == {"anywhere", "elsewhere"}
    assert set(ids(library, query="x", tools=("refund",))) == {"anywhere", "elsewhere", "named"}
    assert set(ids(library, query="x", tools=("find",))) == {"anywhere", "elsewhere", "by-category"}


@pytest.mark.requirement("rules:library:ranked")
def test_the_rule_whose_labels_meet_the_query_comes_first(make_rule):
    library = RuleLibrary(
        [
            make_rule("a", domain="STOCK_LEVELS", strength="MANDATORY"),
            make_rule("b", domain="FAMILIAL_RELATIONSHIP", qualifier=("STEP_RELATIVE",)),
            make_rule("c", domain="ORDER_CANCELLATION"),
        ]
    )
    query = "Who is the mother of her step-father's family relation?"
    assert ids(library, query=query) == ["b", "a", "c"]
    assert ids(library, query="please cancel my order") == ["c", "a", "b"]


@pytest.mark.requirement("rules:library:ranked")
def test_ties_fall_to_strength_then_specificity_then_recency_then_id(make_rule):
    library = RuleLibrary(
        [
            make_rule("optional", strength="OPTIONAL"),
            make_rule("z", created="2026-01-01"),
            make_rule("y", created="2026-01-01"),
            make_rule("newer", created="2026-02-01T00:00:00+02:00"),
            make_rule("category", category="PAYMENT"),
            make_rule("tool", tools=("refund",)),
            make_rule("must", strength="MANDATORY"),
        ],
        categories=CATEGORIES,
    )
    expected = ["must", "tool", "category", "newer", "y", "z", "optional"]
    assert ids(library, k=9, query="nothing in common", tools=("refund",)) == expected


@pytest.mark.requirement("rules:library:ranked")
@given(st.permutations(range(12)), st.text(max_size=40))
def test_retrieval_does_not_depend_on_the_order_of_the_rules(make_rule, order, query):
    rules = [
        make_rule(
            f"r{n}", domain=("ORDERS", "STOCK", "LATE_PAYMENT")[n % 3], qualifier=(f"Q{n % 5}",)
        )
        for n in range(12)
    ]
    request = RuleRequest(query=query)
    shuffled = RuleLibrary([rules[n] for n in order]).retrieve(request)
    assert shuffled == RuleLibrary(rules).retrieve(request)


@pytest.mark.requirement("rules:library:budget")
@given(
    budget=st.integers(0, 300),
    lengths=st.lists(st.integers(1, 60), max_size=12),
    k=st.integers(0, 12),
)
def test_what_is_rendered_stays_within_the_token_budget(make_rule, budget, lengths, k):
    library = RuleLibrary(
        make_rule(f"r{n}", text=f"If case {n} holds, then do {'it ' * length}again")
        for n, length in enumerate(lengths)
    )
    found = library.retrieve(RuleRequest(query="orders", token_budget=budget), k)
    assert len(found) <= k
    assert estimate_tokens(render(found)) <= budget


@pytest.mark.requirement("rules:library:budget")
def test_a_rule_that_does_not_fit_gives_way_to_one_that_does(make_rule):
    library = RuleLibrary(
        [
            make_rule(
                "long", strength="MANDATORY", text="If so, then " + "do it again " * 20 + "now"
            ),
            make_rule("short", text="If so, then do it once."),
        ]
    )
    assert ids(library, query="x", token_budget=60) == ["short"]
    assert ids(library, query="x", token_budget=200) == ["long", "short"]


@pytest.mark.requirement("rules:library:budget")
def test_a_negative_budget_is_refused():
    with pytest.raises(RuleError) as caught:
        RuleRequest(query="x", token_budget=-1)
    assert str(caught.value) == "request: token_budget -1 is negative"


@pytest.mark.requirement("rules:library:memory")
def test_the_papers_case_retrieves_the_papers_rule(make_rule):
    text = (
        "If the user query involves identifying a specific familial relationship (e.g., maternal "
        "grandfather), then decompose the task by first resolving intermediate relationships "
        "(e.g., mother, father) sequentially."
    )
    library = RuleLibrary(
        [
            make_rule("stock", domain="INVENTORY_MANAGEMENT"),
            make_rule(
                "family",
                text=text,
                domain="FAMILIAL_RELATIONSHIPS",
                tool_category="GENEALOGY_QUERY",
                action=("DECOMPOSE_QUERY", "RESOLVE_INTERMEDIATE_ENTITY", "SEQUENCE_SUBTASKS"),
                strength="MANDATORY",
            ),
        ],
        categories=ToolCategories({"find_relative": "GENEALOGY_QUERY"}),
    )
    query = "How many letters are there in the first name of Viacheslav I of Kiev's grandfather?"
    assert ids(library, k=1, query=query, tools=("find_relative",)) == ["family"]


@pytest.mark.requirement("rules:render:canonical")
def test_rules_are_rendered_strongest_first_whatever_the_order(make_rule):
    rules = [
        make_rule("a", strength="OPTIONAL", text="If A holds, then do B first."),
        make_rule("b", text="If C holds, then do D first."),
        make_rule("c", strength="MANDATORY", text="If E holds, then do F first."),
    ]
    assert (
        render(rules)
        == render(reversed(rules))
        == (
            "Rules learned from earlier runs. Apply each one whose condition holds; "
            "they permit nothing that is not permitted otherwise.\n"
            "- Must: If E holds, then do F first.\n"
            "- Should: If C holds, then do D first.\n"
            "- May: If A holds, then do B first."
        )
    )


@pytest.mark.requirement("rules:render:canonical")
def test_no_rules_render_as_nothing():
    assert render([]) == ""


@pytest.mark.requirement("rules:render:canonical")
def test_a_rule_found_twice_is_rendered_once(make_rule):
    assert render([make_rule("a"), make_rule("b")]) == render([make_rule("c")])


@pytest.mark.requirement("rules:render:canonical")
def test_the_rendering_is_bounded_and_says_what_it_left_out(make_rule):
    rules = [make_rule(f"r{n}", text=f"If case {n} holds, then do it.") for n in range(100)]
    lines = render(rules).splitlines()
    assert len(lines) == MAX_RENDERED + 2
    assert lines[-1] == "(68 more rules are left out)"
