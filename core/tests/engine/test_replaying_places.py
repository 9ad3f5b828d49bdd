"""A replay gives each place of a program its own answers, in whatever order it asks."""

import asyncio
import random
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from hornbook.engine import Engine
from hornbook.models import Completion, Request
from hornbook.program import Fallback, Iterate, Parallel, Sequence, neural, primitive
from hornbook.trace import run as open_run


class Moody:
    """A model that answers the same request in other words each time, after a while."""

    identity = "moody"
    max_attempts: int | None = 1

    def __init__(self, answer: Callable[[int], str], seed: int = 0) -> None:
        self.asked = 0
        self._answer = answer
        self._lock = threading.Lock()
        self._random = random.Random(seed)

    def _next(self) -> Completion:
        with self._lock:
            self.asked += 1
            number = self.asked
        return Completion(text=self._answer(number), model=self.identity)

    def complete(self, request: Request, /, *, timeout: float | None = None) -> Completion:
        time.sleep(self._random.random() * 0.005)
        return self._next()

    async def acomplete(self, request: Request, /, *, timeout: float | None = None) -> Completion:
        await asyncio.sleep(self._random.random() * 0.005)
        return self._next()


@primitive
def number(x: str) -> int:
    return int(x) + 1


@primitive
def zero(n: int) -> int:
    return 0


def asks(model: Any, name: str) -> Any:
    return neural(name, model, prompt="x {n}", input={"n": int}, output=str)


def branches(model: Any) -> Any:
    """The same questions in each branch; what is asked later depends on the answers."""

    def branch() -> Any:
        again = Iterate(Sequence(asks(model, "next"), number), at_most=2)
        return Sequence(asks(model, "first"), number, again)

    return Parallel(**{f"b{at}": branch() for at in range(4)})


async def played(program: Any, engine: Engine, mode: str) -> Any:
    return (
        await program.arun(1, engine=engine) if mode == "async" else program.run(1, engine=engine)
    )


@pytest.mark.requirement("engine:replay:places")
@pytest.mark.parametrize("concurrency", [True, False])
@pytest.mark.parametrize("mode", ["sync", "async"])
@pytest.mark.parametrize("recorded_in", ["sync", "async"])
async def test_identical_requests_are_answered_as_they_were_at_their_place(
    mode: str, recorded_in: str, concurrency: bool
):
    for seed in range(5):
        with open_run() as run:
            program = branches(Moody(lambda asked: str(asked % 2), seed))
            first = await played(program, Engine(cache=None), recorded_in)
        model = Moody(lambda asked: "no number")
        engine = Engine(cache=None, concurrency=concurrency, replay=run.events)
        assert await played(branches(model), engine, mode) == first
        assert model.asked == 0


@pytest.mark.requirement("engine:replay:places")
@pytest.mark.parametrize("concurrency", [True, False])
@pytest.mark.parametrize("mode", ["sync", "async"])
async def test_what_a_fallback_caught_is_caught_again(mode: str, concurrency: bool):
    def answer(asked: int) -> str:
        if asked % 3 == 0:
            raise OSError("down")
        return str(asked)

    def program(model: Any) -> Any:
        one = Fallback(Sequence(asks(model, "q"), number), zero)
        return Parallel(**{f"b{at}": one for at in range(6)})

    with open_run() as run:
        first = await played(program(Moody(answer)), Engine(cache=None), mode)
    assert sorted(first.values()) == [0, 0, 2, 3, 5, 6]
    engine = Engine(cache=None, concurrency=concurrency, replay=run.events)
    assert await played(program(Moody(answer)), engine, mode) == first
