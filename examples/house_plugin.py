"""One plugin that implements every hook of Hornbook: the house rules of a small office.

Run `python examples/house_plugin.py`. The steps below know nothing of the plugin: it blocks
one that nobody may take, has an answer with an e-mail address written again, stands in for
a ledger that does not answer, counts what happens, and brings a clause kind of its own.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Unpack

import hornbook
from hornbook import Contract, ContractViolation, Recover, Violation, clauses, contract, plugins
from hornbook.contracts.clause import Clause
from hornbook.contracts.text_clauses import AtPath
from hornbook.hooks import Register, hookimpl
from hornbook.rules import LearnedRule, RuleRequest, SymbolicForm, render
from hornbook.step import Decision, Step
from hornbook.trace import Event

CLOSED = frozenset({"transfer_money"})
NO_ADDRESS = "no e-mail address"
ADDRESS = re.compile(r"[\w.+-]+@[\w-]+\.[\w.]+")

GREETING = LearnedRule(
    id="house-1",
    text="If a customer asks about an account, then name the account's owner first.",
    symbolic=SymbolicForm(domain="banking", error="dec", action=("name_owner",)),
    status="approved",
)


class HousePlugin:
    """An instance is the plugin; what it remembers is its own."""

    def __init__(self) -> None:
        self.seen: Counter[str] = Counter()
        self.log: list[str] = []

    @hookimpl
    def hornbook_before_step(self, step: Step) -> Decision | None:
        if step.name in CLOSED:
            return Decision(action="block", reason="money is transferred at the counter only")
        return None

    @hookimpl
    def hornbook_check_output(self, output: object) -> list[Violation]:
        addresses = ADDRESS.findall(str(output))
        if not addresses:
            return []
        return [
            Violation(
                clause=NO_ADDRESS,
                path=".",
                expected="a text without e-mail addresses",
                observed=f"{len(addresses)} of them",
                hint="say 'by e-mail' instead",
            )
        ]

    @hookimpl
    def hornbook_on_violation(self, step: Step, violations: Sequence[Violation]) -> Decision | None:
        leaked = any(violation.clause == NO_ADDRESS for violation in violations)
        if not leaked:
            return None  # the step's own recovery knows better
        if step.attempt == 1:
            return Decision(action="retry", reason="once more, without the address")
        return Decision(action="halt", reason="an address was about to leave the house twice")

    @hookimpl
    def hornbook_on_error(self, step: Step, error: Exception) -> Decision | None:
        if isinstance(error, ConnectionError):
            return Decision(action="substitute", value="DE02120300000000202051")
        return None

    @hookimpl
    def hornbook_retrieve_rules(self, request: RuleRequest) -> list[LearnedRule] | None:
        return [GREETING] if request.namespace == "office" else None

    @hookimpl
    def hornbook_render_rules(
        self, request: RuleRequest, rules: Sequence[LearnedRule]
    ) -> str | None:
        if request.namespace != "office" or not rules:
            return None
        return f"The house rules of the office.\n{render(rules)}"

    @hookimpl
    def hornbook_record(self, event: Event) -> None:
        self.seen[event.kind] += 1

    @hookimpl
    def hornbook_register_clauses(self, register: Register) -> None:
        register("iban", iban)

    @hookimpl
    def hornbook_register_models(self, register: Register) -> None:
        register("scripted", lambda: scripted(["Write to ann@example.com.", "Write by e-mail."]))

    @hookimpl
    def hornbook_register_trace_sinks(self, register: Register) -> None:
        register("house-log", lambda: self.note)

    def note(self, event: Event) -> None:
        self.log.append(f"{event.kind} {event.name}")


def iban(path: str, **common: Unpack[AtPath]) -> Clause:
    """The value at `path` is an account number whose check digits are right (ISO 13616)."""

    def test(value: Any, inputs: object) -> bool:
        text = str(value).replace(" ", "").upper()
        if not re.fullmatch(r"[A-Z]{2}\d{2}[A-Z0-9]{10,30}", text):
            return False
        digits = "".join(str(int(character, 36)) for character in text[4:] + text[:4])
        return int(digits) % 97 == 1

    settings: dict[str, Any] = {"name": f"iban {path}", **common}
    return Clause(kind="iban", path=path, expected="a valid IBAN", test=test, **settings)


def scripted(replies: list[str]) -> Callable[[str], str]:
    """A model that gives its replies one after another."""
    left = iter(replies)
    return lambda prompt: next(left)


def office(model: Callable[[str], str]) -> dict[str, Callable[[], object]]:
    """The steps of the office; `clauses.kind("iban")` is there because the plugin is."""
    plain = Contract("plain", output=str)
    account = Contract("account", output=str, ensures=[clauses.kind("iban")(".")])

    @contract(plain, recover=Recover(retry=1), name="write_letter")
    def write_letter() -> str:
        told = hornbook.feedback()
        return model("a letter" if told is None else f"a letter; {told.violation.hint}")

    @contract(account, name="look_up_account")
    def look_up_account() -> str:
        raise ConnectionError("the ledger does not answer")

    @contract(plain, name="transfer_money")
    def transfer_money() -> str:
        raise AssertionError("a blocked step does not run")

    return {"write": write_letter, "look up": look_up_account, "transfer": transfer_money}


def main() -> None:
    plugin = HousePlugin()
    with plugins.registered(plugin, "house"), hornbook.run(namespace="office"):
        for name, step in office(plugins.models()["scripted"]()).items():
            try:
                print(f"{name}: {step()}")
            except ContractViolation as violation:
                print(f"{name}: {violation.report.violations[0]}")
    print(f"recorded: {dict(plugin.seen)}")


if __name__ == "__main__":
    main()
