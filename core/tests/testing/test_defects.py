"""The kit can fail: each way in which an adapter may be wrong is found by its scenarios."""

import asyncio
import contextvars
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from hornbook.budget import Meter
from hornbook.hosting import Heard, Rules, Usage
from hornbook.hosting import rules as hosting_rules
from hornbook.kernel import GuardContext, ToolGuard, ToolRegistry
from hornbook.step import hosted, recovery
from hornbook.step.hookset import HookSet, HookSlot
from hornbook.testing import conformance
from hornbook.testing.conformance.scenarios.answering import LineDown
from hornbook.testing.memory_host import Agent, HornbookMiddleware, MemoryAdapter, Message
from hornbook.testing.memory_host.adapter import ModelCalls, ToolCalls
from hornbook.testing.memory_host.testing import MemoryAgent

Patch = pytest.MonkeyPatch


@dataclass(frozen=True)
class Defect:
    """A way to be wrong, and the scenarios that must find it."""

    breaks: Callable[[Patch], None]
    found_by: str

    @property
    def scenarios(self) -> frozenset[str]:
        return frozenset(self.found_by.split())


def patched(owner: object, name: str, value: Any) -> Callable[[Patch], None]:
    return lambda patch: patch.setattr(owner, name, value)


def all_of(*breaks: Callable[[Patch], None]) -> Callable[[Patch], None]:
    def apply(patch: Patch) -> None:
        for one in breaks:
            one(patch)

    return apply


def scene_without(**changed: Any) -> Callable[[Patch], None]:
    """An adapter that leaves out a part of what it is given."""
    from dataclasses import replace

    attached = MemoryAdapter.attached

    def without(self: MemoryAdapter, scene: Any) -> HornbookMiddleware:
        return attached(self, replace(scene, **changed))

    return patched(MemoryAdapter, "attached", without)


def forgets_earlier_turns(patch: Patch) -> None:
    said = Heard.said

    def only_the_last(self: Heard, *texts: str) -> None:
        self.__dict__["_turns"] = {}
        said(self, *texts[-1:])

    patch.setattr(Heard, "said", only_the_last)


def takes_errors_for_results(patch: Patch) -> None:
    error = ToolCalls.error

    def remembered(self: ToolCalls, text: str, call: Any) -> Any:
        self.__dict__["_heard"].returned(call.name, {}, text)
        return error(self, text, call)

    patch.setattr(ToolCalls, "error", remembered)


def hears_all_conversations(patch: Patch) -> None:
    """What the user says in one conversation is a source in every other."""
    said, everywhere = Heard.said, Heard()

    def shared(self: Heard, *texts: str) -> None:
        said(everywhere, *texts)
        said(self, *everywhere.context().turns)

    patch.setattr(Heard, "said", shared)


def answers_for_the_model(patch: Patch) -> None:
    """An exception of the model becomes an answer."""
    ask, aask = Agent._ask, Agent._aask
    sorry = Message(role="assistant", text="Sorry, something went wrong.")

    def excused(self: Agent, request: Any) -> Message:
        try:
            return ask(self, request)
        except LineDown:
            return sorry

    async def aexcused(self: Agent, request: Any) -> Message:
        try:
            return await aask(self, request)
        except LineDown:
            return sorry

    patch.setattr(Agent, "_ask", excused)
    patch.setattr(Agent, "_aask", aexcused)


def shows_all_results(patch: Patch) -> None:
    inputs = ModelCalls.inputs

    def every_turn(self: ModelCalls, request: Any) -> Mapping[str, Any]:
        results = [one.text for one in request.messages if one.role == "tool"]
        return {**inputs(self, request), "results": results}

    patch.setattr(ModelCalls, "inputs", every_turn)


def shows_rules_twice(patch: Patch) -> None:
    once = ModelCalls.with_rules
    patch.setattr(ModelCalls, "with_rules", lambda *given: once(given[0], once(*given), given[2]))


