"""Primitives: what a function has to be, how it is checked, and how it is called."""

import inspect
import math
import re
from collections.abc import Generator
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Any

import pytest
from pydantic import BaseModel

import hornbook
from hornbook import Budget, Contract, ContractViolation, Recover, clauses
from hornbook.engine import StepTimeout
from hornbook.errors import DefinitionError
from hornbook.program import Primitive, primitive, ref
from hornbook.program.finite import finite

from .parts import SAID, first, join, later, loud, plain, strip


def refused(message: str) -> Any:
    return pytest.raises(DefinitionError, match=f"^{re.escape(message)}$")


@pytest.mark.requirement("program:primitive:callable")
def test_a_primitive_stays_callable():
    assert isinstance(strip, Primitive)
    assert strip("  a ") == "a"
    assert strip(text=" a") == "a"
    assert join(["a"], 3) == "a-3"
    assert join(["a"], count=3, sep="+") == "a+3"
    assert inspect.signature(join).parameters.keys() == {"words", "count", "sep"}
    assert strip.__doc__ == "Without spaces around."
    with pytest.raises(TypeError):
        strip()
    with pytest.raises(TypeError):
        strip("a", text="b")
    with pytest.raises(TypeError):
        strip("a", "b")


@pytest.mark.requirement("program:primitive:callable")
async def test_a_coroutine_function_stays_one():
    assert await later("a") == "a!"
    assert await strip.acall(" a ") == "a"
    assert await later.acall("a") == "a!"

    @primitive(timeout=5)
    async def quick(text: str) -> str:
        return text

    assert await quick("a") == "a"


@pytest.mark.requirement("program:primitive:callable")
def test_bound_parameters_hold_in_a_call_too():
    bound = join.bind(count=3)
    assert bound(["a"]) == "a-3"
    assert bound(words=["a"], sep="+") == "a+3"
    with refused(
        "primitive 'join': 'count' is bound to ref('n'), which leads nowhere when it is called by "
        "itself"
    ):
        join.bind(count=ref("n"))(["a"])


@pytest.mark.requirement("program:primitive:contract")
def test_it_is_held_to_its_contract_whenever_it_is_called():
    assert loud("") == "."  # its recovery gave it something to say

    @primitive(contract=SAID)
    def quiet(text: str) -> str:
        return ""

    with pytest.raises(ContractViolation) as caught:
        quiet("a")
    assert str(caught.value) == (
        "quiet: contract 'said' violated\n  - not empty: expected not empty; got ''"
    )
    assert loud.contract is SAID
    assert (loud.version, loud.name, loud.given_contract, loud.model) == ("3", "shout", SAID, None)


@pytest.mark.requirement("program:primitive:derived-contract")
def test_without_a_contract_one_is_derived_from_its_type():
    @primitive
    def lies(text: str) -> int:
        return text  # type: ignore[return-value]

    with pytest.raises(ContractViolation) as caught:
        lies("a")
    assert str(caught.value) == (
        "lies: contract 'lies' violated\n  - output: expected a valid integer; got 'a'"
    )
    assert lies.contract.ensures == ()

    @primitive
    def numbers(text: str) -> list[float]:
        return [len(text)]

    assert [clause.name for clause in numbers.contract.ensures] == ["numbers are finite"]
    assert lies.given_contract is None


@pytest.mark.requirement("program:primitive:derived-contract")
def test_a_contract_without_a_type_gets_that_of_the_function():
    loose = Contract("loose", ensures=[clauses.that("any", lambda value: True)])

    @primitive(contract=loose)
    def lies(text: str) -> int:
        return text  # type: ignore[return-value]

    with pytest.raises(ContractViolation, match="expected a valid integer"):
        lies("a")
    assert (lies.contract.name, lies.contract.output) == ("loose", int)


@dataclass
class Reading:
    value: float


class Sample(BaseModel):
    values: list[float]


@pytest.mark.requirement("program:primitive:nan")
def test_a_number_that_is_none_is_a_violation():
    @primitive
    def mean(values: list[float]) -> float:
        return sum(values) / len(values) if values else math.nan

    assert mean([1.0, 2.0]) == 1.5
    with pytest.raises(ContractViolation) as caught:
        mean.run([])
    assert str(caught.value) == (
        "mean: contract 'mean' violated\n  - numbers are finite: expected numbers are finite; "
        "got nan"
    )


@pytest.mark.requirement("program:primitive:nan")
@pytest.mark.parametrize(
    ("value", "fine"),
    [
        (1.0, True),
        (math.inf, False),
        (Decimal("NaN"), False),
        (Decimal(1), True),
        ({"a": [1, (2.0, math.nan)]}, False),
        ({"a": {1.0, 2.0}, "b": None, "c": "nan"}, True),
        (Reading(math.nan), False),
        (Sample(values=[1.0, math.inf]), False),
        (object(), True),
    ],
    ids=str,
)
def test_numbers_are_looked_for_at_any_depth(value: Any, fine: bool):
    assert finite(value) is fine
    around: list[Any] = [value]
    around.append(around)
    assert finite(around) is fine


@pytest.mark.requirement("program:primitive:annotations")
def test_a_function_without_types_is_refused():
    with refused(
        "primitive 'half' has no annotation for 'y', 'return': its types are checked when it is "
        "composed, so annotate all parameters and the result"
    ):

        @primitive
        def half(x: int, y):
            return x

    with refused(
        "primitive 'lost' has an annotation that cannot be resolved: NameError: name 'Nowhere' is "
        "not defined"
    ):

        @primitive
        def lost(x: "Nowhere") -> int:  # type: ignore[name-defined]  # noqa: F821
            return 3


