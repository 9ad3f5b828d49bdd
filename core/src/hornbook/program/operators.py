"""The five ways to compose programs, each of them bounded (Forethought 3.2)."""

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias, cast

from hornbook.contracts.contract import Contract
from hornbook.program.binding import INPUT
from hornbook.program.errors import ProgramError
from hornbook.program.node import Program
from hornbook.program.primitives import Primitive, lifted
from hornbook.program.types_forms import labels_of

__all__ = [
    "UNNAMED",
    "Conditional",
    "Constant",
    "Fallback",
    "Holds",
    "Iterate",
    "Parallel",
    "Passing",
    "Sequence",
    "constant",
]

Part: TypeAlias = Program | Callable[..., Any]
"""A program, or a function that becomes a primitive."""

UNNAMED = "program"
"""The name of a composition that was given none."""


class Sequence(Program):
    """Run steps in order, each on what the one before gives.

    Raises:
        ProgramError: there is no step, or one does not take what comes to it.
    """

    def __init__(self, *steps: Part) -> None:
        if not steps:
            raise ProgramError("Sequence(): a sequence has one step at least")
        made = tuple(lifted(step, f"Sequence, step {at}") for at, step in enumerate(steps))
        self._set(name=UNNAMED, steps=made)
        self._check()

    steps: tuple[Program, ...]

    @property
    def parts(self) -> Mapping[str, Program]:
        """The steps, by `[0]`, `[1]`, ..."""
        return {f"[{at}]": step for at, step in enumerate(self.steps)}

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (Sequence, self.name, self.steps, {})


class Parallel(Program):
    """Run branches on the same value; gives their results as a record of named ports.

    A branch refers to another one's result with `ref("name")`, and then runs after it.

    Raises:
        ProgramError: two branches of one name, a reference that leads nowhere, or
            references in a circle.
    """

    def __init__(self, /, *unnamed: Part, **named: Part) -> None:
        branches: dict[str, Program] = {}
        for at, part in enumerate(unnamed):
            branch = lifted(part, f"Parallel, branch {at}")
            if branch.name == UNNAMED or not branch.name.isidentifier():
                raise ProgramError(
                    f"Parallel, branch {at}: {branch!r} has no name for its port; give it one: "
                    f"Parallel(name=...)"
                )
            if branch.name in branches:
                raise ProgramError(f"Parallel: two branches have the name {branch.name!r}")
            branches[branch.name] = branch
        for name, part in named.items():
            if name in branches:
                raise ProgramError(f"Parallel: two branches have the name {name!r}")
            if not name.isidentifier():
                raise ProgramError(
                    f"Parallel: the branch name {name!r} is no identifier: it is a port and part "
                    f"of places, so write it with letters, digits and underscores"
                )
            branches[name] = lifted(part, f"Parallel, branch {name!r}")
        if not branches:
            raise ProgramError("Parallel(): it has one branch at least")
        if INPUT in branches:
            raise ProgramError(f"Parallel: ref({INPUT!r}) is what it was given; rename the branch")
        self._set(name=UNNAMED, branches=branches)
        self._check()

    branches: Mapping[str, Program]

    @property
    def impure_branches(self) -> tuple[str, ...]:
        """Branches in which some primitive has effects, whose order is then not told."""
        return tuple(name for name, branch in self.branches.items() if _has_effects(branch))

    @property
    def parts(self) -> Mapping[str, Program]:
        """The branches, by `.name`."""
        return {f".{name}": branch for name, branch in self.branches.items()}

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (Parallel, self.name, (), self.branches)


class Holds(Program):
    """Whether a contract holds of the flowing value: the test of a Conditional or Iterate."""

    def __init__(self, contract: Contract[Any]) -> None:
        self._set(name=contract.name, contract=contract)
        self._check()

    contract: Contract[Any]

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (_holding, self.name, (self.contract.to_json(),), {})


class Passing(Program):
    """Gives what it is given: the branch that a Conditional need not name."""

    def __init__(self) -> None:
        self._set(name="pass")
        self._check()

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (Passing, self.name, (), {})


