"""What a run of the SDK has heard, offered and halted, where its tools cannot see it.

A tool sees the conversation only as it was before the run. The model is sent all of it at
each call, so what the model wrap sees is kept here for the tools. Which run is under way
tells a context variable where Hornbook runs the agent, and else the SDK's trace: there is
one in each run, also while tracing is off. Runs in one `with trace(...)` of the user's own
share what they heard.
"""

import threading
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, cast
from weakref import WeakKeyDictionary

from agents import get_current_trace
from agents.tracing import Trace
from pydantic import BaseModel

from hornbook.contracts.report import ContractReport
from hornbook.hosting import Heard
from hornbook.kernel.context import GuardContext
from hornbook_openai_agents.items import (
    Item,
    answers_at_end,
    function_calls,
    is_user,
    made_of,
    read_arguments,
    text_of,
)

__all__ = ["Conversation", "Offer", "here", "within"]

_REMEMBERED = 512
"""Calls of one conversation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """The call of a tool, as the model made it."""

    tools: tuple[str, ...] = ()
    """What the model had to choose from."""
    name: str = ""
    arguments: str = ""
    agent: str | None = None


@dataclass(slots=True, eq=False)
class Conversation:
    """One run's part in a conversation, and what its history tells."""

    around: "Conversation | None" = None
    """That of the run whose tool this run is: what is asked here, a model wrote."""
    _heard: Heard = field(default_factory=Heard)
    _begun: bool = False
    _partial: bool = False
    _offers: dict[str, Offer] = field(default_factory=dict[str, Offer])
    _halts: dict[str, ContractReport] = field(default_factory=dict[str, ContractReport])
    _refused: set[str] = field(default_factory=set[str])
    _known: set[str] = field(default_factory=set[str])

    def listen(self, items: Sequence[Item], *, partial: bool = False) -> None:
        """Take in what is new in a model's input.

        `partial` says that the provider keeps the history: then what came before a run is
        not to be seen, unless this run began it.
        """
        if not self._begun:
            self._begun, self._partial = True, partial
        for item in items:
            if is_user(item):
                if self.around is None:
                    self._heard.said(text_of(item))
            elif item.get("type") == "function_call":
                self._recall(item)
            else:
                self._take(item)

    def offered(self, output: Sequence[Any], tools: Sequence[str], agent: str | None) -> None:
        """Remember the calls in a model's output: who made them, with which tools at hand."""
        for call in function_calls(output):
            # Scripts and tests use ids again; what was told of an earlier call is over.
            self._halts.pop(call.call_id, None)
            self._refused.discard(call.call_id)
            self._known.discard(call.call_id)
            self._remember(
                call.call_id,
                Offer(tools=tuple(tools), name=call.name, arguments=call.arguments, agent=agent),
            )

    def offer(self, call_id: str) -> Offer | None:
        """The call with this id, if the model wrap saw it made."""
        return self._offers.get(call_id)

    def refused(self, call_id: str) -> None:
        """Remember that a call was answered with an error, which is no source."""
        self._refused.add(call_id)

    def halted(self, call_id: str, report: ContractReport) -> None:
        """Remember that a call ended the turn."""
        self._refused.add(call_id)
        self._halts[call_id] = report

    def halts(self, items: Sequence[Item]) -> list[ContractReport]:
        """The halts among the answers at the end of a model's input, in their order."""
        found = [self._halts[one] for one in answers_at_end(items) if one in self._halts]
        return found[::-1]

    def context(self, state: object = None) -> GuardContext | None:
        """Where arguments may come from; None where that cannot be known."""
        if not self._begun or self._partial:
            return None
        own = self._heard.context(_plain(state))
        if self.around is None:
            return own
        outer = self.around.context()
        return outer and GuardContext(
            turns=outer.turns, results=(*outer.results, *own.results), state=own.state
        )

    def _recall(self, item: Item) -> None:
        """A call in the history, which an earlier run of the conversation may have made."""
        call_id = str(item.get("call_id"))
        if call_id not in self._offers:
            name, arguments = str(item.get("name")), str(item.get("arguments"))
            self._remember(call_id, Offer(name=name, arguments=arguments))

    def _remember(self, call_id: str, offer: Offer) -> None:
        self._offers.pop(call_id, None)
        self._offers[call_id] = offer
        while len(self._offers) > _REMEMBERED:
            self._offers.pop(next(iter(self._offers)))

    def _take(self, item: Item) -> None:
        made = made_of(item)
        call_id = str(item.get("call_id") or item.get("id") or "")
        if made is None or call_id in self._refused or call_id in self._known:
            return
        self._known.add(call_id)
        offer = self._offers.get(call_id)
        name = (offer and offer.name) or str(item.get("name") or item.get("type"))
        arguments = read_arguments(item.get("arguments") if offer is None else offer.arguments)
        self._heard.returned(name, arguments or {}, made)


_here: ContextVar[Conversation | None] = ContextVar("hornbook_openai_agents_here", default=None)
_by_trace: "WeakKeyDictionary[Trace, Conversation]" = WeakKeyDictionary()
_lock = threading.Lock()


def here() -> Conversation:
    """The conversation of the run that is under way."""
    known = _here.get()
    if known is not None:
        return known
    trace = get_current_trace()
    if trace is None:
        return Conversation()
    with _lock:
        return _by_trace.setdefault(trace, Conversation())


@contextmanager
def within(conversation: Conversation) -> Generator[Conversation]:
    """Let what runs inside belong to a conversation."""
    token = _here.set(conversation)
    try:
        yield conversation
    finally:
        _here.reset(token)


def _plain(state: object) -> dict[str, Any]:
    """The values in a run's context that can be looked at: it may hold anything at all."""
    if isinstance(state, Mapping):
        held = dict(cast("Mapping[Any, Any]", state))
    elif isinstance(state, BaseModel):
        held = dict(state)
    elif is_dataclass(state) and not isinstance(state, type):
        held = {one.name: getattr(state, one.name, None) for one in fields(state)}
    else:
        return {}
    return {
        name: value
        for name, value in held.items()
        if isinstance(name, str) and isinstance(value, str | int | float | dict | list | tuple)
    }
