"""A program of a dozen neural steps, and models for it whose calls take a given time."""

import asyncio
import threading
from collections.abc import Mapping
from typing import Any, Literal

from hornbook import Contract, clauses
from hornbook import program as p
from hornbook.models import Request, ScriptedBatchModel
from hornbook.program import Program, neural, primitive, ref

__all__ = ["LETTER", "Served", "desk", "models"]

LETTER = "  Ann Lee asks for 40 euro on 3 May: the parcel came late.  "

ANSWERS: Mapping[str, Any] = {
    "Language": '"en"',
    "Topic": "delivery",
    "Names": ["Ann Lee"],
    "Amounts": [40],
    "Dates": ["3 May"],
    "Mood": "upset",
    "Policy": "refund",
    "Risk": 2,
    "Draft": "Dear Ann Lee, you get 40 euro back!!",
    "Headline": "a late parcel, and all that came of it in the end",
    "Short headline": "late parcel",
}
"""By what the prompt begins with; `Polish` takes one exclamation mark away."""


def answer(request: Request) -> Any:
    """What each of the models says."""
    what, _, text = request.messages[-1].content.partition(": ")
    return text.removesuffix("!") if what == "Polish" else ANSWERS[what]


class Served(ScriptedBatchModel):
    """A model behind a server, which answers any number of requests at the same time."""

    @property
    def sent(self) -> int:
        """Requests that went out by themselves, and batches."""
        return self.calls - sum(self.batches) + len(self.batches)


class OneSlot(Served):
    """A model that answers one request or batch after the other, as one in this process does."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self._slot, self._aslot = threading.Lock(), asyncio.Lock()

    def complete(self, *args: Any, **named: Any) -> Any:
        with self._slot:
            return super().complete(*args, **named)

    async def acomplete(self, *args: Any, **named: Any) -> Any:
        async with self._aslot:
            return await super().acomplete(*args, **named)

    def complete_many(self, *args: Any, **named: Any) -> Any:
        with self._slot:
            return super().complete_many(*args, **named)

    async def acomplete_many(self, *args: Any, **named: Any) -> Any:
        async with self._aslot:
            return await super().acomplete_many(*args, **named)


@primitive
def tidy(text: str) -> str:
    return text.strip()


@primitive
def keep(text: str) -> str:
    return text


@primitive
def settled(before: str, after: str) -> bool:
    return before == after


@primitive
def assemble(reply: str, headline: str, checks: Any) -> dict[str, Any]:
    return {"reply": reply, "headline": headline, "checks": checks}


BRIEF = Contract("brief", ensures=[clauses.that("brief", lambda text: len(text.split()) < 5)])


def models(delay: float) -> tuple[Served, Served, Served]:
    """Two behind servers, and one with a single slot."""
    small = Served(answer, identity="small", delay=delay)
    large = Served(answer, identity="large", delay=delay)
    return small, large, OneSlot(answer, identity="local", delay=delay)


def desk(small: Served, large: Served, local: Served) -> Program:
    """The program: it reads a letter, checks the claim in it, and answers.

    Its sub-programs are written apart from each other: each asks for the topic by itself.
    """
    topic = asking("Topic", small, str)

    def knowing(step: Program) -> Program:
        return p.Sequence(p.Parallel(text=keep, topic=topic), step)

    reading = p.Parallel(
        text=keep,
        language=asking("Language", small, Literal["en", "de"]),
        topic=topic,
        names=asking("Names", large, list[str]),
        amounts=asking("Amounts", local, list[int]),
        dates=asking("Dates", local, list[str]),
        mood=asking("Mood", local, str),
    )
    checking = p.Parallel(
        policy=knowing(asking("Policy", large, str, "topic")),
        risk=knowing(asking("Risk", local, int, "topic")),
    )
    branches = {"letter": checking, "form": asking("Form", large, str)}
    reply = p.Sequence(
        knowing(asking("Draft", large, str, "topic")),
        p.Iterate(asking("Polish", small, str), until=settled, at_most=5),
    )
    headline = p.Fallback(
        asking("Headline", local, str, contract=BRIEF), asking("Short headline", local, str)
    )
    writing = p.Parallel(
        checks=p.Conditional(p.constant("letter"), branches),
        reply=reply,
        headline=headline,
        answer=assemble.bind(reply=ref("reply"), headline=ref("headline"), checks=ref("checks")),
    )
    return p.Sequence(tidy, reading, writing).named("desk")


def asking(what: str, model: Served, output: Any, *more: str, **named: Any) -> Program:
    """A neural step on the text, and on `more` that is known of it."""
    inputs = dict.fromkeys(("text", *more), str)
    prompt = f"{what}: {'; '.join(f'{{{name}}}' for name in inputs)}"
    return neural(what, model, prompt=prompt, input=inputs, output=output, **named)
