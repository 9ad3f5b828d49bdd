"""The clause `that`: a user's own condition, and what every clause takes besides."""

import functools
import operator
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbook import Contract, HornbookError, clauses
from hornbook.contracts import Answer, Verdict
from hornbook.errors import DefinitionError


def verdict(fn: Callable[..., object], value: Any, **options: Any) -> Verdict:
    contract = Contract("c", ensures=[clauses.that("it holds", fn, **options)])
    return contract.check(value).verdict("it holds")


@pytest.mark.requirement("clause:that:bool")
def test_true_satisfies_and_false_violates() -> None:
    contract = Contract("order", ensures=[clauses.that("amount is positive", lambda n: n > 0)])
    assert contract.check(1).ok
    report = contract.check(-1)
    assert not report.ok
    assert report.verdict("amount is positive").status == "Violated"
    assert str(report) == (
        "order: contract 'order' violated\n"
        "  - amount is positive: expected amount is positive; got -1"
    )


@pytest.mark.requirement("clause:that:undetermined")
@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (1, "int"),
        (0, "int"),
        (None, "NoneType"),
        ("yes", "str"),
        ([], "list"),
        (NotImplemented, "NotImplementedType"),
        (ValueError("returned, not raised"), "ValueError"),
        (Answer(status="Satisfied"), "Answer"),
        (iter(()), "tuple_iterator"),
    ],
)
def test_anything_but_a_bool_is_undetermined_and_fails_closed(answer: object, kind: str) -> None:
    contract = Contract("c", ensures=[clauses.that("it holds", lambda value: answer)])
    report = contract.check(7)
    found = report.verdict("it holds")
    assert not report.ok
    assert found.status == "Undetermined"
    assert found.reason == f"the check gave {kind}, not a bool"


@pytest.mark.requirement("clause:that:undetermined")
def test_what_only_looks_like_a_bool_is_none() -> None:
    class Truthy:
        def __bool__(self) -> bool:
            return True

        def __eq__(self, other: object) -> bool:
            return True

        __hash__ = None  # type: ignore[assignment]

    assert verdict(lambda value: Truthy(), 1).status == "Undetermined"


@pytest.mark.requirement("clause:that:undetermined", "bad-input:clause:raises")
def test_a_condition_that_raises_is_undetermined_and_the_others_still_run() -> None:
    def crashes(value: object) -> bool:
        raise KeyError("no such key")

    contract = Contract(
        "c",
        ensures=[clauses.that("crashes", crashes), clauses.that("fails", lambda value: False)],
    )
    report = contract.check({"a": 1})
    assert [(v.clause, v.status) for v in report.verdicts] == [
        ("crashes", "Undetermined"),
        ("fails", "Violated"),
    ]
    assert [str(violation) for violation in report.violations] == [
        "crashes: expected crashes; got {'a': 1} "
        "(not determined: the check raised KeyError: 'no such key')",
        "fails: expected fails; got {'a': 1}",
    ]


@pytest.mark.requirement("bad-input:clause:raises")
@pytest.mark.parametrize("kind", [RecursionError, MemoryError, StopIteration, AssertionError])
def test_every_exception_of_a_condition_is_a_verdict(kind: type[Exception]) -> None:
    def crashes(value: object) -> bool:
        raise kind

    found = verdict(crashes, 1)
    assert (found.status, found.reason) == ("Undetermined", f"the check raised {kind.__name__}")


@pytest.mark.requirement("bad-input:clause:raises")
def test_an_exception_whose_own_text_raises_is_told_by_its_type() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    def crashes(value: object) -> bool:
        raise Mute

    assert verdict(crashes, 1).reason == "the check raised Mute, whose text cannot be had"


@pytest.mark.requirement("bad-input:clause:raises", "report:observed:cut")
def test_what_an_exception_says_is_cut_and_redacted() -> None:
    def crashes(value: object) -> bool:
        raise ValueError("Authorization: Bearer sk-ant-REDACTED " + "x" * 5000)

    reason = verdict(crashes, 1).reason
    assert "abcdefghijklmnop" not in reason
    assert len(reason) < 250


