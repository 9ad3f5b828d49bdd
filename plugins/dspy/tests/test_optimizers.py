"""An agent under guard in DSPy's own life: optimized, saved as a whole, loaded again."""

from pathlib import Path
from typing import Any

import dspy
import pytest

from hornbook.testing import Script, call
from hornbook_dspy import context, guard
from hornbook_dspy.testing import scripted
from hornbook_dspy.tools import GuardedTool


def find(name: str) -> str:
    """Find someone."""
    return f"{name} was found"


def exact(example: Any, prediction: Any, trace: Any = None) -> bool:
    return example.answer == prediction.answer


@pytest.mark.requirement("dspy:guard:optimizers")
def test_a_guarded_agent_is_optimized_saved_and_loaded_and_is_guarded_still(
    go: Any, recorded: Any, events: Any, tmp_path: Path
):
    names = ("Ann", "Bob")
    replies = [
        reply
        for name in names
        for reply in (call("find", name="Z-99"), call("find", name=name), f"{name} is there.")
    ]
    trainset = [
        dspy.Example(question=f"{name}?", answer=f"{name} is there.").with_inputs("question")
        for name in names
    ]
    agent = guard(dspy.ReAct("question -> answer", tools=[find]))
    optimizer = dspy.BootstrapFewShot(metric=exact, max_labeled_demos=0)
    with context(lm=scripted(Script.of(*replies))):
        compiled = optimizer.compile(agent, trainset=trainset)
    assert [len(one.demos) for one in compiled.predictors()] == [2, 2]
    assert [end.status for end in events("step.end", "find")] == ["blocked", "satisfied"] * 2
    compiled.save(tmp_path / "program", save_program=True)
    loaded = dspy.load(str(tmp_path / "program"), allow_pickle=True)
    assert isinstance(loaded, dspy.ReAct)
    assert isinstance(loaded.tools["find"], GuardedTool)
    with context(lm=scripted(Script.of(call("fnd", name="Ann"), "Nobody."))):
        assert go(loaded, question="Ann?").answer == "Nobody."
    assert events("step.end", "fnd")[0].status == "blocked"
