"""The cache: what is equal, what is kept, and who waits for whom."""

import asyncio
import json
import logging
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any

import pytest
from pydantic import BaseModel

from hornbook import Recover, clauses, feedback
from hornbook.contracts import Calibration, Contract, Judgement, Rate
from hornbook.engine import CacheError, DiskCache, Engine, Hit, Life, MemoryCache, invoke

MODES = ("sync", "async")
INT = Contract("int", output=int)


class Counting:
    """A primitive that counts its calls."""

    def __init__(self, function: Callable[..., Any] = lambda **inputs: 1) -> None:
        self.calls: list[dict[str, Any]] = []
        self.function = function

    def __call__(self, **inputs: Any) -> Any:
        self.calls.append(inputs)
        return self.function(**inputs)


def one_by_one(work: Any, *inputs: dict[str, Any]) -> Callable[[], Life]:
    def life() -> Life:
        values: list[Any] = []
        for at, given in enumerate(inputs):
            values.append((yield from invoke(work, given, place=f"p[{at}]")))
        return values

    return life


@pytest.mark.requirement("engine:cache:run")
@pytest.mark.parametrize("mode", MODES)
async def test_identical_calls_of_one_run_are_made_once_and_the_record_says_so(
    kit: SimpleNamespace, mode: str
):
    counting = Counting(lambda x: x + 1)
    work = kit.work(counting, name="next", contract=INT)
    life_of = one_by_one(work, {"x": 1}, {"x": 2}, {"x": 1})
    value, _, events = await kit.lived(Engine(), life_of, mode)
    assert (value, len(counting.calls)) == ([2, 3, 2], 2)
    (top,) = kit.normalised(events)
    assert [one["marks"] for one in top["steps"]] == [
        [],
        [],
        [["note", "cache hit", None, {"attempt": 1}]],
    ]
    assert [one["output"] for one in top["steps"]] == [2, 3, 2]
    await kit.lived(Engine(), life_of, mode)
    assert len(counting.calls) == 4


@pytest.mark.requirement("engine:cache:run")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("engine", "pure"), [(Engine(cache=None), True), (Engine(), False)], ids=["off", "impure"]
)
async def test_without_a_cache_and_for_impure_primitives_each_call_is_made(
    kit: SimpleNamespace, mode: str, engine: Engine, pure: bool
):
    counting = Counting()
    work = kit.work(counting, name="one", pure=pure)
    await kit.lived(engine, one_by_one(work, {"x": 1}, {"x": 1}), mode)
    assert len(counting.calls) == 2


class Plain:
    """An object that says nothing of itself."""

    def __repr__(self) -> str:
        return "Plain()"


@dataclass
class Point:
    x: float


SAME: Sequence[tuple[Any, Any]] = [
    (1, 1),
    ("a", "a"),
    (None, None),
    ([1, {"a": (2,)}], [1, {"a": (2,)}]),
    (Point(1.0), Point(1.0)),
    (float("nan"), float("nan")),
]
DIFFERENT: Sequence[tuple[Any, Any]] = [
    (1, True),
    (1, 1.0),
    (0.0, -0.0),
    ("1", 1),
    ([1], (1,)),
    (Point(1.0), {"x": 1.0}),
    (Plain(), Plain()),
    ('"$repr"', '"$repr" '),
    (None, "None"),
    ({"b": 1, "a": 2}, {"a": 2, "b": 1}),
]


@pytest.mark.requirement("engine:cache:key")
@pytest.mark.parametrize("disk", [False, True])
@pytest.mark.parametrize(
    ("first", "second", "calls"),
    [(*pair, 1) for pair in SAME] + [(*pair, 2) for pair in DIFFERENT],
    ids=repr,
)
def test_inputs_are_equal_when_they_say_the_same(
    kit: SimpleNamespace, tmp_path: Path, first: Any, second: Any, calls: int, disk: bool
):
    counting = Counting()
    work = kit.work(counting, name="one", output=int)
    engine = Engine(cache=DiskCache(tmp_path / "cache.db") if disk else "run")
    for given in ([first], [second]) if disk else ([first, second],):
        engine.run(one_by_one(work, *({"x": x} for x in given)), name="p", value=None)
    assert len(counting.calls) == calls


