"""Programs as JSON and through pickle: what is written, what comes back, what is refused."""

import copy
import json
import pickle
import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbook import Budget, Contract, Recover, clauses
from hornbook.models import Sampling, ScriptedModel, TransportError
from hornbook.program import (
    Conditional,
    Fallback,
    Iterate,
    Parallel,
    Primitive,
    Program,
    ProgramError,
    Sequence,
    constant,
    neural,
    primitive,
    ref,
)

from . import parts
from .parts import (
    SAID,
    Found,
    Query,
    Size,
    Unbounded,
    ask_politely,
    count,
    first,
    increment,
    is_long,
    join,
    later,
    loud,
    plain,
    size_of,
    spare,
    strip,
    ten_or_more,
    wider,
    words,
)

MODEL = ScriptedModel(lambda request: "[]", identity="scripted/1")
MODELS = {"scripted/1": MODEL, "host": Unbounded()}


def refused(message: str) -> Any:
    return pytest.raises(ProgramError, match=f"^{re.escape(message)}")


ASK = neural(
    "ask",
    MODEL,
    prompt="{text}/{limit}",
    input=Query,
    output=list[str],
    contract=Contract("c", ensures=[clauses.unique(".")]),
    recover=Recover(retry=2, on=[TransportError], then="waive", budget=Budget(calls=9)),
    version="7",
    sampling=Sampling(max_tokens=3),
    stop=["."],
    timeout=2,
    requires_accuracy=0.5,
)
TEXTS: list[Any] = [
    strip,
    later,
    loud,
    strip.named("tidy"),
    strip.bind(text="$1"),
    primitive(
        plain, name="p", version="2", contract=SAID, pure=False, blocking=True, timeout=3.5,
        recover=Recover(retry=1, modify=wider, fallback=[spare]), requires_accuracy=0.9,
    ),
    primitive(plain, recover=Recover(fallback=[strip, spare])),
    constant("a"),
    neural("n", Unbounded(), prompt=ask_politely, input={"text": str}, output=str),
]  # fmt: skip


def deeper(inner: st.SearchStrategy[Program]) -> st.SearchStrategy[Program]:
    return st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(lambda steps: Sequence(*steps)),
        st.lists(inner, min_size=1, max_size=3).map(lambda steps: Fallback(*steps)),
        st.lists(inner, min_size=1, max_size=2).map(lambda steps: Fallback(*steps, on=KeyError)),
        inner.map(lambda one: Conditional(is_long, one)),
        st.tuples(inner, inner).map(lambda two: Conditional(constant(True), *two)),
        st.tuples(inner, inner).map(
            lambda two: Conditional(size_of, {Size.LARGE: two[0]}, two[1]).named("by size")
        ),
        inner.map(lambda one: Conditional(SAID, one, one)),
        inner.map(lambda one: Iterate(one, until=is_long, at_most=3, exhausted="fail")),
        inner.map(lambda one: Iterate(one, at_most=2)),
        st.tuples(inner, inner).map(
            lambda two: Sequence(
                Parallel(
                    words=words,
                    one=two[0],
                    two=Sequence(two[1], strip.bind(text=ref("one"))),
                    count=count,
                ),
                join,
            )
        ),
    )


LEAVES = st.sampled_from(TEXTS)
SHALLOW = st.one_of(LEAVES, deeper(LEAVES))
PROGRAMS = st.one_of(SHALLOW, deeper(SHALLOW))
MORE: list[Program] = [
    ASK,
    first,
    Iterate(increment, until=ten_or_more, at_most=9),
    Parallel(a=Parallel(b=strip.bind(text=ref("c", outer=True)), d=plain), c=strip),
    constant({"a": [1, (2, None)], "b": Size.SMALL.value}),
    constant(Size.SMALL),
    neural("find", MODEL, prompt="{input}", output=Found),
    neural("two", MODEL, prompt="{a}{b}", input={"a": str, "b": int}, output=list[str]),
]


def same(program: Program, of: Callable[[Program], Program]) -> None:
    made = of(program)
    assert made.digest == program.digest
    assert made.to_text() == program.to_text()
    assert (made.name, made.max_calls()) == (program.name, program.max_calls())


