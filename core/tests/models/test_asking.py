"""`ask` and `aask`: one recorded step, metered and retried, the same in both colours."""

import asyncio
import pickle
import signal
import threading
from collections.abc import Callable
from typing import Any

import pytest

from hornbook import Budget, Contract, ContractViolation, contract, plugins, run
from hornbook.errors import BudgetExceeded, DefinitionError
from hornbook.hooks import hookimpl
from hornbook.models import (
    Completion,
    Model,
    Price,
    ReplayError,
    Request,
    Sampling,
    ScriptedModel,
    TransportError,
    Usage,
    aask,
    ask,
)
from hornbook.step import Decision
from hornbook.trace import read, verify_trace

SCHEMA = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}
DOWN = "the line is down"

Ask = Callable[..., Any]


@pytest.fixture(params=["sync", "async"])
def asked(request) -> Ask:
    """`ask`, or `aask` in a loop of its own."""
    return ask if request.param == "sync" else lambda *a, **named: asyncio.run(aask(*a, **named))


def passing(after: float | None = None) -> TransportError:
    return TransportError(DOWN, retryable=True, retry_after=after)


def told(events: Any) -> list[dict[str, Any]]:
    """The events without what differs from run to run."""
    shown = []
    for event in events:
        data = {key: value for key, value in event.data.items() if key != "microseconds"}
        shown.append({"kind": event.kind, "name": event.name, "status": event.status, **data})
    return shown


@pytest.mark.requirement("models:ask:record")
def test_a_model_call_is_one_step_of_the_record(asked, said, waits, tmp_path) -> None:
    model = ScriptedModel(
        [passing(), {"x": "one"}], max_attempts=2, price=Price(input=500_000, output=250_000)
    )
    request = said("How many?", schema=SCHEMA, sampling=Sampling(max_tokens=9), stop=("END",))
    with run(tmp_path) as opened:
        asked(model, request, step="count")
    assert verify_trace(opened.path).ok
    assert told(read(opened.path))[1:-1] == [
        {
            "kind": "step.start",
            "name": "count",
            "status": None,
            "step": "model",
            "host": "python",
            "inputs": {
                "messages": [{"role": "user", "content": "How many?"}],
                "schema": SCHEMA,
                "sampling": {"temperature": 0.0, "top_p": None, "max_tokens": 9, "seed": None},
                "stop": ["END"],
            },
            "meta": {"model": "scripted", "request": request.digest},
        },
        {
            "kind": "attempt",
            "name": "count",
            "status": "error",
            "attempt": 1,
            "error": f"TransportError: {DOWN}",
            "retryable": True,
        },
        {
            "kind": "step.end",
            "name": "count",
            "status": "satisfied",
            "output": '{"x": "one"}',
            "attempts": 2,
            "model": "scripted",
            "usage": {"input_tokens": 2, "output_tokens": 2},
            "finish": "stop",
            "digest": "sha256:4f658534528b91d51af1e20227e9c6b05777cf0c20f5c914ed8d013b34cb5aa9",
            "cost": 1.5,
            "problem": "does not fit the schema at x: expected integer, not 'one'",
        },
    ]


@pytest.mark.requirement("models:ask:equal-records")
def test_sync_and_async_leave_equal_records(said, waits) -> None:
    def script() -> ScriptedModel:
        return ScriptedModel([passing(), "fine", TransportError("no"), "x"], max_attempts=3)

    def seen(asked: Ask) -> Any:
        with run(None) as opened:
            model = script()
            for _ in range(3):
                try:
                    asked(model, said(), step="try")
                except TransportError:
                    opened.note("failed")
        return told(opened.events), opened.meter.spent.calls, opened.meter.spent.tokens

    sync = seen(ask)
    assert sync == seen(lambda *a, **named: asyncio.run(aask(*a, **named)))
    assert sync[1:] == (4, 4)


@pytest.mark.requirement("models:ask:no-run")
def test_without_a_run_it_is_the_same_and_nothing_is_recorded(asked, said, waits) -> None:
    model = ScriptedModel([passing(), {"x": 1}], max_attempts=2)
    made = asked(model, said(schema=SCHEMA))
    assert (made.value, made.model, model.calls) == ({"x": 1}, "scripted", 2)


@pytest.mark.requirement("models:ask:under-its-step")
def test_the_step_hangs_under_the_one_that_asks(said) -> None:
    model = ScriptedModel(["fine"])

    @contract(Contract("text", output=str))
    def outer() -> str:
        return ask(model, said()).text

    with run(None) as opened:
        assert outer() == "fine"
    starts = [event for event in opened.events if event.kind == "step.start"]
    assert [event.name.rpartition(".")[2] for event in starts] == ["outer", "model"]
    assert starts[1].parent == starts[0].id


