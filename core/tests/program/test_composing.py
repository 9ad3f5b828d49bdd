"""Composing programs: what fits together, and what is refused when it is written down."""

import copy
import re
import time
from typing import Any, Literal, TypeVar

import pytest

from hornbook import Contract, clauses
from hornbook.errors import DefinitionError
from hornbook.program import (
    Conditional,
    Fallback,
    Iterate,
    Parallel,
    Program,
    ProgramError,
    ProgramInputError,
    Sequence,
    constant,
    primitive,
    ref,
)

from .parts import (
    Query,
    Size,
    Span,
    count,
    first,
    increment,
    is_long,
    join,
    kind_of,
    later,
    plain,
    size_of,
    strip,
    ten_or_more,
    words,
)

T = TypeVar("T")


@pytest.mark.requirement("program:compose:fast")
def test_composing_many_branches_and_many_levels_is_quick():
    started = time.process_time()
    program: Program = Parallel(**{f"b{at}": increment for at in range(800)})
    assert program.input is int
    pair = primitive(lambda_pair)
    program = increment
    for _ in range(300):
        program = Sequence(Parallel(a=program, b=increment), pair)
    ports: Program = pair
    for _ in range(300):
        ports = Sequence(Parallel(a=ports, b=pair), pair)
    assert program.input is int
    assert time.process_time() - started < 3  # seconds; it took minutes


def lambda_pair(a: int, b: int) -> int:
    return a + b


@pytest.mark.requirement("program:compose:names")
@pytest.mark.parametrize("name", ["a b", "", "a.b", "a[0]", "a#1"])
def test_a_branch_has_a_name_that_places_can_hold(name: str):
    with pytest.raises(ProgramError) as caught:
        Parallel(**{name: increment})
    assert str(caught.value) == (
        f"Parallel: the branch name {name!r} is no identifier: it is a port and part of places, "
        f"so write it with letters, digits and underscores"
    )


@pytest.mark.requirement("program:compose:names")
def test_a_branch_may_have_the_name_of_anything_in_a_program():
    assert Parallel(self=increment, run=increment).run(1) == {"self": 2, "run": 2}


@primitive
def both(left: list[str], right: int, limit: int = 5) -> str:
    return f"{left} {right} {limit}"


@primitive
def about(text: str, limit: int) -> str:
    return text[:limit]


@primitive
def start_of(start: int) -> int:
    return start


def refused(message: str) -> Any:
    return pytest.raises(DefinitionError, match=f"^{re.escape(message)}$")


@pytest.mark.requirement("program:operators:sequence", "program:operators:parallel")
def test_steps_pass_their_values_on_and_branches_give_a_record():
    program = Sequence(strip, Parallel(words, count=count), join)
    assert program.run("  a b ") == "a-b-3"
    assert (program.input, program.output) == (str, str)


@pytest.mark.requirement("program:operators:lifted")
def test_plain_functions_become_primitives():
    program = Sequence(plain, strip, plain)
    assert [step.name for step in program.steps] == ["plain", "strip", "plain"]
    assert program.run("a") == "a??"
    with refused("Sequence, step 1: 3 is neither a program nor a function"):
        Sequence(plain, 3)  # type: ignore[arg-type]
    with refused("Sequence(): a sequence has one step at least"):
        Sequence()


@pytest.mark.requirement("program:types:composed")
def test_what_does_not_fit_says_where_what_comes_and_what_is_asked():
    with refused("program[1]: here comes int, and parameter 'text' asks str: int is no str"):
        Sequence(count, strip)
    with refused("program[1].a[0]: here comes int, and parameter 'text' asks str: int is no str"):
        Sequence(count, Parallel(a=Sequence(strip, count), b=words))
    with refused(
        "program[1]: at port 'count' comes list[str], and parameter 'count' asks int: list[str] "
        "is no int"
    ):
        Sequence(Parallel(words, count=words), join)


@pytest.mark.requirement("program:types:composed", "program:types:generic")
def test_generic_primitives_give_what_their_inputs_solve():
    assert Sequence(words, first).output is str
    assert Sequence(words, first, strip).run("a b") == "a"
    with refused("program[2]: here comes str, and parameter 'number' asks int: str is no int"):
        Sequence(words, first, increment)
    assert first.output is Any


