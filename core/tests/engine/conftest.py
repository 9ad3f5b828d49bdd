"""What the engine's tests share: primitives by hand, a naive interpreter, normalised records."""

from collections.abc import Callable, Iterable, Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from hornbook import run as open_run
from hornbook.engine import Branch, Engine, Life, Together, Work, invoke
from hornbook.engine.effects import Ask, Do, WaitFor
from hornbook.engine.work import ASK_HERE
from hornbook.step.operation import Operation
from hornbook.trace.events import Event


def make_work(function: Callable[..., Any] | None = None, **given: Any) -> Work:
    """A primitive as a program would make it."""
    name = given.pop("name", None) or getattr(function, "__name__", "step")
    for_operation = ("contract", "recover", "counts_attempts", "meta", "guard")
    operation = Operation(
        name=name,
        bind=lambda args, kwargs: dict(kwargs),
        rebuild=lambda args, kwargs, changed: (args, {**kwargs, **changed}),
        **{key: given.pop(key) for key in for_operation if key in given},
    )
    defaults = {"version": "1", "digest": f"sha256:{name}", "operation": operation}
    return Work(name=name, function=function, **(defaults | given))


def branch(name: str, start: Callable[[Mapping[str, Any]], Life], *needs: str) -> Branch:
    return Branch(name=name, needs=needs, start=start)


def calling(work: Work, place: str, /, **inputs: Any) -> Callable[..., Life]:
    """Starts a branch that is one primitive, on inputs of its own and on what it needs."""
    return lambda given: invoke(work, {**inputs, **given}, place=place)


def together(*branches: Branch) -> Life:
    return (yield Together(branches))


def of(work: Work, place: str = "p", /, **inputs: Any) -> Callable[[], Life]:
    """The life of a program that is one primitive."""
    return lambda: invoke(work, inputs, place=place)


class Naive:
    """A reference interpreter: plain recursion, one thing after the other, no cache, no batch."""

    def __init__(self) -> None:
        self.engine = Engine(cache=None, concurrency=False, batching=False)
        self.substitutes: Mapping[str, Any] = {}
        self.timed = False
        self.plans: dict[int, Any] = {}

    def plan_of(self, work: Work) -> Any:
        from hornbook.engine.plans import Plan

        return self.plans.setdefault(
            id(work),
            Plan(work, self.engine.controls, timed=False, cached=False, numbers={}),
        )

    def model_of(self, work: Work) -> Any:
        return work.model

    def live(self, life: Life) -> Any:
        go_on, given = life.send, None
        while True:
            try:
                effect = go_on(given)
            except StopIteration as stop:
                return stop.value
            try:
                go_on, given = life.send, self.carry_out(effect)
            except Exception as error:
                go_on, given = life.throw, error

    def carry_out(self, effect: Any) -> Any:
        if effect is ASK_HERE:
            return self
        if isinstance(effect, Together):
            return self.together(effect.branches)
        assert not isinstance(effect, WaitFor)
        assert isinstance(effect, Ask | Do) or hasattr(effect, "run")
        return effect.run()

    def together(self, branches: Iterable[Branch]) -> dict[str, Any]:
        waiting = {one.name: one for one in branches}
        results: dict[str, Any] = {}
        errors: dict[str, Exception] = {}
        while ready := [b for b in waiting.values() if all(n in results for n in b.needs)]:
            for one in ready:
                del waiting[one.name]
                try:
                    results[one.name] = self.live(
                        one.start({name: results[name] for name in one.needs})
                    )
                except Exception as error:
                    errors[one.name] = error
        names = [one.name for one in branches]
        for name in names:
            if name in errors:
                raise errors[name]
        return {name: results[name] for name in names}


def naively(life_of: Callable[[], Life], value: Any = None) -> Any:
    """Run a life by the naive interpreter, as one step of a run."""
    from hornbook.engine.engine import _program  # pyright: ignore[reportPrivateUsage]

    return Naive().live(_program(life_of, "p", value, None))


def normalised(events: Iterable[Event], *, models: bool = True, hits: bool = True) -> list[Any]:
    """The steps of a record as trees, siblings by place: no times, no ids, no order of siblings."""
    nodes: dict[str, dict[str, Any]] = {}
    tops: list[dict[str, Any]] = []
    for event in events:
        if event.kind == "step.start":
            meta = event.data.get("meta") or {}
            node = {
                "kind": event.data["step"],
                "name": event.name,
                "place": meta.get("place", ""),
                "inputs": event.data["inputs"],
                "marks": [],
                "steps": [],
            }
            nodes[event.id] = node
            (nodes[event.parent]["steps"] if event.parent in nodes else tops).append(node)
        elif event.kind == "step.end":
            report = event.data.get("report") or {}
            nodes[event.id] |= {
                "status": event.status,
                "output": event.data.get("output"),
                "attempts": event.data.get("attempts", 1),
                "error": event.data.get("error"),
                "violations": [str(one) for one in report.get("violations", ())],
            }
        elif event.id in nodes and (hits or event.name != "cache hit"):
            data = {key: value for key, value in event.data.items() if key != "microseconds"}
            nodes[event.id]["marks"].append([event.kind, event.name, event.status, data])
    return [_sorted(top, models) for top in tops]


def _sorted(node: dict[str, Any], models: bool) -> dict[str, Any]:
    steps = [_sorted(one, models) for one in node["steps"] if models or one["kind"] != "model"]
    # Between siblings the order is the machine's, and so it is for the program's own marks.
    own = str if node["place"] == "" else lambda mark: 0
    marks = sorted(node["marks"], key=own)
    return {
        **node,
        "steps": sorted(steps, key=lambda one: (one["place"], str(one))),
        "marks": marks,
    }


async def lived(
    engine: Engine, life_of: Callable[[], Life], mode: str, **given: Any
) -> tuple[Any, BaseException | None, tuple[Event, ...]]:
    """Run a life in a mode: its value, its error, and its record."""
    value, error = None, None
    with open_run() as run:
        try:
            if mode == "naive":
                value = naively(life_of)
            else:
                value = await either(engine, life_of, mode, **given)
        except Exception as raised:
            error = raised
    return value, error, run.events


async def either(engine: Engine, life_of: Callable[[], Life], mode: str, **given: Any) -> Any:
    """Run a life by one of the two drivers."""
    if mode == "sync":
        return engine.run(life_of, name="p", value=None, **given)
    return await engine.arun(life_of, name="p", value=None, **given)


@pytest.fixture(scope="session")
def kit() -> SimpleNamespace:
    return SimpleNamespace(
        branch=branch,
        calling=calling,
        either=either,
        lived=lived,
        naively=naively,
        normalised=normalised,
        of=of,
        together=together,
        work=make_work,
    )
