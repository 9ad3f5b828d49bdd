import asyncio
import math

import pytest

from hornbook.kernel import GuardContext, ToolGuard, ToolRegistry, ToolResult, ToolSpec

PROPERTIES = {
    "order_id": {"type": "string"},
    "amount": {"type": "number"},
    "data": {},
    "weights": {"type": "object", "additionalProperties": {"type": "number"}},
    "line": {"type": "object", "properties": {"address2": {"type": "string"}}},
    "fixed": {"type": "object", "propertyNames": {"enum": ["k1"]}},
}
REGISTRY = ToolRegistry(
    [ToolSpec(name="act", parameters={"type": "object", "properties": PROPERTIES})]
)
GUARD = ToolGuard(REGISTRY)
EMPTY = GuardContext(turns=["please act"])


def statuses(report):
    return {verdict.clause: verdict.status for verdict in report.verdicts}


def nested(levels, leaf="B99"):
    value = leaf
    for _ in range(levels):
        value = [value]
    return value


def cyclic():
    value = []
    value.extend([value, value])
    return value


@pytest.mark.requirement("guard:arguments:ungrounded")
@pytest.mark.parametrize(
    ("arguments", "value"),
    [
        ({"query": "order B99"}, "No results for 'order B99'"),
        ({"query": "B99"}, '{"order_id": "B99", "status": "not found"}'),
        ({"query": "see #b99, please"}, {"order_id": "B99"}),
        ({"query": "B99"}, "B99"),
        ({"filter": {"ids": ["A1", "B99"]}}, [{"order_id": "B99"}]),
        ({"filter": {"B99": 1}}, {"order_id": "B99"}),
        ({"query": '{"id": "B99"}'}, {"order_id": "B99"}),
        ({"query": nested(100)}, {"order_id": "B99"}),
    ],
)
def test_what_the_model_wrote_in_the_call_is_not_grounded_by_its_result(arguments, value):
    result = ToolResult(name="lookup", value=value, arguments=arguments)
    context = GuardContext(turns=["where is it?"], results=[result])
    assert statuses(GUARD.check("act", {"order_id": "B99"}, context))["grounded order_id"] == (
        "Violated"
    )


@pytest.mark.requirement("guard:context:sources")
def test_a_value_known_before_the_call_stays_grounded_and_so_does_what_a_tool_found():
    known = ToolResult(
        name="get_order", value={"order_id": "A17", "next": "C3"}, arguments={"order_id": "A17"}
    )
    turn = GuardContext(turns=["where is A17?"], results=[known])
    assert GUARD.check("act", {"order_id": "A17"}, turn).ok
    listed = ToolResult(name="list_orders", value=["A17"], arguments={})
    assert GUARD.check("act", {"order_id": "A17"}, GuardContext(results=[listed, known])).ok
    assert GUARD.check("act", {"order_id": "A17"}, GuardContext(results=[known, listed])).ok
    assert GUARD.check("act", {"order_id": "C3"}, GuardContext(results=[known])).ok


@pytest.mark.requirement("guard:arguments:ungrounded")
@pytest.mark.parametrize(("value", "reason"), [(nested(140), "nested"), (cyclic(), "holds itself")])
@pytest.mark.parametrize("grounding", ["auto", "off"])
def test_what_is_too_deep_or_holds_itself_is_undetermined_and_fails(value, reason, grounding):
    report = ToolGuard(REGISTRY, grounding=grounding).check("act", {"data": value}, EMPTY)
    assert not report.ok
    assert report.verdict("arguments-typed").status == "Undetermined"
    assert reason in report.verdict("arguments-typed").reason


@pytest.mark.requirement("guard:arguments:ungrounded")
@pytest.mark.parametrize("levels", range(120, 135))
def test_no_depth_hides_a_value(levels):
    assert not GUARD.check("act", {"data": nested(levels)}, EMPTY).ok


@pytest.mark.requirement("guard:arguments:ungrounded")
def test_sets_are_looked_into_and_what_cannot_be_fails():
    report = GUARD.check("act", {"data": {"B99"}}, EMPTY)
    assert statuses(report)["grounded data[0]"] == "Violated"
    for opaque in (b"B99", bytearray(b"B99"), object()):
        report = GUARD.check("act", {"data": opaque}, EMPTY)
        assert not report.ok
        assert report.verdict("grounded data").status == "Undetermined"
    assert ToolGuard(REGISTRY, free={"act": ["data"]}).check("act", {"data": b"B99"}, EMPTY).ok


@pytest.mark.requirement("guard:arguments:ungrounded")
def test_the_names_in_a_map_are_grounded_and_declared_names_are_not():
    report = GUARD.check("act", {"weights": {"B99": 1.0, "heavy": 2.0}}, EMPTY)
    assert {c: s for c, s in statuses(report).items() if c.startswith("grounded")} == {
        "grounded weights.B99 (name)": "Violated"
    }
    assert GUARD.check("act", {"weights": {"B99": 1.0}}, GuardContext(turns=["weigh B99"])).ok
    assert GUARD.check("act", {"line": {"address2": "Flat"}, "fixed": {"k1": 1}}, EMPTY).ok
    assert not GUARD.check("act", {"data": [{"B99": 1}]}, EMPTY).ok
    declared = ToolGuard(REGISTRY, grounded={"act": ["weights", "data"]})
    context = GuardContext(turns=["2 of the heavy ones, x"])
    assert declared.check("act", {"weights": {"heavy": 2}, "data": [{"id": "x"}]}, context).ok
    assert not declared.check("act", {"weights": {"light": 2}}, context).ok


@pytest.mark.requirement("guard:arguments:ill-typed")
@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_numbers_that_json_lacks_are_ill_typed_anywhere(number):
    def pay(amount: float) -> None: ...

    functions = ToolGuard(ToolRegistry.of(pay))
    assert functions.check("pay", {"amount": 1.0}, EMPTY).ok
    report = functions.check("pay", {"amount": number}, EMPTY)
    assert report.verdict("arguments-typed").status == "Violated"
    for arguments in ({"amount": number}, {"data": [{"x": number}]}):
        report = GUARD.check("act", arguments)
        assert report.verdict("arguments-typed").status == "Violated"
        assert "finite" in report.violations[0].expected


@pytest.mark.requirement("guard:arguments:ill-typed")
@pytest.mark.parametrize("tool", [None, ["x"], 7, {}])
def test_a_tool_that_is_no_text_is_an_unknown_tool(tool):
    report = GUARD.check(tool, {}, EMPTY)
    assert not report.ok
    assert statuses(report)["known-tool"] == "Violated"
    assert GUARD.feedback(report)
    assert asyncio.run(GUARD.acheck(tool, {}, EMPTY)) == report
