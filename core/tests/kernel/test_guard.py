import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import AfterValidator, BaseModel

from hornbook import canon
from hornbook.contracts import clauses
from hornbook.errors import DefinitionError
from hornbook.kernel import ToolGuard, ToolRegistry, ToolSpec, feedback
from hornbook.kernel.feedback import MAX_FEEDBACK

REGISTRY = ToolRegistry.from_json_schema(
    [
        {
            "name": "find_order",
            "parameters": {
                "type": "object",
                "properties": {
                    "order_id": {"type": "string", "description": "the id on the invoice"},
                    "limit": {"type": "integer", "minimum": 1, "default": 10},
                },
                "required": ["order_id"],
            },
        },
        {"name": "refund_order", "parameters": {"type": "object", "properties": {}}},
        {
            "name": "ship",
            "parameters": {
                "type": "object",
                "properties": {
                    "address": {
                        "type": "object",
                        "properties": {"zip": {"type": "string"}},
                        "required": ["zip"],
                        "additionalProperties": False,
                    }
                },
            },
        },
    ]
)
GUARD = ToolGuard(REGISTRY)


def statuses(report):
    return {verdict.clause: verdict.status for verdict in report.verdicts}


def violations(report):
    return [(v.clause, v.path, v.expected, v.observed, v.hint) for v in report.violations]


@pytest.mark.requirement("guard:arguments:missing")
def test_a_call_that_is_well_formed_passes_every_clause():
    report = GUARD.check("find_order", {"order_id": "A17"})
    assert report.ok
    assert report.step == "find_order"
    assert report.contract == "tool-guard"
    assert report.digest == GUARD.digest
    assert report.attempts == 0
    assert statuses(report) == {
        "known-tool": "Satisfied",
        "arguments-complete": "Satisfied",
        "arguments-typed": "Satisfied",
        "arguments-known": "Satisfied",
        "grounded": "NotApplicable",
    }
    assert feedback(report) == ""


@pytest.mark.requirement("guard:tool:unknown")
def test_an_unknown_tool_is_violated_naming_near_tools_and_nothing_else_is_checked():
    report = GUARD.check("refund", {"x": 1})
    assert violations(report) == [
        ("known-tool", ".", "a tool of this agent", "'refund'", "nearest: refund_order")
    ]
    assert statuses(report) == {
        "known-tool": "Violated",
        "arguments-complete": "NotApplicable",
        "arguments-typed": "NotApplicable",
        "arguments-known": "NotApplicable",
    }
    far = GUARD.check("zzz", {}).violations[0]
    assert far.hint == "the tools: find_order, refund_order, ship"
    assert ToolGuard(ToolRegistry()).check("zzz", {}).violations[0].hint == "there are no tools"


@pytest.mark.requirement("guard:arguments:missing")
def test_a_missing_argument_is_violated_with_what_it_is_for():
    report = GUARD.check("find_order", {})
    assert violations(report) == [
        ("arguments-complete", "order_id", "string", "nothing", "order_id: the id on the invoice")
    ]
    nested = GUARD.check("ship", {"address": {}})
    assert violations(nested) == [("arguments-complete", "address.zip", "string", "nothing", "")]


@pytest.mark.requirement("guard:arguments:ill-typed")
def test_an_ill_typed_argument_is_violated_where_it_stands():
    report = GUARD.check("find_order", {"order_id": 17, "limit": 0})
    assert violations(report) == [
        ("arguments-typed", "order_id", "string", "17", "order_id: the id on the invoice"),
        ("arguments-typed", "limit", "a number of at least 1", "0", ""),
    ]