@pytest.mark.requirement("program:binding:ports")
def test_parameters_are_taken_by_name_from_any_record():
    assert Sequence(constant({"text": "a"}), strip).input is Any

    def query(text: str) -> Query:
        return Query(text=text)

    def span(text: str) -> Span:
        return Span(start=len(text))

    assert Sequence(query, about).run("abcdef") == "abc"
    assert Sequence(query, strip).run(" abc ") == "abc"
    assert Sequence(span, start_of).run("abc") == 3


@pytest.mark.requirement("program:binding:ports")
def test_a_whole_record_is_taken_where_its_port_does_not_fit():
    def whole(text: Query) -> str:
        return f"{text.text}/{text.limit}"

    def query(text: str) -> Query:
        return Query(text=text)

    assert Sequence(query, whole).run("a") == "a/3"


@pytest.mark.requirement("program:binding:ports")
def test_missing_ports_are_listed_beside_what_there_is():
    with refused(
        "program[1]: 'join' asks words: list[str], count: int, and here comes "
        "{words: list[str], length: int}, with the ports words, length: there is no 'count'"
    ):
        Sequence(Parallel(words, length=count), join)
    with refused(
        "program[1]: 'join' asks words: list[str], count: int, and here comes str, which has no "
        "named ports: bind the parameters, or let a Parallel give them by name"
    ):
        Sequence(strip, join)


@pytest.mark.requirement("program:binding:ports")
def test_the_port_that_is_not_there_is_named_with_the_nearest():
    with refused(
        "program[1]: 'increment' asks number: int, and here comes {numbr: int, length: int}, with "
        "the ports numbr, length: there is no 'number' (the nearest is 'numbr')"
    ):
        Sequence(Parallel(numbr=count, length=count), increment)
    with refused(
        "program[1]: 'increment' asks number: int, and here comes {a: int}, with the ports a: "
        "there is no 'number'"
    ):
        Sequence(Parallel(a=count), increment)

    def query(text: str) -> Query:
        return Query(text=text)

    with refused("program[1]: here comes Query, and parameter 'number' asks int: Query is no int"):
        Sequence(query, increment)


@pytest.mark.requirement("program:types:composed")
def test_two_classes_of_one_name_are_told_apart():
    def cell() -> Any:
        class Bill:
            pass

        @primitive
        def bill(text: str) -> Bill:
            return Bill()

        @primitive
        def bills(text: str) -> list[Bill]:
            return [Bill()]

        @primitive
        def paid(bill: Bill) -> bool:
            return True

        @primitive
        def all_paid(bills: list[Bill]) -> bool:
            return True

        return bill, bills, paid, all_paid

    bill, bills, _, _ = cell()
    _, _, paid, all_paid = cell()
    again = (
        "these are two different classes called Bill, as when a cell of a notebook is run again: "
        "make anew what uses the older one"
    )
    with refused(f"program[1]: here comes Bill, and parameter 'bill' asks Bill: {again}"):
        Sequence(bill, paid)
    with refused(
        f"program[1]: here comes list[Bill], and parameter 'bills' asks list[Bill]: {again}"
    ):
        Sequence(bills, all_paid)
    with pytest.raises(ProgramInputError, match="two different classes called Bill"):
        paid.run(bill("a"))


@pytest.mark.requirement("program:binding:ports")
def test_the_input_of_a_program_with_several_parameters_is_a_record():
    assert join.input.__name__ == "{words: list[str], count: int}"
    assert join.run({"words": ["a"], "count": 3}) == "a-3"
    program = Parallel(join, about, again=strip.bind(text="x"))
    assert program.input.__name__ == "{words: list[str], count: int, text: str, limit: int}"
    given = {"words": ["a"], "count": 1, "text": "abc", "limit": 2}
    assert program.run(given) == {"join": "a-1", "about": "ab", "again": "x"}


@pytest.mark.requirement("program:binding:ports")
def test_parts_that_are_given_one_value_must_be_able_to_share_it():
    with refused(
        "program: all its parts are given the same value, and program.words asks str where "
        "program.increment asks int"
    ):
        Parallel(words, increment)

    def maybe(text: str | None) -> str:
        return text or ""

    def query(text: Query) -> str:
        return text.text

    def by_name(text: str, limit: int) -> str:
        return text[:limit]

    assert Parallel(maybe, words).input is str
    assert Parallel(words, maybe).input is str
    assert Parallel(by_name, query).input is Query
    assert Parallel(query, by_name).input is Query
    assert Parallel(by_name, words=words).input.__name__ == "{text: str, limit: int}"
    assert Conditional(is_long, increment.bind(number=1), count).input is str


