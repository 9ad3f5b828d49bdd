"""Registering plugins: whole or not at all, in a known order, for all threads."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import pytest

from hornbook.errors import PluginError
from hornbook.hooks import hookimpl
from hornbook.plugins import PluginInfo
from hornbook.step.hookset import HookSet, Impl


class Recorder:
    @hookimpl
    def hornbook_record(self, event: object) -> None: ...


class Other:
    @hookimpl
    def hornbook_record(self) -> None: ...


def kind(name: str) -> object:
    class Kind:
        @hookimpl
        def hornbook_register_clauses(self, register: Any) -> None:
            register(name, dict)

    return Kind()


def refusal(act: Callable[..., object], *arguments: object) -> str:
    with pytest.raises(PluginError) as caught:
        act(*arguments)
    return str(caught.value)


@pytest.mark.requirement("plugins:register:whole")
def test_a_plugin_is_published_as_a_new_generation_and_taken_back(make: Any) -> None:
    made = make()
    plugin = Recorder()
    assert made.plugins.register(plugin) == "Recorder"
    assert made.hooks.record == (Impl("Recorder", plugin.hornbook_record, ("event",)),)
    made.plugins.unregister(plugin)
    assert made.hooks.record == ()
    assert [hooks.generation for hooks in made.published] == [1, 2, 3]
    assert made.plugins.hook_set() is made.hooks


@pytest.mark.requirement("plugins:register:whole")
def test_the_core_alone_implements_no_hook_of_a_step(make: Any) -> None:
    hooks = make().plugins.hook_set()
    assert [impl.plugin for impl in hooks.render_rules] == ["hornbook"]
    assert hooks == HookSet(generation=1, render_rules=hooks.render_rules)


@pytest.mark.requirement("plugins:register:order")
def test_the_later_plugin_is_called_first_unless_it_asks_otherwise(make: Any) -> None:
    class Last:
        @hookimpl(trylast=True)
        def hornbook_record(self) -> None: ...

    class First:
        @hookimpl(tryfirst=True)
        def hornbook_record(self) -> None: ...

    made = make()
    for plugin in (First(), Recorder(), Other(), Last()):
        made.plugins.register(plugin)
    called = [impl.plugin for impl in made.hooks.record]
    assert called == ["First", "Other", "Recorder", "Last"]


@pytest.mark.requirement("plugins:register:whole")
def test_a_module_is_a_plugin_under_its_own_name(make: Any) -> None:
    module = ModuleType("house.rules")

    @hookimpl
    def hornbook_record(event: object) -> None: ...

    module.__dict__["hornbook_record"] = hornbook_record
    assert make().plugins.register(module) == "house.rules"


@pytest.mark.requirement("plugins:register:checked")
def test_what_is_refused_changes_nothing(make: Any) -> None:
    class Wrong:
        @hookimpl
        def hornbook_record(self, event: object) -> None: ...

        @hookimpl
        def hornbook_before_step(self, stap: object) -> None: ...

    made = make()
    made.plugins.register(Recorder())
    before = (made.plugins.report(), made.hooks, len(made.published))
    refusal(made.plugins.register, Wrong())
    assert (made.plugins.report(), made.hooks, len(made.published)) == before
    made.plugins.register(Other(), "Wrong")


@pytest.mark.requirement("plugins:register:checked")
def test_a_plugin_without_hooks_is_refused(make: Any) -> None:
    made = make()
    assert refusal(made.plugins.register, object()) == (
        "plugin 'object' has no function that is marked with @hookimpl"
    )
    assert [info.name for info in made.plugins.report()] == ["hornbook"]


@pytest.mark.requirement("plugins:register:checked")
def test_duplicates_are_refused(make: Any) -> None:
    @dataclass(frozen=True)
    class Equal:
        @hookimpl
        def hornbook_record(self) -> None: ...

    made = make()
    plugin = Recorder()
    made.plugins.register(plugin)
    made.plugins.register(Equal())
    assert refusal(made.plugins.register, Recorder()) == (
        "a plugin 'Recorder' is registered already (registered by the program)"
    )
    assert refusal(made.plugins.register, plugin, "again") == (
        "plugin 'again' is registered as 'Recorder'"
    )
    assert refusal(made.plugins.register, Equal(), "again") == (
        "plugin 'again' equals one that is registered"
    )
    assert made.plugins.register(Recorder(), "again") == "again"


@pytest.mark.requirement("plugins:register:checked")
def test_unregistering_what_is_not_there_says_what_is(make: Any) -> None:
    made = make()
    made.plugins.register(Recorder())
    assert refusal(made.plugins.unregister, "Recordr") == (
        "no plugin named 'Recordr' is registered; did you mean 'Recorder'?"
    )
    assert refusal(made.plugins.unregister, "x") == (
        "no plugin named 'x' is registered; there are Recorder, hornbook"
    )
    assert refusal(made.plugins.unregister, "hornbook") == (
        "the plugin 'hornbook' is the core itself, and stays"
    )
    assert refusal(made.plugins.unregister, 3).startswith("no plugin 3 is registered")


@pytest.mark.requirement("hooks:register:clauses", "clause:kinds:registered")
def test_what_a_plugin_registers_is_known_with_its_plugin(make: Any) -> None:
    made = make()
    made.plugins.register(kind("iban"), "bank")
    entry = made.plugins.registered("clauses")["iban"]
    assert (entry.name, entry.factory, entry.plugin) == ("iban", dict, "bank")
    made.plugins.unregister("bank")
    assert "iban" not in made.plugins.registered("clauses")


@pytest.mark.requirement("hooks:register:clauses")
def test_a_name_that_is_taken_is_refused_naming_both_plugins(make: Any) -> None:
    made = make()
    made.plugins.register(kind("iban"), "bank")
    assert refusal(made.plugins.register, kind("iban"), "shop") == (
        "plugin 'shop' registers the clause kind 'iban', which plugin 'bank' has"
    )
    assert refusal(made.plugins.register, kind("grounded"), "shop") == (
        "plugin 'shop' registers the clause kind 'grounded', which plugin 'hornbook' has"
    )
    assert [info.name for info in made.plugins.report()] == ["hornbook", "bank"]


@pytest.mark.requirement("hooks:register:models")
@pytest.mark.parametrize(
    ("name", "factory", "sentence"),
    [
        ("two words", dict, "registers a model under 'two words'; a name is letters, digits and "),
        (None, dict, "registers a model under None; a name is letters, digits and _ . : / -"),
        ("gpt", "gpt", "registers the model 'gpt' with a factory that is no function"),
    ],
)
def test_an_ill_formed_registration_is_refused(
    make: Any, name: Any, factory: Any, sentence: str
) -> None:
    class Mine:
        @hookimpl
        def hornbook_register_models(self, register: Any) -> None:
            register(name, factory)

    assert sentence in refusal(make().plugins.register, Mine())


@pytest.mark.requirement("hooks:register:models")
def test_registering_twice_too_late_or_in_an_exception_is_refused(make: Any) -> None:
    kept: list[Any] = []

    class Twice:
        @hookimpl
        def hornbook_register_models(self, register: Any) -> None:
            kept.append(register)
            register("a", dict)
            register("a", dict)

    class Raises:
        @hookimpl
        def hornbook_register_models(self) -> None:
            raise KeyError("key")

    made = make()
    assert refusal(made.plugins.register, Twice()) == "plugin 'Twice' registers the model 'a' twice"
    assert refusal(made.plugins.register, Raises()) == (
        "plugin 'Raises': hornbook_register_models raised KeyError: 'key'"
    )

    class Late:
        @hookimpl
        def hornbook_register_models(self, register: Any) -> None:
            kept.append(register)

    made.plugins.register(Late())
    assert refusal(kept[-1], "a", dict) == (
        "plugin 'Late' registers the model 'a' too late: its hook has returned"
    )


@pytest.mark.requirement("plugins:register:checked")
def test_a_plugin_cannot_register_another_from_its_registration(make: Any) -> None:
    made = make()

    class Nested:
        @hookimpl
        def hornbook_register_models(self) -> None:
            made.plugins.register(Recorder())

    assert refusal(made.plugins.register, Nested()) == (
        "plugin 'Recorder' cannot be registered while 'Nested' is"
    )


@pytest.mark.requirement("plugins:discovery:first-use")
def test_two_threads_on_first_use_load_each_plugin_once(make: Any) -> None:
    from hornbook.plugins.discovery import Candidate

    loads: list[str] = []
    inside, both = threading.Event(), threading.Barrier(2, timeout=30)

    def load() -> object:
        loads.append("loaded")
        inside.wait(0.2)
        return Recorder()

    made = make(candidates=[Candidate(name="slow", load=load)])
    seen: list[HookSet] = []

    def first_use() -> None:
        both.wait()
        seen.append(made.plugins.hook_set())

    threads = [threading.Thread(target=first_use) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert loads == ["loaded"]
    assert seen == [made.hooks, made.hooks]
    assert len(made.published) == 1


@pytest.mark.requirement("plugins:register:whole")
def test_many_threads_registering_at_once_lose_nobody(make: Any) -> None:
    made = make()
    ready = threading.Barrier(8, timeout=30)

    def add(number: int) -> None:
        ready.wait()
        made.plugins.register(Recorder(), f"one-{number}")

    threads = [threading.Thread(target=add, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert {impl.plugin for impl in made.hooks.record} == {f"one-{n}" for n in range(8)}
    assert [hooks.generation for hooks in made.published] == list(range(1, 10))


@pytest.mark.requirement("plugins:discovery:first-use")
def test_a_plugin_that_asks_for_the_hooks_while_it_is_loaded_gets_what_is_there(make: Any) -> None:
    from hornbook.plugins.discovery import Candidate

    made = make(candidates=[Candidate(name="curious", load=lambda: made.plugins.hook_set())])
    assert made.plugins.hook_set().generation == 1
    assert made.plugins.report()[0].name == "hornbook"


@pytest.mark.requirement("plugins:discovery:first-use")
def test_an_interrupted_discovery_starts_afresh(make: Any) -> None:
    from hornbook.plugins.discovery import Candidate

    answers = iter([KeyboardInterrupt(), Recorder()])

    def load() -> object:
        answer = next(answers)
        if isinstance(answer, BaseException):
            raise answer
        return answer

    made = make(candidates=[Candidate(name="slow", load=load)])
    with pytest.raises(KeyboardInterrupt):
        made.plugins.hook_set()
    assert [info.name for info in made.plugins.report()] == ["hornbook", "slow"]
    assert made.plugins.report()[1] == PluginInfo(name="slow", hooks=("hornbook_record",))
