"""Judges: asked in batches, in either colour, and never able to let a value pass by failing."""

import asyncio
import threading
from collections import UserList
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextvars import ContextVar
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbook import Budget, BudgetExceeded, Contract, Recover, clauses, contract, run
from hornbook.contracts import ContractReport, Judgement, Question

SOON = 0.05
"""A deadline that a judge which hangs runs into."""


class Judge:
    """A judge that is a function."""

    def __init__(self, give: Callable[[Sequence[Question]], Any]) -> None:
        self._give = give

    def judge(self, questions: Sequence[Question]) -> Any:
        return self._give(questions)


class AsyncJudge(Judge):
    async def judge(self, questions: Sequence[Question]) -> Any:
        given = self._give(questions)
        return await given if isinstance(given, Awaitable) else given


def ones(questions: Sequence[Question]) -> list[Judgement]:
    return [Judgement(score=1.0) for _ in questions]


def measured(*judges: Any, deadline: float | None = 60.0) -> Contract[Any]:
    return Contract(
        "c",
        ensures=[
            clauses.covers(".", source="q", judge=judge, name=f"clause {at}")
            for at, judge in enumerate(judges)
        ],
        deadline=deadline,
    )


def sync_check(contract: Contract[Any], value: Any = "text") -> ContractReport:
    return contract.check(value, {"q": "words"})


def async_check(contract: Contract[Any], value: Any = "text") -> ContractReport:
    return asyncio.run(contract.acheck(value, {"q": "words"}))


def check_in_a_loop(contract: Contract[Any], value: Any = "text") -> ContractReport:
    async def main() -> ContractReport:
        return sync_check(contract, value)

    return asyncio.run(main())


WAYS: dict[str, Callable[..., ContractReport]] = {
    "sync": sync_check,
    "async": async_check,
    "sync in a loop": check_in_a_loop,
}
every_way = pytest.mark.parametrize("check", WAYS.values(), ids=WAYS)
either_colour = pytest.mark.parametrize("kind", [Judge, AsyncJudge])


@every_way
@either_colour
@pytest.mark.requirement("judge:calls:async", "judge:calls:running-loop")
def test_a_judge_of_either_colour_works_from_code_of_either_colour(check: Any, kind: Any) -> None:
    report = check(measured(kind(ones)))
    assert (report.ok, report.verdicts[0].score) == (True, 1.0)


@every_way
@either_colour
@pytest.mark.requirement("judge:calls:batched")
def test_all_questions_to_one_judge_go_out_together(check: Any, kind: Any) -> None:
    batches: list[list[str]] = []

    def give(questions: Sequence[Question]) -> list[Judgement]:
        batches.append([question.clause for question in questions])
        return ones(questions)

    one, other = kind(give), kind(give)
    report = check(measured(one, other, one))
    assert report.ok
    assert sorted(batches) == [["clause 0", "clause 2"], ["clause 1"]]
    assert report.cost.calls == 2


@every_way
@pytest.mark.requirement("judge:calls:batched", "check:clauses:all")
def test_cheap_clauses_are_decided_before_a_judge_is_asked(check: Any) -> None:
    order: list[str] = []
    judge = Judge(lambda questions: order.append("judge") or ones(questions))
    contract = Contract(
        "c",
        ensures=[
            clauses.covers(".", source="q", judge=judge),
            clauses.that("cheap", lambda value: order.append("cheap") is None),
        ],
    )
    report = check(contract)
    assert order == ["cheap", "judge"]
    assert [v.clause for v in report.verdicts] == ["covers .", "cheap"]


@every_way
@pytest.mark.requirement("judge:calls:batched")
def test_judges_are_asked_at_the_same_time(check: Any) -> None:
    ready = threading.Barrier(2, timeout=60)

    def give(questions: Sequence[Question]) -> list[Judgement]:
        ready.wait()
        return ones(questions)

    assert check(measured(Judge(give), Judge(give))).ok


class Torn(UserList[Judgement]):
    def __len__(self) -> int:
        raise OSError("torn")


class Odd(Judgement):
    def __getattribute__(self, name: str) -> Any:
        if name == "score":
            raise OSError("odd")
        return super().__getattribute__(name)


class Unprintable:
    def __repr__(self) -> str:
        raise OSError


def one(score: Any) -> list[Judgement]:
    return [Judgement(score=score)]


def generated() -> Iterator[Judgement]:
    yield Judgement(score=1.0)