@pytest.mark.requirement("guard:arguments:extra")
def test_an_argument_the_tool_does_not_have_is_violated_naming_the_nearest_or_all():
    near = GUARD.check("find_order", {"order_id": "A17", "limits": 3})
    assert violations(near) == [
        ("arguments-known", "limits", "no such argument", "3", "did you mean limit?")
    ]
    far = GUARD.check("find_order", {"order_id": "A17", "zzz": 3})
    assert far.violations[0].hint == "find_order takes order_id, limit"
    none = GUARD.check("refund_order", {"why": "late"})
    assert none.violations[0].hint == "refund_order takes no arguments"
    below = GUARD.check("ship", {"address": {"zip": "85034", "floor": 3}})
    assert violations(below) == [
        ("arguments-known", "address.floor", "only the fields zip", "3", "")
    ]


@pytest.mark.requirement("guard:arguments:extra")
@pytest.mark.parametrize("extra", [True, {"type": "integer"}])
def test_a_schema_that_says_outright_that_more_is_allowed_lets_it_pass(extra):
    spec = ToolSpec(name="t", parameters={"type": "object", "additionalProperties": extra})
    assert ToolGuard(ToolRegistry([spec])).check("t", {"a": 1}).ok


@pytest.mark.requirement("guard:arguments:extra")
def test_extra_is_refused_in_every_alternative_form_of_a_schema():
    spec = ToolSpec(
        name="t",
        parameters={
            "type": "object",
            "allOf": [{"$ref": "#/$defs/base"}],
            "anyOf": [{"properties": {"b": {}}}, {"properties": {"c": {}}}],
            "$defs": {"base": {"properties": {"a": {}}}},
        },
    )
    guard = ToolGuard(ToolRegistry([spec]))
    assert guard.check("t", {"a": 1, "b": 2, "c": 3}).ok
    assert [v.path for v in guard.check("t", {"a": 1, "d": 2}).violations] == ["d"]


@pytest.mark.requirement("guard:arguments:missing")
def test_all_that_is_wrong_is_reported_at_once():
    report = GUARD.check("find_order", {"limit": "many", "colour": "red"})
    assert [(v.clause, v.path) for v in report.violations] == [
        ("arguments-complete", "order_id"),
        ("arguments-typed", "limit"),
        ("arguments-known", "colour"),
    ]


@pytest.mark.requirement("guard:arguments:malformed")
def test_json_text_is_read_and_no_text_is_no_arguments():
    assert GUARD.check("find_order", '{"order_id": "A17"}').ok
    assert GUARD.check("refund_order", None).ok
    assert GUARD.check("refund_order", "").ok


@pytest.mark.requirement("guard:arguments:malformed")
@pytest.mark.parametrize(
    "arguments",
    ['{"order_id": "A17"', '["A17"]', "A17", '{"a": NaN}', '{"a": 1, "a": 2}', 3, ["a"]],
)
def test_arguments_that_are_no_json_object_are_violated(arguments):
    report = GUARD.check("find_order", arguments)
    assert statuses(report) == {
        "known-tool": "Satisfied",
        "arguments-complete": "NotApplicable",
        "arguments-typed": "Violated",
        "arguments-known": "NotApplicable",
    }
    [violation] = report.violations
    assert violation.expected == "a JSON object of arguments"
    assert violation.hint


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)


@pytest.mark.requirement("guard:arguments:malformed")
@given(
    st.sampled_from(["find_order", "ship", "nope", "", "x" * 10_000]),
    json_values
    | st.text()
    | st.dictionaries(st.sampled_from(["order_id", "address"]), json_values),
)
def test_whatever_a_model_writes_is_reported_and_never_raised(tool, arguments):
    report = GUARD.check(tool, arguments)
    assert report.ok == (not report.violations)
    text = feedback(report)
    assert bool(text) == (not report.ok)
    assert len(text) <= MAX_FEEDBACK
    canon.dumps(report.as_dict())


@pytest.mark.requirement("guard:feedback:bounded")
def test_feedback_says_what_was_wrong_where_and_what_to_do():
    report = GUARD.check("find_order", {"limit": "many", "colour": "red"})
    assert GUARD.feedback(report) == (
        "The call of 'find_order' was not made. Correct it and call again:\n"
        "- order_id: missing; expected string; order_id: the id on the invoice\n"
        "- limit: expected integer; got 'many'\n"
        "- colour: there is no such argument; find_order takes order_id, limit"
    )
    assert feedback(GUARD.check("refund", {})) == (
        "The call of 'refund' was not made. Correct it and call again:\n"
        "- known-tool: expected a tool of this agent; got 'refund'; nearest: refund_order"
    )


