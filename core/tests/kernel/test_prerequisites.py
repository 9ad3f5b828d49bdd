"""What must hold before a tool is called, and calls that come too early."""

import pytest

from hornbook import program as p
from hornbook.errors import DefinitionError
from hornbook.kernel import GuardContext, Prerequisite, SeenCall, ToolGuard, ToolRegistry, ToolSpec
from hornbook.kernel.prerequisites import check

DOORS = Prerequisite(key="doors", sat=lambda value: value == "locked", setup="lock_doors")


def lock_doors() -> str:
    """Lock the doors."""
    return "locked"


def start_engine() -> str:
    """Start the engine."""
    return "started"


REGISTRY = ToolRegistry.of(lock_doors, ToolSpec.of(start_engine, prerequisites=[DOORS]))
GUARD = ToolGuard(REGISTRY)


def seen(tool, value=None, error=None):
    return SeenCall(tool=tool, arguments={}, value=value, error=error, turn=1)


def start(*calls, guard=GUARD, **state):
    context = GuardContext(turns=("Start the engine.",), calls=calls, state=state)
    return guard.check("start_engine", {}, context)


@pytest.mark.requirement("guard:prerequisite:status")
def test_a_prerequisite_is_met_not_met_or_absent():
    assert check(DOORS, {}) == "Absent"
    assert check(DOORS, {"doors": "open"}) == "NotMet"
    assert check(DOORS, {"doors": "locked"}) == "Met"
    assert check(Prerequisite(key="token"), {"token": None}) == "NotMet"
    assert check(Prerequisite(key="token"), {"token": ""}) == "Met"


@pytest.mark.requirement("guard:prerequisite:fails-closed")
def test_a_predicate_that_raises_is_not_met():
    assert check(Prerequisite(key="n", sat=lambda n: n > 1), {"n": "text"}) == "NotMet"


@pytest.mark.requirement("guard:prerequisite:threshold")
def test_a_program_decides_from_its_threshold_on():
    @p.primitive
    def likely(value: float) -> float:
        return value

    one = Prerequisite(key="score", sat=likely, threshold=0.7)
    assert check(one, {"score": 0.8}) == "Met"
    assert check(one, {"score": 0.6}) == "NotMet"
    with pytest.raises(DefinitionError, match=r"threshold=2 is not in \[0, 1\]"):
        Prerequisite(key="score", threshold=2)
    with pytest.raises(DefinitionError, match="a prerequisite needs a key"):
        Prerequisite(key="")


@pytest.mark.requirement("guard:prerequisite:absent")
def test_a_call_whose_prerequisite_is_absent_is_refused_with_the_tool_to_call():
    report = start()
    (found,) = report.violations
    assert (found.clause, found.path, found.observed) == ("prerequisite-met", "doors", "nothing")
    assert found.evidence == {"status": "Absent", "setup": "lock_doors"}
    assert found.hint == "call lock_doors first: it sets up doors"


@pytest.mark.requirement("guard:prerequisite:state")
def test_the_state_decides():
    assert start(doors="locked").ok
    report = start(doors="open")
    assert report.violations[0].evidence == {"status": "NotMet", "setup": "lock_doors"}
    assert report.violations[0].observed == "'open'"


@pytest.mark.requirement("guard:prerequisite:calls")
def test_a_call_of_the_set_up_tool_sets_the_key_up():
    assert start(seen("lock_doors", "locked")).ok
    assert not start(seen("lock_doors", "jammed")).ok
    assert not start(seen("lock_doors", error="timed out")).ok


@pytest.mark.requirement("guard:prerequisite:effects")
def test_effects_and_fields_of_results_are_keys_too():
    registry = ToolRegistry.of(
        ToolSpec.of(lock_doors, effects=["battery"], result_key={"state": "doors"}),
        ToolSpec.of(start_engine, prerequisites=[DOORS, Prerequisite(key="battery")]),
    )
    guard = ToolGuard(registry)
    result = '{"state": "locked", "battery": 12.5}'
    assert start(seen("lock_doors", result), guard=guard).ok
    half = start(seen("lock_doors", {"state": "open"}), guard=guard)
    assert [v.path for v in half.violations] == ["doors"]