@pytest.mark.requirement("program:binding:refs")
def test_branches_refer_to_each_other_and_to_the_input():
    program = Parallel(
        text=both.bind(left=ref("names"), right=ref("size")),
        names=words.bind(text=ref("input")),
        size=Sequence(strip, count),
    )
    assert program.run(" a b ") == {"text": "['a', 'b'] 3 5", "names": ["a", "b"], "size": 3}
    assert list(program.run("a")) == ["text", "names", "size"]


@pytest.mark.requirement("program:binding:refs")
def test_a_reference_may_pass_over_the_nearest_parallel():
    inner = Parallel(deep=both.bind(left=ref("names", outer=True), right=ref("size")), size=count)
    program = Parallel(names=words, inside=Sequence(strip, inner))
    assert program.run("a b")["inside"] == {"deep": "['a', 'b'] 3 5", "size": 3}
    outermost = Parallel(names=words, a=Parallel(b=Parallel(c=count, d=first.bind(
        items=ref("names", outer=True)))))  # fmt: skip
    assert outermost.run("x y")["a"]["b"] == {"c": 3, "d": "x"}


@pytest.mark.requirement("program:binding:unknown-ref")
def test_an_unknown_reference_lists_what_there_is():
    with refused(
        "program.a: ref('nmaes') names no branch of the Parallel at program; there are a, names "
        "and 'input' (a branch of a Parallel further out is ref('nmaes', outer=True))"
    ):
        Parallel(a=strip.bind(text=ref("nmaes")), names=words)
    part = Sequence(strip.bind(text=ref("names")), words)
    message = (
        "program: ref('names') leads nowhere: it names a branch of a Parallel around, and this "
        "part of a program stands in none that has it"
    )
    for use in (lambda: part.run("a"), part.max_calls, part.to_html):
        with refused(message):
            use()
    with refused("ref(3): the name of a branch of the Parallel around"):
        ref(3)  # type: ignore[arg-type]


@pytest.mark.requirement("program:binding:refs", "program:types:composed")
def test_what_a_reference_leads_to_is_checked():
    with refused(
        "program.a: from ref('b') comes list[str], and parameter 'text' asks str: list[str] is no "
        "str"
    ):
        Parallel(a=strip.bind(text=ref("b")), b=words)
    outer = Parallel(a=strip.bind(text=ref("n", outer=True)))
    with refused(
        "program.m.a: from ref('n', outer=True) comes list[str], and parameter 'text' asks str: "
        "list[str] is no str"
    ):
        Parallel(m=outer, n=words)


@pytest.mark.requirement("program:binding:literals", "program:llmcompiler:literal")
@pytest.mark.parametrize("text", ["$1", "$names", "{names}", "${1}", "ref('names')"])
def test_a_literal_that_looks_like_a_reference_stays_as_it_is(text: str):
    program = Parallel(names=words, kept=strip.bind(text=text), whole=constant(text))
    assert program.run("a b") == {"names": ["a", "b"], "kept": text, "whole": text}


@pytest.mark.requirement("program:binding:literals", "program:types:composed")
def test_literals_are_typed_and_parameters_known():
    with refused("both: bound is Literal['x'], and parameter 'right' asks int: 'x' is no int"):
        both.bind(right="x")
    with refused(
        "'both' has no parameter 'rihgt'; its parameters: left, right, limit; the nearest is "
        "'right'"
    ):
        both.bind(rihgt=3)
    bound = both.bind(left=["a"], limit=7)
    assert bound.run(3) == "['a'] 3 7"
    assert bound.bind(right=4).run("whatever") == "['a'] 4 7"
    assert both.bind(left=[], right=1).run(None) == "[] 1 5"


@pytest.mark.requirement("program:operators:parallel")
def test_ports_have_names_that_differ():
    with refused(
        "Parallel, branch 0: <Sequence 'program'> has no name for its port; give it one: "
        "Parallel(name=...)"
    ):
        Parallel(Sequence(strip))
    with refused("Parallel: two branches have the name 'strip'"):
        Parallel(strip, strip)
    with refused("Parallel: two branches have the name 'strip'"):
        Parallel(strip, strip=words)
    with refused("Parallel: ref('input') is what it was given; rename the branch"):
        Parallel(input=strip)
    with refused("Parallel(): it has one branch at least"):
        Parallel()
    assert list(Parallel(Sequence(strip).named("tidy")).branches) == ["tidy"]


