"""Running a primitive on labelled examples: was it right, and what did its contract say?

An output is right when it equals the labelled one as data ("strict exact-match on structured
outputs", Forethought 5.3). The contract is held to the output apart from that, so that both
can be counted against each other, also where the contract would have refused the output.
"""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

from hornbook import canon
from hornbook.budget import Budget
from hornbook.contracts.report import ContractReport, ContractViolation
from hornbook.contracts.shown import shown
from hornbook.contracts.typed_dicts import modernised
from hornbook.engine import Controls, Engine
from hornbook.errors import BudgetExceeded, DefinitionError, told
from hornbook.evaluation.errors import EvaluationError
from hornbook.evaluation.examples import Example, Examples, examples_of
from hornbook.evaluation.results import Evaluation, Judged, Verdict
from hornbook.program import Primitive
from hornbook.program.life import arguments

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from hornbook.trace.runs import Run

__all__ = ["aevaluate_primitive", "evaluate_primitive"]


def evaluate_primitive(
    primitive: Primitive[..., Any],
    examples: Examples,
    *,
    recovery: bool = False,
    budget: Budget | None = None,
) -> Evaluation:
    """Count how often a primitive is right, and how often its contract knows.

    Args:
        primitive: what is evaluated, with what is bound of it.
        examples: inputs with the right outputs: a file's path, as `read_examples` gives them, or
            mappings with the keys of such a file.
        recovery: look at what comes after retries and fallbacks, as a program would get it;
            by default at the first attempt. After recovery a violated contract leaves no
            output, which is wrong.
        budget: the limit for all examples together.

    Raises:
        EvaluationError: an example does not fit the primitive's types; says which.
        DefinitionError: there are no examples, or it is no primitive.
        BudgetExceeded: the budget is spent before all examples are through.
    """
    bench = _Bench(primitive, recovery)
    ready = bench.prepared(examples)
    with _run(budget):
        return bench.evaluation([bench.judge(one) for one in ready])


async def aevaluate_primitive(
    primitive: Primitive[..., Any],
    examples: Examples,
    *,
    recovery: bool = False,
    budget: Budget | None = None,
    concurrency: int = 8,
) -> Evaluation:
    """The async twin of `evaluate_primitive`, with up to `concurrency` examples at once."""
    from asyncio import TaskGroup

    bench = _Bench(primitive, recovery)
    ready = bench.prepared(examples)
    judged: dict[int, Judged] = {}
    waiting = iter(enumerate(ready))

    async def work() -> None:
        for at, example in waiting:
            judged[at] = await bench.ajudge(example)

    with _run(budget):
        try:
            async with TaskGroup() as group:
                for _ in range(max(1, concurrency)):
                    group.create_task(work())
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None
    return bench.evaluation([judged[at] for at in range(len(ready))])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Prepared:
    """An example, its input as the primitive takes it and its output in normal form."""

    example: Example
    value: Any
    output: Any
    right: bytes


