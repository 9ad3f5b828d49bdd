"""Rules for a model call: where they come from, how they are written, what is recorded."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from hornbook import Contract, canon, contract, plugins, run
from hornbook.errors import DefinitionError, PluginError
from hornbook.hooks import hookimpl
from hornbook.hosting import Rules
from hornbook.rules import LearnedRule, RuleLibrary, RuleRequest, SymbolicForm, render
from hornbook.step.effects import adrive, drive


def rule(name: str) -> LearnedRule:
    form = SymbolicForm(domain="ORDERS", action=("LOOK_UP_FIRST",), error="dec")
    text = f"If {name} is asked for, then look it up first."
    return LearnedRule(id=name, text=text, status="approved", symbolic=form)


ONE, TWO = rule("one"), rule("two")


class Finding:
    """A plugin that finds rules, and keeps what it was asked."""

    def __init__(self, *found: Any) -> None:
        self._found = list(found)
        self.asked: list[RuleRequest] = []

    @hookimpl
    def hornbook_retrieve_rules(self, request: RuleRequest) -> list[LearnedRule]:
        self.asked.append(request)
        return self._found


def found(rules: Rules) -> str:
    return drive(rules.text("where is it?", ["find"], "desk"))


@pytest.mark.requirement("hosting:rules:sources")
def test_rules_come_from_a_library_a_file_or_an_object(tmp_path: Path) -> None:
    library = RuleLibrary([ONE])
    library.save(tmp_path / "rules.jsonl")
    assert found(Rules(library)) == render([ONE])
    assert found(Rules(tmp_path / "rules.jsonl")) == render([ONE])
    assert found(Rules()) == ""
    assert found(Rules(RuleLibrary())) == ""


@pytest.mark.requirement("hosting:rules:sources")
def test_what_cannot_give_rules_is_refused() -> None:
    with pytest.raises(DefinitionError) as caught:
        Rules(["look first"])
    assert str(caught.value) == (
        "rules=['look first']: give a RuleLibrary, the path of one, or an object that has "
        "retrieve(request)"
    )


@pytest.mark.requirement("hosting:rules:sources")
async def test_a_source_may_be_async() -> None:
    class Store:
        async def retrieve(self, request: RuleRequest) -> Sequence[LearnedRule]:
            return [TWO]

    assert await adrive(Rules(Store()).text("q", [])) == render([TWO])


@pytest.mark.requirement("hosting:rules:namespace")
def test_plugins_are_asked_only_where_a_namespace_is_named() -> None:
    plugin = Finding(ONE)
    with plugins.registered(plugin):
        assert found(Rules(RuleLibrary([TWO]))) == render([TWO])
        assert plugin.asked == []
        assert found(Rules(RuleLibrary([TWO]), "shop")) == render([ONE, TWO])
        with run(trace=None, namespace="desk"):
            assert Rules().may_apply()
            assert found(Rules()) == render([ONE])
            assert found(Rules(namespace="shop")) == render([ONE])
        assert found(Rules(RuleLibrary([ONE], namespace="own"))) == render([ONE])
    assert [request.namespace for request in plugin.asked] == ["shop", "desk", "shop", "own"]
    asked = plugin.asked[0]
    assert (asked.query, asked.tools, asked.agent, asked.step) == (
        "where is it?",
        ("find",),
        "desk",
        "model",
    )
    assert not Rules().may_apply()


@pytest.mark.requirement("hosting:rules:written")
def test_a_plugin_may_write_the_text() -> None:
    class Writing:
        @hookimpl
        def hornbook_render_rules(self, rules: Sequence[LearnedRule]) -> str:
            return "; ".join(rule.id for rule in rules)

    with plugins.registered(Writing()):
        assert found(Rules(RuleLibrary([ONE, TWO]))) == "one; two"


@pytest.mark.requirement("hosting:rules:checked")
@pytest.mark.parametrize(("gives", "said"), [(["look first"], "list"), ("look", "str")])
def test_a_plugin_that_gives_no_rules_is_named(gives: Any, said: str) -> None:
    class Wrong:
        @hookimpl
        def hornbook_retrieve_rules(self) -> Any:
            return gives

    with plugins.registered(Wrong()), pytest.raises(PluginError) as caught:
        found(Rules(namespace="shop"))
    assert str(caught.value) == (
        f"plugin 'Wrong' gave {said} from hornbook_retrieve_rules, not a list of LearnedRules "
        f"or None"
    )


@pytest.mark.requirement("hosting:rules:recorded")
def test_each_rule_that_is_shown_is_recorded_once_with_a_digest_of_the_text() -> None:
    rules = Rules(RuleLibrary([ONE]), "shop")

    @contract(Contract("text", output=str), name="ask")
    def ask() -> str:
        return found(rules)

    with plugins.registered(Finding(ONE, TWO)), run(trace=None) as recorded:
        text = ask()
    events = [event for event in recorded.events if event.kind == "rule"]
    assert [event.name for event in events] == ["one", "two"]
    assert events[0].data == {"rule": ONE.digest, "version": 1, "text": canon.digest(text)}