@pytest.mark.requirement("program:operators:conditional")
def test_a_conditional_takes_the_branch_that_its_test_names():
    simple = Conditional(is_long, words)
    assert simple.run("abcd") == ["abcd"]
    assert simple.run("ab") == "ab"
    assert simple.output == list[str] | str
    by_size = Conditional(size_of, {Size.SMALL: plain, Size.LARGE: later})
    assert (by_size.run("ab"), by_size.run("abcd")) == ("ab?", "abcd!")
    by_kind = Conditional(kind_of, {"name": strip}, otherwise=constant("n"))
    assert (by_kind.run("a "), by_kind.run("12")) == ("a", "n")


@pytest.mark.requirement("program:operators:contract-outcome")
def test_a_contract_is_a_test_too():
    short = Contract("short", ensures=[clauses.that("short", lambda value: len(value) < 3)])
    program = Conditional(short, constant("short"), constant("long"))
    assert (program.run("ab"), program.run("abcd")) == ("short", "long")
    grounded = Contract("grounded", ensures=[clauses.grounded("words", source="text")])
    held = Sequence(
        Parallel(text=strip, words=words), Conditional(grounded, constant(1), constant(2))
    )
    assert held.run("a b") == 1
    with refused(
        "contract 'grounded', clause 'grounded words': 'text' is no parameter of "
        "'program.test'; its parameters are none"
    ):
        Conditional(grounded, strip)


@pytest.mark.requirement("program:operators:labels")
def test_labels_without_branch_and_branches_without_label_can_be_seen():
    program = Conditional(kind_of, {"name": strip, "nmae": words})
    assert program.labels == ("name", "number")
    assert program.missing_labels == ("number",)
    assert program.unreachable_labels == ("nmae",)
    assert program.unreachable() == ("['nmae']",)
    assert program.output is str
    full = Conditional(kind_of, {"name": strip, "number": strip}, otherwise=plain)
    assert full.unreachable() == (".otherwise",)
    assert Conditional(constant(True), strip, plain).unreachable() == (".otherwise",)
    assert Conditional(constant(False), strip).unreachable() == (".then",)


@pytest.mark.requirement("program:operators:labels", "program:types:composed")
def test_a_test_gives_labels_that_are_known():
    with refused("program.test: 'strip' gives str, and the test of a Conditional gives a bool"):
        Conditional(strip, words)
    with refused(
        "program.test: 'kind_of' gives Literal['name', 'number'], and the test of a Conditional "
        "gives a bool"
    ):
        Conditional(kind_of, words)
    with refused(
        "program.test: 'strip' gives str, and the test of a Conditional gives a bool, or a label "
        "of a Literal or Enum"
    ):
        Conditional(strip, {"a": words})
    with refused(
        "program: no branch can be taken: the test gives Literal['name', 'number'], and the "
        "branches are for 'x'"
    ):
        Conditional(kind_of, {"x": words})
    with refused("Conditional(then={}): it has one branch at least"):
        Conditional(kind_of, {})


@pytest.mark.requirement("program:operators:iterate")
def test_a_body_is_repeated_on_its_own_result():
    assert Iterate(increment, at_most=4).run(0) == 4
    assert Iterate(increment, until=lambda number: number >= 2, at_most=4).run(0) == 2
    assert Iterate(increment, until=lambda number: True, at_most=4).run(0) == 1
    assert Iterate(increment, until=ten_or_more, at_most=99).run(5) == 10
    positive = Contract("done", ensures=[clauses.in_range(".", low=3)])
    assert Iterate(increment, until=positive, at_most=9).run(0) == 3


@pytest.mark.requirement("program:operators:unbounded")
@pytest.mark.parametrize("bound", [None, 0, -1, True, 3.0, "3"])
def test_an_iterate_without_a_bound_is_refused(bound: Any):
    with refused(
        f"Iterate('increment', at_most={bound!r}): its rounds are not bounded; at_most is a whole "
        f"number of at least 1"
    ):
        Iterate(increment, at_most=bound)