def runs_tools_elsewhere(patch: Patch) -> None:
    """Tools run in a context of their own, so that they know of no step."""
    plainly, aplainly = Agent._call, Agent._acall

    def elsewhere(self: Agent, call: Any) -> Any:
        return contextvars.Context().run(plainly, self, call)

    async def aelsewhere(self: Agent, call: Any) -> Any:
        return await asyncio.create_task(aplainly(self, call), context=contextvars.Context())

    patch.setattr(Agent, "_call", elsewhere)
    patch.setattr(Agent, "_acall", aelsewhere)


def asks_no_plugin(patch: Patch) -> None:
    deaf = HookSlot()
    deaf.replace(HookSet(generation=0))
    for module in (hosted, recovery, hosting_rules):
        patch.setattr(module, "slot", deaf)


def guards_known_tools_only(patch: Patch) -> None:
    check = ToolCalls.check

    def known(self: ToolCalls, call: Any) -> Any:
        guard = self.__dict__["_guard"]
        return check(self, call) if call.name in guard.registry else None

    patch.setattr(ToolCalls, "check", known)


def calls_one_tool_of_several(patch: Patch) -> None:
    use, ause = Agent._use, Agent._ause

    def first(self: Agent, call: Any) -> Message:
        return use(self, call) if call.id.endswith("-0") else Message(role="tool", call=call)

    async def afirst(self: Agent, call: Any) -> Message:
        return await ause(self, call) if call.id.endswith("-0") else Message(role="tool", call=call)

    patch.setattr(Agent, "_use", first)
    patch.setattr(Agent, "_ause", afirst)


def stays_halted(patch: Patch) -> None:
    """Once a turn was halted, so is each that follows."""
    halted = ModelCalls.halted

    def still(self: ModelCalls, request: Any) -> Any:
        found = halted(self, request)
        found = found or self.__dict__.get("_stuck")
        self.__dict__["_stuck"] = found
        return found

    hard = ToolCalls.halt

    def broken(self: ToolCalls, violation: Any, call: Any) -> Any:
        patch.setattr(Agent, "run", lambda self, text: "I am broken.")
        patch.setattr(Agent, "arun", None)
        return hard(self, violation, call)

    patch.setattr(ModelCalls, "halted", still)
    patch.setattr(ToolCalls, "halt", broken)


def always(answer: Any) -> Callable[..., Any]:
    return lambda *args, **kwargs: answer


def no_rules(self: Rules, *args: Any, **kwargs: Any) -> Iterator[Any]:
    return ""
    yield


def unguarded_when_async(patch: Patch) -> None:
    async def plainly(self: HornbookMiddleware, call: Any, handler: Any) -> Any:
        return await handler(call)

    patch.setattr(HornbookMiddleware, "awrap_tool", plainly)


def own_guard(patch: Patch) -> None:
    """The guard is always the default one, whatever was given."""
    init = ToolCalls.__init__

    def fresh(self: ToolCalls, guard: ToolGuard, heard: Any, halt: Any) -> None:
        init(self, ToolGuard(ToolRegistry(guard.registry.values())), heard, halt)

    patch.setattr(ToolCalls, "__init__", fresh)


def told(answer: bool) -> Callable[[Patch], None]:
    """Tool errors are always told to the model, or never."""
    init = Agent.__init__

    def given(self: Agent, *args: Any, **kwargs: Any) -> None:
        init(self, *args, **{**kwargs, "tell": lambda error: answer})

    return patched(Agent, "__init__", given)


EVERYTHING = " ".join(scenario.name for scenario in conformance.SCENARIOS)
REFUSED = """missing-argument unknown-argument ill-typed-argument ungrounded-argument
    declared-grounding guarded-precondition unknown-tool"""
HOOKED = """hook-halts-a-tool-soft hook-halts-a-tool-hard hook-halts-the-model-soft
    hook-halts-the-model-hard hook-blocks hook-substitutes hook-substitutes-an-answer
    hook-changes-inputs hook-finds-a-violation hook-answers-for-an-error rules-of-a-namespace"""

