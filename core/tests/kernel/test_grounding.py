import pytest

from hornbook.kernel import GuardContext, ToolGuard, ToolRegistry, ToolResult, ToolSpec, feedback
from hornbook.kernel.grounds import looks_like_identifier

SPEC = ToolSpec(
    name="book",
    parameters={
        "type": "object",
        "properties": {
            "user_id": {"type": "string"},
            "cabin": {"type": "string", "enum": ["class1", "class2"]},
            "version": {"type": "string", "default": "v2"},
            "day": {"type": "string", "format": "date"},
            "note": {"type": "string"},
            "amount": {"type": "number"},
            "confirmed": {"type": "boolean"},
            "seats": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"code": {"type": "string"}, "row": {"type": "integer"}},
                },
            },
        },
    },
)
REGISTRY = ToolRegistry([SPEC])
GUARD = ToolGuard(REGISTRY)


def evidence(report, clause):
    return report.verdict(clause).evidence


def grounded_clauses(report):
    return {v.clause: v.status for v in report.verdicts if v.clause.startswith("grounded")}


@pytest.mark.requirement("guard:arguments:ungrounded")
def test_a_value_that_stands_in_no_source_is_violated_and_says_where_was_looked():
    context = GuardContext(
        turns=["book a seat for mia_li_3668"],
        results=[ToolResult(name="find_user", value={"name": "Mia"})],
        state={"tier": "gold"},
        trusted={"today": "2026-05-15"},
    )
    report = GUARD.check("book", {"user_id": "bob_li_9"}, context)
    [violation] = report.violations
    assert violation.clause == "grounded user_id"
    assert violation.path == "user_id"
    assert violation.observed == "'bob_li_9'"
    assert violation.evidence == {
        "looked_in": ["turn 1", "result of find_user", "state.tier", "trusted.today"]
    }
    assert feedback(report) == (
        "The call of 'book' was not made. Correct it and call again:\n"
        "- user_id: expected a value that the user gave or a tool returned; got 'bob_li_9'; it "
        "stands in none of: turn 1, result of find_user, state.tier, trusted.today; ask the user "
        "for it, or look it up with a tool; do not invent it"
    )


@pytest.mark.requirement("guard:context:sources")
def test_turns_come_before_results_before_state_before_what_is_trusted():
    sources = {
        "turns": ["hello", "I am mia_li_3668."],
        "results": [ToolResult(name="find_user", value='{"ids": ["x", "mia_li_3668"]}')],
        "state": {"user": {"id": "mia_li_3668"}},
        "trusted": ["mia_li_3668"],
    }
    expected = [
        {"source": "turn 2", "span": [5, 16], "text": "mia_li_3668"},
        {"source": "result of find_user", "at": "ids[1]", "value": "mia_li_3668"},
        {"source": "state.user", "at": "id", "value": "mia_li_3668"},
        {"source": "trusted", "at": ".", "value": "mia_li_3668"},
    ]
    for name, found in zip(list(sources), expected, strict=True):
        report = GUARD.check("book", {"user_id": "mia_li_3668"}, GuardContext(**sources))
        assert report.ok
        assert evidence(report, "grounded user_id") == found
        del sources[name]


@pytest.mark.requirement("guard:context:sources")
def test_values_are_whole_tokens_whatever_their_case():
    context = GuardContext(turns=["my booking is ZFA04Y, thanks"])
    assert GUARD.check("book", {"user_id": "zfa04y"}, context).ok
    assert not GUARD.check("book", {"user_id": "FA04"}, context).ok


@pytest.mark.requirement("guard:context:sources")
@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("#W4923227", "the order W4923227 please"),
        ("W4923227", "the order #W4923227, please"),
        ("555-123-2002", "call me at (555) 123 2002."),
        ("5551232002", "call me at 555-123-2002"),
        ("mia@example.com", "it's Mia@Example.com."),
    ],
)
def test_what_people_write_otherwise_than_tools_want_it_is_found(value, said):
    report = GUARD.check("book", {"user_id": value}, GuardContext(turns=[said]))
    assert report.ok
    start, end = evidence(report, "grounded user_id")["span"]
    assert said[start:end] == evidence(report, "grounded user_id")["text"]


