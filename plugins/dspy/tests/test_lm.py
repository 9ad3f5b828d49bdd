"""`HornbookLM`: the model that it was made from, with a step around each of its calls."""

import copy
import json
import pickle
import warnings
from pathlib import Path
from typing import Any

import cloudpickle
import dspy
import pytest
from dspy.lm15 import (
    Message,
    Request,
    Response,
    StreamDeltaEvent,
    StreamEndEvent,
    StreamStartEvent,
    TextDelta,
    Usage,
)
from dspy.utils.dummies import DummyLM

import hornbook
from hornbook import Budget, BudgetExceeded, plugins
from hornbook.errors import DefinitionError
from hornbook.hooks import hookimpl
from hornbook.step import Decision
from hornbook.testing import Reply, Script
from hornbook_dspy import HornbookLM, context
from hornbook_dspy.asked import Asked
from hornbook_dspy.carried import Again
from hornbook_dspy.lm import with_hornbook
from hornbook_dspy.testing import scripted


class Engine:
    """Answers in chat form, after as many replies as it is told that are none."""

    supports_function_calling = True

    def __init__(self, garbled: int = 0) -> None:
        self.garbled = garbled
        self.requests: list[Request] = []

    def complete(self, request: Request) -> Response:
        self.requests.append(request)
        text = "[[ ## answer ## ]]\nParis\n\n[[ ## completed ## ]]"
        if len(self.requests) <= self.garbled:
            text = "Paris, I think."
        elif "JSON object" in request.messages[-1].parts[0].text:
            text = '{"answer": "Paris"}'
        return Response(
            id=str(len(self.requests)),
            model="engine-1",
            message=Message.assistant(text),
            finish_reason="stop",
            usage=Usage(input_tokens=7, output_tokens=3),
        )


class AsyncEngine:
    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    async def complete(self, request: Request) -> Response:
        return self.engine.complete(request)


def lm_of(engine: Engine, **more: Any) -> Any:
    return dspy.LM("house/m", engine=engine, async_engine=AsyncEngine(engine), **more)


ASK = dspy.Predict("question -> answer")


@pytest.mark.requirement("dspy:lm:recorded")
def test_each_call_is_one_step_with_its_model_and_tokens(go: Any, recorded: Any, events: Any):
    lm = HornbookLM(lm_of(Engine(), cache=False))
    with dspy.context(lm=lm):
        assert go(ASK, question="Capital of France?").answer == "Paris"
    [start] = events("step.start", "model")
    assert (start.data["step"], start.data["host"]) == ("model", "dspy")
    assert start.data["meta"] == {"module": "Predict"}
    assert "Capital of France?" in start.data["inputs"]["request"]
    assert start.data["inputs"]["system"].startswith("Your input fields are")
    [end] = events("step.end", "model")
    assert end.data["output"] == {
        "content": "[[ ## answer ## ]]\nParis\n\n[[ ## completed ## ]]",
        "model": "engine-1",
        "usage": {"input": 7, "output": 3},
    }
    assert (recorded.meter.spent.calls, recorded.meter.spent.tokens) == (1, 10)


@pytest.mark.requirement("dspy:lm:cache")
def test_what_the_cache_answers_counts_no_tokens_and_is_one_call(go: Any, recorded: Any):
    engine = Engine()
    with context(lm=lm_of(engine)):
        for _ in range(3):
            assert go(ASK, question="Capital of France?").answer == "Paris"
    assert len(engine.requests) == 1
    assert (recorded.meter.spent.calls, recorded.meter.spent.tokens) == (3, 10)
    ends = [e for e in recorded.events if e.kind == "step.end"]
    assert ["usage" in e.data["output"] for e in ends] == [True, False, False]


@pytest.mark.requirement("dspy:lm:budget")
def test_the_budget_of_calls_ends_a_program(go: Any):
    engine = Engine()
    with hornbook.run(trace=None, budget=Budget(calls=2)), context(lm=lm_of(engine, cache=False)):
        go(ASK, question="1?")
        go(ASK, question="2?")
        with pytest.raises(BudgetExceeded) as caught:
            go(ASK, question="3?")
    assert str(caught.value) == (
        "the budget of 2 calls is spent (by step: model 2): step 'model' asked for more"
    )
    assert len(engine.requests) == 2


