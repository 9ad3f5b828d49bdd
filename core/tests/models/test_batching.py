"""`ask_many`: one batch where the model takes one, and each request a step of its own."""

import asyncio
from collections.abc import Callable
from contextvars import copy_context
from typing import Any

import pytest

from hornbook import Budget, Contract, contract, plugins, run
from hornbook.errors import BudgetExceeded, DefinitionError
from hornbook.hooks import hookimpl
from hornbook.models import (
    BatchModel,
    Completion,
    ScriptedBatchModel,
    ScriptedModel,
    TransportError,
    aask,
    aask_many,
    ask,
    ask_many,
)
from hornbook.step import Decision

Ask = Callable[..., list[Any]]


@pytest.fixture(params=["sync", "async"])
def asked_many(request) -> Ask:
    """`ask_many`, or `aask_many` in a loop of its own."""
    if request.param == "sync":
        return ask_many
    return lambda *a, **named: asyncio.run(aask_many(*a, **named))


def texts(answers: list[Any]) -> list[str]:
    return [one.text if isinstance(one, Completion) else str(one) for one in answers]


def passing() -> TransportError:
    return TransportError("busy", retryable=True)


@pytest.mark.requirement("models:batch:one-call")
def test_a_batch_is_one_call_and_many_steps(asked_many, said) -> None:
    model = ScriptedBatchModel({"a": "A", "b": {"x": 1}})
    with run(None) as opened:
        answers = asked_many(model, [said("a"), said("b", schema={"type": "object"})])
    assert texts(answers) == ["A", '{"x": 1}']
    assert answers[1].value == {"x": 1}
    assert model.batches == (2,)
    assert opened.meter.spent.calls == 2
    kinds = [event.kind for event in opened.events]
    assert (kinds.count("step.start"), kinds.count("step.end")) == (2, 2)


@pytest.mark.requirement("models:batch:protocol")
def test_a_batch_model_is_known_by_what_it_has() -> None:
    assert isinstance(ScriptedBatchModel([]), BatchModel)
    assert not isinstance(ScriptedModel([]), BatchModel)


@pytest.mark.requirement("models:batch:errors-apart")
def test_one_failure_is_one_answer(asked_many, said, waits) -> None:
    script = {"a": "A", "b": TransportError("no"), "c": KeyError("bug"), "d": "D"}
    model = ScriptedBatchModel(script, max_attempts=3)
    with run(None) as opened:
        answers = asked_many(model, [said(key) for key in "abcd"], steps=list("ABCD"))
    assert texts(answers) == ["A", "no", "'bug'", "D"]
    ends = {event.name: event.status for event in opened.events if event.kind == "step.end"}
    assert ends == {"A": "satisfied", "B": "error", "C": "error", "D": "satisfied"}
    assert model.batches == (4,)


@pytest.mark.requirement("models:batch:retries")
def test_what_may_pass_is_sent_again_together(asked_many, said, waits) -> None:
    tried: dict[str, int] = {}

    def answer(request: Any) -> Any:
        text = request.messages[0].content
        tried[text] = tried.get(text, 0) + 1
        return text if tried[text] > int(text) else passing()

    model = ScriptedBatchModel(answer, max_attempts=3)
    with run(None) as opened:
        answers = asked_many(model, [said(text) for text in ("0", "1", "2", "7")])
    assert texts(answers) == ["0", "1", "2", "busy"]
    assert model.batches == (4, 3, 2)
    assert len(waits) == 2
    assert opened.meter.spent.calls == 9
    attempts = [e.data["attempts"] for e in opened.events if e.kind == "step.end"]
    assert sorted(attempts) == [1, 2, 3, 3]


@pytest.mark.requirement("models:batch:whole-failure")
def test_a_batch_that_fails_fails_for_each(asked_many, said, waits) -> None:
    class Down(ScriptedBatchModel):
        def complete_many(self, requests, /, *, timeout=None):
            self._batches.append(len(requests))
            raise passing()

        async def acomplete_many(self, requests, /, *, timeout=None):
            return self.complete_many(requests)

    model = Down([], max_attempts=2)
    assert texts(asked_many(model, [said("a"), said("b")])) == ["busy", "busy"]
    assert model.batches == (2, 2)


@pytest.mark.requirement("models:batch:whole-failure")
def test_too_few_answers_are_an_error_for_each(asked_many, said) -> None:
    class Short(ScriptedBatchModel):
        def complete_many(self, requests, /, *, timeout=None):
            return super().complete_many(requests)[1:]

        async def acomplete_many(self, requests, /, *, timeout=None):
            return self.complete_many(requests)

    answers = asked_many(Short(["A", "B"]), [said("a"), said("b")])
    message = "model 'scripted' gave 1 answers to a batch of 2 requests"
    assert texts(answers) == [message, message]


@pytest.mark.requirement("models:batch:metered")
def test_a_request_that_the_budget_does_not_allow_is_left_out(asked_many, said) -> None:
    model = ScriptedBatchModel({"a": "A", "b": "B", "c": "C"})
    with run(None, budget=Budget(calls=2)):
        first, second, third = asked_many(model, [said(key) for key in "abc"])
    assert texts([first, second]) == ["A", "B"]
    assert isinstance(third, BudgetExceeded)
    assert model.batches == (2,)
    with run(None, budget=Budget(calls=0)):
        assert texts(asked_many(model, [said("a")], reserved=1)) == ["A"]