NOT_A_SEQUENCE = "not a sequence of judgements"
NO_NUMBER = "not a number in [0, 1]"
GARBAGE: dict[str, tuple[Any, str]] = {
    "none": (None, f"judge 'J' gave NoneType, {NOT_A_SEQUENCE}"),
    "a score": (1.0, f"judge 'J' gave float, {NOT_A_SEQUENCE}"),
    "true": (True, f"judge 'J' gave bool, {NOT_A_SEQUENCE}"),
    "text": ("[1.0]", f"judge 'J' gave str, {NOT_A_SEQUENCE}"),
    "bytes": (b"\x01", f"judge 'J' gave bytes, {NOT_A_SEQUENCE}"),
    "mapping": ({"score": 1.0}, f"judge 'J' gave dict, {NOT_A_SEQUENCE}"),
    "set": ({1.0}, f"judge 'J' gave set, {NOT_A_SEQUENCE}"),
    "generator": (generated(), f"judge 'J' gave generator, {NOT_A_SEQUENCE}"),
    "none given": ([], "judge 'J' gave 0 judgements for 1 questions"),
    "too many": (one(1.0) * 2, "judge 'J' gave 2 judgements for 1 questions"),
    "bare scores": ([1.0], "judge 'J' gave float, not a Judgement"),
    "dicts": ([{"score": 1.0}], "judge 'J' gave dict, not a Judgement"),
    "cannot tell": (one(None), "judge 'J' could not tell"),
    "bool score": (one(True), f"judge 'J' gave the score True, {NO_NUMBER}"),
    "text score": (one("1.0"), f"judge 'J' gave the score '1.0', {NO_NUMBER}"),
    "nan": (one(float("nan")), f"judge 'J' gave the score nan, {NO_NUMBER}"),
    "infinite": (one(float("inf")), f"judge 'J' gave the score inf, {NO_NUMBER}"),
    "percent": (one(80), f"judge 'J' gave the score 80, {NO_NUMBER}"),
    "negative": (one(-0.1), f"judge 'J' gave the score -0.1, {NO_NUMBER}"),
    "complex": (one(1 + 0j), f"judge 'J' gave the score (1+0j), {NO_NUMBER}"),
    "an exception": (ValueError("bad"), "judge 'J' raised ValueError: bad"),
    "torn sequence": (Torn(), "judge 'J' raised OSError: torn"),
    "odd judgement": ([Odd(score=1.0)], "judge 'J' raised OSError: odd"),
}


def named(kind: type[Judge], give: Callable[[Any], Any]) -> Judge:
    judge = kind(give)
    judge.name = "J"  # type: ignore[attr-defined]
    return judge


@either_colour
@pytest.mark.requirement("judge:answers:undetermined", "bad-input:judge:garbage")
@pytest.mark.parametrize(("given", "reason"), GARBAGE.values(), ids=GARBAGE)
def test_garbage_is_undetermined_and_names_the_judge(kind: Any, given: Any, reason: str) -> None:
    contract = measured(named(kind, lambda questions: given))
    for report in (sync_check(contract), async_check(contract)):
        assert not report.ok
        assert report.verdicts[0].status == "Undetermined"
        assert report.verdicts[0].reason == reason
        assert report.violations[0].hint == f"not determined: {reason}"


@pytest.mark.requirement("judge:answers:undetermined", "bad-input:judge:garbage")
def test_a_score_whose_repr_raises_is_garbage_as_well() -> None:
    report = sync_check(measured(named(Judge, lambda questions: one(Unprintable()))))
    assert report.verdicts[0].status == "Undetermined"


@pytest.mark.requirement("judge:answers:undetermined")
def test_one_bad_judgement_spoils_no_other_of_its_batch() -> None:
    judge = Judge(lambda questions: [Judgement(score=1.0), 3, Judgement(score=0.0)])
    report = sync_check(measured(judge, judge, judge))
    assert [v.status for v in report.verdicts] == ["Satisfied", "Undetermined", "Violated"]


@pytest.mark.requirement("judge:answers:undetermined")
@given(st.one_of(st.none(), st.integers(-2, 2), st.floats(), st.booleans(), st.text()))
def test_only_a_number_from_0_to_1_is_a_score(score: Any) -> None:
    number = isinstance(score, int | float) and not isinstance(score, bool) and 0 <= score <= 1
    report = sync_check(measured(Judge(lambda questions: one(score))))
    assert (report.verdicts[0].status != "Undetermined") is number
    assert report.ok is (number and score >= 0.5)