@pytest.mark.requirement("dspy:lm:usage")
def test_dspys_own_count_of_tokens_is_as_without_hornbook(go: Any):
    counted = []
    for lm in (lm_of(Engine(), cache=False), HornbookLM(lm_of(Engine(), cache=False))):
        with dspy.context(lm=lm, track_usage=True):
            counted.append(go(ASK, question="?").get_lm_usage())
    assert counted[0] == counted[1]
    assert counted[0]["house/m"]["total_tokens"] == 10


@pytest.mark.requirement("dspy:lm:usage")
def test_tokens_are_counted_where_no_history_is_kept(go: Any, recorded: Any, events: Any):
    with context(lm=lm_of(Engine(), cache=False), disable_history=True):
        go(ASK, question="?")
    assert recorded.meter.spent.tokens == 10
    [end] = events("step.end", "model")
    assert "model" not in end.data["output"]


@pytest.mark.requirement("dspy:lm:rules")
def test_rules_stand_in_the_system_message_in_the_history_and_in_the_cache_key(go: Any, rules: Any):
    rule = rules.rules[0].text
    engine = Engine()
    with dspy.context(lm=HornbookLM(lm_of(engine))):
        go(ASK, question="Capital of France?")
        with context(rules=rules):
            go(ASK, question="Capital of France?")
            go(ASK, question="Capital of France?")
    plain, ruled = engine.requests
    assert rule not in plain.system
    assert ruled.system.startswith(plain.system)
    assert rule in ruled.system
    [first, second, third] = dspy.clients.base_lm.GLOBAL_HISTORY[-3:]
    assert rule not in first["messages"][0]["content"]
    assert rule in second["messages"][0]["content"]
    assert third["usage"] == {}


@pytest.mark.requirement("dspy:lm:fallback")
def test_rules_outlive_the_fallback_from_chat_to_json(
    go: Any, recorded: Any, ended: Any, rules: Any
):
    rule = rules.rules[0].text
    engine = Engine(garbled=1)
    with context(lm=lm_of(engine, cache=False), rules=rules):
        assert go(ASK, question="Capital of France?").answer == "Paris"
    assert [rule in request.system for request in engine.requests] == [True, True]
    assert ended() == [("model", "satisfied")] * 2
    rules = [event.name for event in recorded.events if event.kind == "rule"]
    assert rules == ["short", "short"]


@pytest.mark.requirement("dspy:lm:forms")
def test_a_prompt_a_list_of_messages_and_a_typed_request_are_given_rules_alike(
    go: Any, recorded: Any, rules: Any
):
    rule = rules.rules[0].text
    engine = Engine()
    lm = HornbookLM(lm_of(engine, cache=False))
    typed = Request(model="house/m", messages=(Message.user("hello"),), system="Be kind.")
    with context(rules=rules):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            [text] = go(lm, "hello")
            response = go(lm, typed)
            assert go(lm, request=typed).text == response.text
        with pytest.warns(DeprecationWarning, match="OpenAI-style message dictionaries"):
            go(lm, messages=[{"role": "user", "content": "hello"}])
    assert "Paris" in text
    assert isinstance(response, Response)
    assert [rule in request.system for request in engine.requests] == [True] * 4
    assert engine.requests[1].system.startswith("Be kind.\n\n")
    assert recorded.meter.spent.tokens == 40


@pytest.mark.requirement("dspy:lm:forms")
def test_without_anything_to_add_a_call_is_what_it_was(go: Any):
    engine = Engine()
    lm = HornbookLM(lm_of(engine, cache=False))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        go(lm, "hello")
        with dspy.context(lm=lm):
            go(ASK, question="?")
    assert engine.requests[0].system is None
    assert lm.history[0]["prompt"] == "hello"


