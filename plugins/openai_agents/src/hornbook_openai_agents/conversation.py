"""What a run of the SDK has heard, offered and halted, where its tools cannot see it.

A tool sees the conversation only as it was before the run. The model is sent all of it at
each call, so what the model wrap sees is kept here for the tools. Which run is under way
tells a context variable where Hornbook runs the agent, and else the SDK's trace: there is
one in each run, also while tracing is off. Runs in one `with trace(...)` of the user's own
share what they heard.
"""

import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from agents import get_current_trace
from agents.tracing import Trace

from hornbook.contracts.report import ContractReport
from hornbook.hosting import Heard
from hornbook.kernel.context import GuardContext
from hornbook_openai_agents.halts import halted_by
from hornbook_openai_agents.items import (
    Item,
    answers_at_end,
    function_calls,
    is_user,
    made_of,
    read_arguments,
    text_of,
)
from hornbook_openai_agents.state import plain_state

__all__ = ["Conversation", "Offer", "another", "here", "within"]

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
    reply: int = 0
    """Which of the model's replies it stood in; 0 for one of an earlier run."""


@dataclass(slots=True, eq=False)
class Conversation:
    """One run's part in a conversation, and what its history tells."""

    around: "Conversation | None" = None
    """That of the run in whose tool this one is: what is asked here, a model wrote."""
    shared: bool = False
    """Whether other runs may be part of it, which is then told by the user's new words."""
    _heard: Heard = field(default_factory=Heard)
    _begun: bool = False
    _partial: bool = False
    _replies: int = 0
    _open: dict[str, None] = field(default_factory=dict[str, None])
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
            self._recover(items)
        for item in items:
            if is_user(item):
                if self.around is None and self._heard.said(text_of(item)) and self.shared:
                    self._open.clear()
            elif item.get("type") == "function_call":
                self._recall(item)
            else:
                self._take(item)

    def offered(self, output: Sequence[Any], tools: Sequence[str], agent: str | None) -> None:
        """Remember the calls in a model's output: who made them, with which tools at hand."""
        self._replies += 1
        for call in function_calls(output):
            # Scripts and tests use ids again; what was told of an earlier call is over.
            self._halts.pop(call.call_id, None)
            self._open.pop(call.call_id, None)
            self._refused.discard(call.call_id)
            self._known.discard(call.call_id)
            self._remember(
                call.call_id,
                Offer(
                    tools=tuple(tools),
                    name=call.name,
                    arguments=call.arguments,
                    agent=agent,
                    reply=self._replies,
                ),
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
        self._open[call_id] = None

    def halts(self, items: Sequence[Item]) -> list[ContractReport]:
        """What has halted this turn, whether or not a filter has left it in the model's input.

        Where the input ends with answers, they are those to the reply that made the call
        which halted; else they are answers of another run.
        """
        ended = [*answers_at_end(items)][::-1]
        found = [self._halts[one] for one in ended if one in self._halts]
        if found or not self._open:
            return found
        replies = {self._reply(one) for one in self._open}
        if ended and replies.isdisjoint(map(self._reply, ended)):
            return []
        return [self._halts[one] for one in self._open]

    def told(self) -> None:
        """Take it that the user is told why the turn was halted: with that it is over."""
        self._open.clear()

    @property
    def known(self) -> bool:
        """Whether all of it was heard, so that it can be told where a value comes from."""
        own = self._begun and not self._partial
        return own and (self.around is None or self.around.known)

    def context(self, state: object = None) -> GuardContext | None:
        """Where arguments may come from; None where that cannot be known."""
        if not self._begun or self._partial:
            return None
        own = self._heard.context(plain_state(state))
        if self.around is None:
            return own
        outer = self.around.context()
        return outer and GuardContext(
            turns=outer.turns, results=(*outer.results, *own.results), state=own.state
        )

    def _recover(self, items: Sequence[Item]) -> None:
        """Find the halts of a turn that was interrupted, and goes on here."""
        ended = dict.fromkeys(answers_at_end(items))
        called = {
            str(item.get("call_id")): str(item.get("name"))
            for item in items
            if item.get("type") == "function_call"
        }
        for item in items:
            call_id = str(item.get("call_id") or "")
            if made_of(item) is None or call_id not in ended:
                continue
            report = halted_by(text_of(item), called.get(call_id, ""))
            if report is not None:
                self.halted(call_id, report)

    def _reply(self, call_id: str) -> int:
        offer = self._offers.get(call_id)
        return 0 if offer is None else offer.reply

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
        return _by_trace.setdefault(trace, Conversation(shared=True))


def another() -> Conversation:
    """That of a run which begins here: inside of a tool it is part of the tool's run."""
    known = _here.get()
    around = None if known is None else known.around
    return Conversation(around=around if around is not None and around.known else None)


@contextmanager
def within(conversation: Conversation) -> Generator[Conversation]:
    """Let what runs inside belong to a conversation."""
    token = _here.set(conversation)
    try:
        yield conversation
    finally:
        _here.reset(token)
