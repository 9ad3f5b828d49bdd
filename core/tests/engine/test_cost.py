"""What the scheduler costs beside asyncio."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any

import pytest

from hornbook.engine import Branch, Engine, Life, Together

LEVELS = 400
ALLOWED = 50e-6
"""Seconds of CPU a level, beyond asyncio's own."""


async def nothing() -> None:
    return None


class Nothing:
    """The effect of awaiting it."""

    def run(self) -> None:
        return None

    async def arun(self) -> None:
        await nothing()


def waits(given: Any) -> Life:
    return (yield Nothing())


BRANCHES = tuple(Branch(name=name, start=waits) for name in "abc")


def levels() -> Life:
    for _ in range(LEVELS):
        yield Together(BRANCHES)


async def bare() -> None:
    for _ in range(LEVELS):
        async with asyncio.TaskGroup() as group:
            for _ in "abc":
                group.create_task(nothing())


async def engine() -> None:
    await Engine().arun(levels, name="p", value=None)


def level_cost(what: Callable[[], Awaitable[None]]) -> float:
    """The least CPU seconds a level, of several tries: others use the machine as well."""

    async def timed() -> float:
        began = time.process_time()
        await what()
        return time.process_time() - began

    return min(asyncio.run(timed()) for _ in range(7)) / LEVELS


@pytest.mark.ci
@pytest.mark.requirement("engine:cost:level")
def test_a_level_costs_little_more_than_asyncio(kit: SimpleNamespace):
    beyond = min(level_cost(engine) - level_cost(bare) for _ in range(3))
    assert beyond < ALLOWED, f"{beyond * 1e6:.1f} us a level beyond asyncio's own"