@pytest.mark.requirement("dspy:lm:same")
def test_it_is_the_model_that_it_was_made_from(tmp_path: Path):
    inner = lm_of(Engine(), temperature=0.3)
    lm = HornbookLM(inner)
    assert isinstance(lm, dspy.BaseLM)
    assert repr(lm) == "HornbookLM('house/m')"
    assert (lm.model, lm.kwargs, lm.history) == ("house/m", inner.kwargs, inner.history)
    assert lm.supports_function_calling is inner.supports_function_calling is True
    assert (lm.supports_reasoning, lm.supports_response_schema) == (False, False)
    assert lm.supported_params == inner.supported_params == set()
    assert lm.supports_decision_requests is False
    assert HornbookLM(lm).inner is inner
    assert with_hornbook(lm) is lm
    lm.cache = False
    assert inner.cache is False
    with pytest.raises(AttributeError):
        lm.no_such_thing  # noqa: B018


@pytest.mark.requirement("dspy:lm:same")
def test_its_copies_are_models_with_hornbook_too(recorded: Any):
    engine = Engine()
    lm = HornbookLM(lm_of(engine, cache=False))
    other = lm.copy(rollout_id=3, temperature=0.7)
    assert isinstance(other, HornbookLM)
    assert (other.kwargs["rollout_id"], lm.kwargs.get("rollout_id")) == (3, None)
    other("hello")
    assert recorded.meter.spent.calls == 1
    plain = HornbookLM(dspy.LM("openai/gpt-5-mini", cache=False))
    for made in (copy.copy(plain), copy.deepcopy(plain), pickle.loads(pickle.dumps(plain))):
        assert isinstance(made, HornbookLM)
        assert made.model == "openai/gpt-5-mini"
    assert cloudpickle.loads(cloudpickle.dumps(plain)).inner.model == "openai/gpt-5-mini"


@pytest.mark.requirement("dspy:lm:state")
def test_a_program_saved_with_it_loads_without_hornbook(tmp_path: Path):
    program = dspy.Predict("question -> answer")
    program.set_lm(HornbookLM(dspy.LM("openai/gpt-5-mini", cache=False)))
    program.save(tmp_path / "program.json")
    saved = json.loads((tmp_path / "program.json").read_text(encoding="utf-8"))
    assert saved["lm"]["_dspy_lm_class"] == "dspy.clients.lm.LM"
    loaded = dspy.Predict("question -> answer")
    loaded.load(tmp_path / "program.json")
    assert type(loaded.lm) is dspy.LM


@pytest.mark.requirement("dspy:lm:same")
def test_other_kinds_of_models_are_wrapped_as_well(go: Any, recorded: Any, events: Any):
    lm = DummyLM([{"answer": "red"}, {"answer": "blue"}])
    with context(lm=lm):
        assert go(ASK, question="Colour?").answer == "red"
        assert go(ASK, question="Colour?").answer == "blue"
    assert [end.status for end in events("step.end", "model")] == ["satisfied"] * 2


@pytest.mark.requirement("dspy:bad:no-model")
def test_the_name_of_a_model_is_no_model():
    with pytest.raises(DefinitionError) as caught:
        HornbookLM("openai/gpt-5-mini")
    assert str(caught.value) == (
        "lm='openai/gpt-5-mini' is the name of a model: give dspy.LM('openai/gpt-5-mini')"
    )
    with pytest.raises(DefinitionError) as caught:
        HornbookLM(ASK)
    assert str(caught.value).endswith("is no language model of DSPy: give a dspy.LM")


@pytest.mark.requirement("dspy:lm:rollouts")
@pytest.mark.parametrize(
    ("around", "attempt", "rollout"),
    [(None, 1, 1), (0, 2, 2), (7, 1, 7001), ("seven", 1, "seven.1")],
)
def test_a_further_attempt_is_another_rollout_of_each_form_of_request(
    around: Any, attempt: int, rollout: Any
):
    again = Again(attempt=attempt, told="It was wrong.")
    defaults = {"rollout_id": around, "temperature": 0.0}
    typed = Request(model="m", messages=(Message.user("hello"),))
    for asked in (Asked(prompt="hello", defaults=defaults), Asked(prompt=typed, defaults=defaults)):
        further = asked.again(again)
        assert further.kwargs["rollout_id"] == rollout
        assert further.system == "It was wrong."
    assert further.typed.config.temperature == 1.0


