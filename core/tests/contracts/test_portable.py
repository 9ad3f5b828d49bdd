"""Contracts as data: digests that tell them apart, and the way to JSON and back."""

import datetime
import functools
import json
import operator
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Generic, Literal, Optional, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from hornbook import Contract, clauses, plugins
from hornbook.contracts import Clause
from hornbook.errors import DefinitionError
from hornbook.hooks import hookimpl


class Refund(BaseModel):
    order_id: str
    amount: float
    tags: list[str] = []


class Other(BaseModel):
    order_id: str
    amount: float
    tags: list[str] = []


def positive(value: Any) -> bool:
    return value.amount > 0


def known_ids(inputs: Any) -> list[str]:
    return inputs["ids"]


def is_large(refund: Any) -> bool:
    return refund.amount > 1000


def of_refund(**changes: Any) -> Contract[Any]:
    arguments: dict[str, Any] = {
        "version": "1",
        "output": Refund,
        "requires": [clauses.bound("query"), clauses.in_range("n", 1, 2)],
        "ensures": [
            clauses.that("amount is positive", positive),
            clauses.refers_to("order_id", known_ids),
            clauses.one_of("amount", [1.0, 2.5]),
            clauses.subset_of("tags", {"a", "b"}),
            clauses.matches("order_id", "[A-Z]+", name="pattern", version="3"),
            clauses.unique("tags", on_undetermined="waive"),
            clauses.implies(is_large, clauses.matches("order_id", "L.*")),
            clauses.forall("tags[]", clauses.matches(".", "[a-z]")),
            clauses.monotone("tags", before="tags"),
            clauses.grounded("order_id", source="query", mode="fuzzy", threshold=0.9),
        ],
        "deadline": 5.0,
    }
    return Contract("refund", **{**arguments, **changes})


CHANGES: dict[str, dict[str, Any]] = {
    "version": {"version": "2"},
    "output": {"output": Other},
    "no output": {"output": dict[str, Any], "ensures": []},
    "strict": {"strict": False},
    "revalidate": {"revalidate": "never"},
    "deadline": {"deadline": 6.0},
    "no requires": {"requires": []},
    "bound": {"requires": [clauses.bound("other")]},
    "requires as ensures": {"requires": [], "ensures": [clauses.bound("query")]},
    "bounds": {"ensures": [clauses.in_range("amount", 1, 3)]},
    "low bound": {"ensures": [clauses.in_range("amount", 1)]},
    "high bound": {"ensures": [clauses.in_range("amount", high=1, name="in_range amount")]},
    "clause name": {"ensures": [clauses.in_range("amount", 1, name="x")]},
    "clause version": {"ensures": [clauses.in_range("amount", 1, version="2")]},
    "waived": {"ensures": [clauses.in_range("amount", 1, on_undetermined="waive")]},
    "optional": {"ensures": [clauses.in_range("amount", 1, optional=True)]},
    "lambda": {"ensures": [clauses.that("x", lambda value: value.amount > 0)]},
    "other lambda": {"ensures": [clauses.that("x", lambda value: value.amount > 1)]},
    "other message": {"ensures": [clauses.that("y", lambda value: value.amount > 1)]},
    "grounded": {"ensures": [clauses.grounded("order_id", source="q")]},
    "grounded partial": {"ensures": [clauses.grounded("order_id", source="q", partial=True)]},
    "grounded exact": {"ensures": [clauses.grounded("order_id", source="q", mode="exact")]},
    "fuzzy": {"ensures": [clauses.grounded("order_id", source="q", mode="fuzzy")]},
    "less fuzzy": {
        "ensures": [clauses.grounded("order_id", source="q", mode="fuzzy", threshold=0.99)]
    },
}


@pytest.mark.requirement("contract:digest:stable")
def test_equal_contracts_have_equal_digests_and_any_change_gives_another() -> None:
    digests = {name: of_refund(**change).digest for name, change in CHANGES.items()}
    digests["unchanged"] = of_refund().digest
    assert len(set(digests.values())) == len(digests)
    assert of_refund().digest == digests["unchanged"]
    assert digests["unchanged"].startswith("sha256:")


@pytest.mark.requirement("contract:digest:stable")
def test_equality_is_that_of_digests() -> None:
    assert of_refund() == of_refund()
    assert hash(of_refund()) == hash(of_refund())
    assert of_refund() != of_refund(version="2")
    assert of_refund() != "refund"