@pytest.mark.requirement("bad-input:clause:raises")
def test_what_ends_the_program_is_no_verdict() -> None:
    def stops(value: object) -> bool:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        verdict(stops, 1)


@pytest.mark.requirement("clause:that:inputs")
def test_two_required_parameters_get_the_value_and_the_inputs() -> None:
    clause = clauses.that("is the query reversed", lambda text, inputs: text == inputs["q"][::-1])
    contract = Contract("c", ensures=[clause])
    assert contract.check("cba", {"q": "abc"}).ok
    assert not contract.check("abc", {"q": "abc"}).ok
    assert contract.check("cba").verdicts[0].reason == "the check raised KeyError: 'q'"


def one_default(value: int, limit: int = 3) -> bool:
    return value > limit


class Above:
    def __init__(self, limit: int) -> None:
        self.limit = limit

    def __call__(self, value: int) -> bool:
        return value > self.limit

    def holds(self, value: int) -> bool:
        return value > self.limit

    def beats(self, value: int, inputs: dict[str, int]) -> bool:
        return value > inputs["limit"]


@pytest.mark.requirement("clause:that:inputs")
@pytest.mark.parametrize(
    "fn",
    [
        one_default,
        pytest.param(lambda *values: values[0] > 3, id="any number of values"),
        pytest.param(lambda value, **options: value > 3, id="any options"),
        functools.partial(operator.lt, 3),
        functools.partial(one_default, limit=3),
        Above(3),
        Above(3).holds,
        Above(3).beats,
    ],
)
def test_only_required_parameters_count(fn: Callable[..., object]) -> None:
    contract = Contract("c", ensures=[clauses.that("above", fn)])
    assert contract.check(4, {"limit": 3}).ok
    assert not contract.check(3, {"limit": 3}).ok


@pytest.mark.requirement("clause:that:inputs")
def test_a_builtin_is_a_condition_as_well() -> None:
    contract = Contract("c", ensures=[clauses.that("digits", str.isdigit)])
    assert contract.check("12").ok
    assert not contract.check("1a").ok


@pytest.mark.requirement("clause:that:inputs")
@pytest.mark.parametrize(
    ("fn", "told"),
    [
        (
            lambda a, b, c: True,
            "that('x'): the condition takes 3 required parameters; "
            "it gets the value, or the value and the inputs",
        ),
        (3, "that('x', 3): the condition is a function"),
        (None, "that('x', None): the condition is a function"),
    ],
)
def test_a_condition_of_another_shape_is_refused(fn: Any, told: str) -> None:
    with pytest.raises(DefinitionError) as refused:
        clauses.that("x", fn)
    assert str(refused.value) == told


def no_value() -> bool:
    return True


def by_name(value: int, *, limit: int) -> bool:
    return value > limit


@pytest.mark.requirement("clause:that:inputs")
@pytest.mark.parametrize("fn", [no_value, by_name])
def test_a_condition_that_cannot_be_given_the_value_is_refused(fn: Any) -> None:
    with pytest.raises(DefinitionError, match=fn.__name__):
        clauses.that("x", fn)


async def coroutine_function(value: object) -> bool:
    return True


async def generator_function(value: object) -> Any:
    yield True


class AsyncCall:
    async def __call__(self, value: object) -> bool:
        return True

    async def method(self, value: object) -> bool:
        return True


@pytest.mark.requirement("clause:that:async")
@pytest.mark.parametrize(
    "fn",
    [
        coroutine_function,
        generator_function,
        functools.partial(coroutine_function),
        AsyncCall(),
        AsyncCall().method,
    ],
)
def test_an_async_condition_is_refused_at_construction(fn: Any) -> None:
    with pytest.raises(DefinitionError) as refused:
        clauses.that("fresh", fn)
    assert str(refused.value) == (
        "that('fresh'): the condition is an async function, and a check must not wait; "
        "ask a judge (covers, entails, similar) instead"
    )