def written_and_read(program: Program) -> Program:
    text = program.to_json()
    made = Program.from_json(text, models=MODELS)
    assert made.to_json() == text
    return made


def pickled(program: Program) -> Program:
    return pickle.loads(pickle.dumps(program))


@pytest.mark.requirement("program:json:round-trip")
@given(PROGRAMS)
def test_what_is_written_is_read_back(program: Program):
    same(program, written_and_read)


@pytest.mark.requirement("program:json:round-trip")
@pytest.mark.parametrize("program", MORE, ids=range(len(MORE)))
def test_so_is_every_kind_of_part(program: Program):
    same(program, written_and_read)


@pytest.mark.requirement("program:pickle:round-trip")
@given(PROGRAMS)
def test_programs_go_through_pickle(program: Program):
    same(program, pickled)
    assert copy.deepcopy(program) is program


@pytest.mark.requirement("program:pickle:round-trip")
@pytest.mark.parametrize(
    "program",
    [one for one in MORE if not (isinstance(one, Primitive) and one.neural)],
    ids=range(5),
)
def test_every_kind_of_part_goes_through_pickle(program: Program):
    same(program, pickled)


@pytest.mark.requirement("program:pickle:round-trip")
def test_a_neural_primitive_is_pickled_with_its_model():
    model = Unbounded()
    made = neural("n", model, prompt="{input}", output=int, contract=Contract(
        "c", ensures=[clauses.in_range(".", low=0)]), recover=Recover(retry=1))  # fmt: skip
    same(made.bind(input="x"), pickled)


@pytest.mark.requirement("program:json:canonical")
def test_the_text_is_canonical():
    text = Sequence(strip, plain).to_json()
    data = json.loads(text)
    assert json.dumps(data, sort_keys=True, separators=(",", ":")) == text
    assert (data["format"], data["version"]) == ("hornbook-program", 1)


@pytest.mark.requirement("program:node:digest")
def test_the_digest_tells_programs_apart():
    different = [
        strip,
        strip.named("s"),
        strip.bind(text="a"),
        strip.bind(text="b"),
        Sequence(strip, plain),
        Sequence(plain, strip),
        Parallel(a=strip, b=plain),
        Parallel(b=plain, a=strip),
        Fallback(strip, plain),
        Fallback(strip, plain, on=KeyError),
        Iterate(strip, at_most=2),
        Iterate(strip, at_most=3),
        Conditional(is_long, strip),
        Conditional(is_long, {True: strip}),
        constant(1),
        constant("1"),
    ]
    assert len({program.digest for program in different}) == len(different)

    def held(number: int) -> Program:
        def add(x: int, y: int = 3) -> int:
            return x + y + number

        return primitive(add)

    assert held(1).digest == held(1).digest != held(2).digest


@pytest.mark.requirement("program:json:not-writable")
def test_what_cannot_be_written_is_named():
    def local(text: str) -> str:
        return text

    with refused(
        "program[1] cannot be written as JSON: primitive 'local' is test_what_cannot_be_written_is_"
        "named.<locals>.local cannot be imported; define the function at the top of a module"
    ):
        Sequence(strip, local).to_json()
    with refused("program.test cannot be written as JSON: primitive '<lambda>' is"):
        Conditional(lambda text: True, strip).to_json()
    with refused("n cannot be written as JSON: its prompt "):
        neural("n", MODEL, prompt=lambda inputs: "", output=str).to_json()
    with refused("constant cannot be written as JSON: <object object at"):
        constant(object()).to_json()
    secret = Contract("secret", ensures=[clauses.that("so", lambda value: True)])
    with refused("program.test cannot be written as JSON: contract 'secret', clause 'so' cannot"):
        Conditional(secret, strip).to_json()
    with refused("plain cannot be written as JSON: its fallback "):
        primitive(plain, recover=Recover(fallback=[local])).to_json()

    class Local(Exception):
        pass

    with refused("program cannot be written as JSON: exception type "):
        Fallback(strip, on=Local).to_json()

    class Answer(list[int]):
        pass

    with refused("n cannot be written as JSON: the type <class "):
        neural("n", MODEL, prompt="{input}", input=Answer, output=str).to_json()


