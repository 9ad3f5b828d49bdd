"""Plugins at work in a step: sync and async, registered and gone again."""

from typing import Any

import pytest

from hornbook import Contract, ContractViolation, Violation, contract, plugins
from hornbook.errors import PluginError
from hornbook.hooks import hookimpl
from hornbook.step import Decision, Step

TEXT = Contract("text", output=str)
LOUD = Violation(clause="quiet", path=".", expected="a quiet answer", observed="a loud one")


@contract(TEXT, name="say")
def say() -> str:
    return "HELLO"


@contract(TEXT, name="say_later")
async def say_later() -> str:
    return "HELLO"


class Async:
    def __init__(self) -> None:
        self.asked: list[str] = []

    @hookimpl
    async def hornbook_before_step(self, step: Step) -> None:
        self.asked.append(f"before {step.name}")

    @hookimpl
    async def hornbook_check_output(self, output: object) -> list[Violation]:
        self.asked.append(f"check {output}")
        return [LOUD]

    @hookimpl
    def hornbook_on_violation(self) -> Decision:
        self.asked.append("decide")
        return Decision(action="substitute", value="hello")


@pytest.mark.requirement("hooks:calls:async")
async def test_async_and_sync_implementations_serve_an_async_step() -> None:
    plugin = Async()
    with plugins.registered(plugin), pytest.raises(ContractViolation):
        await say_later()
    assert plugin.asked == ["before say_later", "check HELLO", "decide", "check hello"]
    assert await say_later() == "HELLO"


@pytest.mark.requirement("hooks:calls:async")
def test_an_async_implementation_of_a_sync_step_is_one_clear_error() -> None:
    with plugins.registered(Async()), pytest.raises(PluginError) as caught:
        say()
    assert str(caught.value) == (
        "plugin 'Async' implements hornbook_before_step as async, and the step is sync: "
        "implement it as a plain function, or run the step async"
    )


@pytest.mark.requirement("hooks:step:check-output")
def test_the_violations_of_all_plugins_are_added_up() -> None:
    class One:
        @hookimpl
        def hornbook_check_output(self) -> list[Violation]:
            return [LOUD]

    with (
        plugins.registered(One(), "first"),
        plugins.registered(One(), "second"),
        pytest.raises(ContractViolation) as caught,
    ):
        say()
    assert caught.value.report.violations == (LOUD, LOUD)


@pytest.mark.requirement("hooks:calls:async")
@pytest.mark.parametrize("hook", ["hornbook_before_step", "hornbook_check_output"])
@pytest.mark.parametrize("answer", ["block", 3, LOUD])
def test_an_answer_of_another_type_is_one_clear_error(hook: str, answer: Any) -> None:
    def implementation(self: object) -> Any:
        return answer

    plugin = type("Wrong", (), {hook: hookimpl(implementation)})()
    with plugins.registered(plugin), pytest.raises(PluginError) as caught:
        say()
    assert "'Wrong'" in str(caught.value)
    assert hook in str(caught.value)


@pytest.mark.requirement("hooks:calls:async")
def test_an_implementation_that_raises_is_one_clear_error() -> None:
    class Raises:
        @hookimpl
        def hornbook_before_step(self) -> None:
            raise KeyError("key")

    with plugins.registered(Raises()), pytest.raises(PluginError) as caught:
        say()
    assert str(caught.value) == "plugin 'Raises' raised in hornbook_before_step: KeyError: 'key'"
