"""Laws of the engine on random lives: the drivers agree, and no optimisation changes a result."""

import asyncio
import math
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hornbook import Recover, clauses, feedback
from hornbook.contracts import Contract
from hornbook.engine import Engine, Life, MemoryCache, decided, invoke
from hornbook.models import Message, Request, ScriptedBatchModel, ScriptedModel

MODULUS = 7
SHAPES = ("plain", "async", "blocking", "neural", "batched")


def digit(value: Any) -> bool:
    return isinstance(value, int) and value < MODULUS


DIGIT = Contract("digit", output=int, ensures=[clauses.that("a digit", digit)])


class Odd(Exception):
    pass


def result_of(number: int, x: int, told: bool) -> Any:
    """What a primitive does: by its number and input it succeeds, violates, raises or is NaN."""
    match (number * 5 + x * 3) % 11:
        case 0:
            raise Odd(f"{number} of {x}")
        case 1:
            return MODULUS + x if not told else x
        case 2:
            return math.nan
        case _:
            return (number + x) % MODULUS


def plain(number: int) -> Callable[..., Any]:
    return lambda x: result_of(number, x, feedback() is not None)


def asynchronous(number: int) -> Callable[..., Any]:
    async def later(x: int) -> Any:
        await asyncio.sleep(0)
        return result_of(number, x, feedback() is not None)

    return later


def answer(request: Request) -> Any:
    number, x, told = map(int, request.messages[-1].content.split())
    try:
        return str(result_of(number, x, bool(told)))
    except Odd as odd:
        return odd


def neural(number: int, model: Any) -> dict[str, Any]:
    def request(inputs: Mapping[str, Any], told: Any) -> Request:
        content = f"{number} {inputs['x']} {int(told is not None)}"
        return Request(messages=(Message(role="user", content=content),))

    def read(completion: Any) -> Any:
        return int(completion.text) if completion.text.isdigit() else completion.text

    return {"model": model, "request": request, "read": read, "counts_attempts": False}


MODELS = {
    "neural": ScriptedModel(answer),
    "batched": ScriptedBatchModel(answer, identity="batch"),
}
RECOVERIES = [
    Recover(),
    Recover(retry=1),
    Recover(retry=1, fallback=[lambda x: 0], on=[Odd]),
    Recover(then="waive"),
]


def primitive(kit: SimpleNamespace, shape: str, number: int) -> Any:
    given: dict[str, Any] = {"name": f"{shape}{number}", "contract": DIGIT}
    given["recover"] = RECOVERIES[number]
    if shape in MODELS:
        return kit.work(**given, **neural(number, MODELS[shape]))
    function = asynchronous(number) if shape == "async" else plain(number)
    return kit.work(function, **given, blocking=shape == "blocking")


Tree = Any
leaves = st.tuples(st.just("call"), st.sampled_from(SHAPES), st.integers(0, 3))
trees = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.tuples(st.just("then"), st.lists(inner, min_size=1, max_size=3)),
        st.tuples(
            st.just("together"),
            st.lists(st.tuples(inner, st.sets(st.integers(0, 3))), min_size=0, max_size=4),
        ),
        st.tuples(st.just("else"), inner, inner),
    ),
    max_leaves=8,
)


class Lives:
    """Random lives, from trees."""

    def __init__(self, kit: SimpleNamespace) -> None:
        self.kit = kit
        self.primitives = {
            (shape, number): primitive(kit, shape, number)
            for shape in SHAPES
            for number in range(4)
        }

    def live(self, tree: Tree, x: int, place: str) -> Life:
        match tree:
            case ("call", shape, number):
                value = yield from invoke(self.primitives[shape, number], {"x": x}, place=place)
                return value if isinstance(value, int) else MODULUS
            case ("then", parts):
                for at, part in enumerate(parts):
                    x = yield from self.live(part, x, f"{place}[{at}]")
                return x
            case ("together", parts):
                branches = [
                    self.kit.branch(
                        f"b{at}",
                        self.starting(part, x, f"{place}.b{at}"),
                        *(f"b{need}" for need in sorted(needs) if need < at),
                    )
                    for at, (part, needs) in enumerate(parts)
                ]
                results = yield from self.kit.together(*branches)
                assert list(results) == [branch.name for branch in branches]
                return sum(results.values()) % MODULUS
            case (_, first, second):
                try:
                    return (yield from self.live(first, x, f"{place}[0]"))
                except (Odd, RuntimeError) as error:
                    yield from decided(place, "alternative", because=type(error).__name__)
                return (yield from self.live(second, x, f"{place}[1]"))

    def starting(self, part: Tree, x: int, place: str) -> Callable[[Mapping[str, int]], Life]:
        return lambda given: self.live(part, (x + sum(given.values())) % MODULUS, place)


def told(outcome: tuple[Any, BaseException | None, Any]) -> Any:
    value, error, _ = outcome
    return (value, type(error), str(error))


def where(error: BaseException | None) -> list[str]:
    return list(getattr(error, "__notes__", ()))


@pytest.fixture(scope="module")
def lives(kit: SimpleNamespace) -> Lives:
    return Lives(kit)


def check_all(lives: Lives, tree: Tree, x: int) -> None:
    kit = lives.kit

    def life_of() -> Life:
        return lives.live(tree, x, "p")

    async def every() -> None:
        engines = {
            "all": Engine(),
            "none": Engine(cache=None, concurrency=False, batching=False, pruning=False),
            "no cache": Engine(cache=None),
            "own cache": Engine(cache=MemoryCache()),
            "two": Engine(max_concurrency=2, batching=False),
        }
        naive = await kit.lived(engines["none"], life_of, "naive")
        for name, engine in engines.items():
            sync = await kit.lived(engine, life_of, "sync")
            later = await kit.lived(engine if name != "own cache" else Engine(), life_of, "async")
            assert told(sync) == told(later) == told(naive), name
            assert where(sync[1]) == where(later[1])
            if engine.cache is None:
                whole = kit.normalised(sync[2])
                assert whole == kit.normalised(later[2]), name
                assert whole == kit.normalised(naive[2]) or blocked(whole), name
            else:
                plainly = kit.normalised(naive[2], models=False, hits=False)
                for outcome in (sync, later):
                    seen = kit.normalised(outcome[2], models=False, hits=False)
                    assert seen == plainly or blocked(seen), name

    async def promptly() -> None:
        async with asyncio.timeout(60):
            await every()

    asyncio.run(promptly())


def blocked(trees: list[Any]) -> bool:
    """The naive interpreter does not record what it does not start."""
    return any(mark[1] == "blocked" for tree in trees for mark in tree["marks"])


@pytest.mark.requirement(
    "engine:drivers:equal", "engine:naive:equal", "engine:cache:equal", "engine:batching:equal"
)
@settings(max_examples=60, deadline=None)
@given(tree=trees, x=st.integers(0, MODULUS - 1))
def test_drivers_and_optimisations_agree_with_the_naive_interpreter(
    lives: Lives, tree: Tree, x: int
):
    check_all(lives, tree, x)


@pytest.mark.ci
@pytest.mark.requirement(
    "engine:drivers:equal", "engine:naive:equal", "engine:cache:equal", "engine:batching:equal"
)
@settings(max_examples=400, deadline=None)
@given(tree=trees, x=st.integers(0, MODULUS - 1))
def test_drivers_and_optimisations_agree_on_many(lives: Lives, tree: Tree, x: int):
    check_all(lives, tree, x)
