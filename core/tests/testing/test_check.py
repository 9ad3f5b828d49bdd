"""`check`: one call that holds an adapter to the kit, and what it says."""

import unittest
from collections.abc import Callable
from typing import Any

import pytest

from hornbook import run
from hornbook.testing import conformance
from hornbook.testing.conformance import AdapterError, Case, Scenario, check
from hornbook.testing.conformance.adapters import factory_of
from hornbook.testing.conformance.scenario import Turn, model, said
from hornbook.testing.memory_host import MemoryAdapter


class Counted(MemoryAdapter):
    """Declares what it can do in a tuple."""

    capabilities = ("sync", "usage")  # type: ignore[assignment]


class Modest(MemoryAdapter):
    """Declares little."""

    capabilities = frozenset({"sync"})


class Forgetful(MemoryAdapter):
    """Attaches no rules and no contracts."""

    def attached(self, scene: Any) -> Any:
        from dataclasses import replace

        return super().attached(replace(scene, rules=None, contracts={}))


class Unbuildable(MemoryAdapter):
    """Cannot build its agent."""

    def build(self, scene: Any) -> Any:
        raise OSError("no room")


class Leaving(MemoryAdapter):
    """Its agent cannot be ended."""

    def build(self, scene: Any) -> Any:
        agent = super().build(scene)
        agent.close = raising  # type: ignore[method-assign]
        return agent


class Unsure(MemoryAdapter):
    """Cannot say which steps are its own."""

    def is_own_step(self, start: Any) -> bool:
        raise KeyError("own")


class Skipping(MemoryAdapter):
    """Skips where it cannot build: what is not declared is no excuse."""

    def build(self, scene: Any) -> Any:
        pytest.skip("the host is not installed")


def only(*names: str) -> Callable[[str], bool]:
    return lambda case: case in names


@pytest.mark.requirement("conformance:report:counts")
def test_a_report_sums_up_and_shows_what_did_not_pass() -> None:
    report = check(Modest, only=only("right-call[sync]", "right-call[async]", "rules-shown[sync]"))
    assert report.ok
    assert str(report) == (
        "memory: 1 passed, 0 failed, 2 declared unsupported\n"
        "right-call[async]: declared unsupported (async)\n"
        "rules-shown[sync]: declared unsupported (rules)"
    )


@pytest.mark.requirement("conformance:report:counts")
def test_capabilities_may_be_any_collection_of_names() -> None:
    report = check(Counted, only=only("usage-counted[sync]", "rules-shown[sync]"))
    assert (len(report.passed), len(report.unsupported)) == (1, 1)


@pytest.mark.requirement("conformance:report:unsupported")
def test_what_is_declared_unsupported_is_neither_played_nor_passed() -> None:
    report = check(Modest, only=only("rules-shown[sync]"))
    assert not report.ok
    assert (report.passed, report.failed) == ((), ())
    assert report.unsupported[0].missing == ("rules",)


@pytest.mark.requirement("conformance:report:differences")
def test_the_differences_can_be_read() -> None:
    report = check(Forgetful, only=only("contract-fallback[sync]"))
    assert not report.ok
    assert str(report.failed[0]).splitlines()[:6] == [
        "contract-fallback[sync]: failed",
        "  call 2: the model was not shown '9.9', but: 'You answer for a shop. Use the tools; "
        "never invent an order number. user: What does the delivery of A-1001 cost? assistant: "
        "quote({order_id: A-1001}) tool: {order: A-1001, price: -1.0}'",
        "  turn 1: raised ScriptError: call 2: the model was not shown '9.9', but: 'You answer "
        "for a shop. Use the tools; never invent an order number. user: What does the delivery "
        "of A-1001 cost? assistant: quote({order_id: A-1001}) tool: {order: A-1001, price: -1.0}'",
        "  the record (- expected, + seen):",
        "      model",
        "    - tool quote(order_id='A-1001'); recovered; 2 attempts; violated: in_range price at "
        "price; decided: fallback",
    ]


@pytest.mark.requirement("conformance:report:differences")
def test_an_agent_that_cannot_be_built_fails_its_case() -> None:
    report = check(Unbuildable, only=only("right-call[sync]"))
    assert "build(scene) raised OSError: no room" in report.failed[0].differences


@pytest.mark.requirement("conformance:kit:anywhere")
async def test_it_can_be_called_in_a_running_loop_and_in_a_run() -> None:
    with run(trace=None) as outer:
        report = check(MemoryAdapter, only=only("right-call[sync]", "right-call[async]"))
    assert [finding.status for finding in report.findings] == ["passed", "passed"]
    assert [event.kind for event in outer.events] == ["run.start", "run.end"]