@every_way
@either_colour
@pytest.mark.requirement("bad-input:judge:garbage")
@pytest.mark.parametrize(
    "error", [ValueError("bad"), SystemExit(3), asyncio.CancelledError()], ids=repr
)
def test_whatever_a_judge_raises_is_undetermined(check: Any, kind: Any, error: Any) -> None:
    def give(questions: Sequence[Question]) -> Any:
        raise error

    found = check(measured(named(kind, give))).verdicts[0]
    assert found.status == "Undetermined"
    assert found.reason.startswith(f"judge 'J' raised {type(error).__name__}")


@either_colour
@pytest.mark.requirement("bad-input:judge:garbage", "judge:calls:running-loop")
def test_a_judge_that_ends_its_thread_ends_nothing_else(kind: Any) -> None:
    def give(questions: Sequence[Question]) -> Any:
        raise KeyboardInterrupt

    for _ in range(2):
        assert sync_check(measured(kind(give))).verdicts[0].status == "Undetermined"
    assert sync_check(measured(AsyncJudge(ones))).ok


@pytest.mark.requirement("bad-input:judge:garbage", "report:observed:cut")
def test_what_a_judge_raises_is_cut_and_redacted() -> None:
    def give(questions: Sequence[Question]) -> Any:
        raise ValueError("Authorization: Bearer sk-ant-REDACTED " + "x" * 5000)

    reason = sync_check(measured(Judge(give))).verdicts[0].reason
    assert "abcdefghijklmnop" not in reason
    assert len(reason) < 300


@pytest.fixture
def released() -> Iterator[threading.Event]:
    """What a hanging judge waits for; set at the end, so that no thread outlives the test."""
    event = threading.Event()
    yield event
    event.set()


LATE = "judge 'J' did not answer before its deadline"


@every_way
@pytest.mark.requirement("judge:deadline:named", "bad-input:judge:hangs")
def test_a_sync_judge_past_its_deadline_is_undetermined_and_named(
    check: Any, released: threading.Event
) -> None:
    judge = named(Judge, lambda questions: released.wait(60) and ones(questions))
    report = check(measured(judge, deadline=SOON))
    assert (report.ok, report.verdicts[0].status) == (False, "Undetermined")
    assert report.verdicts[0].reason == LATE


@pytest.mark.requirement("judge:deadline:named", "bad-input:judge:hangs")
def test_a_judge_that_hangs_spoils_no_other(released: threading.Event) -> None:
    judge = Judge(lambda questions: released.wait(60) and ones(questions))
    report = sync_check(measured(judge, Judge(ones), deadline=2.0))
    assert [v.status for v in report.verdicts] == ["Undetermined", "Satisfied"]


@every_way
@pytest.mark.requirement("judge:deadline:named", "bad-input:judge:hangs")
def test_an_async_judge_past_its_deadline_is_undetermined_and_named(check: Any) -> None:
    stopped = threading.Event()

    async def hang() -> Any:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            stopped.set()
            raise

    report = check(measured(named(AsyncJudge, lambda questions: hang()), deadline=SOON))
    assert (report.ok, report.verdicts[0].reason) == (False, LATE)
    assert stopped.wait(60)


@pytest.mark.requirement("judge:deadline:named", "bad-input:judge:hangs")
async def test_an_async_judge_that_does_not_stop_is_left_behind() -> None:
    free = asyncio.Event()

    async def hang() -> Any:
        while not free.is_set():
            try:
                await free.wait()
            except asyncio.CancelledError:
                continue
        return one(1.0)

    judge = named(AsyncJudge, lambda questions: hang())
    report = await measured(judge, deadline=SOON).acheck("text", {"q": "words"})
    assert report.verdicts[0].reason == LATE
    free.set()
    await asyncio.sleep(0)


@pytest.mark.requirement("bad-input:judge:hangs")
def test_a_hanging_sync_judge_does_not_keep_a_loop_from_closing(released: threading.Event) -> None:
    judge = named(Judge, lambda questions: released.wait(60) and ones(questions))

    async def main() -> None:
        checking = asyncio.ensure_future(measured(judge).acheck("text", {"q": "words"}))
        await asyncio.sleep(0)
        checking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await checking

    asyncio.run(main())
    assert not released.is_set()


