"""Where a conversation's values come from, whatever happens to its history."""

from types import SimpleNamespace
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from hornbook_langgraph.conversation import Conversations

pytestmark = pytest.mark.requirement("agents:middleware:guard", "guard:context:sources")


def runtime(thread: str = "t") -> Any:
    return SimpleNamespace(execution_info=SimpleNamespace(thread_id=thread))


def human(text: str, ident: str) -> HumanMessage:
    return HumanMessage(text, id=ident)


def called(ident: str, **args: Any) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": "find", "args": args, "id": ident}], id=f"ai{ident}")


def result(text: str, ident: str, **more: Any) -> ToolMessage:
    return ToolMessage(text, tool_call_id=ident, name="find", id=f"tool{ident}", **more)


def summary(text: str) -> HumanMessage:
    return HumanMessage(text, id="s", additional_kwargs={"lc_source": "summarization"})


def names(conversations: Conversations, *messages: BaseMessage, **state: Any) -> dict[str, str]:
    context = conversations.context(runtime(), {"messages": list(messages), **state})
    return {source.name: source.text for source in context.sources()}


def test_turns_come_before_results_and_results_before_the_state():
    found = names(
        Conversations(),
        SystemMessage("Orders: X"),
        human("one", "1"),
        called("a", order="A"),
        result("found A", "a"),
        human("two", "2"),
        result("no", "b", status="error"),
        customer={"id": 7},
        when=object(),
        jump_to="end",
        nothing=None,
    )
    assert list(found.items()) == [
        ("turn 1", "one"),
        ("turn 2", "two"),
        ("result of find", "found A"),
        ("state.customer", '{"id": 7}'),
    ]


def test_what_a_result_only_echoes_is_known():
    conversations = Conversations()
    messages = [called("a", order="A99"), result("looked for A99", "a")]
    (source,) = conversations.sources(runtime(), {"messages": messages})
    assert source.echoes("A99")


def test_a_history_that_grows_is_read_from_where_it_was_left():
    conversations = Conversations()
    first = human("one", "1")
    assert names(conversations, first) == {"turn 1": "one"}
    grown = names(conversations, first, called("a"), result("r", "a"), human("two", "2"))
    assert grown == {"turn 1": "one", "turn 2": "two", "result of find": "r"}


def test_what_was_summarised_away_is_still_there_and_the_summary_is_not():
    conversations = Conversations()
    conversations.see(runtime(), [human("it is A17", "1"), called("a"), result("A18", "a")])
    found = names(conversations, summary("about A99"), human("go on", "2"))
    assert found == {"turn 1": "go on", "earlier turn 1": "it is A17", "result of find": "A18"}


def test_a_summary_counts_where_nothing_is_known_of_what_it_stands_for():
    found = names(Conversations(), summary("it is about A17"), human("go on", "2"))
    assert found == {"turn 1": "go on", "summary": "it is about A17"}


def test_what_time_travel_took_back_never_happened():
    conversations = Conversations()
    first = human("one", "1")
    names(conversations, first, called("a"), result("A18", "a"), human("two", "2"))
    assert names(conversations, first, human("other", "3")) == {"turn 1": "one", "turn 2": "other"}


def test_conversations_are_kept_apart():
    conversations = Conversations()
    conversations.see(runtime("a"), [human("A17", "1")])
    (source,) = conversations.sources(runtime("b"), {"messages": [human("B18", "2")]})
    assert source.text == "B18"
    unknown = conversations.sources(SimpleNamespace(), {"messages": [human("C19", "3")]})
    assert [source.text for source in unknown] == ["C19"]


def test_memory_is_bounded():
    conversations = Conversations()
    for number in range(2_000):
        conversations.see(runtime(str(number)), [human("x", "1")])
    assert len(conversations._known) <= 256
    assert len(conversations._unread) <= 65
    many = [human(str(n), str(n)) for n in range(2_000)]
    list(conversations.sources(runtime(), {"messages": many}))
    assert len(conversations._known["t"]._seen) <= 512


def test_states_that_are_lists_or_objects_are_read_too():
    conversations = Conversations()
    message = human("one", "1")
    for state in ([message], SimpleNamespace(messages=[message])):
        assert [s.text for s in conversations.sources(runtime(), state)] == ["one"]
    assert list(Conversations().sources(runtime(), {})) == []
