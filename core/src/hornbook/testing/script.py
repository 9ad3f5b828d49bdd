"""A model's part, written down: what it answers, call by call, in no host's own form.

The scripted models of the hosts read it, so that one script drives an agent of any host.
"""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

from hornbook.errors import DefinitionError, HornbookError

__all__ = ["Asked", "Conversation", "Reply", "Script", "ScriptError", "ToolCall", "call", "plain"]

Written: TypeAlias = "str | ToolCall | Reply | Exception | Sequence[ToolCall]"
"""How a reply may be written down: a text, a call, calls at once, a `Reply`, an exception."""

_SHOWN = 300


class ScriptError(HornbookError, AssertionError):
    """A script has run out, was left before its end, or the model was shown something else."""

    code = "script"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A call that the model asks for."""

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])


def call(name: str, /, **arguments: Any) -> ToolCall:
    """A tool call for a script."""
    return ToolCall(name=name, arguments=arguments)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What the model answers to one call: a text, tool calls, or an exception to raise."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    error: Exception | None = None
    shown: tuple[str, ...] = ()
    """Phrases that must stand in what the model is asked with; compared as by `plain`."""
    once: tuple[str, ...] = ()
    """Phrases that must stand there exactly once."""
    hidden: tuple[str, ...] = ()
    """Phrases that must not."""
    input_tokens: int = 10
    output_tokens: int = 5

    @property
    def final(self) -> bool:
        """Whether this is an answer and no tool call."""
        return not self.calls and self.error is None

    @property
    def tokens(self) -> int:
        """What the model says that it used."""
        return self.input_tokens + self.output_tokens

    @classmethod
    def of(cls, written: Written) -> "Reply":
        """A reply from any form in which it may be written."""
        match written:
            case Reply():
                return written
            case str():
                return cls(text=written)
            case ToolCall():
                return cls(calls=(written,))
            case Exception():
                return cls(error=written)
            case _:
                return cls(calls=_calls(written))


def _calls(written: object) -> tuple[ToolCall, ...]:
    listed = cast("Sequence[object]", written) if isinstance(written, Sequence) else ()
    calls = tuple(one for one in listed if isinstance(one, ToolCall))
    if not calls or len(calls) != len(listed):
        raise DefinitionError(f"{written!r:.80} is no reply of a script")
    return calls


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """The replies of a model, in order; open it anew for each agent that plays it."""

    replies: tuple[Reply, ...]
    model: str = "scripted-1"
    """The name that the model gives itself."""

    @classmethod
    def of(cls, *replies: Written, model: str = "scripted-1") -> "Script":
        """A script of texts, calls, lists of calls, exceptions and `Reply`s."""
        return cls(replies=tuple(map(Reply.of, replies)), model=model)

    def open(self) -> "Conversation":
        """Begin at the first reply."""
        return Conversation(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the model was sent in one call."""

    text: str
    """All of it: instructions, messages, results, and whatever the host makes of them."""
    tools: tuple[str, ...] = ()
    """Names of the tools it was offered, where the host sends them apart."""


class Conversation:
    """One playing of a script; safe to share between threads.

    A host's scripted model calls `next` once for each reply that it gives. A host that asks
    its model more than once for one reply (DSPy's ReAct asks it first to finish and then for
    the answer) looks at the coming reply with `peek`, and tells of calls that use none up
    with `spend`.
    """

    @classmethod
    def of(cls, script: object) -> "Conversation":
        """The playing of a script: a `Script` is opened, a `Conversation` goes on.

        Raises:
            DefinitionError: it is neither.
        """
        match script:
            case Script():
                return script.open()
            case Conversation():
                return script
            case _:
                raise DefinitionError(
                    f"a scripted model plays a Script or a Conversation, not {script!r:.80}: "
                    f"give Script.of(...)"
                )

    def __init__(self, script: Script) -> None:
        self.script = script
        self.asked: list[Asked] = []
        """What the model was sent, for each reply so far."""
        self.problems: list[str] = []
        """Each thing that went against the script; hosts may swallow the error that tells it."""
        self._spent: list[int] = []
        self._lock = threading.Lock()

    @property
    def calls(self) -> int:
        """How often the model was called, also where that used no reply up."""
        return len(self._spent)

    @property
    def tokens(self) -> int:
        """What the model said that it used, over all calls."""
        return sum(self._spent)

    def peek(self) -> Reply | None:
        """The coming reply; None at the end."""
        number = len(self.asked)
        return self.script.replies[number] if number < len(self.script.replies) else None

    def spend(self, tokens: int) -> None:
        """Count a call that uses up no reply."""
        with self._lock:
            self._spent.append(tokens)

    def next(self, asked: Asked) -> Reply:
        """The coming reply, used up.

        Raises:
            ScriptError: there is none left, or the model was not shown what it had to be.
        """
        with self._lock:
            number = len(self.asked)
            self.asked.append(asked)
            if number >= len(self.script.replies):
                raise self._wrong(
                    f"the script has {_counted(len(self.script.replies), 'reply', 'replies')}, and "
                    f"the model was called once more, with: {_end(asked.text)}"
                )
            reply = self.script.replies[number]
            self._spent.append(reply.tokens)
            self._compare(number, reply, plain(asked.text))
        return reply

    def finish(self) -> None:
        """Say that no more calls will come.

        Raises:
            ScriptError: replies are left over, or something went wrong before.
        """
        left = len(self.script.replies) - len(self.asked)
        if left > 0 and not self.problems:
            raise self._wrong(
                f"the model was called {_counted(len(self.asked), 'time', 'times')}, and the "
                f"script has {_counted(left, 'reply', 'replies')} more"
            )
        if self.problems:
            raise ScriptError("; ".join(self.problems))

    def _compare(self, number: int, reply: Reply, text: str) -> None:
        for phrase in reply.shown:
            if plain(phrase) not in text:
                raise self._wrong(
                    f"call {number + 1}: the model was not shown {phrase!r}, but: {_end(text)}"
                )
        for phrase in reply.once:
            times = text.count(plain(phrase))
            if times != 1:
                raise self._wrong(
                    f"call {number + 1}: the model was shown {phrase!r} {times} times, not once"
                )
        for phrase in reply.hidden:
            if plain(phrase) in text:
                raise self._wrong(f"call {number + 1}: the model was shown {phrase!r}")

    def _wrong(self, problem: str) -> ScriptError:
        self.problems.append(problem)
        return ScriptError(problem)


def plain(text: str) -> str:
    """A text without what hosts add when they quote it: escapes, quotes, line breaks."""
    for escaped in ("\\n", "\\t", "\\r"):
        text = text.replace(escaped, " ")
    return " ".join(text.replace("\\", "").replace('"', "").replace("'", "").split())


def _counted(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _end(text: str) -> str:
    flat = " ".join(text.split())
    return repr(flat if len(flat) <= _SHOWN else f"...{flat[-_SHOWN:]}")