@pytest.mark.requirement("models:batch:contexts")
def test_each_step_is_recorded_where_it_stands(asked_many, said) -> None:
    contexts: list[Any] = []

    @contract(Contract("text", output=str))
    def branch(name: str) -> str:
        contexts.append(copy_context())
        return name

    model = ScriptedBatchModel({"a": "A", "b": "B"})
    with run(None) as opened:
        branch("one")
        branch("two")
        asked_many(model, [said("a"), said("b")], contexts=contexts)
    starts = [event for event in opened.events if event.kind == "step.start"]
    around = {event.id: event.data["inputs"].get("name") for event in starts}
    assert [around[e.parent] for e in starts if e.parent is not None] == ["one", "two"]


@pytest.mark.requirement("models:batch:one-by-one")
def test_a_model_that_takes_no_batch_is_asked_one_by_one(asked_many, said, waits) -> None:
    script = {"a": [1], "b": TransportError("no"), "c": passing()}
    model = ScriptedModel(script, max_attempts=2)
    with run(None) as opened:
        answers = asked_many(model, [said(key) for key in "abc"], steps=["x", None, "z"])
    assert texts(answers) == ["[1]", "no", "busy"]
    assert opened.meter.by_step("calls") == {"x": 1, "model": 1, "z": 2}


@pytest.mark.requirement("models:batch:one-by-one")
async def test_it_is_asked_all_at_once_where_that_is_possible(said, clock) -> None:
    model = ScriptedModel(lambda _: "x", delay=0.2)
    await aask_many(model, [said(str(at)) for at in range(10)])
    assert clock() < 1.5


@pytest.mark.requirement("models:batch:definition")
def test_names_are_as_many_as_requests(asked_many, said) -> None:
    for named in ({"steps": ["a", "b"]}, {"contexts": []}):
        with pytest.raises(DefinitionError) as caught:
            asked_many(ScriptedBatchModel([]), [said()], **named)
        ((name, given),) = named.items()
        assert str(caught.value) == f"ask_many: {len(given)} {name} for 1 requests"
    assert asked_many(ScriptedBatchModel([]), []) == []


@pytest.mark.requirement("models:batch:definition")
def test_an_ill_formed_schema_is_the_answer_to_its_request(asked_many, said) -> None:
    model = ScriptedBatchModel({"b": "B"})
    bad, good = asked_many(model, [said("a", schema={"type": "nope"}), said("b")])
    assert isinstance(bad, DefinitionError)
    assert good.text == "B"


@pytest.mark.requirement("models:batch:hooks")
def test_plugins_see_each_step_of_a_batch(asked_many, said) -> None:
    class Half:
        @hookimpl
        def hornbook_before_step(self, step) -> Decision | None:
            if step.name == "b":
                return Decision(action="substitute", value="given")
            if step.name == "c":
                raise RuntimeError("broken")
            return None

    model = ScriptedBatchModel({"a": "A"})
    with plugins.registered(Half()):
        answers = asked_many(model, [said(key) for key in "abc"], steps=list("abc"))
    told = "plugin 'Half' raised in hornbook_before_step: RuntimeError: broken"
    assert texts(answers) == ["A", "given", told]
    assert model.batches == (1,)


@pytest.mark.requirement("models:batch:stopped")
def test_an_interrupt_ends_every_step(said) -> None:
    class Interrupted(ScriptedBatchModel):
        def complete_many(self, requests, /, *, timeout=None):
            raise KeyboardInterrupt

    with run(None) as opened, pytest.raises(KeyboardInterrupt):
        ask_many(Interrupted([]), [said("a"), said("b")])
    ends = [event.status for event in opened.events if event.kind == "step.end"]
    assert ends == ["cancelled", "cancelled"]


@pytest.mark.requirement("models:batch:stopped")
async def test_a_cancelled_batch_ends_every_step(said) -> None:
    model = ScriptedBatchModel(lambda _: "x", delay=30)
    with run(None) as opened:
        task = asyncio.ensure_future(aask_many(model, [said("a"), said("b")]))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    ends = [event.status for event in opened.events if event.kind == "step.end"]
    assert ends == ["cancelled", "cancelled"]


@pytest.mark.requirement("models:batch:equal")
def test_a_batch_gives_what_single_calls_give(asked_many, said) -> None:
    script = {key: key.upper() for key in "abcde"}
    requests = [said(key) for key in "abcde"]
    single = [ask(ScriptedModel(script), request) for request in requests]
    other = [asyncio.run(aask(ScriptedModel(script), request)) for request in requests]
    assert asked_many(ScriptedBatchModel(script), requests) == single == other


@pytest.mark.requirement("models:batch:whole-failure")
def test_what_is_no_list_of_answers_is_told(said) -> None:
    class Odd(ScriptedBatchModel):
        def complete_many(self, requests: Any, /, *, timeout: float | None = None) -> Any:
            return (one for one in requests)

    (error,) = ask_many(Odd(["a"]), [said()])
    assert str(error) == "model 'scripted' gave generator to a batch: expected a list of answers"