@pytest.mark.requirement("conformance:kit:test-body")
def test_a_case_is_the_body_of_a_test() -> None:
    cases = {str(case): case for case in conformance.cases()}
    cases["right-call[sync]"].verify(MemoryAdapter)
    with pytest.raises(AssertionError, match=r"^contract-fallback\[sync\]: failed\n"):
        cases["contract-fallback[sync]"].verify(Forgetful)
    with pytest.raises(unittest.SkipTest, match="declared unsupported"):
        cases["right-call[async]"].verify(Modest)


@pytest.mark.requirement("conformance:report:differences")
@pytest.mark.parametrize(
    ("adapter", "difference"),
    [
        (Leaving, "close() raised OSError: no room"),
        (Unsure, "the record cannot be compared: is_own_step raised KeyError: 'own'"),
        (Skipping, "build(scene) raised Skipped: the host is not installed"),
    ],
)
def test_an_adapter_that_breaks_fails_its_case_and_no_other(adapter: Any, difference: str) -> None:
    report = check(adapter, only=only("right-call[sync]", "missing-argument[sync]"))
    assert len(report.failed) == 2
    assert difference in str(report.failed[0]).replace("  ", "")


@pytest.mark.requirement("conformance:kit:own-scenarios")
def test_a_scenario_of_ones_own_can_be_played() -> None:
    scenario = Scenario(
        name="small-talk",
        about="Nothing is called.",
        turns=(Turn(says="Hello.", replies=["Good day."], ends=said("Good day.")),),
        record=(model(),),
    )
    assert Case(scenario=scenario, mode="sync").play(MemoryAdapter()).status == "passed"


@pytest.mark.requirement("conformance:scenarios:complete")
def test_there_is_a_scenario_for_each_capability_and_each_is_named_once() -> None:
    names = [scenario.name for scenario in conformance.SCENARIOS]
    assert len(names) == len(set(names))
    needed = {one for scenario in conformance.SCENARIOS for one in scenario.needs}
    assert needed | {"sync", "async"} == conformance.CAPABILITIES
    assert {
        "right-call",
        "missing-argument",
        "ungrounded-argument",
        "unknown-tool",
        "raising-tool-told",
        "contract-retried",
        "contract-fallback",
        "contract-halts-soft",
        "contract-halts-hard",
        "parallel-calls",
        "rules-shown",
        "answer-retried",
        "tool-precondition",
        "budget-of-calls",
        "hook-halts-a-tool-hard",
        "hook-substitutes",
        "turn-after-a-halt-soft",
        "usage-counted",
    } <= set(names)


@pytest.mark.requirement("conformance:adapter:refused")
@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("memory", "'memory' is no adapter: write module:factory"),
        (":Adapter", "':Adapter' is no adapter: write module:factory"),
        (
            "no_such_module:Adapter",
            "'no_such_module:Adapter': no_such_module cannot be imported: ModuleNotFoundError: "
            "No module named 'no_such_module'",
        ),
        (
            "hornbook.testing.memory_host:MemoryAdaptor",
            "'hornbook.testing.memory_host:MemoryAdaptor': hornbook.testing.memory_host has no "
            "'MemoryAdaptor'; did you mean 'MemoryAdapter'?",
        ),
    ],
)
def test_an_option_that_names_no_factory_is_refused(option: str, message: str) -> None:
    with pytest.raises(AdapterError) as caught:
        factory_of(option)
    assert str(caught.value) == message


class Unknowing(MemoryAdapter):
    capabilities = frozenset({"sync", "softhalt"})  # type: ignore[assignment]


class Listing(MemoryAdapter):
    capabilities = "sync"  # type: ignore[assignment]


class Idle(MemoryAdapter):
    capabilities = frozenset({"turns"})


class Nesting(MemoryAdapter):
    capabilities = (("sync",),)  # type: ignore[assignment]


def leaving() -> Any:
    raise SystemExit(3)


def raising() -> Any:
    raise OSError("no room")


@pytest.mark.requirement("conformance:adapter:refused")
@pytest.mark.parametrize(
    ("factory", "message"),
    [
        (raising, "the factory raising raised OSError: no room"),
        (
            dict,
            "the factory dict gave dict, which is no adapter: it lacks name, capabilities, build, "
            "is_own_step",
        ),
        (Unknowing, "Unknowing: 'softhalt' is no capability; did you mean 'soft_halt'?"),
        (Listing, "Listing: capabilities is 'sync', and no set of names"),
        (Idle, "Idle: it declares neither 'sync' nor 'async', so nothing can run"),
        (Nesting, "Nesting: ('sync',) is no capability, which is a name"),
        (leaving, "the factory leaving raised SystemExit: 3"),
        (7, "7 is no factory: give a class or function without arguments"),
    ],
)
def test_what_is_no_adapter_is_refused_in_one_sentence(factory: Any, message: str) -> None:
    with pytest.raises(AdapterError) as caught:
        check(factory)
    assert str(caught.value) == message
