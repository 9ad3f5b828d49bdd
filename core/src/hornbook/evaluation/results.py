"""What an evaluation found, as values that can be stored and compared."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias, cast

from hornbook import canon
from hornbook.canon import CanonError
from hornbook.contracts.judge import Rate
from hornbook.evaluation.errors import EvaluationError
from hornbook.judges import wilson

__all__ = ["Evaluation", "Judged", "Verdict", "Verdicts"]

Verdict: TypeAlias = Literal["satisfied", "violated", "error"]
"""What the contract said; `error` where the primitive raised, and there was nothing to say."""

_FORMAT = "hornbook-evaluation/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One example, and how the primitive did on it."""

    key: str
    """The example's own, by which evaluations are paired."""
    right: bool
    """Whether the output equals the labelled one, as data."""
    verdict: Verdict
    scenario: str = ""
    where: str = ""
    """File and line of the example."""
    observed: str = ""
    """Where it is wrong: the output as text, cut and redacted, or the error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdicts:
    """The 2 x 2 of contract verdict against correctness."""

    satisfied_right: int
    satisfied_wrong: int
    """What the contract lets through: only measuring finds it."""
    violated_right: int
    """What the contract refuses although it is right."""
    violated_wrong: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """How often a primitive was right on labelled examples (Forethought, table 5)."""

    primitive: str
    version: str
    digest: str
    """Of the primitive."""
    model: str | None
    """Identity of a neural primitive's model."""
    recovery: bool
    """Whether outputs are those after the declared recovery, or first attempts."""
    judged: tuple[Judged, ...]
    """One for each example, in their order."""

    @property
    def n(self) -> int:
        """Examples."""
        return len(self.judged)

    @property
    def errors(self) -> int:
        """Examples on which the primitive raised; they count as wrong."""
        return sum(one.verdict == "error" for one in self.judged)

    @property
    def exact(self) -> Rate:
        """Share of examples with exactly the labelled output, with its Wilson interval."""
        return _share(self.judged)

    @property
    def verdicts(self) -> Verdicts:
        """The 2 x 2 of contract verdict against correctness; errors are in none of the four."""
        return Verdicts(
            satisfied_right=self._count("satisfied", right=True),
            satisfied_wrong=self._count("satisfied", right=False),
            violated_right=self._count("violated", right=True),
            violated_wrong=self._count("violated", right=False),
        )

    @property
    def wrong_given_satisfied(self) -> Rate | None:
        """How often an output that satisfies its contract is wrong; None where none does."""
        table = self.verdicts
        n = table.satisfied_right + table.satisfied_wrong
        return wilson(table.satisfied_wrong, n) if n else None

    @property
    def by_scenario(self) -> Mapping[str, Rate]:
        """Exact match for each scenario apart, in the order of the examples."""
        names = dict.fromkeys(one.scenario for one in self.judged if one.scenario)
        return {
            name: _share([one for one in self.judged if one.scenario == name]) for name in names
        }

    def _count(self, verdict: Verdict, *, right: bool) -> int:
        return sum(one.verdict == verdict and one.right is right for one in self.judged)

    def __str__(self) -> str:
        """In a few lines, for people."""
        table, wrong = self.verdicts, self.wrong_given_satisfied
        outputs = "after recovery" if self.recovery else "first attempts"
        lines = [
            f"{self.primitive} version {self.version}, {self.model or 'symbolic'}, {outputs}",
            f"exact match     {self.exact}, n={self.n}",
            f"contract        satisfied: {table.satisfied_right} right, {table.satisfied_wrong} "
            f"wrong; violated: {table.violated_right} right, {table.violated_wrong} wrong",
            f"wrong | satisfied  {'no output satisfies its contract' if wrong is None else wrong}",
        ]
        if self.errors:
            lines.append(f"errors          {self.errors}, counted as wrong")
        lines += [f"  {name}: {rate}" for name, rate in self.by_scenario.items()]
        return "\n".join(lines)

    def to_json(self) -> str:
        """As JSON text; `from_json` reads it."""
        import json

        return json.dumps(self.as_dict(), indent=2, ensure_ascii=False)

    def as_dict(self) -> dict[str, Any]:
        """Plain data: what was measured, and each example."""
        wrong = self.wrong_given_satisfied
        return {
            "format": _FORMAT,
            "primitive": self.primitive,
            "version": self.version,
            "digest": self.digest,
            "model": self.model,
            "recovery": self.recovery,
            "n": self.n,
            "errors": self.errors,
            "exact": asdict(self.exact),
            "verdicts": asdict(self.verdicts),
            "wrong_given_satisfied": None if wrong is None else asdict(wrong),
            "by_scenario": {name: asdict(rate) for name, rate in self.by_scenario.items()},
            "examples": [asdict(one) for one in self.judged],
        }

    @staticmethod
    def from_json(text: str | bytes, where: str = "the evaluation") -> "Evaluation":
        """The evaluation that `to_json` wrote; rates are counted anew from the examples.

        Raises:
            EvaluationError: it is no evaluation; says what is missing.
        """
        try:
            data: Any = canon.loads(text)
        except CanonError as error:
            raise EvaluationError(f"{where}: this is no JSON: {error}") from None
        if not isinstance(data, dict) or cast("Any", data).get("format") != _FORMAT:
            raise EvaluationError(f"{where}: this is no evaluation of the format {_FORMAT}")
        return _read(cast("dict[str, Any]", data), where)


def _read(data: Mapping[str, Any], where: str) -> Evaluation:
    from pydantic import TypeAdapter, ValidationError

    named = {name: data.get(name) for name in ("primitive", "version", "digest", "model")}
    given = {**named, "recovery": data.get("recovery"), "judged": data.get("examples")}
    try:
        found = TypeAdapter(Evaluation).validate_json(canon.serialise(given), strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join("examples" if one == "judged" else str(one) for one in first["loc"])
        raise EvaluationError(f"{where}: at {place}: {first['msg']}") from None
    if not found.judged:
        raise EvaluationError(f"{where}: it has no examples")
    return found


def _share(judged: Iterable[Judged]) -> Rate:
    right = [one.right for one in judged]
    return wilson(sum(right), len(right))
