"""The SDK's model calls, as the step around them reads and writes them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from agents import AgentOutputSchemaBase, Handoff, ModelResponse, ModelSettings, ModelTracing, Tool
from agents.exceptions import ModelBehaviorError
from pydantic_core import to_json

from hornbook.contracts.report import ContractViolation
from hornbook.errors import DefinitionError
from hornbook.hosting import ModelHost, Usage
from hornbook_openai_agents.adapter import HOST, halt, step_identity, to_host, usage
from hornbook_openai_agents.conversation import Conversation
from hornbook_openai_agents.items import (
    Item,
    calls_tools,
    function_calls,
    is_user,
    items_of,
    last_request,
    read_arguments,
    since_answer,
    since_user,
    text_of,
    written_text,
)

__all__ = ["AgentsModelHost", "Answer", "ModelRequest"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """One call of a model: what the SDK passes, and where it comes from."""

    system: str | None
    given: str | list[Any]
    settings: ModelSettings
    tools: list[Tool]
    schema: AgentOutputSchemaBase | None
    handoffs: list[Handoff]
    tracing: ModelTracing
    previous_response_id: str | None
    conversation_id: str | None
    prompt: Any
    agent: str | None
    conversation: Conversation

    @property
    def items(self) -> list[Item]:
        """The input, item by item."""
        return items_of(self.given)

    @property
    def structured(self) -> bool:
        """Whether the answer has to have a form of its own."""
        return self.schema is not None and not self.schema.is_plain_text()

    @property
    def offered(self) -> list[str]:
        """The names of all that the model can call: tools, and agents to hand over to."""
        return [*map(_name, self.tools), *(handoff.tool_name for handoff in self.handoffs)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A response, and what it comes to."""

    response: ModelResponse
    value: Any
    """The text, or the structure where the agent has an `output_type`."""
    model: str | None = None

    @classmethod
    def of(
        cls, response: ModelResponse, request: ModelRequest, model: str | None = None
    ) -> "Answer":
        """What a response comes to, for the agent that asked."""
        text: Any = written_text(response.output)
        if request.structured and not calls_tools(response.output):
            text = _structure(text, request)
        return cls(response=response, value=text, model=model)


