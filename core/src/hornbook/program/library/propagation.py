"""`propagate`: constraint propagation over finite domains, with bounded search if asked.

Symbolic (Forethought 3.1): every filter is exact for its constraint, so that what is left
is generalised arc consistent; nothing of a solution is ever taken away.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice, product
from math import prod
from typing import Any, Literal, TypeAlias

from hornbook.contracts.clauses import that
from hornbook.contracts.contract import Contract
from hornbook.program.library.filtering import condition_of
from hornbook.program.library.problem import Problem, Value, name_of
from hornbook.program.library.problem_checks import checked_problem
from hornbook.program.library.solving import OutOfSteps, Solver
from hornbook.program.primitives import primitive

__all__ = ["PROPAGATION", "Propagation", "Search", "propagate"]

Search: TypeAlias = Literal["none", "first", "all"]

_TRIED = 2_000
"""Problems of so many assignments are solved again, by trying all, to check a result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Propagation:
    """What is left of a problem's domains, and what follows from that."""

    domains: dict[str, tuple[Value, ...]]
    """By variable, the values that are left, in the order of the problem."""
    status: Literal["solved", "open", "empty"]
    """`solved`: every variable has one value left; `empty`: one has none."""
    satisfiable: bool | None
    """Whether there is a solution; None where that was not found out."""
    emptied_by: str | None = None
    """The constraint that left a variable without values; None where none did."""
    solutions: tuple[dict[str, Value], ...] = ()
    """Those that were searched for and found."""
    complete: bool = True
    """Whether the fixpoint was reached, and the search that was asked for ran to its end."""
    steps: int = 0
    """Constraints that were looked at, again and again included."""


def _subsets(found: Propagation, inputs: Mapping[str, Any]) -> bool:
    given: Problem = inputs["problem"]
    if list(found.domains) != list(given.domains):
        return False
    return all(_is_part(found.domains[one], given.domains[one]) for one in found.domains)


def _is_part(values: tuple[Value, ...], of: tuple[Value, ...]) -> bool:
    """Whether values stand in `of`, in its order."""
    rest = iter(of)
    return all(any(value == other for other in rest) for value in values)


def _solutions_hold(found: Propagation, inputs: Mapping[str, Any]) -> bool:
    given: Problem = inputs["problem"]
    claimed = list(found.solutions)
    if found.complete and found.status == "solved":
        claimed.append({one: values[0] for one, values in found.domains.items()})
    if not all(_within(one, found) for one in claimed):
        return False
    tests = [condition_of(constraint) for constraint in given.constraints]
    return all(test(one) for one in claimed for test in tests)


def _status_follows(found: Propagation, inputs: Mapping[str, Any]) -> bool:
    given: Problem = inputs["problem"]
    if found.status != _status(found.domains):
        return False
    named = found.emptied_by in {name_of(constraint) for constraint in given.constraints}
    if found.status == "empty":
        return named if all(given.domains.values()) else found.emptied_by is None
    return found.emptied_by is None


def _nothing_lost(found: Propagation, inputs: Mapping[str, Any]) -> bool:
    given: Problem = inputs["problem"]
    if prod(map(len, given.domains.values())) > _TRIED:
        return True
    every = list(_by_trying(given))
    if not all(_within(solution, found) for solution in every):
        return False
    if found.satisfiable is not None and found.satisfiable is not bool(every):
        return False
    limit: int = inputs.get("max_solutions", _MOST_SOLUTIONS)
    if not found.complete or inputs.get("search", "none") != "all":
        return True
    return len(found.solutions) == min(len(every), limit)


def _within(solution: Mapping[str, Value], found: Propagation) -> bool:
    return all(solution.get(one) in values for one, values in found.domains.items())


def _by_trying(given: Problem) -> Iterator[dict[str, Value]]:
    tests = [condition_of(constraint) for constraint in given.constraints]
    for values in product(*given.domains.values()):
        tried = dict(zip(given.domains, values, strict=True))
        if all(test(tried) for test in tests):
            yield tried


PROPAGATION: Contract[Propagation] = Contract(
    "propagate",
    output=Propagation,
    ensures=[
        that("domains are subsets", _subsets),
        that("solutions hold", _solutions_hold),
        that("the status follows from the domains", _status_follows),
        that(f"no solution is lost (tried up to {_TRIED:,} assignments)", _nothing_lost),
    ],
)
"""What `propagate` promises of its result."""

_MOST_SOLUTIONS = 100


@primitive(contract=PROPAGATION)
def propagate(
    problem: Problem,
    search: Search = "none",
    max_solutions: int = _MOST_SOLUTIONS,
    max_steps: int = 100_000,
) -> Propagation:
    """Take out of domains what no solution can have.

    Args:
        problem: variables, their values, and constraints.
        search: also look for the `first` solution or for `all`.
        max_solutions: after so many the search ends, and is complete.
        max_steps: after so many the work ends; the result is then not `complete`.

    Raises:
        ProblemError: the problem is not well formed or too large.
    """
    solver = Solver(problem=checked_problem(problem), max_steps=max_steps)
    domains = {variable: tuple(values) for variable, values in problem.domains.items()}
    emptied_by: str | None = None
    solutions: list[dict[str, Value]] = []
    complete = True
    try:
        if all(domains.values()):
            emptied_by = solver.propagate(domains)
        if search != "none" and all(domains.values()):
            limit = 1 if search == "first" else max_solutions
            # One by one: those found before the steps are used up are kept.
            for solution in islice(solver.solutions(domains), limit):
                solutions.append(solution)  # noqa: PERF402
    except OutOfSteps:
        complete = False
    return Propagation(
        domains=domains,
        status=_status(domains),
        satisfiable=_satisfiable(domains, solutions, complete, search),
        emptied_by=emptied_by,
        solutions=tuple(solutions),
        complete=complete,
        steps=solver.steps,
    )


def _status(domains: Mapping[str, tuple[Value, ...]]) -> Literal["solved", "open", "empty"]:
    sizes = [len(values) for values in domains.values()]
    if 0 in sizes:
        return "empty"
    return "solved" if all(size == 1 for size in sizes) else "open"


def _satisfiable(
    domains: Mapping[str, tuple[Value, ...]],
    solutions: list[dict[str, Value]],
    complete: bool,
    search: Search,
) -> bool | None:
    status = _status(domains)
    if status == "empty":
        return False
    if solutions or (complete and status == "solved"):
        return True
    return False if complete and search != "none" else None