@pytest.mark.requirement("judge:deadline:named")
def test_the_seconds_of_a_run_are_a_deadline_as_well(released: threading.Event) -> None:
    judge = named(Judge, lambda questions: released.wait(60) and ones(questions))

    @contract(measured(judge, deadline=None), name="step")
    def step(q: str) -> str:
        return q

    with run(budget=Budget(seconds=1)), pytest.raises(RuntimeError, match="deadline"):
        step("words")


@pytest.mark.requirement("judge:calls:running-loop")
async def test_all_checks_of_async_judges_in_sync_code_share_one_thread() -> None:
    threads: set[str] = set()

    def give(questions: Sequence[Question]) -> list[Judgement]:
        threads.add(threading.current_thread().name)
        return ones(questions)

    for _ in range(3):
        assert sync_check(measured(AsyncJudge(give))).ok
        assert (await measured(Judge(give)).acheck("text", {"q": "words"})).ok
    assert threads == {"hornbook-judges", "hornbook-judge"}


@pytest.mark.requirement("judge:calls:running-loop")
def test_an_async_judge_may_itself_check_something_with_an_async_judge() -> None:
    inner = measured(AsyncJudge(ones), deadline=None)

    async def give() -> Any:
        return one(1.0 if sync_check(inner).ok else 0.0)

    assert sync_check(measured(AsyncJudge(lambda questions: give()), deadline=30.0)).ok


@every_way
@either_colour
@pytest.mark.requirement("judge:calls:async")
def test_a_judge_sees_the_context_of_the_check(check: Any, kind: Any) -> None:
    asking: ContextVar[str] = ContextVar("asking", default="nobody")
    seen: list[str] = []
    token = asking.set("somebody")
    try:
        report = check(measured(kind(lambda questions: seen.append(asking.get()) or one(1.0))))
    finally:
        asking.reset(token)
    assert (report.ok, seen) == (True, ["somebody"])


@pytest.mark.requirement("budget:meter:calls", "judge:calls:batched")
async def test_each_batch_is_a_call_of_the_budget() -> None:
    one_judge = Judge(ones)
    both = measured(one_judge, one_judge, AsyncJudge(ones))

    @contract(both, name="sync step")
    def step(q: str) -> str:
        return q

    @contract(both, name="async step")
    async def astep(q: str) -> str:
        return q

    with run(budget=Budget(calls=4)) as opened:
        step("words")
        await astep("words")
        assert opened.meter.by_step("calls") == {"sync step": 2, "async step": 2}
        with pytest.raises(BudgetExceeded) as spent:
            step("words")
    assert str(spent.value) == (
        "the budget of 4 calls is spent (by step: sync step 2, async step 2): "
        "step 'sync step' asked for more"
    )


@pytest.mark.requirement("budget:meter:calls", "budget:limits:frozen")
async def test_a_check_by_hand_draws_on_the_budget_of_the_run_around() -> None:
    held = measured(Judge(ones))
    assert held.check("text", {"q": "words"}).ok
    with run(budget=Budget(calls=2)) as opened:
        assert held.check("text", {"q": "words"}).ok
        assert (await held.acheck("text", {"q": "words"})).ok
        assert opened.meter.by_step("calls") == {"c": 2}
        with pytest.raises(BudgetExceeded, match="step 'c' asked for more"):
            held.check("text", {"q": "words"})


@either_colour
@pytest.mark.requirement("budget:exceeded:error")
def test_a_judge_that_spends_the_budget_stops_the_step_and_starts_no_recovery(kind: Any) -> None:
    calls: list[int] = []

    def give(questions: Sequence[Question]) -> Any:
        raise BudgetExceeded("spent", limit="calls", spent={})

    @contract(measured(kind(give)), recover=Recover(retry=3, then="waive"))
    def step(q: str) -> str:
        calls.append(1)
        return q

    with pytest.raises(BudgetExceeded, match="spent"):
        step("words")
    assert calls == [1]


@pytest.mark.requirement("report:forms:json", "trace:write:bad-value")
def test_evidence_that_nothing_can_copy_harms_neither_report_nor_record() -> None:
    lock = threading.Lock()
    judged = measured(Judge(lambda questions: [Judgement(score=1.0, evidence=lock)]))

    @contract(judged, name="step")
    def step(q: str) -> str:
        return q

    assert '"evidence":{"$repr":' in sync_check(judged).to_json()
    with run() as opened:
        step("words")
    (end,) = [event for event in opened.events if event.kind == "step.end"]
    assert "lock" in str(end.data["report"]["verdicts"][0]["evidence"])