@pytest.mark.requirement("guard:context:sources")
def test_digits_that_only_meet_inside_a_longer_number_are_not_found():
    context = GuardContext(turns=["call me at 1-555-123-2002-7"])
    assert not GUARD.check("book", {"user_id": "5551232002"}, context).ok


@pytest.mark.requirement("guard:arguments:ungrounded")
def test_an_error_and_the_echo_of_an_argument_are_no_sources():
    invented = {"user_id": "bob_9"}
    error = ToolResult(name="find", value="user bob_9 not found", error=True)
    echo = ToolResult(name="find", value="user bob_9 not found", arguments=invented)
    record = ToolResult(name="find", value={"user_id": "bob_9"}, arguments=invented)
    turn = ["find me a user"]
    assert not GUARD.check("book", invented, GuardContext(turns=turn, results=[error])).ok
    assert not GUARD.check("book", invented, GuardContext(turns=turn, results=[echo])).ok
    assert not GUARD.check("book", invented, GuardContext(turns=turn, results=[record])).ok
    found = ToolResult(name="find", value={"user_id": "bob_9"}, arguments={"name": "Bob"})
    assert GUARD.check("book", invented, GuardContext(turns=turn, results=[record, found])).ok


@pytest.mark.requirement("guard:arguments:ungrounded")
def test_objects_and_lists_are_grounded_leaf_by_leaf():
    context = GuardContext(turns=["seats 12A and 12B"])
    arguments = {"seats": [{"code": "12A", "row": 12}, {"code": "99Z"}, {"code": "12B"}]}
    report = GUARD.check("book", arguments, context)
    assert grounded_clauses(report) == {
        "grounded seats[0].code": "Satisfied",
        "grounded seats[1].code": "Violated",
        "grounded seats[2].code": "Satisfied",
    }


@pytest.mark.requirement("guard:arguments:ungrounded")
def test_without_a_declaration_only_what_looks_like_an_identifier_is_grounded():
    arguments = {
        "user_id": "Mia",
        "cabin": "class1",
        "version": "v2",
        "day": "2026-05-20",
        "note": "2 bags, please",
        "amount": 17.5,
        "confirmed": True,
    }
    report = GUARD.check("book", arguments, GuardContext(turns=["hello"]))
    assert report.ok
    assert grounded_clauses(report) == {}


@pytest.mark.requirement("guard:arguments:ungrounded")
@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("A17", True), ("mia_li_3668", True), ("#W4923227", True), ("a@b.org", True),
        ("555-123-2002", True), ("4768869376", True), ("550e8400-e29b-41d4", True), ("17", True),
        ("7", False),
        ("", False), ("Mia", False), ("two bags 2", False), ("2026-05-20", False),
        ("2026-05-20T10:00:00Z", False), ("20/05/2026", False), ("10:30", False), ("5pm", False),
        ("(2+3)*4.5", False), ("3.50", False), ("x1" * 200, False), ("JFK", False),
    ],
)  # fmt: skip
def test_an_identifier_is_one_word_with_a_digit_or_an_at(text, is_one):
    assert looks_like_identifier(text) is is_one


@pytest.mark.requirement("guard:arguments:ungrounded")
def test_declared_paths_are_grounded_numbers_too_and_free_ones_never():
    guard = ToolGuard(
        REGISTRY, grounded={"book": ["amount", "seats[].row", "note"]}, free={"book": ["user_id"]}
    )
    context = GuardContext(turns=["pay 1,250.50 for row 12"])
    fine = {"user_id": "any_1", "amount": 1250.5, "seats": [{"row": 12}], "note": "row 12"}
    assert guard.check("book", fine, context).ok
    report = guard.check(
        "book", {"amount": 99, "seats": [{"row": 13}], "note": "window", "confirmed": True}, context
    )
    assert grounded_clauses(report) == {
        "grounded amount": "Violated",
        "grounded seats[0].row": "Violated",
        "grounded note": "Violated",
    }


@pytest.mark.requirement("guard:arguments:ungrounded")
def test_a_declared_object_covers_all_its_leaves():
    guard = ToolGuard(REGISTRY, grounded={"book": ["seats"]})
    report = guard.check("book", {"seats": [{"code": "X", "row": 1}]}, GuardContext(turns=["hi"]))
    assert grounded_clauses(report) == {
        "grounded seats[0].code": "Violated",
        "grounded seats[0].row": "Violated",
    }


