"""The example plugin: it is loaded, and every hook that there is fires."""

import runpy
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import hornbook
from hornbook import Contract, ContractViolation, Recover, clauses, contract, plugins
from hornbook.plugins.checks import hook_names
from hornbook.rules import RuleRequest

FILE = Path(__file__).parents[1] / "examples" / "house_plugin.py"

PLAIN = Contract("plain", output=str)


@pytest.fixture(scope="module")
def house() -> SimpleNamespace:
    return SimpleNamespace(**runpy.run_path(str(FILE)))


@pytest.fixture
def plugin(house: SimpleNamespace) -> Iterator[Any]:
    plugin = house.HousePlugin()
    with plugins.registered(plugin, "house"):
        yield plugin


@pytest.mark.requirement("hooks:specs:implemented")
def test_it_implements_every_hook(plugin: Any) -> None:
    found = {info.name: info for info in plugins.report()}["house"]
    assert (found.status, found.hooks) == ("loaded", tuple(sorted(hook_names())))


@pytest.mark.requirement("hooks:step:before")
def test_it_blocks_a_step_that_then_does_not_run(plugin: Any) -> None:
    ran: list[str] = []

    @contract(PLAIN, name="transfer_money")
    def transfer() -> str:
        ran.append("ran")
        return ""

    with hornbook.run() as run, pytest.raises(ContractViolation) as caught:
        transfer()
    assert ran == []
    assert caught.value.report.attempts == 0
    assert caught.value.report.violations[0].hint == "money is transferred at the counter only"
    assert [event.name for event in run.events if event.kind == "decision"] == ["block"]


@pytest.mark.requirement("hooks:step:check-output", "hooks:step:on-violation")
def test_it_has_an_address_written_again_and_halts_at_the_second(
    plugin: Any, house: SimpleNamespace
) -> None:
    letters = iter(["Write to ann@example.com.", "Write by e-mail."])

    @contract(PLAIN, recover=Recover(retry=1))
    def careful() -> str:
        return next(letters)

    @contract(PLAIN, recover=Recover(retry=5))
    def careless() -> str:
        calls.append(1)
        return "ann@example.com"

    calls: list[int] = []
    assert careful() == "Write by e-mail."
    with pytest.raises(ContractViolation) as caught:
        careless()
    assert len(calls) == 2
    assert [one.clause for one in caught.value.report.violations] == [house.NO_ADDRESS]


@pytest.mark.requirement("hooks:step:on-error")
def test_it_stands_in_for_a_ledger_that_does_not_answer_and_for_nothing_else(
    plugin: Any, house: SimpleNamespace
) -> None:
    assert house.office(lambda prompt: "")["look up"]() == "DE02120300000000202051"

    @contract(PLAIN)
    def wrong() -> str:
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        wrong()


@pytest.mark.requirement("hooks:step:record", "hooks:register:trace-sinks")
def test_it_sees_every_event_by_hook_and_by_sink(
    plugin: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from hornbook import config

    @contract(PLAIN, name="greet")
    def greet() -> str:
        return "hello"

    monkeypatch.setenv("HORNBOOK_TRACE_SINKS", "house-log")
    config.reload()
    try:
        with hornbook.run() as memory:
            greet()
        with hornbook.run(trace=tmp_path) as file:
            greet()
    finally:
        monkeypatch.undo()
        config.reload()
    kinds = ["run.start", "step.start", "step.end", "run.end"]
    assert plugin.seen == dict.fromkeys(kinds, 2)
    assert [line.split()[0] for line in plugin.log] == kinds + kinds
    assert [event.kind for event in memory.events] == kinds
    assert [event.kind for event in file.events] == kinds


@pytest.mark.requirement("hooks:rules:retrieve", "hooks:rules:render")
def test_it_finds_and_renders_rules_for_its_own_namespace(
    plugin: Any, house: SimpleNamespace
) -> None:
    def ask(namespace: str) -> tuple[object, list[object]]:
        request = RuleRequest(namespace=namespace, query="my account")
        hooks = plugins.hook_set()
        (retrieve,) = [one for one in hooks.retrieve_rules if one.plugin == "house"]
        rules = retrieve.function(request=request)
        given = {"request": request, "rules": rules or ()}
        texts = [
            one.function(**{name: given[name] for name in one.argnames})
            for one in hooks.render_rules
        ]
        return rules, texts

    rules, (own, default) = ask("office")
    assert rules == [house.GREETING]
    assert own == f"The house rules of the office.\n{default}"
    assert ask("elsewhere") == (None, [None, ""])


@pytest.mark.requirement("hooks:register:clauses", "clause:kinds:registered")
@pytest.mark.parametrize(
    ("number", "valid"),
    [
        ("DE02120300000000202051", True),
        ("gb82 west 1234 5698 7654 32", True),
        ("DE02120300000000202052", False),
        ("DE02", False),
    ],
)
def test_its_clause_kind_is_there_while_it_is(plugin: Any, number: str, *, valid: bool) -> None:
    account = Contract("account", output=str, ensures=[clauses.kind("iban")(".")])
    report = account.check(number)
    assert report.ok is valid
    assert [violation.clause for violation in report.violations] == ["iban ."] * (not valid)


@pytest.mark.requirement("hooks:register:clauses")
def test_its_clause_kind_goes_with_it() -> None:
    with pytest.raises(hornbook.HornbookError, match="there is no clause kind 'iban'"):
        clauses.kind("iban")


@pytest.mark.requirement("hooks:register:models")
def test_its_model_is_registered(plugin: Any) -> None:
    model = plugins.models()["scripted"]
    assert model.plugin == "house"
    assert model()("a letter") == "Write to ann@example.com."


@pytest.mark.requirement("hooks:specs:implemented")
def test_it_runs_as_a_program(house: SimpleNamespace, capsys: pytest.CaptureFixture[str]) -> None:
    house.main()
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == ["write", "look up", "transfer", "recorded"]
    assert "house" not in {info.name for info in plugins.report()}