def at_least(low: int) -> Callable[[int], bool]:
    return lambda value: value >= low


@pytest.mark.requirement("contract:digest:stable")
@pytest.mark.parametrize(
    "make",
    [
        at_least,
        lambda low: functools.partial(operator.le, low),
        lambda low: lambda value, least=low: value >= least,
    ],
    ids=["closure", "partial", "default"],
)
def test_what_a_function_holds_counts(make: Callable[[int], Callable[[int], bool]]) -> None:
    one, same, other = (Contract("c", ensures=[clauses.that("x", make(n))]) for n in (1, 1, 2))
    assert one == same
    assert one != other


@pytest.mark.requirement("contract:digest:stable")
def test_formatting_and_comments_of_a_function_do_not_count() -> None:
    def one(value: int) -> bool:
        return value > 0 and value < 10

    def two(value: int) -> bool:
        # The same, written otherwise.
        return (
            value > 0
            and value < 10
        )  # fmt: skip

    held = [Contract("c", ensures=[clauses.that("x", fn)]) for fn in (one, two)]
    assert held[0] == held[1]


@pytest.mark.requirement("contract:digest:stable")
def test_no_output_and_an_output_of_none_are_two_things() -> None:
    assert Contract("c") != Contract("c", output=None)
    assert Contract("c").check(3).ok
    assert not Contract("c", output=None).check(3).ok


MODULE = """
from hornbook import Contract, clauses
from pydantic import BaseModel

class Refund(BaseModel):
    order_id: str
    tags: set[str] = set()

def positive(value):
    return value.amount > 0

def at_least(low):
    return lambda value: value >= low

def ids(inputs):
    return inputs["ids"]

contract = Contract("refund", output=Refund, ensures=[
    clauses.that("positive", positive),
    clauses.that("closure", at_least(3)),
    clauses.that("lambda", lambda value: value is not None),
    clauses.refers_to("order_id", ids),
    clauses.subset_of("tags", {"red", "green", "blue", "white", "black"}),
])
portable = Contract("portable", output=list[Refund], ensures=[
    clauses.forall("[]", clauses.refers_to("order_id", ids)),
    clauses.unique("[].tags"),
])
"""


def other_process(folder: Path, code: str, seed: str) -> str:
    environment = {"PYTHONPATH": ":".join([str(folder), *sys.path]), "PYTHONHASHSEED": seed}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment, capture_output=True, text=True, check=False, cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.requirement("contract:digest:stable", "contract:json:portable")
def test_another_process_finds_the_same_digest_and_reads_the_same_contract(tmp_path: Path) -> None:
    (tmp_path / "refunds.py").write_text(MODULE, encoding="utf-8")
    show = "import refunds; print(refunds.contract.digest, refunds.portable.digest)"
    first, second = (other_process(tmp_path, show, seed) for seed in ("1", "2"))
    assert first == second
    text = other_process(tmp_path, "import refunds; print(refunds.portable.to_json())", "3")
    (tmp_path / "contract.json").write_text(text, encoding="utf-8")
    read = (
        "from hornbook import Contract\n"
        "held = Contract.from_json(open('contract.json', encoding='utf-8').read())\n"
        "print(held.digest, held.check([]).ok)"
    )
    assert other_process(tmp_path, read, "4").split() == [first.split()[1], "True"]


@pytest.mark.requirement("contract:json:portable")
def test_a_contract_of_importable_functions_comes_back_equal() -> None:
    held = of_refund()
    assert held.portable
    text = held.to_json()
    back = Contract.from_json(text)
    assert back == held
    assert back.to_json() == text
    assert back.output is Refund
    assert [clause.name for clause in back.ensures] == [clause.name for clause in held.ensures]
    inputs = {"query": "ABC", "ids": ["ABC"], "tags": []}
    for value in (Refund(order_id="ABC", amount=1.0), Refund(order_id="x", amount=-1.0), 3):
        assert back.check(value, inputs) == held.check(value, inputs)


T = TypeVar("T")


@dataclass
class Box(Generic[T]):
    item: T


TYPES: dict[str, Any] = {
    "generic": Box[int],
    "list of a generic": list[Box[str]],
    "none": None,
    "any": Any,
    "int": int,
    "model": Refund,
    "list": list[Refund],
    "dict": dict[str, list[int]],
    "tuple": tuple[int, str],
    "union": int | None,
    "optional": Optional[int],  # noqa: UP045 - it is another form of the same
    "nested": list[dict[str, Refund | None]],
    "literal": Literal["a", 1, None],
    "decimal": Decimal,
    "date": datetime.date,
}


