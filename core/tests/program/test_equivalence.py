"""What the engine makes of a program is what the program means, within its bound of calls."""

import asyncio
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hornbook
from hornbook import ContractViolation
from hornbook.contracts import ContractReport
from hornbook.engine import Engine
from hornbook.program import BranchError, Program, RoundsExhausted
from hornbook.trace import Event

from .naive import evaluate
from .worlds import World

MANY = 10_000
AT_ONCE = 250
"""Of so many programs one test is made, so that none takes long."""
A_FEW = 200
ASYNC_EVERY = 20
"""Of so many programs one is run async as well."""
FULL = Engine()
PLAIN = Engine(concurrency=False, cache=None, batching=False, pruning=False)


def outcome(of: Callable[[], Any]) -> Any:
    """What is given, or what is raised, so that it can be compared."""
    try:
        return of()
    except ContractViolation as error:
        return "violated", said(error.report), type(error.__cause__)
    except (BranchError, RoundsExhausted) as error:
        return type(error)
    except Exception as error:
        return type(error), str(error)


def said(report: ContractReport) -> Any:
    return report.step, report.contract, [str(violation) for violation in report.violations]


def check(random: Random, engine: Engine = FULL, *, asynchronous: bool = False) -> None:
    world = World(random)
    program = world.program()
    value = random.randint(0, 49)
    meant = outcome(lambda: evaluate(program, value))
    bound = program.max_calls()
    assert within(world, bound), (program.to_text(), world.calls(), bound)
    world.reset()
    with hornbook.run() as run:
        seen = outcome(lambda: program.run(value, engine=engine))
    assert seen == meant, program.to_text()
    assert within(world, bound), (program.to_text(), world.calls(), bound)
    assert run.meter.spent.calls <= bound.budget, program.to_text()
    if asynchronous:
        same_async(program, value, engine, seen, run.events)


def within(world: World, bound: Any) -> bool:
    calls = world.calls()
    return sum(calls.values()) <= bound.total and all(
        calls[model] <= bound.get(model, 0) for model in calls
    )


def same_async(
    program: Program, value: int, engine: Engine, seen: Any, events: tuple[Event, ...]
) -> None:
    async def run() -> tuple[Any, tuple[Event, ...]]:
        async with hornbook.run() as run:
            try:
                given = await program.arun(value, engine=engine)
            except Exception as error:
                raised = error

                def again() -> Any:
                    raise raised

                given = outcome(again)
        return given, run.events

    given, later = asyncio.run(run())
    assert given == seen
    assert normalised(later) == normalised(events), program.to_text()


def normalised(events: tuple[Event, ...]) -> Any:
    """The tree of a run: each step with its events, siblings in an order of their own."""
    inside: dict[str | None, list[Event]] = {}
    for event in events:
        if event.kind == "step.start":
            inside.setdefault(event.parent, []).append(event)
    own: dict[str, list[Any]] = {}
    for event in events:
        kept = {k: v for k, v in event.data.items() if k not in ("microseconds", "host")}
        if event.kind in ("run.start", "run.end"):
            continue
        own.setdefault(event.id, []).append((event.kind, event.name, event.status, repr(kept)))

    def tree(event: Event) -> Any:
        parts = sorted((tree(one) for one in inside.get(event.id, [])), key=repr)
        return sorted(own[event.id], key=repr), parts

    return sorted((tree(event) for event in inside.get(None, [])), key=repr)


@pytest.mark.requirement("program:engine:equals-naive", "program:bounds:never-exceeded")
@given(st.randoms(use_true_random=False))
@settings(max_examples=A_FEW)
def test_the_engine_gives_what_the_naive_interpreter_gives(random: Random):
    check(random)


@pytest.mark.requirement("program:engine:equals-naive", "program:bounds:never-exceeded")
@given(st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_so_it_does_with_every_optimisation_off(random: Random):
    check(random, PLAIN)


@pytest.mark.requirement("program:engine:colours")
@given(st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_sync_and_async_give_equal_values_and_records(random: Random):
    # What is equal at the same time is not recorded twice, and whose record it is is a race.
    check(random, Engine(concurrency=False), asynchronous=True)


@pytest.mark.ci
@pytest.mark.requirement(
    "program:engine:equals-naive", "program:bounds:never-exceeded", "program:engine:colours"
)
@pytest.mark.parametrize("first", range(0, MANY, AT_ONCE))
def test_ten_thousand_programs(first: int):
    for seed in range(first, first + AT_ONCE):
        asynchronous = seed % ASYNC_EVERY == 0
        engine = Engine(concurrency=False) if asynchronous else Engine()
        try:
            check(Random(seed), engine, asynchronous=asynchronous)
        except AssertionError as error:
            error.add_note(f"seed {seed}")
            raise
