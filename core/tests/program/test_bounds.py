"""The static bound of calls: never exceeded, and reached by those who mean it ill."""

import math
from collections import Counter
from collections.abc import Sequence as SequenceOf
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hornbook
from hornbook import Budget, Contract, Recover, clauses
from hornbook.contracts import Judgement, Question
from hornbook.engine import Engine
from hornbook.models import Completion, Request, ScriptedModel, TransportError
from hornbook.program import (
    Calls,
    Conditional,
    Fallback,
    Iterate,
    Parallel,
    Primitive,
    Program,
    Sequence,
    constant,
    neural,
    primitive,
)

from .parts import Unbounded, is_long, kind_of, plain, strip

ALONE = Engine(concurrency=False, cache=None)


class Adversary:
    """Answers as late as it may: drops what is tried again, and violates what is retried.

    A primitive named `...!` is to fail in the end, any other to succeed at its last attempt.
    """

    def __init__(self, identity: str, max_attempts: int) -> None:
        self.identity = identity
        self.max_attempts: int | None = max_attempts
        self.calls = 0
        self.retries: dict[str, int] = {}
        self._asked = Counter[str]()
        self._dropped = Counter[str]()

    def complete(self, request: Request, /, *, timeout: float | None = None) -> Completion:
        self.calls += 1
        name = request.messages[0].content.split()[0]
        assert self.max_attempts is not None
        self._dropped[name] += 1
        if self._dropped[name] % self.max_attempts:
            raise TransportError("dropped", retryable=True, retry_after=0)
        self._asked[name] += 1
        last = self._asked[name] % (1 + self.retries[name]) == 0
        return Completion(text="3" if last and not name.endswith("!") else "prose")

    async def acomplete(self, request: Request, /, *, timeout: float | None = None) -> Completion:
        return self.complete(request, timeout=timeout)


