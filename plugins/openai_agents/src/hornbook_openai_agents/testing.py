"""A scripted model for the SDK, and the adapter of the conformance kit."""

import itertools
import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

from agents import (
    Agent,
    Model,
    ModelResponse,
    RunConfig,
    SQLiteSession,
    Tool,
    Usage,
    function_tool,
)
from agents.items import TResponseInputItem, TResponseStreamEvent
from openai.types.responses import ResponseFunctionToolCall
from pydantic_core import to_json

from hornbook.testing.conformance.protocol import Capability, Scene
from hornbook.testing.script import Asked, Conversation, Reply, Script
from hornbook.trace.events import Event
from hornbook_openai_agents.adapter import CAPABILITIES, HOST, to_host
from hornbook_openai_agents.configuring import run_config
from hornbook_openai_agents.running import run, run_sync
from hornbook_openai_agents.streaming import events_of

__all__ = ["ConformanceAdapter", "ScriptedModel", "adapter", "scripted"]

_ids = itertools.count(1)


class ScriptedModel(Model):
    """Gives the replies of a script in order; one at a time, whoever asks."""

    def __init__(self, conversation: Conversation) -> None:
        self.conversation = conversation
        self.model = conversation.script.model
        # The SDK refuses an id that another call of the same run has, of whatever agent.
        self._id = next(_ids)

    async def get_response(
        self,
        system_instructions: str | None,
        input: str | list[TResponseInputItem],  # noqa: A002 - the SDK's name
        model_settings: Any,
        tools: list[Tool],
        *args: Any,
        **options: Any,
    ) -> ModelResponse:
        """Give the next reply."""
        text = input if isinstance(input, str) else to_json(input).decode()
        names = tuple(str(getattr(tool, "name", "")) for tool in tools)
        reply = self.conversation.next(
            Asked(text=f"{system_instructions or ''}\n{text}", tools=names)
        )
        if reply.error is not None:
            raise reply.error
        return self._response(reply)

    async def stream_response(self, *args: Any, **options: Any) -> AsyncIterator[Any]:
        """Stream the next reply."""
        for event in self._events(await self.get_response(*args, **options)):
            yield event

    def _events(self, response: ModelResponse) -> Iterator[TResponseStreamEvent]:
        return events_of(response, self.model)

    def _response(self, reply: Reply) -> ModelResponse:
        number = len(self.conversation.asked)
        calls = [
            ResponseFunctionToolCall(
                type="function_call",
                call_id=f"call-{self._id}-{number}-{at}",
                name=call.name,
                arguments=json.dumps(dict(call.arguments)),
            )
            for at, call in enumerate(reply.calls)
        ]
        said = to_host(reply.text).output if reply.text or not calls else []
        usage = Usage(
            requests=1,
            input_tokens=reply.input_tokens,
            output_tokens=reply.output_tokens,
            total_tokens=reply.tokens,
        )
        return ModelResponse(output=[*said, *calls], usage=usage, response_id=None)


def scripted(script: Script | Conversation) -> ScriptedModel:
    """A model of the SDK that plays a script."""
    return ScriptedModel(Conversation.of(script))


class ConformanceAdapter:
    """The SDK, for `hornbook.testing.conformance`."""

    name = HOST

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What the SDK can do, with Hornbook attached."""
        return CAPABILITIES

    def build(self, scene: Scene) -> "_SceneAgent":
        """An agent of the SDK for a scene."""
        return _SceneAgent(scene)

    def is_own_step(self, start: Event) -> bool:
        """No step is: the SDK asks the model and calls tools, and that is all it does."""
        return False


def adapter() -> ConformanceAdapter:
    """The adapter, for `pytest --hornbook-adapter=hornbook_openai_agents.testing:adapter`."""
    return ConformanceAdapter()


class _SceneAgent:
    def __init__(self, scene: Scene) -> None:
        self._agent = Agent(
            name="scene",
            instructions=scene.instructions,
            tools=[function_tool(fn, failure_error_function=_told) for fn in scene.tools],
            model=scripted(scene.script),
        )
        self._config = run_config(
            RunConfig(tracing_disabled=True),
            contracts=scene.contracts,
            tools=scene.guard,
            rules=scene.rules,
            trace=scene.trace,
            halt=scene.halt,
        )
        self._session = SQLiteSession(scene.name)

    def run(self, text: str) -> str:
        """Take one turn of the user."""
        result = run_sync(self._agent, text, run_config=self._config, session=self._session)
        return str(result.final_output)

    async def arun(self, text: str) -> str:
        """The async twin of `run`."""
        result = await run(self._agent, text, run_config=self._config, session=self._session)
        return str(result.final_output)

    def close(self) -> None:
        """End the record and the session."""
        self._config.close()
        self._session.close()


def _told(context: Any, error: Exception) -> str:
    return f"The tool failed: {error}"
