"""For tests: a chat model that plays a script, and LangChain's side of the conformance kit."""

import inspect
import warnings
from collections.abc import Callable, Sequence
from typing import Any, cast

from langchain import agents
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.checkpoint.memory import InMemorySaver

from hornbook.testing.conformance.protocol import CAPABILITIES, Capability, Scene
from hornbook.testing.script import Asked, Conversation, Script
from hornbook.trace.events import Event
from hornbook_langgraph.middleware import HornbookMiddleware
from hornbook_langgraph.testing import ScriptedChatModel

__all__ = ["ConformanceAdapter", "PlayingChatModel", "scripted"]


class PlayingChatModel(ScriptedChatModel):
    """Gives the replies of a host-neutral script."""

    playing: Any
    """The `Conversation` that is played; a copy of the model shares it."""

    def _next(self, messages: Sequence[BaseMessage]) -> AIMessage:
        number = len(self.playing.asked)
        text = "\n".join(f"{message.type}: {message.text}" for message in messages)
        offered = tuple(self.offered[-1]) if self.offered else ()
        reply = self.playing.next(Asked(text=text, tools=offered))
        if reply.error is not None:
            raise reply.error
        return AIMessage(
            reply.text,
            tool_calls=[
                {"name": call.name, "args": dict(call.arguments), "id": f"call-{number}-{at}"}
                for at, call in enumerate(reply.calls)
            ],
            usage_metadata={
                "input_tokens": reply.input_tokens,
                "output_tokens": reply.output_tokens,
                "total_tokens": reply.tokens,
            },
            response_metadata={"model_name": self.playing.script.model},
        )


def scripted(script: Script | Conversation) -> PlayingChatModel:
    """A chat model that plays a script."""
    return PlayingChatModel(playing=Conversation.of(script))


class _Agent:
    def __init__(self, graph: Any, middleware: HornbookMiddleware) -> None:
        self._graph = graph
        self._middleware = middleware
        self._config = {"configurable": {"thread_id": "1"}}

    def run(self, text: str) -> str:
        said = {"messages": [("user", text)]}
        return self._graph.invoke(said, self._config)["messages"][-1].text

    async def arun(self, text: str) -> str:
        said = {"messages": [("user", text)]}
        return (await self._graph.ainvoke(said, self._config))["messages"][-1].text

    def close(self) -> None:
        self._middleware.close()


class ConformanceAdapter:
    """`create_agent` with `HornbookMiddleware`."""

    name = "langgraph"
    capabilities: frozenset[Capability] = CAPABILITIES - {"tool_error_told"}

    def build(self, scene: Scene) -> _Agent:
        """Build an agent as the README says."""
        with warnings.catch_warnings():
            # With a contract on final answers it warns of astream_events, which is not used.
            warnings.simplefilter("ignore")
            middleware = HornbookMiddleware(
                contracts=scene.contracts,
                tools=scene.guard,
                rules=scene.rules,
                trace=scene.trace,
                halt=scene.halt,
            )
        graph = cast("Any", agents).create_agent(
            scripted(scene.script),
            [_tool(function) for function in scene.tools],
            system_prompt=scene.instructions,
            middleware=[middleware],
            checkpointer=InMemorySaver(),
        )
        return _Agent(graph, middleware)

    def is_own_step(self, start: Event) -> bool:
        """Say that LangChain makes no steps of its own."""
        return False


def _tool(function: Callable[..., Any]) -> BaseTool:
    if inspect.iscoroutinefunction(function):
        return StructuredTool.from_function(coroutine=function)
    return StructuredTool.from_function(function)