class Hostile:
    """Programs without conditionals that reach their bound."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.models = [Adversary("a", 1), Adversary("b", 2), Adversary("c", 3)]
        self._number = 0

    def program(self, depth: int, *, fails: bool = False) -> Program:
        kinds = ["leaf", "leaf"] + ["sequence", "parallel", "iterate", "fallback"] * bool(depth)
        many = self.random.randint(1, 3)
        match self.random.choice(kinds):
            case "sequence":
                steps = [self.program(depth - 1) for _ in range(many - 1)]
                return Sequence(*steps, self.program(depth - 1, fails=fails))
            case "parallel":
                branches = [self.program(depth - 1) for _ in range(many - 1)]
                branches.append(self.program(depth - 1, fails=fails))
                self.random.shuffle(branches)
                named = dict(zip("uvw", branches, strict=False))
                return Sequence(Parallel(**named), constant(1))
            case "iterate":
                until = None if not fails else primitive(never)
                body = self.program(depth - 1)
                return Iterate(body, until=until, at_most=many, exhausted="fail")
            case "fallback":
                failing = [self.program(depth - 1, fails=True) for _ in range(many - 1)]
                return Fallback(*failing, self.program(depth - 1, fails=fails))
            case _:
                return self.leaf(fails)

    def leaf(self, fails: bool, *, spare: bool = True) -> Primitive[..., Any]:
        self._number += 1
        other: list[Any] = []
        if spare and self.random.random() < 0.3:
            other = [self.leaf(fails, spare=False)]
        name = f"n{self._number}{'!' if fails or other else ''}"
        retry = self.random.randint(0, 2)
        model = self.random.choice(self.models)
        model.retries[name] = retry
        recover = Recover(retry=retry, fallback=other)
        return neural(
            name, model, prompt=f"{name} {{x}}", input={"x": int}, output=int, recover=recover
        )


def never(value: int) -> bool:
    return False


def tight(random: Random) -> None:
    hostile = Hostile(random)
    program = hostile.program(3)
    bound = program.max_calls()
    with hornbook.run() as run:
        program.run(1, engine=ALONE)
    made = {model.identity: model.calls for model in hostile.models if model.calls}
    assert made == dict(bound), program.to_text()
    assert run.meter.spent.calls == bound.total == bound.budget


@pytest.mark.requirement("program:bounds:tight")
@given(st.randoms(use_true_random=False))
@settings(max_examples=100)
def test_an_adversary_reaches_the_bound(random: Random):
    tight(random)


@pytest.mark.ci
@pytest.mark.requirement("program:bounds:tight")
@pytest.mark.parametrize("first", range(0, 2_000, 250))
def test_two_thousand_adversaries_reach_it(first: int):
    for seed in range(first, first + 250):
        tight(Random(seed))


class Harsh:
    """A judge that refuses all but the last of so many batches."""

    identity = "harsh"

    def __init__(self, accepts_at: int, max_calls: int | None = 1) -> None:
        self.batches = 0
        self._accepts_at = accepts_at
        if max_calls != 1:
            self.max_calls = max_calls

    def judge(self, questions: SequenceOf[Question], /) -> list[Judgement]:
        self.batches += 1
        score = 1.0 if self.batches >= self._accepts_at else 0.0
        return [Judgement(score=score) for _ in questions]


@pytest.mark.requirement("program:bounds:judges")
def test_judges_are_counted_once_a_batch_and_attempt():
    judge = Harsh(4)
    contract = Contract(
        "c",
        ensures=[
            clauses.covers(".", source="input", judge=judge),
            clauses.similar(".", source="input", judge=judge),
        ],
    )
    model = ScriptedModel(lambda request: "text", identity="m")
    step = neural(
        "n", model, prompt="{input}", output=str, contract=contract,
        recover=Recover(retry=2, fallback=[fallback]),
    )  # fmt: skip
    bound = step.max_calls()
    assert dict(bound) == {"m": 3, "harsh": 4}
    with hornbook.run() as run:
        assert step.run("x") == "x"
    assert (model.calls, judge.batches, run.meter.spent.calls) == (3, 4, 7)
    assert str(bound) == "harsh: 4, m: 3; 7 in all"


def fallback(input: str) -> str:  # noqa: A002
    return input


@pytest.mark.requirement("program:bounds:judges")
def test_composed_clauses_may_ask_in_several_rounds():
    judge, other = Harsh(1), Harsh(1, max_calls=3)
    other.identity = "other"
    asked = clauses.entails(".", source="text", judge=judge, name="one")
    more = clauses.covers(".", source="text", judge=other, name="two")
    contract = Contract(
        "c", requires=[clauses.bound("text")], ensures=[clauses.implies(asked, more)]
    )
    step = primitive(plain, contract=contract, recover=Recover(retry=1))
    bound = step.max_calls()
    assert dict(bound) == {"harsh": 4, "other": 12}
    with hornbook.run() as run:
        step.run("a")
    assert run.meter.spent.calls <= bound.budget == 17

    test = Conditional(
        Contract("t", ensures=[clauses.forall(".", clauses.that("so", bool))]), strip
    )
    assert str(test.max_calls()) == "no calls"


class Nameless:
    max_calls = None

    def judge(self, questions: SequenceOf[Question], /) -> list[Judgement]:
        return [Judgement(score=1.0) for _ in questions]


@pytest.mark.requirement("program:bounds:unbounded-host")
def test_what_a_host_does_not_bound_is_shown_as_that():
    step = neural("n", Unbounded(), prompt="{input}", output=int)
    bound = Iterate(Sequence(step, constant("a")), at_most=3).max_calls()
    assert bound["host"] == bound.total == bound.budget == math.inf
    assert str(bound) == "host: unbounded by host; unbounded by host in all"
    assert repr(bound) == f"<Calls {bound}>"
    judged = Contract("c", ensures=[clauses.covers(".", source="text", judge=Nameless())])
    (only,) = primitive(plain, contract=judged).max_calls().items()
    assert only == (f"{Nameless.__module__}:Nameless", math.inf)


@pytest.mark.requirement("program:bounds:branches")
def test_of_branches_the_most_counts_by_model_and_in_all():
    a = neural("a", ScriptedModel([], identity="a"), prompt="{input}", output=str)
    b = neural("b", ScriptedModel([], identity="b", max_attempts=2), prompt="{input}", output=str)
    program = Conditional(is_long, Sequence(a, b), Sequence(a, a))
    bound = program.max_calls()
    assert dict(bound) == {"a": 2, "b": 2}
    assert bound.total == 3
    assert Conditional(constant(True), a, b).max_calls().total == 1
    assert Conditional(kind_of, {"name": a, "nmae": b}).max_calls().total == 1
    tested = Conditional(
        neural("t", ScriptedModel([], identity="t"), prompt="{input}", output=bool), strip
    )
    assert dict(tested.max_calls()) == {"t": 1}


@pytest.mark.requirement("program:bounds:attempts")
def test_attempts_of_symbolic_steps_are_what_a_budget_has_to_allow():
    @primitive(recover=Recover(retry=2, fallback=[plain]))
    def lies(text: str) -> str:
        return 3  # type: ignore[return-value]

    bound = Iterate(lies, at_most=2).max_calls()
    assert (bound.total, bound.attempts, bound.budget, len(bound)) == (0, 6, 6, 0)
    assert Iterate(lies, at_most=2).run("a", budget=Budget(calls=6)) == "a??"
    with pytest.raises(hornbook.BudgetExceeded):
        Iterate(lies, at_most=2).run("a", budget=Budget(calls=5), engine=Engine(cache=None))
    assert Calls({"m": 0}) == Calls()
