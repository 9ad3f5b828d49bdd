"""`context` and `configure`: runs, rules and models wherever DSPy takes the work."""

import asyncio
import copy
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import cloudpickle
import dspy
import pytest

import hornbook
from hornbook import Contract, clauses, plugins
from hornbook.errors import DefinitionError, RuleError, RunError
from hornbook.rules import RuleLibrary
from hornbook.testing import Script, call
from hornbook.trace import current_run, list_runs, read, verify_trace
from hornbook_dspy import Contracted, HornbookLM, configure, context, guard
from hornbook_dspy.carried import KEY, carried
from hornbook_dspy.testing import scripted

ANY = Contract("any", ensures=[clauses.that("says something", bool)])


def count(thing: str) -> int:
    """Count things."""
    return len(thing)


def starts(run: Any) -> list[Any]:
    return [event for event in run.events if event.kind == "step.start"]


@pytest.mark.requirement("dspy:context:workers")
@pytest.mark.parametrize("threads", [1, 2])
def test_steps_in_dspys_worker_threads_are_in_the_run(recorded: Any, threads: int):
    agent = guard(dspy.ReActV2("question -> answer", tools=[count]))
    lm = scripted(Script.of(*["Two."] * 4))
    pairs = [(agent, {"question": "How many?"})] * 4
    with context(lm=lm):
        results = dspy.Parallel(num_threads=threads, disable_progress_bar=True)(pairs)
    assert [one.answer for one in results] == ["Two."] * 4
    kinds = [(one.data["step"], one.name) for one in starts(recorded)]
    assert sorted(kinds) == [("model", "model")] * 4 + [("node", "ReActV2")] * 4
    assert recorded.meter.spent.calls == 4


@pytest.mark.requirement("dspy:context:workers")
def test_in_worker_threads_steps_hang_below_the_step_that_started_them(recorded: Any):
    inner = Contracted(dspy.Predict("question -> answer"), ANY, name="inner")

    def ask_all(questions: list[str]) -> list[str]:
        """Ask all."""
        pairs = [(inner, {"question": one}) for one in questions]
        found = dspy.Parallel(num_threads=2, disable_progress_bar=True)(pairs)
        return [one.answer for one in found]

    agent = guard(dspy.ReActV2("question -> answer", tools=[ask_all]), name="outer")
    lm = scripted(Script.of(call("ask_all", questions=["a", "b"]), "x", "x", "Done."))
    with dspy.context(lm=lm):
        agent(question="Ask a and b.")
    by_id = {one.id: one for one in starts(recorded)}
    above = {(one.name, by_id[one.parent].name) for one in by_id.values() if one.parent}
    assert above == {
        ("model", "outer"),
        ("ask_all", "outer"),
        ("inner", "ask_all"),
        ("model", "inner"),
    }
    models = [by_id[one.parent].name for one in by_id.values() if one.name == "model"]
    assert sorted(models) == ["inner", "inner", "outer", "outer"]


@pytest.mark.requirement("dspy:context:workers")
def test_without_the_context_a_worker_thread_does_not_see_the_run(recorded: Any):
    lm = HornbookLM(scripted(Script.of("a", "b")))
    pairs = [(dspy.Predict("question -> answer"), {"question": "?"})] * 2
    with dspy.context(lm=lm):
        dspy.Parallel(num_threads=2, disable_progress_bar=True)(pairs)
    assert starts(recorded) == []


@pytest.mark.requirement("dspy:context:workers")
async def test_asyncify_and_tasks_are_in_the_run_too(recorded: Any):
    ask = Contracted(dspy.Predict("question -> answer"), ANY, name="ask")
    with context(lm=scripted(Script.of("a", "b", "c"))):
        assert (await dspy.asyncify(ask)(question="?")).answer == "a"
        await asyncio.gather(ask.acall(question="?"), ask.acall(question="?"))
    by_id = {one.id: one for one in starts(recorded)}
    assert [one.name for one in by_id.values()].count("ask") == 3
    models = [by_id[one.parent].name for one in by_id.values() if one.name == "model"]
    assert models == ["ask"] * 3


