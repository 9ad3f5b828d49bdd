"""Worked scenarios as values: an input, what models reply, and what must come of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

__all__ = [
    "RUN_STATUSES",
    "UNSET",
    "Expectation",
    "ExpectedStep",
    "ExpectedViolation",
    "RunStatus",
    "Scenario",
]


class _Unset(Enum):
    UNSET = "unset"

    def __repr__(self) -> str:
        return "UNSET"


UNSET: Final = _Unset.UNSET
"""Nothing is expected; None is a value that can be."""

RunStatus: TypeAlias = Literal["satisfied", "recovered", "waived", "violated", "error"]
"""How a run ended: with a value and nothing amiss; with one after a violation; with one that a
contract waived; with `ContractViolation`; with any other exception."""

RUN_STATUSES: tuple[RunStatus, ...] = ("satisfied", "recovered", "waived", "violated", "error")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedViolation:
    """A violation that the run must meet, whether or not it recovers from it."""

    step: str | None = None
    """Name or place of the step; None: any."""
    clause: str | None = None
    """Name of the clause; None: any."""

    def __str__(self) -> str:
        """As `a violation of 'known queue' at step 'classify'`."""
        what = "a violation" if self.clause is None else f"a violation of {self.clause!r}"
        return what if self.step is None else f"{what} at step {self.step!r}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedStep:
    """What one step must do; what is left out is not checked."""

    output: Any = UNSET
    status: RunStatus | None = None
    attempts: int | None = None
    ran: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """What a run must come to; what is left out is not checked.

    A run that ends with an exception fails its scenario unless `status` or `violation` is
    expected.
    """

    output: Any = UNSET
    """The program's output, as data: it is read as the program's output type."""
    status: RunStatus | None = None
    violation: ExpectedViolation | None = None
    steps: Mapping[str, ExpectedStep] = field(default_factory=dict[str, ExpectedStep])
    """By name of the step, or by its place where a name occurs more than once."""
    calls: int | None = None
    """Model and judge calls, retries included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One worked example of a program."""

    name: str
    input: Any = None
    """As data: it is read as the program's input type."""
    program: str | None = None
    """`module:attribute`, where the file names it."""
    replies: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """By name or place of a neural primitive: what its model replies.

    A text is replied as it is, a mapping as JSON, each time; a list gives one reply a call.
    """
    expect: Expectation = field(default_factory=Expectation)
    about: str = ""
    file: Path | None = None
    line: int | None = None

    def __str__(self) -> str:
        return self.name
