"""A host in memory: a whole agent loop in one file, and no Hornbook in it.

It is what the kit of the adapters is tested with, and the shortest example of a host: it
calls a model with messages and tools, calls the tools that the model asks for (those of one
reply at the same time), and ends when the model answers in text. Both calls can be wrapped.
"""

import asyncio
import contextvars
import inspect
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, TypeAlias

__all__ = ["Agent", "Call", "Message", "Middleware", "Model", "Request"]

_MOST_CALLS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A tool call, as the model asked for it."""

    id: str
    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of a conversation."""

    role: Literal["user", "assistant", "tool"]
    text: str = ""
    calls: tuple[Call, ...] = ()
    call: Call | None = None
    """The call that a tool's message answers."""
    extra: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What is not for the model: its usage, an adapter's own remarks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One call of the model."""

    instructions: str
    messages: tuple[Message, ...]
    tools: tuple[str, ...]


Model: TypeAlias = Callable[[Request], Message]
Answer: TypeAlias = Any
"""What a tool gave: any value, or a whole message of role `tool`."""


class Middleware(Protocol):
    """What may stand around each call."""

    def wrap_model(self, request: Request, handler: Callable[[Request], Message]) -> Message:
        """Around a model call."""
        ...

    async def awrap_model(
        self, request: Request, handler: Callable[[Request], Awaitable[Message]]
    ) -> Message:
        """Around a model call of an async run."""
        ...

    def wrap_tool(self, call: Call, handler: Callable[[Call], Answer]) -> Answer:
        """Around a tool call."""
        ...

    async def awrap_tool(self, call: Call, handler: Callable[[Call], Awaitable[Answer]]) -> Answer:
        """Around a tool call of an async run."""
        ...


class Agent:
    """An agent with one conversation.

    Args:
        model: answers a request with a message.
        tools: functions, plain or (for `arun` alone) coroutine functions.
        instructions: what stands before the conversation.
        middleware: what stands around each call.
        tell: exceptions of a tool that the model is told of; others come out of `run`.
    """

    def __init__(
        self,
        model: Model,
        tools: Sequence[Callable[..., Any]] = (),
        *,
        instructions: str = "",
        middleware: Middleware | None = None,
        tell: Callable[[Exception], bool] = lambda error: False,
    ) -> None:
        self._model = model
        self._tools = {tool.__name__: tool for tool in tools}
        self._instructions = instructions
        self._middleware = middleware
        self._tell = tell
        self.messages: list[Message] = []
        """The conversation so far."""

    def run(self, text: str) -> str:
        """Take one turn of the user; give the final text."""
        with ThreadPoolExecutor() as pool:
            self.messages.append(Message(role="user", text=text))
            for _ in range(_MOST_CALLS):
                reply = self._ask(self._request())
                self.messages.append(reply)
                if not reply.calls:
                    return reply.text
                contexts = [contextvars.copy_context() for _ in reply.calls]
                jobs = [
                    pool.submit(context.run, self._use, call)
                    for context, call in zip(contexts, reply.calls, strict=True)
                ]
                self.messages += [job.result() for job in jobs]
        raise RuntimeError(f"the model was called {_MOST_CALLS} times and gave no answer")

    async def arun(self, text: str) -> str:
        """The async twin of `run`."""
        self.messages.append(Message(role="user", text=text))
        for _ in range(_MOST_CALLS):
            reply = await self._aask(self._request())
            self.messages.append(reply)
            if not reply.calls:
                return reply.text
            self.messages += await asyncio.gather(*map(self._ause, reply.calls))
        raise RuntimeError(f"the model was called {_MOST_CALLS} times and gave no answer")

    def _request(self) -> Request:
        return Request(
            instructions=self._instructions,
            messages=tuple(self.messages),
            tools=tuple(self._tools),
        )

    def _ask(self, request: Request) -> Message:
        if self._middleware is None:
            return self._model(request)
        return self._middleware.wrap_model(request, self._model)

    async def _aask(self, request: Request) -> Message:
        async def handler(request: Request) -> Message:
            return self._model(request)

        if self._middleware is None:
            return await handler(request)
        return await self._middleware.awrap_model(request, handler)

    def _use(self, call: Call) -> Message:
        try:
            if self._middleware is None:
                return _message(self._call(call), call)
            return _message(self._middleware.wrap_tool(call, self._call), call)
        except Exception as error:  # noqa: BLE001 - the model may be told of it
            return self._told(error, call)

    async def _ause(self, call: Call) -> Message:
        try:
            if self._middleware is None:
                return _message(await self._acall(call), call)
            return _message(await self._middleware.awrap_tool(call, self._acall), call)
        except Exception as error:  # noqa: BLE001 - the model may be told of it
            return self._told(error, call)

    def _call(self, call: Call) -> Answer:
        return self._function(call)(**call.arguments)

    async def _acall(self, call: Call) -> Answer:
        given = self._function(call)(**call.arguments)
        return await given if inspect.isawaitable(given) else given

    def _function(self, call: Call) -> Callable[..., Any]:
        if call.name not in self._tools:
            raise LookupError(f"there is no tool {call.name!r}")
        return self._tools[call.name]

    def _told(self, error: Exception, call: Call) -> Message:
        if not self._tell(error):
            raise error
        return Message(role="tool", text=f"{type(error).__name__}: {error}", call=call)


def _message(answer: Answer, call: Call) -> Message:
    if isinstance(answer, Message):
        return replace(answer, call=call)
    text = answer if isinstance(answer, str) else json.dumps(answer, default=str)
    return Message(role="tool", text=text, call=call)
