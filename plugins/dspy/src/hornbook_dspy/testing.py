"""For tests: a language model that plays a script, and DSPy's side of the conformance kit."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

import hornbook_dspy
from hornbook.contracts.report import ContractViolation
from hornbook.testing.conformance.protocol import Capability, HostAgent, Scene
from hornbook.testing.script import Asked, Conversation, Reply, Script, ToolCall
from hornbook.trace.events import Event
from hornbook.trace.frame import RUN, current
from hornbook_dspy.adapter import CAPABILITIES, HOST
from hornbook_dspy.compat import calling_modules, dspy, settings

__all__ = ["ConformanceAdapter", "Player", "ReActAdapter", "adapter", "scripted"]

_QUESTION = "question"
_ANSWER = "answer"


def scripted(script: Script | Conversation) -> Any:
    """A `dspy.LM` that plays a script, for `Predict`, `ReAct`, `ReActV2` and the rest.

    It writes what the module that asks wants to read, as the adapter in use would have it.
    Where ReAct asks once to finish and once for the answer, both are one reply of the script.
    """
    playing = Conversation.of(script)
    player = Player(playing)
    return dspy.LM(
        f"scripted/{playing.script.model}",
        engine=player,
        async_engine=_AsyncPlayer(player),
        cache=False,
        num_retries=0,
    )


class Player:
    """An engine of DSPy that plays a script."""

    def __init__(self, playing: Conversation) -> None:
        self.playing = playing
        self.own: set[str] = set()
        """The steps in which the model only says that ReAct may finish."""

    def complete(self, request: Any) -> Any:
        """Answer one request."""
        signature = _asking()
        names: Sequence[str] = () if signature is None else tuple(signature.output_fields)
        coming = self.playing.peek()
        if "next_tool_name" in names and coming is not None and coming.final:
            self.playing.spend(coming.tokens)
            self._note_own()
            finish = _react_fields(ToolCall(name="finish"))
            return _response(self.playing, coming, _text(_written(signature, finish)))
        number = len(self.playing.asked)
        reply = self.playing.next(Asked(text=_all_text(request), tools=_tool_names(request)))
        if reply.error is not None:
            raise reply.error
        message = self._message(request, signature, reply, number)
        return _response(self.playing, reply, message)

    def _message(self, request: Any, signature: Any, reply: Reply, number: int) -> Any:
        if signature is None:
            return _text(reply.text)
        names = tuple(signature.output_fields)
        if "next_tool_name" in names:
            return _text(_written(signature, _react_fields(reply.calls[0])))
        calls_in = [
            name
            for name, field in signature.output_fields.items()
            if field.annotation is dspy.ToolCalls
        ]
        if not calls_in:
            return _text(_written(signature, _answer_fields(signature, reply.text)))
        calls = reply.calls or (_submitting(reply.text),)
        if request.tools:
            return _calling(calls, number)
        listed = [{"name": one.name, "args": dict(one.arguments)} for one in calls]
        fields = {calls_in[0]: dspy.ToolCalls.from_dict_list(listed)}
        return _text(_written(signature, fields))

    def _note_own(self) -> None:
        frame = current.get()
        if frame is not None and frame[RUN] is not None:
            self.own.add(frame[RUN].log.step_id(frame))


class _AsyncPlayer:
    def __init__(self, player: Player) -> None:
        self._player = player

    async def complete(self, request: Any) -> Any:
        return self._player.complete(request)


class ConformanceAdapter:
    """DSPy's side of the kit, with ReActV2: parallel calls, and a history of turns."""

    name = HOST
    capabilities: frozenset[Capability] = CAPABILITIES

    def build(self, scene: Scene) -> HostAgent:
        """A ReActV2 with Hornbook attached."""
        signature = dspy.Signature(f"{_QUESTION} -> {_ANSWER}", scene.instructions)
        return _Agent(scene, dspy.ReActV2(signature, tools=list(scene.tools)))

    def is_own_step(self, start: Event) -> bool:
        """Nothing is recorded of ReActV2 but what the script says."""
        return False


class ReActAdapter(ConformanceAdapter):
    """DSPy's side of the kit with ReAct, which makes one call at a time.

    Its last word takes two calls of the model, of which the first says that it may finish.
    """

    capabilities = ConformanceAdapter.capabilities - {"parallel_tools"}

    def __init__(self) -> None:
        self._player: Player | None = None

    def build(self, scene: Scene) -> HostAgent:
        """A ReAct with Hornbook attached."""
        told = f"{_QUESTION}, history: dspy.History -> {_ANSWER}"
        signature = dspy.Signature(told, scene.instructions)
        agent = _Agent(scene, dspy.ReAct(signature, tools=list(scene.tools)))
        self._player = agent.lm.engine
        return agent

    def is_own_step(self, start: Event) -> bool:
        """Whether the model only said in it that ReAct may finish."""
        return self._player is not None and start.id in self._player.own