EVERY_KIND: dict[str, Callable[..., Any]] = {
    "that": lambda **o: clauses.that("m", bool, **o),
    "one_of": lambda **o: clauses.one_of("a", [1], **o),
    "subset_of": lambda **o: clauses.subset_of("a", [1], **o),
    "refers_to": lambda **o: clauses.refers_to("a", [1], **o),
    "matches": lambda **o: clauses.matches("a", "x", **o),
    "in_range": lambda **o: clauses.in_range("a", low=1, **o),
    "unique": lambda **o: clauses.unique("a", **o),
    "implies": lambda **o: clauses.implies(bool, clauses.that("m", bool), **o),
    "forall": lambda **o: clauses.forall("a[]", clauses.that("m", bool), **o),
    "monotone": lambda **o: clauses.monotone("a", before="b", **o),
    "bound": lambda **o: clauses.bound("a", **o),
    "grounded": lambda **o: clauses.grounded("a", source="s", **o),
    "covers": lambda **o: clauses.covers("a", source="s", judge=Never(), **o),
    "entails": lambda **o: clauses.entails("a", source="s", judge=Never(), **o),
    "similar": lambda **o: clauses.similar("a", source="s", judge=Never(), **o),
}


class Never:
    def judge(self, questions: Any) -> Any:
        raise AssertionError("nobody asks")


@pytest.mark.requirement("clause:options:all")
@pytest.mark.parametrize("clause", EVERY_KIND.values(), ids=EVERY_KIND)
def test_every_kind_takes_name_version_and_on_undetermined(clause: Callable[..., Any]) -> None:
    plain = clause()
    assert plain.name.strip()
    assert (plain.version, plain.on_undetermined) == ("1", "fail")
    made = clause(name="mine", version="7", on_undetermined="waive")
    assert (made.name, made.version, made.on_undetermined) == ("mine", "7", "waive")


@pytest.mark.requirement("clause:options:all")
@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"name": ""}, "a clause's name is a text that is not empty: ''"),
        ({"name": 3}, "a clause's name is a text that is not empty: 3"),
        ({"version": " "}, "a clause's version is a text that is not empty: ' '"),
        (
            {"on_undetermined": "ignore"},
            "clause 'm': on_undetermined is 'fail' or 'waive', not 'ignore'",
        ),
    ],
)
def test_an_option_that_cannot_work_is_refused(options: dict[str, Any], told: str) -> None:
    with pytest.raises(HornbookError) as refused:
        clauses.that("m", bool, **options)
    assert str(refused.value) == told


@pytest.mark.requirement("clause:options:waive")
def test_a_waived_undetermined_verdict_passes_and_is_marked() -> None:
    contract = Contract(
        "c",
        ensures=[clauses.that("crashes", lambda v: 1 / 0, on_undetermined="waive")],
    )
    report = contract.check(1)
    assert report.ok
    assert report.waived
    assert report.violations == ()
    found = report.verdict("crashes")
    assert (found.status, found.waived, found.failed) == ("Undetermined", True, False)


@pytest.mark.requirement("clause:options:waive")
def test_waiving_lets_no_violation_pass() -> None:
    found = verdict(lambda value: False, 1, on_undetermined="waive")
    assert (found.status, found.waived, found.failed) == ("Violated", False, True)


@pytest.mark.requirement("clause:that:bool", "clause:that:undetermined")
@given(st.one_of(st.booleans(), st.integers(), st.none(), st.text(), st.floats()))
def test_the_verdict_is_told_by_the_answer_alone(answer: object) -> None:
    wanted = {True: "Satisfied", False: "Violated"}
    expected = wanted[answer] if isinstance(answer, bool) else "Undetermined"
    assert verdict(lambda value: answer, 1).status == expected
