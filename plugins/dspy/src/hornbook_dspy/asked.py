"""One call of a language model, in whichever of DSPy's forms: read, and with a text added."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, cast

from hornbook.errors import DefinitionError
from hornbook_dspy.carried import Again
from hornbook_dspy.compat import Messages, dspy
from hornbook_dspy.scope import Scope

__all__ = ["Asked", "Final"]

_WARM = 1.0
"""DSPy's own temperature for a further rollout."""

_ROLLOUTS = 1000
"""So many attempts are told apart within one rollout of an optimizer."""


class Final(Protocol):
    """How one agent's final answers stand in what its model says."""

    def value(self, outputs: Sequence[Any]) -> Any:
        """The answer for the user; `NOTHING` where the model calls tools or is not understood."""
        ...

    def written(self, value: Any) -> Sequence[Any]:
        """What the model would have said to answer this."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a language model is asked: a prompt, messages, or a typed request."""

    prompt: Any = None
    messages: Messages | None = None
    kwargs: Mapping[str, Any] = field(default_factory=dict[str, Any])
    defaults: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The keywords that the model is given where the call leaves them out."""
    scope: Scope | None = None
    final: Final | None = None
    request: str = ""
    """What the user asked: of the agent, where there is one, else of the model."""
    results: Sequence[str] = ()
    """What the agent's tools have returned so far."""

    @property
    def typed(self) -> Any:
        """The `dspy.lm15.Request`, where it is one."""
        return self.prompt if isinstance(self.prompt, dspy.lm15.Request) else None

    @property
    def system(self) -> str:
        """The instructions."""
        if self.typed is not None:
            return _text(self.typed.system)
        return "\n\n".join(
            _text(message.get("content"))
            for message in self.messages or ()
            if message.get("role") in _SYSTEM
        )

    @property
    def since(self) -> Sequence[Mapping[str, Any]]:
        """The messages since the model last spoke: all else was recorded before."""
        spoken = list(self._spoken())
        for at in range(len(spoken) - 1, -1, -1):
            if spoken[at]["role"] == "assistant":
                return spoken[at + 1 :]
        return spoken

    @property
    def last_request(self) -> str:
        """The last message of the user."""
        said = [message for message in self._spoken() if message["role"] == "user"]
        return said[-1]["content"] if said else ""

    @property
    def tools(self) -> Sequence[str]:
        """The names of the tools that are offered."""
        offered = self.kwargs.get("tools") if self.typed is None else self.typed.tools
        if offered:
            return [_tool_name(tool) for tool in offered]
        return () if self.scope is None else self.scope.tools

    def with_system(self, text: str) -> "Asked":
        """With a text after the instructions, so that cache, history and fallbacks have it too."""
        if self.typed is not None:
            system = _joined(self.typed.system, text)
            return replace(self, prompt=replace(self.typed, system=system))
        if self.messages is None:
            asked: Messages = [{"role": "user", "content": self.prompt}]
            return replace(self, prompt=None, messages=[_system(text), *asked])
        first = self.messages[0] if self.messages else {}
        if first.get("role") not in _SYSTEM:
            return replace(self, messages=[_system(text), *self.messages])
        told = {**first, "content": _joined(first.get("content"), text)}
        return replace(self, messages=[told, *self.messages[1:]])

    def again(self, again: Again) -> "Asked":
        """As a further attempt: told what was wrong, and past the cache of the one before."""
        told = self.with_system(again.told)
        rollout = _rollout(self._option("rollout_id"), again.attempt)
        changed = {**told.kwargs, "rollout_id": rollout}
        if told.typed is not None:
            config = told.typed.config
            warm = replace(config, temperature=config.temperature or _WARM)
            return replace(told, prompt=replace(told.typed, config=warm), kwargs=changed)
        return replace(
            told, kwargs={**changed, "temperature": self._option("temperature") or _WARM}
        )

    def changed(self, inputs: Mapping[str, Any]) -> "Asked":
        """With other instructions, or another request.

        Raises:
            DefinitionError: something else is to be changed.
        """
        asked = self
        for name, value in inputs.items():
            match name:
                case "system" if asked.typed is not None:
                    asked = replace(asked, prompt=replace(asked.typed, system=str(value)))
                case "system":
                    rest = [one for one in asked.messages or () if one.get("role") not in _SYSTEM]
                    asked = replace(asked, messages=rest or None).with_system(str(value))
                case "request" if asked.typed is None:
                    asked = asked._requesting(str(value))
                case _:
                    raise DefinitionError(
                        f"{name!r} of a model call cannot be changed; 'system' and 'request' can"
                    )
        return asked

    def _option(self, name: str) -> Any:
        return self.kwargs.get(name, self.defaults.get(name))

    def _requesting(self, text: str) -> "Asked":
        if self.messages is None:
            return replace(self, prompt=text)
        changed = list(self.messages)
        for at in range(len(changed) - 1, -1, -1):
            if changed[at].get("role") == "user":
                changed[at] = {**changed[at], "content": text}
                return replace(self, messages=changed)
        return replace(self, messages=[*changed, {"role": "user", "content": text}])

    def _spoken(self) -> Sequence[dict[str, str]]:
        """What was said, instructions left out, in one form."""
        if self.typed is not None:
            return [{"role": one.role, "content": _text(one.parts)} for one in self.typed.messages]
        if self.messages is None:
            return [{"role": "user", "content": _text(self.prompt)}]
        return [
            {"role": str(one.get("role")), "content": _text(one.get("content"))}
            for one in self.messages
            if one.get("role") not in _SYSTEM
        ]


def _rollout(around: Any, attempt: int) -> Any:
    """Another rollout than the one around, and than those of its other attempts."""
    if around is None or isinstance(around, int):
        return (around or 0) * _ROLLOUTS + attempt
    return f"{around}.{attempt}"


_SYSTEM = ("system", "developer")


def _system(text: str) -> dict[str, Any]:
    return {"role": "system", "content": text}


def _joined(content: Any, text: str) -> Any:
    """A content with a text after it, in the form that the content has."""
    if not content:
        return text
    if isinstance(content, str):
        return f"{content}\n\n{text}"
    if isinstance(content, tuple):
        return (*cast("tuple[Any, ...]", content), dspy.lm15.TextPart(text=text))
    return [*cast("list[Any]", content), {"type": "text", "text": text}]


def _text(content: Any) -> str:
    """The text of a content; what is no text in it is named by its kind."""
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, Sequence):
        return str(content)
    return "\n".join(_part_text(part) for part in cast("Sequence[Any]", content))


def _part_text(part: Any) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, Mapping):
        held = cast("Mapping[str, Any]", part)
        return str(held["text"]) if "text" in held else f"[{held.get('type', 'part')}]"
    if hasattr(part, "text"):
        return str(part.text)
    return _text(part.content) if hasattr(part, "content") else f"[{getattr(part, 'type', 'part')}]"


def _tool_name(tool: Any) -> str:
    if isinstance(tool, Mapping):
        given = cast("Mapping[str, Any]", tool)
        named: Any = given.get("function") or given
        return str(named.get("name") or given.get("type") or "")
    return str(getattr(tool, "name", ""))
