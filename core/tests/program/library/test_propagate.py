"""`propagate`: what is left of domains, against solving by trying everything."""

import time
from itertools import pairwise, product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbook import ContractViolation
from hornbook.engine import Engine
from hornbook.program.library import (
    AllDifferent,
    Compare,
    Problem,
    ProblemError,
    Propagation,
    Sum,
    Table,
    propagate,
)
from hornbook.program.library.filtering import condition_of, filtered
from hornbook.program.library.problem import variables_of

RELATIONS = ("==", "!=", "<", "<=", ">", ">=")


def solutions_of(problem: Problem) -> list[dict[str, Any]]:
    """By trying all assignments, in the order of the domains."""
    rows = product(*problem.domains.values())
    tried = (dict(zip(problem.domains, row, strict=True)) for row in rows)
    return [one for one in tried if all(condition_of(c)(one) for c in problem.constraints)]


@st.composite
def constraints(draw: st.DrawFn, domains: dict[str, tuple[int, ...]], name: str) -> Any:
    variables = list(domains)
    kind = draw(st.sampled_from(["all_different", "sum", "table", "compare"]))
    over = tuple(draw(st.permutations(variables))[: draw(st.integers(1, len(variables)))])
    if kind == "all_different":
        return AllDifferent(over=over, name=name)
    if kind == "sum":
        weights = draw(st.none() | st.tuples(*[st.integers(-2, 3) for _ in over]))
        relation, total = draw(st.sampled_from(RELATIONS)), draw(st.integers(-5, 8))
        return Sum(over=over, weights=weights, relation=relation, total=total, name=name)
    if kind == "compare" and len(variables) > 1:
        left, right = draw(st.permutations(variables))[:2]
        relation, offset = draw(st.sampled_from(RELATIONS)), draw(st.integers(-2, 2))
        return Compare(left=left, relation=relation, right=right, offset=offset, name=name)
    every = list(product(*(domains[one] for one in over)))
    rows = draw(st.lists(st.sampled_from(every), max_size=8, unique=True)) if every else []
    return Table(over=over, rows=tuple(rows), allowed=draw(st.booleans()), name=name)


@st.composite
def problems(draw: st.DrawFn, least: int = 0) -> Problem:
    values = st.lists(st.integers(-2, 3), min_size=least, max_size=4, unique=True).map(tuple)
    names = "abcd"[: draw(st.integers(1, 4))]
    domains = {name: draw(values) for name in names}
    made = [draw(constraints(domains, f"c{at}")) for at in range(draw(st.integers(0, 4)))]
    return Problem(domains=domains, constraints=tuple(made))


@pytest.mark.requirement("library:propagate:exact")
@given(problems(least=1))
def test_each_filter_keeps_exactly_the_values_with_a_support(problem: Problem):
    for constraint in problem.constraints:
        over = variables_of(constraint)
        rows = product(*(problem.domains[one] for one in over))
        live = [row for row in rows if condition_of(constraint)(dict(zip(over, row, strict=True)))]
        assert filtered(constraint, problem.domains) == {
            one: tuple(v for v in problem.domains[one] if any(row[at] == v for row in live))
            for at, one in enumerate(over)
        }


@pytest.mark.requirement("library:propagate:nothing-lost")
@given(problems())
def test_domains_are_subsets_and_nothing_of_a_solution_is_lost(problem: Problem):
    found = propagate(problem)
    assert found.complete
    for name, values in found.domains.items():
        assert set(values) <= set(problem.domains[name])
    for solution in solutions_of(problem):
        assert all(solution[name] in values for name, values in found.domains.items())
    assert (found.status == "empty") is any(not values for values in found.domains.values())


@pytest.mark.requirement("library:propagate:search")
@given(problems())
def test_search_finds_all_solutions_or_the_first(problem: Problem):
    every = solutions_of(problem)
    found = propagate(problem, search="all", max_solutions=1_000)
    assert sorted(map(repr, found.solutions)) == sorted(map(repr, every))
    assert found.satisfiable is bool(every)
    first = propagate(problem, search="first")
    assert len(first.solutions) == min(1, len(every))
    assert all(one in every for one in first.solutions)


