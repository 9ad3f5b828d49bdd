"""What `finish` says of a turn in which something was left undone, and where it is silent."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbook.errors import DefinitionError
from hornbook.kernel import GuardContext, SeenCall, Thresholds, ToolGuard, ToolRegistry


def tool(label, description, required=(), *, read_only=False, **properties):
    schemas = {
        key: {"type": kind} if isinstance(kind, str) else kind for key, kind in properties.items()
    }
    return {
        "name": label,
        "description": description,
        "read_only": read_only,
        "parameters": {"type": "object", "properties": schemas, "required": list(required)},
    }


CLASS = {"type": "string", "description": "One of: economy, business, first"}
REGISTRY = ToolRegistry.from_json_schema(
    [
        tool(
            "send_message",
            "Send a message to a user.",
            ["receiver", "message"],
            receiver="string",
            message="string",
        ),
        tool("cancel_order", "Cancel an order.", ["order_id"], order_id="string"),
        tool("create_ticket", "Create a ticket.", ["title"], title="string", priority="integer"),
        tool("place_order", "Place an order.", ["symbol"], symbol="string", price="number"),
        tool("get_price", "Get the price.", ["symbol"], read_only=True, symbol="string"),
        tool("book_flight", "Book a flight.", ["seat"], seat=CLASS),
        tool("add_contact", "Add a contact.", ["name"], name="string"),
    ]
)
GUARD = ToolGuard(REGISTRY)


def call(label, value="ok", error=None, turn=1, **arguments):
    return SeenCall(tool=label, arguments=arguments, value=value, error=error, turn=turn)


def finish(request, *calls, answer="Done.", before=(), guard=GUARD):
    turns = (*before, request)
    return guard.finish(answer, context=GuardContext(turns=turns, calls=calls))


def clauses(report):
    return [violation.clause for violation in report.violations]


@pytest.mark.requirement("finish:acted:nothing-done")
def test_a_turn_in_which_nothing_was_done_is_told_with_what_was_asked():
    request = "Thanks. Please cancel the order 'A-17' now."
    report = finish(request)
    assert not report.ok
    (found,) = report.violations
    assert (found.clause, found.expected) == ("request-acted-on", "a call of cancel_order")
    start, end = found.evidence["span"]
    assert "cancel the order" in request[start:end]
    assert found.hint == "no tool was called in this turn: do what is asked, or say why not"
    assert report.step == "finish"


@pytest.mark.requirement("finish:acted:order")
def test_an_order_without_please_is_a_request_too():
    assert clauses(finish("Cancel the previous order.")) == ["request-acted-on"]
    assert clauses(finish("Finally, book a seat on the flight.")) == ["request-acted-on"]


@pytest.mark.requirement("finish:silent:answers")
@pytest.mark.parametrize(
    "answer",
    ["Which order do you mean?", "I am sorry, I cannot do that.", "That is not allowed here."],
)
def test_an_answer_that_asks_back_or_refuses_is_let_pass(answer):
    assert finish("Please cancel the order.", answer=answer).ok


@pytest.mark.requirement("finish:silent:chat")
@pytest.mark.parametrize("request_", ["Thanks, that is all!", "Hello there.", "  ", "Good morning"])
def test_where_nothing_is_asked_nothing_is_said(request_):
    assert finish(request_, answer="You are welcome.").ok


@pytest.mark.requirement("finish:silent:known")
def test_a_question_is_answered_from_what_was_found_before():
    seen = call("get_price", value='{"symbol": "ZETA", "price": 150.75}', symbol="ZETA")
    report = finish(
        "What was it again?", seen, before=("Price of ZETA?",), answer="150.75 for ZETA"
    )
    assert report.ok


@pytest.mark.requirement("finish:values:covered")
def test_a_literal_of_the_request_that_nothing_took_up_is_told():
    made = call("send_message", receiver="USR001", message="Hello")
    report = finish("Send 'Hello' to USR001 and 'See you at nine' to USR002.", made)
    assert [v.evidence["text"] for v in report.violations] == ["'See you at nine'", "USR002"]
    assert set(clauses(report)) == {"values-covered"}
    done = call("send_message", receiver="USR002", message="See you at nine")
    assert finish("Send 'Hello' to USR001 and 'See you at nine' to USR002.", made, done).ok


@pytest.mark.requirement("finish:values:aside")
@pytest.mark.parametrize(
    "request_",
    [
        "Send 'Hello' to USR001. My user id is 'USR777'.",
        "Send 'Hello' to USR001. If it fails, write 'not sent' instead.",
        "In the 'Documents' folder you find whom to send 'Hello': USR001.",
        "Send 'Hello' to USR001 in the format 'Hello xxx yyy'.",
    ],
)
def test_what_is_told_by_the_way_need_not_come_back(request_):
    assert finish(request_, call("send_message", receiver="USR001", message="Hello")).ok


@pytest.mark.requirement("finish:values:option")
def test_a_number_that_an_option_was_there_for_is_told():
    report = finish("Create a priority 5 ticket 'Tyre'.", call("create_ticket", title="Tyre"))
    assert [v.evidence["text"] for v in report.violations] == ["5"]
    full = call("create_ticket", title="Tyre", priority=5)
    assert finish("Create a priority 5 ticket 'Tyre'.", full).ok


@pytest.mark.requirement("finish:tools:called")
def test_a_tool_that_the_request_names_and_nobody_called_is_told():
    made = call("get_price", value="150", symbol="ZETA")
    report = finish("Check the price of ZETA, and cancel my order.", made)
    assert clauses(report) == ["tools-called"]
    assert report.violations[0].expected == "a call of cancel_order"


@pytest.mark.requirement("finish:tools:told")
@pytest.mark.parametrize(
    "request_",
    [
        "After I cancelled the order, what is the price of ZETA?",
        "What is the price of ZETA? Do not cancel the order.",
        "If the price of ZETA is below 10, cancel the order.",
    ],
)
def test_what_is_told_supposed_or_forbidden_asks_for_no_tool(request_):
    assert finish(request_, call("get_price", value="150", symbol="ZETA")).ok


@pytest.mark.requirement("finish:errors:settled")
def test_a_call_that_failed_must_be_made_good_or_told():
    failed = call("cancel_order", error="timed out", order_id="A-17")
    assert clauses(finish("Please cancel it.", failed)) == ["errors-settled"]
    assert finish("Please cancel it.", failed, answer="It failed: the tool timed out.").ok
    assert finish("Please cancel it.", failed, call("cancel_order", order_id="A-17")).ok


@pytest.mark.requirement("finish:numbers:sourced")
def test_a_number_near_one_that_was_given_is_told():
    price = call("get_price", value='{"price": 150.75}', symbol="ZETA")
    report = finish(
        "Buy ZETA at its price.", price, call("place_order", symbol="ZETA", price=151.75)
    )
    assert [(v.clause, v.path, v.observed) for v in report.violations] == [
        ("numbers-sourced", "price", "151.75")
    ]
    assert finish(
        "Buy ZETA at its price.", price, call("place_order", symbol="ZETA", price=150.75)
    ).ok


@pytest.mark.requirement("finish:numbers:computed")
def test_a_number_one_step_from_known_ones_has_its_source():
    price = call("get_price", value='{"price": 150.75}', symbol="ZETA")
    twice = call("place_order", symbol="ZETA", price=301.5)
    assert finish("Buy ZETA at twice its price.", price, twice).ok
    open_ = call("place_order", symbol="ZETA", price=140.0)
    assert finish("Buy ZETA at about its price.", price, open_).ok


@pytest.mark.requirement("finish:choices:heeded")
def test_another_choice_than_the_one_named_is_told():
    report = finish("Book a flight in business class, please.", call("book_flight", seat="first"))
    assert clauses(report) == ["choices-heeded"]
    assert report.violations[0].expected == "seat='business' in the call of book_flight"
    assert finish("Book a flight in business class.", call("book_flight", seat="business")).ok
    assert finish("Book a flight, economy or first.", call("book_flight", seat="business")).ok


@pytest.mark.requirement("finish:exact:slips")
def test_a_text_that_is_nearly_the_one_given_is_told():
    report = finish("Please add Kelly to my contacts.", call("add_contact", name="Kelly_new"))
    assert [(v.clause, v.expected, v.observed) for v in report.violations] == [
        ("values-exact", "'Kelly'", "'Kelly_new'")
    ]


@pytest.mark.requirement("finish:answer:sourced")
def test_an_answer_that_states_what_no_source_says_is_told():
    price = call("get_price", value='{"price": 150.75, "id": "ZX-4411"}', symbol="ZETA")
    assert finish("Price of ZETA?", price, answer="It is 150.75, or about 151 (ZX-4411).").ok
    report = finish("Price of ZETA?", price, answer="It is 475.20, by order AB-9931.")
    assert [(v.clause, v.observed) for v in report.violations] == [
        ("answer-sourced", "'475.20'"),
        ("answer-sourced", "'AB-9931'"),
    ]


@pytest.mark.requirement("finish:report:verdicts")
def test_each_clause_has_its_verdict():
    report = finish(
        "Send 'Hello' to USR001.", call("send_message", receiver="USR001", message="Hello")
    )
    assert {v.clause: v.status for v in report.verdicts} == dict.fromkeys(
        [
            "request-acted-on",
            "errors-settled",
            "in-order",
            "values-covered",
            "values-exact",
            "choices-heeded",
            "numbers-sourced",
            "tools-called",
            "answer-sourced",
        ],
        "Satisfied",
    )
    assert finish("Please cancel it.").verdicts[0].status == "Violated"


@pytest.mark.requirement("finish:thresholds:range")
def test_thresholds_out_of_range_are_refused():
    with pytest.raises(DefinitionError, match=r"covered=1.5 is not in \[0, 1\]"):
        Thresholds(covered=1.5)
    with pytest.raises(DefinitionError, match="identifier=0 is less than 1"):
        Thresholds(identifier=0)


@pytest.mark.requirement("finish:thresholds:digest")
def test_other_thresholds_make_another_guard():
    same, other = ToolGuard(REGISTRY), ToolGuard(REGISTRY, thresholds=Thresholds(near=0.9))
    assert same.digest == GUARD.digest != other.digest
    long = ToolGuard(REGISTRY, thresholds=Thresholds(identifier=20))
    made = call("send_message", receiver="USR001", message="Hello")
    assert finish("Send 'Hello' to USR001, not ABC12345.", made, guard=long).ok


@pytest.mark.requirement("finish:total:any-text")
@given(st.text(max_size=200), st.text(max_size=80), st.text(max_size=40))
def test_any_request_and_answer_get_a_report(request_, answer, result):
    report = finish(request_, call("add_contact", result, name=result), answer=answer)
    assert report.ok == (not report.violations)
    assert finish(request_, answer=answer).step == "finish"
