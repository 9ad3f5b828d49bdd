"""One call of a guarded or contracted module: what it was asked, and what it has seen."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from pydantic import BaseModel

from hornbook.hosting import Heard
from hornbook.kernel.context import GuardContext
from hornbook_dspy.compat import dspy
from hornbook_dspy.halting import Halt
from hornbook_dspy.trials import Trials

if TYPE_CHECKING:
    from hornbook_dspy.agent import Agent

__all__ = ["Blocked", "Scope", "plain"]

_REFUSAL = re.compile("The call of .{1,90} was not made")
"""How each refusal begins: all that a history from a file tells of a blocked call."""

_HISTORY = "history"
_REMEMBERED = 64
_DEEPEST = 32


class Blocked(str):
    """An observation that says why a call was not made. It is no source: it repeats the call."""

    __slots__ = ()


class Scope:
    """What the tools and models inside one call of a module share.

    Args:
        outer: the call of a guarded or contracted module around this one.
        names: the input fields of the module, where they are known.
        module: the module that is called.
        agent: what was attached to it, where it is an agent under guard.
        in_tool: a tool of the agent around makes the call, so that the model wrote the inputs:
            they are no words of the user.
        recovers: errors that the call's own recovery is declared for.
    """

    __slots__ = (
        "_asked",
        "_gave",
        "_halted",
        "_heard",
        "_in_tool",
        "_names",
        "_recovers",
        "_results",
        "_state",
        "agent",
        "module",
        "outer",
        "trials",
    )

    def __init__(
        self,
        outer: "Scope | None",
        names: Sequence[str] | None,
        *,
        module: Any = None,
        agent: "Agent | None" = None,
        in_tool: bool = False,
        recovers: tuple[type[BaseException], ...] = (),
    ) -> None:
        self.outer = outer
        self.module = module
        self.agent = agent
        self.trials = Trials()
        """What DSPy's optimizers may learn from."""
        self._names = names
        self._in_tool = in_tool
        self._recovers = recovers
        self._asked: dict[str, str] = {}
        self._heard = Heard()
        self._state: dict[str, Any] = {}
        self._results: list[str] = []
        self._gave: Any = None
        self._halted: Exception | None = None

    @property
    def request(self) -> str:
        """What the module was asked, as text; a field alone needs no name."""
        asked = self._asked
        if len(asked) == 1:
            return next(iter(asked.values()))
        return "\n".join(f"{name}: {text}" for name, text in asked.items())

    @property
    def tools(self) -> Sequence[str]:
        """The names of the agent's tools."""
        return () if self.agent is None else self.agent.tools

    @property
    def results(self) -> Sequence[str]:
        """What the tools returned in this call, as text."""
        return tuple(self._results)

    def hear(self, inputs: Mapping[str, Any]) -> None:
        """Take in the inputs: their texts are what the user said, and all else is state.

        Pictures, sounds and tools are no sources: nobody finds a value in them.
        """
        if self._in_tool:
            self._asked = {name: one for name, one in inputs.items() if isinstance(one, str)}
            return
        for name, value in inputs.items():
            if isinstance(value, dspy.History) or name == _HISTORY:
                # Before anything is said: it is said now, and that was said then.
                self._recall(_messages(value))
            elif isinstance(value, str):
                self._asked[name] = value
            elif value is not None and not isinstance(value, dspy.Type):
                self._state[name] = plain(value)
        self._heard.said(*filter(None, self._asked.values()))

    def returned(self, tool: str, arguments: Mapping[str, Any], value: Any) -> None:
        """Take in what a tool returned."""
        known = plain(value)
        self._heard.returned(tool, arguments, known)
        self._results.append(known if isinstance(known, str) else _as_text(known))
        del self._results[:-_REMEMBERED]

    def context(self) -> GuardContext:
        """Where the arguments of a call may come from: this call's sources and those around."""
        own = self._heard.context(self._state)
        if self.outer is None:
            return own
        around = self.outer.context()
        return GuardContext(
            # A module that holds another passes on what it was asked: that was said once.
            turns=tuple(dict.fromkeys((*around.turns, *own.turns))),
            results=(*around.results, *own.results),
            state={**around.state, **own.state},
        )

    def gave(self, raw: Any) -> Any:
        """Remember what the module itself gave."""
        self._gave = raw
        return raw

    def has_given(self, raw: Any) -> bool:
        """Whether this is what the module itself gave, and not what was put in its place."""
        return raw is self._gave

    def halt(self, error: Exception) -> Halt:
        """Let nothing more run, up to the call that recovers or the outermost; gives what to raise.

        Calls beside that one go on: they have no part in what is recovered.
        """
        scope = self
        while scope.outer is not None and not isinstance(error, scope._recovers):
            scope = scope.outer
        if scope._halted is None:
            scope._halted = error
        return Halt(scope._halted)

    def go_on(self, error: Exception) -> None:
        """Take a halt back: a recovery in between is declared for this error."""
        scope: Scope | None = self
        while scope is not None:
            if scope._halted is error:
                scope._halted = None
            scope = scope.outer

    def refuse_halted(self) -> None:
        """Stop here when a call around was halted: by another thread, as a rule.

        Raises:
            Halt: it was.
        """
        scope: Scope | None = self
        while scope is not None:
            if scope._halted is not None:
                raise Halt(scope._halted)
            scope = scope.outer

    def _recall(self, messages: Sequence[Mapping[str, Any]]) -> None:
        """Earlier turns: of each, what was asked and what tools returned, not what was answered."""
        for message in messages:
            for name, value in message.items():
                if isinstance(value, str) and (self._names is None or name in self._names):
                    self._heard.said(value)
                for result in _results_in(value):
                    self._heard.returned(result.name, {}, plain(result.value))


def plain(value: Any, depth: int = _DEEPEST) -> Any:
    """A value in which a guard can look for others: JSON, as far as it can be told."""
    if depth == 0:
        return str(value)
    if isinstance(value, BaseModel):
        return _dumped(value)
    if isinstance(value, dspy.Example):
        value = dict(value.items())
    if isinstance(value, list | tuple):
        return [plain(one, depth - 1) for one in cast("Sequence[Any]", value)]
    if isinstance(value, dict):
        held = cast("dict[Any, Any]", value)
        return {name: plain(one, depth - 1) for name, one in held.items()}
    return value


def _dumped(value: BaseModel) -> Any:
    try:
        return value.model_dump(mode="json", fallback=str)
    except Exception:  # noqa: BLE001 - a model's own serializers may raise anything
        return str(value)


def _messages(history: Any) -> Sequence[Mapping[str, Any]]:
    if isinstance(history, Mapping):
        return cast("Mapping[str, Any]", history).get("messages") or ()
    return getattr(history, "messages", ())


def _results_in(value: Any) -> Sequence[Any]:
    """The results of the tool calls that a message of a history holds, errors left out."""
    if isinstance(value, dspy.ToolCalls):
        held = value.tool_call_results
    elif isinstance(value, Mapping):
        held = cast("Mapping[str, Any]", value).get("tool_call_results")
    else:
        return ()
    if held is None:
        return ()
    return [
        one
        for one in dspy.ToolCallResults.model_validate(held).tool_call_results
        if not one.is_error and not _is_refusal(one.value)
    ]


def _is_refusal(value: Any) -> bool:
    return isinstance(value, Blocked) or (
        isinstance(value, str) and _REFUSAL.match(value) is not None
    )


def _as_text(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (TypeError, ValueError):
        return str(value)
