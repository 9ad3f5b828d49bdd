"""The adapter for the host in memory, on the same wiring as those of the real hosts."""

import os
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from hornbook.contracts.report import ContractReport, ContractViolation
from hornbook.errors import DefinitionError
from hornbook.hosting.ambient import AmbientRun
from hornbook.hosting.heard import Heard
from hornbook.hosting.held import Contracts, by_name
from hornbook.hosting.models import MODEL, ModelHost, ModelSteps, Usage
from hornbook.hosting.rules import Rules
from hornbook.hosting.tools import ToolHost, ToolSteps
from hornbook.kernel.guard import ToolGuard
from hornbook.kernel.registry import ToolRegistry
from hornbook.testing.memory_host.agent import Answer, Call, Message, Request

__all__ = ["HornbookMiddleware"]

Halt = Literal["soft", "hard"]

_HALT = "hornbook_halt"


class HornbookMiddleware:
    """Guards the tool calls of an agent in memory, holds it to contracts, gives it rules.

    Args:
        guard: the guard of tool calls, made from the agent's tools; None for none.
        contracts: by the tool's name, or under `"model"` for final answers.
        rules: learned rules: a `RuleLibrary`, the path of one, or an object that retrieves.
        trace: the folder of records, for calls that no `hornbook.run` is around.
        halt: `soft` ends the turn with a message, `hard` raises `ContractViolation`.
    """

    def __init__(
        self,
        guard: ToolGuard | ToolRegistry | None = None,
        contracts: Contracts | None = None,
        rules: object = None,
        trace: str | os.PathLike[str] | None = None,
        *,
        halt: Halt = "soft",
    ) -> None:
        if halt not in ("soft", "hard"):
            raise DefinitionError(f"halt={halt!r}: 'soft' or 'hard'")
        held = by_name(contracts)
        final = held.pop(MODEL, None)
        self._heard = Heard()
        made = ToolGuard(guard) if isinstance(guard, ToolRegistry) else guard
        self._tools = ToolSteps(ToolCalls(made, self._heard, halt), held)
        if made is not None:
            self._tools.refuse_misfits(made.registry)
            self._tools.keep(made.registry.names)
        self._models = ModelSteps(ModelCalls(halt), final=final, rules=Rules(rules))
        self._ambient = None if trace is None else AmbientRun(Path(trace))

    def wrap_model(self, request: Request, handler: Callable[[Request], Message]) -> Message:
        """Around a model call."""
        self._hear(request)
        with self._recording():
            return self._models.call(request, handler)

    async def awrap_model(
        self, request: Request, handler: Callable[[Request], Awaitable[Message]]
    ) -> Message:
        """Around a model call of an async run."""
        self._hear(request)
        with self._recording():
            return await self._models.acall(request, handler)

    def wrap_tool(self, call: Call, handler: Callable[[Call], Answer]) -> Answer:
        """Around a tool call."""

        def run(call: Call) -> Answer:
            return self._returned(call, handler(call))

        with self._recording():
            return self._tools.call(call, run)

    async def awrap_tool(self, call: Call, handler: Callable[[Call], Awaitable[Answer]]) -> Answer:
        """Around a tool call of an async run."""

        async def run(call: Call) -> Answer:
            return self._returned(call, await handler(call))

        with self._recording():
            return await self._tools.acall(call, run)

    def close(self) -> None:
        """End the record of its own, if there is one."""
        if self._ambient is not None:
            self._ambient.close()

    def _hear(self, request: Request) -> None:
        self._heard.said(*(one.text for one in request.messages if one.role == "user"))

    def _returned(self, call: Call, answer: Answer) -> Answer:
        self._heard.returned(call.name, call.arguments, answer)
        return answer

    def _recording(self) -> AbstractContextManager[None]:
        return nullcontext() if self._ambient is None else self._ambient.around()


class ToolCalls(ToolHost[Call, Answer]):
    """How a tool call of this host is read and answered."""

    name = "memory"

    def __init__(self, guard: ToolGuard | None, heard: Heard, halt: Halt) -> None:
        self._guard = guard
        self._heard = heard
        self._halt = halt

    def tool(self, call: Call) -> str:
        return call.name

    def arguments(self, call: Call) -> Mapping[str, Any]:
        return call.arguments

    def changed(self, call: Call, arguments: Mapping[str, Any]) -> Call:
        return replace(call, arguments={**call.arguments, **arguments})

    def check(self, call: Call) -> ContractReport | None:
        if self._guard is None:
            return None
        return self._guard.check(call.name, call.arguments, self._heard.context())

    def halt(self, violation: ContractViolation, call: Call) -> Answer:
        if self._halt == "hard":
            raise violation
        return Message(role="tool", text=f"Halted: {violation}", extra={_HALT: violation.report})

    def meta(self, call: Call) -> Mapping[str, Any]:
        return {"tool_call_id": call.id}


class ModelCalls(ModelHost[Request, Message]):
    """How a model call of this host is read and answered."""

    name = "memory"

    def __init__(self, halt: Halt) -> None:
        self._halt = halt

    def inputs(self, request: Request) -> Mapping[str, Any]:
        users = [at for at, one in enumerate(request.messages) if one.role == "user"]
        turn = request.messages[users[-1] :] if users else ()
        return {
            "request": turn[0].text if turn else "",
            "results": [one.text for one in turn if one.role == "tool"],
            "system": request.instructions,
            "tools": list(request.tools),
        }

    def tools(self, request: Request) -> tuple[str, ...]:
        return request.tools

    def with_rules(self, request: Request, text: str) -> Request:
        return replace(request, instructions=f"{request.instructions}\n\n{text}")

    def with_feedback(self, request: Request, told: str, rejected: Message | None) -> Request:
        more = (*([] if rejected is None else [rejected]), Message(role="user", text=told))
        return replace(request, messages=(*request.messages, *more))

    def changed(self, request: Request, inputs: Mapping[str, Any]) -> Request:
        if set(inputs) - {"system"}:
            raise DefinitionError("of a model call in memory 'system' can be changed, and no other")
        return replace(request, instructions=str(inputs["system"]))

    def is_final(self, response: Message) -> bool:
        return not response.calls

    def value(self, response: Message) -> str:
        return response.text

    def usage(self, response: Message) -> Usage:
        return response.extra.get("usage", Usage())

    def recorded(self, response: Message) -> Any:
        calls = [{"name": one.name, "arguments": one.arguments} for one in response.calls]
        return {"text": response.text, "calls": calls} if calls else response.text

    def answer(self, value: Any, request: Request) -> Message:
        return value if isinstance(value, Message) else Message(role="assistant", text=str(value))

    def halted(self, request: Request) -> Message | None:
        violations: list[str] = []
        for message in reversed(request.messages):
            if message.role != "tool":
                break
            if _HALT in message.extra:
                violations.insert(0, str(message.extra[_HALT]))
        return _closing("\n".join(violations)) if violations else None

    def halt(self, violation: ContractViolation, request: Request) -> Message:
        if self._halt == "hard":
            raise violation
        return _closing(str(violation))


def _closing(why: str) -> Message:
    return Message(role="assistant", text=f"I stopped here, because a check failed: {why}")