@pytest.mark.requirement("guard:prerequisite:message")
def test_ones_own_message_is_the_hint():
    for one, hint in [
        (Prerequisite(key="key", message="turn the key"), "turn the key"),
        (Prerequisite(key="key"), "start_engine needs key first"),
    ]:
        guard = ToolGuard(ToolRegistry.of(ToolSpec.of(start_engine, prerequisites=[one])))
        assert start(guard=guard).violations[0].hint == hint


@pytest.mark.requirement("guard:prerequisite:no-context")
def test_without_a_context_prerequisites_are_not_checked_and_the_report_says_so():
    report = GUARD.check("start_engine", {})
    assert report.ok
    assert report.verdicts[-1].reason == "no context: prerequisites not checked"


@pytest.mark.requirement("guard:prerequisite:async")
async def test_the_async_check_asks_the_program_elsewhere():
    @p.primitive
    def locked(value: str) -> bool:
        return value == "locked"

    one = Prerequisite(key="doors", sat=locked)
    guard = ToolGuard(ToolRegistry.of(ToolSpec.of(start_engine, prerequisites=[one])))
    context = GuardContext(turns=("Start.",), state={"doors": "locked"})
    assert (await guard.acheck("start_engine", {}, context)).ok
    assert not (await guard.acheck("start_engine", {}, GuardContext(turns=("Start.",)))).ok
    assert (await GUARD.acheck("lock_doors", {}, context)).ok


@pytest.mark.requirement("guard:prerequisite:digest")
def test_what_is_declared_is_part_of_the_guards_identity():
    assert GUARD.digest != ToolGuard(ToolRegistry.of(lock_doors, start_engine)).digest


@pytest.mark.requirement("guard:order:finish")
def test_a_call_made_before_its_set_up_is_told_at_the_end():
    calls = (seen("start_engine", "started"), seen("lock_doors", "locked"))
    context = GuardContext(turns=("Start the engine.",), calls=calls)
    report = GUARD.finish("Done.", context=context)
    assert [(v.clause, v.expected) for v in report.violations] == [
        ("in-order", "lock_doors called before start_engine")
    ]
    turned = GuardContext(turns=("Start the engine.",), calls=calls[::-1])
    assert GUARD.finish("Done.", context=turned).ok


@pytest.mark.requirement("registry:declared:json")
def test_json_declares_prerequisites_beside_the_parameters():
    registry = ToolRegistry.from_json_schema(
        [
            {
                "name": "start",
                "x-hornbook": {
                    "prerequisites": [
                        "battery",
                        {"key": "doors", "sat": {"const": "locked"}, "setup": "lock"},
                    ],
                    "effects": ["engine"],
                    "result_key": {"state": "engine_state"},
                    "read_only": True,
                },
            }
        ]
    )
    start = registry["start"]
    battery, doors = start.prerequisites
    assert (battery.key, battery.sat) == ("battery", None)
    assert check(doors, {"doors": "locked"}) == "Met"
    assert check(doors, {"doors": "open"}) == "NotMet"
    assert (start.effects, start.result_key) == (("engine",), {"state": "engine_state"})
    assert start.read_only


@pytest.mark.requirement("registry:declared:refused")
@pytest.mark.parametrize(
    ("own", "message"),
    [
        ([], "tool 'start': x-hornbook is no object: []"),
        ({"needs": []}, "tool 'start': x-hornbook has no 'needs'"),
        ({"effects": "engine"}, "tool 'start': x-hornbook.effects is no list: 'engine'"),
        ({"prerequisites": [{}]}, "tool 'start': a prerequisite has no key: {}"),
    ],
)
def test_what_cannot_be_read_is_refused(own, message):
    with pytest.raises(DefinitionError) as caught:
        ToolRegistry.from_json_schema([{"name": "start", "x-hornbook": own}])
    assert str(caught.value) == message
