"""Replay: the answers of a record, and an error that says what differs from it."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from hornbook import run
from hornbook.errors import DefinitionError, TraceError
from hornbook.models import (
    Completion,
    Message,
    Model,
    Price,
    ReplayError,
    Request,
    Sampling,
    ScriptedModel,
    TransportError,
    Usage,
    aask,
    ask,
    recorded,
)
from hornbook.trace import read

SCHEMA = {"type": "object", "required": ["x"]}


def conversation(*texts: str, **more: Any) -> Request:
    return Request(messages=tuple(Message(role="user", content=text) for text in texts), **more)


def told(events: Any) -> list[dict[str, Any]]:
    """The events without what differs from run to run."""
    left = [event for event in events if event.kind not in ("run.start", "run.end")]
    data = [{k: v for k, v in event.data.items() if k != "microseconds"} for event in left]
    return [
        {"kind": e.kind, "name": e.name, "status": e.status, **d}
        for e, d in zip(left, data, strict=True)
    ]


@pytest.fixture
def events(waits):
    """A record of a few calls to two models."""
    one = ScriptedModel(
        [TransportError("busy", retryable=True), "first", "second", {"x": 1}, TransportError("no")],
        identity="one",
        max_attempts=2,
        price=Price(output=1_000_000),
    )
    two = ScriptedModel(["other"], identity="two")
    with run(None) as opened:
        play(one, two)
    return opened.events


def play(one: Model, two: Model) -> list[Any]:
    given: list[Any] = [
        ask(one, conversation("same"), step="names"),
        ask(one, conversation("same"), step="names"),
        ask(one, conversation("form", schema=SCHEMA), step="dates"),
        ask(two, conversation("same"), step="names"),
    ]
    with pytest.raises(TransportError) as caught:
        ask(one, conversation("fails"), step="fails")
    return [*given, str(caught.value)]


@pytest.mark.requirement("models:replay:same")
def test_a_replay_gives_the_same_and_leaves_the_same_record(events, waits) -> None:
    one = recorded(events, like="one")
    assert (one.identity, one.models, one.left) == ("one", ("one", "two"), 5)
    with run(None) as again:
        given = play(one, one.standing_for("two"))
    assert [getattr(one, "text", one) for one in given] == [
        *("first", "second", '{"x": 1}', "other"),
        "no",
    ]
    assert given[2].value == {"x": 1}
    assert (given[0].cost, given[0].usage) == (1.0, Usage(input_tokens=1, output_tokens=1))
    assert told(again.events) == told(events)
    assert one.left == 0
    assert not any(waits[1:])


@pytest.mark.requirement("models:replay:folder")
def test_a_record_on_disk_is_replayed_in_both_colours(said, tmp_path) -> None:
    with run(tmp_path) as opened:
        ask(ScriptedModel(["a", "b"]), said())
    for source in (opened.path, str(opened.path), list(read(opened.path))):
        assert ask(recorded(source), said()).text == "a"
        assert asyncio.run(aask(recorded(source), said())).text == "a"
    model = recorded(opened.path)
    assert isinstance(model, Model)
    assert repr(model) == "RecordedModel('scripted', left=1)"
    with pytest.raises(TraceError):
        recorded(tmp_path / "nothing")


@pytest.mark.requirement("models:replay:any-model")
def test_one_that_stands_for_no_model_answers_for_all(events) -> None:
    model = recorded(events)
    assert model.identity == "recorded"
    texts = [ask(model, conversation("same")).text for _ in range(3)]
    assert texts == ["first", "second", "other"]


@pytest.mark.requirement("models:replay:drift")
def test_drift_names_the_step_and_what_differs(events) -> None:
    def drift(request: Request, step: str, like: str = "one") -> str:
        with pytest.raises(ReplayError) as caught:
            ask(recorded(events, like=like), request, step=step)
        assert caught.value.step == step
        return str(caught.value)

    lead = "step 'dates' is not as recorded: "
    form = conversation("form", schema=SCHEMA)
    assert drift(conversation("farm", schema=SCHEMA), "dates") == (
        f"{lead}nearest is step 'dates', where messages[0] is 'form', not 'farm'"
    )
    assert drift(conversation("form", "more", schema=SCHEMA), "dates") == (
        f"{lead}nearest is step 'dates', where there are 1 messages, not 2"
    )
    assert drift(replace(form, schema=None), "dates") == (
        f"{lead}nearest is step 'dates', where schema is {SCHEMA!r}, not None"
    )
    assert drift(replace(form, stop=("x",)), "dates") == (
        f"{lead}nearest is step 'dates', where stop is [], not ['x']"
    )
    assert "where sampling is {'" in drift(replace(form, sampling=Sampling(seed=1)), "dates")
    system = Request(messages=(Message(role="system", content="form"),), schema=SCHEMA)
    assert drift(system, "dates") == (
        f"{lead}nearest is step 'dates', where messages[0] is of 'user', not 'system'"
    )
    assert drift(form, "dates", like="two") == (
        f"{lead}this request was asked of model 'one' there, not of 'two'"
    )


@pytest.mark.requirement("models:replay:drift")
def test_drift_in_a_long_text_shows_where_it_parts(said) -> None:
    text = "The quick brown fox jumps over the lazy dog. " * 20
    with run(None) as opened:
        ask(ScriptedModel(["a"]), said(text + "now"))
    with pytest.raises(ReplayError) as caught:
        ask(recorded(opened.events), said(text + "never"))
    assert str(caught.value) == (
        "step 'model' is not as recorded: nearest is step 'model', where messages[0] is "
        "'...the lazy dog. now', not '...the lazy dog. never'"
    )


@pytest.mark.requirement("models:replay:drift")
def test_what_only_the_whole_text_tells_is_said_as_such(said) -> None:
    text = "word " * 3000
    with run(None) as opened:
        ask(ScriptedModel(["a"]), said(text + "now"))
    assert ask(recorded(opened.events), said(text + "now")).text == "a"
    with pytest.raises(ReplayError) as caught:
        ask(recorded(opened.events), said(text + "not"))
    assert str(caught.value) == (
        "step 'model' is not as recorded: nearest is step 'model', where the difference lies in "
        "what the record cut or withheld"
    )


@pytest.mark.requirement("models:replay:exhausted")
def test_an_answer_is_given_as_often_as_it_was(said) -> None:
    with run(None) as opened:
        ask(ScriptedModel(["a"]), said())
    model = recorded(opened.events)
    ask(model, said())
    with pytest.raises(ReplayError) as caught:
        ask(model, said(), step="again")
    assert str(caught.value) == (
        "step 'again' is not as recorded: this request was answered 1 times there, and is asked "
        "once more"
    )
    with pytest.raises(ReplayError) as caught:
        ask(recorded([]), said())
    assert str(caught.value) == "step 'model' is not as recorded: it holds no model step"


@pytest.mark.requirement("models:replay:cut")
def test_an_answer_that_the_record_does_not_hold_whole_is_not_made_up(said) -> None:
    with run(None) as opened:
        ask(ScriptedModel(["a" * 5000, "password=hunter2-and-more"]), said(), step="long")
    with pytest.raises(ReplayError) as caught:
        ask(recorded(opened.events), said(), step="long")
    assert str(caught.value) == (
        "step 'long' of the record gave a text that the record does not hold whole: it was cut "
        "or redacted"
    )


class Odd(Exception):
    """A failure of a class that a replay does not know."""


@pytest.mark.requirement("models:replay:other-errors")
@pytest.mark.parametrize(
    ("raised", "kind", "text"),
    [
        (OSError("down"), OSError, "down"),
        (KeyError("bug"), KeyError, "'bug'"),
        (ConnectionResetError(104, "reset"), ConnectionResetError, "[Errno 104] reset"),
        (ValueError(), ValueError, ""),
        (UnicodeDecodeError("utf-8", b"x", 0, 1, "bad"), UnicodeError, None),
        (ExceptionGroup("many", [ValueError("one")]), Exception, "many (1 sub-exception)"),
        (DefinitionError("not so"), DefinitionError, "not so"),
        (Odd("strange"), TransportError, "strange"),
        (Odd(), TransportError, "Odd"),
    ],
    ids=lambda given: type(given).__name__ if isinstance(given, Exception) else None,
)
def test_an_exception_is_caught_in_a_replay_as_it_was(said, raised, kind, text) -> None:
    with run(None) as opened, pytest.raises(type(raised)):
        ask(ScriptedModel([raised]), said(), step="odd")
    with pytest.raises(Exception) as caught:  # noqa: PT011 - its class is what is tested
        ask(recorded(opened.events), said())
    assert type(caught.value) is kind
    assert str(caught.value) == (str(raised) if text is None else text)


@pytest.mark.requirement("models:replay:other-errors")
def test_what_a_record_cannot_raise_again_is_said(said) -> None:
    with run(None) as opened, pytest.raises(KeyboardInterrupt):
        ask(ScriptedModel([KeyboardInterrupt("enough")]), said(), step="odd")
    with pytest.raises(ReplayError) as caught:
        ask(recorded(opened.events), said())
    assert str(caught.value) == (
        "step 'odd' of the record ended with 'KeyboardInterrupt: enough', which cannot be raised "
        "again"
    )


@pytest.mark.requirement("models:replay:finish")
def test_how_an_answer_ended_is_replayed(said) -> None:
    cut = Completion(text='{"x"', finish="length")
    with run(None) as opened:
        first = ask(ScriptedModel([cut]), said(schema=SCHEMA))
    assert ask(recorded(opened.events), said(schema=SCHEMA)) == first