@pytest.mark.requirement("guard:arguments:ungrounded")
def test_what_failed_its_type_and_what_is_unknown_is_not_looked_for():
    report = GUARD.check(
        "book", {"seats": [{"code": "Z9", "row": "x1"}], "who": "bob_9"}, GuardContext(turns=["hi"])
    )
    assert grounded_clauses(report) == {
        "grounded seats[0].code": "Violated",
        "grounded seats[0].row": "NotApplicable",
    }
    assert report.verdict("grounded seats[0].row").reason == "it failed its type"


@pytest.mark.requirement("guard:arguments:ungrounded")
def test_an_empty_value_and_an_empty_context_are_undetermined_and_fail_closed():
    guard = ToolGuard(REGISTRY, grounded={"book": ["user_id"]})
    empty = guard.check("book", {"user_id": ""}, GuardContext(turns=["hi"]))
    assert not empty.ok
    assert empty.verdict("grounded user_id").status == "Undetermined"
    nowhere = guard.check("book", {"user_id": "A17"}, GuardContext(turns=["  "]))
    assert not nowhere.ok
    assert nowhere.verdict("grounded user_id").reason == "the context holds no text"


@pytest.mark.requirement("guard:context:none")
def test_without_a_context_grounding_is_not_checked_and_the_report_says_so():
    report = GUARD.check("book", {"user_id": "bob_9"})
    assert report.ok
    verdict = report.verdict("grounded")
    assert (verdict.status, verdict.reason) == (
        "NotApplicable",
        "no context: grounding not checked",
    )


@pytest.mark.requirement("guard:context:none")
def test_where_grounding_is_required_no_context_fails_closed():
    report = ToolGuard(REGISTRY, grounding="required").check("book", {"user_id": "bob_9"})
    assert not report.ok
    assert report.verdict("grounded").status == "Undetermined"
    assert report.violations[0].hint == (
        "grounding is required here and the guard was given no context"
    )


@pytest.mark.requirement("guard:context:none")
def test_grounding_that_is_off_is_off():
    report = ToolGuard(REGISTRY, grounding="off").check(
        "book", {"user_id": "bob_9"}, GuardContext(turns=["hi"])
    )
    assert report.ok
    assert grounded_clauses(report) == {}


@pytest.mark.requirement("guard:context:sources")
def test_structured_text_and_numbers_are_read_by_their_exact_values():
    guard = ToolGuard(REGISTRY, grounded={"book": ["amount"]})
    context = GuardContext(results=[ToolResult(name="price", value='{"total": 79.0, "ok": true}')])
    report = guard.check("book", {"amount": 79}, context)
    assert evidence(report, "grounded amount") == {
        "source": "result of price",
        "at": "total",
        "value": 79,
    }
    assert not guard.check("book", {"amount": 1}, context).ok


@pytest.mark.requirement("guard:context:sources")
def test_results_that_are_not_json_do_no_harm():
    circular: dict = {}
    circular["self"] = circular
    odd = [{(1, 2): {3}}, circular, "{broken", b"A17", object(), None, float("nan")]
    context = GuardContext(
        turns=["A17"], results=[ToolResult(name="odd", value=value) for value in odd]
    )
    assert not GUARD.check("book", {"user_id": "B99"}, context).ok
    assert GUARD.check("book", {"user_id": "A17"}, context).ok


@pytest.mark.requirement("guard:grounding:composed")
@pytest.mark.parametrize(
    ("turn", "value", "grounded"),
    [
        ("It is P followed by 12345678.", "P12345678", True),
        ("Name it after the count, as '.pdf'.", "79.pdf", True),
        ("Name it after the count.", "79.pdf", False),
        ("It is 12345678.", "P12345678", False),
        ("Name it as '.pdf'.", "81.pdf", False),
        ("Write 3333.33, rounded.", "3333", True),
        ("Write 3335.33, rounded.", "3333", False),
    ],
)
def test_a_value_put_together_of_the_users_words_has_its_source(turn, value, grounded):
    registry = ToolRegistry.from_json_schema(
        [
            {
                "name": "use",
                "parameters": {"type": "object", "properties": {"name": {"type": "string"}}},
            }
        ]
    )
    context = GuardContext(turns=(turn,), results=(ToolResult(name="du", value='{"count": 79}'),))
    assert ToolGuard(registry).check("use", {"name": value}, context).ok is grounded
