"""`@contract`: a real function of the same colour, whatever is decorated."""

import asyncio
import functools
import inspect
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbook import (
    Contract,
    ContractViolation,
    HornbookError,
    Recover,
    checked,
    clauses,
    contract,
    run,
)
from hornbook.errors import DefinitionError

POSITIVE = Contract("positive", ensures=[clauses.that("positive", lambda value: value > 0)])
SHORT = Contract("short", ensures=[clauses.that("short", lambda text: len(text) < 9)])


@contract(POSITIVE)
def double(number: int, /, factor: int = 2, *, shift: int = 0) -> int:
    """Double a number."""
    return number * factor + shift


@contract(POSITIVE)
async def adouble(number: int, /, factor: int = 2, *, shift: int = 0) -> int:
    """Double a number, later."""
    await asyncio.sleep(0)
    return number * factor + shift


@pytest.mark.requirement("decorate:function:colour")
async def test_a_step_has_the_colour_of_its_function() -> None:
    assert inspect.isfunction(double)
    assert inspect.isfunction(adouble)
    assert not inspect.iscoroutinefunction(double)
    assert inspect.iscoroutinefunction(adouble)
    assert double(2) == 4
    assert await adouble(2) == 4


@pytest.mark.requirement("decorate:function:signature")
@pytest.mark.parametrize("step", [double, adouble])
def test_names_defaults_and_docstring_survive(step: Any) -> None:
    assert str(inspect.signature(step)) == (
        "(number: int, /, factor: int = 2, *, shift: int = 0) -> int"
    )
    assert inspect.getdoc(step).startswith("Double a number")
    assert step.__name__ == step.__wrapped__.__name__
    assert step.__module__ == __name__
    assert step.__wrapped__ is not step


@pytest.mark.requirement("decorate:function:signature")
@pytest.mark.parametrize("arguments", [(), (1, 2, 3, 4)])
def test_a_wrong_call_is_pythons_own_type_error(arguments: Any) -> None:
    with pytest.raises(TypeError, match=r"double\(\)"):
        double(*arguments)
    with pytest.raises(TypeError, match="unexpected keyword argument 'shif'"):
        double(1, shif=3)  # type: ignore[call-arg]


@pytest.mark.requirement("decorate:function:signature")
@given(st.integers(), st.integers(), st.integers())
def test_arguments_go_through_unchanged(number: int, factor: int, shift: int) -> None:
    expected = number * factor + shift
    if expected > 0:
        assert double(number, factor, shift=shift) == expected
        assert double(number, factor=factor, shift=shift) == expected
    else:
        with pytest.raises(ContractViolation):
            double(number, factor, shift=shift)


@pytest.mark.requirement("check:output:same-object")
async def test_the_steps_own_object_comes_back() -> None:
    made: list[Any] = []
    typed = Contract("c", output=list[float], strict=False)

    @contract(typed)
    def make() -> list[Any]:
        made.append(["1", 2])
        return made[-1]

    @contract(typed)
    async def amake() -> list[Any]:
        return make()

    assert make() is made[-1]
    assert await amake() is made[-1]
    assert made[-1] == ["1", 2]


class Desk:
    factor = 3

    @contract(POSITIVE)
    def method(self, number: int) -> int:
        return number * self.factor

    @contract(POSITIVE)
    async def later(self, number: int) -> int:
        return number * self.factor

    @classmethod
    @contract(POSITIVE)
    def under_class(cls, number: int) -> int:
        return number * cls.factor

    @contract(POSITIVE)
    @classmethod
    def over_class(cls, number: int) -> int:
        return number * cls.factor

    @staticmethod
    @contract(POSITIVE)
    def under_static(number: int) -> int:
        return number * 3

    @contract(POSITIVE)
    @staticmethod
    def over_static(number: int) -> int:
        return number * 3


METHODS = ["method", "under_class", "over_class", "under_static", "over_static"]


