"""The model wrap: rules, feedback, contract, budget and record around each call of the model."""

from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from hornbook.budget import Spent
from hornbook.contracts.contract import Contract
from hornbook.contracts.report import ContractViolation
from hornbook.errors import DefinitionError
from hornbook.hosting.rules import Rules
from hornbook.step.attempts import feedback
from hornbook.step.effects import Call, Effect, adrive, drive
from hornbook.step.hosted import HostedStep
from hornbook.step.operation import Operation, Outcome
from hornbook.step.recover import Recover
from hornbook_langgraph.compat import resumed, running_config
from hornbook_langgraph.halting import closing, closing_of, halts
from hornbook_langgraph.identity import ModelIdentity
from hornbook_langgraph.tools import Halt

if TYPE_CHECKING:
    from langchain.agents.middleware import ModelRequest, ModelResponse

__all__ = ["MODEL", "ModelWrap", "Usage", "usage_of"]

MODEL = "model"
"""The name of model steps, and the key of the contract on the model's final answers."""

Request: TypeAlias = "ModelRequest[Any]"
Response: TypeAlias = "ModelResponse[Any]"
Handler: TypeAlias = Callable[[Request], Response]
AsyncHandler: TypeAlias = Callable[[Request], Awaitable[Response]]

_NOSTREAM = "nostream"
_NO_KWARGS: dict[str, Any] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What a response says of itself."""

    model: str | None
    input_tokens: int
    output_tokens: int


class ModelWrap:
    """What stands around every model call of one agent."""

    def __init__(
        self, given: tuple[Contract[Any], Recover] | None, rules: Rules, halt: Halt
    ) -> None:
        self._rules = rules
        self._halt = halt
        contract, recover = given or (None, Recover())
        self._holds_back = contract is not None
        self._plain = contract is None
        """Whether a call needs nothing but its step, unless there are rules."""
        self._quiet: tuple[object, object] | None = None
        if contract is not None:
            contract.refuse_unknown_inputs(_INPUTS, MODEL)
        operation = Operation(
            name=MODEL,
            kind="model",
            host="langgraph",
            contract=contract,
            recover=_for_model(recover),
            bind=_bind,
            rebuild=_rebuild,
            kept=_kept,
            view=_final_value,
            meta=ModelIdentity,
            judged=_is_final,
            recorded=_recorded,
            spent=_spent,
            may_retry=lambda: not resumed(running_config()),
        )
        self._step = HostedStep(operation, self._tell)

    def wrap(self, request: Request, handler: Handler) -> Any:
        """Around one call, from sync code."""
        messages = request.messages
        if halted := halts(messages):
            return closing(halted)
        if self._plain and not self._rules.may_apply():
            return self._step.call(handler, (request,), _NO_KWARGS)
        asking = _Asking(self, handler)
        return self._step.call(asking.ask, (request,), _NO_KWARGS)

    async def awrap(self, request: Request, handler: AsyncHandler) -> Any:
        """Around one call, from async code."""
        messages = request.messages
        if halted := halts(messages):
            return closing(halted)
        if self._plain and not self._rules.may_apply():
            return await self._step.acall(handler, (request,), _NO_KWARGS)
        asking = _Asking(self, handler)
        return await self._step.acall(asking.aask, (request,), _NO_KWARGS)

    def found_rules(self, request: Request) -> Generator[Effect, Any, str]:
        """The text of the rules for a request, which is recorded as injected."""
        agent = running_config().get("metadata", {}).get("lc_agent_name")
        names = _tool_names(request.tools)
        return (yield from self._rules.text(_last_request(request.messages), names, agent))

    def held_back(self, request: Request) -> Request:
        """The request with a model whose tokens are not streamed before they are accepted."""
        if not self._holds_back:
            return request
        model: Any = request.model
        if not hasattr(model, "tags"):  # another middleware put something else in its place
            return request
        known = self._quiet
        if known is None or known[0] is not model:
            tags = [*(model.tags or ()), _NOSTREAM]
            known = self._quiet = (model, model.model_copy(update={"tags": tags}))
        return request.override(model=cast("Any", known[1]))

    def _tell(self, outcome: Outcome, args: tuple[Any, ...]) -> Any:
        if outcome.ok:
            return _as_response(outcome.raw)
        report, decision = outcome.report, outcome.decision
        assert report is not None
        if outcome.status == "blocked" and decision is not None and decision.value is not None:
            return _as_response(decision.value)
        if self._halt == "hard":
            raise ContractViolation(report) from outcome.error
        return closing_of(report)


class _Asking:
    """One model call with its attempts: rules are found once, feedback is the newest."""

    __slots__ = ("_handler", "_rejected", "_text", "_wrap")

    def __init__(self, wrap: ModelWrap, handler: Callable[..., Any]) -> None:
        self._wrap = wrap
        self._handler = handler
        self._text: str | None = None
        self._rejected: Sequence[BaseMessage] = ()

    def ask(self, request: Request) -> Response:
        """One attempt, from sync code."""
        return drive(self._attempt(request))

    async def aask(self, request: Request) -> Response:
        """One attempt, from async code."""
        return await adrive(self._attempt(request))

    def _attempt(self, request: Request) -> Generator[Effect, Any, Response]:
        if self._text is None:
            self._text = yield from self._wrap.found_rules(request)
        changed = self._wrap.held_back(request)
        if self._text:
            system = _with_text(changed.system_message, self._text)
            changed = changed.override(system_message=system)
        told = feedback()
        if told is not None:
            messages = [*changed.messages, *self._rejected, HumanMessage(str(told))]
            changed = changed.override(messages=cast("Any", messages))
        response: Response = yield Call(self._handler, (changed,), {})
        # With the answers to its calls, if it made any: a provider wants each one answered.
        self._rejected = getattr(response, "result", ())
        return response


_INPUTS = ("request", "results", "messages", "system", "tools", "state")


def inputs_of(
    messages: Sequence[BaseMessage], system: SystemMessage | None, tools: Sequence[Any]
) -> Mapping[str, Any]:
    """What a contract on the model can name: the user's request, this turn's results, ...

    `messages` are those since the model last spoke, so that a record does not repeat the
    whole conversation at every call.
    """
    turn = _since(messages, HumanMessage)
    return {
        "request": _last_request(messages),
        "results": [message.text for message in turn if isinstance(message, ToolMessage)],
        "messages": [
            {"role": message.type, "content": message.content}
            for message in _since(messages, AIMessage)
        ],
        "system": "" if system is None else system.text,
        "tools": _tool_names(tools),
    }


def usage_of(response: Any) -> Usage:
    """Which model answered, and the tokens it counted; zero where it does not say."""
    message = _message_of(response)
    if message is None:
        return Usage(model=None, input_tokens=0, output_tokens=0)
    counted: Any = message.usage_metadata or {}
    named = message.response_metadata
    return Usage(
        model=named.get("model_name") or named.get("model"),
        input_tokens=counted.get("input_tokens", 0),
        output_tokens=counted.get("output_tokens", 0),
    )


def _kept(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """What was said, and nothing of the graph around it."""
    request = args[0]
    return request.messages, request.system_message, request.tools


def _bind(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Mapping[str, Any]:
    return inputs_of(*(args if len(args) > 1 else _kept(args)))


def _message_of(response: Any) -> AIMessage | None:
    if isinstance(response, AIMessage):
        return response
    for message in getattr(response, "result", ()):
        if isinstance(message, AIMessage):
            return message
    return None


def _is_final(response: Any) -> bool:
    """Whether the model answers, where else it calls tools or fails to give its structure."""
    if getattr(response, "structured_response", None) is not None:
        return True
    message = _message_of(response)
    return message is None or not message.tool_calls


def _final_value(response: Any) -> Any:
    structured = getattr(response, "structured_response", None)
    if structured is not None:
        return structured
    message = _message_of(response)
    return response if message is None else message.text


def _recorded(response: Any) -> Any:
    message = _message_of(response)
    if message is None:
        return response
    usage = usage_of(response)
    told: dict[str, Any] = {"content": message.content}
    if message.tool_calls:
        told["tool_calls"] = [
            {"id": call["id"], "name": call["name"], "args": call["args"]}
            for call in message.tool_calls
        ]
    if usage.model is not None:
        told["model"] = usage.model
    if message.usage_metadata is not None:
        told["usage"] = {"input": usage.input_tokens, "output": usage.output_tokens}
    return told


_NOTHING_SPENT = Spent()


def _spent(response: Any) -> Spent:
    message: Any = response.result[0] if hasattr(response, "result") else response
    counted: Any = getattr(message, "usage_metadata", None)
    if not counted:
        return _NOTHING_SPENT
    return Spent(tokens=counted.get("input_tokens", 0) + counted.get("output_tokens", 0))


def _as_response(value: Any) -> Any:
    """The host's form of an answer that a hook or fallback gave in the model's place."""
    if isinstance(value, AIMessage) or hasattr(value, "result"):
        return value
    return AIMessage(value if isinstance(value, str) else str(value))


def _for_model(recover: Recover) -> Recover:
    """The recovery with fallbacks that give a response, whatever form their answer has."""
    if not recover.fallback:
        return recover

    def answering(fallback: Callable[..., Any]) -> Callable[..., Any]:
        def answer(request: Request) -> Any:
            return _as_response(fallback(request))

        answer.__qualname__ = getattr(fallback, "__qualname__", "fallback")
        return answer

    return replace(recover, fallback=tuple(map(answering, recover.fallback)))


def _rebuild(
    args: tuple[Any, ...], kwargs: Mapping[str, Any], changed: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    request: Request = args[0]
    for name, value in changed.items():
        match name:
            case "system":
                request = request.override(system_message=SystemMessage(str(value)))
            case "request":
                request = request.override(messages=cast("Any", _asked(request.messages, value)))
            case _:
                raise DefinitionError(
                    f"{name!r} of a model call cannot be changed; 'system' and 'request' can"
                )
    return (request,), dict(kwargs)


def _asked(messages: Sequence[BaseMessage], text: Any) -> list[BaseMessage]:
    """The messages with another last request."""
    changed = list(messages)
    for at in range(len(changed) - 1, -1, -1):
        if isinstance(changed[at], HumanMessage):
            changed[at] = changed[at].model_copy(update={"content": str(text)})
            return changed
    return [*changed, HumanMessage(str(text))]


def _with_text(system: SystemMessage | None, text: str) -> SystemMessage:
    """The system message with the rules after it, whatever form its content has."""
    if system is None or not system.content:
        return SystemMessage(text)
    if isinstance(system.content, str):
        return system.model_copy(update={"content": f"{system.content}\n\n{text}"})
    return system.model_copy(update={"content": [*system.content, {"type": "text", "text": text}]})


def _last_request(messages: Sequence[BaseMessage]) -> str:
    for message in reversed(messages):
        if isinstance(message, HumanMessage):
            return message.text
    return ""


def _since(messages: Sequence[BaseMessage], kind: type[BaseMessage]) -> Sequence[BaseMessage]:
    """The messages after the last one of a kind; all when there is none."""
    for at in range(len(messages) - 1, -1, -1):
        if isinstance(messages[at], kind):
            return messages[at + 1 :]
    return messages


def _tool_names(tools: Sequence[Any]) -> list[str]:
    return [name for tool in tools if (name := _tool_name(tool))]


def _tool_name(tool: Any) -> str:
    if isinstance(tool, Mapping):
        given = cast("Mapping[str, Any]", tool)
        inner = given.get("function")
        named = cast("Mapping[str, Any]", inner) if isinstance(inner, Mapping) else given
        return str(named.get("name") or given.get("type") or "")
    return str(getattr(tool, "name", ""))
