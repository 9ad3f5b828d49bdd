"""A learned rule: one if-then sentence with its symbolic form, life cycle and origin."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from typing import Any, ClassVar, Literal, get_args

from pydantic import TypeAdapter, ValidationError

from hornbook import canon
from hornbook.errors import RuleError
from hornbook.rules.symbolic import SymbolicForm, text_tuple
from hornbook.rules.text import check_text

__all__ = ["LearnedRule", "Mode", "Provenance", "Status"]

Status = Literal["candidate", "quarantined", "shadow", "approved", "retired"]
Mode = Literal["advise", "warn", "block"]

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Where a rule comes from: who or what proposed it, when, from which failures."""

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid"}

    source: Literal["human", "model", "symbolic", "import"] = "human"
    author: str | None = None
    model: str | None = None
    created: str | None = None
    """ISO 8601; without an offset it is UTC."""
    cases: tuple[str, ...] = ()
    """Ids of the failure cases it was learned from."""
    traces: tuple[str, ...] = ()
    """Run ids of their traces."""

    def __post_init__(self) -> None:
        for name in ("cases", "traces"):
            object.__setattr__(self, name, text_tuple("provenance", name, getattr(self, name)))
        _ = self.timestamp

    @property
    def timestamp(self) -> float:
        """`created` in seconds since the epoch; minus infinity when not known."""
        if self.created is None:
            return float("-inf")
        try:
            moment = datetime.fromisoformat(self.created)
        except ValueError:
            raise RuleError(f"provenance: created {self.created!r} is no ISO 8601 time") from None
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()

    def to_json(self) -> dict[str, Any]:
        """Return the provenance as JSON values."""
        return {
            "source": self.source,
            "author": self.author,
            "model": self.model,
            "created": self.created,
            "cases": list(self.cases),
            "traces": list(self.traces),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnedRule:
    """Guidance for an agent, as data: it may restrict or reorder what is done, never grant.

    Raises:
        RuleError: on construction, naming the field that is not well formed.
    """

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid"}

    id: str
    text: str
    """The sentence that is injected: 'If ..., then ...'."""
    symbolic: SymbolicForm
    version: int = 1
    status: Status = "candidate"
    """Only approved rules are injected."""
    mode: Mode = "advise"
    """Whether a guard insists on it; anything but `advise` is given by approval."""
    provenance: Provenance = field(default_factory=Provenance)

    def __post_init__(self) -> None:
        if not _ID.fullmatch(self.id):
            raise RuleError(f"id: {self.id[:60]!r} is not 1 to 128 letters, digits and _ . : -")
        if self.version < 1:
            raise RuleError(f"version: {self.version} is less than 1")
        if self.status not in get_args(Status):
            raise RuleError(f"status: {self.status!r} is none of {', '.join(get_args(Status))}")
        if self.mode not in get_args(Mode):
            raise RuleError(f"mode: {self.mode!r} is none of {', '.join(get_args(Mode))}")
        check_text(self.text)

    @property
    def digest(self) -> str:
        """SHA-256 of what the rule says: its text and symbolic form, not its life cycle."""
        return canon.digest({"text": self.text, "symbolic": self.symbolic.to_json()})

    def to_json(self) -> dict[str, Any]:
        """Return the rule as JSON values; `from_json` gives an equal rule back."""
        return {
            "id": self.id,
            "text": self.text,
            "symbolic": self.symbolic.to_json(),
            "version": self.version,
            "status": self.status,
            "mode": self.mode,
            "provenance": self.provenance.to_json(),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "LearnedRule":
        """Read a rule from JSON values, converting nothing.

        Raises:
            RuleError: naming the field that is missing, unknown or not well formed.
        """
        return read(_adapter(), data)


def read(adapter: TypeAdapter[Any], data: Any) -> Any:
    """Validate JSON values strictly; the first problem becomes one RuleError."""
    try:
        return adapter.validate_json(canon.dumps(data), strict=True)
    except ValidationError as error:
        raise RuleError(_first_problem(error)) from None


def _first_problem(error: ValidationError) -> str:
    problem = error.errors(include_url=False, include_input=False)[0]
    cause = problem.get("ctx", {}).get("error")
    if isinstance(cause, RuleError):
        return str(cause)
    where = ".".join(str(part) for part in problem["loc"]) or "."
    match problem["type"]:
        case "missing":
            return f"{where}: missing"
        case "unexpected_keyword_argument" | "extra_forbidden":
            return f"{where}: unknown field"
        case _:
            return f"{where}: {problem['msg'][0].lower()}{problem['msg'][1:]}"


@cache
def _adapter() -> TypeAdapter[LearnedRule]:
    return TypeAdapter(LearnedRule)
