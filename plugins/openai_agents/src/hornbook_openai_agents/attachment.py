"""What is attached to a run: contracts, a guard, rules and a record, put together once."""

import os
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias
from weakref import ref

from agents import get_current_trace
from agents.tracing import Trace

from hornbook.errors import DefinitionError
from hornbook.hosting import MODEL, AmbientRun, Contracts, ModelSteps, Rules, ToolSteps, by_name
from hornbook.kernel.guard import ToolGuard
from hornbook.kernel.registry import ToolRegistry
from hornbook_openai_agents.asking import AgentsModelHost, Answer, ModelRequest
from hornbook_openai_agents.calling import AgentsToolHost, ToolCall

__all__ = ["PLAIN", "Attachment", "Halt", "Tools", "asked_by", "asking"]

Halt: TypeAlias = Literal["soft", "hard"]
Tools: TypeAlias = ToolGuard | bool | None

_NOTHING: AbstractContextManager[None] = nullcontext()


class Attachment:
    """Contracts, guard, rules and record of the runs that share a config.

    Raises:
        DefinitionError: an argument cannot be used; one sentence says which and why.
    """

    def __init__(
        self,
        *,
        contracts: Contracts | None = None,
        tools: Tools = None,
        rules: object = None,
        trace: str | os.PathLike[str] | None = None,
        halt: Halt = "soft",
        namespace: str | None = None,
    ) -> None:
        if halt not in ("soft", "hard"):
            raise DefinitionError(f"halt={halt!r}: 'soft' or 'hard'")
        held = by_name(contracts)
        final = held.pop(MODEL, None)
        soft = halt == "soft"
        self._host = AgentsToolHost(tools, soft=soft)
        self.tools: ToolSteps[ToolCall, Any] = ToolSteps(self._host, held, sync=False)
        self.models: ModelSteps[ModelRequest, Answer] = ModelSteps(
            AgentsModelHost(soft=soft), final=final, rules=Rules(rules, namespace)
        )
        self.ambient = None if trace is None else AmbientRun(Path(trace), namespace)
        self.own_guard = isinstance(tools, ToolGuard) or tools is False

    @property
    def guards(self) -> bool:
        """Whether calls of tools are guarded."""
        return self._host.guards

    def refuse_misfits(self, tools: ToolRegistry) -> None:
        """Refuse contracts on tools that are not there, or on arguments they do not take.

        Raises:
            DefinitionError: naming the tool, and the tools or arguments that there are.
        """
        self.tools.refuse_misfits(tools)

    async def refuse(self, call: ToolCall) -> str:
        """Record the call of a tool that does not exist, and give what its model is told."""
        return str(await self.tools.acall(call, _never))

    def recording(self) -> AbstractContextManager[None]:
        """Let the steps inside be recorded, where no run of the user's is around."""
        return _NOTHING if self.ambient is None else self.ambient.around()


async def _never(call: ToolCall) -> Any:
    raise AssertionError("a call that the guard refuses is not made")  # pragma: no cover


PLAIN = Attachment(halt="hard")
"""A guard alone, for tools that nothing more was said of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asking:
    """Which agent is about to ask its model, and what is attached to its run."""

    attachment: Attachment
    agent: str
    trace: "ref[Trace] | None"
    """Not held: it is the key of what its run has heard."""


_asking: ContextVar[_Asking | None] = ContextVar("hornbook_openai_agents_asking", default=None)


def asking(attachment: Attachment, agent: str) -> None:
    """Tell the model wrap, which the SDK calls next in this task, who asks."""
    trace = get_current_trace()
    known = None if trace is None else ref(trace)
    _asking.set(_Asking(attachment=attachment, agent=agent, trace=known))


def asked_by() -> tuple[Attachment | None, str | None]:
    """What is attached to the run that asks, and its agent; nothing of an earlier run."""
    known = _asking.get()
    trace = get_current_trace()
    if known is None or known.trace is None or trace is None or known.trace() is not trace:
        return None, None
    return known.attachment, known.agent