@pytest.mark.requirement("models:ask:metered")
def test_calls_tokens_and_cost_are_counted_under_the_steps_name(asked, said, waits) -> None:
    model = ScriptedModel([passing(), "a b c"], max_attempts=2, price=Price(output=1_000_000))
    with run(None, budget=Budget(calls=2, tokens=100, cost=10)) as opened:
        asked(model, said("one two"), step="names")
        with pytest.raises(BudgetExceeded):
            asked(model, said(), step="names")
    spent = opened.meter.spent
    assert (spent.calls, spent.tokens, spent.cost) == (2, 5, 3.0)
    assert opened.meter.by_step("calls") == {"names": 2}
    assert model.calls == 2


@pytest.mark.requirement("models:ask:reserved")
def test_what_is_reserved_already_is_not_reserved_again(asked, said, waits) -> None:
    with run(None) as opened:
        asked(ScriptedModel(["a"]), said(), reserved=1)
        assert opened.meter.spent.calls == 0
        asked(ScriptedModel([passing(), passing(), "a"], max_attempts=3), said(), reserved=2)
        assert opened.meter.spent.calls == 1


@pytest.mark.requirement("models:ask:reserved")
def test_what_is_reserved_does_not_outlive_the_runs_time(asked, said) -> None:
    model = ScriptedModel(["a"])
    with run(None, budget=Budget(seconds=0)), pytest.raises(BudgetExceeded):
        asked(model, said(), reserved=1)
    assert model.calls == 0


@pytest.mark.requirement("models:retries:bounded")
@pytest.mark.parametrize(("limit", "calls"), [(None, 1), (1, 1), (3, 3)])
def test_attempts_are_bounded_by_the_model(asked, said, waits, limit, calls) -> None:
    model = ScriptedModel(lambda _: passing(), max_attempts=limit)
    with pytest.raises(TransportError) as caught:
        asked(model, said())
    assert (model.calls, caught.value.attempts) == (calls, calls)


@pytest.mark.requirement("models:retries:budget")
def test_a_wait_that_no_call_could_follow_is_not_begun(asked, said, waits) -> None:
    busy = TransportError("busy", retryable=True, retry_after=30.0)
    with run(None, budget=Budget(calls=1)) as opened, pytest.raises(BudgetExceeded) as caught:
        asked(ScriptedModel([busy, "fine"], max_attempts=2), said())
    assert caught.value.__cause__ is busy
    assert waits == []
    assert opened.meter.spent.calls == 1


@pytest.mark.requirement("models:retries:jitter")
def test_waits_are_jittered_over_a_growing_range(asked, said, waits) -> None:
    for _ in range(40):
        with pytest.raises(TransportError):
            asked(ScriptedModel(lambda _: passing(), max_attempts=8), said())
    by_attempt = [waits[at::7] for at in range(7)]
    for at, waited in enumerate(by_attempt):
        longest = min(20.0, 0.5 * 2**at)
        assert all(0 <= pause <= longest for pause in waited)
        assert min(waited) < 0.35 * longest
        assert max(waited) > 0.65 * longest


@pytest.mark.requirement("models:retries:other-errors")
def test_what_is_no_transport_error_is_not_retried(asked, said) -> None:
    model = ScriptedModel([KeyError("a bug"), "fine"], max_attempts=5)
    with run(None) as opened, pytest.raises(KeyError):
        asked(model, said())
    assert model.calls == 1
    assert [event.status for event in opened.events if event.kind == "step.end"] == ["error"]


@pytest.mark.requirement("models:timeouts:run")
def test_an_attempt_is_given_the_time_that_is_left(asked, said) -> None:
    given: list[float | None] = []

    class Slow(ScriptedModel):
        def complete(self, request: Request, /, *, timeout: float | None = None) -> Completion:
            given.append(timeout)
            return super().complete(request)

        async def acomplete(
            self, request: Request, /, *, timeout: float | None = None
        ) -> Completion:
            return self.complete(request, timeout=timeout)

    asked(Slow(["a"]), said())
    asked(Slow(["a"]), said(), timeout=5)
    with run(None, budget=Budget(seconds=3)):
        asked(Slow(["a"]), said(), timeout=5)
        asked(Slow(["a"]), said(), timeout=1)
    assert given[0] is None
    assert [round(seconds or 0) for seconds in given[1:]] == [5, 3, 1]


