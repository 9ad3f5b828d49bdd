"""What an adapter provides so that the kit can drive an agent of its host."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, get_args

from hornbook.hosting.held import Contracts
from hornbook.kernel.guard import ToolGuard
from hornbook.rules.library import RuleLibrary
from hornbook.testing.script import Conversation
from hornbook.trace.events import Event

__all__ = ["CAPABILITIES", "Adapter", "Capability", "HostAgent", "Mode", "Scene"]

Mode = Literal["sync", "async"]

Capability = Literal[
    "sync",
    "async",
    "async_tools",
    "turns",
    "parallel_tools",
    "unknown_tool",
    "soft_halt",
    "hard_halt",
    "tool_error_told",
    "tool_error_raised",
    "model_contract",
    "rules",
    "usage",
    "trace",
]
"""What an adapter may declare. What it does not declare is reported as unsupported.

- `sync`, `async`: `HostAgent.run`, `HostAgent.arun`.
- `async_tools`: coroutine functions as tools, in async runs.
- `turns`: one agent keeps its conversation over several turns of the user.
- `parallel_tools`: several tool calls in one reply of the model.
- `unknown_tool`: a call of a tool that does not exist is guarded and recorded like others.
- `soft_halt`: a halt ends the turn with a message, and the conversation can go on.
- `hard_halt`: a halt raises `ContractViolation` out of the agent.
- `tool_error_told`: the host tells the model of a tool's exception.
- `tool_error_raised`: a tool's exception comes out of the agent.
- `model_contract`: `contracts["model"]` holds for the agent's final answers.
- `rules`: learned rules are shown to the model.
- `usage`: the tokens that the model reports are counted against the run's budget.
- `trace`: the adapter records to a folder of its own where no run is open.
"""

CAPABILITIES: frozenset[Capability] = frozenset(get_args(Capability))


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """What one agent is built from: a scenario with fresh tools and a fresh script."""

    name: str
    """The scenario's name."""
    mode: Mode
    """Which of `run` and `arun` will be called."""
    instructions: str
    """For the agent's system prompt."""
    tools: tuple[Callable[..., Any], ...]
    """Typed functions with docstrings; coroutine functions where `async_tools` is needed."""
    script: Conversation
    """What the scripted model of the host plays."""
    contracts: Contracts
    """By the tool's name; under `"model"` the one for final answers, which are text. Clauses
    on a tool speak of its arguments and of what its function returned; those on the model
    can name the inputs `request` (the user's last text) and `results` (this turn's)."""
    guard: ToolGuard | None
    """The guard to attach; None for the adapter's default, made from the host's own tools."""
    rules: RuleLibrary | None
    """The learned rules to attach; None for none but those of the run's namespace."""
    halt: Literal["soft", "hard"]
    tool_errors: Literal["told", "raised"] | None
    """What a tool's exception must come to; None where it does not matter."""
    trace: Path | None
    """The folder for the adapter's own record, where it is to keep one."""


class HostAgent(Protocol):
    """A real agent of the host with Hornbook attached."""

    def run(self, text: str) -> str:
        """Take one turn of the user and give the final text.

        Each call goes on with the same conversation.

        Raises:
            ContractViolation: a halt, where the host halts hard.
            BudgetExceeded: a budget is spent.
        """
        ...

    async def arun(self, text: str) -> str:
        """The async twin of `run`."""
        ...

    def close(self) -> None:
        """End what the adapter opened, such as its own record."""
        ...


class Adapter(Protocol):
    """The host's side of the kit."""

    @property
    def name(self) -> str:
        """The host's name, as in the entry-point group `hornbook`."""
        ...

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What the host can do; see `Capability`."""
        ...

    def build(self, scene: Scene) -> HostAgent:
        """Build an agent of the host: the scene's tools, a scripted model, Hornbook attached.

        It is attached as the host's documentation for users says, and in no other way.
        """
        ...

    def is_own_step(self, start: Event) -> bool:
        """Whether a step that starts is of the host's own making and so no part of the scene.

        Asked about model and tool steps: DSPy's `finish` is such a tool. A step that did not
        simply succeed is compared all the same.
        """
        ...