@pytest.mark.requirement("guard:feedback:bounded")
def test_feedback_has_a_constant_bound_and_counts_the_rest():
    report = GUARD.check("find_order", {f"wrong_{n}" * 50: "x" * 500 for n in range(99)})
    text = feedback(report)
    assert len(text) <= MAX_FEEDBACK
    assert text.splitlines()[-1] == "- and 95 more problems"


def even(number: int) -> int:
    if number % 2:
        raise ValueError("must be even")
    return number


def function_guard(function, **options):
    return ToolGuard(ToolRegistry.of(function), **options)


@pytest.mark.requirement("guard:arguments:ill-typed")
def test_a_functions_own_validation_decides_what_is_ill_typed():
    from typing import Annotated

    class Item(BaseModel):
        sku: str
        number: Annotated[int, AfterValidator(even)]

    def order(customer: str, items: list[Item]) -> None: ...

    guard = function_guard(order)
    assert guard.check("order", {"customer": "c", "items": [{"sku": "s", "number": 2}]}).ok
    report = guard.check(
        "order", {"customer": 3, "items": [{"sku": "s", "number": 3}, {"number": "4"}], "x": 1}
    )
    assert violations(report) == [
        ("arguments-complete", "items[1].sku", "string", "nothing", ""),
        ("arguments-typed", "customer", "a valid string", "3", ""),
        ("arguments-typed", "items[0].number", "must be even", "3", ""),
        ("arguments-typed", "items[1].number", "a valid integer", "'4'", ""),
        ("arguments-known", "x", "no such argument", "1", "order takes customer, items"),
    ]
    assert [v.path for v in guard.check("order", {"customer": "c"}).violations] == ["items"]


@pytest.mark.requirement("guard:arguments:ill-typed")
def test_a_value_that_the_tool_would_convert_is_no_fault():
    class Arguments(BaseModel):
        n: int

    spec = ToolSpec(
        name="t",
        parameters=Arguments.model_json_schema(),
        validate=Arguments.model_validate,
    )
    guard = ToolGuard(ToolRegistry([spec]))
    assert guard.check("t", {"n": "5"}).ok
    assert violations(guard.check("t", {"n": "five"})) == [
        (
            "arguments-typed",
            "n",
            "a valid integer, unable to parse string as an integer",
            "'five'",
            "",
        )
    ]
    assert [v.clause for v in guard.check("t", {}).violations] == ["arguments-complete"]
    # pydantic drops it in silence, and what the model meant by it is lost
    assert [v.clause for v in guard.check("t", {"n": 1, "m": 2}).violations] == ["arguments-known"]


@pytest.mark.requirement("guard:arguments:ill-typed")
def test_a_validator_that_refuses_is_a_violation_and_one_that_breaks_is_undetermined():
    def refuses(arguments):
        raise ValueError("n is too large for this account")

    def breaks(arguments):
        return arguments["nope"]

    async def waits(arguments): ...

    parameters = {"type": "object", "properties": {"n": {}}}
    registry = ToolRegistry(
        ToolSpec(name=validate.__name__, parameters=parameters, validate=validate)
        for validate in (refuses, breaks)
    )
    guard = ToolGuard(registry)
    refused = guard.check("refuses", {"n": 1})
    assert violations(refused) == [
        ("arguments-typed", ".", "n is too large for this account", "{'n': 1}", "")
    ]
    broken = guard.check("breaks", {"n": 1})
    assert not broken.ok
    assert broken.verdict("arguments-typed").status == "Undetermined"
    assert (
        broken.verdict("arguments-typed").reason == "the tool's validation raised KeyError: 'nope'"
    )
    with pytest.raises(DefinitionError) as caught:
        ToolSpec(name="waits", validate=waits)
    assert str(caught.value) == "tool 'waits': validate is async; the guard decides at once"