@pytest.mark.requirement("models:timeouts:all-attempts")
def test_the_time_for_all_attempts_is_kept(asked, said, clock) -> None:
    model = ScriptedModel(["a"] * 99, delay=0.15, max_attempts=50)
    with pytest.raises(TransportError, match=r"did not answer within 0\.1 s"):
        asked(model, said(), timeout=0.1)
    model = ScriptedModel(lambda _: passing(), max_attempts=50)
    with pytest.raises(TransportError, match=DOWN):
        asked(model, said(), timeout=0.3)
    assert clock() < 2


@pytest.mark.requirement("models:retries:interruptible")
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers by signal here")
def test_a_wait_of_sync_code_can_be_interrupted(said, clock) -> None:
    model = ScriptedModel(lambda _: passing(30.0), max_attempts=2)
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with run(None) as opened, pytest.raises(KeyboardInterrupt):
            ask(model, said())
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert clock() < 5
    assert [event.status for event in opened.events if event.kind == "step.end"] == ["cancelled"]


@pytest.mark.requirement("models:retries:interruptible")
async def test_a_wait_of_async_code_leaves_the_loop_free(said, clock) -> None:
    model = ScriptedModel(lambda _: passing(30.0), max_attempts=2)
    task = asyncio.ensure_future(aask(model, said()))
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert clock() < 5