@pytest.mark.requirement("program:operators:iterate", "program:types:composed")
def test_a_body_takes_what_it_gives_and_until_says_a_bool():
    with refused(
        "program#1: here comes Union[str, list[str]], and parameter 'text' asks str: list[str] "
        "is no str"
    ):
        Iterate(words, at_most=2)
    with refused("program#1.until: 'count' gives int, and `until` gives a bool"):
        Iterate(strip, until=count, at_most=2)
    with refused("Iterate(exhausted='stop'): 'accept' or 'fail'"):
        Iterate(strip, at_most=2, exhausted="stop")  # type: ignore[arg-type]
    start: Literal["a"] = "a"
    assert Sequence(constant(start), Iterate(plain, at_most=2)).run(None) == "a??"

    def wrapped(value: Any) -> list[Any]:
        return [value]

    assert Iterate(wrapped, at_most=2).run(1) == [[1]]


@pytest.mark.requirement("program:operators:iterate", "program:types:composed")
def test_a_body_whose_result_grows_with_each_round_is_refused():
    def wrap(value: T) -> list[T]:
        return [value]

    with refused(
        "program[1]#1: the body of an Iterate is given what it gave, and it gives "
        "list[Literal[1]] where it was given Literal[1]: its type grows with each round"
    ):
        Sequence(constant(1), Iterate(wrap, at_most=2))


class Strange(Program):
    def __init__(self) -> None:
        self._set(name="strange")
        self._check()


@pytest.mark.requirement("program:types:composed")
def test_a_kind_of_program_that_is_not_known_is_refused():
    with refused("strange: Strange is no kind of program known here"):
        Strange()


@pytest.mark.requirement("program:operators:fallback")
def test_a_fallback_names_exceptions_and_has_alternatives():
    with refused("Fallback(): it has one alternative at least"):
        Fallback()
    with refused("Fallback(on=...): 'x' is no exception type"):
        Fallback(strip, on="x")
    with refused("Fallback(on=...): <class 'KeyboardInterrupt'> is no exception type"):
        Fallback(strip, on=[KeyboardInterrupt])
    assert Fallback(strip, on=ValueError).on == (ValueError,)
    assert Fallback(strip, words).output == str | list[str]


@pytest.mark.requirement("program:node:immutable")
def test_a_program_is_immutable_so_that_it_cannot_contain_itself():
    program = Sequence(strip)
    with pytest.raises(AttributeError, match="program 'program' is immutable: 'steps' cannot be"):
        program.steps = (program,)  # type: ignore[misc]
    with pytest.raises(AttributeError, match="immutable: 'steps' cannot be deleted"):
        del program.steps
    branches: dict[str, Any] = {"a": strip}
    together = Parallel(**branches)
    branches["b"] = together
    assert list(together.branches) == ["a"]
    assert copy.copy(program) is copy.deepcopy(program) is program


@pytest.mark.requirement("program:node:places")
def test_every_node_has_a_place():
    program = Sequence(
        Parallel(words=words, count=count),
        join,
        Conditional(constant(True), Iterate(Fallback(plain, strip), at_most=2)),
    ).named("whole")
    assert [placed.place for placed in program.walk()] == [
        "whole",
        "whole[0]",
        "whole[0].words",
        "whole[0].count",
        "whole[1]",
        "whole[2]",
        "whole[2].test",
        "whole[2].then",
        "whole[2].then#1",
        "whole[2].then#1[0]",
        "whole[2].then#1[1]",
        "whole[2].otherwise",
    ]
    with refused("a program's name is a text that is not empty: ' '"):
        program.named(" ")
    assert repr(program) == "<Sequence 'whole'>"


@pytest.mark.requirement("program:llmcompiler:cyclic-plan")
def test_branches_that_wait_for_each_other_are_refused_by_name():
    with pytest.raises(ProgramError) as caught:
        Parallel(
            a=strip.bind(text=ref("b")),
            b=Sequence(strip, plain, strip.bind(text=ref("c"))),
            c=strip.bind(text=ref("a")),
        )
    assert str(caught.value) == (
        "program: its branches wait for each other in a circle: a -> b -> c -> a"
    )
    with refused("program: its branches wait for each other in a circle: a -> a"):
        Parallel(a=strip.bind(text=ref("a")))
