"""What a program leaves in a record on disk: whole, verified, and equal in both drivers."""

import asyncio
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hornbook import ContractViolation, Recover, clauses
from hornbook import run as open_run
from hornbook.contracts import Contract
from hornbook.engine import Engine, Life, StepTimeout, Together, decided, invoke
from hornbook.trace import read, verify_trace

MODES = ("sync", "async")
POSITIVE = Contract("positive", output=int, ensures=[clauses.in_range(".", low=1)])


def everything(kit: SimpleNamespace) -> Any:
    """A program with a retry, a fallback, a hit, a decision and branches of each kind."""

    async def later(x: int) -> int:
        await asyncio.sleep(0)
        return x

    def slowly(x: int) -> int:
        time.sleep(0.01)
        return x

    works = {
        "a": kit.work(later),
        "b": kit.work(slowly, blocking=True),
        "c": kit.work(
            lambda x: -x,
            name="negative",
            contract=POSITIVE,
            recover=Recover(retry=1, fallback=[lambda x: x]),
        ),
        "d": kit.work(later),
    }

    def life() -> Life:
        found = yield Together(
            tuple(kit.branch(n, kit.calling(works[n], f"p[0].{n}", x=1)) for n in works)
        )
        yield from decided("p[1]", "branch", label="big")
        return (yield from invoke(works["c"], {"x": -sum(found.values())}, place="p[1].big"))

    return life


@pytest.mark.requirement("engine:record:disk", "engine:drivers:equal")
async def test_both_drivers_leave_equal_and_whole_records_on_disk(
    kit: SimpleNamespace, tmp_path: Path
):
    trees: list[Any] = []
    life_of = everything(kit)
    for mode in MODES:
        with open_run(trace=tmp_path / mode) as run:
            assert await kit.either(Engine(), life_of, mode) == 4
        assert run.path is not None
        assert verify_trace(run.path).problems == ()
        trees.append(kit.normalised(read(run.path)))
    assert trees[0] == trees[1]
    steps = {one["place"]: one for one in trees[0][0]["steps"]}
    assert {place: one["status"] for place, one in steps.items()} == {
        "p[0].a": "satisfied",
        "p[0].b": "satisfied",
        "p[0].c": "recovered",
        "p[0].d": "satisfied",
        "p[1].big": "satisfied",
    }
    assert steps["p[0].c"]["attempts"] == 3
    assert sum(mark[1] == "cache hit" for one in steps.values() for mark in one["marks"]) == 1


@pytest.mark.requirement("engine:record:disk")
@pytest.mark.parametrize("mode", MODES)
async def test_every_step_that_began_has_ended_in_the_record_of_a_failure(
    kit: SimpleNamespace, tmp_path: Path, mode: str
):
    release = threading.Event()

    def hangs(x: int) -> int:
        release.wait(30)
        return x

    works = {
        "hangs": kit.work(hangs, timeout=0.05),
        "violates": kit.work(lambda x: -x, name="violates", contract=POSITIVE),
        "next": kit.work(lambda **given: 1, name="next"),
    }
    branches = [
        kit.branch("hangs", kit.calling(works["hangs"], "p.hangs", x=1)),
        kit.branch("violates", kit.calling(works["violates"], "p.violates", x=1)),
        kit.branch("next", kit.calling(works["next"], "p.next"), "violates"),
    ]
    with open_run(trace=tmp_path) as run, pytest.raises(StepTimeout) as caught:
        await kit.either(Engine(), lambda: kit.together(*branches), mode)
    release.set()
    assert any(ContractViolation.__name__ in note for note in caught.value.__notes__)
    assert run.path is not None
    events = list(read(run.path))
    began = {one.id for one in events if one.kind == "step.start"}
    assert began == {one.id for one in events if one.kind == "step.end"}
    assert verify_trace(run.path).problems == ()