@pytest.mark.requirement("program:json:drift")
def test_a_function_that_changed_since_is_refused(monkeypatch: pytest.MonkeyPatch):
    text = Sequence(strip, plain).to_json()

    def strip_(text: str) -> str:
        return text.rstrip()

    changed = primitive(strip_, name="strip")
    monkeypatch.setattr(parts, "strip", changed)
    with refused(
        "program[0]: primitive 'strip' was written when its function, types or settings were "
        f"others: its digest was {digest_of(strip)} and is {digest_of(changed)} now"
    ):
        Program.from_json(text)
    monkeypatch.setattr(parts, "strip", plain)
    with refused(
        f"program[0]: primitive '{parts.__name__}:strip' cannot be loaded: it is a function"
    ):
        Program.from_json(text)
    monkeypatch.delattr(parts, "strip")
    with refused(
        f"program[0]: primitive '{parts.__name__}:strip' cannot be loaded: AttributeError"
    ):
        Program.from_json(text)


def digest_of(node: Any) -> str:
    return node.work.digest


@pytest.mark.requirement("program:json:drift")
def test_what_hangs_on_no_primitive_is_covered_by_the_digest_of_the_whole():
    text = Iterate(strip, at_most=3).to_json().replace('"at_most":3', '"at_most":4')
    with refused("program 'program' was written when its functions or types were others: its "):
        Program.from_json(text)


@pytest.mark.requirement("program:json:models")
def test_models_are_given_at_load():
    text = Sequence(ASK, constant(1)).to_json()
    with refused(
        "program[0]: neural 'ask' asks the model 'scripted/1', which is not given: from_json(..., "
        "models={'scripted/1': ...}); given are 'other'"
    ):
        Program.from_json(text, models={"other": MODEL})
    with refused("program[0]: neural 'ask' asks the model 'scripted/1', which is not given"):
        Program.from_json(text)


@pytest.mark.requirement("program:json:bad-text")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "this is no program in JSON: not JSON: "),
        ("[]", "this is no program in JSON: it has no format 'hornbook-program'"),
        ('{"format":"hornbook-contract"}', "this is no program in JSON: it has no format"),
        ('{"format":"hornbook-program","version":2}', "this program was written in version 2 of "
         "its format, and version 1 is read here: upgrade hornbook"),
        ('{"format":"hornbook-program","version":1}', "this is no program in JSON: KeyError: "),
        ('{"format":"hornbook-program","version":1,"program":{"kind":"Loop","name":"p"}}',
         "p: 'Loop' is no kind of program known here"),
        ('{"format":"hornbook-program","version":1,"digest":"","program":{"kind":"Sequence",'
         '"name":"p","parts":[]}}', "Sequence(): a sequence has one step at least"),
    ],
    ids=range(7),
)  # fmt: skip
def test_a_text_that_is_no_program_is_one_clear_error(text: str, message: str):
    with refused(message):
        Program.from_json(text)


@pytest.mark.requirement("program:json:order")
@pytest.mark.parametrize(
    "value",
    [{"b": 1, "a": 2}, [{"x": ({"b": [], "a": {"d": 1, "c": None}},)}], {2: "b", 1: "a"}],
)
def test_the_order_of_a_literal_dict_is_kept_and_told_by_the_digest(value: Any):
    program = constant(value)
    again = Program.from_json(program.to_json())
    assert repr(again.run(0)) == repr(value)
    assert again.digest == program.digest
    one, two = constant({"b": 1, "a": 2}), constant({"a": 2, "b": 1})
    assert one.digest != two.digest


@pytest.mark.requirement("program:json:drift")
def test_a_function_that_was_lifted_is_checked_too(monkeypatch: pytest.MonkeyPatch):
    text = primitive(plain, name="p").to_json()

    def other(text: str) -> str:
        return text

    monkeypatch.setattr(parts, "plain", other)
    with refused("p: primitive 'p' was written when its function, types or settings were others"):
        Program.from_json(text)
    monkeypatch.delattr(parts, "plain")
    with refused(f"function '{parts.__name__}:plain' cannot be loaded"):
        Program.from_json(text)
