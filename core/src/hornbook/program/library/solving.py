"""Propagation to a fixpoint, and bounded search that propagates at each choice.

Both are deterministic: constraints in the order of declaration, variables by the size of
their domains, values in the order in which they stand there.
"""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hornbook.program.library.filtering import Domains, filtered
from hornbook.program.library.problem import Problem, Value, name_of, variables_of

__all__ = ["OutOfSteps", "Solver"]


class OutOfSteps(Exception):
    """The steps are used up."""


@dataclass(slots=True, kw_only=True)
class Solver:
    """One problem being worked on; a step is one constraint looked at once."""

    problem: Problem
    max_steps: int
    steps: int = 0
    emptied_by: str | None = None
    """The constraint that first emptied a domain outside of any search."""
    _touching: Mapping[str, Sequence[int]] = field(default_factory=dict[str, Sequence[int]])

    def __post_init__(self) -> None:
        touching: dict[str, list[int]] = {variable: [] for variable in self.problem.domains}
        for at, constraint in enumerate(self.problem.constraints):
            for variable in variables_of(constraint):
                touching[variable].append(at)
        self._touching = touching

    def propagate(self, domains: dict[str, tuple[Value, ...]]) -> str | None:
        """Narrow the domains in place, as far as steps allow.

        Returns:
            The name of the constraint that left a variable without values, or None.

        Raises:
            OutOfSteps: the domains are then narrowed in part, and nothing of a solution is lost.
        """
        return self._to_fixpoint(domains, range(len(self.problem.constraints)))

    def solutions(self, domains: Domains) -> Iterator[dict[str, Value]]:
        """Every solution within domains that were propagated already, one after the other.

        Raises:
            OutOfSteps: before all were found.
        """
        at_hand: dict[str, tuple[Value, ...]] | None = dict(domains)
        # Branches that are still to be tried, the next one last; each is narrowed when its turn
        # comes, so that the first solution costs no more than the way to it.
        waiting: list[tuple[Domains, str, Value]] = []
        while True:
            choice = None if at_hand is None else _choice(at_hand)
            if at_hand is not None and choice is not None:
                waiting += [(at_hand, choice, value) for value in reversed(at_hand[choice])]
            elif at_hand is not None:
                yield {variable: values[0] for variable, values in at_hand.items()}
            if not waiting:
                return
            at_hand = self._branch(*waiting.pop())

    def _branch(
        self, domains: Domains, variable: str, value: Value
    ) -> dict[str, tuple[Value, ...]] | None:
        tried = {**domains, variable: (value,)}
        return None if self._to_fixpoint(tried, self._touching[variable]) else tried

    def _to_fixpoint(
        self, domains: dict[str, tuple[Value, ...]], start: Sequence[int]
    ) -> str | None:
        waiting, queued = deque(start), set(start)
        while waiting:
            at = waiting.popleft()
            queued.discard(at)
            constraint = self.problem.constraints[at]
            changed = self._look(constraint, domains)
            if any(not domains[variable] for variable in changed):
                return name_of(constraint)
            for variable in changed:
                # Every filter is exact, so a constraint has nothing to add to its own work.
                more = [one for one in self._touching[variable] if one != at]
                waiting.extend(one for one in more if one not in queued)
                queued.update(more)
        return None

    def _look(self, constraint: Any, domains: dict[str, tuple[Value, ...]]) -> list[str]:
        if self.steps >= self.max_steps:
            raise OutOfSteps
        self.steps += 1
        changed: list[str] = []
        for variable, values in filtered(constraint, domains).items():
            if len(values) < len(domains[variable]):
                domains[variable] = values
                changed.append(variable)
        return changed


def _choice(domains: Domains) -> str | None:
    """The variable with the fewest values of those with a choice."""
    open_ = [variable for variable, values in domains.items() if len(values) > 1]
    return min(open_, key=lambda one: len(domains[one]), default=None)
