"""How Hornbook's model step reads what DSPy asks a language model, and what it answers."""

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, cast

from hornbook.contracts.report import ContractViolation
from hornbook.hosting import ModelHost, ModelSteps, Usage
from hornbook.step.attempts import feedback
from hornbook_dspy.asked import Asked, Final
from hornbook_dspy.carried import Again
from hornbook_dspy.compat import calling_modules, dspy, settings
from hornbook_dspy.identity import step_identity

__all__ = ["NOTHING", "PLAIN", "Answer", "DspyModel", "Watch", "usage_of"]


class _Nothing(Enum):
    NOTHING = 0


NOTHING = _Nothing.NOTHING
"""What a `Final` gives where there is no final answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a language model gave, and what it used."""

    given: Any
    """A list of outputs, texts or dicts; a `dspy.lm15.Response` for a typed request."""
    usage: Usage = field(default_factory=Usage)
    counted: bool = False
    """Whether the model counted anything; an answer from the cache did not."""
    final: Final | None = None

    @property
    def outputs(self) -> Sequence[Any]:
        """The outputs, in the form that adapters read."""
        given: Any = self.given
        return cast("list[Any]", given) if isinstance(given, list) else (given,)


class DspyModel(ModelHost[Asked, Answer]):
    """DSPy's calls of a language model."""

    name = "dspy"

    def inputs(self, request: Asked) -> Mapping[str, Any]:
        """What a contract on final answers, hooks and the record see of a call."""
        return {
            "request": request.request or request.last_request,
            "results": request.results,
            "messages": request.since,
            "system": request.system,
            "tools": list(request.tools),
        }

    def tools(self, request: Asked) -> Sequence[str]:
        """The names of the tools that the model is offered."""
        return request.tools

    def with_rules(self, request: Asked, text: str) -> Asked:
        """The request with the rules after its instructions."""
        return request.with_system(text)

    def with_feedback(self, request: Asked, told: str, rejected: Answer | None) -> Asked:
        """The request told what was wrong, which also lets it pass the cache."""
        newest = feedback()
        return request.again(Again(attempt=newest.attempt if newest else 1, told=told))

    def changed(self, request: Asked, inputs: Mapping[str, Any]) -> Asked:
        """The request with other instructions, or another last message of the user."""
        return request.changed(inputs)

    def is_response(self, value: object) -> bool:
        """Whether a value is an answer of a model; plugins and fallbacks give plain ones."""
        return isinstance(value, Answer)

    def is_final(self, response: Answer) -> bool:
        """Whether the model answers the user, and does not call tools."""
        final = response.final
        return final is not None and final.value(response.outputs) is not NOTHING

    def value(self, response: Answer) -> Any:
        """The final answer; where there is none, what the model said."""
        if response.final is not None:
            found = response.final.value(response.outputs)
            if found is not NOTHING:
                return found
        texts = [_text_of(output) for output in response.outputs]
        return texts[0] if len(texts) == 1 else texts

    def usage(self, response: Answer) -> Usage:
        """Which model answered, and the tokens it counted; none where the cache answered."""
        return response.usage

    def recorded(self, response: Answer) -> Any:
        """What the record holds of an answer."""
        texts = [_text_of(output) for output in response.outputs]
        told: dict[str, Any] = {"content": texts[0] if len(texts) == 1 else texts}
        calls = [call for output in response.outputs for call in _calls_of(output)]
        if calls:
            told["tool_calls"] = calls
        usage = response.usage
        if usage.model is not None:
            told["model"] = usage.model
        if response.counted:
            told["usage"] = {"input": usage.input_tokens, "output": usage.output_tokens}
        return told

    def answer(self, value: Any, request: Asked) -> Answer:
        """An answer from what a hook or a fallback gave in the model's place."""
        if isinstance(value, Answer):
            return value
        if request.typed is not None:
            return Answer(given=_as_response(value, request))
        if isinstance(value, list):
            return Answer(given=value, final=request.final)
        written = [value] if request.final is None else list(request.final.written(value))
        return Answer(given=written, final=request.final)

    def halt(self, violation: ContractViolation, request: Asked) -> Answer:
        """End the agent's turn, past every `except Exception`."""
        scope = request.scope
        if scope is None:
            raise violation
        raise scope.halt(violation)

    def meta(self, request: Asked) -> Mapping[str, Any]:
        """DSPy's own ids for the call."""
        return step_identity(rollout_id=request.kwargs.get("rollout_id"))


PLAIN = ModelSteps(DspyModel())
"""What stands around model calls to which no rules and no contract were attached."""


class Watch:
    """What one call of a language model used, told by DSPy without a glance at shared state."""

    __slots__ = ("_tracker", "history")

    def __init__(self) -> None:
        self.history: list[Mapping[str, Any]] = []
        """DSPy records a call in the history of each calling module: here this watch is one."""
        self._tracker: Any = dspy.utils.usage_tracker.UsageTracker()

    @contextmanager
    def around(self) -> Generator[None]:
        """Watch the one call that is made inside."""
        around = settings.get("usage_tracker")
        modules = [self, *calling_modules()]
        try:
            with settings.context(usage_tracker=self._tracker, caller_modules=modules):
                yield
        finally:
            if around is not None:
                for model, entries in self._tracker.usage_data.items():
                    for entry in entries:
                        around.add_usage(model, entry)

    def answer(self, given: Any, asked: Asked) -> Answer:
        """The answer, with what the call used."""
        counted = list(self._tracker.get_total_tokens().values())
        model = self.history[-1].get("response_model") if self.history else None
        usage = usage_of(counted[0] if counted else {}, model)
        return Answer(given=given, usage=usage, counted=bool(counted), final=asked.final)


def usage_of(counted: Mapping[str, Any], model: Any = None) -> Usage:
    """Tokens as DSPy counts them; where only their sum is told, it stands as input."""
    given, made = counted.get("prompt_tokens"), counted.get("completion_tokens")
    if given is None and made is None:
        given = counted.get("total_tokens")
    return Usage(
        model=None if model is None else str(model),
        input_tokens=int(given or 0),
        output_tokens=int(made or 0),
    )


def _text_of(output: Any) -> Any:
    if isinstance(output, dict):
        return cast("dict[str, Any]", output).get("text") or ""
    return (output.text or "") if isinstance(output, dspy.lm15.Response) else output


def _calls_of(output: Any) -> Sequence[Mapping[str, Any]]:
    """The calls in an output; those that a text holds are for an adapter to read."""
    if isinstance(output, dspy.lm15.Response):
        return [{"id": one.id, "name": one.name, "args": one.input} for one in output.tool_calls]
    if not isinstance(output, dict):
        return ()
    calls: Sequence[Any] = cast("dict[str, Any]", output).get("tool_calls") or ()
    return [
        {"id": call.get("id"), "name": told.get("name"), "args": told.get("arguments")}
        for call in calls
        for told in [cast("dict[str, Any]", call.get("function") or {})]
    ]


def _as_response(value: Any, request: Asked) -> Any:
    lm15: Any = dspy.lm15
    if isinstance(value, lm15.Response):
        return value
    return lm15.Response(
        id="hornbook",
        model=request.typed.model,
        message=lm15.Message.assistant(str(value)),
        finish_reason="stop",
        usage=lm15.Usage(),
    )
