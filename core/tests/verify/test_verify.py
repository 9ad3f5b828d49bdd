"""Scenarios that are run, mutants that are tried, and the assurance table of both."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import BaseModel

import hornbook
from hornbook import Budget, Contract, Recover, clauses
from hornbook import program as p
from hornbook.contracts.judge import Calibration, Judgement, Question, Rate
from hornbook.models import Request, ScriptedModel
from hornbook.program import Program, neural, primitive
from hornbook.verify import (
    Expectation,
    ExpectedStep,
    ExpectedViolation,
    Scenario,
    ScenarioError,
    ScenarioResult,
    averify,
    play_scenario,
    verify,
)


class Mail(BaseModel):
    text: str


class Ticket(BaseModel):
    queue: Literal["returns", "parcels"]
    order: str


TICKET = Contract("ticket", output=Ticket, ensures=[clauses.grounded("order", source="text")])
TEXT = "My parcel A-17 is late, unlike B-22."
RIGHT = {"queue": "parcels", "order": "A-17"}


def read_step(model: ScriptedModel | None = None, **settings: Any) -> Any:
    return neural(
        "read",
        model or ScriptedModel([], identity="small"),
        prompt="Read: {text}",
        input=Mail,
        output=Ticket,
        contract=TICKET,
        recover=settings.pop("recover", Recover(retry=1)),
        **settings,
    )


def known(order: str) -> bool:
    return order.startswith("A")


@primitive(contract=Contract("label", output=str, ensures=[clauses.that("known order", known)]))
def label(ticket: Ticket) -> str:
    return f"{ticket.order}: {ticket.queue}"


def desk(model: ScriptedModel | None = None, **settings: Any) -> Program:
    return p.Sequence(read_step(model, **settings), label).named("desk")


def scenario(**settings: Any) -> Scenario:
    given: dict[str, Any] = {"name": "one", "input": {"text": TEXT}, "replies": {"read": RIGHT}}
    return Scenario(**(given | settings))


def played(expect: Expectation, program: Program | None = None, **settings: Any) -> ScenarioResult:
    return play_scenario(program or desk(), scenario(expect=expect, **settings))


@pytest.mark.requirement("verify:scenarios:expected")
def test_everything_that_is_expected_is_checked() -> None:
    expect = Expectation(
        output="A-17: parcels",
        status="recovered",
        calls=2,
        violation=ExpectedViolation(step="read", clause="grounded order"),
        steps={
            "read": ExpectedStep(output=RIGHT, attempts=2, status="recovered", ran=True),
            "desk[1]": ExpectedStep(output="A-17: parcels", attempts=1),
        },
    )
    replies = {"read": [{"queue": "parcels", "order": "C-33"}, RIGHT]}
    result = played(expect, replies=replies)
    assert (result.failures, result.ok, len(result.checks)) == ((), True, 10)


@pytest.mark.requirement("verify:scenarios:expected")
def test_what_is_not_as_expected_is_told_place_by_place() -> None:
    expect = Expectation(
        output="A-17: returns",
        status="recovered",
        calls=2,
        violation=ExpectedViolation(step="read"),
        steps={
            "read": ExpectedStep(output={"queue": "returns", "order": "A-17"}, attempts=2),
            "label": ExpectedStep(ran=False),
        },
    )
    assert played(expect).failures == (
        "status: expected recovered, got satisfied",
        "output: expected 'A-17: returns', got 'A-17: parcels'",
        "violation: expected a violation at step 'read', got no violation",
        "calls: expected 2, got 1",
        "step 'read', attempts: expected 2, got 1",
        "step 'read', output.queue: expected 'returns', got 'parcels'",
        "step 'label': expected did not run, got ran",
    )


@pytest.mark.requirement("verify:scenarios:expected")
def test_what_is_not_expected_is_not_checked_but_for_a_run_that_raises() -> None:
    assert played(Expectation()).ok
    wrong = {"read": [{"queue": "parcels", "order": "C-33"}] * 2}
    (failure,) = played(Expectation(), replies=wrong).failures
    assert failure.startswith("the run ended with ContractViolation: read: contract 'ticket' viol")
    assert played(Expectation(status="violated"), replies=wrong).ok
    assert played(Expectation(violation=ExpectedViolation()), replies=wrong).ok
    (failure,) = played(Expectation(output="x", status="violated"), replies=wrong).failures
    assert failure.startswith("output: expected 'x', got violated (ContractViolation: read: ")


@pytest.mark.requirement("verify:scenarios:refused")
@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        (
            {"input": {"txt": "a"}},
            "its input does not fit the program: at text: field required",
        ),
        (
            {"replies": {"raed": RIGHT}},
            "'replies' has 'raed', which is no neural step of the program; it has read",
        ),
        (
            {"expect": Expectation(steps={"lable": ExpectedStep()})},
            "the program has no step 'lable'; the nearest is 'label'",
        ),
        (
            {"replies": {"read": ["prose"]}},
            "the model of 'read' is asked once more than the scenario's 1 reply for 'read'",
        ),
        (
            {"replies": {"read": [RIGHT, RIGHT, RIGHT]}},
            "no model was asked for 2 of the 3 replies for 'read': take them out",
        ),
        (
            {"expect": Expectation(steps={"read": ExpectedStep(output={"oder": "A-17"})})},
            "'steps.read.output' is expected to have 'oder', which is no field of Ticket; the "
            "nearest is 'order'",
        ),
    ],
)
def test_a_scenario_that_does_not_fit_the_program_says_why(
    settings: dict[str, Any], problem: str
) -> None:
    result = play_scenario(desk(), scenario(**settings))
    assert result.failures == (problem,)
    assert not result.ok


@pytest.mark.requirement("verify:scenarios:data")
def test_data_is_read_as_the_programs_types() -> None:
    from datetime import date
    from enum import Enum

    class Unit(Enum):
        DAY = "day"

    class Span(BaseModel):
        start: date
        units: tuple[Unit, ...]
        note: str | None = None

    @primitive
    def same(span: Span) -> Span:
        return span

    data = {"start": "2026-03-01", "units": ["day"]}
    result = play_scenario(same, Scenario(name="one", input=data, expect=Expectation(output=data)))
    assert result.ok
    assert result.played is not None
    assert result.played.output == Span(start=date(2026, 3, 1), units=(Unit.DAY,))
    wrong = play_scenario(same, Scenario(name="one", input={"start": "2026-03-01", "units": "day"}))
    assert wrong.failures == (
        "its input does not fit the program: at units: input should be a valid array",
    )


@pytest.mark.requirement("verify:scenarios:replies")
def test_replies_may_be_given_by_place() -> None:
    program = p.Parallel(one=read_step(), two=read_step()).named("both")
    other = {"queue": "returns", "order": "B-22"}
    result = play_scenario(
        program,
        scenario(
            replies={"read": RIGHT, "both.two": other},
            expect=Expectation(output={"one": RIGHT, "two": other}),
        ),
    )
    assert result.failures == ()


@pytest.mark.requirement("verify:scenarios:replies")
def test_a_model_without_a_script_is_asked_once_for_all_runs() -> None:
    model = ScriptedModel(['{"queue": "parcels", "order": "A-17"}'], identity="real")
    result = verify(desk(model), scenario(replies={}))
    assert result.ok
    assert len(result.mutants) > 10
    assert model.calls == 1


@pytest.mark.requirement("verify:scenarios:replies")
def test_a_model_that_cannot_be_reached_is_played_too() -> None:
    from hornbook.models import TransportError

    def by_rule(text: str) -> Ticket:
        return Ticket(queue="parcels", order="A-17")

    down = {"read": {"$error": "the server is down"}}
    program = desk(recover=Recover(on=[TransportError], fallback=[by_rule]))
    assert played(Expectation(status="recovered"), program, replies=down).failures == ()
    (failure,) = played(Expectation(), replies=down).failures
    assert failure == ("the run ended with TransportError: the server is down")
    refusing = ScriptedModel(lambda request: TransportError("refused"), identity="real")
    assert played(Expectation(status="error"), desk(refusing), replies={}).failures == ()
    assert len(refusing.requests) == 1


@pytest.mark.requirement("verify:scenarios:expected")
def test_scenarios_may_be_data_of_the_form_of_files() -> None:
    data = {
        "name": "one",
        "input": {"text": TEXT},
        "replies": {"read": RIGHT},
        "expect": {"output": "A-17: parcels", "calls": 1},
    }
    assert verify(desk(), data, mutants_per_step=1).ok
    assert verify(desk(), [data, scenario(name="two")], mutants_per_step=1).ok
    with pytest.raises(ScenarioError) as caught:
        verify(desk(), [{"nmae": "one", "input": 1}])
    assert caught.value.problems == (
        "scenarios: scenario 1: 'name' is missing",
        "scenarios: scenario 1: unknown key 'nmae'; the nearest is 'name'",
    )


@pytest.mark.requirement("verify:scenarios:async")
def test_judges_timeouts_and_blocking_steps_come_to_the_same_in_both() -> None:
    class Asynchronous(Always):
        async def judge(self, questions: list[Question]) -> list[Judgement]:  # type: ignore[override]
            await asyncio.sleep(0)
            return [Judgement(score=0.9) for _ in questions]

    for judge in (Always(), Asynchronous()):
        ensures = [clauses.covers(".", source="text", judge=judge)]

        @primitive(contract=Contract("said", output=str, ensures=ensures), blocking=True)
        def said(text: str) -> str:
            return text

        @primitive(timeout=5.0)
        async def slow(text: str) -> str:
            await asyncio.sleep(0)
            return text

        program = p.Parallel(said, slow).named("both")
        one = Scenario(
            name="one", input="ab", expect=Expectation(output={"said": "ab", "slow": "ab"}, calls=1)
        )
        assert play_scenario(program, one).failures == ()


@pytest.mark.requirement("verify:scenarios:async")
def test_a_scenario_is_run_sync_and_async_and_must_come_to_the_same() -> None:
    seen: list[bool] = []

    @primitive
    async def slow(text: str) -> str:
        return text.upper()

    @primitive(pure=False)
    def torn(text: str) -> str:
        seen.append(True)
        return text if len(seen) % 2 else text * 2

    one = Scenario(name="one", input="ab", expect=Expectation(output="AB"))
    assert play_scenario(slow, one).ok
    assert play_scenario(torn, Scenario(name="one", input="ab")).failures == (
        "the sync and the async run differ in their output: 'ab' and 'abab'",
    )


@pytest.mark.requirement("verify:scenarios:apart")
async def test_it_works_in_a_running_loop_and_leaves_the_run_around_alone() -> None:
    with hornbook.run(budget=Budget(calls=0)) as run:
        assert verify(desk(), scenario(), mutants_per_step=3).ok
        assert (await averify(desk(), [scenario()], mutants_per_step=3)).ok
    assert run.meter.spent.calls == 0
    assert [event.kind for event in run.events] == ["run.start", "run.end"]


@pytest.mark.requirement("verify:scenarios:apart")
def test_the_budget_is_that_of_one_run() -> None:
    result = verify(desk(), scenario(), budget=Budget(calls=1), mutants_per_step=3)
    assert result.ok
    result = verify(desk(), scenario(), budget=Budget(calls=0), mutants_per_step=3)
    assert not result.ok


def fates(program: Program, given: Scenario, step: str, **settings: Any) -> dict[str, str]:
    result = verify(program, given, **settings)
    return {one.what: one.by for one in result.mutants if one.step == step}


@pytest.mark.requirement("verify:mutation:fates")
def test_it_is_told_who_caught_each_mutant() -> None:
    found = fates(desk(), scenario(expect=Expectation(output="A-17: parcels")), "read")
    assert found["order: 'zyxwv-8305'"] == "caught by its contract (grounded order)"
    assert found["order: None"] == "caught by its contract (output)"
    assert found["order: 'B-22'"] == "caught at step label (known order)"
    assert found["queue: 'returns'"] == "caught by the expected output"


@pytest.mark.requirement("verify:mutation:fates")
def test_what_nobody_caught_has_passed_and_what_changes_nothing_is_told_apart() -> None:
    @primitive
    def order(ticket: Ticket) -> str:
        return ticket.order

    program = p.Sequence(read_step(), order).named("desk")
    found = fates(program, scenario(), "read")
    assert found["order: 'B-22'"] == "passed"
    assert found["queue: 'returns'"] == "passed, and changes nothing that the program gives"


@pytest.mark.requirement("verify:mutation:fates")
def test_a_later_step_that_recovers_or_raises_has_caught_it() -> None:
    def plain(ticket: Ticket) -> str:
        return f"A: {ticket.queue}"

    recovering = primitive(
        label.__wrapped__, name="label", contract=label.contract, recover=Recover(fallback=[plain])
    )
    program = p.Sequence(read_step(), recovering).named("desk")
    found = fates(program, scenario(), "read")
    assert found["order: 'B-22'"] == "caught at step label (known order), which recovered"

    @primitive
    def strict(ticket: Ticket) -> str:
        return {"A-17": "known"}[ticket.order]

    program = p.Sequence(read_step(), strict).named("desk")
    found = fates(program, scenario(), "read")
    assert found["order: 'B-22'"] == ("caught by an exception at step strict: KeyError: 'B-22'")


@pytest.mark.requirement("verify:mutation:fates")
def test_a_mutant_that_the_contract_refuses_may_be_replaced_by_the_recovery() -> None:
    def by_rule(text: str) -> Ticket:
        return Ticket(queue="parcels", order="A-17")

    program = desk(recover=Recover(fallback=[by_rule]))
    found = fates(program, scenario(), "read")
    assert found["order: None"] == "caught by its contract (output), which was recovered"


@pytest.mark.requirement("verify:mutation:fates")
def test_a_mutant_that_leads_where_no_reply_is_scripted_is_followed_no_further() -> None:
    @primitive
    def late(text: str) -> bool:
        return "late" in text

    program = p.Conditional(late, p.constant("hurry"), p.Sequence(read_step(), label)).named("desk")
    found = fates(program, scenario(replies={}), "late")
    assert found["False"] == "passed; then a model was asked that the scenario has no reply for"


@pytest.mark.requirement("verify:mutation:rounds")
def test_steps_of_every_round_and_place_are_mutated() -> None:
    @primitive
    def more(text: str) -> str:
        return text + "!"

    program = p.Iterate(more, at_most=2).named("loud")
    result = verify(program, Scenario(name="one", input="a"))
    assert {one.place for one in result.mutants} == {"loud#1", "loud#2"}
    assert [row.place for row in result.table] == ["loud#1"]


@pytest.mark.requirement("verify:mutation:fates")
def test_the_report_names_the_wrong_outputs_that_nobody_noticed() -> None:
    @primitive
    def same(text: str) -> str:
        return text

    result = verify(same, Scenario(name="one", input="ab"))
    assert str(result).split("\n\n")[2].splitlines() == [
        "WRONG OUTPUTS THAT NOBODY NOTICED: a clause, or an expected output, would",
        "  same: '' (in 'one')",
        "  same: 'a' (in 'one')",
        "  same: 'zyxwv-8305' (in 'one')",
    ]
    assert "nobody noticed" in result.to_html()


@pytest.mark.requirement("verify:mutation:table")
def test_the_table_counts_what_each_clause_caught_and_let_pass() -> None:
    result = verify(desk(), scenario(expect=Expectation(output="A-17: parcels")))
    read, labelled = result.table
    rows = {row.clause: row for row in read.clauses}
    grounded = rows["grounded order"]
    assert (grounded.caught, grounded.passed, grounded.idle) == (3, 1, False)
    assert rows["output type"].caught == 7
    assert (read.kind, read.place, labelled.kind) == ("neural", "desk[0]", "symbolic")
    passed = [one for one in result.mutants if one.step == "read" and not one.tripped]
    assert read.beyond == len(passed)
    assert read.beyond_caught == sum(one.fate in ("later", "expected") for one in passed)


@pytest.mark.requirement("verify:mutation:idle")
def test_a_clause_that_no_mutant_trips_is_reported_idle() -> None:
    def is_text(text: str) -> bool:
        return isinstance(text, str)

    def is_short(text: str) -> bool:
        return len(text) < 3

    ensures = [clauses.that("is a text", is_text), clauses.that("is short", is_short)]

    @primitive(contract=Contract("words", output=str, ensures=ensures))
    def same(text: str) -> str:
        return text

    result = verify(same, Scenario(name="one", input="a"))
    # Where the value is no text the type has failed, and the clause is not applicable.
    assert [str(one) for one in result.findings if one.code == "idle-clause"] == [
        "warning at same (idle-clause): clause 'is a text' of 'same' is idle: no mutant trips it, "
        "so that these scenarios do not show what it is for"
    ]
    assert {row.clause: row.idle for row in result.table[0].clauses} == {
        "output type": False,
        "is a text": True,
        "is short": False,
    }


@pytest.mark.requirement("verify:mutation:hooks")
def test_hooks_of_yours_make_further_mutants() -> None:
    def swapped(value: Ticket, inputs: Mapping[str, Any]) -> list[Ticket]:
        return [value.model_copy(update={"order": inputs["text"].split()[-1].strip(".")})]

    result = verify(desk(), scenario(), mutants={"read": swapped}, mutants_per_step=1)
    (first, *_) = [one for one in result.mutants if one.step == "read"]
    assert (first.what, first.by) == (
        "Ticket(queue='parcels', order='B-22')",
        "caught at step label (known order)",
    )


@pytest.mark.requirement("verify:mutation:bounded")
def test_the_number_of_mutants_is_bounded_and_what_is_left_out_is_told() -> None:
    result = verify(desk(), scenario(), mutants_per_step=5)
    assert [one.step for one in result.mutants] == ["read"] * 5 + ["label"] * 5
    # Of each kind in turn: aimed at a clause, ill-typed, wrong.
    assert {one.aims for one in result.mutants[:5]} == {"grounded order", "output", None}
    cut = [str(one) for one in result.findings if one.code == "mutants-cut"]
    assert cut[0].startswith(
        "info at desk[0] (mutants-cut): 5 of 15 mutants of 'read' were tried in scenario 'one'; "
    )
    assert verify(desk(), scenario(), mutants_per_step=0).mutants == ()


@pytest.mark.requirement("verify:table:not-run")
def test_a_step_that_no_scenario_runs_is_named() -> None:
    @primitive
    def short(text: str) -> bool:
        return len(text) < 3

    @primitive
    def same(text: str) -> str:
        return text

    program = p.Conditional(short, same, p.Sequence(same)).named("short")
    told = [
        str(one)
        for one in verify(program, Scenario(name="one", input="a")).findings
        if one.code == "not-run"
    ]
    assert told == [
        "info at short.otherwise[0] (not-run): no scenario has a value of 'same': nothing is "
        "known of its contract"
    ]


class Always:
    """A judge that is of one mind."""

    max_calls = 1
    identity = "always"

    def judge(self, questions: list[Question]) -> list[Judgement]:
        return [Judgement(score=0.9) for _ in questions]


@pytest.mark.requirement("verify:table:measured")
def test_measured_clauses_say_their_error_or_that_they_have_none() -> None:
    contract = Contract(
        "said", output=str, ensures=[clauses.covers(".", source="text", judge=Always())]
    )

    @primitive(contract=contract)
    def said(text: str) -> str:
        return text

    one = Scenario(name="one", input="a text of words")
    (row,) = verify(said, one).table
    covers = row.clauses[1]
    assert (covers.assurance, covers.error) == ("measured", "uncalibrated")
    # It lets pass whatever it is asked, but for a text that is none.
    assert (covers.caught > 0, covers.passed > 0) == (True, True)
    rate = Rate(value=0.04, low=0.02, high=0.08)
    calibration = Calibration(n=100, false_accept=rate, false_reject=rate)
    for given in ({"covers .": calibration}, {"said.covers .": calibration}):
        (row,) = verify(said, one, calibrations=given, mutants_per_step=2).table
        assert row.clauses[1].error == (
            "n=100, false accept 0.040 [0.020, 0.080], false reject 0.040 [0.020, 0.080]"
        )


@pytest.mark.requirement("verify:checks:calls")
def test_a_run_above_the_static_bound_is_an_error() -> None:
    class Greedy(Always):
        def judge(self, questions: list[Question]) -> list[Judgement]:
            from hornbook.trace.frame import current_run

            run = current_run()
            if run is not None:
                run.meter.reserve("greedy")
            return super().judge(questions)

    contract = Contract(
        "said", output=str, ensures=[clauses.covers(".", source="text", judge=Greedy())]
    )

    @primitive(contract=contract)
    def said(text: str) -> str:
        return text

    result = verify(said, Scenario(name="one", input="a text"), mutants_per_step=0)
    assert [str(one) for one in result.findings if one.level == "error"] == [
        "error at said (calls): scenario 'one' made 2 calls, and the bound is 1: a model makes "
        "calls of its own"
    ]


@pytest.mark.requirement("verify:scenarios:async")
def test_many_at_once_do_not_get_into_each_others_way() -> None:
    async def all_at_once() -> list[bool]:
        many = [averify(desk(), scenario(), mutants_per_step=4) for _ in range(4)]
        return [one.ok for one in await asyncio.gather(*many)]

    assert asyncio.run(all_at_once()) == [True] * 4


@pytest.mark.requirement("verify:scenarios:replies")
def test_the_model_in_the_program_is_never_changed() -> None:
    asked: list[Request] = []

    def reply(request: Request) -> str:
        asked.append(request)
        return '{"queue": "returns", "order": "A-17"}'

    program = desk(ScriptedModel(reply, identity="real"))
    verify(program, scenario(), mutants_per_step=2)
    assert asked == []
    assert program.run(Mail(text=TEXT)) == "A-17: returns"
    assert len(asked) == 1


@pytest.mark.requirement("verify:scenarios:traced")
def test_the_first_run_of_each_scenario_can_be_recorded(tmp_path: Path) -> None:
    from hornbook.trace import list_runs, read

    assert verify(desk(), [scenario(), scenario(name="two")], trace=tmp_path).ok
    first, second = list_runs(tmp_path)
    assert (first.status, second.status) == ("complete", "complete")
    assert {first.tags["scenario"], second.tags["scenario"]} == {"one", "two"}
    steps = [event.name for event in read(tmp_path / first.run) if event.kind == "step.start"]
    assert steps == ["desk", "read", "read", "label"]