@pytest.mark.requirement("library:propagate:emptied-by")
def test_the_constraint_that_left_a_variable_without_values_is_named():
    problem = Problem(
        domains={"a": (1, 2), "b": (1, 2), "c": (1, 2)},
        constraints=(
            Compare(left="a", relation="<=", right="b"),
            AllDifferent(over=("a", "b", "c"), name="three shifts, two people"),
        ),
    )
    found = propagate(problem)
    assert (found.status, found.emptied_by) == ("empty", "three shifts, two people")
    assert found.satisfiable is False


@pytest.mark.requirement("library:propagate:emptied-by")
def test_a_variable_that_has_no_values_from_the_start_is_nobodys_doing():
    found = propagate(Problem(domains={"a": (), "b": (1,)}))
    assert (found.status, found.emptied_by, found.satisfiable) == ("empty", None, False)


@pytest.mark.requirement("library:propagate:kinds")
def test_texts_numbers_and_tables_go_together():
    problem = Problem(
        domains={"city": ("Oslo", "Bergen", "Lima"), "days": (1, 2, 3), "late": (True, False)},
        constraints=(
            Table(over=("city", "days"), rows=(("Oslo", 1), ("Bergen", 2), ("Lima", 9))),
            Table(over=("days", "late"), rows=((1, True), (1, False)), allowed=False),
        ),
    )
    found = propagate(problem)
    assert found.domains == {"city": ("Bergen",), "days": (2,), "late": (True, False)}


@pytest.mark.requirement("library:propagate:kinds")
def test_a_condition_that_only_a_function_can_say_is_tabulated():
    squares = Table.where(lambda a, b: b == a * a, {"a": (1, 2, 3), "b": (1, 4, 5)}, name="square")
    found = propagate(
        Problem(domains={"a": (1, 2, 3), "b": (4, 5, 9)}, constraints=(squares,)), search="all"
    )
    assert found.solutions == ({"a": 2, "b": 4},)
    with pytest.raises(ProblemError) as caught:
        Table.where(lambda a, b: a < b, {"a": tuple(range(1_000)), "b": tuple(range(1_000))})
    assert str(caught.value) == (
        "Table.where over a, b: 1000000 combinations are too many to tabulate; the limit is 100000"
    )


@pytest.mark.requirement("library:propagate:bounds")
def test_when_steps_are_used_up_the_result_says_so_and_nothing_is_lost():
    names = [f"x{at}" for at in range(6)]
    problem = Problem(
        domains={name: tuple(range(6)) for name in names},
        constraints=tuple(
            Compare(left=one, relation="<", right=other) for one, other in pairwise(names)
        ),
    )
    cut = propagate(problem, max_steps=3)
    assert not cut.complete
    assert (cut.steps, cut.satisfiable) == (3, None)
    whole = propagate(problem)
    assert whole.status == "solved"
    assert all(set(whole.domains[name]) <= set(cut.domains[name]) for name in names)


@pytest.mark.requirement("library:propagate:fast")
def test_fifty_variables_of_fifty_values_take_no_time_to_speak_of():
    names = tuple(f"x{at}" for at in range(50))
    problem = Problem(
        domains=dict.fromkeys(names, tuple(range(50))),
        constraints=(
            AllDifferent(over=names),
            Sum(over=names, total=1225),
            *(Compare(left=one, relation="<", right=other) for one, other in pairwise(names)),
        ),
    )
    began = time.process_time()
    found = propagate(problem, search="first")
    # 0.3 s where it was written; ten times that is for a machine that is slow.
    assert time.process_time() - began < 3
    assert found.satisfiable is True
    assert len(set(found.solutions[0].values())) == 50


