"""What the host in memory brings to tests: its scripted model, and its side of the kit."""

from hornbook.errors import HornbookError
from hornbook.hosting.models import Usage
from hornbook.kernel.guard import ToolGuard
from hornbook.kernel.registry import ToolRegistry
from hornbook.testing.conformance.protocol import CAPABILITIES, Capability, HostAgent, Scene
from hornbook.testing.memory_host.adapter import HornbookMiddleware
from hornbook.testing.memory_host.agent import Agent, Call, Message, Model, Request
from hornbook.testing.script import Asked, Conversation, Script
from hornbook.trace.events import Event

__all__ = ["MemoryAdapter", "MemoryAgent", "scripted"]


def scripted(script: Script | Conversation) -> Model:
    """A model that plays a script."""
    playing = Conversation.of(script)

    def model(request: Request) -> Message:
        lines = [request.instructions, *(_line(message) for message in request.messages)]
        number = len(playing.asked)
        reply = playing.next(Asked(text="\n".join(lines), tools=request.tools))
        if reply.error is not None:
            raise reply.error
        calls = tuple(
            Call(id=f"call-{number}-{at}", name=one.name, arguments=dict(one.arguments))
            for at, one in enumerate(reply.calls)
        )
        usage = Usage(
            model=playing.script.model,
            input_tokens=reply.input_tokens,
            output_tokens=reply.output_tokens,
        )
        return Message(role="assistant", text=reply.text, calls=calls, extra={"usage": usage})

    return model


class MemoryAdapter:
    """The host's side of the conformance kit."""

    name = "memory"
    capabilities: frozenset[Capability] = CAPABILITIES

    def build(self, scene: Scene) -> HostAgent:
        """An agent in memory with Hornbook attached."""
        return MemoryAgent(scene, self.attached(scene))

    def attached(self, scene: Scene) -> HornbookMiddleware:
        """What users put around their agent."""
        return HornbookMiddleware(
            guard=scene.guard or ToolGuard(ToolRegistry.of(*scene.tools)),
            contracts=scene.contracts,
            rules=scene.rules,
            trace=scene.trace,
            halt=scene.halt,
        )

    def is_own_step(self, start: Event) -> bool:
        """Nothing is recorded here but what the script says."""
        return False


class MemoryAgent:
    """An agent in memory as the kit drives it."""

    def __init__(self, scene: Scene, middleware: HornbookMiddleware) -> None:
        told = scene.tool_errors == "told"
        self._middleware = middleware
        self._agent = Agent(
            scripted(scene.script),
            scene.tools,
            instructions=scene.instructions,
            middleware=middleware,
            tell=lambda error: told and not isinstance(error, HornbookError),
        )

    def run(self, text: str) -> str:
        """Take one turn."""
        return self._agent.run(text)

    async def arun(self, text: str) -> str:
        """Take one turn of an async run."""
        return await self._agent.arun(text)

    def close(self) -> None:
        """End the adapter's own record."""
        self._middleware.close()


def _line(message: Message) -> str:
    calls = " ".join(f"{one.name}({dict(one.arguments)})" for one in message.calls)
    return f"{message.role}: {message.text}{calls}"