DEFECTS = {
    "the guard is not attached": Defect(
        patched(ToolCalls, "check", always(None)),
        f"{REFUSED} error-is-no-source parallel-calls async-tools",
    ),
    "the guard is given no context": Defect(
        patched(Heard, "context", always(None)),
        "ungrounded-argument error-is-no-source declared-grounding parallel-calls async-tools",
    ),
    "the guard is given an empty context": Defect(
        patched(Heard, "context", always(GuardContext())), "right-call contract-retried own-trace"
    ),
    "what tools returned is forgotten": Defect(
        patched(Heard, "returned", always(None)), "grounded-in-a-result"
    ),
    "earlier turns are forgotten": Defect(forgets_earlier_turns, "grounded-in-an-earlier-turn"),
    "errors count as results": Defect(takes_errors_for_results, "error-is-no-source"),
    "the guard that was given is not used": Defect(
        own_guard, "declared-grounding guarded-precondition"
    ),
    "unknown tools are let through": Defect(guards_known_tools_only, "unknown-tool"),
    "the model is not told why": Defect(
        patched(ToolCalls, "error", always("something went wrong")),
        f"{REFUSED} tool-precondition hook-blocks",
    ),
    "one of several calls is made": Defect(
        calls_one_tool_of_several, "parallel-calls parallel-halts"
    ),
    "contracts are ignored": Defect(
        scene_without(contracts={}),
        """contract-retried contract-fallback contract-waived tool-precondition
        raising-tool-retried raising-tool-fallback async-tools contract-halts-soft
        contract-halts-hard turn-after-a-halt-soft turn-after-a-halt-hard parallel-halts
        answer-retried answer-halts-soft answer-halts-hard answer-judged-by-request-and-results
        answer-retried-with-rules usage-of-a-rejected-answer budget-of-a-retry
        hook-finds-a-violation""",
    ),
    "what one conversation heard is known in others": Defect(
        hears_all_conversations, "other-conversation-is-no-source"
    ),
    "an exception of the model becomes an answer": Defect(answers_for_the_model, "model-raises"),
    "the contract on answers sees results of earlier turns": Defect(
        shows_all_results, "results-of-this-turn"
    ),
    "rules are shown twice": Defect(
        shows_rules_twice, "rules-shown rules-of-a-namespace answer-retried-with-rules"
    ),
    "what tools gave is not recorded": Defect(
        patched(ToolCalls, "recorded", always(None)), "right-call contract-retried own-trace"
    ),
    "what the model gave is not recorded": Defect(
        patched(ModelCalls, "recorded", always(None)), "right-call answer-retried own-trace"
    ),
    "nothing says which call of the host a step is": Defect(
        patched(ToolCalls, "meta", always({})), "right-call missing-argument own-trace"
    ),
    "tools run outside of their step": Defect(runs_tools_elsewhere, "contract-retried async-tools"),
    "contracts see texts": Defect(
        patched(ToolCalls, "value", lambda self, answer: str(answer)),
        "contract-retried contract-fallback hook-finds-a-violation",
    ),
    "tool errors are always told": Defect(told(True), "raising-tool-raises contract-halts-hard"),
    "tool errors are never told": Defect(told(False), "raising-tool-told"),
    "a halt of a tool is swallowed": Defect(
        patched(ToolCalls, "halt", always("never mind")),
        """contract-halts-soft contract-halts-hard parallel-halts hook-halts-a-tool-soft
        hook-halts-a-tool-hard turn-after-a-halt-soft turn-after-a-halt-hard""",
    ),
    "a halt of the model is swallowed": Defect(
        patched(ModelCalls, "halt", always(Message(role="assistant", text="It is delivered."))),
        "answer-halts-soft answer-halts-hard hook-halts-the-model-soft hook-halts-the-model-hard",
    ),
    "a halt stops only the tool": Defect(
        patched(ModelCalls, "halted", always(None)),
        "contract-halts-soft turn-after-a-halt-soft parallel-halts hook-halts-a-tool-soft",
    ),
    "a halted agent stays halted": Defect(
        stays_halted, "turn-after-a-halt-soft turn-after-a-halt-hard"
    ),
    "rules are not shown": Defect(
        patched(ModelCalls, "with_rules", lambda self, request, text: request),
        "rules-shown rules-of-a-namespace answer-retried-with-rules",
    ),
    "rules are not looked for": Defect(
        patched(Rules, "text", no_rules),
        "rules-shown rules-of-a-namespace answer-retried-with-rules",
    ),
    "the model is asked again without feedback": Defect(
        patched(ModelCalls, "with_feedback", lambda self, request, told, rejected: request),
        "answer-retried answer-retried-with-rules",
    ),
    "the contract on answers sees no conversation": Defect(
        patched(ModelCalls, "inputs", always({"request": "", "results": []})),
        "answer-judged-by-request-and-results",
    ),
    "usage is not read": Defect(
        patched(ModelCalls, "usage", always(Usage())),
        "usage-counted usage-of-a-rejected-answer budget-of-tokens",
    ),
    "budgets are ignored": Defect(
        patched(Meter, "reserve", always(None)),
        "budget-of-calls budget-of-a-retry budget-of-tokens usage-counted",
    ),
    "no plugin is asked": Defect(asks_no_plugin, HOOKED),
    "no record of its own is kept": Defect(scene_without(trace=None), "own-trace"),
    "its own record is not ended": Defect(patched(MemoryAgent, "close", always(None)), "own-trace"),
    "tools are not wrapped in async runs": Defect(
        unguarded_when_async,
        f"{REFUSED} {HOOKED.replace('rules-of-a-namespace', '')} async-tools".replace(
            "hook-halts-the-model-soft", ""
        )
        .replace("hook-halts-the-model-hard", "")
        .replace("hook-substitutes-an-answer", ""),
    ),
    "nothing is recorded": Defect(
        patched(HornbookMiddleware, "wrap_model", lambda self, request, handler: handler(request)),
        EVERYTHING.replace("async-tools", ""),
    ),
}
BY_THE_ASYNC_TWIN = {"tools are not wrapped in async runs"}


