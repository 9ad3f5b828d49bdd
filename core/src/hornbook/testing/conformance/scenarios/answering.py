"""Scenarios of the model's side: rules, contracts on final answers, usage and budgets."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hornbook.budget import Budget
from hornbook.contracts import Contract, clauses
from hornbook.rules import LearnedRule, RuleLibrary, SymbolicForm
from hornbook.step.recover import Recover
from hornbook.testing.conformance.scenario import Scenario, Turn, halted, model, raised, said, tool
from hornbook.testing.conformance.scenarios.halting import soft_and_hard
from hornbook.testing.script import Reply, Written, call

__all__ = ["SCENARIOS", "LineDown"]


class LineDown(Exception):
    """What a model raises that cannot be reached."""


_ORDER = {"order_id": "A-1001"}
_FIND = call("find_order", **_ORDER)
_ASKS = "Where is A-1001?"
_FOUND = "A-1001 is delivered."
_UNKNOWN = "I have to look A-1001 up first."


def _rule(name: str, text: str, status: Any = "approved") -> LearnedRule:
    form = SymbolicForm(domain="ORDERS", action=("LOOK_UP_FIRST",), error="dec")
    return LearnedRule(id=name, text=text, status=status, symbolic=form)


_RULE_TEXT = "If an order is named, then look the order up before anything else."
_RULES = (
    _rule("look-up-first", _RULE_TEXT),
    _rule("not-yet", "If the moon is full, then wait for the morning.", "quarantined"),
)


def _with_rules(written: Written, *shown: str) -> Reply:
    """A reply to a request in which the approved rule stands, and not the other."""
    reply = Reply.of(written)
    return replace(reply, once=(_RULE_TEXT,), shown=shown, hidden=("the moon is full",))


def _names_the_order(value: object) -> bool:
    return "A-1001" in str(value)


def _repeats_the_result(value: object, inputs: Mapping[str, Any]) -> bool:
    asked = "A-1001" in str(inputs["request"])
    return asked and "delivered" in str(inputs["results"]) and "delivered" in str(value)


def _says_what_was_found(value: object, inputs: Mapping[str, Any]) -> bool:
    return "delivered" not in str(value) or "delivered" in str(inputs["results"])


_NAMES = Contract("names-the-order", ensures=[clauses.that("names the order", _names_the_order)])
_REPEATS = Contract(
    "repeats-the-result", ensures=[clauses.that("says what the tool said", _repeats_the_result)]
)

_KNOWS = Contract(
    "knows", ensures=[clauses.that("says no more than was found", _says_what_was_found)]
)


def _retried(clause: str) -> Mapping[str, Any]:
    return {
        "status": "recovered",
        "attempts": 2,
        "violated": (clause,),
        "decisions": ("retry",),
    }


SCENARIOS = (
    Scenario(
        name="rules-shown",
        about="Approved rules are shown to the model at each call, others are not.",
        needs=frozenset({"rules"}),
        rules=RuleLibrary(_RULES),
        turns=(
            Turn(
                says=_ASKS,
                replies=[_with_rules(_FIND), _with_rules(_FOUND)],
                ends=said(_FOUND),
            ),
        ),
        record=(
            model(rules=("look-up-first",)),
            tool("find_order", _ORDER),
            model(rules=("look-up-first",)),
        ),
        state={"calls": {"find_order": 1}},
    ),
    Scenario(
        name="rules-of-a-namespace",
        about="Rules that a plugin finds for the run's namespace are shown to the model.",
        needs=frozenset({"rules"}),
        namespace="conformance",
        plugins=(lambda: RuleLibrary(_RULES, namespace="conformance").hook(),),
        turns=(Turn(says=_ASKS, replies=[_with_rules(_FOUND)], ends=said(_FOUND)),),
        record=(model(rules=("look-up-first",)),),
    ),
    Scenario(
        name="answer-retried",
        about="A final answer that is refused is asked for again, with what was wrong.",
        needs=frozenset({"model_contract"}),
        contracts={"model": (_NAMES, Recover(retry=1))},
        turns=(
            Turn(
                says=_ASKS,
                replies=[
                    _FIND,
                    "It is delivered.",
                    Reply(text=_FOUND, shown=("was rejected", "names the order")),
                ],
                ends=said(_FOUND),
            ),
        ),
        record=(model(), tool("find_order", _ORDER), model(**_retried("names the order"))),
        state={"calls": {"find_order": 1}},
    ),
    Scenario(
        name="answer-retried-with-rules",
        about="The model is shown the rules again when it is asked again; they count once.",
        needs=frozenset({"model_contract", "rules"}),
        contracts={"model": (_NAMES, Recover(retry=1))},
        rules=RuleLibrary(_RULES),
        turns=(
            Turn(
                says=_ASKS,
                replies=[
                    _with_rules("It is delivered."),
                    _with_rules(_FOUND, "was rejected"),
                ],
                ends=said(_FOUND),
            ),
        ),
        record=(model(rules=("look-up-first",), **_retried("names the order")),),
    ),
    *soft_and_hard(
        Scenario(
            name="answer-halts",
            about="A final answer that stays refused does not reach the user.",
            needs=frozenset({"model_contract"}),
            contracts={"model": _NAMES},
            turns=(
                Turn(
                    says=_ASKS,
                    replies=["It is delivered."],
                    ends=halted("soft", "names the order"),
                ),
            ),
            record=(model(status="violated", violated=("names the order",), decisions=("halt",)),),
        )
    ),
    Scenario(
        name="answer-judged-by-request-and-results",
        about="The contract on final answers can ask what the user wanted and what tools gave.",
        needs=frozenset({"model_contract"}),
        contracts={"model": (_REPEATS, Recover(retry=1))},
        turns=(Turn(says=_ASKS, replies=[_FIND, "It is lost.", _FOUND], ends=said(_FOUND)),),
        record=(
            model(),
            tool("find_order", _ORDER),
            model(**_retried("says what the tool said")),
        ),
        state={"calls": {"find_order": 1}},
    ),
    Scenario(
        name="results-of-this-turn",
        about="The contract on final answers is shown the results of this turn alone.",
        needs=frozenset({"model_contract", "turns"}),
        contracts={"model": (_KNOWS, Recover(retry=1))},
        turns=(
            Turn(says=_ASKS, replies=[_FIND, _FOUND], ends=said(_FOUND)),
            Turn(says=_ASKS, replies=[_FOUND, _UNKNOWN], ends=said(_UNKNOWN)),
        ),
        record=(
            model(),
            tool("find_order", _ORDER),
            model(),
            model(**_retried("says no more than was found")),
        ),
        state={"calls": {"find_order": 1}},
    ),
    Scenario(
        name="model-raises",
        about="An exception of the model comes out, and no answer is made up for it.",
        turns=(
            Turn(
                says=_ASKS,
                replies=[_FIND, LineDown("the line to the model is down")],
                ends=raised("LineDown", "the line to the model is down", wrapped=True),
            ),
        ),
        record=(model(), tool("find_order", _ORDER), model(status="error")),
        state={"calls": {"find_order": 1}},
    ),
    Scenario(
        name="usage-counted",
        about="The run's meter counts the calls of the model and the tokens it reports.",
        needs=frozenset({"usage"}),
        usage=True,
        turns=(
            Turn(
                says=_ASKS,
                replies=[
                    Reply(calls=(_FIND,), input_tokens=120, output_tokens=17),
                    Reply(text=_FOUND, input_tokens=160, output_tokens=9),
                ],
                ends=said(_FOUND),
            ),
        ),
        record=(model(), tool("find_order", _ORDER), model()),
        state={"calls": {"find_order": 1}},
    ),
    Scenario(
        name="usage-of-a-rejected-answer",
        about="A rejected answer is paid for as well.",
        needs=frozenset({"usage", "model_contract"}),
        usage=True,
        contracts={"model": (_NAMES, Recover(retry=1))},
        turns=(
            Turn(
                says=_ASKS,
                replies=[
                    Reply(text="It is delivered.", input_tokens=100, output_tokens=30),
                    Reply(text=_FOUND, input_tokens=140, output_tokens=8),
                ],
                ends=said(_FOUND),
            ),
        ),
        record=(model(**_retried("names the order")),),
    ),
    Scenario(
        name="budget-of-calls",
        about="The model is not called once the budget of calls is spent.",
        budget=Budget(calls=2),
        turns=(
            Turn(
                says=_ASKS,
                replies=[_FIND, _FIND],
                ends=raised("BudgetExceeded", "the budget of 2 calls is spent"),
            ),
        ),
        record=(
            model(),
            tool("find_order", _ORDER),
            model(),
            tool("find_order", _ORDER),
            model(status="error"),
        ),
        state={"calls": {"find_order": 2}},
    ),
    Scenario(
        name="budget-of-a-retry",
        about="Calling a tool again is paid for: without budget the run ends there.",
        budget=Budget(calls=1),
        contracts={
            "find_order": (
                Contract("found", ensures=[clauses.one_of("status", ["lost"])]),
                Recover(retry=1),
            )
        },
        turns=(
            Turn(
                says=_ASKS,
                replies=[_FIND],
                ends=raised("BudgetExceeded", "the budget of 1 calls is spent"),
            ),
        ),
        record=(
            model(),
            tool(
                "find_order",
                _ORDER,
                status="error",
                violated=("one_of status at status",),
                decisions=("retry",),
            ),
        ),
        state={"calls": {"find_order": 1}},
    ),
    Scenario(
        name="budget-of-tokens",
        about="The model is not called once the tokens are spent.",
        needs=frozenset({"usage"}),
        budget=Budget(tokens=15),
        turns=(
            Turn(
                says=_ASKS,
                replies=[_FIND],
                ends=raised("BudgetExceeded", "the budget of 15 tokens is spent"),
            ),
        ),
        record=(model(), tool("find_order", _ORDER), model(status="error")),
        state={"calls": {"find_order": 1}},
    ),
    Scenario(
        name="own-trace",
        about="Where no run is open, the adapter records to the folder that it was given.",
        needs=frozenset({"trace"}),
        own_trace=True,
        turns=(Turn(says=_ASKS, replies=[_FIND, _FOUND], ends=said(_FOUND)),),
        record=(model(), tool("find_order", _ORDER), model()),
        state={"calls": {"find_order": 1}},
    ),
)