@pytest.mark.requirement("decorate:function:methods")
@pytest.mark.parametrize("name", METHODS)
def test_methods_class_methods_and_static_methods_work(name: str) -> None:
    step = getattr(Desk(), name)
    assert step(2) == 6
    assert step(number=2) == 6
    with pytest.raises(ContractViolation) as halted:
        step(-2)
    assert str(halted.value) == (
        f"Desk.{name}: contract 'positive' violated\n  - positive: expected positive; got -6"
    )
    outcome = checked(step)(-2)
    assert (outcome.status, outcome.value) == ("violated", None)
    assert checked(step)(2).value == 6


@pytest.mark.requirement("decorate:function:methods")
async def test_an_async_method_works_and_a_subclass_overrides() -> None:
    class Other(Desk):
        factor = 5

        @contract(POSITIVE)
        def method(self, number: int) -> int:
            return super().method(number) - 100

    assert await Desk().later(2) == 6
    assert await Other().later(2) == 10
    assert Other().method(21) == 5
    with pytest.raises(ContractViolation, match=r"Other\.method: contract 'positive' violated"):
        Other().method(2)
    with pytest.raises(ContractViolation, match=r"Desk\.method: contract 'positive' violated"):
        Other().method(-2)
    assert (await checked(Desk().later)(2)).value == 6


@pytest.mark.requirement("decorate:function:methods", "contract:parameters:unknown")
def test_the_receiver_is_no_input() -> None:
    seen: list[Any] = []
    noted = Contract(
        "noted", ensures=[clauses.that("noted", lambda value, inputs: not seen.append(inputs))]
    )

    class Own:
        @contract(noted)
        def method(self, number: int, factor: int = 2) -> int:
            return number

        @classmethod
        @contract(noted)
        def of_class(cls, number: int, factor: int = 2) -> int:
            return number

    Own().method(1)
    Own.of_class(1, factor=3)
    assert seen == [{"number": 1, "factor": 2}, {"number": 1, "factor": 3}]
    with pytest.raises(DefinitionError, match="'self' is no parameter"):

        class Refused:
            @contract(Contract("c", requires=[clauses.bound("self")]))
            def method(self, number: int) -> int:
                return number


@pytest.mark.requirement("decorate:function:signature")
def test_clauses_see_arguments_by_name_with_defaults_filled_in() -> None:
    seen: list[Any] = []
    noted = Contract(
        "noted", ensures=[clauses.that("noted", lambda value, inputs: not seen.append(inputs))]
    )

    @contract(noted)
    def step(a: int, /, b: int, *rest: int, c: int = 3, **more: int) -> int:
        return 0

    step(1, 2)
    step(1, 2, 4, 5, c=6, d=7)
    step(1, b=8)
    assert seen == [
        {"a": 1, "b": 2, "rest": (), "c": 3, "more": {}},
        {"a": 1, "b": 2, "rest": (4, 5), "c": 6, "more": {"d": 7}},
        {"a": 1, "b": 8, "rest": (), "c": 3, "more": {}},
    ]


class Same:
    def __call__(self, number: int) -> int:
        return number


CALLABLES: dict[str, Callable[..., Any]] = {
    "lambda": lambda number: number,
    "partial": functools.partial(lambda number, plus: number + plus, plus=0),
    "object": Same(),
    "builtin": abs,
}


@pytest.mark.requirement("decorate:function:colour")
@pytest.mark.parametrize("fn", CALLABLES.values(), ids=CALLABLES)
def test_whatever_can_be_called_can_be_decorated(fn: Callable[..., Any]) -> None:
    step = contract(POSITIVE)(fn)
    assert inspect.isfunction(step)
    assert step(2) == 2
    with pytest.raises(ContractViolation):
        step(0)


@pytest.mark.requirement("decorate:function:colour")
def test_steps_nest_as_decorators_do() -> None:
    @contract(SHORT, name="outer")
    @contract(Contract("text", output=str), name="inner")
    def say(words: Any) -> Any:
        return words

    assert say("hello") == "hello"
    with pytest.raises(ContractViolation, match="inner: contract 'text' violated"):
        say(3)
    with pytest.raises(ContractViolation, match="outer: contract 'short' violated"):
        say("a long sentence")
    with run() as opened:
        say("hello")
    starts = [event for event in opened.events if event.kind == "step.start"]
    assert [event.name for event in starts] == ["outer", "inner"]
    assert starts[1].parent == starts[0].id


