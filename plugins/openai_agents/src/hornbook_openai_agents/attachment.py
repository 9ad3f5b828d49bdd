"""What is attached to a run: contracts, a guard, rules and a record, put together once."""

import os
from collections.abc import Generator, Iterable
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias
from weakref import WeakValueDictionary, ref

from agents import Agent, get_current_trace
from agents.tracing import Trace

from hornbook.errors import DefinitionError
from hornbook.hosting import MODEL, AmbientRun, Contracts, ModelSteps, Rules, ToolSteps, by_name
from hornbook.kernel.guard import ToolGuard
from hornbook.kernel.registry import ToolRegistry, ToolSpec
from hornbook_openai_agents.asking import AgentsModelHost, Answer, ModelRequest
from hornbook_openai_agents.calling import AgentsToolHost, ToolCall

__all__ = ["PLAIN", "Attachment", "Halt", "Tools", "around", "asked_by", "asking", "inside"]

Halt: TypeAlias = Literal["soft", "hard"]
Tools: TypeAlias = ToolGuard | bool | None
Models: TypeAlias = ModelSteps[ModelRequest, Answer]

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
        models, known = AgentsModelHost(soft=soft), Rules(rules, namespace)
        self._models: Models = ModelSteps(models, final=final, rules=known)
        self._nested = self._models if final is None else ModelSteps(models, rules=known)
        self._fitting: WeakValueDictionary[int, Agent[Any]] = WeakValueDictionary()
        self.ambient = None if trace is None else AmbientRun(Path(trace), namespace)
        self.own_guard = isinstance(tools, ToolGuard) or tools is False

    @property
    def guards(self) -> bool:
        """Whether calls of tools are guarded."""
        return self._host.guards

    @property
    def models(self) -> Models:
        """What stands around the calls of models here.

        The contract on final answers speaks of what the user's own run comes to. What an
        agent inside of a tool answers is a step on the way.
        """
        return self._nested if around() is self else self._models

    def refuse_misfits(self, tools: ToolRegistry) -> None:
        """Refuse contracts on tools that are not there, or on arguments they do not take.

        Raises:
            DefinitionError: naming the tool, and the tools or arguments that there are.
        """
        self.tools.refuse_misfits(tools)

    def refuse_misfits_of(self, agent: Agent[Any], tools: Iterable[ToolSpec]) -> None:
        """Refuse contracts that do not fit an agent's own tools; looked at once an agent.

        Raises:
            DefinitionError: naming the tool and what does not fit.
        """
        if self._fitting.get(id(agent)) is agent:
            return
        for tool in tools:
            self.tools.refuse_misfit(tool)
        self._fitting[id(agent)] = agent

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


_inside: ContextVar[Attachment | None] = ContextVar("hornbook_openai_agents_inside", default=None)


@contextmanager
def inside(attachment: Attachment | None) -> Generator[None]:
    """Let runs inside of a tool have what is attached to the run around, where there is any."""
    token = None if attachment is None else _inside.set(attachment)
    try:
        yield
    finally:
        if token is not None:
            _inside.reset(token)


def around() -> Attachment | None:
    """What is attached to the run in whose tool this is."""
    return _inside.get()


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
