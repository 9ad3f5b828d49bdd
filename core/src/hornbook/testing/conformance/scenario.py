"""Scenarios as data: what is said, what the model does, and what must come of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from hornbook.budget import Budget
from hornbook.hosting.held import Contracts, Held
from hornbook.kernel.guard import ToolGuard
from hornbook.rules.library import RuleLibrary
from hornbook.testing.conformance.desk import Desk
from hornbook.testing.conformance.protocol import Capability, Mode
from hornbook.testing.script import Reply, Script, Written

__all__ = ["Did", "Ending", "Scenario", "Turn", "halted", "model", "raised", "said", "tool"]

_INSTRUCTIONS = "You answer for a shop. Use the tools; never invent an order number."


@dataclass(frozen=True, slots=True, kw_only=True)
class Did:
    """One step of the normalised record, the same on every host."""

    kind: Literal["model", "tool"]
    name: str
    status: str = "satisfied"
    attempts: int = 1
    """0 for a step that did not run; not compared for one that raised."""
    violated: tuple[str, ...] = ()
    """`clause at path`, attempt by attempt."""
    decisions: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    """Ids of the rules that the model was shown."""
    inputs: Mapping[str, Any] = field(default_factory=dict[str, Any], hash=False)
    """What a tool was called with; of the model's inputs each host has its own."""

    def __str__(self) -> str:
        """One line, as reports show it."""
        given = ", ".join(f"{name}={value!r}" for name, value in sorted(self.inputs.items()))
        call = f"({given})" if self.kind == "tool" else ""
        parts = [f"{self.kind} {self.name}{call}" if self.kind == "tool" else self.name]
        parts += [self.status] if self.status != "satisfied" else []
        parts += [f"{self.attempts} attempts"] if self.attempts != 1 else []
        parts += [f"violated: {', '.join(self.violated)}"] if self.violated else []
        parts += [f"decided: {', '.join(self.decisions)}"] if self.decisions else []
        parts += [f"rules: {', '.join(self.rules)}"] if self.rules else []
        return "; ".join(parts)


def model(**more: Any) -> Did:
    """A model step of an expected record."""
    return Did(kind="model", name="model", **more)


def tool(name: str, inputs: Mapping[str, Any] | None = None, **more: Any) -> Did:
    """A tool step of an expected record, with the arguments it was called with."""
    return Did(kind="tool", name=name, inputs=inputs or {}, **more)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """What a turn must come to: a text of the model, a closing message, or an exception."""

    text: str | None = None
    """The final text, when the model gives it."""
    mentions: tuple[str, ...] = ()
    """What a closing message, or the exception's text, must say."""
    error: str | None = None
    """The name of the exception's type."""
    wrapped: bool = False
    """The host may raise an exception of its own that has this one as its cause."""


def said(text: str) -> Ending:
    """The turn ends with this text of the model."""
    return Ending(text=text)


def halted(halt: Literal["soft", "hard"], *mentions: str) -> Ending:
    """The turn is halted: by a message or a `ContractViolation` that mentions these."""
    return Ending(mentions=mentions, error="ContractViolation" if halt == "hard" else None)


def raised(error: str, *mentions: str, wrapped: bool = False) -> Ending:
    """The turn ends with an exception of this type, or one that it caused."""
    return Ending(mentions=mentions, error=error, wrapped=wrapped)


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One turn of the user."""

    says: str
    replies: Sequence[Written]
    """What the model answers in this turn, call by call; all must be used up."""
    ends: Ending


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One conversation with one agent, and everything that must come of it."""

    name: str
    about: str
    """What it shows, in one sentence."""
    turns: tuple[Turn, ...]
    record: tuple[Did, ...]
    """The normalised record of all turns."""
    state: Mapping[str, Any] = field(default_factory=dict[str, Any], hash=False)
    """What the tools have done in the end; what is not named must be empty."""
    needs: frozenset[Capability] = frozenset()
    modes: tuple[Mode, ...] = ("sync", "async")
    contracts: Contracts = field(default_factory=dict[str, Held], hash=False)
    guard: Callable[[Sequence[Callable[..., Any]]], ToolGuard] | None = None
    """Makes the guard from the tools; None for the adapter's default."""
    rules: RuleLibrary | None = None
    plugins: tuple[Callable[[], object], ...] = ()
    """Each makes a plugin that is registered while the scenario runs."""
    namespace: str | None = None
    """The run's, for learned rules that plugins find."""
    budget: Budget | None = None
    halt: Literal["soft", "hard"] = "hard"
    tool_errors: Literal["told", "raised"] | None = None
    own_trace: bool = False
    """The adapter records to a folder of its own, and no run is open."""
    usage: bool = False
    """What the run's meter counted is compared with what the model said it used."""
    desk: Callable[[], Desk] = Desk
    """Makes the tools' state."""
    before: "Scenario | None" = None
    """A conversation with an agent of its own, held first. Nothing of it may be known here."""

    def __post_init__(self) -> None:
        if self.halt == "soft":
            object.__setattr__(self, "needs", self.needs | {"soft_halt"})

    @property
    def script(self) -> Script:
        """The model's part in all turns."""
        return Script(replies=tuple(Reply.of(one) for turn in self.turns for one in turn.replies))

    @property
    def instructions(self) -> str:
        """The agent's system prompt."""
        return _INSTRUCTIONS