@pytest.mark.requirement("models:ask:threads")
def test_many_threads_may_ask_one_model(said) -> None:
    model = ScriptedModel(lambda request: request.messages[0].content, delay=0.01)
    with run(None) as opened:
        got: list[str] = []
        one = opened.wrap(lambda at: got.append(ask(model, said(str(at))).text))
        threads = [threading.Thread(target=one, args=(at,)) for at in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(map(int, got)) == list(range(20))
    assert opened.meter.spent.calls == 20


class Host:
    """What a host's own model has to be, and no more."""

    identity = "host"
    max_attempts = None

    def complete(self, request: Request, /, *, timeout: float | None = None) -> Any:
        return Completion(text=request.messages[-1].content, usage=Usage(input_tokens=4))

    async def acomplete(self, request: Request, /, *, timeout: float | None = None) -> Any:
        return self.complete(request)


@pytest.mark.requirement("models:protocol:hosts-own")
def test_a_hosts_own_model_needs_four_names(asked, said) -> None:
    host: Model = Host()
    assert isinstance(host, Model)
    with run(None) as opened:
        made = asked(host, said("Hello"))
    assert (made.text, made.model, opened.meter.spent.tokens) == ("Hello", "host", 4)


@pytest.mark.requirement("models:protocol:hosts-own")
def test_a_model_that_gives_something_else_is_told(asked, said, monkeypatch) -> None:
    monkeypatch.setattr(Host, "complete", lambda self, request, timeout=None: "text")
    with pytest.raises(DefinitionError) as caught:
        asked(Host(), said(), step="names")
    assert str(caught.value) == (
        "model 'host' gave str to step 'names': its complete() and acomplete() give a "
        "hornbook.models.Completion"
    )


@pytest.mark.requirement("models:protocol:hosts-own")
def test_what_is_no_model_is_told(asked, said) -> None:
    with pytest.raises(DefinitionError) as caught:
        asked("house", said())
    assert str(caught.value) == (
        "'house' is no model: it has no identity; hornbook.models.model(name) gives one that a "
        "plugin registered"
    )


class Plugin:
    """Decides as it is told."""

    def __init__(self, decision: Decision | None = None, changed: Any = None) -> None:
        self.decision, self.changed = decision, changed
        self.seen: list[tuple[str, Any]] = []

    @hookimpl
    def hornbook_before_step(self, step) -> Decision | None:
        self.seen.append((step.kind, step.inputs))
        if self.changed is not None:
            return Decision(action="proceed", value=self.changed)
        return self.decision

    @hookimpl
    def hornbook_check_output(self, step, output) -> None:
        self.seen.append(("output", output))


@pytest.mark.requirement("models:hooks:asked")
def test_plugins_see_a_model_step_as_any_other(asked, said) -> None:
    plugin = Plugin()
    with plugins.registered(plugin):
        assert asked(ScriptedModel(["fine"]), said("Hello")).text == "fine"
    (kind, inputs), output = plugin.seen
    assert (kind, inputs["messages"]) == ("model", [{"role": "user", "content": "Hello"}])
    assert output == ("output", "fine")


@pytest.mark.requirement("models:hooks:decide")
def test_plugins_may_answer_or_refuse(asked, said) -> None:
    model = ScriptedModel(["fine"])
    given = Decision(action="substitute", value='{"x": 1}')
    with plugins.registered(Plugin(given)):
        made = asked(model, said(schema=SCHEMA))
    assert (made.value, made.model) == ({"x": 1}, "scripted")
    with plugins.registered(Plugin(Decision(action="block", value="not now"))):
        assert asked(model, said()).text == "not now"
    refused = Decision(action="halt", reason="closed")
    with plugins.registered(Plugin(refused)), pytest.raises(ContractViolation, match="closed"):
        asked(model, said())
    odd = Plugin(Decision(action="substitute", value=3))
    with plugins.registered(odd), pytest.raises(DefinitionError) as caught:
        asked(model, said())
    assert str(caught.value) == (
        "step 'model': a plugin gave int in place of a model's answer: expected a text or a "
        "Completion"
    )
    assert model.calls == 0


@pytest.mark.requirement("models:hooks:change")
def test_plugins_may_change_the_request(asked, said) -> None:
    model = ScriptedModel(["fine", "fine"])
    changed = {
        "messages": [{"role": "system", "content": "Be brief."}],
        "sampling": {"max_tokens": 3},
    }
    with plugins.registered(Plugin(changed=changed)):
        asked(model, said("Hello", stop=("END",)))
    (sent,) = model.requests
    assert [(m.role, m.content) for m in sent.messages] == [("system", "Be brief.")]
    assert (sent.sampling, sent.stop) == (Sampling(max_tokens=3), ("END",))
    with plugins.registered(Plugin(changed={"tools": []})), pytest.raises(DefinitionError) as told_:
        asked(model, said())
    assert str(told_.value) == (
        "a model step has no input 'tools'; a plugin can change messages, sampling, schema, stop"
    )


@pytest.mark.requirement("models:errors:carried")
def test_errors_survive_a_process_boundary() -> None:
    error = pickle.loads(pickle.dumps(TransportError("x", retryable=True, retry_after=2.0)))
    assert (str(error), error.retryable, error.retry_after, error.code) == (
        *("x", True, 2.0),
        "transport",
    )
    assert isinstance(error, ConnectionError)
    drift = pickle.loads(pickle.dumps(ReplayError("y", step="names")))
    assert (str(drift), drift.step, drift.code) == ("y", "names", "replay")


@pytest.mark.requirement("models:ask:light")
def test_asking_costs_little() -> None:
    import subprocess
    import sys

    code = (
        "import sys, hornbook.models as m; m.ask, m.OpenAIModel, m.LocalModel;"
        "print([n for n in ('openai', 'xllamacpp', 'httpx', 'asyncio') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.requirement("models:protocol:hosts-own")
def test_what_a_hosts_model_gets_wrong_is_told(said) -> None:
    class Host(ScriptedModel):
        def acomplete(self, request: Request, /, *, timeout: float | None = None) -> Any:
            return self.complete(request)

    host = Host(["fine"], identity="host")
    with pytest.raises(DefinitionError) as caught:
        asyncio.run(aask(host, said()))
    assert str(caught.value) == ("model 'host': its acomplete() is not async: it gave Completion")
    for limit in ("3", True, 2.0):
        with pytest.raises(DefinitionError) as caught:
            ask(ScriptedModel(["fine"], max_attempts=limit, identity="host"), said())
        assert str(caught.value) == (
            f"model 'host' has max_attempts={limit!r}: expected a whole number of at least 1, or "
            f"None"
        )


@pytest.mark.requirement("models:hooks:change")
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"messages": [{"content": "x"}]},
            "a plugin changes a model step's messages to what is none: KeyError: 'role'",
        ),
        (
            {"messages": 5},
            "a plugin changes a model step's messages to what is none: TypeError: 'int' object is "
            "not iterable",
        ),
        (
            {"sampling": {"temp": 1}},
            "a plugin changes a model step's sampling to what is none: TypeError: "
            "Sampling.__init__() got an unexpected keyword argument 'temp'",
        ),
    ],
)
def test_a_change_that_is_none_is_told(said, changes, message) -> None:
    class Changing:
        @hookimpl
        def hornbook_before_step(self) -> Decision:
            return Decision(action="proceed", value=changes)

    with plugins.registered(Changing()), pytest.raises(DefinitionError) as caught:
        ask(ScriptedModel(["fine"]), said())
    assert str(caught.value) == message
