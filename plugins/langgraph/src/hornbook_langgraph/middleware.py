"""`HornbookMiddleware`: one pair of wraps that guards, checks and records an agent."""

import os
import warnings
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, cast

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain.agents.middleware.types import ToolCallRequest
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.types import Command

from hornbook.errors import DefinitionError
from hornbook.hosting.ambient import AmbientRun
from hornbook.hosting.held import Contracts, with_recovery
from hornbook.hosting.rules import Rules
from hornbook.trace.frame import current_run
from hornbook.trace.runs import Run
from hornbook_langgraph.model import MODEL, ModelWrap
from hornbook_langgraph.tools import Halt, Tools, ToolWrap

__all__ = ["HornbookMiddleware"]


class HornbookMiddleware(AgentMiddleware[Any, Any, Any]):
    """Guards the tool calls of an agent, holds it to contracts, gives it rules, and records it.

    For `create_agent(..., middleware=[..., HornbookMiddleware()])`: put it last, so that it
    sees what other middlewares make of a request. It works in sync and async runs, adds no
    node and no channel to the graph.

    Args:
        contracts: by the tool's name, a contract or one with its recovery: `requires` speaks
            of the arguments, `ensures` of what the tool returns. Under `"model"` stands one
            for the model's final answers, which is asked again, with feedback, as often as
            its recovery says.
        tools: the guard of tool calls; by default one for the agent's own tools, False for
            none.
        rules: learned rules for the model: a `RuleLibrary`, the path of one, or an object
            with `retrieve(request)`.
        trace: the folder of records, for calls that no `hornbook.run` is around.
        halt: `soft` ends the turn with a message that says why; `hard` raises
            `ContractViolation`.
        namespace: whose rules plugins are asked for; by default that of `rules` or the run.
        name: tells two of these on one agent apart.

    Raises:
        DefinitionError: an argument cannot be used; one sentence says which and why.
    """

    def __init__(
        self,
        contracts: Contracts | None = None,
        tools: Tools = None,
        rules: object = None,
        trace: str | os.PathLike[str] | None = None,
        *,
        halt: Halt = "soft",
        namespace: str | None = None,
        name: str = "HornbookMiddleware",
    ) -> None:
        super().__init__()
        self.tools = ()
        self._name = name
        given = _checked(contracts)
        model = given.pop(MODEL, None)
        self._tools = ToolWrap(contracts=given, tools=tools, halt=halt)
        final = None if model is None else with_recovery(MODEL, model)
        self._model = ModelWrap(final, Rules(rules, namespace), halt)
        self._ambient = None if trace is None else AmbientRun(Path(trace), namespace)
        if final is not None:
            warnings.warn(
                "astream_events() shows what the model says before its contract is checked; "
                "the stream modes of stream() and astream() do not",
                stacklevel=2,
            )

    @property
    def name(self) -> str:
        """What tells this middleware from others on the agent."""
        return self._name

    @property
    def run(self) -> Run | None:
        """The run that `trace` opened, once there was a call to record."""
        return None if self._ambient is None else self._ambient.run

    def wrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], ModelResponse[Any]],
    ) -> ModelResponse[Any] | AIMessage:
        """Stand around a model call."""
        self._see(request)
        if self._ambient is None or current_run() is not None:
            return self._model.wrap(request, handler)
        with self._ambient.around():
            return self._model.wrap(request, handler)

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any] | AIMessage:
        """Stand around a model call of an async run."""
        self._see(request)
        if self._ambient is None or current_run() is not None:
            return await self._model.awrap(request, handler)
        with self._ambient.around():
            return await self._model.awrap(request, handler)

    def wrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], ToolMessage | Command[Any]],
    ) -> ToolMessage | Command[Any]:
        """Stand around a tool call."""
        if self._ambient is None or current_run() is not None:
            return self._tools.wrap(request, handler)
        with self._ambient.around():
            return self._tools.wrap(request, handler)

    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
    ) -> ToolMessage | Command[Any]:
        """Stand around a tool call of an async run."""
        if self._ambient is None or current_run() is not None:
            return await self._tools.awrap(request, handler)
        with self._ambient.around():
            return await self._tools.awrap(request, handler)

    def close(self, error: BaseException | None = None) -> None:
        """End the run that `trace` opened; without one there is nothing to do.

        Args:
            error: what the run failed with; None where it completed.
        """
        if self._ambient is not None:
            self._ambient.close(error)

    def __enter__(self) -> "HornbookMiddleware":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close(error)

    def _see(self, request: Any) -> None:
        guards = self._tools.guards
        if guards is not None:
            # A schema that cannot be guarded is told before the model is asked anything.
            if guards.last.tools != request.tools:
                guards.of(request.tools)
            self._tools.conversations.see(request.runtime, request.messages)


def _checked(contracts: object) -> dict[str, Any]:
    if contracts is None:
        return {}
    if not isinstance(contracts, Mapping):
        raise DefinitionError(
            f"contracts={contracts!r:.80}: give a mapping, by the tool's name or 'model'"
        )
    return dict(cast("Mapping[str, Any]", contracts))