@pytest.mark.requirement("dspy:context:trace")
def test_a_trace_is_one_run_in_the_folder_and_ends_with_the_context(go: Any, tmp_path: Path):
    with context(lm=scripted(Script.of("a", "b")), trace=tmp_path, namespace="desk") as run:
        assert run is current_run()
        for _ in range(2):
            go(dspy.Predict("question -> answer"), question="?")
    [summary] = list_runs(tmp_path)
    assert (summary.status, summary.steps, summary.namespace) == ("complete", 2, "desk")
    assert verify_trace(summary.path).ok
    assert current_run() is None


@pytest.mark.requirement("dspy:context:trace")
def test_where_a_run_is_open_its_record_is_the_one(tmp_path: Path, recorded: Any):
    with context(lm=scripted(Script.of("a")), trace=tmp_path) as run:
        assert run is recorded
        dspy.Predict("question -> answer")(question="?")
    assert list(tmp_path.iterdir()) == []
    assert len(starts(recorded)) == 1
    with context() as run:
        assert run is recorded


@pytest.mark.requirement("dspy:context:model")
def test_the_configured_model_is_the_one_unless_another_is_given(recorded: Any):
    one, other = scripted(Script.of("a")), scripted(Script.of("b"))
    dspy.configure(lm=one)
    with context():
        assert isinstance(dspy.settings.lm, HornbookLM)
        assert dspy.settings.lm.inner is one
        with context(lm=other, adapter=dspy.JSONAdapter()):
            assert dspy.settings.lm.inner is other
            assert isinstance(dspy.settings.adapter, dspy.JSONAdapter)
            assert dspy.Predict("question -> answer")(question="?").answer == "b"
        assert dspy.settings.lm.inner is one
    assert dspy.settings.lm is one


@pytest.mark.requirement("dspy:bad:no-model", "dspy:context:rules")
def test_a_name_in_place_of_a_model_and_rules_that_are_none_are_refused(tmp_path: Path):
    for attach in (configure, lambda **given: context(**given).__enter__()):
        with pytest.raises(DefinitionError) as caught:
            attach(lm="openai/gpt-5-mini")
        assert str(caught.value) == (
            "lm='openai/gpt-5-mini' is the name of a model: give dspy.LM('openai/gpt-5-mini')"
        )
        with pytest.raises(DefinitionError, match="give a RuleLibrary"):
            attach(rules=3)
        with pytest.raises((RuleError, OSError)):
            attach(rules=tmp_path / "none.jsonl")


@pytest.mark.requirement("dspy:context:rules")
def test_rules_come_from_a_library_a_file_and_for_a_namespace_from_plugins(
    go: Any, rules: Any, tmp_path: Path
):
    text = rules.rules[0].text
    rules.save(tmp_path / "rules.jsonl")
    named = RuleLibrary(rules.rules, namespace="desk")
    playing = Script.of("a", "b", "c", "d").open()
    ask = dspy.Predict("question -> answer")
    with context(lm=scripted(playing)):
        with context(rules=rules):
            go(ask, question="?")
        with context(rules=str(tmp_path / "rules.jsonl")):
            go(ask, question="?")
        with plugins.registered(named.hook(), "rules"), context(namespace="desk"):
            go(ask, question="?")
        go(ask, question="?")
    assert [text in asked.text for asked in playing.asked] == [True, True, True, False]