class Constant(Program):
    """Gives one value, whatever comes; made by `constant`."""

    def __init__(self, value: Any) -> None:
        self._set(name="constant", value=value)
        self._check()

    value: Any

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (Constant, self.name, (self.value,), {})


def constant(value: Any) -> Constant:
    """A program that gives this value; it must not be changed afterwards."""
    return Constant(value)


class Conditional(Program):
    """Run one of several branches, by what a test says of the value.

    Args:
        test: gives a bool, or one of the labels of a Literal or Enum; or a Contract, which
            tests whether the value meets it.
        then: what runs where the test gives True; or the branches by label.
        otherwise: what runs for any other label. Where `then` is one program it may be left
            out: then the value passes as it is.

    Raises:
        ProgramError: the test gives no labels, or a branch does not take the value.
    """

    def __init__(
        self,
        test: Part | Contract[Any],
        then: Part | Mapping[Any, Part],
        otherwise: Part | None = None,
    ) -> None:
        made = _test(test, "Conditional, test")
        other = None if otherwise is None else lifted(otherwise, "Conditional, otherwise")
        if isinstance(then, Mapping):
            labelled = cast("Mapping[Any, Part]", then)
            if not labelled:
                raise ProgramError("Conditional(then={}): it has one branch at least")
            branches = tuple(
                (label, lifted(part, f"Conditional, branch {label!r}"))
                for label, part in labelled.items()
            )
        else:
            branches = ((True, lifted(then, "Conditional, then")),)
            other = Passing() if other is None else other
        self._set(name=UNNAMED, test=made, branches=branches, otherwise=other)
        self._set(simple=not isinstance(then, Mapping))
        self._check()

    test: Program
    branches: tuple[tuple[Any, Program], ...]
    """By label, in order of declaration."""
    otherwise: Program | None
    simple: bool
    """It was written with `then` as one program, for True."""

    def branch(self, label: Any) -> Program | None:
        """What runs for a label; None where nothing does."""
        for known, branch in self.branches:
            if _same(known, label):
                return branch
        return self.otherwise

    @property
    def labels(self) -> tuple[Any, ...]:
        """What the test can give."""
        return labels_of(self._typed.part(".test").output) or ()

    @property
    def missing_labels(self) -> tuple[Any, ...]:
        """Labels that the test can give and no branch is for."""
        return tuple(label for label in self.labels if self.branch(label) is None)

    @property
    def unreachable_labels(self) -> tuple[Any, ...]:
        """Labels of branches that the test cannot give."""
        known = self.labels
        return tuple(one for one, _ in self.branches if not any(_same(one, k) for k in known))

    @property
    def otherwise_unreachable(self) -> bool:
        """Whether `otherwise` is given, and every label has a branch of its own."""
        if self.otherwise is None:
            return False
        named = [label for label, _ in self.branches]
        return all(any(_same(label, one) for one in named) for label in self.labels)

    def unreachable(self) -> tuple[str, ...]:
        """What of its parts can never run, by what their places end with."""
        never = [self.suffix(label) for label in self.unreachable_labels]
        return (*never, *([".otherwise"] if self.otherwise_unreachable else []))

    def suffix(self, label: Any) -> str:
        """What the place of a label's branch ends with."""
        if self.simple:
            return ".then"
        return f"[{label!r}]" if not hasattr(label, "name") else f"[{label.name}]"

    @property
    def parts(self) -> Mapping[str, Program]:
        """The test, then the branches."""
        found: dict[str, Program] = {".test": self.test}
        found |= {self.suffix(label): branch for label, branch in self.branches}
        return found if self.otherwise is None else {**found, ".otherwise": self.otherwise}

    def __reduce__(self) -> tuple[Any, ...]:
        then = self.branches[0][1] if self.simple else dict(self.branches)
        return _rebuilt, (Conditional, self.name, (self.test, then, self.otherwise), {})


