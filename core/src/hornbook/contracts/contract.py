"""A contract: a named, versioned, immutable set of clauses, and how a value is held to it."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, cast, overload

from hornbook.errors import DefinitionError

if TYPE_CHECKING:
    from hornbook.budget import Meter
    from hornbook.contracts.clause import Clause
    from hornbook.contracts.output_type import OutputType
    from hornbook.contracts.report import ContractReport
    from hornbook.contracts.verdicts import Examining

__all__ = ["Contract", "Revalidate"]

T = TypeVar("T")
Revalidate = Literal["always", "never"]

_NO_OUTPUT: Any = object()


class Contract(Generic[T]):
    """Clauses on a step's inputs (`requires`) and output (`ensures`) (Forethought 3.1).

    Args:
        name: what reports and records call it.
        version: changes when its meaning does.
        output: the output's type, anything that pydantic's TypeAdapter takes. It is
            checked and never converted: the step's own object is returned.
        requires: clauses on the inputs; a path starts at an input's name.
        ensures: clauses on the output; a path leads into it.
        strict: check `output` in pydantic's strict mode.
        revalidate: check model and dataclass instances again (`always`), or trust them.
        deadline: seconds that the judges of one check may take, together; None for no limit.

    Raises:
        DefinitionError: two clauses of one name, a path that `output` does not have, or a
            type that pydantic cannot check.
    """

    __slots__ = (
        "__weakref__",
        "_digest",
        "_output_type",
        "_placed",
        "deadline",
        "decide",
        "ensures",
        "name",
        "output",
        "requires",
        "revalidate",
        "strict",
        "version",
    )

    name: str
    version: str
    output: Any
    requires: "tuple[Clause, ...]"
    ensures: "tuple[Clause, ...]"
    strict: bool
    revalidate: Revalidate
    deadline: float | None
    _digest: str | None
    _output_type: "OutputType | None"
    _placed: "tuple[Clause, ...]"
    decide: Callable[[Any], object] | None
    """Decides the contract by the value alone: True when it holds, else what `known` reads;
    None where a clause needs more than the value."""

    @overload
    def __init__(
        self,
        name: str,
        *,
        output: type[T],
        version: str = ...,
        requires: "Sequence[Clause]" = ...,
        ensures: "Sequence[Clause]" = ...,
        strict: bool = ...,
        revalidate: Revalidate = ...,
        deadline: float | None = ...,
    ) -> None: ...

    @overload
    def __init__(
        self: "Contract[Any]",
        name: str,
        *,
        output: Any = ...,
        version: str = ...,
        requires: "Sequence[Clause]" = ...,
        ensures: "Sequence[Clause]" = ...,
        strict: bool = ...,
        revalidate: Revalidate = ...,
        deadline: float | None = ...,
    ) -> None: ...

    def __init__(
        self,
        name: str,
        *,
        output: Any = _NO_OUTPUT,
        version: str = "1",
        requires: "Sequence[Clause]" = (),
        ensures: "Sequence[Clause]" = (),
        strict: bool = True,
        revalidate: Revalidate = "always",
        deadline: float | None = 30.0,
    ) -> None:
        from hornbook.contracts.output_type import OutputType
        from hornbook.contracts.placed import clauses_of, on_type, refuse_equal_names

        for what, given in (("name", name), ("version", version)):
            if not isinstance(cast("object", given), str) or not given.strip():
                raise DefinitionError(f"a contract's {what} is a text that is not empty: {given!r}")
        _refuse_settings(name, revalidate, deadline)
        self._set("name", name)
        self._set("version", version)
        given_output = type(None) if output is None else output
        self._set("output", None if output is _NO_OUTPUT else given_output)
        self._set("requires", clauses_of(name, "requires", requires))
        self._set("ensures", clauses_of(name, "ensures", ensures))
        self._set("strict", strict)
        self._set("revalidate", revalidate)
        self._set("deadline", deadline)
        refuse_equal_names(name, self.requires + self.ensures, typed=output is not _NO_OUTPUT)
        typed, placed = None, self.ensures
        if output is not _NO_OUTPUT:
            typed = OutputType(output, strict=strict, revalidate=revalidate)
            placed = tuple(on_type(name, clause, output) for clause in self.ensures)
        self._set("_output_type", typed)
        self._set("_placed", placed)
        self._set("_digest", None)
        self._set("decide", self._decision())

    def _set(self, attribute: str, value: object) -> None:
        object.__setattr__(self, attribute, value)

    def __setattr__(self, attribute: str, value: object) -> None:
        raise AttributeError(f"contract {self.name!r} is immutable: {attribute!r} cannot be set")

    def __delattr__(self, attribute: str) -> None:
        raise AttributeError(
            f"contract {self.name!r} is immutable: {attribute!r} cannot be deleted"
        )

    def __repr__(self) -> str:
        """Name, version and clauses."""
        named = ", ".join(clause.name for clause in self.requires + self.ensures)
        return f"<Contract {self.name!r} version {self.version}: {named or 'no clauses'}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Contract) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __copy__(self) -> "Contract[T]":
        return self

    def __deepcopy__(self, memo: object) -> "Contract[T]":
        return self

    @property
    def digest(self) -> str:
        """`sha256:...` of all that the contract says, equal in every process."""
        if self._digest is not None:
            return self._digest
        from hornbook.contracts.portable import digest_of

        found = digest_of(self)
        self._set("_digest", found)
        return found

    @property
    def portable(self) -> bool:
        """Whether `to_json` works: all in it can be imported again, as no lambda or judge can."""
        from hornbook.contracts.portable import obstacle

        return obstacle(self) is None

    def to_json(self) -> str:
        """As canonical JSON text, with functions and types by their import path.

        Raises:
            DefinitionError: a clause holds a lambda, a closure or a judge; it is named.
        """
        from hornbook.contracts.portable import to_json

        return to_json(self)

    @staticmethod
    def from_json(text: str) -> "Contract[Any]":
        """The contract that `to_json` wrote; it imports what is named there, so trust the text.

        Raises:
            DefinitionError: it cannot be read, or a function that it names has changed.
        """
        from hornbook.contracts.portable import from_json

        return from_json(text)

    def check(
        self, value: object, inputs: Mapping[str, Any] | None = None, *, step: str | None = None
    ) -> "ContractReport":
        """Hold `value` to the clauses of `ensures`; every clause runs, none raises.

        Inside a run, asking a judge counts against the run's budget.

        Raises:
            BudgetExceeded: there is no call left for a judge.
        """
        return self.examine(value, inputs or {}, step=step, meter=_meter_here())

    async def acheck(
        self, value: object, inputs: Mapping[str, Any] | None = None, *, step: str | None = None
    ) -> "ContractReport":
        """The async twin of `check`."""
        return await self.aexamine(value, inputs or {}, step=step, meter=_meter_here())

    def check_inputs(
        self, inputs: Mapping[str, Any], *, step: str | None = None
    ) -> "ContractReport":
        """Hold the inputs to the clauses of `requires`."""
        return self.examine(inputs, inputs, step=step, requires=True, meter=_meter_here())

    async def acheck_inputs(
        self, inputs: Mapping[str, Any], *, step: str | None = None
    ) -> "ContractReport":
        """The async twin of `check_inputs`."""
        return await self.aexamine(inputs, inputs, step=step, requires=True, meter=_meter_here())

    def examine(
        self,
        value: object,
        inputs: Mapping[str, Any],
        *,
        step: str | None = None,
        requires: bool = False,
        meter: "Meter | None" = None,
        known: Sequence[object] = (),
    ) -> "ContractReport":
        """As `check` and `check_inputs`, drawing judge calls on `meter`.

        `known` is what `decide` already found out, so that no test runs twice on a value.
        """
        from hornbook.contracts.asking import ask, due
        from hornbook.contracts.verdicts import assemble

        examining = self._examining(value, inputs, requires, known)
        until, name = due(self.deadline, meter), step or self.name
        while examining.questions:
            replies = ask(examining.questions, until=until, meter=meter, step=name)
            examining.answer(replies)
        return assemble(self, examining, name)

    async def aexamine(
        self,
        value: object,
        inputs: Mapping[str, Any],
        *,
        step: str | None = None,
        requires: bool = False,
        meter: "Meter | None" = None,
        known: Sequence[object] = (),
    ) -> "ContractReport":
        """The async twin of `examine`."""
        from hornbook.contracts.asking import aask, due
        from hornbook.contracts.verdicts import assemble

        examining = self._examining(value, inputs, requires, known)
        until, name = due(self.deadline, meter), step or self.name
        while examining.questions:
            replies = await aask(examining.questions, until=until, meter=meter, step=name)
            examining.answer(replies)
        return assemble(self, examining, name)

    @staticmethod
    def known(answer: object) -> Sequence[object]:
        """What `decide` found out on the way to an answer that is not True."""
        return answer if isinstance(answer, _Answers) else [answer]

    def refuse_unknown_inputs(self, parameters: Collection[str], step: str) -> None:
        """Check the names of inputs that clauses use against a step's parameters.

        Raises:
            DefinitionError: a clause names an input that the step does not take.
        """
        from hornbook.contracts.placed import refuse_unknown_inputs

        refuse_unknown_inputs(self.name, self.requires, self.ensures, parameters, step)

    def _examining(
        self,
        value: object,
        inputs: Mapping[str, Any],
        requires: bool,
        known: Sequence[object],
    ) -> "Examining":
        from hornbook.contracts.verdicts import Examining

        if requires:
            return Examining(self.requires, inputs, inputs, output=None)
        typed = self._output_type
        if typed is not None and known:
            # The first answer is the type's; what was wrong with it has yet to be told.
            typed, known = (None if known[0] is True else typed), known[1:]
        whole = self._output_type is not None
        return Examining(self._placed, value, inputs, output=typed, known=known, typed=whole)

    def _decision(self) -> Callable[[Any], object] | None:
        tests: list[Callable[[Any], object]] = []
        typed: OutputType | None = self._output_type
        if typed is not None:
            tests.append(typed.validator.isinstance_python)
        for clause in self.ensures:
            if clause.predicate is None:
                return None
            tests.append(clause.predicate)
        return tests[0] if len(tests) == 1 else _all_of(tuple(tests))


def _meter_here() -> "Meter | None":
    from hornbook.trace.frame import current_run

    run = current_run()
    return None if run is None else run.meter


def _refuse_settings(name: str, revalidate: object, deadline: object) -> None:
    if revalidate not in ("always", "never"):
        raise DefinitionError(
            f"contract {name!r}: revalidate is 'always' or 'never', not {revalidate!r}"
        )
    number = deadline if isinstance(deadline, int | float) else 0
    if deadline is not None and (isinstance(deadline, bool) or not number > 0):
        raise DefinitionError(
            f"contract {name!r}: deadline is a number of seconds above 0, or None: {deadline!r}"
        )


class _Answers(list[object]):
    """What several tests gave, up to the first that did not give True."""


def _all_of(tests: tuple[Callable[[Any], object], ...]) -> Callable[[Any], object]:
    def decide(value: Any) -> object:
        answer: object = True
        at = 0
        try:
            for test in tests:
                answer = test(value)
                if answer is not True:
                    break
                at += 1
            else:
                return True
        except Exception as error:  # noqa: BLE001 - the clause decides about it
            from hornbook.contracts.clause import Raised

            answer = Raised(error)
        return _Answers([True] * at + [answer])

    return decide