@dataclass(slots=True)
class _Bench:
    primitive: Primitive[..., Any]
    recovery: bool
    engine: Engine = field(init=False)
    _output: "TypeAdapter[Any]" = field(init=False)
    _input: "TypeAdapter[Any]" = field(init=False)

    def __post_init__(self) -> None:
        from pydantic import TypeAdapter

        if not isinstance(cast("object", self.primitive), Primitive):
            raise DefinitionError(f"evaluate_primitive({self.primitive!r:.60}): it is no primitive")
        controls = Controls() if self.recovery else Controls(contracts=False, recovery=False)
        # Each example is an attempt of its own, also where two are equal.
        self.engine = Engine(cache=None, controls=controls)
        self._output = TypeAdapter(modernised(self.primitive.output))
        self._input = TypeAdapter(modernised(self.primitive.input))

    def prepared(self, examples: Examples) -> list[_Prepared]:
        ready = [self._prepared(one) for one in examples_of(examples)]
        if not ready:
            raise DefinitionError(
                f"evaluate_primitive({self.primitive.name!r}): there are no examples"
            )
        return ready

    def _prepared(self, example: Example) -> _Prepared:
        value = self._value(example)
        output = _read(self._output, example, "output")
        right = self._normal(output)
        return _Prepared(example=example, value=value, output=output, right=right)

    def _value(self, example: Example) -> Any:
        """The input; where there is one parameter, it may stand under the parameter's name."""
        try:
            return _read(self._input, example, "input")
        except EvaluationError:
            named: object = example.input
            only = self._only
            if not isinstance(named, Mapping) or list(cast("Mapping[str, Any]", named)) != [only]:
                raise
            alone = cast("Mapping[str, Any]", named)[only]
            return _read(self._input, replace(example, input=alone), "input")

    @property
    def _only(self) -> str:
        """The name of the one parameter that an input is for; empty where there are several."""
        bound, asked = self.primitive.bindings, self.primitive.definition.signature.parameters
        free = [one.name for one in asked if one.required and one.name not in bound]
        return free[0] if len(free) == 1 else ""

    def judge(self, one: _Prepared) -> Judged:
        try:
            output = self.primitive.run(one.value, engine=self.engine)
            report = None if self.recovery else self._contract_says(output, one)
        except BudgetExceeded:
            raise
        # Whatever a primitive raises is how it did on the example.
        except Exception as error:  # noqa: BLE001
            return self._raised(one, error)
        return self._judged(one, output, report)

    async def ajudge(self, one: _Prepared) -> Judged:
        try:
            output = await self.primitive.arun(one.value, engine=self.engine)
            contract = self.primitive.contract
            report = None if self.recovery else await contract.acheck(output, self._inputs(one))
        except BudgetExceeded:
            raise
        # As in `judge`.
        except Exception as error:  # noqa: BLE001
            return self._raised(one, error)
        return self._judged(one, output, report)

    def _contract_says(self, output: Any, one: _Prepared) -> ContractReport:
        return self.primitive.contract.check(output, self._inputs(one))

    def _inputs(self, one: _Prepared) -> Any:
        plan = self.primitive._typed.plan  # pyright: ignore[reportPrivateUsage]
        assert plan is not None
        given = dict(arguments(plan, one.value, None))
        return self.primitive.definition.parameters.bind((), given)

    def _judged(self, one: _Prepared, output: Any, report: ContractReport | None) -> Judged:
        right = self._normal(output) == one.right
        # Sets have no order as JSON, and one in their canonical form.
        right = right or canon.digest(output) == canon.digest(one.output)
        violated = report is not None and not report.ok
        return _outcome(one, right, "violated" if violated else "satisfied", shown(output))

    def _raised(self, one: _Prepared, error: Exception) -> Judged:
        verdict = "violated" if isinstance(error, ContractViolation) else "error"
        return _outcome(one, False, verdict, shown(told(error)))

    def _normal(self, output: Any) -> bytes:
        """An output as data, by which it is compared."""
        from pydantic_core import to_json

        # A fallback for what no JSON can say: it then equals nothing that was read from JSON.
        return canon.serialise(canon.loads(to_json(output, fallback=repr, inf_nan_mode="strings")))

    def evaluation(self, judged: Sequence[Judged]) -> Evaluation:
        model = self.primitive.model
        return Evaluation(
            primitive=self.primitive.name,
            version=self.primitive.version,
            digest=self.primitive.digest,
            model=None if model is None else model.identity,
            recovery=self.recovery,
            judged=tuple(judged),
        )


def _outcome(one: _Prepared, right: bool, verdict: Verdict, observed: str) -> Judged:
    return Judged(
        key=one.example.key,
        right=right,
        verdict=verdict,
        scenario=one.example.scenario,
        where=one.example.where,
        observed="" if right else observed,
    )


def _read(adapter: "TypeAdapter[Any]", example: Example, what: str) -> Any:
    from pydantic import ValidationError

    data = example.input if what == "input" else example.output
    try:
        return adapter.validate_json(canon.serialise(data), strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        at = f" at {place}" if place else ""
        where = f"{example.where}: " if example.where else ""
        raise EvaluationError(
            f"{where}its {what} does not fit the primitive{at}: {first['msg']}"
        ) from None


def _run(budget: Budget | None) -> "Run | nullcontext[None]":
    """A run for the budget; without one nothing is opened, and a run around counts."""
    if budget is None:
        return nullcontext()
    from hornbook.trace.runs import run

    return run(budget=budget)
