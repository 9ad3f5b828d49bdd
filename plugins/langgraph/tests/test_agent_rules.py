"""Learned rules in an agent's prompt: where they come from, how they stand there, the record."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage, SystemMessage

import hornbook
from hornbook.rules import LearnedRule, RuleLibrary, SymbolicForm
from hornbook_langgraph import HornbookMiddleware
from hornbook_langgraph.testing import ScriptedChatModel, call


def get_order(order_id: str) -> str:
    """Look an order up."""
    return f"{order_id}: 40.0"


GOOD = [call("get_order", order_id="A17"), "Done."]


def agent_of(replies: list[Any], tools: list[Any], *middleware: Any, **options: Any) -> Any:
    model = ScriptedChatModel(replies=replies)
    agent = create_agent(model, tools, middleware=middleware, **options)
    agent.script = model
    return agent


def ask(text: str) -> dict[str, Any]:
    return {"messages": [HumanMessage(text)]}


def rule(text: str, ident: str) -> LearnedRule:
    form = SymbolicForm(
        domain="SUPPORT",
        qualifier=("REFUND",),
        action=("VERIFY",),
        strength="MANDATORY",
        error="dec",
    )
    return LearnedRule(id=ident, text=text, symbolic=form, status="approved")


RULES = RuleLibrary([rule("If a refund is asked for, then verify the order first.", "verify")])


@pytest.mark.requirement("agents:middleware:rules", "rules:inject:recorded")
def test_rules_stand_in_the_system_message_and_in_the_record(go: Any):
    agent = agent_of(GOOD, [get_order], HornbookMiddleware(rules=RULES), system_prompt="Be kind.")
    with hornbook.run(trace=None) as run:
        go(agent, ask("Refund A17"))
    system = [messages[0] for messages in agent.script.asked]
    assert {m.text for m in system} == {
        "Be kind.\n\nRules learned from earlier runs. Apply each one whose condition holds; they "
        "permit nothing that is not permitted otherwise.\n"
        "- Must: If a refund is asked for, then verify the order first."
    }
    recorded = [e for e in run.events if e.kind == "rule"]
    assert [e.name for e in recorded] == ["verify"] * 2
    steps = {e.id for e in run.events if e.kind == "step.end" and e.name == "model"}
    assert {e.id for e in recorded} == steps
    assert recorded[0].data["rule"] == RULES["verify"].digest
    assert recorded[0].data["text"].startswith("sha256:")


@pytest.mark.requirement("agents:middleware:rules")
def test_rules_go_after_a_prompt_of_blocks_and_stand_alone_without_one(go: Any):
    blocks = SystemMessage([{"type": "text", "text": "Be kind.", "cache_control": {"type": "x"}}])
    for prompt in (blocks, None):
        agent = agent_of(["Hi."], [], HornbookMiddleware(rules=RULES), system_prompt=prompt)
        go(agent, ask("hello"))
        content = agent.script.asked[0][0].content
        if prompt is None:
            assert content.startswith("Rules learned")
        else:
            assert content[0] == blocks.content[0]
            assert content[1]["text"].startswith("Rules learned")


@pytest.mark.requirement(
    "agents:middleware:rules",
    "rules:request:namespace",
    "hooks:rules:retrieve",
    "hooks:rules:render",
)
def test_plugins_are_asked_where_a_namespace_is_named_and_may_write_the_text(go: Any):
    from hornbook import plugins
    from hornbook.hooks import hookimpl

    requests: list[Any] = []

    class Rules:
        @hookimpl
        def hornbook_retrieve_rules(self, request: Any) -> Any:
            requests.append(request)
            return [rule("If it rains, then stay at home.", "rain")]

        @hookimpl
        def hornbook_render_rules(self, rules: Any) -> str:
            return " / ".join(one.id for one in rules)

    def prompt(middleware: Any, namespace: str | None = None) -> str:
        agent = agent_of(["Hi."], [], middleware)
        with hornbook.run(trace=None, namespace=namespace):
            go(agent, ask("hello"))
        first = agent.script.asked[0][0]
        return first.text if first.type == "system" else ""

    with plugins.registered(Rules()):
        assert prompt(HornbookMiddleware()) == ""
        assert prompt(HornbookMiddleware(rules=RULES)) == "verify"
        assert prompt(HornbookMiddleware(namespace="mine")) == "rain"
        assert prompt(HornbookMiddleware(rules=RULES), "ours") == "verify / rain"
    assert [(r.namespace, r.query, r.step) for r in requests] == [
        ("mine", "hello", "model"),
        ("ours", "hello", "model"),
    ]


@pytest.mark.requirement("agents:middleware:rules")
def test_rules_may_be_given_as_a_file_or_as_any_object_that_retrieves(go: Any, tmp_path: Path):
    RULES.save(tmp_path / "rules.jsonl")

    class Found:
        def retrieve(self, request: Any) -> Any:
            return [rule("If someone asks, then answer them.", request.query)]

    for rules, words in ((str(tmp_path / "rules.jsonl"), "verify"), (Found(), "If someone asks")):
        agent = agent_of(["Hi."], [], HornbookMiddleware(rules=rules))
        go(agent, ask("hello"))
        assert words in agent.script.asked[0][0].text


@pytest.mark.requirement("agents:middleware:rules", "hooks:calls:async")
def test_a_plugin_may_retrieve_rules_async_when_the_agent_runs_async():
    from hornbook import plugins
    from hornbook.errors import PluginError
    from hornbook.hooks import hookimpl

    class Later:
        @hookimpl
        async def hornbook_retrieve_rules(self, request: Any) -> Any:
            await asyncio.sleep(0)
            return [rule("If someone asks, then answer them.", "later")]

    with plugins.registered(Later()):
        agent = agent_of(["Hi.", "Hi."], [], HornbookMiddleware(namespace="mine"))
        asyncio.run(agent.ainvoke(ask("hello")))
        assert "If someone asks" in agent.script.asked[0][0].text
        with pytest.raises(PluginError, match="implements hornbook_retrieve_rules as async"):
            agent.invoke(ask("hello"))


@pytest.mark.requirement("agents:middleware:rules", "agents:middleware:finish")
def test_rules_are_found_once_for_a_call_and_stay_for_its_retries(go: Any):
    from hornbook import Contract, Recover, clauses

    asked: list[Any] = []

    class Counting:
        def retrieve(self, request: Any) -> Any:
            asked.append(request)
            return [rule("If someone asks, then answer them.", "count")]

    held = Contract("short", ensures=[clauses.that("short", lambda text: len(text) < 5)])
    with pytest.warns(UserWarning, match="astream_events"):
        middleware = HornbookMiddleware({"model": (held, Recover(retry=1))}, rules=Counting())
    agent = agent_of(["much too long", "Hi."], [], middleware)
    with hornbook.run(trace=None) as run:
        go(agent, ask("hello"))
    assert len(asked) == 1
    assert [messages[0].type for messages in agent.script.asked] == ["system", "system"]
    assert [e.name for e in run.events if e.kind == "rule"] == ["count"]