@pytest.mark.requirement("engine:cache:key")
@pytest.mark.parametrize(
    "other",
    [{"version": "2"}, {"digest": "sha256:other"}, {"name": "other"}, {"contract": INT}],
    ids=lambda given: next(iter(given)),
)
@pytest.mark.parametrize("lasting", [False, True])
def test_another_primitive_has_other_keys(
    kit: SimpleNamespace, other: dict[str, Any], lasting: bool
):
    counting = Counting()
    first = kit.work(counting, name="one", digest="sha256:one")
    second = kit.work(counting, **({"name": "one", "digest": "sha256:one"} | other))
    engine = Engine(cache=MemoryCache() if lasting else "run")

    def life() -> Life:
        yield from invoke(first, {"x": 1}, place="p[0]")
        yield from invoke(second, {"x": 1}, place="p[1]")

    engine.run(life, name="p", value=None)
    assert len(counting.calls) == 2


@pytest.mark.requirement("engine:cache:key")
def test_input_names_belong_to_the_key(kit: SimpleNamespace):
    counting = Counting()
    work = kit.work(counting, name="one")
    Engine().run(one_by_one(work, {"x": 1}, {"y": 1}), name="p", value=None)
    assert len(counting.calls) == 2


@pytest.mark.requirement("engine:cache:met-only")
@pytest.mark.parametrize("mode", MODES)
async def test_only_what_met_its_contract_is_kept(kit: SimpleNamespace, mode: str):
    at_first = Counting(lambda x: x if feedback() else -x)
    contract = Contract("positive", output=int, ensures=[clauses.in_range(".", low=1)])
    work = kit.work(at_first, name="guess", contract=contract, recover=Recover(retry=1))
    value, _, events = await kit.lived(Engine(), one_by_one(work, {"x": 1}, {"x": 1}), mode)
    assert value == [1, 1]
    # The first attempt is made twice; the second, with the same feedback, once.
    assert len(at_first.calls) == 3
    steps = kit.normalised(events, hits=False)[0]["steps"]
    assert [(one["status"], one["attempts"]) for one in steps] == [("recovered", 2)] * 2


@pytest.mark.requirement("engine:cache:met-only")
@pytest.mark.parametrize("mode", MODES)
async def test_what_is_waived_is_not_kept(kit: SimpleNamespace, mode: str):
    counting = Counting(lambda x: -x)
    contract = Contract("positive", output=int, ensures=[clauses.in_range(".", low=1)])
    work = kit.work(counting, name="n", contract=contract, recover=Recover(then="waive"))
    value, _, _ = await kit.lived(Engine(), one_by_one(work, {"x": 1}, {"x": 1}), mode)
    assert (value, len(counting.calls)) == ([-1, -1], 2)


class CountingJudge:
    version = "1"

    def __init__(self) -> None:
        self.asked = 0

    def judge(self, questions: Sequence[Any]) -> list[Judgement]:
        self.asked += 1
        return [Judgement(score=0.9, evidence={"seen": "all"}) for _ in questions]