@pytest.mark.requirement("contract:json:portable")
@pytest.mark.parametrize("tp", TYPES.values(), ids=TYPES)
def test_types_that_can_be_imported_come_back(tp: Any) -> None:
    held = Contract("c", output=tp)
    assert Contract.from_json(held.to_json()) == held


PLAIN = st.one_of(
    st.integers(), st.text(), st.booleans(), st.dates(), st.decimals(allow_nan=False),
    st.floats(allow_nan=False), st.tuples(st.integers(), st.text()),
)  # fmt: skip


@pytest.mark.requirement("contract:json:portable")
@given(st.lists(PLAIN), st.text(min_size=1).filter(str.strip))
def test_whatever_plain_data_a_clause_holds_comes_back(values: list[Any], name: str) -> None:
    held = Contract(name, ensures=[clauses.one_of(".", values, name=name)])
    back = Contract.from_json(held.to_json())
    assert back == held
    assert back.ensures[0].params["values"] == tuple(values)


def lambda_in(clause: Callable[[Any], Clause]) -> Clause:
    return clause(lambda value: True)


class Silent:
    def judge(self, questions: Any) -> Any:
        raise AssertionError("nobody asks")


HERE = "define the function at the top of a module"
NOT_PORTABLE: dict[str, tuple[Clause, str]] = {
    "lambda": (
        clauses.that("x", lambda value: True),
        f"<lambda> cannot be imported; {HERE}",
    ),
    "closure": (
        clauses.that("x", at_least(3)),
        f"at_least.<locals>.<lambda> cannot be imported; {HERE}",
    ),
    "condition": (
        clauses.implies(lambda value: True, clauses.that("m", positive), name="x"),
        f"<lambda> cannot be imported; {HERE}",
    ),
    "part": (
        clauses.forall("[]", clauses.that("m", lambda value: True), name="x"),
        f"<lambda> cannot be imported; {HERE}",
    ),
    "ids": (
        clauses.refers_to("id", lambda inputs: [], name="x"),
        f"<lambda> cannot be imported; {HERE}",
    ),
    "key": (
        clauses.unique("items", key=lambda item: item, name="x"),
        f"<lambda> cannot be imported; {HERE}",
    ),
    "judge": (
        clauses.covers(".", source="q", judge=Silent(), name="x"),
        "it asks a judge, which is an object of this process",
    ),
    "object": (
        clauses.one_of(".", [NotImplemented], name="x"),
        "(NotImplemented,) is no plain data",
    ),
}


@pytest.mark.requirement("contract:json:lambda")
@pytest.mark.parametrize(("clause", "why"), NOT_PORTABLE.values(), ids=NOT_PORTABLE)
def test_what_cannot_be_written_names_the_clause(clause: Clause, why: str) -> None:
    held = Contract("c", ensures=[clauses.that("fine", positive), clause])
    assert not held.portable
    assert held.digest == Contract("c", ensures=[held.ensures[0], clause]).digest
    with pytest.raises(DefinitionError) as refused:
        held.to_json()
    assert str(refused.value) == f"contract 'c', clause 'x' cannot be written as JSON: {why}"


@pytest.mark.requirement("contract:json:lambda")
def test_lambdas_and_closures_run() -> None:
    held = Contract(
        "c",
        ensures=[clauses.that("lambda", lambda n: n > 0), clauses.that("closure", at_least(3))],
    )
    assert [v.status for v in held.check(2).verdicts] == ["Satisfied", "Violated"]


@pytest.mark.requirement("contract:json:lambda")
def test_a_type_that_cannot_be_imported_is_named() -> None:
    class Local(BaseModel):
        n: int

    for tp in (Local, list[Local]):
        held = Contract("c", output=tp)
        assert not held.portable
        with pytest.raises(DefinitionError) as refused:
            held.to_json()
        assert str(refused.value) == (
            f"contract 'c' cannot be written as JSON: its output type {Local!r} cannot be "
            "imported: define it at the top of a module"
        )


def changed(text: str, **fields: Any) -> str:
    return json.dumps({**json.loads(text), **fields})