@contextmanager
def broken(defect: Defect) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        defect.breaks(patch)
        yield


def failed(report: conformance.Report) -> set[str]:
    return {finding.case for finding in report.failed}


@pytest.mark.requirement("conformance:kit:can-fail")
@pytest.mark.parametrize("name", DEFECTS)
def test_a_defect_is_found(name: str) -> None:
    defect = DEFECTS[name]
    mode = "async" if name in BY_THE_ASYNC_TWIN else "sync"
    modes: Mapping[str, str] = {"async-tools": "async"}
    wanted = {f"{scenario}[{modes.get(scenario, mode)}]" for scenario in defect.scenarios}
    with broken(defect):
        report = conformance.check(MemoryAdapter, only=lambda case: case in wanted)
    assert wanted - failed(report) == set()
    assert not report.ok


@pytest.mark.requirement("conformance:kit:can-fail")
def test_each_scenario_finds_a_defect_of_its_own() -> None:
    found = [one.scenarios for name, one in DEFECTS.items() if name != "nothing is recorded"]
    assert {scenario.name for scenario in conformance.SCENARIOS} == frozenset().union(*found)


@pytest.mark.requirement("conformance:kit:can-fail")
def test_a_defect_of_one_colour_fails_that_colour_alone() -> None:
    def wanted(case: str) -> bool:
        return case.startswith(("missing-argument", "hook-blocks"))

    with broken(DEFECTS["tools are not wrapped in async runs"]):
        report = conformance.check(MemoryAdapter, only=wanted)
    assert failed(report) == {"missing-argument[async]", "hook-blocks[async]"}
    assert {one.case for one in report.passed} == {"missing-argument[sync]", "hook-blocks[sync]"}