@pytest.mark.requirement("decorate:function:signature")
def test_a_step_is_named_by_its_function_unless_it_is_given_a_name() -> None:
    @contract(POSITIVE)
    def own() -> int:
        return -1

    named = contract(POSITIVE, name="draft the letter")(own.__wrapped__)  # type: ignore[attr-defined]
    for step, name in ((own, "own"), (named, "draft the letter")):
        with pytest.raises(ContractViolation) as halted:
            step()
        assert halted.value.report.step == name


async def _async_fallback(number: int) -> int:
    return number


def _narrow_fallback() -> int:
    return 1


def _required_fallback(number: int, factor: int) -> int:
    return 1


def a_step(number: int, factor: int = 1) -> int:
    return number


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "deterministic": (
        {"recover": Recover(retry=1), "deterministic": True},
        "step 'a_step' is declared deterministic, so that a retry gives the same again: "
        "give Recover(modify=...), or no retry",
    ),
    "async fallback": (
        {"recover": Recover(fallback=[_async_fallback])},
        "step 'a_step' is sync and its fallback '_async_fallback' is async: "
        "make the step async, or the fallback sync",
    ),
    "other signature": (
        {"recover": Recover(fallback=[_narrow_fallback])},
        "step 'a_step' takes (number, factor=...) and its fallback '_narrow_fallback' takes (): "
        "a fallback is called with the same arguments",
    ),
    "no default": (
        {"recover": Recover(fallback=[_required_fallback])},
        "step 'a_step' takes (number, factor=...) and its fallback '_required_fallback' takes "
        "(number, factor): a fallback is called with the same arguments",
    ),
}


@pytest.mark.requirement("recover:definition:refused", "recover:fallback:colour")
@pytest.mark.parametrize(("options", "told"), REFUSED.values(), ids=REFUSED)
def test_a_recovery_that_cannot_work_is_refused_at_decoration(
    options: dict[str, Any], told: str
) -> None:
    with pytest.raises(DefinitionError) as refused:
        contract(POSITIVE, **options)(a_step)
    assert str(refused.value) == told


@pytest.mark.requirement("recover:definition:refused")
def test_what_only_looks_wrong_is_allowed() -> None:
    modify = Recover(retry=1, modify=lambda inputs, violation: inputs)
    assert contract(POSITIVE, recover=modify, deterministic=True)(a_step)(1) == 1
    assert contract(POSITIVE, deterministic=True)(a_step)(1) == 1
    anything = Recover(fallback=[lambda *args, **kwargs: 1])
    assert contract(POSITIVE, recover=anything)(a_step)(-1) == 1


@pytest.mark.requirement("bad-input:contract:field")
@pytest.mark.parametrize("given", [a_step, "positive", None, clauses.that("x", bool)], ids=type)
def test_a_decorator_without_a_contract_says_what_it_wants(given: Any) -> None:
    with pytest.raises(DefinitionError) as refused:
        contract(given)
    assert str(refused.value) == f"contract({given!r}): give a Contract, then the function"


@pytest.mark.requirement("bad-input:contract:field")
@pytest.mark.parametrize("given", [3, None, property(lambda self: 1), Fraction], ids=type)
def test_what_is_no_function_cannot_be_decorated(given: Any) -> None:
    with pytest.raises(HornbookError) as refused:
        contract(POSITIVE)(given)
    assert str(refused.value) == (
        f"contract 'positive': {given!r} is no function; of a class decorate its methods, of a "
        f"framework's own classes see its adapter"
    )


@pytest.mark.requirement("bad-input:contract:field")
def test_a_function_that_hides_its_parameters_is_refused() -> None:
    with pytest.raises(DefinitionError) as refused:
        contract(POSITIVE)(max)
    assert str(refused.value) == (
        "<built-in function max> does not tell its parameters: wrap it in a function that does"
    )


@pytest.mark.requirement("decorate:hooks:none", "check:clauses:inline")
def test_an_async_step_that_never_waits_makes_no_task() -> None:
    @contract(POSITIVE)
    async def step(number: int) -> int:
        return number

    with pytest.raises(StopIteration) as done:
        step(3).send(None)
    assert done.value.value == 3
    with pytest.raises(ContractViolation):
        step(-3).send(None)