@pytest.mark.requirement("dspy:configure:settings")
def test_configure_is_the_context_of_a_whole_script(go: Any, rules: Any, tmp_path: Path):
    playing = Script.of("a", "b", "c").open()
    ask = dspy.Predict("question -> answer")
    configure(lm=scripted(playing), rules=rules, trace=tmp_path / "one")
    go(ask, question="?")
    configure(track_usage=True)
    assert go(ask, question="?").get_lm_usage()["scripted/scripted-1"]["total_tokens"] == 15
    configure(trace=tmp_path / "two")
    with hornbook.run(trace=None) as run:
        go(ask, question="?")
    assert all(rules.rules[0].text in asked.text for asked in playing.asked)
    [summary] = list_runs(tmp_path / "one")
    assert (summary.status, summary.steps) == ("complete", 2)
    assert not (tmp_path / "two").exists()
    assert len(starts(run)) == 1


@pytest.mark.requirement("dspy:configure:settings")
def test_what_a_configured_trace_records_reaches_worker_threads(tmp_path: Path):
    configure(lm=scripted(Script.of("a", "b")), trace=tmp_path)
    pairs = [(dspy.Predict("question -> answer"), {"question": "?"})] * 2
    dspy.Parallel(num_threads=2, disable_progress_bar=True)(pairs)
    ambient: Any = carried().ambient
    ambient.close()
    [summary] = list_runs(tmp_path)
    assert (summary.status, summary.steps) == ("complete", 2)


SCRIPT = """
import sys, dspy
from hornbook.testing import Script
from hornbook_dspy import configure
from hornbook_dspy.testing import scripted
configure(lm=scripted(Script.of("a")), trace=sys.argv[1])
print(dspy.Predict("question -> answer")(question="?").answer)
"""


@pytest.mark.requirement("dspy:configure:settings")
def test_a_script_that_ends_has_ended_its_record(tmp_path: Path):
    command = [sys.executable, "-c", SCRIPT, str(tmp_path / "runs")]
    done = subprocess.run(command, text=True, capture_output=True, check=True)
    assert done.stdout == "a\n"
    [summary] = list_runs(tmp_path / "runs")
    assert verify_trace(summary.path).ok
    assert [event.name for event in read(summary.path) if event.kind == "step.end"] == ["model"]


@pytest.mark.requirement("dspy:bad:second-thread")
def test_configuring_from_a_second_thread_is_refused_with_what_to_write():
    configure(lm=scripted(Script.of("a")))
    caught: list[BaseException] = []

    def again() -> None:
        try:
            configure(lm=scripted(Script.of("b")))
        except Exception as error:
            caught.append(error)
        with context(lm=scripted(Script.of("c"))):
            caught.append(dspy.Predict("question -> answer")(question="?").answer)

    thread = threading.Thread(target=again)
    thread.start()
    thread.join()
    error, answer = caught
    assert isinstance(error, RunError)
    assert str(error) == (
        "configure() changes the settings of the whole process (dspy.settings can only be changed "
        "by the thread that initially configured it.): here, write `with "
        "hornbook_dspy.context(...):`"
    )
    assert answer == "c"


@pytest.mark.requirement("dspy:context:settings")
def test_what_is_carried_is_neither_copied_nor_saved(tmp_path: Path, recorded: Any):
    with context(lm=scripted(Script.of())):
        held = dspy.settings[KEY]
        assert held.frame is not None
        assert copy.deepcopy(held) is held
        assert cloudpickle.loads(cloudpickle.dumps(held)).frame is None


@pytest.mark.requirement("dspy:identity:call")
def test_a_tools_step_tells_the_call_of_dspy_that_it_is_part_of(go: Any, recorded: Any):
    seen: dict[str, str] = {}

    class Watching(dspy.utils.callback.BaseCallback):
        def on_module_start(self, call_id: str, instance: Any, inputs: Any) -> None:
            seen.setdefault(type(instance).__name__, call_id)

    agent = guard(dspy.ReActV2("question -> answer", tools=[count]))
    lm = scripted(Script.of(call("count", thing="a"), "One."))
    with context(lm=lm, callbacks=[Watching()]):
        go(agent, question="?")
    [start] = [one for one in starts(recorded) if one.name == "count"]
    assert start.data["meta"] == {"call_id": seen["ReActV2"], "module": "ReActV2"}