@pytest.mark.requirement("library:propagate:malformed")
@pytest.mark.parametrize(
    ("problem", "message"),
    [
        (
            Problem(domains={"a": (1,)}, constraints=(AllDifferent(over=("a", "b")),)),
            "constraint 'all_different(a, b)': there is no variable 'b'",
        ),
        (
            Problem(domains={"a": (1, 1)}),
            "variable 'a': the value 1 stands there twice",
        ),
        (
            Problem(domains={"a": (1,)}, constraints=(AllDifferent(over=("a", "a")),)),
            "constraint 'all_different(a, a)': the variable 'a' stands there twice",
        ),
        (
            Problem(domains={"a": ("x",)}, constraints=(Sum(over=("a",), total=1),)),
            "constraint 'sum(a) == 1': 'a' has 'x', and a sum is over whole numbers",
        ),
        (
            Problem(
                domains={"a": (1,), "b": ("x",)},
                constraints=(Compare(left="a", relation="<", right="b"),),
            ),
            "constraint 'a < b': texts and numbers have no order between them",
        ),
        (
            Problem(domains={"a": (1,)}, constraints=(Table(over=("a",), rows=((1, 2),)),)),
            "constraint 'table(a)': row 0 has 2 values for 1 variables",
        ),
        (
            Problem(domains={"a": (0, 10**7)}, constraints=(Sum(over=("a",), total=1),)),
            "constraint 'sum(a) == 1': its sums lie up to 10000000 apart, more than 2000000",
        ),
        (
            Problem(domains={"a": (1,)}, constraints=(AllDifferent(over=()),)),
            "constraint 'all_different()': it has no variable",
        ),
        (
            Problem(domains={"a": (1,)}, constraints=(Sum(over=("a",), total=1, weights=(1, 2)),)),
            "constraint 'sum(a) == 1': 2 weights for 1 variables",
        ),
        (
            Problem(
                domains={"a": ("x",), "b": ("y",)},
                constraints=(Compare(left="a", relation="==", right="b", offset=1),),
            ),
            "constraint 'a == b +1': an offset is for numbers, and there is 'x'",
        ),
        (
            Problem(
                domains={"a": (1, 2)},
                constraints=(AllDifferent(over=("a",)), AllDifferent(over=("a",))),
            ),
            "two constraints are called 'all_different(a)': give one of them another name",
        ),
        (
            Problem(domains={f"x{at}": () for at in range(2_001)}),
            "2001 variables are more than 2000",
        ),
        (
            Problem(domains={"a": tuple(range(100_001))}),
            "the domains have 100001 values together, more than 100000",
        ),
        (
            Problem(
                domains={"a": (1,), "b": (1,)},
                constraints=(Table(over=("a", "b"), rows=((1, 1),) * 500_001),),
            ),
            "the tables have 1000002 cells together, more than 1000000",
        ),
        (
            Problem(domains={"a": (float("nan"),)}),
            "variable 'a': NaN equals nothing and is no value",
        ),
    ],
)
def test_a_malformed_problem_is_refused_with_all_that_is_wrong(problem: Problem, message: str):
    with pytest.raises(ProblemError) as caught:
        propagate(problem)
    assert str(caught.value) == message


@pytest.mark.requirement("library:propagate:contract")
@pytest.mark.parametrize(
    ("wrong", "clause"),
    [
        ({"domains": {"a": (1, 2, 7), "b": (1,)}}, "domains are subsets"),
        (
            {"domains": {"a": (2,), "b": (1,)}, "status": "open"},
            "the status follows from the domains",
        ),
        ({"solutions": ({"a": 1, "b": 1},)}, "solutions hold"),
        ({"domains": {"a": (1,), "b": (1,)}}, "solutions hold"),
        ({"satisfiable": False}, "no solution is lost (tried up to 2,000 assignments)"),
    ],
)
def test_a_wrong_result_does_not_pass_its_contract(wrong: dict[str, Any], clause: str):
    problem = Problem(
        domains={"a": (1, 2), "b": (1,)}, constraints=(AllDifferent(over=("a", "b")),)
    )
    right: dict[str, Any] = {
        "domains": {"a": (2,), "b": (1,)},
        "status": "solved",
        "satisfiable": True,
        "steps": 1,
    }
    assert propagate(problem) == Propagation(**right)
    engine = Engine(substitutes={"propagate": Propagation(**{**right, **wrong})})
    with pytest.raises(ContractViolation) as caught:
        propagate.run(problem, engine=engine)
    assert clause in [one.clause for one in caught.value.report.violations]