@pytest.mark.requirement("guard:arguments:ill-typed")
def test_a_pattern_that_cannot_be_checked_is_named_in_the_report():
    spec = ToolSpec(
        name="t",
        parameters={"type": "object", "properties": {"a": {"type": "string", "pattern": "(?=x)"}}},
    )
    verdict = ToolGuard(ToolRegistry([spec])).check("t", {"a": "y"}).verdict("arguments-typed")
    assert (verdict.status, verdict.reason) == (
        "Satisfied",
        "not checked: #/properties/a/pattern",
    )


def transfer(source: str, target: str, amount: float) -> None: ...


def different_accounts(inputs) -> bool:
    return inputs["source"] != inputs["target"]


REQUIRES = {
    "transfer": [
        clauses.that("accounts differ", different_accounts),
        clauses.in_range("amount", low=0.01, high=1000),
    ]
}


@pytest.mark.requirement("guard:requires:clauses")
@pytest.mark.parametrize("colour", ["sync", "async"])
def test_clauses_of_ones_own_are_part_of_the_report(colour):
    guard = function_guard(transfer, requires=REQUIRES)

    def check(arguments):
        if colour == "sync":
            return guard.check("transfer", arguments)
        return asyncio.run(guard.acheck("transfer", arguments))

    assert check({"source": "a", "target": "b", "amount": 5.0}).ok
    report = check({"source": "a", "target": "a", "amount": 5000.0})
    assert [v.clause for v in report.violations] == ["accounts differ", "in_range amount"]
    assert list(statuses(report))[:5] == [
        "known-tool",
        "arguments-complete",
        "arguments-typed",
        "arguments-known",
        "grounded",
    ]


@pytest.mark.requirement("guard:requires:clauses")
def test_clauses_are_not_asked_about_arguments_that_are_not_fit():
    report = function_guard(transfer, requires=REQUIRES).check("transfer", {"source": "a"})
    assert report.verdict("accounts differ").status == "NotApplicable"
    assert report.verdict("accounts differ").reason == "the arguments do not have the tool's form"
    assert {v.clause for v in report.violations} == {"arguments-complete"}


@pytest.mark.requirement("guard:requires:clauses")
def test_what_is_declared_for_a_tool_that_is_not_there_is_one_sentence():
    def error(**options):
        with pytest.raises(DefinitionError) as caught:
            function_guard(transfer, **options)
        return str(caught.value)

    assert error(requires={"transfers": []}) == "requires: no tool 'transfers'; nearest: transfer"
    assert error(grounded={"x": ["a"]}) == "grounded: no tool 'x'; nearest: none is near"
    assert error(grounded={"transfer": ["from"]}) == (
        "grounded: transfer has no 'from'; it takes source, target, amount"
    )
    assert error(free={"transfer": "source"}) == (
        "free: transfer: 'source' is one string; give a list"
    )
    assert error(grounding="on") == "grounding='on' is none of auto, required, off"
    assert error(requires={"transfer": [clauses.in_range("sum", low=0)]}) == (
        "contract 'transfer-arguments', clause 'in_range sum': 'sum' is no parameter of "
        "'transfer'; its parameters are source, target, amount"
    )


@pytest.mark.requirement("guard:requires:clauses")
def test_the_digest_follows_all_that_a_guard_asks():
    guards = [
        function_guard(transfer),
        function_guard(transfer, requires=REQUIRES),
        function_guard(transfer, grounding="required"),
        function_guard(transfer, free={"transfer": ["source"]}),
        function_guard(transfer, grounded={"transfer": ["source"]}),
        GUARD,
    ]
    assert len({guard.digest for guard in guards}) == 6
    assert function_guard(transfer).digest == function_guard(transfer).digest
