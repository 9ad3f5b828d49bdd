"""Tools that misbehave and primitives that fail: reports, and siblings that finish."""

import time

import pytest

from hornbook.kernel.neural.primitives import Primitives
from hornbook.kernel.result import MissingFunction, PrimitiveFailed, ToolFailed

from .kernels import kernel, made, planning, task


def ping(host: str) -> str:
    """Ping a host."""
    return f"{host} is up"


def returning(value):
    def odd(host: str):
        """Do something odd."""
        if value is SystemExit:
            raise SystemExit(3)
        if isinstance(value, type) and issubclass(value, Exception):
            raise value("no")
        return value

    odd.__annotations__ = {"host": str, "return": object}
    return odd


ODD = {
    "it raised OSError: no": OSError,
    "it raised RuntimeError: it called exit(3)": SystemExit,
    "its result cannot be used at .: it is not a finite number: JSON has no other": float("nan"),
    "its result cannot be used at a[0]: it is not a finite number: JSON has no other": {
        "a": [float("inf")]
    },
    "its result has 1,000,002 bytes; 256,000 can be used": "x" * 1_000_000,
    "it returned an exception object: ValueError: bad": ValueError("bad"),
    "it returned list_iterator, which is no data": iter([1]),
    "its result is no JSON: PydanticSerializationError: Unable to serialize unknown type: "
    "<class 'object'>": object(),
    "it is locked": {"error": "it is locked"},
}


@pytest.mark.requirement("kernel:tools:odd")
@pytest.mark.parametrize("why", ODD, ids=range(len(ODD)))
def test_a_tool_that_gives_nothing_usable_is_a_report_and_the_siblings_finish(why):
    primitives = planning(task("t1", "odd", host="h1"), task("t2", "ping", host="h2"))
    result = kernel([returning(ODD[why]), ping], primitives).run("h1 h2")
    assert result.reports == (ToolFailed(task="t1", tool="odd", why=why),)
    assert [one.ok for one in result.calls] == [False, True]
    assert result.calls[0].error == why


@pytest.mark.requirement("kernel:tools:hangs")
@pytest.mark.parametrize("colour", ["sync", "async"])
async def test_a_tool_that_hangs_is_left_behind(colour):
    def slow(host: str) -> str:
        time.sleep(2)
        return "late"

    primitives = planning(task("t1", "slow", host="h1"), task("t2", "ping", host="h2"))
    made_of = kernel([slow, ping], primitives, timeout=0.05)
    began = time.monotonic()
    result = await made_of.arun("h1 h2") if colour == "async" else made_of.run("h1 h2")
    assert time.monotonic() - began < 1.5
    (report,) = result.reports
    assert report.why.endswith("; whether it had its effect is not known")
    assert made(result)[1] == ("ping", {"host": "h2"})


@pytest.mark.requirement("kernel:primitives:failing")
def test_a_primitive_that_raises_costs_its_task_only():
    def match(request):
        if request.task["id"] == "t1":
            raise OSError("no line")
        return {"tool_name": "ping"}

    primitives = planning(
        task("t1", "ping", host="h1"), task("t2", "ping", host="h2"), match_func=match
    )
    result = kernel([ping], primitives).run("ping h1, h2")
    assert result.reports == (MissingFunction(task="t1", why="OSError: no line"),)
    assert made(result) == [("ping", {"host": "h2"})]


@pytest.mark.requirement("kernel:primitives:failing")
@pytest.mark.parametrize("answer", [None, 7, {"tasks": 7}, {"tasks": [7]}, {}, "prose"])
def test_a_plan_that_is_none_comes_to_a_report_and_no_call(answer):
    result = kernel([ping], Primitives(turns=lambda request: answer)).run("ping h1")
    assert result.calls == ()
    assert all(isinstance(one, PrimitiveFailed) for one in result.reports)
