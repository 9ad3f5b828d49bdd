"""Scripts: what a model answers, in no host's form, and what counts as a breach of it."""

from typing import Any

import pytest

from hornbook.errors import DefinitionError, HornbookError
from hornbook.testing import Asked, Conversation, Reply, Script, ScriptError, ToolCall, call


def ask(conversation: Conversation, text: str = "hello") -> Reply:
    return conversation.next(Asked(text=text))


@pytest.mark.requirement("conformance:script:written")
@pytest.mark.parametrize(
    ("written", "reply"),
    [
        ("hello", Reply(text="hello")),
        (call("find", key=1), Reply(calls=(ToolCall(name="find", arguments={"key": 1}),))),
        ([call("a"), call("b")], Reply(calls=(ToolCall(name="a"), ToolCall(name="b")))),
        (Reply(text="hello", input_tokens=3), Reply(text="hello", input_tokens=3)),
    ],
)
def test_a_reply_may_be_written_in_several_forms(written: Any, reply: Reply) -> None:
    assert Script.of(written).replies == (reply,)


@pytest.mark.requirement("conformance:script:played")
def test_what_a_scripted_model_plays_is_a_script_or_one_that_was_opened() -> None:
    script = Script.of("hello")
    assert Conversation.of(script).script is script
    opened = script.open()
    assert Conversation.of(opened) is opened
    with pytest.raises(DefinitionError) as caught:
        Conversation.of("Paris")
    assert str(caught.value) == (
        "a scripted model plays a Script or a Conversation, not 'Paris': give Script.of(...)"
    )


@pytest.mark.requirement("conformance:script:written")
def test_an_exception_is_a_reply_that_raises() -> None:
    error = TimeoutError("too slow")
    reply = Reply.of(error)
    assert reply.error is error
    assert not reply.final
    assert Reply.of("text").final
    assert not Reply.of(call("find")).final


@pytest.mark.requirement("conformance:script:written")
@pytest.mark.parametrize("written", [17, [], ["text"], [call("a"), "text"], None])
def test_anything_else_is_no_reply(written: Any) -> None:
    with pytest.raises(DefinitionError, match=r"is no reply of a script$"):
        Script.of(written)


@pytest.mark.requirement("conformance:script:strict")
def test_replies_come_in_order_and_what_was_asked_is_kept() -> None:
    conversation = Script.of("one", call("two")).open()
    assert conversation.peek() == Reply(text="one")
    assert ask(conversation, "first").text == "one"
    assert ask(conversation, "second").calls == (ToolCall(name="two"),)
    assert conversation.peek() is None
    assert [asked.text for asked in conversation.asked] == ["first", "second"]
    conversation.finish()


@pytest.mark.requirement("conformance:script:strict")
def test_a_script_that_runs_out_says_what_the_model_was_asked_with() -> None:
    conversation = Script.of("one").open()
    ask(conversation)
    with pytest.raises(ScriptError) as caught:
        ask(conversation, "user: and\nthen?")
    assert str(caught.value) == (
        "the script has 1 reply, and the model was called once more, with: 'user: and then?'"
    )
    assert isinstance(caught.value, HornbookError)
    assert isinstance(caught.value, AssertionError)


@pytest.mark.requirement("conformance:script:strict")
def test_a_script_that_is_left_early_says_how_much_is_left() -> None:
    conversation = Script.of("one", "two", "three").open()
    ask(conversation)
    with pytest.raises(ScriptError) as caught:
        conversation.finish()
    assert str(caught.value) == "the model was called 1 time, and the script has 2 replies more"


@pytest.mark.requirement("conformance:script:strict")
def test_what_the_model_must_be_shown_is_looked_for_whatever_the_host_made_of_it() -> None:
    reply = Reply(text="ok", shown=('price: "4.5"\neuros',))
    conversation = Script.of(reply).open()
    assert ask(conversation, 'tool said: {\\"price: 4.5\\n euros\\"}') is reply


@pytest.mark.requirement("conformance:script:strict")
def test_what_the_model_was_not_shown_is_named_with_what_it_was_shown() -> None:
    conversation = Script.of(Reply(text="ok", shown=("the rule",))).open()
    with pytest.raises(ScriptError) as caught:
        ask(conversation, "user: hello")
    assert str(caught.value) == ("call 1: the model was not shown 'the rule', but: 'user: hello'")


@pytest.mark.requirement("conformance:script:strict")
def test_what_the_model_must_not_be_shown_is_found() -> None:
    conversation = Script.of(Reply(text="ok", hidden=("secret",))).open()
    with pytest.raises(ScriptError, match=r"^call 1: the model was shown 'secret'$"):
        ask(conversation, "a secret")


@pytest.mark.requirement("conformance:script:strict")
def test_a_breach_that_a_host_swallowed_comes_up_in_the_end() -> None:
    conversation = Script.of(Reply(text="ok", hidden=("secret",))).open()
    with pytest.raises(ScriptError):
        ask(conversation, "a secret")
    with pytest.raises(ScriptError, match=r"^call 1: the model was shown 'secret'$"):
        conversation.finish()


@pytest.mark.requirement("conformance:script:usage")
def test_calls_and_tokens_are_counted_also_where_no_reply_is_used_up() -> None:
    conversation = Script.of(Reply(text="ok", input_tokens=20, output_tokens=3)).open()
    conversation.spend(7)
    ask(conversation)
    assert (conversation.calls, conversation.tokens) == (2, 30)


@pytest.mark.requirement("conformance:script:strict")
def test_a_long_request_is_cut_to_its_end() -> None:
    conversation = Script.of(Reply(text="ok", shown=("x",))).open()
    with pytest.raises(ScriptError) as caught:
        ask(conversation, "a" * 1000 + " end")
    assert str(caught.value).endswith("a end'")
    assert len(str(caught.value)) < 400
