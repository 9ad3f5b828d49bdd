"""Scripted models: what tests and examples stand on."""

import asyncio

import pytest

from hornbook.errors import DefinitionError
from hornbook.models import Completion, Message, Request, ScriptedModel, TransportError, ask


@pytest.mark.requirement("models:scripted:list")
def test_a_list_answers_in_order_and_runs_out(said) -> None:
    model = ScriptedModel(["one", {"two": 2}, [3], 4, None])
    assert [ask(model, said()).text for _ in range(5)] == ["one", '{"two": 2}', "[3]", "4", "null"]
    with pytest.raises(DefinitionError) as caught:
        ask(model, said("again"))
    told = "the script has 5 answers, and the model is asked once more: 'again'"
    assert str(caught.value) == told
    assert (model.calls, repr(model)) == (6, "ScriptedModel(identity='scripted', calls=6)")
    assert model.requests[-1] == said("again")


@pytest.mark.requirement("models:scripted:mapping")
def test_a_mapping_is_looked_up_by_the_last_message() -> None:
    model = ScriptedModel({"cat": "meow", "a cat and a dog": "both", "dog": "woof"})

    def answer(*texts: str) -> str:
        said = tuple(Message(role="user", content=text) for text in texts)
        return ask(model, Request(messages=said)).text

    assert answer("the cat") == "meow"
    assert answer("a cat and a dog") == "both"
    assert answer("cat", "a dog, not a cat") == "meow"
    with pytest.raises(DefinitionError) as caught:
        answer("a fish")
    assert str(caught.value) == "the script has no answer to 'a fish'"


@pytest.mark.requirement("models:scripted:function")
def test_a_function_gets_the_request(said) -> None:
    model = ScriptedModel(lambda request: request.messages[0].content.upper(), identity="upper")
    made = ask(model, said("hello"))
    assert (made.text, made.model) == ("HELLO", "upper")


@pytest.mark.requirement("models:scripted:answers")
def test_an_answer_may_be_a_completion_or_an_exception(said) -> None:
    cut = Completion(text="cut", finish="length", model="other")
    model = ScriptedModel([cut, Completion(text="x"), ValueError("bug"), KeyboardInterrupt()])
    assert ask(model, said()) == cut
    assert ask(model, said()).model == "scripted"
    with pytest.raises(ValueError, match="bug"):
        ask(model, said())
    with pytest.raises(KeyboardInterrupt):
        ask(model, said())


@pytest.mark.requirement("models:scripted:delay")
def test_a_delay_is_bounded_by_the_time_that_is_given(said, clock) -> None:
    model = ScriptedModel(["a"] * 2, delay=20)
    for complete in (
        model.complete,
        lambda r, timeout: asyncio.run(model.acomplete(r, timeout=timeout)),
    ):
        with pytest.raises(TransportError) as caught:
            complete(said(), timeout=0.05)
        assert str(caught.value) == "model 'scripted' did not answer within 0.05 s"
        assert caught.value.retryable
    assert clock() < 5


@pytest.mark.requirement("models:scripted:definition")
@pytest.mark.parametrize("script", ["text", 3, b"x"])
def test_what_is_no_script_is_refused(script) -> None:
    with pytest.raises(DefinitionError) as caught:
        ScriptedModel(script)
    told = f"ScriptedModel({script!r}): a script is a list, a mapping or a function"
    assert str(caught.value) == told


@pytest.mark.requirement("models:scripted:definition")
def test_an_answer_that_is_none_is_refused(said) -> None:
    for answer in (object(), TransportError, {1: {2}}):
        with pytest.raises(DefinitionError, match=r"^the script answers .* no text, JSON value, "):
            ask(ScriptedModel([answer]), said())

    async def answer(request: Request) -> str:
        return "x"

    with pytest.raises(DefinitionError, match="which is no text, JSON value, Completion or exc"):
        ask(ScriptedModel(answer), said())
    for delay in (-1, float("nan"), "1"):
        with pytest.raises(DefinitionError, match=r"^ScriptedModel\(delay="):
            ScriptedModel(["a"], delay=delay)