BAD: dict[str, tuple[Callable[[str], str], str]] = {
    "empty": (lambda text: "", "this is no contract in JSON: "),
    "not JSON": (lambda text: "Contract('c')", "this is no contract in JSON: "),
    "torn": (lambda text: text[:-9], "this is no contract in JSON: "),
    "a list": (lambda text: "[]", "this is no contract in JSON: it has no format"),
    "other format": (
        lambda text: changed(text, format="openapi"),
        "this is no contract in JSON: it has no format 'hornbook-contract'",
    ),
    "newer": (
        lambda text: changed(text, version=2),
        "this contract was written in version 2 of its format, and version 1 is read here: "
        "upgrade hornbook",
    ),
    "no contract": (lambda text: changed(text, contract=None), "this is no contract in JSON: "),
    "other digest": (
        lambda text: changed(text, digest="sha256:0"),
        "contract 'refund' was written when its functions or types were others: "
        "its digest was sha256:0 and is sha256:",
    ),
    "unknown field": (
        lambda text: text.replace('"strict":', '"stricter":'),
        "this is no contract in JSON: TypeError: ",
    ),
    "unknown kind": (
        lambda text: text.replace('"kind":"unique"', '"kind":"uniq"'),
        "there is no clause kind 'uniq'; there are bound, covers, ",
    ),
    "no module": (
        lambda text: text.replace(f"{__name__}:positive", "no_such_module:positive"),
        "function 'no_such_module:positive' cannot be loaded: ",
    ),
    "no function": (
        lambda text: text.replace(f"{__name__}:positive", f"{__name__}:negative"),
        f"function '{__name__}:negative' cannot be loaded: '{__name__}' has no 'negative'",
    ),
    "no type": (
        lambda text: text.replace(f"{__name__}:Refund", f"{__name__}:Invoice"),
        f"'{__name__}:Invoice' cannot be imported: ",
    ),
}


@pytest.mark.requirement("bad-input:contract:field", "contract:json:portable")
@pytest.mark.parametrize(("spoil", "told"), BAD.values(), ids=BAD)
def test_text_that_is_no_contract_gives_one_clear_error(
    spoil: Callable[[str], str], told: str
) -> None:
    with pytest.raises(DefinitionError) as refused:
        Contract.from_json(spoil(of_refund().to_json()))
    assert str(refused.value).startswith(told)


SOMETHING = st.one_of(st.none(), st.integers(), st.text(max_size=3), st.just([]), st.just({}))


def places(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    if isinstance(data, dict | list):
        for key, value in data.items() if isinstance(data, dict) else enumerate(data):
            yield from places(value, (*path, key))


@pytest.mark.requirement("bad-input:contract:field")
@given(st.data())
def test_no_spoilt_contract_gives_any_other_error(data: st.DataObject) -> None:
    spoilt = json.loads(of_refund().to_json())
    *way, last = data.draw(st.sampled_from([path for path in places(spoilt) if path]))
    inner = spoilt
    for key in way:
        inner = inner[key]
    inner[last] = data.draw(SOMETHING)
    try:
        read = Contract.from_json(json.dumps(spoilt))
    except DefinitionError:
        return
    assert read == of_refund()


def even(path: str, **options: Any) -> Clause:
    return Clause(
        kind="even", path=path, name=options.pop("name", f"even {path}"), expected="an even number",
        test=lambda value, inputs: value % 2 == 0, **options,
    )  # fmt: skip


class Kinds:
    @hookimpl
    def hornbook_register_clauses(self, register: Any) -> None:
        register("even", even)


@pytest.mark.requirement("clause:kinds:registered", "contract:json:portable")
def test_a_kind_of_a_plugin_works_as_any_other() -> None:
    with plugins.registered(Kinds()):
        held = Contract("c", ensures=[clauses.kind("even")("n", version="4")])
        assert str(held.check({"n": 3}).violations[0]) == (
            "even n at n: expected an even number; got 3"
        )
        assert held.check({"n": "x"}).verdicts[0].status == "Undetermined"
        back = Contract.from_json(held.to_json())
        assert (back, back.ensures[0].version) == (held, "4")


@pytest.mark.requirement("clause:kinds:registered", "contract:json:lambda")
def test_a_kind_that_nobody_registers_runs_and_cannot_be_written() -> None:
    held = Contract("c", ensures=[even("n")])
    assert held.check({"n": 2}).ok
    with pytest.raises(DefinitionError) as refused:
        held.to_json()
    assert str(refused.value).startswith(
        "contract 'c', clause 'even n' cannot be written as JSON: there is no clause kind 'even'; "
        "there are bound, covers, "
    )
    with pytest.raises(DefinitionError, match="there is no clause kind 'even'"):
        clauses.kind("even")