adapter = ConformanceAdapter


class _Agent:
    """An agent of DSPy as the kit drives it: one history, and the context that users write."""

    def __init__(self, scene: Scene, module: Any) -> None:
        self.lm = scripted(scene.script)
        self._agent = hornbook_dspy.guard(
            module, contracts=scene.contracts, tools=True if scene.guard is None else scene.guard
        )
        self._scene = scene
        self._history = dspy.History(messages=[])

    def run(self, text: str) -> str:
        """Take one turn."""
        with self._attached():
            try:
                prediction = self._agent(question=text, history=self._history)
            except ContractViolation:
                self._remember(text)
                raise
        return self._answer(text, prediction)

    async def arun(self, text: str) -> str:
        """Take one turn of an async run."""
        with self._attached():
            try:
                prediction = await self._agent.acall(question=text, history=self._history)
            except ContractViolation:
                self._remember(text)
                raise
        return self._answer(text, prediction)

    def close(self) -> None:
        """Each turn has ended its own record."""

    def _attached(self) -> Any:
        scene = self._scene
        return hornbook_dspy.context(lm=self.lm, rules=scene.rules, trace=scene.trace)

    def _answer(self, text: str, prediction: Any) -> str:
        if "history" not in prediction:  # ReActV2 keeps the history itself
            self._remember(text, answer=prediction.answer)
        return prediction.answer

    def _remember(self, text: str, **more: str) -> None:
        self._history.messages.append({_QUESTION: text, **more})


def _asking() -> Any:
    """The signature of the predictor that asks, if one does."""
    modules = calling_modules()
    return getattr(modules[-1], "signature", None) if modules else None


def _written(signature: Any, fields: Mapping[str, Any]) -> str:
    adapter = settings.get("adapter") or dspy.ChatAdapter()
    complete = dict.fromkeys(signature.output_fields, "") | dict(fields)
    return adapter.format_assistant_message_content(signature, complete)


def _react_fields(call: ToolCall) -> dict[str, Any]:
    return {"next_tool_name": call.name, "next_tool_args": dict(call.arguments)}


def _answer_fields(signature: Any, text: str) -> dict[str, Any]:
    """A text as the last field; several fields are written as one JSON object."""
    names = list(signature.output_fields)
    if text.startswith("{"):
        try:
            held: Any = json.loads(text)
        except ValueError:
            held = None
        if isinstance(held, dict) and set(cast("dict[str, Any]", held)) & set(names):
            return cast("dict[str, Any]", held)
    return {names[-1]: text}


def _submitting(text: str) -> ToolCall:
    for module in reversed(calling_modules()):
        if isinstance(module, dspy.ReActV2):
            return ToolCall(name="submit", arguments=_answer_fields(module.signature, text))
    return ToolCall(name="submit", arguments={_ANSWER: text})


def _text(text: str) -> Any:
    return dspy.lm15.Message.assistant(text)


def _calling(calls: Sequence[ToolCall], number: int) -> Any:
    lm15 = dspy.lm15
    parts = [
        lm15.ToolCallPart(id=f"call-{number}-{at}", name=one.name, input=dict(one.arguments))
        for at, one in enumerate(calls)
    ]
    return lm15.Message.assistant(parts)


def _response(playing: Conversation, reply: Reply, message: Any) -> Any:
    lm15 = dspy.lm15
    usage = lm15.Usage(input_tokens=reply.input_tokens, output_tokens=reply.output_tokens)
    calls = any(isinstance(part, lm15.ToolCallPart) for part in message.parts)
    return lm15.Response(
        id=f"scripted-{playing.calls}",
        model=playing.script.model,
        message=message,
        finish_reason="tool_call" if calls else "stop",
        usage=usage,
    )


def _all_text(request: Any) -> str:
    parts = [_content(request.system)]
    parts += [_content(message.parts) for message in request.messages]
    return "\n".join(parts)


def _content(content: Any) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    lines: list[str] = []
    for part in content:
        if hasattr(part, "text"):
            lines.append(str(part.text))
        elif hasattr(part, "content"):
            lines.append(_content(part.content))
        elif hasattr(part, "input"):
            lines.append(f"{part.name}({json.dumps(part.input)})")
    return "\n".join(lines)


def _tool_names(request: Any) -> tuple[str, ...]:
    return tuple(str(getattr(tool, "name", "")) for tool in request.tools)