@pytest.mark.requirement("engine:cache:judged")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("disk", [False, True])
async def test_a_hit_asks_no_judge_and_keeps_its_verdicts(
    kit: SimpleNamespace, tmp_path: Path, mode: str, disk: bool
):
    judge = CountingJudge()
    rate = Rate(value=0.1, low=0.0, high=0.2)
    calibration = Calibration(n=10, false_accept=rate, false_reject=rate)
    covers = clauses.covers(".", source="x", judge=judge, threshold=0.5, calibration=calibration)
    contract = Contract("covered", output=str, ensures=[covers])
    work = kit.work(lambda x: x.upper(), name="loud", contract=contract, output=str)
    engine = Engine(cache=DiskCache(tmp_path / "cache.db") if disk else "run")
    life_of = one_by_one(work, {"x": "abc"}, {"x": "abc"})
    value, _, events = await kit.lived(engine, life_of, mode)
    assert (value, judge.asked) == (["ABC", "ABC"], 1)
    if disk:
        value, _, events = await kit.lived(engine, life_of, mode)
        assert (value, judge.asked) == (["ABC", "ABC"], 1)
    reports = [one.data["report"] for one in events if one.kind == "step.end" and one.parent]
    assert [one["verdicts"] for one in reports] == [reports[0]["verdicts"]] * 2
    assert reports[1]["verdicts"][-1]["calibration"]["n"] == 10
    assert reports[1]["cost"]["calls"] == 0


@pytest.mark.requirement("engine:cache:single-flight")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("fails", [False, True])
async def test_identical_calls_at_the_same_time_wait_for_one(
    kit: SimpleNamespace, mode: str, fails: bool
):
    under_way, most = [0], [0]
    calls: list[int] = []

    async def slow(x: int) -> int:
        calls.append(x)
        under_way[0] += 1
        most[0] = max(most[0], under_way[0])
        await asyncio.sleep(0.01)
        under_way[0] -= 1
        if fails:
            raise ValueError("no")
        return x

    work = kit.work(slow, contract=INT)
    branches = [kit.branch(name, kit.calling(work, f"p.{name}", x=1)) for name in "abc"]
    value, error, _ = await kit.lived(Engine(), lambda: kit.together(*branches), mode)
    assert value == (None if fails else dict.fromkeys("abc", 1))
    assert type(error) is (ValueError if fails else type(None))
    assert most == [1]
    assert len(calls) == (3 if fails else 1)


@pytest.mark.requirement("engine:cache:memory")
@pytest.mark.parametrize("mode", MODES)
async def test_a_memory_cache_outlives_the_run_and_is_bounded(kit: SimpleNamespace, mode: str):
    counting = Counting(lambda x: x)
    work = kit.work(counting, name="same", contract=INT)
    cache = MemoryCache(max_entries=2)
    engine = Engine(cache=cache)
    for x in (1, 2, 1, 3, 1, 2):
        await kit.lived(engine, kit.of(work, x=x), mode)
    assert [one["x"] for one in counting.calls] == [1, 2, 3, 2]
    assert len(cache) == 2


# On disk.


class Order(BaseModel):
    name: str
    price: Decimal


@pytest.mark.requirement("engine:cache:disk")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("value", "output"),
    [
        (1, int),
        ((1, "a"), tuple[int, str]),
        ({"a", "b"}, set[str]),
        (Order(name="tea", price=Decimal("1.50")), Order),
        ([Order(name="tea", price=Decimal(2))], list[Order]),
        ({"a": [None, 1.5]}, Any),
        (b"bytes", bytes),
    ],
    ids=repr,
)
async def test_a_disk_cache_gives_back_what_was_put_in(
    kit: SimpleNamespace, tmp_path: Path, mode: str, value: Any, output: Any
):
    counting = Counting(lambda x: value)
    work = kit.work(counting, name="made", output=output)
    for _ in range(2):
        engine = Engine(cache=DiskCache(tmp_path / "deep/cache.db"))
        found, _, _ = await kit.lived(engine, kit.of(work, x=1), mode)
        assert (found, type(found)) == (value, type(value))
    assert len(counting.calls) == 1
    assert len(DiskCache(tmp_path / "deep/cache.db")) == 1


@pytest.mark.requirement("engine:cache:disk-faithful")
@pytest.mark.parametrize(
    ("value", "output"),
    [
        ((1, 2), Any),
        (float("nan"), float),
        (Plain(), Any),
        (Plain(), Plain),
        (Decimal("1.5"), Any),
        (1, Annotated[int, []]),
        ("text", int),
    ],
    ids=repr,
)
def test_what_would_not_come_back_as_it_is_is_not_kept(tmp_path: Path, value: Any, output: Any):
    cache = DiskCache(tmp_path / "cache.db")
    cache.put("key", Hit(value=value), output)
    assert len(cache) == 0
    assert cache.get("key", output) is None