class Iterate(Program):
    """Run a body again and again on its own result, until a condition holds.

    Args:
        body: runs once at least.
        until: takes the body's result, or `before` and `after`; gives a bool. Without it
            the body runs `at_most` times.
        at_most: how many rounds there may be: the bound that makes the program halt.
        exhausted: what to do when the rounds are used and `until` does not hold: `accept`
            the last result, or `fail` with RoundsExhausted.

    Raises:
        ProgramError: no bound, or a body that does not take its own result.
    """

    def __init__(
        self,
        body: Part,
        *,
        until: Part | Contract[Any] | None = None,
        at_most: int | None = None,
        exhausted: Literal["accept", "fail"] = "accept",
    ) -> None:
        made = lifted(body, "Iterate, body")
        bound: object = at_most
        if isinstance(bound, bool) or not isinstance(bound, int) or bound < 1:
            raise ProgramError(
                f"Iterate({made.name!r}, at_most={bound!r}): its rounds are not bounded; at_most "
                f"is a whole number of at least 1"
            )
        if exhausted not in ("accept", "fail"):
            raise ProgramError(f"Iterate(exhausted={exhausted!r}): 'accept' or 'fail'")
        test = None if until is None else _test(until, "Iterate, until")
        self._set(name=UNNAMED, body=made, until=test, at_most=bound, exhausted=exhausted)
        self._check()

    body: Program
    until: Program | None
    at_most: int
    exhausted: Literal["accept", "fail"]

    @property
    def parts(self) -> Mapping[str, Program]:
        """The body and `until`, as in the first round."""
        found: dict[str, Program] = {"#1": self.body}
        return found if self.until is None else {**found, "#1.until": self.until}

    def __reduce__(self) -> tuple[Any, ...]:
        settings = {"until": self.until, "at_most": self.at_most, "exhausted": self.exhausted}
        return _rebuilt, (Iterate, self.name, (self.body,), settings)


class Fallback(Program):
    """Try alternatives in order, until one gives a value.

    Args:
        *alternatives: each gets the same value.
        on: the exception types that go to the next alternative. Left out, any failure of a
            step does: what it raises, a violated contract, a timeout. A spent budget, a
            cancellation and a host's control flow never do.

    Raises:
        ProgramError: there is no alternative, or `on` holds no exception types.
    """

    def __init__(self, *alternatives: Part, on: Any = (Exception,)) -> None:
        if not alternatives:
            raise ProgramError("Fallback(): it has one alternative at least")
        listed = isinstance(on, tuple | list)
        given = tuple(cast("tuple[object, ...]", on)) if listed else (cast("object", on),)
        for kind in given:
            if not (isinstance(kind, type) and issubclass(kind, Exception)):
                raise ProgramError(f"Fallback(on=...): {kind!r} is no exception type")
        made = tuple(
            lifted(part, f"Fallback, alternative {at}") for at, part in enumerate(alternatives)
        )
        self._set(name=UNNAMED, alternatives=made, on=given)
        self._check()

    alternatives: tuple[Program, ...]
    on: tuple[type[Exception], ...]

    @property
    def parts(self) -> Mapping[str, Program]:
        """The alternatives, by `[0]`, `[1]`, ..."""
        return {f"[{at}]": one for at, one in enumerate(self.alternatives)}

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (Fallback, self.name, self.alternatives, {"on": self.on})


def _test(given: Any, where: str) -> Program:
    if isinstance(given, Contract):
        return Holds(cast("Contract[Any]", given))
    return lifted(given, where, untyped=_is_untyped(given))


def _is_untyped(given: Any) -> bool:
    return not isinstance(given, Program) and not getattr(given, "__annotations__", None)


def _has_effects(node: Program) -> bool:
    if isinstance(node, Primitive) and not cast("Primitive[..., Any]", node).pure:
        return True
    return any(_has_effects(part) for part in node.parts.values())


def _same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and one == other


def _rebuilt(
    kind: Any, name: str, positional: tuple[Any, ...], named: Mapping[str, Any]
) -> Program:
    made: Program = kind(*positional, **named)
    return made if made.name == name else made.named(name)


def _holding(text: str) -> Program:
    return Holds(Contract.from_json(text))