class Desk:
    def look(self, text: str) -> str:
        return text

    def __call__(self, text: str) -> str:
        return text


def many(*texts: str) -> str:
    return "".join(texts)


def only(text: str, /) -> str:
    return text


def yields(text: str) -> Generator[str]:
    yield text


@pytest.mark.requirement("program:primitive:kinds")
@pytest.mark.parametrize(
    ("given", "message"),
    [
        (Desk.look, "primitive 'Desk.look' is a method: a primitive is pure, so write a function "
         "and pass what it needs of the object as arguments"),
        (Desk().look, "primitive 'Desk.look' is a method: a primitive is pure, so write a function "
         "and pass what it needs of the object as arguments"),
        (Desk, f"primitive({Desk!r}): a function is asked"),
        (many, "primitive 'many' has the parameter '*texts: str': the inputs of a primitive are "
         "given by name, so name each of them"),
        (only, "primitive 'only' has the parameter 'text: str': the inputs of a primitive are "
         "given by name, so name each of them"),
        (yields, "primitive 'yields' is a generator: let it return a list"),
        (strip, "primitive(<Primitive 'strip'>): it is a program already"),
        (dict.fromkeys, "primitive 'dict.fromkeys' has the parameter 'iterable': the inputs of a "
         "primitive are given by name, so name each of them"),
        (type, f"primitive({type!r}): a function is asked"),
        (max, "primitive 'max' does not tell its parameters: wrap it in a function that does"),
    ],
    ids=range(10),
)  # fmt: skip
def test_what_no_primitive_can_be_is_refused(given: Any, message: str):
    with refused(message):
        primitive(given)


@pytest.mark.requirement("program:primitive:kinds")
def test_an_object_that_is_called_and_a_partial_will_do():
    assert primitive(Desk(), name="desk").run("a") == "a"
    assert primitive(partial(join.__wrapped__, sep="+"), name="plus")(["a"], 3) == "a+3"


@pytest.mark.requirement("program:primitive:settings")
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"name": " "}, "primitive ' ': its name is a text that is not empty"),
        ({"version": ""}, "primitive 'plain': its version is a text that is not empty"),
        ({"contract": 3}, "primitive 'plain': contract=3 is no Contract"),
        ({"recover": 3}, "primitive 'plain': recover=3 is no Recover"),
        ({"timeout": 0}, "primitive 'plain': timeout=0 is no number above 0"),
        ({"timeout": True}, "primitive 'plain': timeout=True is no number above 0"),
        ({"requires_accuracy": 1.5},
         "primitive 'plain': requires_accuracy=1.5 is no number above 0 and at most 1"),
        ({"deterministic": True, "recover": Recover(retry=1)},
         "primitive 'plain' is declared deterministic, so that a retry gives the same again: give "
         "Recover(modify=...), or no retry"),
        ({"contract": Contract("c", output=int)},
         "primitive 'plain' gives str, and its contract 'c' is about int: int is no str"),
        ({"contract": Contract("c", requires=[clauses.bound("query")])},
         "contract 'c', clause 'bound query': 'query' is no parameter of 'plain'; its parameters "
         "are text"),
        ({"recover": Recover(fallback=[later.__wrapped__])},
         "primitive 'plain' is sync and its fallback 'later' is async: make the primitive async, "
         "or the fallback sync"),
        ({"recover": Recover(fallback=[yields])},
         "primitive 'plain': its fallback 'yields' is a generator"),
        ({"recover": Recover(fallback=[first])},
         "primitive 'plain' takes (text) and its fallback 'first' takes (items): a fallback is "
         "called with the same arguments"),
        ({"recover": Recover(fallback=[strip.bind(text="a")])},
         "primitive 'plain': its fallback 'strip' has bound parameters; a fallback is called with "
         "the step's own inputs"),
    ],
    ids=range(14),
)  # fmt: skip
def test_settings_that_cannot_work_are_refused(settings: Any, message: str):
    with refused(message):
        primitive(plain, **settings)


@pytest.mark.requirement("program:primitive:settings")
def test_an_unknown_setting_is_a_type_error():
    with pytest.raises(TypeError, match=r"primitive\(\) has no setting 'nmae'; its settings: name"):
        primitive(plain, nmae="x")  # type: ignore[call-overload]


@pytest.mark.requirement("program:primitive:settings")
def test_a_timeout_holds_in_a_call_as_in_a_program():
    import time

    @primitive(timeout=0.05)
    def slow(text: str) -> str:
        time.sleep(0.5)
        return text

    with pytest.raises(StepTimeout):
        slow("a")
    with pytest.raises(StepTimeout):
        slow.run("a")


@pytest.mark.requirement("program:primitive:pure")
def test_an_impure_primitive_says_so_and_is_not_cached():
    seen: list[str] = []

    @primitive(pure=False)
    def tell(text: str) -> int:
        seen.append(text)
        return len(seen)

    from hornbook.program import Parallel, Sequence, constant

    assert (tell.pure, strip.pure) == (False, True)
    assert Sequence(tell, constant("a"), tell).run("a") == 2
    together = Parallel(strip, inside=Sequence(strip, tell))
    assert together.impure_branches == ("inside",)


@pytest.mark.requirement("program:primitive:callable")
def test_a_call_joins_the_run_around():
    with hornbook.run(budget=Budget(calls=5)) as run:
        strip("a")
    assert [event.name for event in run.events if event.kind == "step.end"] == ["strip"]