class AgentsModelHost(ModelHost[ModelRequest, Answer]):
    """How the SDK's calls of a model look.

    Args:
        soft: whether a halt ends the turn with a message, and does not raise.
    """

    name = HOST

    def __init__(self, *, soft: bool) -> None:
        self._soft = soft

    def inputs(self, request: ModelRequest) -> Mapping[str, Any]:
        """The user's request, this turn's results, and what is new since the last answer."""
        items = request.items
        made = (item for item in since_user(items) if item.get("type") == "function_call_output")
        return {
            "request": last_request(items),
            "results": [text_of(item) for item in made],
            "messages": [_told(item) for item in since_answer(items)],
            "system": request.system or "",
            "tools": self.tools(request),
        }

    def tools(self, request: ModelRequest) -> Sequence[str]:
        """The names of the tools that the model is offered."""
        return [_name(tool) for tool in request.tools]

    def agent(self, request: ModelRequest) -> str | None:
        """The agent that asks, where a run config of ours has told."""
        return request.agent

    def with_rules(self, request: ModelRequest, text: str) -> ModelRequest:
        """The request with the rules after its instructions."""
        system = f"{request.system}\n\n{text}" if request.system else text
        return replace(request, system=system)

    def with_feedback(
        self, request: ModelRequest, told: str, rejected: Answer | None
    ) -> ModelRequest:
        """The request with the rejected answer and what was wrong with it."""
        feedback = {"role": "user", "content": told}
        if request.conversation_id is not None:
            # The provider has kept both the request and the rejected answer.
            return replace(request, given=[feedback])
        before = [] if rejected is None else rejected.response.to_input_items()
        return replace(request, given=[*request.items, *before, feedback])

    def changed(self, request: ModelRequest, inputs: Mapping[str, Any]) -> ModelRequest:
        """The request with another text of the system or the user."""
        for name, value in inputs.items():
            match name:
                case "system":
                    request = replace(request, system=str(value))
                case "request":
                    request = replace(request, given=_asked(request.items, str(value)))
                case _:
                    raise DefinitionError(
                        f"{name!r} of a model call cannot be changed; 'system' and 'request' can"
                    )
        return request

    def is_response(self, value: object) -> bool:
        """Whether a value is an answer, and not what a plugin gives in its place."""
        return isinstance(value, Answer)

    def is_final(self, response: Answer) -> bool:
        """Whether the model answers, where else it calls tools or hands over."""
        return not calls_tools(response.response.output)

    def value(self, response: Answer) -> Any:
        """The text of an answer, or its structure."""
        return response.value

    def usage(self, response: Answer) -> Usage:
        """Which model answered, and the tokens it counted."""
        return usage(response.response, response.model)

    def recorded(self, response: Answer) -> Any:
        """The text, the calls, the model and the tokens."""
        output = response.response.output
        told: dict[str, Any] = {"content": written_text(output)}
        calls = function_calls(output)
        if calls:
            told["tool_calls"] = [
                {
                    "id": call.call_id,
                    "name": call.name,
                    "args": read_arguments(call.arguments) or call.arguments,
                }
                for call in calls
            ]
        counted = self.usage(response)
        if counted.model is not None:
            told["model"] = counted.model
        if response.response.usage.requests:
            told["usage"] = {"input": counted.input_tokens, "output": counted.output_tokens}
        return told

    def answer(self, value: Any, request: ModelRequest) -> Answer:
        """The SDK's form of an answer that a fallback or a hook gave in the model's place."""
        if isinstance(value, Answer):
            return value
        if request.structured and not isinstance(value, str | ModelResponse):
            response = to_host(_as_json(value, request))
            return Answer(response=response, value=value)
        return Answer.of(to_host(value), request)

    def halted(self, request: ModelRequest) -> Answer | None:
        """The closing answer of a turn that a tool has halted."""
        reports = request.conversation.halts(request.items)
        if not reports:
            return None
        request.conversation.told()
        if request.structured:
            # No text can stand for the structure that the agent has to give.
            raise ContractViolation(reports[0])
        response = halt(reports)
        return Answer(response=response, value=written_text(response.output))

    def halt(self, violation: ContractViolation, request: ModelRequest) -> Answer:
        """End the turn, by a closing answer where that is asked for and there can be one."""
        if not self._soft or request.structured:
            raise violation
        response = halt([violation.report])
        return Answer(response=response, value=written_text(response.output))

    def meta(self, request: ModelRequest) -> Mapping[str, Any]:
        """The trace, the span, and the agent's name."""
        return step_identity(request.agent)


def _structure(text: str, request: ModelRequest) -> Any:
    assert request.schema is not None
    try:
        return request.schema.validate_json(text)
    except ModelBehaviorError:
        # A contract may ask for a better one; without, the SDK raises this by itself.
        return text


def _as_json(value: Any, request: ModelRequest) -> str:
    """A structure as the text that the SDK reads it from."""
    assert request.schema is not None
    text = to_json(value).decode()
    try:
        request.schema.validate_json(text)
    except ModelBehaviorError:
        # The SDK wraps types that are no object in one, under this key.
        return f'{{"response":{text}}}'
    return text


def _asked(items: Sequence[Item], text: str) -> list[Any]:
    """The items with another last request."""
    changed: list[Any] = list(items)
    for at in range(len(changed) - 1, -1, -1):
        if is_user(changed[at]):
            changed[at] = {**changed[at], "content": text}
            return changed
    return [*changed, {"role": "user", "content": text}]


def _told(item: Item) -> Mapping[str, Any]:
    return {"role": item.get("role") or item.get("type"), "content": text_of(item)}


def _name(tool: Tool) -> str:
    return str(getattr(tool, "name", type(tool).__name__))