@pytest.mark.requirement("engine:cache:disk-faithful")
def test_what_does_not_fit_its_type_any_more_is_a_miss(tmp_path: Path):
    cache = DiskCache(tmp_path / "cache.db")
    cache.put("key", Hit(value="text"), str)
    assert cache.get("key", str) == Hit(value="text")
    assert cache.get("key", int) is None
    with sqlite3.connect(cache.path) as connection:
        connection.execute("UPDATE outputs SET report = '{}'")
    connection.close()
    assert cache.get("key", str) is None


@pytest.mark.requirement("engine:cache:disk-broken")
def test_a_file_that_is_no_cache_is_refused(tmp_path: Path):
    other = tmp_path / "other.db"
    other.write_text("this is no database, but a text of some length " * 40, encoding="utf-8")
    with pytest.raises(CacheError, match=r"other\.db cannot be used as a cache: file is not a"):
        DiskCache(other)
    newer = tmp_path / "newer.db"
    with sqlite3.connect(newer) as connection:
        connection.execute("PRAGMA user_version = 9")
    connection.close()
    with pytest.raises(CacheError) as caught:
        DiskCache(newer)
    assert str(caught.value) == (
        f"{newer} is a cache of format 9, and format 1 is read here: delete it, or upgrade hornbook"
    )


@pytest.mark.requirement("engine:cache:disk-broken")
def test_a_cache_that_breaks_fails_no_run(
    kit: SimpleNamespace, tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    cache = DiskCache(tmp_path / "cache.db")
    for leftover in tmp_path.glob("cache.db-*"):
        leftover.unlink()
    cache.path.write_text("overwritten by something else " * 100, encoding="utf-8")
    counting = Counting()
    work = kit.work(counting, name="one", output=int)
    with caplog.at_level(logging.WARNING, logger="hornbook"):
        for _ in range(2):
            assert Engine(cache=cache).run(kit.of(work, x=1), name="p", value=None) == 1
    assert len(counting.calls) == 2
    assert [one.getMessage() for one in caplog.records] == [
        f"the cache {cache.path} is left out: file is not a database"
    ]
    assert len(cache) == 0


WRITER = """
import sys
from hornbook.engine import DiskCache, Hit
cache = DiskCache(sys.argv[1])
for number in range(150):
    cache.put(f"{sys.argv[2]}-{number}", Hit(value=number), int)
    cache.put(f"shared-{number}", Hit(value=number), int)
    found = cache.get(f"shared-{number}", int)
    assert found is not None and found.value == number
"""


@pytest.mark.requirement("engine:cache:disk-processes")
def test_many_processes_share_one_file(tmp_path: Path):
    path = tmp_path / "cache.db"
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(path), str(number)])
        for number in range(4)
    ]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0, 0]
    assert len(DiskCache(path)) == 150 * 5


@pytest.mark.requirement("engine:cache:disk-processes")
def test_many_threads_share_one_cache(tmp_path: Path):
    cache = DiskCache(tmp_path / "cache.db")

    def use(number: int) -> None:
        for at in range(20):
            cache.put(f"{number}-{at}", Hit(value=at), int)

    threads = [threading.Thread(target=use, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(cache) == 120


@pytest.mark.requirement("engine:cache:disk")
def test_the_file_holds_json_and_no_pickle(tmp_path: Path):
    cache = DiskCache(tmp_path / "cache.db")
    cache.put("key", Hit(value=[1, 2]), list[int])
    with sqlite3.connect(cache.path) as connection:
        ((value,),) = connection.execute("SELECT value FROM outputs").fetchall()
    connection.close()
    assert json.loads(value) == [1, 2]