@pytest.mark.requirement("dspy:lm:errors")
def test_an_exception_of_the_model_passes_and_is_recorded(go: Any, ended: Any):
    lm = scripted(Script.of(Reply(error=ValueError("overloaded"))))
    with context(lm=lm), pytest.raises(dspy.LMError, match="overloaded"):
        go(ASK, question="?")
    assert ended() == [("model", "error")]


@pytest.mark.requirement("dspy:lm:callbacks")
def test_dspys_callbacks_see_one_call_and_the_step_tells_its_id(go: Any, recorded: Any):
    seen: list[tuple[str, Any]] = []

    class Watching(dspy.utils.callback.BaseCallback):
        def on_module_start(self, call_id: str, instance: Any, inputs: Any) -> None:
            seen.append(("module", call_id))

        def on_lm_start(self, call_id: str, instance: Any, inputs: Any) -> None:
            seen.append(("lm", instance))

    inner = lm_of(Engine(), cache=False)
    with context(lm=inner, callbacks=[Watching()]):
        go(ASK, question="?")
    assert [kind for kind, _ in seen] == ["module", "lm"]
    assert seen[1][1] is inner
    [start] = [event for event in recorded.events if event.kind == "step.start"]
    assert start.data["meta"]["call_id"] == seen[0][1]


class Deciding:
    """Decides about each model call."""

    def __init__(self, decision: Decision) -> None:
        self.decision = decision

    @hookimpl
    def hornbook_before_step(self, step: Any) -> Decision | None:
        return self.decision if step.kind == "model" else None


@pytest.mark.requirement("dspy:lm:hooks")
def test_a_plugin_answers_or_asks_something_else_in_a_models_place(go: Any):
    engine = Engine()
    lm = HornbookLM(lm_of(engine, cache=False))
    typed = Request(model="house/m", messages=(Message.user("hello"),))
    with plugins.registered(Deciding(Decision(action="substitute", value="no")), "p"):
        assert go(lm, "hello") == ["no"]
        assert go(lm, typed).text == "no"
    assert engine.requests == []
    changed = Decision(action="proceed", value={"system": "Be brief.", "request": "bye"})
    with plugins.registered(Deciding(changed), "p"):
        go(lm, "hello")
    [request] = engine.requests
    assert (request.system, request.messages[-1].parts[0].text) == ("Be brief.", "bye")
    with (
        plugins.registered(Deciding(Decision(action="proceed", value={"results": 1})), "p"),
        pytest.raises(DefinitionError, match="'system' and 'request' can"),
    ):
        go(lm, "hello")
    with (
        plugins.registered(Deciding(Decision(action="block", reason="closed")), "p"),
        pytest.raises(hornbook.ContractViolation, match="closed"),
    ):
        go(lm, "hello")


class Streaming(Engine):
    """Gives its answer word by word."""

    def stream(self, request: Request) -> Any:
        text = self.complete(request).message.parts[0].text
        yield StreamStartEvent(id="1", model="engine-1")
        for word in text.replace("Paris", "Paris it is").split(" "):
            yield StreamDeltaEvent(delta=TextDelta(text=f"{word} "))
        yield StreamEndEvent(finish_reason="stop", usage=Usage(input_tokens=7, output_tokens=3))


class AsyncStreaming(AsyncEngine):
    async def stream(self, request: Request) -> Any:
        for event in Streaming.stream(self.engine, request):  # type: ignore[arg-type]
            yield event


@pytest.mark.requirement("dspy:lm:streams")
@pytest.mark.parametrize("asynchronous", [False, True])
async def test_a_stream_passes_as_it_is_and_is_counted(recorded: Any, asynchronous: bool):
    engine = Streaming()
    lm = dspy.LM("house/m", engine=engine, async_engine=AsyncStreaming(engine), cache=False)
    listener = dspy.streaming.StreamListener(signature_field_name="answer")
    program = dspy.streamify(
        dspy.Predict("question -> answer"),
        stream_listeners=[listener],
        is_async_program=asynchronous,
    )
    with context(lm=lm):
        parts = [part async for part in program(question="?")]
    assert "".join(part.chunk for part in parts[:-1]) == "Paris it is"
    assert parts[-1].answer == "Paris it is"
    assert (recorded.meter.spent.calls, recorded.meter.spent.tokens) == (1, 10)
